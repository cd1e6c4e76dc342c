//! `query_event_sequence`: chains of cause and effect, and where they break off.

use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::events::{self, Style, WireEvent};
use super::params::{EventRef, MaxDepth, MaxTokens, PageIndex, RunId, SequencePageSize};
use super::service::{BacktestService, tool_error};
use super::sized_json::SizedJson;
use super::{handles, page};
use crate::event::EventType;
use crate::query::reader::SealedRun;
use crate::query::sequence::{Chain, Pattern, Step};

const SPEC: ToolSpec = ToolSpec {
    name: "query_event_sequence",
    title: "Event sequences",
    description: Description {
        does: "Finds chains of events linked from parent to child: what followed from one event, or where a pattern of types was followed to its end or broke off.",
        when: "Use this when looking for missing steps, such as orders without a fill, or to see what one event led to. A pattern matches in order along one path; other events may lie in between.",
        returns: "Returns sequences, each with its events in order of time, whether it is complete, and which types are missing. findIncomplete returns only the incomplete ones.",
        asks: &["Which fills were not followed by a position update?", "What did this signal lead to?"],
    },
    version: "1.0.0",
    aliases: &["backtest_query_event_sequence"],
    permissions: &["backtests:read"],
    category: Category::Analysis,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::For(Duration::from_secs(3600)),
    idempotent: true,
    data: &["backtests"],
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
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
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
    /// A refusal.
    OrderRejection,
    /// An indicator value.
    IndicatorCalculation,
    /// A position update.
    PositionUpdate,
    /// Any state change.
    StateChange,
    /// A price.
    MarketDataEvent,
    /// A risk rule.
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

/// Which sequences.
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
    /// Only these: members such as `timestamp`, or properties such as `Price` and `Data.Close`.
    #[schemars(length(max = 50), inner(length(min = 1, max = 200)))]
    fields: Option<Vec<String>>,
    /// Short names (e17, o42) instead of GUIDs; later calls accept them for the same run.
    #[serde(default)]
    handles: bool,
    /// Sequences of the page to skip: how a page that was cut short goes on.
    #[schemars(range(min = 0, max = 100))]
    #[serde(default)]
    skip: u64,
    /// Budget for the reply, in tokens of about four bytes.
    #[serde(default)]
    max_tokens: MaxTokens,
}

/// Sequences.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SequenceResult {
    /// The sequences, in order of their first event.
    sequences: Vec<Sequence>,
    /// How the page lies in the whole.
    metadata: SequenceMetadata,
}

/// One sequence.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Sequence {
    /// Where it begins.
    root_event_id: String,
    /// The first event and what followed from it, in order of time.
    events: Vec<SizedJson<WireEvent<'static>>>,
    /// Whether every step of the pattern came.
    complete: bool,
    /// The steps that never came; null when none is missing.
    missing_event_types: Option<Vec<String>>,
    /// How many events it has, when not all are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_events: Option<usize>,
}

/// How a page of sequences lies in the whole.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SequenceMetadata {
    /// How many sequences match.
    total_sequences: usize,
    /// How many of them are here.
    returned_count: usize,
    /// The page, from 0.
    page_index: u64,
    /// The size that was asked for.
    page_size: u64,
    /// Whether later pages have sequences.
    has_more: bool,
    /// Whether something was left out because the reply was full.
    truncated: bool,
    /// How to go on when the page was cut short.
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

/// See the module.
pub(crate) struct QueryEventSequence {
    pub(crate) service: Arc<BacktestService>,
}

impl Tool for QueryEventSequence {
    type Params = Params;
    type Output = SequenceResult;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(
        &self,
        params: Params,
        cx: &CallContext,
    ) -> Result<Reply<SequenceResult>, ToolError> {
        let run = self.service.run(&params.run_id.0)?;
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
        let has_more = start.saturating_add(size) < roots.len() as u64;
        let done = params.skip + sequences.len() as u64;
        let hint = (sequences.len() < wanted.len()).then(|| {
            format!("the reply was full: call again with the same arguments and \"skip\": {done}")
        });
        let incomplete = sequences.iter().filter(|sequence| !sequence.complete).count();
        let text = format!(
            "{} of {} sequences; {incomplete} of those shown are incomplete.",
            sequences.len(),
            roots.len()
        );
        let table = sequences.iter().fold(
            Table::new(["root", "events", "complete", "missing"]),
            |table, sequence| {
                let missing = sequence.missing_event_types.clone().unwrap_or_default().join(" ");
                table.row([
                    sequence.root_event_id.clone(),
                    sequence.events.len().to_string(),
                    sequence.complete.to_string(),
                    missing,
                ])
            },
        );
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
        let mut reply = Reply::new(data, text, page::evidence(&run)).table(table);
        if has_more {
            let again = page::arguments(json!({
                "runId": params.run_id.0, "sequencePattern": params.sequence_pattern,
                "findIncomplete": params.find_incomplete, "maxDepth": params.max_depth,
                "pageSize": params.page_size, "pageIndex": index + 1,
                "fields": params.fields, "handles": params.handles,
            }));
            reply = reply.next(NextAction::new(
                SPEC.name,
                again.into(),
                "see the sequences that follow",
            ));
        }
        Ok(reply)
    }
}
