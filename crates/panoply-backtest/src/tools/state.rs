//! The state of a strategy as a caller sees it.

use panoply_contract::prelude::*;
use serde_json::Value;

use super::events::{budget, exact_value, number_value, size_of_json, token_value};
use super::words::MaxTokens;
use crate::number::Sum;
use crate::query::snapshot::{OpenOrder, PnlSource, Snapshot};
use crate::scan;

/// Orders that are looked at for a reply; more would not fit.
pub(crate) const MOST_ORDERS: usize = 500;

/// The state of a strategy.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct State {
    /// The last word on each position, by symbol; flat ones too.
    pub(crate) positions: Vec<Position>,
    /// The last value of each indicator, by name and symbol.
    pub(crate) indicators: Vec<Indicator>,
    /// Orders placed and not done, first placed first.
    pub(crate) active_orders: Vec<Order>,
    /// Profit and loss.
    pub(crate) pnl: Pnl,
}

/// A position.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Position {
    /// The security.
    security_symbol: String,
    /// How much, negative when short.
    quantity: Value,
    /// At which price on average.
    average_price: Value,
    /// Profit not locked in.
    #[serde(rename = "unrealizedPnL")]
    unrealized_pnl: Value,
    /// Profit locked in.
    #[serde(rename = "realizedPnL")]
    realized_pnl: Value,
}

/// An indicator's value.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Indicator {
    /// Its name.
    name: String,
    /// The security.
    security_symbol: String,
    /// Its value.
    value: Value,
    /// Its parameters; null when the log has none.
    parameters: Value,
}

/// An active order.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Order {
    /// Its id.
    order_id: String,
    /// The security.
    security_symbol: String,
    /// Buy or Sell.
    direction: String,
    /// How much was ordered.
    quantity: Value,
    /// At which price; null for a market order.
    price: Value,
    /// How much of it is filled.
    filled_quantity: Value,
}

/// Profit and loss.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Pnl {
    /// Realized and unrealized together.
    pub(crate) total: f64,
    /// Locked in.
    pub(crate) realized: f64,
    /// On open positions.
    pub(crate) unrealized: f64,
}

/// Where profit and loss come from.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(crate) enum PnlOrigin {
    /// The last state change of profit and loss.
    StateChange,
    /// The sum of the positions shown.
    Positions,
}

pub(crate) const fn source(snapshot: &Snapshot) -> PnlOrigin {
    match snapshot.pnl.source {
        PnlSource::StateChange => PnlOrigin::StateChange,
        PnlSource::Positions => PnlOrigin::Positions,
    }
}

/// The state, and whether something had to be left out.
pub(crate) fn write(snapshot: &Snapshot, max_tokens: MaxTokens) -> (State, bool) {
    let member = |json: &str, name: &str| scan::member(json, name).map_or(Value::Null, token_value);
    let mut left = budget(max_tokens);
    let mut truncated = snapshot.orders.len() < snapshot.open_orders;
    let positions = fitting(
        &mut left,
        &mut truncated,
        snapshot.positions.iter().map(|(symbol, event)| {
            let json = event.properties();
            Position {
                security_symbol: symbol.clone(),
                quantity: member(json, "Quantity"),
                average_price: member(json, "AveragePrice"),
                unrealized_pnl: member(json, "UnrealizedPnL"),
                realized_pnl: member(json, "RealizedPnL"),
            }
        }),
    );
    let active_orders = fitting(&mut left, &mut truncated, snapshot.orders.iter().map(order));
    let indicators = fitting(
        &mut left,
        &mut truncated,
        snapshot.indicators.iter().map(|(name, symbol, event)| {
            let json = event.properties();
            Indicator {
                name: name.clone(),
                security_symbol: symbol.clone(),
                value: member(json, "Value"),
                parameters: member(json, "Parameters"),
            }
        }),
    );
    (State { positions, indicators, active_orders, pnl: pnl(snapshot) }, truncated)
}

fn fitting<T: Serialize>(
    left: &mut usize,
    truncated: &mut bool,
    items: impl Iterator<Item = T>,
) -> Vec<T> {
    let mut kept = Vec::new();
    for item in items {
        let size = size_of_json(&item) + 1;
        if size > *left {
            *truncated = true;
            break;
        }
        *left -= size;
        kept.push(item);
    }
    kept
}

fn order(order: &OpenOrder) -> Order {
    let number = |text: &str| if text.is_empty() { Value::Null } else { number_value(text) };
    Order {
        order_id: order.id.clone(),
        security_symbol: order.symbol.clone(),
        direction: order.direction.clone(),
        quantity: number(&order.quantity),
        price: number(&order.price),
        filled_quantity: exact_value(&order.filled.to_text()),
    }
}

pub(crate) fn pnl(snapshot: &Snapshot) -> Pnl {
    let mut total: Sum = snapshot.pnl.realized;
    total.merge(snapshot.pnl.unrealized);
    Pnl {
        total: total.to_f64(),
        realized: snapshot.pnl.realized.to_f64(),
        unrealized: snapshot.pnl.unrealized.to_f64(),
    }
}

/// Positions for people.
pub(crate) fn table(state: &State) -> Table {
    state.positions.iter().fold(
        Table::new(["symbol", "quantity", "average", "unrealized", "realized"]),
        |table, position| {
            table.row([
                position.security_symbol.clone(),
                position.quantity.to_string(),
                position.average_price.to_string(),
                position.unrealized_pnl.to_string(),
                position.realized_pnl.to_string(),
            ])
        },
    )
}
