//! The queries of the benchmark, for the tools and for the peers.
//!
//! A query is a JSON object that the peers' script can read: name, tool, kind of answer, goal, and
//! the tool's arguments.

use serde_json::{Map, Value, json};

use super::generate::Facts;
use super::grouped;
use crate::Outcome;

/// The six queries of the contract, some in several variants.
pub(crate) fn all(facts: &Facts) -> Vec<Value> {
    let run = facts.run.to_string();
    let pointer = |share: i64| {
        let (first, last) = (facts.first.nanos(), facts.last.nanos());
        let nanos = first + (last - first) / 100 * share;
        // Whole milliseconds, as in the log: the peers compare texts.
        panoply_backtest::timestamp::Timestamp::from_nanos(nanos / 1_000_000 * 1_000_000)
            .with_millis()
    };
    let page = |name: &str, kind: &str, more: Value| {
        question(name, kind, PAGE, json!({"runId": run, "pageSize": 100}), more)
    };
    let typed = |event_type: &str, page_index: Value| json!({"eventType": event_type, "pageIndex": page_index});
    let about = |entity: &str, value: &str, page_index: Value| json!({"entityType": entity, "entityValue": value, "pageIndex": page_index});
    let sums = |name: &str, event_type: &str, path: &str, period: Value| {
        let own = json!({"runId": run, "eventType": event_type, "propertyPath": path,
            "aggregations": ["count", "sum", "avg", "min", "max", "stddev"]});
        question(name, "aggregate", 1.0, own, period)
    };
    let state = |name: &str, share: i64| {
        question(
            name,
            "snapshot",
            2.0,
            json!({"runId": run, "timestamp": pointer(share)}),
            json!({}),
        )
    };
    let mut all = vec![
        page("trades, first page", "by_type", typed("TradeExecution", json!(0))),
        page("trades, last page", "by_type", typed("TradeExecution", json!("last"))),
        page("indicators, first page", "by_type", typed("IndicatorCalculation", json!(0))),
        page("indicators, last page", "by_type", typed("IndicatorCalculation", json!("last"))),
        page("an order", "by_entity", about("OrderId", &facts.order.to_string(), json!(0))),
        page("a security, first page", "by_entity", about("SecuritySymbol", "SYM03", json!(0))),
        page("a security, last page", "by_entity", about("SecuritySymbol", "SYM03", json!("last"))),
        sums("six aggregates of trade prices", "TradeExecution", "$.Price", json!({})),
        sums("six aggregates of indicators", "IndicatorCalculation", "$.Value", json!({})),
        sums(
            "six aggregates of a tenth of them",
            "IndicatorCalculation",
            "$.Value",
            json!({"startTime": pointer(45), "endTime": pointer(55)}),
        ),
        state("snapshot in the middle", 50),
        state("snapshot at the end", 100),
        question(
            "fills without a position update",
            "incomplete",
            50.0,
            json!({"runId": run, "pageSize": 50, "findIncomplete": true}),
            json!({"sequencePattern": ["TradeExecution", "PositionUpdate"]}),
        ),
        question(
            "events with errors",
            "errors",
            PAGE,
            json!({"runId": run, "pageSize": 100, "severityFilter": "Error"}),
            json!({}),
        ),
    ];
    all.extend(grouped::all(&run));
    all
}

/// Goal for a page, in milliseconds.
const PAGE: f64 = 5.0;

/// A question with the tool's arguments.
pub(crate) fn question(name: &str, kind: &str, goal: f64, own: Value, more: Value) -> Value {
    let mut all = json!({"name": name, "kind": kind, "goal": goal, "tool": tool_of(kind)});
    for part in [own, more] {
        if let (Some(all), Value::Object(part)) = (all.as_object_mut(), part) {
            all.extend(part);
        }
    }
    all
}

fn tool_of(kind: &str) -> &'static str {
    match kind {
        "by_type" => "get_events_by_type",
        "by_entity" => "get_events_by_entity",
        "aggregate" => "aggregate_metrics",
        "snapshot" => "get_state_snapshot",
        "incomplete" => "query_event_sequence",
        "grouped_aggregate" => "aggregate_metrics",
        "query_events" => "query_events",
        _ => "get_validation_errors",
    }
}

/// The value at a JSON pointer, or null.
pub(crate) fn pointer<'a>(value: &'a Value, pointer: &str) -> &'a Value {
    const NOTHING: &Value = &Value::Null;
    value.pointer(pointer).unwrap_or(NOTHING)
}

/// A member as text.
pub(crate) fn text<'a>(question: &'a Value, name: &str) -> &'a str {
    question.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The tool's arguments.
pub(crate) fn arguments(question: &Value) -> Value {
    let own = |name: &str| !matches!(name, "name" | "kind" | "goal" | "tool" | "conditions");
    let members = question.as_object().cloned().unwrap_or_default();
    Value::Object(members.into_iter().filter(|(name, _)| own(name)).collect())
}

/// The arguments with ids only, so that a whole page fits into the reply.
pub(crate) fn short_arguments(question: &Value) -> Value {
    let mut arguments = arguments(question);
    let lists_events =
        matches!(text(question, "kind"), "by_type" | "by_entity" | "incomplete" | "errors");
    if let Some(members) = arguments.as_object_mut().filter(|_| lists_events) {
        members.insert("fields".to_owned(), json!(["eventId"]));
    }
    arguments
}

/// The reply in the form of the peers' answers.
pub(crate) fn answer(question: &Value, reply: &Value) -> Outcome<Value> {
    let ids = |list: &str, name: &str| -> Vec<Value> {
        let items = reply.get(list).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(|item| item.get(name).cloned()).collect()
    };
    let total = |name: &str| reply.pointer(&format!("/metadata/{name}")).cloned();
    let keyed = |list: &str, key: &dyn Fn(&Value) -> String, value: &str| -> Value {
        let items = reply.pointer(&format!("/state/{list}")).and_then(Value::as_array);
        let pairs = items.into_iter().flatten();
        let pairs = pairs.map(|item| (key(item), item.get(value).cloned().unwrap_or_default()));
        Value::Object(pairs.collect::<Map<String, Value>>())
    };
    Ok(match text(question, "kind") {
        "by_type" | "by_entity" => {
            json!({"total": total("totalCount"), "ids": ids("events", "eventId")})
        }
        "incomplete" => {
            json!({"total": total("totalSequences"), "ids": ids("sequences", "rootEventId")})
        }
        "errors" => json!({"total": total("totalCount")}),
        "grouped_aggregate" | "query_events" => grouped::answer(question, reply),
        "aggregate" => reply.get("aggregations").cloned().ok_or("no aggregations")?,
        _ => {
            let symbol = |item: &Value| text(item, "securitySymbol").to_owned();
            let both =
                |item: &Value| format!("{} {}", text(item, "name"), text(item, "securitySymbol"));
            json!({
                "positions": keyed("positions", &symbol, "quantity"),
                "indicators": keyed("indicators", &both, "value"),
            })
        }
    })
}

/// The first difference of two answers. Peers add doubles, in another order.
pub(crate) fn difference(ours: &Value, theirs: &Value) -> Option<String> {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            if a.len() != b.len() {
                return Some(format!("{} members and {}", a.len(), b.len()));
            }
            a.iter().find_map(|(name, own)| match b.get(name) {
                None => Some(format!("no {name}")),
                Some(other) => difference(own, other).map(|found| format!("{name}: {found}")),
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).find_map(|(own, other)| difference(own, other))
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
            let near = (a - b).abs() <= 1e-9 * a.abs().max(1.0);
            (!near).then(|| format!("{a} and {b}"))
        }
        (ours, theirs) if ours == theirs => None,
        (ours, theirs) => {
            let shown = |value: &Value| value.to_string().chars().take(80).collect::<String>();
            Some(format!("{} and {}", shown(ours), shown(theirs)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_differ_where_they_differ_and_not_in_the_last_digit() {
        let ours = json!({"total": 3, "ids": ["a", "b"], "sum": 0.3});
        assert_eq!(
            difference(&ours, &json!({"total": 3.0, "ids": ["a", "b"], "sum": 0.1 + 0.2})),
            None
        );
        for (theirs, found) in [
            (json!({"total": 4, "ids": ["a", "b"], "sum": 0.3}), "total: 3 and 4"),
            (json!({"total": 3, "ids": ["a", "c"], "sum": 0.3}), "ids: \"b\" and \"c\""),
            (json!({"total": 3, "ids": ["a"], "sum": 0.3}), "ids: [\"a\",\"b\"] and [\"a\"]"),
            (json!({"total": 3, "sum": 0.3}), "3 members and 2"),
        ] {
            assert_eq!(difference(&ours, &theirs).as_deref(), Some(found));
        }
    }
}
