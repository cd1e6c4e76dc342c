//! Importer for LEAN: the order events of a backtest (`*-order-events.json`).
//!
//! Older versions write hyphenated names, newer ones camel case; times are seconds since 1970 or
//! ISO 8601. Fill quantities are signed. The file has no positions: they are computed from the
//! fills by average cost.

use std::collections::BTreeMap;
use std::io::BufRead;

use rust_decimal::Decimal;

use super::event_builder::{EventBuilder, decimal_text, parse_timestamp};
use super::records::{RecordOutcome, each_object};
use super::{Import, ImportControl};
use crate::error::LogError;
use crate::event::{EventType, Guid, Severity};
use crate::position::{Position, decimal};
use crate::scan;

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
    position: BTreeMap<String, Position>,
}

impl LeanReader {
    fn read_event(
        &mut self,
        number: u64,
        json: &str,
        run: Guid,
        import: &mut Import,
    ) -> RecordOutcome {
        let cell = |hyphenated: &str| cell(json, hyphenated);
        let (Some(order), Some(symbol)) =
            (cell("order-id"), cell("symbol-value").or_else(|| cell("symbol")))
        else {
            return Ok(Err("there is no order id or no symbol".to_owned()));
        };
        let Some(time) = cell("time").as_deref().and_then(parse_timestamp) else {
            return Ok(Err("there is no time".to_owned()));
        };
        let status = cell("status").unwrap_or_default();
        let described = |draft: EventBuilder| {
            let draft = draft.order(run, &order).text("SecuritySymbol", &symbol);
            draft.text_if("Message", cell("message").as_deref())
        };
        let name = format!("{number} {order}");
        let cause = self.placed.get(&order).copied();
        let changed = |word: &str| described(EventBuilder::order_status(time, word).parent(cause));
        match status.to_ascii_lowercase().as_str() {
            "submitted" | "new" if cause.is_none() => {
                let quantity = cell("quantity").unwrap_or_default();
                let direction = if quantity.starts_with('-') { "Sell" } else { "Buy" };
                let price = cell("limit-price").or_else(|| cell("stop-price")).unwrap_or_default();
                let draft = described(EventBuilder::order_status(time, "Placed"))
                    .text("Direction", direction)
                    .number("Quantity", quantity.trim_start_matches('-'))
                    .number("Price", &price);
                let id = draft.send(import, run, number, &name)?;
                self.placed.insert(order, id);
            }
            "filled" | "partiallyfilled" => {
                let signed = cell("fill-quantity").as_deref().and_then(decimal);
                let price = cell("fill-price").as_deref().and_then(decimal);
                let (Some(signed), Some(price)) = (signed, price) else {
                    return Ok(Err("a fill without a quantity or a price".to_owned()));
                };
                let fee = cell("order-fee-amount").as_deref().and_then(decimal).unwrap_or_default();
                let direction = if signed < Decimal::ZERO { "Sell" } else { "Buy" };
                let draft =
                    described(EventBuilder::new(time, EventType::TradeExecution).parent(cause))
                        .text("Direction", direction)
                        .number("Quantity", &decimal_text(signed.abs()))
                        .number("Price", &decimal_text(price))
                        .number("Commission", &decimal_text(fee));
                let fill = draft.send(import, run, number, &name)?;
                let position = self.position.entry(symbol.clone()).or_default();
                if position.fill(signed, price, fee).is_none() {
                    return Ok(Err("the numbers of this fill are too large".to_owned()));
                }
                EventBuilder::position(time, &symbol, position).parent(Some(fill)).send(
                    import,
                    run,
                    number,
                    &format!("{name} position"),
                )?;
            }
            "invalid" => {
                let reason = cell("message").unwrap_or_else(|| "Invalid".to_owned());
                described(EventBuilder::new(time, EventType::OrderRejection).parent(cause))
                    .text("RejectionReason", &reason)
                    .number("RequestedQuantity", &cell("quantity").unwrap_or_default())
                    .send(import, run, number, &name)?;
            }
            "canceled" | "cancelled" => {
                changed("Cancelled").send(import, run, number, &name)?;
            }
            "updatesubmitted" => {
                let quantity = cell("quantity").unwrap_or_default();
                changed("Updated")
                    .number("Quantity", quantity.trim_start_matches('-'))
                    .number("Price", &cell("limit-price").unwrap_or_default())
                    .send(import, run, number, &name)?;
            }
            // The order is in transit, or reported again: no effect.
            "submitted" | "new" | "none" | "cancelpending" => {
                changed(&status).severity(Severity::Debug).send(import, run, number, &name)?;
            }
            _ => return Ok(Err(format!("the status `{status}` is not known"))),
        }
        Ok(Ok(()))
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
