//! `get_context`: the state at an event or a timestamp, and the events around it.

use panoply_contract::prelude::*;
use panoply_contract::spec::Widget;

use super::events::{self, EventPage, WireEvent};
use super::money::{Amounts, Conversion};
use super::params::{EventRef, MaxTokens, RunId};
use super::query_spec::QuerySpec;
use super::service::{BacktestService, parse_time, tool_error};
use super::sized_json::SizedJson;
use super::state::{self, State};
use super::{handles, page};
use crate::query::selection::{Entity, Filter};
use crate::query::snapshot::View;

pub(super) const SPEC: ToolSpec = QuerySpec {
    name: "get_context",
    title: "Context of an event",
    description: Description {
        does: "Shows the context of an event or a point in time: the state then, and the events before and after it.",
        when: "Use this when asking why something happened: what the strategy held and saw when an order was placed or a loss was taken.",
        returns: "Returns the state after the event, and the events before and after it in order of time, optionally of one security.",
        asks: &["Why was this order rejected?", "What happened around the loss on 16 May?"],
    },
    aliases: &["backtest_get_context"],
    category: Category::Analysis,
    examples: &[
        Example {
            shows: "around a fill",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e", "eventId": "57453022-ff75-5624-af3c-230a3df4f960", "before": 1, "after": 1, "fields": ["eventType"]}"#,
            expect: Expect::Data(r#"{"before": [{"eventType": "IndicatorCalculation"}], "event": {"eventType": "TradeExecution"}}"#),
        },
        Example {
            shows: "neither an event nor a timestamp",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e"}"#,
            expect: Expect::Error("INVALID_PARAMETER"),
        },
    ],
    tags: &["backtest", "state", "causality"],
    listing: Listing::Core,
    widget: Some(Widget {
        resource_uri: "ui://panoply/backtest-run-v1.html",
        invoking: "Looking around the event…",
        invoked: "Around the event",
    }),
}
.checked();

/// The event or timestamp, and how much context to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Unique identifier of the backtest run (GUID).
    run_id: RunId,
    /// The event, by id or handle.
    event_id: Option<EventRef>,
    /// Or a timestamp, ISO 8601.
    #[schemars(length(max = 64))]
    timestamp: Option<String>,
    /// Only events of this security.
    #[schemars(length(max = 200))]
    security_symbol: Option<String>,
    /// Number of events before; default 10.
    #[schemars(range(min = 0, max = 200))]
    before: Option<u64>,
    /// Number of events after; default 10.
    #[schemars(range(min = 0, max = 200))]
    after: Option<u64>,
    /// Return only these members (such as `timestamp`) or properties (such as `Price`, `Data.Close`).
    #[schemars(length(max = 50), inner(length(min = 1, max = 200)))]
    fields: Option<Vec<String>>,
    /// Return short handles (e17, o42) instead of GUIDs; later calls on the same run accept them.
    #[serde(default)]
    handles: bool,
    /// Budget for the reply, in tokens of 2.5 bytes.
    #[serde(default)]
    max_tokens: MaxTokens,
}

/// The context of an event or a timestamp.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Events before, in order of time.
    before: Vec<SizedJson<WireEvent<'static>>>,
    /// The event itself; null when a timestamp was given.
    event: Option<SizedJson<WireEvent<'static>>>,
    /// Events after, in order of time.
    after: Vec<SizedJson<WireEvent<'static>>>,
    /// The state after the event, or at the timestamp.
    state: State,
    /// Whether the reply is complete.
    metadata: ContextMetadata,
}

/// Whether the reply is complete.
#[derive(Debug, Serialize, JsonSchema)]
struct ContextMetadata {
    /// Whether something was omitted because the reply was full.
    truncated: bool,
}

pub(super) fn call(
    service: &BacktestService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let run = service.run(&params.run_id.0)?;
    let stop = || cx.cancel.is_cancelled();
    // The event's seq, the last seq of the state, and the first seq after it.
    let (own, last, next) = match (&params.event_id, &params.timestamp) {
        (Some(event), None) => {
            let seq = handles::event_at(&run, &event.0)?;
            (Some(seq), Some(seq), seq + 1)
        }
        (None, Some(text)) => {
            let last = run.last_at(parse_time("timestamp", text)?).map_err(tool_error)?;
            (None, last, last.map_or(0, |last| last + 1))
        }
        _ => {
            return Err(ToolError::validation(
                "INVALID_PARAMETER",
                "expected either `eventId` or `timestamp`",
            )
            .hint("give one of the two"));
        }
    };
    let symbol = params.security_symbol.as_deref().filter(|symbol| !symbol.is_empty());
    let filter = Filter {
        entity: symbol.map(|symbol| (Entity::Symbol, symbol.to_owned())),
        ..Filter::default()
    };
    let whole = run.between(None, None).map_err(tool_error)?;
    let selection = run.select(&filter, whole).map_err(tool_error)?;
    let count = |wanted: Option<u64>| wanted.unwrap_or(10);
    let past = selection.count_before(own.unwrap_or(next));
    let shown = count(params.before).min(past);
    let size = |n: u64| usize::try_from(n).unwrap_or_default();
    let before = selection.page(past - shown, size(shown));
    let after = selection.page(selection.count_before(next), size(count(params.after)));
    let part_budget = MaxTokens((params.max_tokens.0 / 3).max(400));
    let style = page::style(None, params.fields, params.handles, part_budget);
    let write = |seqs: &[u32]| {
        if seqs.is_empty() { Ok(EventPage::default()) } else { events::write(&run, seqs, &style) }
    };
    // The nearest events matter most, so the past is formatted backwards.
    let mut reversed = before.clone();
    reversed.reverse();
    let past = write(&reversed)?;
    let future = write(&after)?;
    let event = own.map(|seq| write(&[seq])).transpose()?;
    let view = View { symbol, indicators: true, orders: Some(state::MAX_ORDERS) };
    let snapshot = run.snapshot_at(last, &view, &stop).map_err(tool_error)?;
    let amounts: Vec<Amounts> = snapshot.pnl.iter().map(Amounts::from).collect();
    let (pnl, _) = Conversion::default().pnl(&run, last.unwrap_or_default(), &amounts)?;
    let (state, cut) = state::write(&snapshot, pnl, part_budget)?;
    let truncated = cut || past.count < before.len() || future.count < after.len();
    let text = format!(
        "{} events before and {} after; {} positions, {} active orders.",
        past.count,
        future.count,
        snapshot.positions.len(),
        snapshot.open_orders
    );
    let mut past = past.events.unwrap_or_default();
    past.reverse();
    let table = state::table(&state);
    let data = Output {
        before: past,
        event: event.and_then(|written| written.events?.into_iter().next()),
        after: future.events.unwrap_or_default(),
        state,
        metadata: ContextMetadata { truncated },
    };
    let reply = Reply::new(data, text, page::evidence(&run)).table(table);
    Ok(reply.up_to_bytes(events::reply_bytes(params.max_tokens)))
}
