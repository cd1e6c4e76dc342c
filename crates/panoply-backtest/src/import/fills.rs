//! Fills of engines whose output has fills but no orders and positions: each becomes an order, its
//! fill and a position update.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use super::Import;
use super::event_builder::EventBuilder;
use super::records::RecordOutcome;
use crate::event::{EventType, Guid};
use crate::position::Position;
use crate::timestamp::Timestamp;

/// A fill.
pub(crate) struct Fill {
    pub(crate) time: Timestamp,
    /// The engine's id of the order, or a name for it.
    pub(crate) order: String,
    pub(crate) symbol: String,
    /// Negative for a sale.
    pub(crate) signed: Decimal,
    pub(crate) price: Decimal,
    /// `None` if the source does not tell it.
    pub(crate) commission: Option<Decimal>,
}

/// Positions by average cost, by security.
#[derive(Default)]
pub(crate) struct FillBook(BTreeMap<String, Position>);

impl FillBook {
    /// Books a fill and sends its three events.
    pub(crate) fn send(
        &mut self,
        fill: &Fill,
        number: u64,
        run: Guid,
        import: &mut Import,
    ) -> RecordOutcome {
        let position = self.0.entry(fill.symbol.clone()).or_default();
        let commission = fill.commission.unwrap_or_default();
        if fill.signed.is_zero() || position.fill(fill.signed, fill.price, commission).is_none() {
            return Ok(Err("the quantity is zero or the numbers are too large".to_owned()));
        }
        let name = format!("{} {number}", fill.order);
        let direction = if fill.signed < Decimal::ZERO { "Sell" } else { "Buy" };
        let described = |event: EventBuilder| {
            event
                .order(run, &fill.order)
                .text("SecuritySymbol", &fill.symbol)
                .text("Direction", direction)
                .decimal("Quantity", fill.signed.abs())
                .decimal("Price", fill.price)
        };
        let placed = described(EventBuilder::order_status(fill.time, "Placed"));
        let placed = placed.send(import, run, number, &format!("placed {name}"))?;
        let filled =
            described(EventBuilder::new(fill.time, EventType::TradeExecution).parent(Some(placed)));
        let filled = match fill.commission {
            Some(commission) => filled.decimal("Commission", commission),
            None => filled.warning("Properties.Commission", "Not in the file of the engine"),
        };
        let filled = filled.send(import, run, number, &format!("filled {name}"))?;
        EventBuilder::position(fill.time, &fill.symbol, position).parent(Some(filled)).send(
            import,
            run,
            number,
            &format!("position {name}"),
        )?;
        Ok(Ok(()))
    }
}
