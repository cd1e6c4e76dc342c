//! Fills against positions: the quantity that fills add up to, beside what each update says.
//!
//! Profit is by average cost, as a netting account books it: closing takes the average price of
//! what is held, and a fill through zero opens the other side at its own price.

use std::collections::BTreeMap;

use super::reader::SealedRun;
use super::selection::Filter;
use crate::error::{LogError, Stop, go_on};
use crate::event::EventType;
use crate::number::Number;
use crate::scan;

/// The books of a run.
#[derive(Debug, Default)]
pub struct Reconciliation {
    /// By security.
    pub securities: BTreeMap<String, Books>,
    /// Fills without security, direction, quantity or price.
    pub unusable: u64,
}

/// The books of one security.
#[derive(Debug, Default)]
pub struct Books {
    /// Fills counted.
    pub fills: u64,
    /// Updates compared.
    pub updates: u64,
    /// Updates that say something else than the fills.
    pub disagreements: u64,
    /// The first of those: its place, the quantity by fills, the quantity it says.
    pub first: Option<(u32, f64, f64)>,
    /// Realized profit by the fills.
    pub realized: f64,
    /// Realized profit by the last update.
    pub realized_in_log: Option<f64>,
    quantity: f64,
    average: f64,
}

impl Books {
    fn fill(&mut self, signed: f64, price: f64, commission: f64) {
        self.fills += 1;
        self.realized -= commission;
        let held = self.quantity;
        let same_side = held == 0.0 || (held > 0.0) == (signed > 0.0);
        if same_side {
            let size = held.abs() + signed.abs();
            self.average = (self.average * held.abs() + price * signed.abs()) / size;
        } else {
            let closed = held.abs().min(signed.abs());
            self.realized += (price - self.average) * closed * held.signum();
            if signed.abs() > held.abs() {
                self.average = price;
            }
        }
        self.quantity = held + signed;
    }

    fn update(&mut self, seq: u32, said: f64) {
        self.updates += 1;
        // Engines round; a difference below one in a thousand million is none.
        let tolerance = 1e-9 * said.abs().max(self.quantity.abs()).max(1.0);
        if (self.quantity - said).abs() > tolerance {
            self.disagreements += 1;
            self.first.get_or_insert((seq, self.quantity, said));
        }
    }
}

impl SealedRun {
    /// Compares fills with position updates, for one security or all.
    pub fn reconcile(
        &self,
        symbol: Option<&str>,
        stop: Stop<'_>,
    ) -> Result<Reconciliation, LogError> {
        let filter = Filter {
            types: vec![EventType::TradeExecution, EventType::PositionUpdate],
            ..Filter::default()
        };
        let selection = self.select(&filter, self.between(None, None)?)?;
        let mut found = Reconciliation::default();
        for (place, seq) in selection.iter().enumerate() {
            if place % 1024 == 0 {
                go_on(stop)?;
            }
            let event = self.event(seq)?;
            let json = event.properties();
            let own = scan::member(json, "SecuritySymbol").and_then(|token| token.id_text());
            let number = |name: &str| {
                scan::member(json, name)?.number_text().and_then(Number::parse).map(Number::to_f64)
            };
            let is_fill = event.event_type() == EventType::TradeExecution;
            let Some(own) = own else {
                found.unusable += u64::from(is_fill);
                continue;
            };
            if symbol.is_some_and(|symbol| !symbol.is_empty() && !symbol.eq_ignore_ascii_case(&own))
            {
                continue;
            }
            if is_fill {
                let direction = scan::member(json, "Direction").and_then(|token| token.text());
                let sign = match direction.as_deref() {
                    Some("Buy") => 1.0,
                    Some("Sell") => -1.0,
                    _ => 0.0,
                };
                match (number("Quantity"), number("Price")) {
                    (Some(quantity), Some(price)) if sign != 0.0 => {
                        let books = found.securities.entry(own.into_owned()).or_default();
                        books.fill(sign * quantity, price, number("Commission").unwrap_or(0.0));
                    }
                    _ => found.unusable += 1,
                }
            } else if let Some(said) = number("Quantity") {
                let books = found.securities.entry(own.into_owned()).or_default();
                books.update(seq, said);
                books.realized_in_log = number("RealizedPnL").or(books.realized_in_log);
            }
        }
        Ok(found)
    }
}
