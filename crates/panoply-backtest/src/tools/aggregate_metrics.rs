//! `aggregate_metrics`: count, sum, mean, extremes and standard deviation of a numeric property.

use panoply_contract::evidence::Sample;
use panoply_contract::prelude::*;
use serde_json::json;

use super::params::{EventType, MaxTokens, PropertyPath, RunId};
use super::query_spec::QuerySpec;
use super::service::{BacktestService, seq_range, tool_error};
use super::{events, page};
use crate::query::aggregate::{AggregateQuery, GroupBy};
use crate::query::selection::Entity;
use crate::sealed::column::Stats;

/// Upper bound of the JSON of one group.
const GROUP_BYTES: usize = 220;

pub(super) const SPEC: ToolSpec = QuerySpec {
    name: "aggregate_metrics",
    title: "Aggregate metrics",
    description: Description {
        does: "Computes count, sum, average, minimum, maximum and standard deviation of a numeric property over the events of one type.",
        when: "Use this when a figure answers the question and the events need not be read: total commission, average price, worst slippage by security. `groupBy` splits the figures.",
        returns: "Returns an AggregationResult; figures that were not requested are null; valueCount is the number of events with a value.",
        asks: &["What did commissions add up to in May?", "How does slippage differ between securities?"],
    },
    aliases: &["backtest_aggregate_metrics"],
    category: Category::Analysis,
    examples: &[
        Example {
            shows: "all six figures of the traded quantities",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e", "eventType": "TradeExecution", "propertyPath": "$.Quantity", "aggregations": ["count", "sum", "min", "max"]}"#,
            expect: Expect::Data(r#"{"aggregations": {"count": 144, "sum": 42986800.0, "avg": null, "min": 100.0, "max": 758500.0, "stddev": null}, "metadata": {"totalEvents": 144, "valueCount": 142}}"#),
        },
        Example {
            shows: "a path outside the safe pattern",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e", "eventType": "TradeExecution", "propertyPath": "$.Price'); DROP TABLE Events; --"}"#,
            expect: Expect::Error("INVALID_JSON_PATH"),
        },
    ],
    tags: &["backtest", "statistics"],
    listing: Listing::Core,
    widget: None,
}
.checked();

/// The aggregate to compute.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Unique identifier of the backtest run (GUID).
    run_id: RunId,
    /// Type of events to aggregate.
    event_type: EventType,
    /// JSON path to the property to aggregate (e.g., '$.Price', '$.Quantity').
    property_path: PropertyPath,
    /// Aggregation functions to compute; default: count and avg.
    #[schemars(length(max = 6), extend("default" = ["count", "avg"]))]
    aggregations: Option<Vec<Function>>,
    /// Start of time range (inclusive), ISO 8601.
    #[schemars(length(max = 64))]
    start_time: Option<String>,
    /// End of time range (inclusive), ISO 8601.
    #[schemars(length(max = 64))]
    end_time: Option<String>,
    /// Group the figures by this.
    group_by: Option<Grouping>,
    /// Budget for the reply, in tokens of 2.5 bytes.
    #[serde(default)]
    #[schemars(extend("x-listed" = false))]
    max_tokens: MaxTokens,
}

/// An aggregation function.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Function {
    /// Number of events of the type.
    Count,
    /// Sum of the values.
    Sum,
    /// Mean of the values.
    Avg,
    /// Smallest value.
    Min,
    /// Largest value.
    Max,
    /// Population standard deviation of the values.
    Stddev,
}

/// How to group the figures.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[schemars(inline)]
enum Grouping {
    /// By security.
    SecuritySymbol,
    /// By position.
    PositionId,
    /// By indicator.
    IndicatorName,
    /// By severity.
    Severity,
    /// By hour, UTC.
    #[serde(rename = "hour")]
    Hour,
    /// By day, UTC.
    #[serde(rename = "day")]
    Day,
    /// By week, UTC, starting on Monday.
    #[serde(rename = "week")]
    Week,
}

impl Grouping {
    const fn by(self) -> GroupBy {
        const HOUR: i64 = 3_600_000_000_000;
        const DAY: i64 = 24 * HOUR;
        match self {
            Self::SecuritySymbol => GroupBy::Entity(Entity::Symbol),
            Self::PositionId => GroupBy::Entity(Entity::Position),
            Self::IndicatorName => GroupBy::Entity(Entity::Indicator),
            Self::Severity => GroupBy::Severity,
            Self::Hour => GroupBy::Every { step: HOUR, origin: 0 },
            Self::Day => GroupBy::Every { step: DAY, origin: 0 },
            // 1970-01-05 was a Monday.
            Self::Week => GroupBy::Every { step: 7 * DAY, origin: 4 * DAY },
        }
    }
}

/// The result of an aggregation.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AggregationResult {
    /// Figures over all events.
    aggregations: Figures,
    /// Figures per group, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<GroupFigures>>,
    /// Event type, property and number of values.
    metadata: AggregationMetadata,
}

/// Figures; null when not requested, or when no event has a value.
#[derive(Debug, Serialize, JsonSchema)]
struct Figures {
    /// Number of events of the type.
    count: u64,
    /// Sum of the values.
    sum: Option<f64>,
    /// Mean of the values.
    avg: Option<f64>,
    /// Smallest value.
    min: Option<f64>,
    /// Largest value.
    max: Option<f64>,
    /// Population standard deviation of the values.
    stddev: Option<f64>,
}

/// Figures of one group.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GroupFigures {
    /// The value shared by the group's events.
    key: String,
    /// Number of events with a value.
    value_count: u64,
    /// The group's figures.
    #[serde(flatten)]
    figures: Figures,
}

/// Event type, property and number of values.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AggregationMetadata {
    /// Number of events of the type in the range.
    total_events: u64,
    /// Number of events with a value at the path.
    value_count: u64,
    /// The event type.
    event_type: EventType,
    /// The property path.
    property_path: String,
    /// Whether groups were omitted because the reply was full.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
}

fn figures(events: u64, stats: &Stats, wanted: &[Function]) -> Figures {
    let if_requested = |function, value: Option<f64>| {
        value.filter(|_| wanted.contains(&function) && stats.count > 0)
    };
    Figures {
        count: events,
        sum: if_requested(Function::Sum, Some(stats.sum.to_f64())),
        avg: if_requested(Function::Avg, stats.average()),
        min: if_requested(Function::Min, Some(stats.min)),
        max: if_requested(Function::Max, Some(stats.max)),
        stddev: if_requested(Function::Stddev, stats.deviation()),
    }
}

/// The member names of a path, without `$.`. The published pattern admits empty names.
fn property_names(path: &str) -> Result<&str, ToolError> {
    let property_names = path.strip_prefix("$.").unwrap_or_default();
    if property_names.split('.').any(str::is_empty) {
        let message = format!("`{path}` is not a path: a name between two dots is empty");
        return Err(ToolError::validation("INVALID_JSON_PATH", message)
            .hint("write it as `$.Price` or `$.Data.Close`")
            .detail("propertyPath", path));
    }
    Ok(property_names)
}

pub(super) fn call(
    service: &BacktestService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<AggregationResult>, ToolError> {
    let run = service.run(&params.run_id.0)?;
    let path = property_names(&params.property_path.0)?;
    let range = seq_range(&run, params.start_time.as_deref(), params.end_time.as_deref(), cx)?;
    let wanted = params.aggregations.unwrap_or_else(|| vec![Function::Count, Function::Avg]);
    let query = AggregateQuery { event_type: params.event_type.into(), path, range };
    let stop = || cx.cancel.is_cancelled();
    let (events, stats) = run.aggregate(&query, &stop).map_err(tool_error)?;
    let mut truncated = None;
    let groups = match params.group_by {
        None => None,
        Some(grouping) => {
            let max_groups = events::budget(params.max_tokens) / GROUP_BYTES;
            let mut groups = run
                .aggregate_by(&query, grouping.by(), max_groups + 1, &stop)
                .map_err(tool_error)?;
            truncated = Some(groups.len() > max_groups);
            groups.truncate(max_groups);
            let wire = groups.iter().map(|group| GroupFigures {
                key: group.key.clone(),
                value_count: group.stats.count,
                figures: figures(group.events, &group.stats, &wanted),
            });
            Some(wire.collect::<Vec<_>>())
        }
    };
    let shown = figures(events, &stats, &wanted);
    let text = match stats.average() {
        None => format!("{events} events, none with a number at {}.", params.property_path.0),
        Some(average) => format!(
            "{} of {events} events have a number at {}: average {average}, from {} to {}.",
            stats.count, params.property_path.0, stats.min, stats.max
        ),
    };
    let mut evidence = page::evidence(&run).complete(stats.count, events.max(1));
    if let (Some(average), Some(deviation)) = (stats.average(), stats.deviation())
        && average.abs() > f64::EPSILON
    {
        let variation = deviation / average.abs();
        evidence = evidence.sampled(Sample::Mean { n: stats.count, variation });
    }
    let data = AggregationResult {
        aggregations: shown,
        groups,
        metadata: AggregationMetadata {
            total_events: events,
            value_count: stats.count,
            event_type: params.event_type,
            property_path: params.property_path.0.clone(),
            truncated,
        },
    };
    let mut reply =
        Reply::new(data, text, evidence).up_to_bytes(events::reply_bytes(params.max_tokens));
    if stats.count < events {
        reply = reply.assuming("events without a number at the path are counted and not averaged");
    }
    Ok(reply.next(NextAction::new(
        "get_events_by_type",
        json!({"runId": params.run_id.0, "eventType": params.event_type, "pageSize": 20}),
        "look at the events behind the figures",
    )))
}
