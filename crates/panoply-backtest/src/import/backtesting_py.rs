//! backtesting.py: the trades of a run, as `stats._trades.to_csv()` writes them.
//!
//! Each trade gives two orders with their fills, and a position update after each fill. Quantity
//! and realized profit run on from trade to trade, as the engine's own equity does; a trade's
//! `PnL` has its commission taken off already.

use std::collections::BTreeMap;

use super::draft::Draft;
use super::{Import, csv};
use crate::error::LogError;
use crate::event::{EventType, Guid};
use crate::number::{Number, Sum};
use crate::timestamp::Timestamp;

/// Reads trades of one security.
pub fn read(text: &str, symbol: &str, run: Guid, import: &mut Import) -> Result<(), LogError> {
    let mut records = csv::records(text).into_iter();
    let header = records.next().unwrap_or_default();
    let mut fills = Vec::new();
    for (number, record) in (2_u64..).zip(records) {
        let row: BTreeMap<&str, &str> =
            header.iter().map(String::as_str).zip(record.iter().map(String::as_str)).collect();
        match trade(&row) {
            Ok([entry, exit]) => fills.extend([(number, entry), (number, exit)]),
            Err(reason) => import.reject(number, reason),
        }
    }
    // Of fills at one time, those that close come first: the engine frees the money they need.
    fills.sort_by_key(|(number, fill)| (fill.time, fill.profit.is_none(), *number));
    let (mut held, mut realized) = (Sum::ZERO, Sum::ZERO);
    for (number, fill) in fills {
        held.add(fill.size);
        if let Some(profit) = fill.profit {
            realized.add(profit);
        }
        send(&fill, number, symbol, run, (held, realized), import)?;
    }
    Ok(())
}

struct Fill {
    time: Timestamp,
    /// Signed.
    size: Number,
    price: String,
    /// Of the fill that closes the trade.
    profit: Option<Number>,
    commission: Option<String>,
}

fn trade(row: &BTreeMap<&str, &str>) -> Result<[Fill; 2], String> {
    let cell = |name: &str| {
        let cell = row.get(name).copied().filter(|cell| !cell.is_empty());
        cell.ok_or_else(|| format!("there is no `{name}`"))
    };
    let number = |name: &str| {
        let text = cell(name)?;
        Number::parse(text).ok_or_else(|| format!("`{name}` is `{text}`, not a number"))
    };
    let time = |name: &str| Timestamp::parse(cell(name)?).map_err(|error| error.to_string());
    let size = number("Size")?;
    let opposite = match size {
        Number::Exact { mantissa, scale } => Number::Exact { mantissa: -mantissa, scale },
        Number::Double(value) => Number::Double(-value),
    };
    let price = |name: &str| number(name).and_then(|_| cell(name)).map(str::to_owned);
    let commission = cell("Commission").ok().map(str::to_owned);
    Ok([
        Fill {
            time: time("EntryTime")?,
            size,
            price: price("EntryPrice")?,
            profit: None,
            commission: None,
        },
        Fill {
            time: time("ExitTime")?,
            size: opposite,
            price: price("ExitPrice")?,
            profit: Some(number("PnL")?),
            commission,
        },
    ])
}

fn send(
    fill: &Fill,
    number: u64,
    symbol: &str,
    run: Guid,
    (held, realized): (Sum, Sum),
    import: &mut Import,
) -> Result<(), LogError> {
    let end = if fill.profit.is_some() { "exit" } else { "entry" };
    let external = format!("{}-{end}", number - 1);
    let mut size = Sum::ZERO;
    size.add(fill.size);
    let direction = if size.to_f64() < 0.0 { "Sell" } else { "Buy" };
    let quantity = size.to_text().trim_start_matches('-').to_owned();
    let described = |draft: Draft| {
        draft
            .order(run, &external)
            .text("SecuritySymbol", symbol)
            .text("Direction", direction)
            .number("Quantity", &quantity)
            .number("Price", &fill.price)
    };
    let placed = Draft::new(fill.time, EventType::StateChange)
        .text("StateType", "Order")
        .text("OrderStatus", "Placed");
    let placed = described(placed).text("ChangeReason", end);
    let placed = placed.send(import, run, number, &format!("placed {external}"))?;
    let filled = described(Draft::new(fill.time, EventType::TradeExecution).parent(Some(placed)));
    let filled = filled.number("Commission", fill.commission.as_deref().unwrap_or("0"));
    let filled = filled.send(import, run, number, &format!("filled {external}"))?;
    Draft::new(fill.time, EventType::PositionUpdate)
        .parent(Some(filled))
        .text("SecuritySymbol", symbol)
        .number("Quantity", &held.to_text())
        .number("AveragePrice", &fill.price)
        .number("UnrealizedPnL", "0")
        .number("RealizedPnL", &realized.to_text())
        .send(import, run, number, &format!("position {external}"))?;
    Ok(())
}
