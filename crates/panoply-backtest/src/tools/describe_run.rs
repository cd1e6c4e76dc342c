//! `describe_run`: what is in a run, in a few hundred tokens.

use std::collections::BTreeMap;
use std::sync::Arc;

use panoply_contract::prelude::*;
use panoply_contract::spec::Widget;
use serde_json::json;

use super::page;
use super::params::{EventType, RunId};
use super::service::{BacktestService, tool_error};
use crate::event;
use crate::query::selection::Entity;
use crate::sealed::head::ColumnInfo;
use crate::timestamp::Timestamp;

const SPEC: ToolSpec = ToolSpec {
    name: "describe_run",
    title: "Describe a run",
    description: Description {
        does: "Describes what is in a backtest run: period, counts by type and severity, securities, indicators, and the numeric properties with their ranges.",
        when: "Use this before asking for events, to learn which types, securities and property paths there are.",
        returns: "Returns counts, the most frequent securities and indicators, and property paths with smallest and largest value, in at most a few hundred tokens.",
        asks: &["What is in this run?", "Which properties can I aggregate?"],
    },
    version: "1.0.0",
    aliases: &["backtest_describe_run"],
    permissions: &["backtests:read"],
    category: Category::Query,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::For(Duration::from_secs(3600)),
    idempotent: true,
    data: &["backtests"],
    examples: &[
        Example {
            shows: "the sample run",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e"}"#,
            expect: Expect::Data(r#"{"events": 7923, "types": {"TradeExecution": 144, "OrderRejection": 22}, "metadata": {"rejectedLines": 0}}"#),
        },
    ],
    tags: &["backtest", "discovery"],
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: Some(Widget {
        resource_uri: "ui://panoply/backtest-run-v1.html",
        invoking: "Opening the run…",
        invoked: "Backtest run",
    }),
}
.checked();

/// Which run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Unique identifier of the backtest run (GUID).
    run_id: RunId,
    /// Only the property paths of this type, and all of them.
    event_type: Option<EventType>,
}

/// A run in short.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The run.
    run_id: String,
    /// The strategy, where it is known.
    strategy_name: Option<String>,
    /// Time of the first event.
    first: Option<String>,
    /// Time of the last event.
    last: Option<String>,
    /// How many events there are.
    events: u64,
    /// How many of each type.
    types: BTreeMap<String, u64>,
    /// How many of each severity.
    severities: BTreeMap<String, u64>,
    /// The securities with most events.
    symbols: Vec<String>,
    /// The indicators with most events.
    indicators: Vec<String>,
    /// Numeric properties as `Type.$.Path: smallest … largest`.
    paths: Vec<String>,
    /// How clean it is, and what was left out here.
    metadata: DescriptionMetadata,
}

/// How clean a run is, and what was left out.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DescriptionMetadata {
    /// How many securities there are.
    symbol_count: u64,
    /// How many indicators.
    indicator_count: u64,
    /// How many orders.
    order_count: u64,
    /// How many numeric properties.
    path_count: usize,
    /// Events with a validation error.
    validation_errors: u64,
    /// Events with a validation warning.
    validation_warnings: u64,
    /// Lines that gave no event when the run was imported.
    rejected_lines: u64,
}

/// Names shown of each kind.
const MAX_NAMES: usize = 8;
/// Paths shown unless one type is asked for.
const MAX_PATHS: usize = 14;

/// See the module.
pub(crate) struct DescribeRun {
    pub(crate) service: Arc<BacktestService>,
}

impl Tool for DescribeRun {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, _: &CallContext) -> Result<Reply<Output>, ToolError> {
        let run = self.service.run(&params.run_id.0)?;
        let head = run.head();
        let (symbol_count, symbols) =
            run.entities(Entity::Symbol, MAX_NAMES).map_err(tool_error)?;
        let (indicator_count, indicators) =
            run.entities(Entity::Indicator, MAX_NAMES).map_err(tool_error)?;
        let (order_count, _) = run.entities(Entity::Order, 0).map_err(tool_error)?;
        let names =
            |counted: Vec<(String, u64)>| counted.into_iter().map(|(name, _)| name).collect();
        let wanted = params.event_type.map(event::EventType::from);
        let limit = if wanted.is_some() { 200 } else { MAX_PATHS };
        let mut columns: Vec<&ColumnInfo> = head.columns.iter().collect();
        columns.retain(|column| wanted.is_none_or(|wanted| column.event_type() == wanted));
        columns.sort_by_key(|column| column.path.matches('.').count());
        let path = |column: &&ColumnInfo| {
            let (kind, path) = (column.event_type(), &column.path);
            format!("{kind}.$.{path}: {} … {}", column.min, column.max)
        };
        let time = |nanos: i64| (head.events > 0).then(|| Timestamp::from_nanos(nanos).to_string());
        let types: BTreeMap<String, u64> = event::EventType::ALL
            .iter()
            .map(|kind| (kind.to_string(), head.count_of(*kind)))
            .filter(|(_, count)| *count > 0)
            .collect();
        let severities = event::Severity::ALL
            .iter()
            .map(|severity| (severity.to_string(), head.count_of_severity(*severity)))
            .filter(|(_, count)| *count > 0)
            .collect();
        let text = format!("Run {} has {} events of {} types.", run.id(), head.events, types.len());
        let table = types.iter().fold(Table::new(["type", "events"]), |table, (kind, count)| {
            table.row([kind.clone(), count.to_string()])
        });
        let data = Output {
            run_id: run.id().to_string(),
            strategy_name: head.header.strategy_name.clone(),
            first: time(head.first),
            last: time(head.last),
            events: u64::from(head.events),
            types,
            severities,
            symbols: names(symbols),
            indicators: names(indicators),
            paths: columns.iter().take(limit).map(path).collect(),
            metadata: DescriptionMetadata {
                symbol_count,
                indicator_count,
                order_count,
                path_count: columns.len(),
                validation_errors: head.problems[0],
                validation_warnings: head.problems[1],
                rejected_lines: head.rejected,
            },
        };
        let mut reply = Reply::new(data, text, page::evidence(&run)).table(table);
        if head.problems[0] > 0 {
            reply = reply.next(NextAction::new(
                "get_validation_errors",
                json!({"runId": params.run_id.0, "severityFilter": "Error", "pageSize": 10}),
                "see what is wrong with some events",
            ));
        }
        Ok(reply)
    }
}
