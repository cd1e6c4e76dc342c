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
//! Everything is taken to be in one currency. With a run in several, money cannot agree.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use super::reader::{SealedRun, StoredEvent};
use super::selection::Filter;
use crate::books::{Position, decimal};
use crate::error::{LogError, Stop, go_on};
use crate::event::EventType;
use crate::scan;
use crate::timestamp::Timestamp;

/// The books of a run.
#[derive(Debug, Default)]
pub struct Reconciliation {
    /// By security.
    pub securities: BTreeMap<String, Books>,
    /// What the account says, by where it says it; empty for one security alone.
    pub accounts: BTreeMap<Telling, Account>,
    /// Fills without security, direction, quantity or price, and those too large to add up.
    pub unusable: u64,
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

/// How two books compare.
#[derive(Debug, Default)]
pub struct Comparison {
    /// How often they could be compared.
    pub compared: u64,
    /// How often they differed.
    pub disagreements: u64,
    /// The first difference.
    pub first: Option<Parting>,
}

/// Where books part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parting {
    /// The event that says something else than the fills.
    pub seq: u32,
    /// What the fills say.
    pub by_fills: Decimal,
    /// What the event says.
    pub in_log: Decimal,
}

impl Comparison {
    fn note(&mut self, parting: Parting, tolerance: Decimal) {
        self.compared += 1;
        let difference = parting.by_fills.checked_sub(parting.in_log);
        if difference.is_none_or(|difference| difference.abs() > tolerance) {
            self.disagreements += 1;
            self.first.get_or_insert(parting);
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

/// A running amount beside what the fills realized, compared from telling to telling.
#[derive(Debug, Default)]
pub struct Money {
    /// From each telling to the next.
    steps: Comparison,
    /// From each telling while nothing was held to the next such.
    settled: Comparison,
    last: Option<Mark>,
    last_settled: Option<Mark>,
    digits: u32,
}

/// Where both amounts stood, and after how many fills.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    by_fills: Decimal,
    in_log: Decimal,
    fills: u64,
}

impl Money {
    /// The comparison that counts, and whether it is of every telling.
    pub const fn verdict(&self) -> (&Comparison, bool) {
        if self.steps.disagreements * 4 <= self.steps.compared {
            (&self.steps, true)
        } else {
            (&self.settled, false)
        }
    }

    /// Both amounts are known to begin with nothing.
    const fn begins_with_nothing(&mut self) {
        if self.last.is_none() {
            let nothing = Mark { by_fills: Decimal::ZERO, in_log: Decimal::ZERO, fills: 0 };
            self.last = Some(nothing);
            self.last_settled = Some(nothing);
        }
    }

    fn tell(&mut self, seq: u32, now: Mark, is_flat: bool) {
        self.digits = self.digits.max(now.in_log.scale().min(8));
        if let Some((parting, tolerance)) = self.last.and_then(|last| self.change(seq, last, now)) {
            self.steps.note(parting, tolerance);
        }
        self.last = Some(now);
        if !is_flat {
            return;
        }
        let change = self.last_settled.and_then(|last| self.change(seq, last, now));
        if let Some((parting, tolerance)) = change {
            self.settled.note(parting, tolerance);
        }
        self.last_settled = Some(now);
    }

    /// How both changed, and how much rounding may explain.
    fn change(&self, seq: u32, was: Mark, now: Mark) -> Option<(Parting, Decimal)> {
        // Each fill's profit and its commission may have been rounded, and the amount itself.
        let roundings = Decimal::from(2 * now.fills.saturating_sub(was.fills) + 1);
        let unit = Decimal::new(1, self.digits);
        let noise = now.in_log.abs().checked_mul(Decimal::new(1, 10))?;
        let tolerance = unit.checked_mul(roundings)?.checked_add(noise)?;
        let by_fills = now.by_fills.checked_sub(was.by_fills)?;
        let in_log = now.in_log.checked_sub(was.in_log)?;
        Some((Parting { seq, by_fills, in_log }, tolerance))
    }
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
        Ok(clerk.found)
    }
}

/// Reads the run once, moment by moment.
#[derive(Default)]
struct Clerk {
    found: Reconciliation,
    time: Option<Timestamp>,
    /// Securities something was said about at this moment.
    touched: Vec<String>,
    fills: u64,
    /// What all fills realized.
    realized: Decimal,
    /// How many securities are held.
    held: usize,
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
        let books = self.found.securities.entry(symbol.to_owned()).or_default();
        let before = books.position.clone();
        books.position.fill(signed, price, number(json, "Commission").unwrap_or_default())?;
        let earned = books.position.realized.checked_sub(before.realized)?;
        self.realized = self.realized.checked_add(earned)?;
        match (is_flat(before.quantity), is_flat(books.position.quantity)) {
            (true, false) => self.held += 1,
            (false, true) => self.held -= 1,
            (true, true) | (false, false) => {}
        }
        books.fills += 1;
        books.filled.get_or_insert(seq);
        self.fills += 1;
        Some(())
    }

    fn update(&mut self, seq: u32, symbol: &str, json: &str) -> Option<()> {
        let quantity = number(json, "Quantity")?;
        let books = self.found.securities.entry(symbol.to_owned()).or_default();
        books.updates += 1;
        books.said = Some((seq, quantity));
        if let Some(realized) = number(json, "RealizedPnL") {
            books.said_profit = Some((seq, realized));
            books.realized_in_log = Some(realized);
        }
        Some(())
    }

    fn state(&mut self, seq: u32, json: &str) {
        let kind = scan::member(json, "StateType").and_then(|token| token.text());
        let tellings: &[(Telling, &str)] = match kind.as_deref() {
            Some("PnL") => &[(Telling::Pnl, "StateAfter.RealizedPnL")],
            Some("Account") => {
                &[(Telling::Balance, "StateAfter.Balance"), (Telling::Equity, "StateAfter.Equity")]
            }
            _ => &[],
        };
        for (telling, path) in tellings {
            let said = scan::at_path(json, path).and_then(|token| token.number_text());
            if let Some(said) = said.and_then(decimal) {
                self.found.accounts.entry(*telling).or_default().said = Some((seq, said));
            }
        }
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
        for (telling, account) in &mut self.found.accounts {
            let Some((seq, said)) = account.said.take() else { continue };
            if *telling == Telling::Equity && self.held > 0 {
                continue;
            }
            let now = Mark { by_fills: self.realized, in_log: said, fills: self.fills };
            account.compare(seq, now, self.held == 0, *telling);
        }
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

fn number(json: &str, name: &str) -> Option<Decimal> {
    scan::member(json, name)?.number_text().and_then(decimal)
}
