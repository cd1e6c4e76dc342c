//! Reconciliation of a run: fills against position updates against account amounts.
//!
//! Positions and realized profit computed from the fills, by average cost, are compared with the
//! position updates and with the account. Engines log the parts of one fill as several events, so
//! the comparison happens when the time advances. Amounts are compared as changes between two
//! reports: the first discrepancy then locates the fault, and rounding does not accumulate.
//!
//! Some engines match lots, or book commissions when a trade closes. Their profit equals average
//! cost only while flat, so if most reports differ, only those at flat positions count.
//!
//! Amounts are compared per currency. An amount without a currency takes that of its security, or
//! the only currency of the log. If neither exists it is not compared, and the result says so:
//! amounts of different currencies are never added.

mod comparison;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;

use self::comparison::AmountPair;
pub use self::comparison::{AmountComparison, Comparison, Discrepancy};
use super::reader::{SealedRun, StoredEvent};
use super::selection::Filter;
use super::snapshot;
use crate::error::{LogError, Stop, check_stop};
use crate::event::EventType;
use crate::position::{Position, decimal};
use crate::scan::{self, Token};
use crate::sealed::books;
use crate::sealed::dictionary::Dictionary;
use crate::sealed::directory::CHUNK_EVENTS;
use crate::timestamp::Timestamp;

/// The result of a reconciliation.
#[derive(Debug, Default)]
pub struct Reconciliation {
    /// By symbol; one with fills in several currencies has a ledger for each.
    pub securities: BTreeMap<LedgerKey, SecurityLedger>,
    /// By source and currency (empty when the log names none). Empty when one security was
    /// requested.
    pub accounts: BTreeMap<(AmountSource, String), Account>,
    /// The currencies that the log names.
    pub currencies: BTreeSet<String>,
    /// Amounts that were not compared.
    pub uncompared: Vec<Uncompared>,
    /// Fills without security, direction, quantity or price, or with numbers out of range.
    pub unusable: u64,
}

/// A symbol, and the currency if it has fills in several.
pub type LedgerKey = (String, Option<String>);

/// Amounts that were not compared, and why.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Uncompared {
    /// All amounts: this many fills name no currency and the log has several.
    FillsWithoutCurrency(u64),
    /// An amount without a currency in a log that has several.
    WithoutCurrency(AmountSource),
    /// Currencies beyond [`MAX_CURRENCIES`].
    TooManyCurrencies,
}

/// The source of an amount in the log.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum AmountSource {
    /// State changes of profit and loss: realized profit.
    Pnl,
    /// State changes of the account: balance.
    Balance,
    /// State changes of the account: equity, compared only while flat.
    Equity,
}

impl AmountSource {
    /// The published word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pnl => "pnl",
            Self::Balance => "balance",
            Self::Equity => "equity",
        }
    }
}

/// The comparison for one security.
#[derive(Debug, Default)]
pub struct SecurityLedger {
    /// Number of fills.
    pub fills: u64,
    /// Number of position updates.
    pub updates: u64,
    /// The position computed from the fills.
    pub position: Position,
    /// Comparison of quantities.
    pub quantity: Comparison,
    /// Comparison of realized profit.
    pub profit: AmountComparison,
    /// Realized profit in the last position update.
    pub realized_in_log: Option<Decimal>,
    /// The currency of prices and profit; empty when the log names none.
    pub currency: String,
    /// Fills that no position update follows.
    pub fills_without_update: u64,
    /// The first of them.
    pub first_fill_without_update: Option<u32>,
    reported: Option<(u32, Decimal)>,
    reported_profit: Option<(u32, Decimal)>,
    /// Fills whose update has not come yet.
    pending: Vec<(u32, Timestamp)>,
    /// The updates at the current timestamp, each with the fill that its links name.
    update_causes: Vec<Option<u32>>,
}

/// The comparison for one source of amounts.
#[derive(Debug, Default)]
pub struct Account {
    /// Comparison of its changes with realized profit.
    pub money: AmountComparison,
    /// The first and the last amount.
    pub span: Option<(Decimal, Decimal)>,
    /// Realized profit of the fills between those two.
    pub by_fills: Decimal,
    reported: Option<(u32, Decimal)>,
}

impl SealedRun {
    /// Reconciles one security or all.
    pub fn reconcile(
        &self,
        symbol: Option<&str>,
        stop: Stop<'_>,
    ) -> Result<Reconciliation, LogError> {
        let symbol = symbol.filter(|symbol| !symbol.is_empty());
        let mut types = vec![EventType::TradeExecution, EventType::PositionUpdate];
        if symbol.is_none() {
            types.push(EventType::StateChange);
        }
        let filter = Filter { types, ..Filter::default() };
        let selection = self.select(&filter, self.between(None, None)?)?;
        let filled = self.values(Dictionary::FillState, usize::MAX)?;
        let mut reconciler = Reconciler::default();
        for (key, _) in &filled {
            let (own, _) = books::split_listing(key);
            if snapshot::has_other_listings(&filled, own) {
                let currency = self.securities()?.currency(own).unwrap_or_default().into_owned();
                reconciler.listed_in.insert(own.to_owned(), currency);
            }
        }
        for (place, seq) in selection.iter().enumerate() {
            if place % 1024 == 0 {
                check_stop(stop)?;
            }
            let event = self.event(seq)?;
            if reconciler.time.is_some_and(|time| time != event.timestamp()) {
                reconciler.compare();
            }
            reconciler.time = Some(event.timestamp());
            let fill = self.fill_behind(&event)?;
            reconciler.process(seq, &event, fill, symbol);
        }
        reconciler.compare();
        Ok(reconciler.finish())
    }

    /// The fill that caused a position update, by the links from child to parent.
    fn fill_behind(&self, event: &StoredEvent) -> Result<Option<u32>, LogError> {
        if event.event_type() != EventType::PositionUpdate {
            return Ok(None);
        }
        let mut parent = event.parent_seq();
        for _ in 0..MAX_LINKS_TO_FILL {
            let Some(seq) = parent else { return Ok(None) };
            if self.kind_and_rank(seq)?.0.event_type() == EventType::TradeExecution {
                return Ok(Some(seq));
            }
            parent = self.links(seq / CHUNK_EVENTS)?.parent((seq % CHUNK_EVENTS) as usize);
        }
        Ok(None)
    }
}

/// Links followed from an update to its fill: an engine may log an order or a trade between them.
const MAX_LINKS_TO_FILL: usize = 4;
/// Fills of one security within 100 ms may share an update that names none of them: the parts of
/// one order in one match. Parts that come a second apart have their own updates.
const SHARED_UPDATE: i64 = 100_000_000;

/// Currencies that are compared.
const MAX_CURRENCIES: usize = 32;
/// The key of an unnamed currency.
const UNNAMED: &str = "";

/// Processes events in order of time.
#[derive(Default)]
struct Reconciler {
    result: Reconciliation,
    time: Option<Timestamp>,
    /// Symbols with fills in several currencies, each with that of its events without one.
    listed_in: BTreeMap<String, String>,
    /// Ledgers with an event at the current timestamp.
    changed: Vec<LedgerKey>,
    /// Realized profit of the fills, by currency.
    totals: BTreeMap<String, CurrencyTotal>,
    /// Number of securities with an open position.
    open_positions: usize,
    too_many: bool,
}

/// Realized profit in one currency, and the number of fills.
#[derive(Clone, Copy, Debug, Default)]
struct CurrencyTotal {
    realized: Decimal,
    fills: u64,
}

impl CurrencyTotal {
    fn and(self, other: Self) -> Option<Self> {
        let realized = self.realized.checked_add(other.realized)?;
        Some(Self { realized, fills: self.fills + other.fills })
    }
}

impl Reconciler {
    fn process(&mut self, seq: u32, event: &StoredEvent, fill: Option<u32>, symbol: Option<&str>) {
        let json = event.properties();
        if event.event_type() == EventType::StateChange {
            return self.state(seq, json);
        }
        let is_fill = event.event_type() == EventType::TradeExecution;
        let own = scan::member(json, "SecuritySymbol").and_then(|token| token.id_text());
        let Some(own) = own else {
            self.result.unusable += u64::from(is_fill);
            return;
        };
        if symbol.is_some_and(|symbol| !symbol.eq_ignore_ascii_case(&own)) {
            return;
        }
        let time = event.timestamp();
        let booked = if is_fill {
            self.fill(seq, time, &own, json)
        } else {
            self.update(seq, fill, &own, json)
        };
        match booked {
            Some(ledger) => self.changed.push(ledger),
            None => self.result.unusable += u64::from(is_fill),
        }
    }

    /// The ledger of a symbol's events in a currency.
    fn ledger_of(&self, symbol: &str, currency: Option<&String>) -> LedgerKey {
        let listed_in = self.listed_in.get(symbol);
        (symbol.to_owned(), listed_in.map(|first| currency.unwrap_or(first).clone()))
    }

    fn fill(&mut self, seq: u32, time: Timestamp, symbol: &str, json: &str) -> Option<LedgerKey> {
        let quantity = number(json, "Quantity")?;
        let price = number(json, "Price")?;
        let direction = scan::member(json, "Direction").and_then(|token| token.text());
        let signed = match direction.as_deref() {
            Some("Buy") => quantity,
            Some("Sell") => -quantity,
            _ => return None,
        };
        let own = self.known_currency(text(json, "Currency"));
        let paid_in = self.known_currency(text(json, "CommissionCurrency"));
        let key = self.ledger_of(symbol, own.as_ref());
        let ledger = self.result.securities.entry(key.clone()).or_default();
        if let Some(own) = own {
            ledger.currency = own;
        }
        let currency = ledger.currency.clone();
        let mut commission = number(json, "Commission").unwrap_or_default();
        // A commission in another currency is not part of this security's profit.
        let commission_currency = paid_in.filter(|paid_in| *paid_in != currency);
        let foreign_commission = match &commission_currency {
            Some(_) => std::mem::take(&mut commission),
            None => Decimal::ZERO,
        };
        let before = ledger.position.clone();
        ledger.position.fill(signed, price, commission)?;
        let realized = ledger.position.realized.checked_sub(before.realized)?;
        match (is_flat(before.quantity), is_flat(ledger.position.quantity)) {
            (true, false) => self.open_positions += 1,
            (false, true) => self.open_positions -= 1,
            (true, true) | (false, false) => {}
        }
        ledger.fills += 1;
        ledger.pending.push((seq, time));
        self.add_realized(currency, realized)?;
        if let Some(currency) = commission_currency {
            self.add_realized(currency, -foreign_commission)?;
        }
        Some(key)
    }

    /// Registers a currency that the log names, up to [`MAX_CURRENCIES`].
    fn known_currency(&mut self, currency: Option<Cow<'_, str>>) -> Option<String> {
        let currency = currency.filter(|currency| !currency.is_empty())?.into_owned();
        if !self.result.currencies.contains(&currency) {
            if self.result.currencies.len() >= MAX_CURRENCIES {
                self.too_many = true;
                return None;
            }
            self.result.currencies.insert(currency.clone());
        }
        Some(currency)
    }

    fn add_realized(&mut self, currency: String, realized: Decimal) -> Option<()> {
        let total = self.totals.entry(currency).or_default();
        *total = total.and(CurrencyTotal { realized, fills: 1 })?;
        Some(())
    }

    fn update(
        &mut self,
        seq: u32,
        fill: Option<u32>,
        symbol: &str,
        json: &str,
    ) -> Option<LedgerKey> {
        let quantity = number(json, "Quantity")?;
        let currency = self.known_currency(text(json, "Currency"));
        let key = self.ledger_of(symbol, currency.as_ref());
        let ledger = self.result.securities.entry(key.clone()).or_default();
        if let Some(currency) = currency {
            ledger.currency = currency;
        }
        ledger.updates += 1;
        ledger.update_causes.push(fill);
        ledger.reported = Some((seq, quantity));
        if let Some(realized) = number(json, "RealizedPnL") {
            ledger.reported_profit = Some((seq, realized));
            ledger.realized_in_log = Some(realized);
        }
        Some(key)
    }

    fn state(&mut self, seq: u32, json: &str) {
        let kind = text(json, "StateType");
        let sources: &[(AmountSource, &str)] = match kind.as_deref() {
            Some("PnL") => &[(AmountSource::Pnl, "StateAfter.RealizedPnL")],
            Some("Account") => &[
                (AmountSource::Balance, "StateAfter.Balance"),
                (AmountSource::Equity, "StateAfter.Equity"),
            ],
            _ => return,
        };
        let currency = text(json, "StateAfter.Currency").or_else(|| text(json, "Currency"));
        for (source, path) in sources {
            let reported = scan::at_path(json, path).and_then(|token| token.number_text());
            if let Some(reported) = reported.and_then(decimal) {
                self.reported(*source, seq, reported, currency.clone());
            }
        }
        if let (Some("Account"), Some(Token::Object(balances))) =
            (kind.as_deref(), scan::at_path(json, "StateAfter.Balances"))
        {
            for (name, amount) in scan::members(balances) {
                if let Some(reported) = amount.number_text().and_then(decimal) {
                    self.reported(AmountSource::Balance, seq, reported, Token::Text(name).text());
                }
            }
        }
    }

    fn reported(
        &mut self,
        source: AmountSource,
        seq: u32,
        reported: Decimal,
        currency: Option<Cow<'_, str>>,
    ) {
        let has_name = currency.as_ref().is_some_and(|currency| !currency.is_empty());
        let currency = match self.known_currency(currency) {
            Some(currency) => currency,
            None if has_name => return,
            None => UNNAMED.to_owned(),
        };
        self.result.accounts.entry((source, currency)).or_default().reported =
            Some((seq, reported));
    }

    /// Compares the last reports at the current timestamp, when the time advances.
    fn compare(&mut self) {
        self.changed.sort_unstable();
        self.changed.dedup();
        for key in self.changed.drain(..) {
            if let Some(ledger) = self.result.securities.get_mut(&key) {
                ledger.compare();
            }
        }
        for ((source, currency), account) in &mut self.result.accounts {
            let Some((seq, reported)) = account.reported.take() else { continue };
            if *source == AmountSource::Equity && self.open_positions > 0 {
                continue;
            }
            // An unnamed currency matches every other here; `finish` discards the result if the log
            // has several currencies.
            let all = self.totals.iter().filter(|(own, _)| {
                own.as_str() == UNNAMED || currency.as_str() == UNNAMED || *own == currency
            });
            let total =
                all.map(|(_, total)| *total).try_fold(CurrencyTotal::default(), CurrencyTotal::and);
            let Some(total) = total else { continue };
            let now = AmountPair { by_fills: total.realized, in_log: reported, fills: total.fills };
            account.compare(seq, now, self.open_positions == 0, *source);
        }
    }

    /// The result, without amounts whose currency is ambiguous.
    fn finish(self) -> Reconciliation {
        let mut result = self.result;
        for ledger in result.securities.values_mut() {
            for (seq, _) in std::mem::take(&mut ledger.pending) {
                ledger.report_lost(seq);
            }
        }
        if self.too_many {
            result.uncompared.push(Uncompared::TooManyCurrencies);
        }
        if result.currencies.len() < 2 {
            return result;
        }
        match self.totals.get(UNNAMED).filter(|_| !result.accounts.is_empty()) {
            Some(total) => {
                result.uncompared.push(Uncompared::FillsWithoutCurrency(total.fills));
                result.accounts.clear();
            }
            None => {
                let unnamed = |(_, currency): &(AmountSource, String)| currency == UNNAMED;
                let sources = result.accounts.keys().filter(|key| unnamed(key));
                result
                    .uncompared
                    .extend(sources.map(|(source, _)| Uncompared::WithoutCurrency(*source)));
                result.accounts.retain(|key, _| !unnamed(key));
            }
        }
        result
    }
}

impl SecurityLedger {
    /// Whether any comparison of this security failed.
    pub const fn has_disagreement(&self) -> bool {
        self.quantity.disagreements > 0 || self.profit.verdict().0.disagreements > 0
    }

    /// Assigns an update to pending fills. If its links name a fill, it covers that one and those at
    /// the same time; others wait for their own. Without a link it covers the last one and those
    /// shortly before it, and older ones are without an update.
    fn cover(&mut self, cause: Option<u32>) {
        if let Some(seq) = cause {
            let named = self.pending.iter().find(|(own, _)| *own == seq).map(|(_, time)| *time);
            self.pending.retain(|(_, own)| Some(*own) != named);
            return;
        }
        let Some((_, last)) = self.pending.last() else { return };
        let last = last.nanos();
        let is_covered = |time: Timestamp| last.saturating_sub(time.nanos()) <= SHARED_UPDATE;
        for (seq, time) in std::mem::take(&mut self.pending) {
            if !is_covered(time) {
                self.report_lost(seq);
            }
        }
    }

    fn report_lost(&mut self, fill: u32) {
        self.fills_without_update += 1;
        let first = self.first_fill_without_update.get_or_insert(fill);
        *first = fill.min(*first);
    }

    fn compare(&mut self) {
        if let Some((seq, in_log)) = self.reported.take() {
            let by_fills = self.position.quantity;
            // Engines compute in doubles: a relative difference of 1e-9 is tolerated.
            let size = by_fills.abs().max(in_log.abs()).max(Decimal::ONE);
            let tolerance = size.checked_mul(Decimal::new(1, 9)).unwrap_or_default();
            self.quantity.add(Discrepancy { seq, by_fills, in_log }, tolerance);
        }
        for cause in std::mem::take(&mut self.update_causes) {
            self.cover(cause);
        }
        if let Some((seq, in_log)) = self.reported_profit.take() {
            self.profit.start_at_zero();
            let now = AmountPair { by_fills: self.position.realized, in_log, fills: self.fills };
            self.profit.record(seq, now, is_flat(self.position.quantity));
        }
    }
}

impl Account {
    fn compare(&mut self, seq: u32, now: AmountPair, is_flat: bool, source: AmountSource) {
        // Realized profit starts at zero; a balance starts at the deposit.
        if source == AmountSource::Pnl {
            self.money.start_at_zero();
        }
        if let Some(last) = self.money.last {
            let change = now.by_fills.checked_sub(last.by_fills).unwrap_or_default();
            self.by_fills = self.by_fills.checked_add(change).unwrap_or_default();
        }
        self.span = Some((self.span.map_or(now.in_log, |(first, _)| first), now.in_log));
        self.money.record(seq, now, is_flat);
    }
}

/// Whether the position is closed, up to the rounding of doubles.
fn is_flat(quantity: Decimal) -> bool {
    quantity.abs() < Decimal::new(1, 9)
}

fn text<'a>(json: &'a str, path: &str) -> Option<Cow<'a, str>> {
    scan::at_path(json, path)?.text()
}

fn number(json: &str, name: &str) -> Option<Decimal> {
    scan::member(json, name)?.number_text().and_then(decimal)
}
