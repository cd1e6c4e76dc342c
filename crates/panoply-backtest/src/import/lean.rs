//! LEAN: the array of order events that a backtest leaves beside its result.
//!
//! Older versions write names with hyphens, newer ones in camel case; times are seconds since
//! 1970 or ISO 8601. A fill's quantity is signed.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Import;
use super::draft::Draft;
use crate::error::LogError;
use crate::event::{EventType, Guid};
use crate::number::{Number, Sum};
use crate::timestamp::Timestamp;

/// Reads order events.
pub fn read(text: &str, run: Guid, import: &mut Import) -> Result<(), LogError> {
    let events: Vec<BTreeMap<String, Value>> = match serde_json::from_str(text) {
        Ok(events) => events,
        Err(error) => {
            import.reject(1, format!("not an array of order events: {error}"));
            return Ok(());
        }
    };
    let mut placed: BTreeMap<String, Guid> = BTreeMap::new();
    let mut held: BTreeMap<String, Sum> = BTreeMap::new();
    for (number, event) in (1_u64..).zip(&events) {
        if let Err(reason) = one(number, event, run, &mut placed, &mut held, import)? {
            import.reject(number, reason);
        }
    }
    Ok(())
}

fn one(
    number: u64,
    event: &BTreeMap<String, Value>,
    run: Guid,
    placed: &mut BTreeMap<String, Guid>,
    held: &mut BTreeMap<String, Sum>,
    import: &mut Import,
) -> Result<Result<(), String>, LogError> {
    let cell = |hyphenated: &str| cell(event, hyphenated);
    let (Some(order), Some(symbol)) =
        (cell("order-id"), cell("symbol-value").or_else(|| cell("symbol")))
    else {
        return Ok(Err("there is no order id or no symbol".to_owned()));
    };
    let Some(time) = cell("time").as_deref().and_then(moment) else {
        return Ok(Err("there is no time".to_owned()));
    };
    let status = cell("status").unwrap_or_default().to_ascii_lowercase();
    let described = |draft: Draft| draft.order(run, &order).text("SecuritySymbol", &symbol);
    let signed = cell("fill-quantity").and_then(|text| Number::parse(&text));
    let name = format!("{number} {order}");
    let cause = placed.get(&order).copied();
    match status.as_str() {
        "submitted" | "new" => {
            let quantity = cell("quantity").unwrap_or_default();
            let direction = if quantity.starts_with('-') { "Sell" } else { "Buy" };
            let draft = Draft::new(time, EventType::StateChange)
                .text("StateType", "Order")
                .text("OrderStatus", "Placed");
            let draft = described(draft)
                .text("Direction", direction)
                .number("Quantity", quantity.trim_start_matches('-'))
                .number("Price", &cell("limit-price").unwrap_or_default());
            let id = draft.send(import, run, number, &name)?;
            placed.insert(order, id);
        }
        "filled" | "partiallyfilled" => {
            let Some(signed) = signed else {
                return Ok(Err("a fill without a quantity".to_owned()));
            };
            let mut size = Sum::ZERO;
            size.add(signed);
            let direction = if size.to_f64() < 0.0 { "Sell" } else { "Buy" };
            let draft = described(Draft::new(time, EventType::TradeExecution).parent(cause))
                .text("Direction", direction)
                .number("Quantity", size.to_text().trim_start_matches('-'))
                .number("Price", &cell("fill-price").unwrap_or_default())
                .number("Commission", &cell("order-fee-amount").unwrap_or_else(|| "0".to_owned()));
            let fill = draft.send(import, run, number, &name)?;
            let held = held.entry(symbol.clone()).or_insert(Sum::ZERO);
            held.merge(size);
            Draft::new(time, EventType::PositionUpdate)
                .parent(Some(fill))
                .text("SecuritySymbol", &symbol)
                .number("Quantity", &held.to_text())
                .send(import, run, number, &format!("{name} position"))?;
        }
        "invalid" => {
            let reason = cell("message").unwrap_or_else(|| "Invalid".to_owned());
            described(Draft::new(time, EventType::OrderRejection).parent(cause))
                .text("RejectionReason", &reason)
                .send(import, run, number, &name)?;
        }
        "canceled" | "cancelled" | "updatesubmitted" => {
            let word = if status == "updatesubmitted" { "Updated" } else { "Cancelled" };
            let draft = Draft::new(time, EventType::StateChange)
                .parent(cause)
                .text("StateType", "Order")
                .text("OrderStatus", word);
            described(draft).send(import, run, number, &name)?;
        }
        other => return Ok(Err(format!("the status `{other}` is not known"))),
    }
    Ok(Ok(()))
}

/// A member by its hyphenated name or its camel-case one, as text.
fn cell(event: &BTreeMap<String, Value>, hyphenated: &str) -> Option<String> {
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
    match event.get(hyphenated).or_else(|| event.get(&camel))? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Seconds since 1970, or ISO 8601.
fn moment(text: &str) -> Option<Timestamp> {
    match Number::parse(text) {
        None => Timestamp::parse(text).ok(),
        Some(number) => {
            let mut seconds = Sum::ZERO;
            seconds.add(number);
            let Sum::Exact { mantissa, scale } = seconds else { return None };
            let nanos = mantissa
                .checked_mul(1_000_000_000)?
                .checked_div(10_i128.checked_pow(u32::from(scale))?)?;
            i64::try_from(nanos).ok().map(Timestamp::from_nanos)
        }
    }
}
