//! Trades, equity curves and positions by the fills of a sealed run.

use std::sync::Arc;

use rust_decimal::Decimal;

use super::reader::SealedRun;
use crate::error::LogError;
use crate::number::Number;
use crate::performance::{Point, Trade};
use crate::scan;
use crate::sealed::books::fills::{self, FillIndex, FillState};
use crate::sealed::books::trades::{self, Securities};
use crate::sealed::books::{curve, prices};
use crate::sealed::dictionary::{Dictionary, Postings};
use crate::store::{BlobKey, BlobKind};
use crate::timestamp::Timestamp;

/// A price in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedPrice {
    /// The seq of the event.
    pub seq: u32,
    /// Its time.
    pub time: Timestamp,
    /// Close, last or mid price.
    pub price: Decimal,
}

impl SealedRun {
    /// All trades: closed ones in order of closing, then those open at the end.
    pub fn trades(&self) -> Result<Vec<Arc<Vec<Trade>>>, LogError> {
        (0..trades::chunks(self.head().trades))
            .map(|number| self.cached(BlobKey::new(BlobKind::Trades, 0, number), trades::read))
            .collect()
    }

    /// The points of the curve with this number in the head.
    pub fn curve(&self, number: usize) -> Result<Vec<Point>, LogError> {
        let Some(info) = self.head().curves.get(number) else { return Ok(Vec::new()) };
        let group = u16::try_from(number).unwrap_or(u16::MAX);
        let mut points = Vec::new();
        for chunk in 0..curve::chunks(info.points) {
            let key = BlobKey::new(BlobKind::Curve, group, chunk);
            points.extend_from_slice(&self.cached(key, curve::read)?);
        }
        Ok(points)
    }

    pub(crate) fn securities(&self) -> Result<Arc<Securities>, LogError> {
        self.cached(BlobKey::new(BlobKind::Securities, 0, 0), Securities::read)
    }

    /// The position after the last fill of a security at or before `last`.
    pub(crate) fn fill_state(
        &self,
        postings: &Postings,
        last: u32,
    ) -> Result<Option<FillState>, LogError> {
        let Some(seq) = self.last_posting(Dictionary::FillState, postings, last)? else {
            return Ok(None);
        };
        let index = self.cached(BlobKey::new(BlobKind::FillIndex, 0, 0), FillIndex::read)?;
        let missing = LogError::Damaged("a fill is not in its chunk");
        let Some((number, first)) = index.chunk_of(seq) else { return Err(missing) };
        let key = BlobKey::new(BlobKind::FillChunk, 0, number);
        let chunk = self.cached(key, |blob| fills::read_chunk(first, blob))?;
        let place = chunk.binary_search_by_key(&seq, |fill| fill.seq).map_err(|_| missing)?;
        Ok(chunk.get(place).cloned())
    }

    /// All prices of a security in the market data, in order of time.
    pub fn price_series(&self, symbol: &str) -> Result<Vec<Point>, LogError> {
        let Some(postings) = self.postings(Dictionary::PriceState, symbol)? else {
            return Ok(Vec::new());
        };
        let mut points = Vec::new();
        for seq in self.posting_bitmap(Dictionary::PriceState, &postings)?.iter() {
            let event = self.event(seq)?;
            let quote = prices::quote_of(event.properties());
            points.extend(quote.map(|quote| Point { time: event.timestamp(), value: quote.last }));
        }
        Ok(points)
    }

    /// The last price of a security in the market data at or before `last`.
    pub fn price_at(&self, symbol: &str, last: u32) -> Result<Option<LoggedPrice>, LogError> {
        let Some(postings) = self.postings(Dictionary::PriceState, symbol)? else {
            return Ok(None);
        };
        let Some(seq) = self.last_posting(Dictionary::PriceState, &postings, last)? else {
            return Ok(None);
        };
        let event = self.event(seq)?;
        let quote = prices::quote_of(event.properties());
        Ok(quote.map(|quote| LoggedPrice { seq, time: event.timestamp(), price: quote.last }))
    }

    /// The last value of an indicator of a security at or before `last`.
    pub(crate) fn indicator_at(
        &self,
        name: &str,
        symbol: &str,
        last: u32,
    ) -> Result<Option<f64>, LogError> {
        let key = format!("{name}\u{1}{symbol}");
        let Some(postings) = self.postings(Dictionary::IndicatorState, &key)? else {
            return Ok(None);
        };
        let Some(seq) = self.last_posting(Dictionary::IndicatorState, &postings, last)? else {
            return Ok(None);
        };
        let event = self.event(seq)?;
        let value = scan::member(event.properties(), "Value");
        let number = value.and_then(|token| token.number_text()).and_then(Number::parse);
        Ok(number.map(Number::to_f64))
    }
}
