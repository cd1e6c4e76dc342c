//! `get_state_delta`: the change of state between two timestamps.

use panoply_contract::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

use super::money::{Amounts, Conversion, GivenRate, Pnl, WireRate};
use super::params::RunId;
use super::query_spec::QuerySpec;
use super::service::{BacktestService, parse_time, seq_range, tool_error};
use super::wire_number::WireNumber;
use super::{page, state};
use crate::event::EventType;
use crate::number::{Number, Sum};
use crate::query::selection::{Entity, Filter};
use crate::query::snapshot::{Figure, HeldPosition, Snapshot, View};

pub(super) const SPEC: ToolSpec = QuerySpec {
    name: "get_state_delta",
    title: "State delta",
    description: Description {
        does: "Shows what changed in the state of a strategy between two points in time: positions, profit and loss, orders opened and closed.",
        when: "Use this when asking what happened over a period without reading its events, such as a day with a loss.",
        returns: "Returns each position that changed with its figures before and after, the change of profit and loss, and the events by type in between.",
        asks: &["What changed on 16 May?", "Which positions lost money between these two times?"],
    },
    aliases: &["backtest_get_state_delta"],
    category: Category::Analysis,
    examples: &[
        Example {
            shows: "a day of the sample run",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e", "startTime": "2017-04-27T00:00:00Z", "endTime": "2017-04-28T00:00:00Z"}"#,
            expect: Expect::Data(r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e"}"#),
        },
    ],
    tags: &["backtest", "state"],
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// The two timestamps to compare.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Unique identifier of the backtest run (GUID).
    run_id: RunId,
    /// Start, ISO 8601 (exclusive): the state after all events up to this time.
    #[schemars(length(max = 64))]
    start_time: String,
    /// End, ISO 8601 (inclusive).
    #[schemars(length(max = 64))]
    end_time: String,
    /// Only this security, case-insensitive.
    #[schemars(length(max = 200))]
    security_symbol: Option<String>,
    /// Convert the change of profit and loss to this currency, at the rates of the end.
    #[schemars(length(max = 32))]
    currency: Option<String>,
    /// Exchange rates, for currencies whose price is not in the log.
    #[schemars(length(max = 32))]
    rates: Option<Vec<GivenRate>>,
}

/// The change of state.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The run's id.
    run_id: String,
    /// Positions that changed.
    positions: Vec<PositionChange>,
    /// Change of profit and loss.
    pnl: Pnl,
    /// Orders active at the end but not at the start.
    orders_opened: Vec<String>,
    /// Orders active at the start but not at the end.
    orders_closed: Vec<String>,
    /// Number of events between, by type.
    events: BTreeMap<String, u64>,
    /// Whether the reply is complete.
    metadata: DeltaMetadata,
}

/// A position that changed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PositionChange {
    /// The security.
    security_symbol: String,
    /// Currency of the amounts, if the log names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<String>,
    /// Quantity at the start; null when there was no position.
    quantity_before: WireNumber,
    /// Quantity at the end.
    quantity_after: WireNumber,
    /// Change of realized profit.
    realized_change: f64,
    /// Change of unrealized profit.
    unrealized_change: f64,
}

/// Whether the reply is complete.
#[derive(Debug, Serialize, JsonSchema)]
struct DeltaMetadata {
    /// The exchange rates that were applied, as of the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    rates: Option<Vec<WireRate>>,
    /// Whether something was omitted because the reply was full.
    truncated: bool,
}

/// Maximum positions and orders in a reply.
const MAX_ROWS: usize = 200;

fn sum_of(figure: Option<&Figure>) -> Sum {
    let mut sum = Sum::ZERO;
    if let Some(number) = figure.and_then(|figure| Number::parse(&figure.text())) {
        sum.add(number);
    }
    sum
}

fn change(after: Option<&Figure>, before: Option<&Figure>) -> f64 {
    let mut difference = sum_of(after);
    difference.merge(sum_of(before).negated());
    difference.to_f64()
}

fn positions(before: &Snapshot, after: &Snapshot) -> Vec<PositionChange> {
    let listing = |held: &HeldPosition| (held.symbol.clone(), held.currency.clone());
    let earlier: BTreeMap<(String, String), &HeldPosition> =
        before.positions.iter().map(|held| (listing(held), held)).collect();
    let changed = after.positions.iter().filter(|held| {
        earlier
            .get(&listing(held))
            .is_none_or(|known| known.seq != held.seq || known.unrealized != held.unrealized)
    });
    changed
        .map(|held| {
            let known = earlier.get(&listing(held)).copied();
            PositionChange {
                security_symbol: held.symbol.clone(),
                currency: (!held.currency.is_empty()).then(|| held.currency.clone()),
                quantity_before: WireNumber::of_figure(known.and_then(|own| own.quantity.as_ref())),
                quantity_after: WireNumber::of_figure(held.quantity.as_ref()),
                realized_change: change(
                    held.realized.as_ref(),
                    known.and_then(|own| own.realized.as_ref()),
                ),
                unrealized_change: change(
                    held.unrealized.as_ref(),
                    known.and_then(|own| own.unrealized.as_ref()),
                ),
            }
        })
        .collect()
}

/// Ids of the orders in `these` but not in `those`.
fn only_in(these: &Snapshot, those: &Snapshot) -> Vec<String> {
    let known: BTreeSet<&str> = those.orders.iter().map(|order| order.terms.id.as_str()).collect();
    let own = these.orders.iter().filter(|order| !known.contains(order.terms.id.as_str()));
    own.map(|order| order.terms.id.clone()).collect()
}

pub(super) fn call(
    service: &BacktestService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let run = service.run(&params.run_id.0)?;
    seq_range(&run, Some(&params.start_time), Some(&params.end_time), cx)?;
    let (start, end) =
        (parse_time("startTime", &params.start_time)?, parse_time("endTime", &params.end_time)?);
    let stop = || cx.cancel.is_cancelled();
    let symbol = params.security_symbol.as_deref().filter(|symbol| !symbol.is_empty());
    let view = View { symbol, indicators: false, orders: Some(state::MAX_ORDERS) };
    let before = run.snapshot(start, &view, &stop).map_err(tool_error)?;
    let after = run.snapshot(end, &view, &stop).map_err(tool_error)?;
    let range = before.seq.map_or(0, |seq| seq + 1)..after.seq.map_or(0, |seq| seq + 1);
    let mut events = BTreeMap::new();
    for kind in EventType::ALL {
        let filter = Filter {
            types: vec![*kind],
            entity: symbol.map(|symbol| (Entity::Symbol, symbol.to_owned())),
            ..Filter::default()
        };
        let total = run.select(&filter, range.clone()).map_err(tool_error)?.total();
        if total > 0 {
            events.insert(kind.to_string(), total);
        }
    }
    let (mut changed, mut opened, mut closed) =
        (positions(&before, &after), only_in(&after, &before), only_in(&before, &after));
    let truncated = changed.len() > MAX_ROWS
        || opened.len() > MAX_ROWS
        || closed.len() > MAX_ROWS
        || before.open_orders > before.orders.len()
        || after.open_orders > after.orders.len();
    changed.truncate(MAX_ROWS);
    opened.truncate(MAX_ROWS);
    closed.truncate(MAX_ROWS);
    let amounts =
        |snapshot: &Snapshot| -> Vec<Amounts> { snapshot.pnl.iter().map(Amounts::from).collect() };
    let changes = Amounts::changes(&amounts(&after), &amounts(&before));
    let conversion = Conversion::new(params.currency.as_deref(), params.rates.as_deref())?;
    let (pnl, rates) = conversion.pnl(&run, after.seq.unwrap_or_default(), &changes)?;
    let text = format!(
        "Between {start} and {end}: profit and loss changed by {}, {} positions changed, {} orders opened and {} closed.",
        pnl.text(),
        changed.len(),
        opened.len(),
        closed.len()
    );
    let table = changed.iter().fold(
        Table::new(["symbol", "before", "after", "realized", "unrealized"]),
        |table, position| {
            table.row([
                position.security_symbol.clone(),
                position.quantity_before.to_string(),
                position.quantity_after.to_string(),
                position.realized_change.to_string(),
                position.unrealized_change.to_string(),
            ])
        },
    );
    let data = Output {
        run_id: run.id().to_string(),
        positions: changed,
        pnl,
        orders_opened: opened,
        orders_closed: closed,
        events,
        metadata: DeltaMetadata { rates, truncated },
    };
    Ok(Reply::new(data, text, page::evidence(&run)).table(table))
}
