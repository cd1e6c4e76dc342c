//! `get_state_snapshot`: the strategy's state at a timestamp.

use panoply_contract::prelude::*;
use serde_json::json;

use super::money::{Amounts, Conversion, GivenRate, WireRate};
use super::params::{MaxTokens, RunId};
use super::query_spec::QuerySpec;
use super::service::{BacktestService, is_future, parse_time, tool_error};
use super::state::{self, PnlOrigin, State};
use super::{events, page};
use crate::query::snapshot::View;
use crate::timestamp::Timestamp;

pub(super) const SPEC: ToolSpec = QuerySpec {
    name: "get_state_snapshot",
    title: "State snapshot",
    description: Description {
        does: "Reconstructs the state of a strategy at a point in time: positions, indicator values, active orders and profit and loss.",
        when: "Use this when asking what the strategy held or knew when something happened. Events at that time are included. For the difference between two times use `get_state_delta`.",
        returns: "Returns a StateSnapshot; orders are active until filled, cancelled, expired or rejected, and carry how much of them is filled.",
        asks: &["What did the strategy hold on 27 April at three o'clock?", "Which orders were open before the loss?"],
    },
    aliases: &["backtest_get_state_snapshot"],
    category: Category::Query,
    examples: &[
        Example {
            shows: "the positions at a point in time",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e", "timestamp": "2017-04-27T15:00:00Z", "securitySymbol": "audusd", "includeIndicators": false, "includeActiveOrders": false}"#,
            expect: Expect::Data(r#"{"timestamp": "2017-04-27T15:00:00Z", "state": {"positions": [{"securitySymbol": "AUDUSD", "quantity": 100000, "averagePrice": 0.7423, "unrealizedPnL": 377.0, "realizedPnL": 2056.31}], "indicators": [], "activeOrders": []}, "metadata": {"reconstructed": true, "pnlSource": "positions"}}"#),
        },
        Example {
            shows: "a timestamp in the future",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e", "timestamp": "2200-01-01T00:00:00Z"}"#,
            expect: Expect::Error("INVALID_TIME_RANGE"),
        },
    ],
    tags: &["backtest", "state"],
    listing: Listing::Core,
    widget: None,
}
.checked();

/// The timestamp, and the parts of the state to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Unique identifier of the backtest run (GUID).
    run_id: RunId,
    /// Timestamp to query state for, ISO 8601.
    #[schemars(length(max = 64))]
    timestamp: String,
    /// Filter state to specific security (empty = all securities).
    #[schemars(length(max = 200))]
    security_symbol: Option<String>,
    /// Include indicator values in state; default true.
    #[schemars(extend("default" = true))]
    include_indicators: Option<bool>,
    /// Include active orders in state; default true.
    #[schemars(extend("default" = true))]
    include_active_orders: Option<bool>,
    /// Convert profit and loss to this currency, with `rates` or prices of currency pairs in the log.
    #[schemars(length(max = 32))]
    #[schemars(extend("x-listed" = false))]
    currency: Option<String>,
    /// Exchange rates, for currencies whose price is not in the log.
    #[schemars(length(max = 32))]
    #[schemars(extend("x-listed" = false))]
    rates: Option<Vec<GivenRate>>,
    /// Budget for the reply, in tokens of 2.5 bytes.
    #[serde(default)]
    #[schemars(extend("x-listed" = false))]
    max_tokens: MaxTokens,
}

/// The state at a timestamp.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StateSnapshot {
    /// The timestamp; ISO 8601, UTC.
    timestamp: String,
    /// The run's id.
    run_id: String,
    /// The state.
    state: State,
    /// Source and completeness of the state.
    metadata: SnapshotMetadata,
}

/// Source and completeness of a snapshot.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SnapshotMetadata {
    /// Always true: the state is derived from the events.
    reconstructed: bool,
    /// Source of profit and loss.
    pnl_source: PnlOrigin,
    /// Time of the state change that profit and loss was taken from; the oldest of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pnl_time: Option<String>,
    /// The exchange rates that were applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    rates: Option<Vec<WireRate>>,
    /// Number of active orders, including those omitted.
    active_order_count: usize,
    /// Whether something was omitted because the reply was full.
    truncated: bool,
}

/// A time beyond the range of timestamps is shown as it was given.
fn shown_time(at: Timestamp, given: &str) -> String {
    if [Timestamp::MIN, Timestamp::MAX].contains(&at) { given.to_owned() } else { at.to_string() }
}

pub(super) fn call(
    service: &BacktestService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<StateSnapshot>, ToolError> {
    let run = service.run(&params.run_id.0)?;
    let at = parse_time("timestamp", &params.timestamp)?;
    if is_future(&run, at, cx) {
        return Err(ToolError::validation("INVALID_TIME_RANGE", "Timestamp is in the future")
            .hint("ask `describe_run` for the period of the run")
            .detail("timestamp", params.timestamp));
    }
    let symbol = params.security_symbol.as_deref().filter(|symbol| !symbol.is_empty());
    let view = View {
        symbol,
        indicators: params.include_indicators.unwrap_or(true),
        orders: params.include_active_orders.unwrap_or(true).then_some(state::MAX_ORDERS),
    };
    let stop = || cx.cancel.is_cancelled();
    let conversion = Conversion::new(params.currency.as_deref(), params.rates.as_deref())?;
    let snapshot = run.snapshot(at, &view, &stop).map_err(tool_error)?;
    let amounts: Vec<Amounts> = snapshot.pnl.iter().map(Amounts::from).collect();
    let (pnl, rates) = conversion.pnl(&run, snapshot.seq.unwrap_or_default(), &amounts)?;
    let (state, truncated) = state::write(&snapshot, pnl, params.max_tokens)?;
    let (pnl_source, pnl_time) = state::source(&snapshot);
    let text = format!(
        "At {at}: {} positions, {} active orders, profit and loss {}.",
        snapshot.positions.len(),
        snapshot.open_orders,
        state.pnl.text(),
    );
    let table = state::table(&state);
    let data = StateSnapshot {
        timestamp: shown_time(at, &params.timestamp),
        run_id: run.id().to_string(),
        state,
        metadata: SnapshotMetadata {
            reconstructed: true,
            pnl_source,
            pnl_time,
            rates,
            active_order_count: snapshot.open_orders,
            truncated,
        },
    };
    let is_several = data.state.pnl.total.is_none();
    let mut reply = Reply::new(data, text, page::evidence(&run))
        .table(table)
        .up_to_bytes(events::reply_bytes(params.max_tokens));
    if is_several {
        reply = reply.needing("a currency: amounts in several currencies are not added");
    }
    if truncated {
        reply = reply.needing("a securitySymbol: the whole state exceeds the size of a reply");
    }
    Ok(reply.next(NextAction::new(
        "get_context",
        json!({"runId": params.run_id.0, "timestamp": params.timestamp}),
        "see the events around this time",
    )))
}
