//! `describe_run`: an overview of a run in a few hundred tokens.

use panoply_contract::prelude::*;
use panoply_contract::spec::Widget;
use serde_json::{Value, json};
use std::collections::BTreeMap;

use super::page;
use super::params::{EventType, RunId};
use super::query_spec::QuerySpec;
use super::service::{BacktestService, tool_error};
use crate::event;
use crate::query::selection::Entity;
use crate::sealed::head::ColumnInfo;
use crate::timestamp::Timestamp;

pub(super) const SPEC: ToolSpec = QuerySpec {
    name: "describe_run",
    title: "Describe a run",
    description: Description {
        does: "Describes what is in a backtest run: parameters, period, counts by type and severity, securities, indicators, and the numeric properties with their ranges.",
        when: "Use this before asking for events, to learn which types, securities and property paths there are.",
        returns: "Returns counts, the most frequent securities and indicators, and property paths with smallest and largest value, in at most a few hundred tokens.",
        asks: &["What is in this run?", "Which properties can I aggregate?"],
    },
    aliases: &["backtest_describe_run"],
    category: Category::Query,
    examples: &[
        Example {
            shows: "the sample run",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e"}"#,
            expect: Expect::Data(r#"{"events": 7923, "types": {"TradeExecution": 144, "OrderRejection": 22}, "metadata": {"rejectedLines": 0}}"#),
        },
    ],
    tags: &["backtest", "discovery"],
    listing: Listing::Core,
    widget: Some(Widget {
        resource_uri: "ui://panoply/backtest-run-v1.html",
        invoking: "Opening the run…",
        invoked: "Backtest run",
    }),
}
.checked();

/// The run to describe.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Unique identifier of the backtest run (GUID).
    run_id: RunId,
    /// List only the property paths of this type, without the usual limit.
    event_type: Option<EventType>,
}

/// An overview of a run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The run's id.
    run_id: String,
    /// The strategy, if known.
    strategy_name: Option<String>,
    /// Parameters and configuration by dotted name; empty if the run was not described.
    parameters: BTreeMap<String, Value>,
    /// Labels, such as the sweep or the fold that the run belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<Value>,
    /// Time of the first event.
    first: Option<String>,
    /// Time of the last event.
    last: Option<String>,
    /// Number of events.
    events: u64,
    /// Number of events by type.
    types: BTreeMap<String, u64>,
    /// Number of events by severity.
    severities: BTreeMap<String, u64>,
    /// The securities with the most events.
    symbols: Vec<String>,
    /// The indicators with the most events.
    indicators: Vec<String>,
    /// Numeric properties as `Type.$.Path: smallest … largest`.
    paths: Vec<String>,
    /// Totals, and data quality.
    metadata: DescriptionMetadata,
}

/// Totals, and data quality.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DescriptionMetadata {
    /// Number of securities.
    symbol_count: u64,
    /// Number of indicators.
    indicator_count: u64,
    /// Number of orders.
    order_count: u64,
    /// Number of parameters, including those not listed.
    parameter_count: usize,
    /// Number of numeric properties.
    path_count: usize,
    /// Events with a validation error.
    validation_errors: u64,
    /// Events with a validation warning.
    validation_warnings: u64,
    /// Lines rejected when the run was imported.
    rejected_lines: u64,
}

/// Names listed per entity.
const MAX_NAMES: usize = 8;
/// Parameters listed.
const MAX_PARAMETERS: usize = 40;
/// Longest value of a parameter, in characters of its JSON.
const MAX_VALUE_CHARS: usize = 200;
/// Paths listed unless one type is requested.
const MAX_PATHS: usize = 14;

/// A value as it is, or the start of its JSON if that is long.
fn shortened(value: Value) -> Value {
    let json = value.to_string();
    match json.char_indices().nth(MAX_VALUE_CHARS) {
        None => value,
        Some((end, _)) => Value::String(format!("{}…", json.get(..end).unwrap_or_default())),
    }
}

pub(super) fn call(
    service: &BacktestService,
    params: Params,
    _: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let run = service.run(&params.run_id.0)?;
    let head = run.head();
    let (symbol_count, symbols) = run.entities(Entity::Symbol, MAX_NAMES).map_err(tool_error)?;
    let (indicator_count, indicators) =
        run.entities(Entity::Indicator, MAX_NAMES).map_err(tool_error)?;
    let (order_count, _) = run.entities(Entity::Order, 0).map_err(tool_error)?;
    let names = |counted: Vec<(String, u64)>| counted.into_iter().map(|(name, _)| name).collect();
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
    let settings = head.header.settings();
    let parameter_count = settings.len();
    let parameters = settings.into_iter().take(MAX_PARAMETERS);
    let parameters = parameters.map(|(name, value)| (name, shortened(value))).collect();
    let text = format!("Run {} has {} events of {} types.", run.id(), head.events, types.len());
    let table = types.iter().fold(Table::new(["type", "events"]), |table, (kind, count)| {
        table.row([kind.clone(), count.to_string()])
    });
    let data = Output {
        run_id: run.id().to_string(),
        strategy_name: head.header.strategy_name.clone(),
        parameters,
        tags: head.header.tags.clone().map(shortened),
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
            parameter_count,
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
