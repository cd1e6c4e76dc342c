//! Importer for LEAN: the order events of a backtest (`*-order-events.json`).
//!
//! Older versions write hyphenated names, newer ones camel case; times are seconds since 1970 or
//! ISO 8601. Fill quantities are signed. The file has no positions: they are computed from the
//! fills by average cost. Prices and fees have a currency each.

use std::collections::BTreeMap;
use std::io::BufRead;

use rust_decimal::Decimal;

use super::event_builder::{EventBuilder, parse_timestamp};
use super::records::{RecordOutcome, each_object};
use super::{Import, ImportControl};
use crate::error::LogError;
use crate::event::{EventType, Guid, Severity};
use crate::position::{Position, decimal};
use crate::scan;
use crate::timestamp::Timestamp;

/// Reads order events.
pub fn read(
    source: impl BufRead,
    run: Guid,
    import: &mut Import,
    control: &mut ImportControl<'_>,
) -> Result<(), LogError> {
    let mut reader = LeanReader::default();
    each_object(source, import, control, |number, json, import| {
        reader.read_event(number, json, run, import)
    })
}

#[derive(Default)]
struct LeanReader {
    /// The event that placed each order.
    placed: BTreeMap<String, Guid>,
    positions: BTreeMap<String, Position>,
}

/// An order event with its common fields.
struct OrderEvent<'a> {
    number: u64,
    json: &'a str,
    run: Guid,
    time: Timestamp,
    order: String,
    symbol: String,
    name: String,
}

impl OrderEvent<'_> {
    fn cell(&self, hyphenated: &str) -> Option<String> {
        cell(self.json, hyphenated)
    }

    fn decimal(&self, hyphenated: &str) -> Option<Decimal> {
        self.cell(hyphenated).as_deref().and_then(decimal)
    }

    /// Quantity without its sign.
    fn quantity(&self) -> String {
        self.cell("quantity").unwrap_or_default().trim_start_matches('-').to_owned()
    }

    /// Adds order, security and message.
    fn describe(&self, event: EventBuilder) -> EventBuilder {
        event
            .order(self.run, &self.order)
            .text("SecuritySymbol", &self.symbol)
            .text_if("Message", self.cell("message").as_deref())
    }

    fn send(&self, event: EventBuilder, import: &mut Import) -> Result<Guid, LogError> {
        event.send(import, self.run, self.number, &self.name)
    }
}

impl LeanReader {
    fn read_event(
        &mut self,
        number: u64,
        json: &str,
        run: Guid,
        import: &mut Import,
    ) -> RecordOutcome {
        let symbol = cell(json, "symbol-value").or_else(|| cell(json, "symbol"));
        let (Some(order), Some(symbol)) = (cell(json, "order-id"), symbol) else {
            return Ok(Err("there is no order id or no symbol".to_owned()));
        };
        let Some(time) = cell(json, "time").as_deref().and_then(parse_timestamp) else {
            return Ok(Err("there is no time".to_owned()));
        };
        let name = format!("{number} {order}");
        let event = OrderEvent { number, json, run, time, order, symbol, name };
        let status = event.cell("status").unwrap_or_default();
        let placed = self.placed.get(&event.order).copied();
        let changed =
            |word: &str| event.describe(EventBuilder::order_status(time, word).parent(placed));
        let change = match status.to_ascii_lowercase().as_str() {
            "submitted" | "new" if placed.is_none() => return self.place(&event, import),
            "filled" | "partiallyfilled" => return self.fill(&event, placed, import),
            "invalid" => {
                let reason = event.cell("message").unwrap_or_else(|| "Invalid".to_owned());
                event
                    .describe(EventBuilder::new(time, EventType::OrderRejection).parent(placed))
                    .text("RejectionReason", &reason)
                    .number("RequestedQuantity", &event.cell("quantity").unwrap_or_default())
            }
            "canceled" | "cancelled" => changed("Cancelled"),
            "updatesubmitted" => changed("Updated")
                .number("Quantity", &event.quantity())
                .number("Price", &event.cell("limit-price").unwrap_or_default()),
            // The order is in transit, or reported again: no effect.
            "submitted" | "new" | "none" | "cancelpending" => {
                changed(&status).severity(Severity::Debug)
            }
            _ => return Ok(Err(format!("the status `{status}` is not known"))),
        };
        event.send(change, import).map(|_| Ok(()))
    }

    fn place(&mut self, event: &OrderEvent<'_>, import: &mut Import) -> RecordOutcome {
        let is_sell = event.cell("quantity").is_some_and(|quantity| quantity.starts_with('-'));
        let price = event.cell("limit-price").or_else(|| event.cell("stop-price"));
        let placed = event
            .describe(EventBuilder::order_status(event.time, "Placed"))
            .text("Direction", if is_sell { "Sell" } else { "Buy" })
            .number("Quantity", &event.quantity())
            .number("Price", &price.unwrap_or_default());
        let id = event.send(placed, import)?;
        self.placed.insert(event.order.clone(), id);
        Ok(Ok(()))
    }

    fn fill(
        &mut self,
        event: &OrderEvent<'_>,
        placed: Option<Guid>,
        import: &mut Import,
    ) -> RecordOutcome {
        let (Some(signed), Some(price)) =
            (event.decimal("fill-quantity"), event.decimal("fill-price"))
        else {
            return Ok(Err("a fill without a quantity or a price".to_owned()));
        };
        let fee = event.decimal("order-fee-amount").unwrap_or_default();
        let currency = event.cell("fill-price-currency");
        let fee_currency = event.cell("order-fee-currency").filter(|_| !fee.is_zero());
        let fill = event
            .describe(EventBuilder::new(event.time, EventType::TradeExecution).parent(placed))
            .text("Direction", if signed < Decimal::ZERO { "Sell" } else { "Buy" })
            .decimal("Quantity", signed.abs())
            .decimal("Price", price)
            .decimal("Commission", fee)
            .text_if("Currency", currency.as_deref())
            .text_if("CommissionCurrency", fee_currency.as_deref());
        let fill = event.send(fill, import)?;
        let position = self.positions.entry(event.symbol.clone()).or_default();
        // A fee in another currency does not reduce this profit.
        let is_foreign = currency.is_some() && fee_currency.is_some() && fee_currency != currency;
        let own_fee = if is_foreign { Decimal::ZERO } else { fee };
        if position.fill(signed, price, own_fee).is_none() {
            return Ok(Err("the numbers of this fill are too large".to_owned()));
        }
        let name = format!("{} position", event.name);
        EventBuilder::position(event.time, &event.symbol, position)
            .text_if("Currency", currency.as_deref())
            .parent(Some(fill))
            .send(import, event.run, event.number, &name)
            .map(|_| Ok(()))
    }
}

/// A member by its hyphenated or camel-case name, as text.
fn cell(json: &str, hyphenated: &str) -> Option<String> {
    let mut camel = String::new();
    for (place, word) in hyphenated.split('-').enumerate() {
        let mut chars = word.chars();
        match chars.next() {
            Some(first) if place > 0 => camel.push(first.to_ascii_uppercase()),
            Some(first) => camel.push(first),
            None => {}
        }
        camel.push_str(chars.as_str());
    }
    let token = scan::member(json, hyphenated).or_else(|| scan::member(json, &camel))?;
    token.id_text().map(|text| text.into_owned()).filter(|text| !text.is_empty())
}
