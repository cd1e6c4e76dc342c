//! Importer for backtesting.py: `stats._trades.to_csv()` and `stats._equity_curve.to_csv()`.
//!
//! A trade becomes two orders with a fill each, and a position update after each fill. Quantity
//! and realized profit accumulate over trades, as in the engine's equity. A trade's `PnL` is net
//! of its commission, so the commission is booked at the exit.

use std::io::BufRead;

use rust_decimal::Decimal;

use super::event_builder::{EventBuilder, decimal_text};
use super::records::RecordOutcome;
use super::table::{self, Row};
use super::{Import, ImportControl};
use crate::error::LogError;
use crate::event::{EventType, Guid};
use crate::position::{Position, decimal};
use crate::timestamp::Timestamp;

/// Reads trades of one security, or the equity curve, depending on the columns.
pub fn read(
    source: impl BufRead,
    symbol: &str,
    run: Guid,
    import: &mut Import,
    control: &mut ImportControl<'_>,
) -> Result<(), LogError> {
    let mut fills = Vec::new();
    table::each_row(source, import, control, |row, import| {
        if row.has("Equity") {
            return equity(row, run, import);
        }
        Ok(trade(row).map(|both| fills.extend(both.map(|fill| (row.number, fill)))))
    })?;
    // At one timestamp older trades fill first: the engine frees their cash.
    fills.sort_by_key(|(number, fill)| (fill.time, fill.opened, *number, fill.profit.is_some()));
    let (mut position, mut realized) = (Position::default(), Decimal::ZERO);
    for (number, fill) in fills {
        if position.fill(fill.signed, fill.price, Decimal::ZERO).is_none() {
            import.reject(number, "the numbers of this trade are too large".to_owned());
            continue;
        }
        // The engine knows each trade's entry price; average cost does not while several are open.
        realized += fill.profit.unwrap_or_default();
        position.realized = realized;
        send(&fill, number, symbol, run, &position, import)?;
    }
    Ok(())
}

struct Fill {
    time: Timestamp,
    /// Entry time of the trade.
    opened: Timestamp,
    signed: Decimal,
    price: Decimal,
    /// Set on the exit fill.
    profit: Option<Decimal>,
    commission: Decimal,
    tag: String,
}

fn equity(row: &Row<'_>, run: Guid, import: &mut Import) -> RecordOutcome {
    // pandas writes the index, here the time, into a first column without a name.
    let read = |cell: Option<&str>| cell.and_then(|text| Timestamp::parse(text).ok());
    let (Some(time), Some(equity)) = (read(row.at(0)), row.cell("Equity")) else {
        return Ok(Err("there is no time or no `Equity`".to_owned()));
    };
    let name = format!("equity {}", row.number);
    EventBuilder::account(time, &[("Equity", equity)])
        .send(import, run, row.number, &name)
        .map(|_| Ok(()))
}

fn trade(row: &Row<'_>) -> Result<[Fill; 2], String> {
    let cell = |name: &str| row.cell(name).ok_or_else(|| format!("there is no `{name}`"));
    let number = |name: &str| {
        let text = cell(name)?;
        decimal(text).ok_or_else(|| format!("`{name}` is `{text}`, not a number"))
    };
    let time = |name: &str| Timestamp::parse(cell(name)?).map_err(|error| error.to_string());
    let size = number("Size")?;
    let tag = row.cell("Tag").unwrap_or_default().to_owned();
    let opened = time("EntryTime")?;
    Ok([
        Fill {
            time: opened,
            opened,
            signed: size,
            price: number("EntryPrice")?,
            profit: None,
            commission: Decimal::ZERO,
            tag: tag.clone(),
        },
        Fill {
            time: time("ExitTime")?,
            opened,
            signed: -size,
            price: number("ExitPrice")?,
            profit: Some(number("PnL")?),
            commission: row.cell("Commission").and_then(decimal).unwrap_or_default(),
            tag,
        },
    ])
}

fn send(
    fill: &Fill,
    number: u64,
    symbol: &str,
    run: Guid,
    position: &Position,
    import: &mut Import,
) -> Result<(), LogError> {
    let end = if fill.profit.is_some() { "exit" } else { "entry" };
    let external = format!("{}-{end}", number - 1);
    let direction = if fill.signed < Decimal::ZERO { "Sell" } else { "Buy" };
    let described = |event: EventBuilder| {
        event
            .order(run, &external)
            .text("SecuritySymbol", symbol)
            .text("Direction", direction)
            .decimal("Quantity", fill.signed.abs())
            .decimal("Price", fill.price)
            .text_if("Tag", Some(&fill.tag))
    };
    let placed =
        described(EventBuilder::order_status(fill.time, "Placed")).text("ChangeReason", end);
    let placed = placed.send(import, run, number, &format!("placed {external}"))?;
    let filled =
        described(EventBuilder::new(fill.time, EventType::TradeExecution).parent(Some(placed)));
    let filled = filled.number("Commission", &decimal_text(fill.commission));
    let filled = filled.send(import, run, number, &format!("filled {external}"))?;
    EventBuilder::position(fill.time, symbol, position).parent(Some(filled)).send(
        import,
        run,
        number,
        &format!("position {external}"),
    )?;
    Ok(())
}
