//! Three books of one run held against each other: fills, positions, and money.
//!
//! What the fills add up to, by average cost, is compared with what position updates say and with
//! what the account says. Engines write the parts of one fill one after another, so books are
//! compared when time moves on. Money is compared from one telling to the next, not since the
//! start: then the first difference shows where the books part, and roundings do not pile up.
//!
//! Some engines match lots, or book commissions when a trade is closed. Their profit agrees with
//! average cost only while nothing is held, so where most tellings differ only those moments count.
//!
//! Money is compared currency by currency. What names none is taken to be in the currency of its
//! security, or else in the only one that the log names. Where neither tells, it is left out and
//! said to be: amounts of different currencies are never added.

mod comparison;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;

use self::comparison::AmountPair;
pub use self::comparison::{AmountComparison, Comparison, Discrepancy};
use super::reader::{SealedRun, StoredEvent};
use super::selection::Filter;
use crate::error::{LogError, Stop, check_stop};
use crate::event::EventType;
use crate::position::{Position, decimal};
use crate::scan::{self, Token};
use crate::timestamp::Timestamp;

/// The books of a run.
#[derive(Debug, Default)]
pub struct Reconciliation {
    /// By security.
    pub securities: BTreeMap<String, SecurityLedger>,
    /// What the account says, by where it says it and in which currency, which is empty when the
    /// log names none; no accounts for one security alone.
    pub accounts: BTreeMap<(AmountSource, String), Account>,
    /// The currencies that the log names.
    pub currencies: BTreeSet<String>,
    /// What of the money was not compared, and why.
    pub uncompared: Vec<Uncompared>,
    /// Fills without security, direction, quantity or price, and those too large to add up.
    pub unusable: u64,
}

/// Money that was not compared.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Uncompared {
    /// Everything: so many fills name no currency, and the log has several.
    FillsWithoutCurrency(u64),
    /// A telling that names no currency, in a log that has several.
    WithoutCurrency(AmountSource),
    /// Currencies beyond the first thirty-two.
    TooManyCurrencies,
}

/// Where money is told of.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum AmountSource {
    /// State changes of profit and loss: what is realized.
    Pnl,
    /// State changes of the account: its balance.
    Balance,
    /// State changes of the account: its equity, which is comparable while nothing is held.
    Equity,
}

impl AmountSource {
    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pnl => "pnl",
            Self::Balance => "balance",
            Self::Equity => "equity",
        }
    }
}

/// The books of one security.
#[derive(Debug, Default)]
pub struct SecurityLedger {
    /// Fills counted.
    pub fills: u64,
    /// Updates seen.
    pub updates: u64,
    /// What the fills add up to.
    pub position: Position,
    /// Quantities.
    pub quantity: Comparison,
    /// Realized profit.
    pub profit: AmountComparison,
    /// Realized profit by the last update.
    pub realized_in_log: Option<Decimal>,
    /// What its prices and its profit are in; empty when the log does not say.
    pub currency: String,
    /// Moments with fills that no update followed, and the first fill of the first.
    pub fills_without_update: u64,
    /// See there.
    pub first_fill_without_update: Option<u32>,
    reported: Option<(u32, Decimal)>,
    reported_profit: Option<(u32, Decimal)>,
    filled: Option<u32>,
}

/// What the account says.
#[derive(Debug, Default)]
pub struct Account {
    /// How it changed, beside what the fills realized.
    pub money: AmountComparison,
    /// The first amount that was told, and the last.
    pub span: Option<(Decimal, Decimal)>,
    /// What the fills realized between the two.
    pub by_fills: Decimal,
    reported: Option<(u32, Decimal)>,
}

impl SealedRun {
    /// Compares the books, for one security or all.
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
        let mut reconciler = Reconciler::default();
        for (place, seq) in selection.iter().enumerate() {
            if place % 1024 == 0 {
                check_stop(stop)?;
            }
            let event = self.event(seq)?;
            if reconciler.time.is_some_and(|time| time != event.timestamp()) {
                reconciler.compare();
            }
            reconciler.time = Some(event.timestamp());
            reconciler.process(seq, &event, symbol);
        }
        reconciler.compare();
        Ok(reconciler.finish())
    }
}

/// Currencies that are kept apart; a log with more is not one of money.
const MAX_CURRENCIES: usize = 32;
/// The name of a currency that is not told.
const UNNAMED: &str = "";

/// Reads the run once, moment by moment.
#[derive(Default)]
struct Reconciler {
    result: Reconciliation,
    time: Option<Timestamp>,
    /// Securities something was said about at this moment.
    changed_symbols: Vec<String>,
    /// What the fills realized, by currency.
    totals: BTreeMap<String, CurrencyTotal>,
    /// How many securities are held.
    open_positions: usize,
    too_many: bool,
}

/// What fills realized in one currency, and how many did.
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
    fn process(&mut self, seq: u32, event: &StoredEvent, symbol: Option<&str>) {
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
        let booked =
            if is_fill { self.fill(seq, &own, json) } else { self.update(seq, &own, json) };
        match booked {
            Some(()) => self.changed_symbols.push(own.into_owned()),
            None => self.result.unusable += u64::from(is_fill),
        }
    }

    fn fill(&mut self, seq: u32, symbol: &str, json: &str) -> Option<()> {
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
        let ledger = self.result.securities.entry(symbol.to_owned()).or_default();
        if let Some(own) = own {
            ledger.currency = own;
        }
        let currency = ledger.currency.clone();
        let mut commission = number(json, "Commission").unwrap_or_default();
        // A commission in another currency is no part of this security's profit.
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
        ledger.filled.get_or_insert(seq);
        self.add_realized(currency, realized)?;
        commission_currency
            .map_or(Some(()), |currency| self.add_realized(currency, -foreign_commission))
    }

    /// A currency that the log names, if it is one of those that are kept apart.
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

    fn update(&mut self, seq: u32, symbol: &str, json: &str) -> Option<()> {
        let quantity = number(json, "Quantity")?;
        let currency = self.known_currency(text(json, "Currency"));
        let ledger = self.result.securities.entry(symbol.to_owned()).or_default();
        if let Some(currency) = currency {
            ledger.currency = currency;
        }
        ledger.updates += 1;
        ledger.reported = Some((seq, quantity));
        if let Some(realized) = number(json, "RealizedPnL") {
            ledger.reported_profit = Some((seq, realized));
            ledger.realized_in_log = Some(realized);
        }
        Some(())
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

    /// Time has moved on: what was said last at this moment is compared.
    fn compare(&mut self) {
        self.changed_symbols.sort_unstable();
        self.changed_symbols.dedup();
        for symbol in self.changed_symbols.drain(..) {
            if let Some(ledger) = self.result.securities.get_mut(&symbol) {
                ledger.compare();
            }
        }
        for ((source, currency), account) in &mut self.result.accounts {
            let Some((seq, reported)) = account.reported.take() else { continue };
            if *source == AmountSource::Equity && self.open_positions > 0 {
                continue;
            }
            // What names no currency counts everywhere: if there turn out to be several, nothing
            // of it is told.
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

    /// What was found, without what cannot be known.
    fn finish(self) -> Reconciliation {
        let mut result = self.result;
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
    /// Whether any of these books differ.
    pub const fn has_disagreement(&self) -> bool {
        self.quantity.disagreements > 0 || self.profit.verdict().0.disagreements > 0
    }

    fn compare(&mut self) {
        if let Some((seq, in_log)) = self.reported.take() {
            let by_fills = self.position.quantity;
            // Engines compute in doubles; one part in a thousand million is no difference.
            let size = by_fills.abs().max(in_log.abs()).max(Decimal::ONE);
            let tolerance = size.checked_mul(Decimal::new(1, 9)).unwrap_or_default();
            self.quantity.add(Discrepancy { seq, by_fills, in_log }, tolerance);
            self.filled = None;
        } else if let Some(fill) = self.filled.take() {
            self.fills_without_update += 1;
            self.first_fill_without_update.get_or_insert(fill);
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
        // What is realized begins with nothing; a balance begins with whatever was paid in.
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

/// Whether nothing is held, but for what doubles leave behind.
fn is_flat(quantity: Decimal) -> bool {
    quantity.abs() < Decimal::new(1, 9)
}

fn text<'a>(json: &'a str, path: &str) -> Option<Cow<'a, str>> {
    scan::at_path(json, path)?.text()
}

fn number(json: &str, name: &str) -> Option<Decimal> {
    scan::member(json, name)?.number_text().and_then(decimal)
}
