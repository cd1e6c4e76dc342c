//! The state of a strategy in replies.

use panoply_contract::prelude::*;
use serde_json::Value;

use super::events::{budget, lossless_value, number_value, size_of_json, token_value};
use super::params::MaxTokens;
use super::sized_json::SizedJson;
use crate::number::Sum;
use crate::query::reader::StoredEvent;
use crate::query::snapshot::{OpenOrder, PnlSource, Snapshot};
use crate::scan;

/// Maximum orders read for a reply.
pub(crate) const MAX_ORDERS: usize = 500;

/// The state of a strategy.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct State {
    /// Last update of each position, by symbol, including flat ones.
    pub(crate) positions: Vec<Position>,
    /// The last value of each indicator, by name and symbol.
    pub(crate) indicators: Vec<SizedJson<Indicator<'static>>>,
    /// Open orders, first placed first.
    pub(crate) active_orders: Vec<SizedJson<Order<'static>>>,
    /// Profit and loss.
    pub(crate) pnl: Pnl,
}

/// A position.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Position {
    /// The security.
    security_symbol: String,
    /// Quantity, negative when short.
    quantity: Value,
    /// Average price.
    average_price: Value,
    /// Unrealized profit.
    #[serde(rename = "unrealizedPnL")]
    unrealized_pnl: Value,
    /// Realized profit.
    #[serde(rename = "realizedPnL")]
    realized_pnl: Value,
}

/// An indicator's value.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Indicator<'a> {
    /// Name of the indicator.
    name: &'a str,
    /// The security.
    security_symbol: &'a str,
    /// Last value.
    value: Value,
    /// Parameters; null when the log has none.
    parameters: Value,
}

/// An active order.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Order<'a> {
    /// Order id.
    order_id: &'a str,
    /// The security.
    security_symbol: &'a str,
    /// Buy or Sell.
    direction: &'a str,
    /// Ordered quantity.
    quantity: Value,
    /// Limit or stop price; null for a market order.
    price: Value,
    /// Filled quantity.
    filled_quantity: Value,
}

/// Profit and loss.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Pnl {
    /// Realized plus unrealized.
    pub(crate) total: f64,
    /// Realized profit.
    pub(crate) realized: f64,
    /// Unrealized profit of open positions.
    pub(crate) unrealized: f64,
}

/// Source of profit and loss.
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

/// Formats a snapshot within the budget. Returns whether something was omitted.
pub(crate) fn write(
    snapshot: &Snapshot,
    max_tokens: MaxTokens,
) -> Result<(State, bool), ToolError> {
    let truncated = snapshot.orders.len() < snapshot.open_orders;
    let mut remaining = ReplyBudget { left: budget(max_tokens), truncated };
    let mut positions = Vec::new();
    for (symbol, event) in &snapshot.positions {
        let position = position(symbol, event);
        if !remaining.take(size_of_json(&position)) {
            break;
        }
        positions.push(position);
    }
    let mut active_orders = Vec::new();
    for open in &snapshot.orders {
        let order = SizedJson::of(&order(open))?;
        if !remaining.take(order.len()) {
            break;
        }
        active_orders.push(order);
    }
    let mut indicators = Vec::new();
    for (name, security_symbol, event) in &snapshot.indicators {
        let (value, parameters) = (member(event, "Value"), member(event, "Parameters"));
        let indicator = SizedJson::of(&Indicator { name, security_symbol, value, parameters })?;
        if !remaining.take(indicator.len()) {
            break;
        }
        indicators.push(indicator);
    }
    let state = State { positions, indicators, active_orders, pnl: pnl(snapshot) };
    Ok((state, remaining.truncated))
}

/// Remaining bytes of a reply.
struct ReplyBudget {
    left: usize,
    truncated: bool,
}

impl ReplyBudget {
    /// Takes the bytes of a part and its comma; false if they do not fit.
    const fn take(&mut self, bytes: usize) -> bool {
        match self.left.checked_sub(bytes + 1) {
            Some(left) => {
                self.left = left;
                true
            }
            None => {
                self.truncated = true;
                false
            }
        }
    }
}

fn member(event: &StoredEvent, name: &str) -> Value {
    scan::member(event.properties(), name).map_or(Value::Null, token_value)
}

fn position(symbol: &str, event: &StoredEvent) -> Position {
    Position {
        security_symbol: symbol.to_owned(),
        quantity: member(event, "Quantity"),
        average_price: member(event, "AveragePrice"),
        unrealized_pnl: member(event, "UnrealizedPnL"),
        realized_pnl: member(event, "RealizedPnL"),
    }
}

fn order(order: &OpenOrder) -> Order<'_> {
    let number = |text: &str| if text.is_empty() { Value::Null } else { number_value(text) };
    Order {
        order_id: &order.terms.id,
        security_symbol: &order.terms.symbol,
        direction: &order.terms.direction,
        quantity: number(&order.terms.quantity),
        price: number(&order.terms.price),
        filled_quantity: lossless_value(&order.filled.to_text()),
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

/// Positions as a table for display.
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
