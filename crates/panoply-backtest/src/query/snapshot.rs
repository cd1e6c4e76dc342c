//! The state of a strategy at a timestamp: last position and indicator values, open orders, profit
//! and loss. Nothing is replayed: the last event of each key is looked up.

use std::sync::Arc;

use super::reader::{SealedRun, StoredEvent};
use crate::error::{LogError, Stop, check_stop};
use crate::number::{Number, Sum};
use crate::scan;
use crate::sealed::dictionary::{Dictionary, Postings};
use crate::sealed::directory::CHUNK_EVENTS;
pub use crate::sealed::orders::OrderTerms;
use crate::sealed::orders::{self, OrderIndex, OrderRecord};
use crate::store::{BlobKey, BlobKind};
use crate::timestamp::Timestamp;

/// The parts of a snapshot to return.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// One security, case-insensitive; all when `None`.
    pub symbol: Option<&'a str>,
    /// Whether to include indicator values.
    pub indicators: bool,
    /// Maximum open orders; none when `None`.
    pub orders: Option<usize>,
}

/// The state at a timestamp.
pub struct Snapshot {
    /// The last event included; `None` before the first.
    pub seq: Option<u32>,
    /// The last update of each position, by symbol.
    pub positions: Vec<(String, StoredEvent)>,
    /// The last value of each indicator, by name and symbol.
    pub indicators: Vec<(String, String, StoredEvent)>,
    /// Open orders, first placed first.
    pub orders: Vec<OpenOrder>,
    /// Number of open orders, including those not listed.
    pub open_orders: usize,
    /// Profit and loss.
    pub pnl: Pnl,
}

/// An open order.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenOrder {
    /// Its terms.
    pub terms: Arc<OrderTerms>,
    /// The filled quantity.
    pub filled: Sum,
}

/// Profit and loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pnl {
    /// Realized profit.
    pub realized: Sum,
    /// Unrealized profit of open positions.
    pub unrealized: Sum,
    /// The source of both.
    pub source: PnlSource,
}

/// The source of profit and loss.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PnlSource {
    /// The last state change of profit and loss.
    StateChange,
    /// The sum of the positions in the snapshot.
    Positions,
}

impl SealedRun {
    /// The state after all events up to and including `timestamp`.
    pub fn snapshot(
        &self,
        timestamp: Timestamp,
        view: &View<'_>,
        stop: Stop<'_>,
    ) -> Result<Snapshot, LogError> {
        self.snapshot_at(self.last_at(timestamp)?, view, stop)
    }

    /// The state after the event at `seq`; the initial state when `None`.
    pub fn snapshot_at(
        &self,
        seq: Option<u32>,
        view: &View<'_>,
        stop: Stop<'_>,
    ) -> Result<Snapshot, LogError> {
        let Some(last) = seq else {
            return Ok(Snapshot {
                seq,
                positions: Vec::new(),
                indicators: Vec::new(),
                orders: Vec::new(),
                open_orders: 0,
                pnl: Pnl {
                    realized: Sum::ZERO,
                    unrealized: Sum::ZERO,
                    source: PnlSource::Positions,
                },
            });
        };
        let shown =
            |symbol: &str| view.symbol.is_none_or(|wanted| wanted.eq_ignore_ascii_case(symbol));
        let positions = self.last_of_each(Dictionary::PositionState, last, stop, &shown)?;
        let mut indicators = Vec::new();
        if view.indicators {
            let of_symbol =
                |key: &str| shown(key.split_once('\u{1}').map_or("", |(_, symbol)| symbol));
            for (key, event) in
                self.last_of_each(Dictionary::IndicatorState, last, stop, &of_symbol)?
            {
                let (name, symbol) = key.split_once('\u{1}').unwrap_or((&key, ""));
                indicators.push((name.to_owned(), symbol.to_owned(), event));
            }
        }
        let (orders, open_orders) = match view.orders {
            None => (Vec::new(), 0),
            Some(limit) => self.open_orders(last, &shown, view.symbol.is_some(), limit)?,
        };
        let pnl = self.pnl(last, view.symbol.is_some(), &positions)?;
        Ok(Snapshot { seq, positions, indicators, orders, open_orders, pnl })
    }

    /// The last event at or before `last` of each key that `wanted` accepts.
    fn last_of_each(
        &self,
        dictionary: Dictionary,
        last: u32,
        stop: Stop<'_>,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<(String, StoredEvent)>, LogError> {
        let mut found = Vec::new();
        for (index, (key, postings)) in self.values(dictionary, usize::MAX)?.into_iter().enumerate()
        {
            if index % 256 == 0 {
                check_stop(stop)?;
            }
            if !wanted(&key) {
                continue;
            }
            if let Some(seq) = self.last_posting(dictionary, &postings, last)? {
                found.push((key.into_string(), self.event(seq)?));
            }
        }
        Ok(found)
    }

    fn last_posting(
        &self,
        dictionary: Dictionary,
        postings: &Postings,
        last: u32,
    ) -> Result<Option<u32>, LogError> {
        if let Postings::Inline(postings) = postings {
            let before = postings.partition_point(|seq| *seq <= last);
            return Ok(before.checked_sub(1).and_then(|index| postings.get(index)).copied());
        }
        let set = self.posting_bitmap(dictionary, postings)?;
        let before = set.rank(last);
        let index = before.checked_sub(1).and_then(|index| u32::try_from(index).ok());
        Ok(index.and_then(|index| set.select(index)))
    }

    fn pnl(
        &self,
        last: u32,
        filtered: bool,
        positions: &[(String, StoredEvent)],
    ) -> Result<Pnl, LogError> {
        if !filtered
            && let Some(postings) = self.postings(Dictionary::PnlState, "")?
            && let Some(seq) = self.last_posting(Dictionary::PnlState, &postings, last)?
        {
            let event = self.event(seq)?;
            return Ok(Pnl {
                realized: sum_of([number_at(event.properties(), "StateAfter.RealizedPnL")]),
                unrealized: sum_of([number_at(event.properties(), "StateAfter.UnrealizedPnL")]),
                source: PnlSource::StateChange,
            });
        }
        let total =
            |path| sum_of(positions.iter().map(|(_, event)| number_at(event.properties(), path)));
        Ok(Pnl {
            realized: total("RealizedPnL"),
            unrealized: total("UnrealizedPnL"),
            source: PnlSource::Positions,
        })
    }

    fn open_orders(
        &self,
        last: u32,
        shown: &dyn Fn(&str) -> bool,
        filtered: bool,
        limit: usize,
    ) -> Result<(Vec<OpenOrder>, usize), LogError> {
        let index = self.cached(BlobKey::new(BlobKind::OrdersIndex, 0, 0), OrderIndex::read)?;
        let list = match index.list_at(last) {
            None => Default::default(),
            Some(number) => {
                self.cached(BlobKey::new(BlobKind::OrdersOpen, 0, number), orders::read_open_list)?
            }
        };
        let long = index.open_at(last, &list);
        let local = self.order_records(BlobKind::OrdersLocal, last / CHUNK_EVENTS)?;
        let local: Vec<&OrderRecord> = local
            .iter()
            .filter(|record| record.is_open_at(last) && shown(&record.terms.symbol))
            .collect();
        let mut open = Vec::new();
        let mut total = local.len();
        for index in &long {
            // Without a filter, orders beyond the limit are counted without reading them.
            if !filtered && open.len() >= limit {
                total += 1;
                continue;
            }
            let (chunk, within) = orders::long_chunk_of(*index);
            let records = self.order_records(BlobKind::OrdersLong, chunk)?;
            if let Some(record) = records.get(within).filter(|record| shown(&record.terms.symbol)) {
                total += 1;
                if open.len() < limit {
                    open.push((record.placed, open_order(record, last)));
                }
            }
        }
        open.extend(local.into_iter().map(|record| (record.placed, open_order(record, last))));
        open.sort_by_key(|(placed, _)| *placed);
        open.truncate(limit);
        Ok((open.into_iter().map(|(_, order)| order).collect(), total))
    }

    fn order_records(
        &self,
        kind: BlobKind,
        number: u32,
    ) -> Result<Arc<Vec<OrderRecord>>, LogError> {
        self.cached_or_default(BlobKey::new(kind, 0, number), orders::read_records)
    }
}

fn open_order(record: &OrderRecord, last: u32) -> OpenOrder {
    OpenOrder { terms: Arc::clone(&record.terms), filled: record.filled_at(last) }
}

fn number_at(json: &str, path: &str) -> Option<Number> {
    scan::at_path(json, path)?.number_text().and_then(Number::parse)
}

fn sum_of(numbers: impl IntoIterator<Item = Option<Number>>) -> Sum {
    let mut sum = Sum::ZERO;
    numbers.into_iter().flatten().for_each(|number| sum.add(number));
    sum
}
