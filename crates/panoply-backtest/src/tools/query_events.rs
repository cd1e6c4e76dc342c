//! `query_events`: filters, groups, percentiles and top-n over the events of one type.

use std::collections::BTreeMap;

use panoply_contract::prelude::*;
use serde_json::{Value, json};

use super::params::{EventType, MaxTokens, RunId};
use super::query_spec::QuerySpec;
use super::service::{BacktestService, seq_range, tool_error};
use super::{events, page};
use crate::query::events_query::{
    EventQuery, GroupKey, Join, MAX_PERCENTILE_VALUES, PeriodKey, QueryEvent, QueryGroup, Top,
};
use crate::query::expression::Expression;
use crate::query::reader::SealedRun;
use crate::scan;

/// Upper bound of the JSON of one group besides its key.
const GROUP_BYTES: usize = 260;

pub(super) const SPEC: ToolSpec = QuerySpec {
    name: "query_events",
    title: "Query events",
    description: Description {
        does: "Answers a question about the events of one type: a filter on any property, groups by any property or time bucket, statistics and percentiles, and the events with the largest or smallest value. Joins the last price or indicator value as of each event.",
        when: "Use this when `aggregate_metrics` is not enough: slippage by hour of day, fills with slippage above a limit, long against short, rejections followed by a rise. Filter example: `Slippage > 0.0005 and Direction = 'Buy' and hour >= 9 and SecuritySymbol in ('EURUSD', 'GBPUSD')`.",
        returns: "Returns the number of matching events, figures per group, and the requested events with their ids and chosen fields.",
        asks: &["How does slippage depend on the hour of the day?", "Which fills had the worst slippage?", "Where was the price an hour after each rejection?"],
    },
    aliases: &["backtest_query_events"],
    category: Category::Analysis,
    examples: &[
        Example {
            shows: "fills of the sample run by direction",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e", "eventType": "TradeExecution", "where": "Quantity >= 100", "groupBy": ["Direction"], "value": "Slippage"}"#,
            expect: Expect::Data(r#"{"metadata": {"examinedEvents": 144}}"#),
        },
        Example {
            shows: "a filter that is not one",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e", "eventType": "TradeExecution", "where": "Price >"}"#,
            expect: Expect::Error("INVALID_PARAMETER"),
        },
    ],
    tags: &["backtest", "events", "statistics"],
    listing: Listing::Core,
    widget: None,
}
.checked();

/// The question.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Unique identifier of the backtest run (GUID).
    run_id: RunId,
    /// Type of the events.
    event_type: EventType,
    /// Filter: comparisons (=, !=, <, <=, >, >=, in, contains, startsWith, exists) of properties,
    /// `hour`, `weekday`, `timeOfDay`, `severity`, `category` and joined names, joined by and, or,
    /// not and parentheses. Texts are in quotes, names with other characters in backticks.
    #[serde(rename = "where")]
    #[schemars(length(max = 2000))]
    filter: Option<String>,
    /// Start of time range (inclusive), ISO 8601.
    #[schemars(length(max = 64))]
    start_time: Option<String>,
    /// End of time range (inclusive), ISO 8601.
    #[schemars(length(max = 64))]
    end_time: Option<String>,
    /// Group by these: property paths, or `month`, `week`, `day`, `hour`, `hourOfDay`, `weekday`,
    /// `severity`, `category`.
    #[schemars(length(max = 4), inner(length(min = 1, max = 200)))]
    group_by: Option<Vec<String>>,
    /// The numeric property, or joined name, for statistics and for sorting.
    #[schemars(length(max = 200))]
    value: Option<String>,
    /// Percentiles of the value, from 0 to 100, by linear interpolation.
    #[schemars(length(max = 10), inner(range(min = 0.0, max = 100.0)))]
    #[schemars(extend("x-listed" = false))]
    percentiles: Option<Vec<f64>>,
    /// Values to join as of each event.
    #[schemars(length(max = 4))]
    #[schemars(extend("x-listed" = false))]
    as_of: Option<Vec<AsOf>>,
    /// Number of matching events to return; default 0 with groupBy or value, else 20.
    #[schemars(range(min = 0, max = 1000))]
    top: Option<u64>,
    /// Which events to return: the first in time, or those with the largest or smallest value.
    #[schemars(extend("x-listed" = false))]
    order: Option<Order>,
    /// Properties of the returned events; default: all.
    #[schemars(length(max = 20), inner(length(min = 1, max = 200)))]
    #[schemars(extend("x-listed" = false))]
    fields: Option<Vec<String>>,
    /// Budget for the reply, in tokens of 2.5 bytes.
    #[serde(default)]
    #[schemars(extend("x-listed" = false))]
    max_tokens: MaxTokens,
}

/// A value as of an event, of the event's security.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct AsOf {
    /// Name of the value in `where`, `groupBy`, `value` and the result.
    #[schemars(length(min = 1, max = 60))]
    name: String,
    /// An indicator; the last market price if absent.
    #[schemars(length(max = 200))]
    indicator: Option<String>,
    /// Seconds after the event (negative: before) at which to look; default 0.
    #[schemars(range(min = -1e9, max = 1e9))]
    offset_seconds: Option<f64>,
}

/// The order of returned events.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Order {
    /// In order of time.
    Time,
    /// Largest value first.
    Largest,
    /// Smallest value first.
    Smallest,
}

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Figures per group, most events first; one group without groupBy.
    groups: Vec<WireGroup>,
    /// The requested events.
    events: Vec<WireMatch>,
    /// How many events were examined and matched.
    metadata: QueryMetadata,
}

/// Figures of one group.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WireGroup {
    /// The values of the key, by name; empty text for events without it.
    key: BTreeMap<String, String>,
    /// Number of events.
    count: u64,
    /// Number of events with a value.
    value_count: u64,
    /// Sum of the values.
    sum: Option<f64>,
    /// Mean of the values.
    avg: Option<f64>,
    /// Smallest value.
    min: Option<f64>,
    /// Largest value.
    max: Option<f64>,
    /// Population standard deviation.
    stddev: Option<f64>,
    /// The requested percentiles, as p50 and so on.
    #[serde(skip_serializing_if = "Option::is_none")]
    percentiles: Option<BTreeMap<String, Option<f64>>>,
}

/// A matching event.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WireMatch {
    /// Handle of the event.
    event: String,
    /// The event's id.
    event_id: String,
    /// Simulated time.
    timestamp: String,
    /// The chosen properties.
    properties: Value,
    /// The joined values, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    as_of: Option<BTreeMap<String, Option<f64>>>,
}

/// How many events were examined and matched.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct QueryMetadata {
    /// Events of the type in the range.
    examined_events: u64,
    /// Events that match the filter.
    matched_events: u64,
    /// Number of groups, including those left out.
    group_count: usize,
    /// Matching events beyond the limit of 10,000 groups.
    ungrouped_events: u64,
    /// Values beyond the limit of 4,000,000 for percentiles; groups with such a value have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    values_beyond_percentiles: Option<u64>,
    /// Properties of the question that no event of the type has as a number, text or boolean.
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown_properties: Option<Vec<String>>,
    /// Whether groups or events were left out because the reply was full.
    truncated: bool,
}

fn invalid(message: String, hint: &str) -> ToolError {
    ToolError::validation("INVALID_PARAMETER", message).hint(hint)
}

fn query_of(run: &SealedRun, params: &Params, cx: &CallContext) -> Result<EventQuery, ToolError> {
    let range = seq_range(run, params.start_time.as_deref(), params.end_time.as_deref(), cx)?;
    let filter = params.filter.as_deref().filter(|text| !text.trim().is_empty());
    let filter = filter.map(Expression::parse).transpose().map_err(|error| {
        invalid(
            format!("`where`: {error}"),
            "write comparisons such as `Price > 1.1 and Direction = 'Buy'`",
        )
        .detail("parameter", "where")
    })?;
    let order = params.order.unwrap_or(Order::Time);
    if order != Order::Time && params.value.is_none() {
        let message = "`order` needs a `value` to sort by".to_owned();
        return Err(invalid(message, "name the numeric property in `value`"));
    }
    if params.percentiles.is_some() && params.value.is_none() {
        let message = "`percentiles` need a `value`".to_owned();
        return Err(invalid(message, "name the numeric property in `value`"));
    }
    let is_grouped = params.group_by.is_some() || params.value.is_some();
    let default = if is_grouped && order == Order::Time { 0 } else { 20 };
    let joins = params.as_of.iter().flatten().map(|own| {
        let seconds = own.offset_seconds.unwrap_or_default();
        #[expect(clippy::cast_possible_truncation, reason = "at most 1e18, within 64 bits")]
        let offset = (seconds * 1e9) as i64;
        Join { name: own.name.clone(), indicator: own.indicator.clone(), offset }
    });
    Ok(EventQuery {
        event_type: params.event_type.into(),
        range,
        filter,
        group_by: params.group_by.iter().flatten().map(|text| group_key(text)).collect(),
        value: params.value.as_deref().map(property_path),
        percentiles: params.percentiles.clone().unwrap_or_default(),
        percentile_limit: MAX_PERCENTILE_VALUES,
        joins: joins.collect(),
        top: Top {
            limit: usize::try_from(params.top.unwrap_or(default)).unwrap_or_default(),
            largest: match order {
                Order::Time => None,
                Order::Largest => Some(true),
                Order::Smallest => Some(false),
            },
        },
    })
}

/// `Price` for `$.Price` and `properties.Price`, as in a filter.
fn property_path(text: &str) -> String {
    let path = text.strip_prefix("$.").unwrap_or(text);
    path.strip_prefix("properties.").unwrap_or(path).to_owned()
}

fn group_key(text: &str) -> GroupKey {
    match text {
        "month" => GroupKey::Period(PeriodKey::Month),
        "week" => GroupKey::Period(PeriodKey::Week),
        "day" => GroupKey::Period(PeriodKey::Day),
        "hour" => GroupKey::Period(PeriodKey::Hour),
        "hourOfDay" => GroupKey::HourOfDay,
        "weekday" => GroupKey::Weekday,
        "severity" => GroupKey::Severity,
        "category" => GroupKey::Category,
        path => GroupKey::Property(property_path(path)),
    }
}

pub(super) fn call(
    service: &BacktestService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let run = service.run(&params.run_id.0)?;
    let query = query_of(&run, &params, cx)?;
    let stop = || cx.cancel.is_cancelled();
    let found = run.query(&query, &stop).map_err(tool_error)?;
    let names = params.group_by.clone().unwrap_or_default();
    let (mut left, mut truncated) = (events::budget(params.max_tokens), false);
    let mut groups = Vec::new();
    for group in &found.groups {
        let size = GROUP_BYTES + group.key.iter().map(String::len).sum::<usize>();
        if left < size {
            truncated = true;
            break;
        }
        left -= size;
        groups.push(wire_group(group, &names, &query.percentiles));
    }
    let mut matches = Vec::new();
    for event in &found.events {
        let event = wire_match(&run, event, &query, params.fields.as_deref())?;
        let size = events::size_of_json(&event) + 1;
        if left < size {
            truncated = true;
            break;
        }
        left -= size;
        matches.push(event);
    }
    let mut text = format!(
        "{} of {} events match, in {} groups.",
        found.matched,
        found.examined,
        found.groups.len()
    );
    if found.beyond_percentiles > 0 {
        text += &format!(
            " Percentiles are of at most {MAX_PERCENTILE_VALUES} values and {} more matched: groups with such a value have none; narrow the filter or the time range.",
            found.beyond_percentiles
        );
    }
    let is_any = found.examined > 0;
    let unknown = Some(run.unknown_properties(&query)).filter(|own| is_any && !own.is_empty());
    if let Some(unknown) = &unknown {
        text += &format!(
            " No such event has {} as a number, text or boolean; texts are written in quotes.",
            unknown.iter().map(|own| format!("`{own}`")).collect::<Vec<_>>().join(", ")
        );
    }
    let first = matches.first().map(|own| own.event.clone());
    let data = Output {
        groups,
        events: matches,
        metadata: QueryMetadata {
            examined_events: found.examined,
            matched_events: found.matched,
            group_count: found.groups.len(),
            ungrouped_events: found.other,
            values_beyond_percentiles: Some(found.beyond_percentiles).filter(|left| *left > 0),
            unknown_properties: unknown,
            truncated,
        },
    };
    let reply = Reply::new(data, text, page::evidence(&run))
        .up_to_bytes(events::reply_bytes(params.max_tokens));
    Ok(match first {
        None => reply,
        Some(event) => reply.next(NextAction::new(
            "get_context",
            json!({"runId": params.run_id.0, "eventId": event}),
            "see what surrounded the first of them",
        )),
    })
}

fn wire_group(group: &QueryGroup, names: &[String], percentiles: &[f64]) -> WireGroup {
    let stats = &group.stats;
    let if_any = |value: f64| (stats.count > 0).then_some(value);
    let shown = percentiles.iter().map(|own| format!("p{own}")).zip(group.percentiles.clone());
    WireGroup {
        key: names.iter().cloned().zip(group.key.iter().cloned()).collect(),
        count: group.events,
        value_count: stats.count,
        sum: if_any(stats.sum.to_f64()),
        avg: stats.average(),
        min: if_any(stats.min),
        max: if_any(stats.max),
        stddev: stats.deviation(),
        percentiles: (!percentiles.is_empty()).then(|| shown.collect()),
    }
}

fn wire_match(
    run: &SealedRun,
    found: &QueryEvent,
    query: &EventQuery,
    fields: Option<&[String]>,
) -> Result<WireMatch, ToolError> {
    let event = run.event(found.seq).map_err(tool_error)?;
    let json = event.properties();
    let properties = match fields {
        None => events::lossless_value(json),
        Some(fields) => {
            let chosen = fields.iter().map(|field| {
                let path = field.strip_prefix("$.").unwrap_or(field);
                let value = scan::at_path(json, path).map_or(Value::Null, events::token_value);
                (path.to_owned(), value)
            });
            Value::Object(chosen.collect())
        }
    };
    let names = query.joins.iter().map(|join| join.name.clone());
    let joined: BTreeMap<String, Option<f64>> = names.zip(found.joined.iter().copied()).collect();
    Ok(WireMatch {
        event: format!("e{}", found.seq),
        event_id: event.id().to_string(),
        timestamp: event.timestamp().with_millis(),
        properties,
        as_of: (!joined.is_empty()).then_some(joined),
    })
}
