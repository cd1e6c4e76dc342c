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

use self::comparison::Mark;
pub use self::comparison::{Comparison, Money, Parting};
use super::reader::{SealedRun, StoredEvent};
use super::selection::Filter;
use crate::books::{Position, decimal};
use crate::error::{LogError, Stop, go_on};
use crate::event::EventType;
use crate::scan::{self, Token};
use crate::timestamp::Timestamp;

/// The books of a run.
#[derive(Debug, Default)]
pub struct Reconciliation {
    /// By security.
    pub securities: BTreeMap<String, Books>,
    /// What the account says, by where it says it and in which currency, which is empty when the
    /// log names none; no accounts for one security alone.
    pub accounts: BTreeMap<(Telling, String), Account>,
    /// The currencies that the log names.
    pub currencies: BTreeSet<String>,
    /// What of the money was not compared, and why.
    pub left_out: Vec<LeftOut>,
    /// Fills without security, direction, quantity or price, and those too large to add up.
    pub unusable: u64,
}

/// Money that was not compared.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LeftOut {
    /// Everything: so many fills name no currency, and the log has several.
    FillsWithoutCurrency(u64),
    /// A telling that names no currency, in a log that has several.
    WithoutCurrency(Telling),
    /// Currencies beyond the first thirty-two.
    TooManyCurrencies,
}

/// Where money is told of.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Telling {
    /// State changes of profit and loss: what is realized.
    Pnl,
    /// State changes of the account: its balance.
    Balance,
    /// State changes of the account: its equity, which is comparable while nothing is held.
    Equity,
}

impl Telling {
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
pub struct Books {
    /// Fills counted.
    pub fills: u64,
    /// Updates seen.
    pub updates: u64,
    /// What the fills add up to.
    pub position: Position,
    /// Quantities.
    pub quantity: Comparison,
    /// Realized profit.
    pub profit: Money,
    /// Realized profit by the last update.
    pub realized_in_log: Option<Decimal>,
    /// What its prices and its profit are in; empty when the log does not say.
    pub currency: String,
    /// Moments with fills that no update followed, and the first fill of the first.
    pub unanswered: u64,
    /// See there.
    pub first_unanswered: Option<u32>,
    said: Option<(u32, Decimal)>,
    said_profit: Option<(u32, Decimal)>,
    filled: Option<u32>,
}

/// What the account says.
#[derive(Debug, Default)]
pub struct Account {
    /// How it changed, beside what the fills realized.
    pub money: Money,
    /// The first amount that was told, and the last.
    pub span: Option<(Decimal, Decimal)>,
    /// What the fills realized between the two.
    pub by_fills: Decimal,
    said: Option<(u32, Decimal)>,
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
        let mut clerk = Clerk::default();
        for (place, seq) in selection.iter().enumerate() {
            if place % 1024 == 0 {
                go_on(stop)?;
            }
            let event = self.event(seq)?;
            if clerk.time.is_some_and(|time| time != event.timestamp()) {
                clerk.compare();
            }
            clerk.time = Some(event.timestamp());
            clerk.see(seq, &event, symbol);
        }
        clerk.compare();
        Ok(clerk.finish())
    }
}

/// Currencies that are kept apart; a log with more is not one of money.
const MOST_CURRENCIES: usize = 32;
/// The name of a currency that is not told.
const UNNAMED: &str = "";

/// Reads the run once, moment by moment.
#[derive(Default)]
struct Clerk {
    found: Reconciliation,
    time: Option<Timestamp>,
    /// Securities something was said about at this moment.
    touched: Vec<String>,
    /// What the fills realized, by currency.
    tills: BTreeMap<String, Till>,
    /// How many securities are held.
    held: usize,
    too_many: bool,
}

/// What fills realized in one currency, and how many did.
#[derive(Clone, Copy, Debug, Default)]
struct Till {
    realized: Decimal,
    fills: u64,
}

impl Till {
    fn and(self, other: Self) -> Option<Self> {
        let realized = self.realized.checked_add(other.realized)?;
        Some(Self { realized, fills: self.fills + other.fills })
    }
}

impl Clerk {
    fn see(&mut self, seq: u32, event: &StoredEvent, symbol: Option<&str>) {
        let json = event.properties();
        if event.event_type() == EventType::StateChange {
            return self.state(seq, json);
        }
        let is_fill = event.event_type() == EventType::TradeExecution;
        let own = scan::member(json, "SecuritySymbol").and_then(|token| token.id_text());
        let Some(own) = own else {
            self.found.unusable += u64::from(is_fill);
            return;
        };
        if symbol.is_some_and(|symbol| !symbol.eq_ignore_ascii_case(&own)) {
            return;
        }
        let booked =
            if is_fill { self.fill(seq, &own, json) } else { self.update(seq, &own, json) };
        match booked {
            Some(()) => self.touched.push(own.into_owned()),
            None => self.found.unusable += u64::from(is_fill),
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
        let own = self.named(text(json, "Currency"));
        let paid_in = self.named(text(json, "CommissionCurrency"));
        let books = self.found.securities.entry(symbol.to_owned()).or_default();
        if let Some(own) = own {
            books.currency = own;
        }
        let currency = books.currency.clone();
        let mut commission = number(json, "Commission").unwrap_or_default();
        // A commission in another currency is no part of this security's profit.
        let elsewhere = paid_in.filter(|paid_in| *paid_in != currency);
        let paid_elsewhere = match &elsewhere {
            Some(_) => std::mem::take(&mut commission),
            None => Decimal::ZERO,
        };
        let before = books.position.clone();
        books.position.fill(signed, price, commission)?;
        let earned = books.position.realized.checked_sub(before.realized)?;
        match (is_flat(before.quantity), is_flat(books.position.quantity)) {
            (true, false) => self.held += 1,
            (false, true) => self.held -= 1,
            (true, true) | (false, false) => {}
        }
        books.fills += 1;
        books.filled.get_or_insert(seq);
        self.earn(currency, earned)?;
        elsewhere.map_or(Some(()), |currency| self.earn(currency, -paid_elsewhere))
    }

    /// A currency that the log names, if it is one of those that are kept apart.
    fn named(&mut self, currency: Option<Cow<'_, str>>) -> Option<String> {
        let currency = currency.filter(|currency| !currency.is_empty())?.into_owned();
        if !self.found.currencies.contains(&currency) {
            if self.found.currencies.len() >= MOST_CURRENCIES {
                self.too_many = true;
                return None;
            }
            self.found.currencies.insert(currency.clone());
        }
        Some(currency)
    }

    fn earn(&mut self, currency: String, earned: Decimal) -> Option<()> {
        let till = self.tills.entry(currency).or_default();
        *till = till.and(Till { realized: earned, fills: 1 })?;
        Some(())
    }

    fn update(&mut self, seq: u32, symbol: &str, json: &str) -> Option<()> {
        let quantity = number(json, "Quantity")?;
        let currency = self.named(text(json, "Currency"));
        let books = self.found.securities.entry(symbol.to_owned()).or_default();
        if let Some(currency) = currency {
            books.currency = currency;
        }
        books.updates += 1;
        books.said = Some((seq, quantity));
        if let Some(realized) = number(json, "RealizedPnL") {
            books.said_profit = Some((seq, realized));
            books.realized_in_log = Some(realized);
        }
        Some(())
    }

    fn state(&mut self, seq: u32, json: &str) {
        let kind = text(json, "StateType");
        let tellings: &[(Telling, &str)] = match kind.as_deref() {
            Some("PnL") => &[(Telling::Pnl, "StateAfter.RealizedPnL")],
            Some("Account") => {
                &[(Telling::Balance, "StateAfter.Balance"), (Telling::Equity, "StateAfter.Equity")]
            }
            _ => return,
        };
        let currency = text(json, "StateAfter.Currency").or_else(|| text(json, "Currency"));
        for (telling, path) in tellings {
            let said = scan::at_path(json, path).and_then(|token| token.number_text());
            if let Some(said) = said.and_then(decimal) {
                self.said(*telling, seq, said, currency.clone());
            }
        }
        if let (Some("Account"), Some(Token::Object(balances))) =
            (kind.as_deref(), scan::at_path(json, "StateAfter.Balances"))
        {
            for (name, amount) in scan::members(balances) {
                if let Some(said) = amount.number_text().and_then(decimal) {
                    self.said(Telling::Balance, seq, said, Token::Text(name).text());
                }
            }
        }
    }

    fn said(&mut self, telling: Telling, seq: u32, said: Decimal, currency: Option<Cow<'_, str>>) {
        let has_name = currency.as_ref().is_some_and(|currency| !currency.is_empty());
        let currency = match self.named(currency) {
            Some(currency) => currency,
            None if has_name => return,
            None => UNNAMED.to_owned(),
        };
        self.found.accounts.entry((telling, currency)).or_default().said = Some((seq, said));
    }

    /// Time has moved on: what was said last at this moment is compared.
    fn compare(&mut self) {
        self.touched.sort_unstable();
        self.touched.dedup();
        for symbol in self.touched.drain(..) {
            if let Some(books) = self.found.securities.get_mut(&symbol) {
                books.compare();
            }
        }
        for ((telling, currency), account) in &mut self.found.accounts {
            let Some((seq, said)) = account.said.take() else { continue };
            if *telling == Telling::Equity && self.held > 0 {
                continue;
            }
            // What names no currency counts everywhere: if there turn out to be several, nothing
            // of it is told.
            let all = self.tills.iter().filter(|(own, _)| {
                own.as_str() == UNNAMED || currency.as_str() == UNNAMED || *own == currency
            });
            let till = all.map(|(_, till)| *till).try_fold(Till::default(), Till::and);
            let Some(till) = till else { continue };
            let now = Mark { by_fills: till.realized, in_log: said, fills: till.fills };
            account.compare(seq, now, self.held == 0, *telling);
        }
    }

    /// What was found, without what cannot be known.
    fn finish(self) -> Reconciliation {
        let mut found = self.found;
        if self.too_many {
            found.left_out.push(LeftOut::TooManyCurrencies);
        }
        if found.currencies.len() < 2 {
            return found;
        }
        match self.tills.get(UNNAMED).filter(|_| !found.accounts.is_empty()) {
            Some(till) => {
                found.left_out.push(LeftOut::FillsWithoutCurrency(till.fills));
                found.accounts.clear();
            }
            None => {
                let unnamed = |(_, currency): &(Telling, String)| currency == UNNAMED;
                let tellings = found.accounts.keys().filter(|key| unnamed(key));
                found
                    .left_out
                    .extend(tellings.map(|(telling, _)| LeftOut::WithoutCurrency(*telling)));
                found.accounts.retain(|key, _| !unnamed(key));
            }
        }
        found
    }
}

impl Books {
    /// Whether any of these books differ.
    pub const fn part(&self) -> bool {
        self.quantity.disagreements > 0 || self.profit.verdict().0.disagreements > 0
    }

    fn compare(&mut self) {
        if let Some((seq, in_log)) = self.said.take() {
            let by_fills = self.position.quantity;
            // Engines compute in doubles; one part in a thousand million is no difference.
            let size = by_fills.abs().max(in_log.abs()).max(Decimal::ONE);
            let tolerance = size.checked_mul(Decimal::new(1, 9)).unwrap_or_default();
            self.quantity.note(Parting { seq, by_fills, in_log }, tolerance);
            self.filled = None;
        } else if let Some(fill) = self.filled.take() {
            self.unanswered += 1;
            self.first_unanswered.get_or_insert(fill);
        }
        if let Some((seq, in_log)) = self.said_profit.take() {
            self.profit.begins_with_nothing();
            let now = Mark { by_fills: self.position.realized, in_log, fills: self.fills };
            self.profit.tell(seq, now, is_flat(self.position.quantity));
        }
    }
}

impl Account {
    fn compare(&mut self, seq: u32, now: Mark, is_flat: bool, telling: Telling) {
        // What is realized begins with nothing; a balance begins with whatever was paid in.
        if telling == Telling::Pnl {
            self.money.begins_with_nothing();
        }
        if let Some(last) = self.money.last {
            let change = now.by_fills.checked_sub(last.by_fills).unwrap_or_default();
            self.by_fills = self.by_fills.checked_add(change).unwrap_or_default();
        }
        self.span = Some((self.span.map_or(now.in_log, |(first, _)| first), now.in_log));
        self.money.tell(seq, now, is_flat);
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
