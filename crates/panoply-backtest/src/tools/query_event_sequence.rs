//! `query_event_sequence`: chains of causally linked events, complete or incomplete.

use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::events::{self, Style, WireEvent};
use super::params::{EventRef, MaxDepth, MaxTokens, PageIndex, RunId, SequencePageSize};
use super::query_spec::QuerySpec;
use super::service::{BacktestService, tool_error};
use super::sized_json::SizedJson;
use super::{handles, page};
use crate::event::EventType;
use crate::query::reader::SealedRun;
use crate::query::sequence::{Chain, Pattern, Step};

pub(super) const SPEC: ToolSpec = QuerySpec {
    name: "query_event_sequence",
    title: "Event sequences",
    description: Description {
        does: "Finds chains of events linked from parent to child: what followed from one event, or chains that match a pattern of types completely or in part.",
        when: "Use this when looking for missing steps, such as orders without a fill, or to see what one event led to. A pattern matches in order along one path; other events may lie in between.",
        returns: "Returns sequences, each with its events in order of time, whether it is complete, and which types are missing. findIncomplete returns only the incomplete ones.",
        asks: &["Which fills were not followed by a position update?", "What did this signal lead to?"],
    },
    aliases: &["backtest_query_event_sequence"],
    category: Category::Analysis,
    examples: &[
        Example {
            shows: "fills without a position update",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e", "sequencePattern": ["TradeExecution", "PositionUpdate"], "pageSize": 1, "fields": ["eventType"]}"#,
            expect: Expect::Data(r#"{"sequences": [{"rootEventId": "57453022-ff75-5624-af3c-230a3df4f960", "complete": true, "missingEventTypes": null}], "metadata": {"totalSequences": 137, "returnedCount": 1, "hasMore": true}}"#),
        },
        Example {
            shows: "an event of another run",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e", "rootEventId": "3da71600-6c34-5ee2-b133-24a3f1c8c1e2"}"#,
            expect: Expect::Error("EVENT_NOT_FOUND"),
        },
    ],
    tags: &["backtest", "causality"],
    listing: Listing::Core,
    widget: None,
}
.checked();

/// A step of a pattern.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(inline)]
enum PatternStep {
    /// A fill.
    TradeExecution,
    /// A rejection.
    OrderRejection,
    /// An indicator value.
    IndicatorCalculation,
    /// A position update.
    PositionUpdate,
    /// Any state change.
    StateChange,
    /// Market data.
    MarketDataEvent,
    /// A risk event.
    RiskEvent,
    /// A state change that places an order.
    OrderPlaced,
}

impl PatternStep {
    const fn step(self) -> Step {
        match self {
            Self::TradeExecution => Step::Type(EventType::TradeExecution),
            Self::OrderRejection => Step::Type(EventType::OrderRejection),
            Self::IndicatorCalculation => Step::Type(EventType::IndicatorCalculation),
            Self::PositionUpdate => Step::Type(EventType::PositionUpdate),
            Self::StateChange => Step::Type(EventType::StateChange),
            Self::MarketDataEvent => Step::Type(EventType::MarketDataEvent),
            Self::RiskEvent => Step::Type(EventType::RiskEvent),
            Self::OrderPlaced => Step::OrderPlaced,
        }
    }
}

/// The sequences to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Unique identifier of the backtest run (GUID).
    run_id: RunId,
    /// Starting event ID for the sequence (GUID), or its handle.
    root_event_id: Option<EventRef>,
    /// Expected event type sequence to match (e.g., ['OrderPlaced', 'TradeExecution', 'PositionUpdate']).
    #[schemars(length(max = 50))]
    sequence_pattern: Option<Vec<PatternStep>>,
    /// Find sequences missing expected events (e.g., order without execution).
    #[serde(default)]
    find_incomplete: bool,
    /// Maximum depth of event chain to traverse.
    #[serde(default)]
    max_depth: MaxDepth,
    /// Number of sequences per page.
    #[serde(default)]
    page_size: SequencePageSize,
    /// Zero-based page index.
    #[serde(default)]
    page_index: PageIndex,
    /// Return only these members (such as `timestamp`) or properties (such as `Price`, `Data.Close`).
    #[schemars(length(max = 50), inner(length(min = 1, max = 200)))]
    #[schemars(extend("x-listed" = false))]
    fields: Option<Vec<String>>,
    /// Return short handles (e17, o42) instead of GUIDs; later calls on the same run accept them.
    #[serde(default)]
    handles: bool,
    /// Sequences of the page to skip; used to continue a truncated page.
    #[schemars(range(min = 0, max = 100))]
    #[serde(default)]
    #[schemars(extend("x-listed" = false))]
    skip: u64,
    /// Budget for the reply, in tokens of 2.5 bytes.
    #[serde(default)]
    #[schemars(extend("x-listed" = false))]
    max_tokens: MaxTokens,
}

/// A page of sequences.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SequenceResult {
    /// The sequences, in order of their first event.
    sequences: Vec<Sequence>,
    /// The page's position in the result.
    metadata: SequenceMetadata,
}

/// A chain of events.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Sequence {
    /// Id of its first event.
    root_event_id: String,
    /// The first event and its descendants, in order of time.
    events: Vec<SizedJson<WireEvent<'static>>>,
    /// Whether every step of the pattern matched.
    complete: bool,
    /// Steps of the pattern without a match; null when complete.
    missing_event_types: Option<Vec<String>>,
    /// Number of events, when not all are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_events: Option<usize>,
}

/// The page's position in the result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SequenceMetadata {
    /// Number of matching sequences.
    total_sequences: usize,
    /// Number of sequences on this page.
    returned_count: usize,
    /// Page index, from 0.
    page_index: u64,
    /// Requested page size.
    page_size: u64,
    /// Whether later pages have sequences.
    has_more: bool,
    /// Whether something was omitted because the reply was full.
    truncated: bool,
    /// How to get the rest of a truncated page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page_hint: Option<String>,
}

fn sequence(run: &SealedRun, chain: &Chain, style: &Style) -> Result<Sequence, ToolError> {
    let root = if style.handles {
        format!("e{}", chain.root)
    } else {
        run.id_at(chain.root).map_err(tool_error)?.to_string()
    };
    let written = events::write(run, &chain.events, style)?;
    let missing: Vec<String> = chain.missing.iter().map(|step| step.as_str().to_owned()).collect();
    let shortened = chain.cut || written.count < chain.events.len();
    Ok(Sequence {
        root_event_id: root,
        events: written.events.unwrap_or_default(),
        complete: missing.is_empty(),
        missing_event_types: (!missing.is_empty()).then_some(missing),
        total_events: shortened.then_some(chain.events.len()),
    })
}

pub(super) fn call(
    service: &BacktestService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<SequenceResult>, ToolError> {
    let run = service.run(&params.run_id.0)?;
    let stop = || cx.cancel.is_cancelled();
    let steps = params.sequence_pattern.iter().flatten().map(|step| step.step()).collect();
    let depth = u32::try_from(params.max_depth.0).unwrap_or(50);
    let pattern = Pattern { steps, max_depth: depth };
    let (size, index) = (params.page_size.0, params.page_index.0);
    let roots = match &params.root_event_id {
        Some(root) => Arc::new(vec![handles::event_at(&run, &root.0)?]),
        None => run.chains(&pattern, params.find_incomplete, &stop).map_err(tool_error)?,
    };
    let start = index.saturating_mul(size);
    let at = |n: u64| usize::try_from(n).unwrap_or(usize::MAX).min(roots.len());
    let (from, to) = (at(start.saturating_add(params.skip)), at(start.saturating_add(size)));
    let wanted = roots.get(from..to.max(from)).unwrap_or_default();
    let style = page::style(None, params.fields.clone(), params.handles, params.max_tokens);
    let limit = events::budget(params.max_tokens);
    let (mut sequences, mut bytes, mut cut) = (Vec::new(), 0, false);
    for root in wanted {
        let chain = run.chain(*root, &pattern, &stop).map_err(tool_error)?;
        let sequence = sequence(&run, &chain, &style)?;
        let size = events::size_of_json(&sequence);
        if bytes + size > limit && !sequences.is_empty() {
            cut = true;
            break;
        }
        cut |= sequence.total_events.is_some();
        bytes += size;
        sequences.push(sequence);
    }
    let has_more = from + sequences.len() < roots.len();
    let done = params.skip + sequences.len() as u64;
    let is_truncated = sequences.len() < wanted.len();
    let hint = is_truncated.then(|| {
        format!("the reply was full: call again with the same arguments and \"skip\": {done}")
    });
    let incomplete = sequences.iter().filter(|sequence| !sequence.complete).count();
    let text = format!(
        "{} of {} sequences; {incomplete} of those shown are incomplete.",
        sequences.len(),
        roots.len()
    );
    let table = table(&sequences);
    let data = SequenceResult {
        metadata: SequenceMetadata {
            total_sequences: roots.len(),
            returned_count: sequences.len(),
            page_index: index,
            page_size: size,
            has_more,
            truncated: cut,
            next_page_hint: hint,
        },
        sequences,
    };
    let mut reply = Reply::new(data, text, page::evidence(&run))
        .table(table)
        .up_to_bytes(events::reply_bytes(params.max_tokens));
    if has_more && !is_truncated {
        let again = page::arguments(json!({
            "runId": params.run_id.0, "sequencePattern": params.sequence_pattern,
            "findIncomplete": params.find_incomplete, "maxDepth": params.max_depth,
            "pageSize": params.page_size, "pageIndex": index + 1,
            "fields": params.fields, "handles": params.handles,
        }));
        reply =
            reply.next(NextAction::new(SPEC.name, again.into(), "see the sequences that follow"));
    }
    Ok(reply)
}

fn table(sequences: &[Sequence]) -> Table {
    let names = ["root", "events", "complete", "missing"];
    sequences.iter().fold(Table::new(names), |table, sequence| {
        table.row([
            sequence.root_event_id.clone(),
            sequence.events.len().to_string(),
            sequence.complete.to_string(),
            sequence.missing_event_types.clone().unwrap_or_default().join(" "),
        ])
    })
}
