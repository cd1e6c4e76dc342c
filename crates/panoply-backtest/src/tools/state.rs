//! The state of a strategy in replies.

use panoply_contract::prelude::*;
use serde_json::Value;

use super::events::{budget, size_of_json, token_value};
use super::money::{Pnl, non_empty};
use super::params::MaxTokens;
use super::sized_json::SizedJson;
use super::wire_number::WireNumber;
use crate::query::snapshot::{Figure, HeldPosition, OpenOrder, PnlSource, Snapshot};
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
    quantity: WireNumber,
    /// Average price.
    average_price: WireNumber,
    /// Unrealized profit.
    #[serde(rename = "unrealizedPnL")]
    unrealized_pnl: WireNumber,
    /// Realized profit.
    #[serde(rename = "realizedPnL")]
    realized_pnl: WireNumber,
    /// Currency of prices and profit, if the log names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<String>,
    /// Members that the log does not report and that are computed from its fills and prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    derived: Option<Vec<&'static str>>,
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
    value: WireNumber,
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
    quantity: WireNumber,
    /// Limit or stop price; null for a market order.
    price: WireNumber,
    /// Filled quantity.
    filled_quantity: WireNumber,
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

/// The source of realized profit, and the oldest state change among those it was taken from.
pub(crate) fn source(snapshot: &Snapshot) -> (PnlOrigin, Option<String>) {
    let reported = snapshot.pnl.iter().filter(|own| own.source == PnlSource::StateChange);
    match reported.filter_map(|own| own.time).min() {
        None => (PnlOrigin::Positions, None),
        Some(time) => (PnlOrigin::StateChange, Some(time.to_string())),
    }
}

/// Formats a snapshot within the budget. Returns whether something was omitted: orders before
/// anything else, since there may be thousands and the reply has their number.
pub(crate) fn write(
    snapshot: &Snapshot,
    pnl: Pnl,
    max_tokens: MaxTokens,
) -> Result<(State, bool), ToolError> {
    let truncated = snapshot.orders.len() < snapshot.open_orders;
    let mut remaining = ReplyBudget { left: budget(max_tokens), truncated };
    let mut positions = Vec::new();
    for held in &snapshot.positions {
        let position = position(held);
        if !remaining.take(size_of_json(&position)) {
            break;
        }
        positions.push(position);
    }
    let mut indicators = Vec::new();
    for (name, security_symbol, event) in &snapshot.indicators {
        let value = scan::member(event.properties(), "Value").and_then(|token| token.number_text());
        let value = WireNumber::of(value.unwrap_or_default());
        let parameters = scan::member(event.properties(), "Parameters");
        let parameters = parameters.map_or(Value::Null, token_value);
        let indicator = SizedJson::of(&Indicator { name, security_symbol, value, parameters })?;
        if !remaining.take(indicator.len()) {
            break;
        }
        indicators.push(indicator);
    }
    let mut active_orders = Vec::new();
    for open in &snapshot.orders {
        let order = SizedJson::of(&order(open))?;
        if !remaining.take(order.len()) {
            break;
        }
        active_orders.push(order);
    }
    let state = State { positions, indicators, active_orders, pnl };
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

fn position(held: &HeldPosition) -> Position {
    let figures = [
        ("quantity", &held.quantity),
        ("averagePrice", &held.average),
        ("unrealizedPnL", &held.unrealized),
        ("realizedPnL", &held.realized),
    ];
    let derived = figures.iter().filter(|(_, figure)| matches!(figure, Some(Figure::Derived(_))));
    let number = |figure: &Option<Figure>| WireNumber::of_figure(figure.as_ref());
    Position {
        security_symbol: held.symbol.clone(),
        quantity: number(&held.quantity),
        average_price: number(&held.average),
        unrealized_pnl: number(&held.unrealized),
        realized_pnl: number(&held.realized),
        currency: (!held.currency.is_empty()).then(|| held.currency.clone()),
        derived: non_empty(derived.map(|(name, _)| *name).collect()),
    }
}

fn order(order: &OpenOrder) -> Order<'_> {
    Order {
        order_id: &order.terms.id,
        security_symbol: &order.terms.symbol,
        direction: &order.terms.direction,
        quantity: WireNumber::of(&order.terms.quantity),
        price: WireNumber::of(&order.terms.price),
        filled_quantity: WireNumber::of(&order.filled.to_text()),
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
