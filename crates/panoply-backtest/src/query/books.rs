//! Trades, equity curves and positions by the fills of a sealed run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rust_decimal::Decimal;

use super::reader::SealedRun;
use crate::error::LogError;
use crate::event::EventType;
use crate::number::{Number, Sum};
use crate::performance::{Point, Trade};
use crate::scan;
use crate::sealed::books::fills::{self, FillIndex, FillState};
use crate::sealed::books::trades::{self, Securities};
use crate::sealed::books::{curve, listing_key, prices};
use crate::sealed::dictionary::{Dictionary, Postings};
use crate::store::{BlobKey, BlobKind};
use crate::timestamp::Timestamp;

/// The property with the currency of a commission.
const COMMISSION_CURRENCY: &str = "CommissionCurrency";

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

    /// Commissions up to `last` in other currencies than those of their securities, by currency.
    /// Realized profit of a position does not contain them.
    pub(crate) fn commissions_elsewhere(
        &self,
        last: u32,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<BTreeMap<String, Sum>, LogError> {
        let mut paid: BTreeMap<String, Sum> = BTreeMap::new();
        let mut closed: BTreeSet<u32> = BTreeSet::new();
        if self.text_column(EventType::TradeExecution, COMMISSION_CURRENCY).is_none()
            && !self.needs_event(EventType::TradeExecution, COMMISSION_CURRENCY)
        {
            return Ok(paid);
        }
        for trade in self.trades()?.iter().flat_map(|chunk| chunk.iter()) {
            if trade.foreign_commissions.is_empty() || !wanted(&trade.symbol) {
                continue;
            }
            let mut add = |currency: &str, amount: &str| {
                if let Some(amount) = Number::parse(amount) {
                    paid.entry(currency.to_owned()).or_insert(Sum::ZERO).add(amount);
                }
            };
            if let Some(end) = trade.fills.last().filter(|fill| **fill <= last) {
                closed.insert(*end);
                for (currency, amount) in &trade.foreign_commissions {
                    add(currency, &amount.normalize().to_string());
                }
                continue;
            }
            // A fill through zero paid in the trade that it closed.
            let own = trade.fills.iter().filter(|fill| **fill <= last && !closed.contains(*fill));
            for fill in own {
                let event = self.event(*fill)?;
                let member = |name: &str| scan::member(event.properties(), name);
                let currency = member(COMMISSION_CURRENCY).and_then(|token| token.text());
                let Some(currency) = currency.filter(|own| **own != trade.currency) else {
                    continue;
                };
                let amount = member("Commission").and_then(|token| token.number_text());
                add(&currency, amount.unwrap_or_default());
            }
        }
        Ok(paid)
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

    /// The last price of a symbol in a currency, if its market data is in several, at or before
    /// `last`.
    pub(crate) fn price_in(
        &self,
        symbol: &str,
        currency: &str,
        last: u32,
    ) -> Result<Option<LoggedPrice>, LogError> {
        let listing = listing_key(symbol, currency);
        match self.postings(Dictionary::PriceState, &listing)? {
            Some(_) => self.price_at(&listing, last),
            None => self.price_at(symbol, last),
        }
    }

    /// The last price of a symbol or listing in the market data at or before `last`.
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
