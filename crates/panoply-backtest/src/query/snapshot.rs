//! The state of a strategy at a timestamp: last position and indicator values, open orders, profit
//! and loss by currency. Nothing is replayed: the last event of each key is looked up, and so is the
//! position by the fills where the log has no position updates.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rust_decimal::Decimal;

use super::reader::{SealedRun, StoredEvent};
use crate::error::{LogError, Stop, check_stop};
use crate::number::{Number, Sum};
use crate::position::{Position, decimal};
use crate::scan;
use crate::sealed::books;
use crate::sealed::books::trades::Securities;
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
    /// The position in each security, by symbol.
    pub positions: Vec<HeldPosition>,
    /// The last value of each indicator, by name and symbol.
    pub indicators: Vec<(String, String, StoredEvent)>,
    /// Open orders, first placed first.
    pub orders: Vec<OpenOrder>,
    /// Number of open orders, including those not listed.
    pub open_orders: usize,
    /// Profit and loss by currency, sorted; one empty name when the log names none.
    pub pnl: Vec<Pnl>,
}

/// A position: the last update in the log, completed from the fills and prices.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldPosition {
    /// The security.
    pub symbol: String,
    /// Currency of prices and profit; empty when the log names none.
    pub currency: String,
    /// The event that changed it last: an update, or a fill if the log has no updates.
    pub seq: u32,
    /// Signed quantity.
    pub quantity: Option<Figure>,
    /// Average price.
    pub average: Option<Figure>,
    /// Unrealized profit.
    pub unrealized: Option<Figure>,
    /// Realized profit.
    pub realized: Option<Figure>,
}

/// A number of the state.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// As logged.
    Logged(String),
    /// Computed from fills and prices.
    Derived(Decimal),
}

impl Figure {
    fn logged(json: &str, name: &str) -> Option<Self> {
        let text = scan::member(json, name)?.number_text()?;
        Number::parse(text).map(|_| Self::Logged(text.to_owned()))
    }

    /// In decimal notation.
    pub fn text(&self) -> String {
        match self {
            Self::Logged(text) => text.clone(),
            Self::Derived(amount) => amount.normalize().to_string(),
        }
    }

    fn number(&self) -> Option<Number> {
        Number::parse(&self.text())
    }

    fn decimal(&self) -> Option<Decimal> {
        match self {
            Self::Logged(text) => decimal(text),
            Self::Derived(amount) => Some(*amount),
        }
    }
}

/// An open order.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenOrder {
    /// Its terms.
    pub terms: Arc<OrderTerms>,
    /// The filled quantity.
    pub filled: Sum,
}

/// Profit and loss in one currency.
#[derive(Clone, Debug, PartialEq)]
pub struct Pnl {
    /// The currency; empty when the log names none.
    pub currency: String,
    /// Realized profit.
    pub realized: Sum,
    /// Unrealized profit of open positions.
    pub unrealized: Sum,
    /// The source of realized profit.
    pub source: PnlSource,
    /// Time of the state change.
    pub time: Option<Timestamp>,
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
                pnl: vec![Pnl {
                    currency: String::new(),
                    realized: Sum::ZERO,
                    unrealized: Sum::ZERO,
                    source: PnlSource::Positions,
                    time: None,
                }],
            });
        };
        let shown =
            |symbol: &str| view.symbol.is_none_or(|wanted| wanted.eq_ignore_ascii_case(symbol));
        let positions = self.positions(last, stop, &shown)?;
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
        let pnl = self.pnl(last, view.symbol.is_some(), &positions, &shown)?;
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

    /// The last posting at or before `last`.
    pub(crate) fn last_posting(
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

    /// The last update of each position, and positions by the fills of securities without updates.
    fn positions(
        &self,
        last: u32,
        stop: Stop<'_>,
        shown: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<HeldPosition>, LogError> {
        let shown = |listing: &str| shown(books::split_listing(listing).0);
        let securities = self.securities()?;
        let filled = self.values(Dictionary::FillState, usize::MAX)?;
        let mut held = Vec::new();
        for (listing, event) in self.last_of_each(Dictionary::PositionState, last, stop, &shown)? {
            held.push(self.logged_position(&listing, &event, last, &securities)?);
        }
        let mut logged: Vec<(String, String)> =
            held.iter().map(|own| (own.symbol.clone(), own.currency.clone())).collect();
        logged.sort_unstable();
        for (place, (listing, postings)) in filled.iter().enumerate() {
            if place % 256 == 0 {
                check_stop(stop)?;
            }
            if !shown(listing) {
                continue;
            }
            let (symbol, _) = books::split_listing(listing);
            let currency = securities.currency(listing).unwrap_or_default();
            // Until the engine writes a first update, the fills are all there is. Updates may name
            // another currency than the fills, that of the account: they cover the fills of a symbol
            // unless those are in several currencies.
            let of_symbol = |own: &(String, String)| own.0.as_str().cmp(symbol);
            let is_logged = logged.binary_search_by(of_symbol).is_ok();
            let is_covered = is_logged
                && (!has_other_listings(&filled, symbol)
                    || logged.iter().any(|(own, named)| own == symbol && *named == currency));
            if is_covered {
                continue;
            }
            let Some(fill) = self.fill_state(postings, last)? else { continue };
            let price = self.price_at(listing, last)?.map_or(fill.price, |price| price.price);
            let unrealized = books::unrealized(&fill.position, price);
            held.push(HeldPosition {
                currency: currency.into_owned(),
                symbol: symbol.to_owned(),
                seq: fill.seq,
                quantity: Some(Figure::Derived(fill.position.quantity)),
                average: Some(Figure::Derived(fill.position.average)),
                unrealized: unrealized.map(Figure::Derived),
                realized: Some(Figure::Derived(fill.position.realized)),
            });
        }
        held.sort_by(|a, b| (&a.symbol, &a.currency).cmp(&(&b.symbol, &b.currency)));
        Ok(held)
    }

    /// A position update of a listing; what it does not report is derived.
    fn logged_position(
        &self,
        listing: &str,
        event: &StoredEvent,
        last: u32,
        securities: &Securities,
    ) -> Result<HeldPosition, LogError> {
        let json = event.properties();
        let figure = |name: &str| Figure::logged(json, name);
        let named = scan::member(json, "Currency").and_then(|token| token.text());
        let named = named.filter(|own| !own.is_empty()).map(std::borrow::Cow::into_owned);
        let (symbol, _) = books::split_listing(listing);
        let own = || securities.currency(listing).unwrap_or_default().into_owned();
        let mut held = HeldPosition {
            currency: named.unwrap_or_else(own),
            symbol: symbol.to_owned(),
            seq: event.seq(),
            quantity: figure("Quantity"),
            average: figure("AveragePrice"),
            unrealized: figure("UnrealizedPnL"),
            realized: figure("RealizedPnL"),
        };
        if held.unrealized.is_none()
            && let Some(quantity) = held.quantity.as_ref().and_then(Figure::decimal)
        {
            let average = held.average.as_ref().and_then(Figure::decimal).unwrap_or_default();
            let position = Position { quantity, average, realized: Decimal::ZERO };
            let price = match self.price_at(listing, last)? {
                None if listing != symbol => self.price_at(symbol, last)?,
                found => found,
            };
            let price = price.map_or(average, |price| price.price);
            held.unrealized = books::unrealized(&position, price).map(Figure::Derived);
        }
        if held.realized.is_none() || held.average.is_none() {
            let postings = match self.postings(Dictionary::FillState, listing)? {
                None if listing != symbol => self.postings(Dictionary::FillState, symbol)?,
                found => found,
            };
            if let Some(postings) = postings
                && let Some(fill) = self.fill_state(&postings, last)?
            {
                let Position { average, realized, .. } = fill.position;
                held.realized = held.realized.or(Some(Figure::Derived(realized)));
                held.average = held.average.or(Some(Figure::Derived(average)));
            }
        }
        Ok(held)
    }

    /// Profit by currency: the last state change of each, else the sum of its positions.
    fn pnl(
        &self,
        last: u32,
        filtered: bool,
        positions: &[HeldPosition],
        shown: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Pnl>, LogError> {
        let mut reported: BTreeMap<String, StoredEvent> = BTreeMap::new();
        if !filtered {
            for (currency, postings) in self.values(Dictionary::PnlState, usize::MAX)? {
                if let Some(seq) = self.last_posting(Dictionary::PnlState, &postings, last)? {
                    reported.insert(currency.into_string(), self.event(seq)?);
                }
            }
        }
        let mut by_currency: BTreeMap<String, Vec<&HeldPosition>> = BTreeMap::new();
        for position in positions {
            by_currency.entry(position.currency.clone()).or_default().push(position);
        }
        if let Some(only) = self.only_currency()? {
            name_only_currency(&only, &mut reported, &mut by_currency);
        }
        let mut paid = self.commissions_elsewhere(last, shown)?;
        // A state change has them already.
        paid.retain(|currency, _| !reported.contains_key(currency));
        let currencies: BTreeSet<&String> =
            reported.keys().chain(by_currency.keys()).chain(paid.keys()).collect();
        let mut all: Vec<Pnl> = Vec::new();
        for currency in currencies {
            let own = by_currency.get(currency).map_or(&[][..], Vec::as_slice);
            let total = |of: fn(&HeldPosition) -> Option<&Figure>| {
                sum_of(own.iter().map(|position| of(position).and_then(Figure::number)))
            };
            let unrealized = total(|position| position.unrealized.as_ref());
            all.push(match reported.get(currency) {
                Some(event) => {
                    let json = event.properties();
                    let logged = number_at(json, "StateAfter.UnrealizedPnL");
                    Pnl {
                        currency: currency.clone(),
                        realized: sum_of([number_at(json, "StateAfter.RealizedPnL")]),
                        unrealized: logged.map_or(unrealized, |own| sum_of([Some(own)])),
                        source: PnlSource::StateChange,
                        time: Some(event.timestamp()),
                    }
                }
                None => {
                    let mut realized = total(|position| position.realized.as_ref());
                    realized.merge(paid.get(currency).copied().unwrap_or(Sum::ZERO).negated());
                    Pnl {
                        currency: currency.clone(),
                        realized,
                        unrealized,
                        source: PnlSource::Positions,
                        time: None,
                    }
                }
            });
        }
        if all.is_empty() {
            let (realized, unrealized) = (Sum::ZERO, Sum::ZERO);
            let (currency, source) = (String::new(), PnlSource::Positions);
            all.push(Pnl { currency, realized, unrealized, source, time: None });
        }
        Ok(all)
    }

    /// The currency of a log that names one only, before and after the time of the snapshot: a
    /// second one that appears later must not change what an earlier amount was in.
    fn only_currency(&self) -> Result<Option<String>, LogError> {
        let mut only: Option<String> = None;
        let mut is_only = |currency: &str| match &only {
            _ if currency.is_empty() => true,
            Some(own) => own == currency,
            None => {
                only = Some(currency.to_owned());
                true
            }
        };
        let securities = self.securities()?;
        let reported = self.values(Dictionary::PnlState, usize::MAX)?;
        let is_one = self.head().curves.iter().all(|curve| is_only(&curve.currency))
            && securities.0.iter().all(|(_, currency)| is_only(currency))
            && reported.iter().all(|(currency, _)| is_only(currency));
        let only = only.filter(|_| is_one);
        Ok(only)
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
        self.cached(BlobKey::new(kind, 0, number), orders::read_records)
    }
}

/// Whether a symbol has fills in several currencies. Keys are sorted.
pub(super) fn has_other_listings(filled: &[(Box<str>, Postings)], symbol: &str) -> bool {
    let from = filled.partition_point(|(key, _)| **key < *symbol);
    let of_symbol = filled.iter().skip(from).filter(|(key, _)| key.starts_with(symbol));
    of_symbol.take(2).filter(|(key, _)| books::split_listing(key).0 == symbol).count() > 1
}

/// Unnamed amounts are in the only currency of the log.
fn name_only_currency(
    only: &str,
    reported: &mut BTreeMap<String, StoredEvent>,
    positions: &mut BTreeMap<String, Vec<&HeldPosition>>,
) {
    if let Some(event) = reported.remove("") {
        reported.entry(only.to_owned()).or_insert(event);
    }
    if let Some(unnamed) = positions.remove("") {
        positions.entry(only.to_owned()).or_default().extend(unnamed);
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
