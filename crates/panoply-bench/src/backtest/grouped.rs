//! Grouped and filtered questions of the benchmark: `aggregate_metrics` with `groupBy`, and
//! `query_events`.
//!
//! The conditions of a filter are written twice: as the tool's `where`, and as a list that the
//! peers' script makes SQL and polars expressions of.

use serde_json::{Map, Value, json};

use super::workload::{pointer, question, text};

/// A condition: property, comparison and value.
type Condition<'a> = (&'a str, &'a str, Value);

/// The questions about a run.
pub(crate) fn all(run: &str) -> Vec<Value> {
    let by = |name: &str, group: &str| {
        let own = json!({"runId": run, "eventType": "IndicatorCalculation",
            "propertyPath": "$.Value", "groupBy": group,
            "aggregations": ["count", "sum", "avg", "min", "max"]});
        question(name, "grouped_aggregate", GROUPED, own, json!({}))
    };
    let asked = |name: &str, event_type: &str, conditions: &[Condition<'_>], more: Value| {
        let filter: Vec<String> = conditions
            .iter()
            .map(|(path, op, value)| match value.as_str() {
                Some(text) => format!("{path} {op} '{text}'"),
                None => format!("{path} {op} {value}"),
            })
            .collect();
        let own = json!({"runId": run, "eventType": event_type, "conditions": conditions});
        let mut all = question(name, "query_events", QUERY, own, more);
        if let Some(all) = all.as_object_mut().filter(|_| !filter.is_empty()) {
            all.insert("where".to_owned(), filter.join(" and ").into());
        }
        all
    };
    let groups = |keys: &[&str], value: &str| json!({"groupBy": keys, "value": value});
    vec![
        by("indicators by security", "SecuritySymbol"),
        by("indicators by week", "week"),
        asked(
            "indicators by name and security",
            "IndicatorCalculation",
            &[],
            groups(&["IndicatorName", "SecuritySymbol"], "Value"),
        ),
        asked(
            "bars above a price by hour of day",
            "MarketDataEvent",
            &[("Data.Close", ">", json!(80))],
            groups(&["hourOfDay"], "Data.Volume"),
        ),
        asked(
            "overbought bars of a security by month",
            "IndicatorCalculation",
            &[
                ("IndicatorName", "=", json!("RSI_14")),
                ("SecuritySymbol", "=", json!("SYM03")),
                ("Value", ">=", json!(95)),
            ],
            groups(&["month"], "Value"),
        ),
        asked(
            "sales by security",
            "TradeExecution",
            &[("Direction", "=", json!("Sell")), ("Quantity", ">", json!(10))],
            groups(&["SecuritySymbol"], "Price"),
        ),
        asked(
            "the 20 highest prices of purchases",
            "TradeExecution",
            &[("Direction", "=", json!("Buy"))],
            json!({"value": "Price", "order": "largest", "top": 20, "fields": ["Price"]}),
        ),
    ]
}

/// Goal for a grouped aggregate, in milliseconds.
const GROUPED: f64 = 20.0;
/// Goal for a question that reads every value of a column, in milliseconds.
const QUERY: f64 = 200.0;

/// The reply in the form of the peers' answers: figures by key, and the events asked for.
pub(crate) fn answer(question: &Value, reply: &Value) -> Value {
    let is_aggregate = text(question, "kind") == "grouped_aggregate";
    let names = pointer(question, "/groupBy");
    let key = |group: &Value| -> String {
        if is_aggregate {
            return text(group, "key").chars().take(10).collect();
        }
        let names = names.as_array().into_iter().flatten().filter_map(Value::as_str);
        let parts: Vec<&str> = names.map(|name| text(pointer(group, "/key"), name)).collect();
        parts.join(" ")
    };
    let groups = pointer(reply, "/groups").as_array().into_iter().flatten();
    let figures = groups.map(|group| {
        let of = |name: &str| pointer(group, &format!("/{name}")).clone();
        let own =
            json!({"count": of("count"), "sum": of("sum"), "min": of("min"), "max": of("max")});
        (key(group), own)
    });
    let figures: Map<String, Value> = figures.collect();
    let events = pointer(reply, "/events").as_array().into_iter().flatten();
    let ids: Vec<&Value> = events.map(|event| pointer(event, "/eventId")).collect();
    json!({"groups": figures, "ids": ids})
}
