//! The published contract: parameters with their limits, shapes of replies, errors.

use std::collections::BTreeSet;
use std::sync::Arc;

use panoply_backtest::event::Guid;
use panoply_backtest::run::RunHeader;
use panoply_backtest::store::Store;
use panoply_backtest::store::memory::MemoryStore;
use panoply_backtest::store::sqlite::SqliteStore;
use panoply_contract::dialect::Envelope;
use panoply_contract::testing::call_as_owner;
use serde_json::{Value, json};

use crate::helpers::{OWN_RUN, REAL, RUN_A, call_tool, kernel, line, sealed};

const SIX: [&str; 6] = [
    "get_events_by_type",
    "get_events_by_entity",
    "aggregate_metrics",
    "get_state_snapshot",
    "query_event_sequence",
    "get_validation_errors",
];

fn types() -> Value {
    json!([
        "TradeExecution",
        "OrderRejection",
        "IndicatorCalculation",
        "PositionUpdate",
        "StateChange",
        "MarketDataEvent",
        "RiskEvent",
    ])
}

fn severities() -> Value {
    json!(["Error", "Warning", "Info", "Debug"])
}

/// The contract's parameters, copied by hand.
fn contract(tool: &str) -> (Vec<&'static str>, Value) {
    let size = |most: u64, default: u64| json!({"type": "integer", "minimum": 1, "maximum": most, "default": default});
    let index = json!({"type": "integer", "minimum": 0, "default": 0});
    let text = json!({"type": "string"});
    match tool {
        "get_events_by_type" => (
            vec!["runId", "eventType"],
            json!({
                "runId": text, "eventType": {"type": "string", "enum": types()}, "startTime": text, "endTime": text,
                "severity": {"type": "string", "enum": severities()}, "pageSize": size(1000, 100), "pageIndex": index,
            }),
        ),
        "get_events_by_entity" => (
            vec!["runId", "entityType", "entityValue"],
            json!({
                "runId": text, "entityType": {"type": "string", "enum": ["OrderId", "SecuritySymbol", "PositionId", "IndicatorName"]},
                "entityValue": text, "eventTypes": {"type": "array", "items": {"type": "string", "enum": types()}},
                "pageSize": size(1000, 100), "pageIndex": index,
            }),
        ),
        "aggregate_metrics" => (
            vec!["runId", "eventType", "propertyPath"],
            json!({
                "runId": text, "eventType": {"type": "string", "enum": types()},
                "propertyPath": {"type": "string", "pattern": "^\\$\\.[a-zA-Z0-9_\\.]+$"},
                "aggregations": {"type": "array", "default": ["count", "avg"], "items": {"type": "string", "enum": ["count", "sum", "avg", "min", "max", "stddev"]}},
                "startTime": text, "endTime": text,
            }),
        ),
        "get_state_snapshot" => (
            vec!["runId", "timestamp"],
            json!({
                "runId": text, "timestamp": text, "securitySymbol": text,
                "includeIndicators": {"type": "boolean", "default": true}, "includeActiveOrders": {"type": "boolean", "default": true},
            }),
        ),
        "query_event_sequence" => (
            vec!["runId"],
            json!({
                "runId": text, "rootEventId": text, "sequencePattern": {"type": "array"},
                "findIncomplete": {"type": "boolean", "default": false},
                "maxDepth": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
                "pageSize": size(100, 50), "pageIndex": index,
            }),
        ),
        _ => (
            vec!["runId"],
            json!({
                "runId": text, "severityFilter": {"type": "string", "enum": ["Error", "Warning"]},
                "pageSize": size(1000, 100), "pageIndex": index,
            }),
        ),
    }
}

/// Checks that all expected members are present; others are allowed.
fn covers(seen: &Value, expected: &Value, about: &str) {
    match expected {
        Value::Object(members) => {
            for (name, value) in members {
                covers(&seen[name], value, &format!("{about}.{name}"));
            }
        }
        _ => assert_eq!(seen, expected, "{about}"),
    }
}

#[test]
fn contract_parameters_and_limits_of_the_six_tools() {
    let kernel = kernel(REAL.clone());
    for tool in SIX {
        let entry =
            kernel.registry().get_all().iter().find(|entry| entry.spec.name == tool).unwrap();
        let schema = entry.input_schema();
        let (required, parameters) = contract(tool);
        let found: BTreeSet<&str> = schema["required"]
            .as_array()
            .unwrap()
            .iter()
            .map(|name| name.as_str().unwrap())
            .collect();
        assert_eq!(found, required.into_iter().collect(), "{tool} requires");
        covers(&schema["properties"], &parameters, tool);
    }
    let steps = kernel
        .registry()
        .get_all()
        .iter()
        .find(|entry| entry.spec.name == "query_event_sequence")
        .unwrap()
        .input_schema();
    let steps = &steps["properties"]["sequencePattern"]["items"]["enum"];
    for word in types().as_array().unwrap() {
        assert!(steps.as_array().unwrap().contains(word), "{word}");
    }
}

#[test]
fn tool_names_are_snake_case_and_parameters_camel_case() {
    let kernel = kernel(REAL.clone());
    for entry in kernel.registry().get_all().iter().filter(|entry| entry.pack == "backtest") {
        let name = entry.spec.name;
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{name}");
        assert!(entry.spec.aliases.contains(&format!("backtest_{name}").as_str()), "{name}");
        for parameter in entry.input_schema()["properties"].as_object().unwrap().keys() {
            let camel = parameter.chars().all(|c| c.is_ascii_alphanumeric());
            assert!(
                camel && parameter.starts_with(|c: char| c.is_ascii_lowercase()),
                "{name} {parameter}"
            );
            assert_ne!(parameter, "", "{name}");
        }
        let needs_run = entry.input_schema()["required"]
            .as_array()
            .is_some_and(|names| names.contains(&json!("runId")));
        // These two read the catalog of runs, never events.
        let reads_catalog = ["list_backtest_runs", "query_runs"].contains(&name);
        assert!(needs_run || reads_catalog, "{name} asks for no run");
    }
}

fn names(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[tokio::test]
async fn replies_have_the_members_of_the_contract() {
    let kernel = kernel(REAL.clone());
    let all = json!(["count", "sum", "avg", "min", "max", "stddev"]);
    let aggregate = |more: Value| {
        let mut arguments =
            json!({"runId": RUN_A, "eventType": "TradeExecution", "propertyPath": "$.Price"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    let six = call_tool(&kernel, "aggregate_metrics", aggregate(json!({"aggregations": all})))
        .await
        .unwrap();
    assert_eq!(
        names(&six["aggregations"]),
        BTreeSet::from(["count", "sum", "avg", "min", "max", "stddev"])
    );
    assert!(six["aggregations"].as_object().unwrap().values().all(Value::is_number), "{six}");
    for name in ["totalEvents", "queryTimeMs", "eventType", "propertyPath"] {
        assert!(!six["metadata"][name].is_null(), "{name}");
    }
    assert!(six.get("events").is_none(), "no single event comes back");
    let two = call_tool(&kernel, "aggregate_metrics", aggregate(json!({}))).await.unwrap();
    let given: Vec<&str> = two["aggregations"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(given, ["count", "avg"], "count and avg unless asked otherwise, the rest null");
    let at = json!({"runId": RUN_A, "timestamp": "2017-04-27T15:00:00Z"});
    let snapshot = call_tool(&kernel, "get_state_snapshot", at.clone()).await.unwrap();
    assert_eq!(
        names(&snapshot["state"]),
        BTreeSet::from(["positions", "indicators", "activeOrders", "pnl"])
    );
    let position = &snapshot["state"]["positions"][0];
    assert_eq!(
        names(position),
        BTreeSet::from([
            "securitySymbol",
            "quantity",
            "averagePrice",
            "unrealizedPnL",
            "realizedPnL"
        ])
    );
    let indicator = &snapshot["state"]["indicators"][0];
    assert_eq!(names(indicator), BTreeSet::from(["name", "securitySymbol", "value", "parameters"]));
    for name in ["orderId", "securitySymbol", "direction", "quantity", "price"] {
        assert!(!snapshot["state"]["activeOrders"][0][name].is_null(), "{name}: {snapshot}");
    }
    assert_eq!(
        names(&snapshot["state"]["pnl"]),
        BTreeSet::from(["total", "realized", "unrealized"])
    );
    assert_eq!(snapshot["metadata"]["reconstructed"], true);
    assert_eq!((&snapshot["runId"], snapshot["timestamp"].is_string()), (&json!(RUN_A), true));
    let without = json!({"runId": RUN_A, "timestamp": "2017-04-27T15:00:00Z", "includeIndicators": false, "includeActiveOrders": false});
    let without = call_tool(&kernel, "get_state_snapshot", without).await.unwrap();
    assert_eq!(
        (&without["state"]["indicators"], &without["state"]["activeOrders"]),
        (&json!([]), &json!([]))
    );
    let sequences = json!({"runId": RUN_A, "sequencePattern": ["TradeExecution", "PositionUpdate"], "pageSize": 1});
    let sequences = call_tool(&kernel, "query_event_sequence", sequences).await.unwrap();
    for name in ["rootEventId", "events", "complete"] {
        assert!(!sequences["sequences"][0][name].is_null(), "{name}");
    }
    assert_eq!(sequences["sequences"][0]["complete"], true);
    for name in
        ["totalSequences", "returnedCount", "pageIndex", "pageSize", "hasMore", "queryTimeMs"]
    {
        assert!(!sequences["metadata"][name].is_null(), "{name}");
    }
}

#[tokio::test]
async fn event_fields_use_contract_values() {
    let kernel = kernel(REAL.clone());
    let (types, severities) = (types(), severities());
    let categories = json!(["Execution", "MarketData", "Indicators", "Risk", "Performance"]);
    for kind in types.as_array().unwrap() {
        let arguments = json!({"runId": RUN_A, "eventType": kind, "pageSize": 50});
        let page = call_tool(&kernel, "get_events_by_type", arguments).await.unwrap();
        for event in page["events"].as_array().unwrap() {
            assert_eq!(names(event).len(), 9, "{event}");
            assert_eq!(&event["eventType"], kind);
            assert!(severities.as_array().unwrap().contains(&event["severity"]), "{event}");
            assert!(categories.as_array().unwrap().contains(&event["category"]), "{event}");
            assert!(Guid::parse(event["eventId"].as_str().unwrap()).is_some());
            let time = event["timestamp"].as_str().unwrap();
            assert!(
                panoply_backtest::timestamp::Timestamp::parse(time).is_ok() && time.ends_with('Z'),
                "{time}"
            );
        }
    }
}

#[tokio::test]
async fn time_range_includes_both_ends() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let at = |second: u32| format!("2025-01-01T00:00:0{second}.000Z");
    let lines: String = (1..=5)
        .map(|n| {
            line(
                OWN_RUN,
                n,
                &at(n),
                "RiskEvent",
                &format!(r#"{{"RiskType":"x","Threshold":{n}}}"#),
                None,
            ) + "\n"
        })
        .collect();
    sealed(Arc::clone(&store), RunHeader::default(), lines.as_bytes());
    let kernel = kernel(store);
    let between =
        json!({"runId": OWN_RUN, "eventType": "RiskEvent", "startTime": at(2), "endTime": at(4)});
    let page = call_tool(&kernel, "get_events_by_type", between.clone()).await.unwrap();
    assert_eq!(page["metadata"]["totalCount"], 3);
    let mut sum = between;
    sum["propertyPath"] = "$.Threshold".into();
    sum["aggregations"] = json!(["sum", "min", "max"]);
    let sum = call_tool(&kernel, "aggregate_metrics", sum).await.unwrap();
    let figures = &sum["aggregations"];
    assert_eq!(
        (&figures["sum"], &figures["min"], &figures["max"]),
        (&json!(9.0), &json!(2.0), &json!(4.0))
    );
}

#[tokio::test]
async fn damaged_run_is_a_database_error_without_paths() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> =
        Arc::new(SqliteStore::open(&folder.path().join("backtest.db")).unwrap());
    let text = line(OWN_RUN, 1, "2025-01-01T00:00:00.000Z", "RiskEvent", "{}", None);
    sealed(Arc::clone(&store), RunHeader::default(), text.as_bytes());
    std::fs::write(folder.path().join(format!("backtest/{OWN_RUN}.run")), b"no database").unwrap();
    let kernel = kernel(store);
    for (tool, arguments) in [
        ("get_events_by_type", json!({"runId": OWN_RUN, "eventType": "RiskEvent"})),
        ("get_validation_errors", json!({"runId": OWN_RUN})),
    ] {
        let error = call_tool(&kernel, tool, arguments.clone()).await.unwrap_err();
        assert_eq!(error["code"], "DATABASE_ERROR", "{error}");
        let Envelope::Result { text, is_error, structured, .. } =
            call_as_owner(&kernel, tool, arguments).await
        else {
            panic!("refused")
        };
        assert!(is_error && structured.is_none());
        assert!(!text.contains(folder.path().to_str().unwrap()), "{text}");
        let output_text: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(names(&output_text["error"]), BTreeSet::from(["code", "message", "details"]));
    }
}

#[tokio::test]
async fn sample_run_matches_the_engine_totals() {
    // nautilus_trader's own totals: 154 orders, 139 fills, 20 rejected, 43 cancelled, 3 expired,
    // commissions 923.58. Five fills and two rejections were malformed on purpose.
    let kernel = kernel(REAL.clone());
    for (kind, expected) in [("TradeExecution", 139 + 5), ("OrderRejection", 20 + 2)] {
        let page = call_tool(
            &kernel,
            "get_events_by_type",
            json!({"runId": RUN_A, "eventType": kind, "pageSize": 1}),
        )
        .await
        .unwrap();
        assert_eq!(page["metadata"]["totalCount"], expected, "{kind}");
    }
    let placed = json!({"runId": RUN_A, "sequencePattern": ["OrderPlaced"], "pageSize": 1});
    let placed = call_tool(&kernel, "query_event_sequence", placed).await.unwrap();
    assert_eq!(placed["metadata"]["totalSequences"], 154);
    let fees = json!({"runId": RUN_A, "eventType": "TradeExecution", "propertyPath": "$.Commission", "aggregations": ["sum"]});
    let fees = call_tool(&kernel, "aggregate_metrics", fees).await.unwrap();
    assert!((fees["aggregations"]["sum"].as_f64().unwrap() - 923.58).abs() < 0.005, "{fees}");
    let mut words = std::collections::BTreeMap::new();
    for page in 0..4 {
        let changes = json!({"runId": RUN_A, "eventType": "StateChange", "pageSize": 200, "pageIndex": page, "fields": ["OrderStatus"]});
        let changes = call_tool(&kernel, "get_events_by_type", changes).await.unwrap();
        for event in changes["events"].as_array().unwrap() {
            if let Some(word) = event["properties"]["OrderStatus"].as_str() {
                *words.entry(word.to_owned()).or_insert(0) += 1;
            }
        }
    }
    assert_eq!((words["Placed"], words["Cancelled"], words["Expired"]), (154, 43, 3));
    let end = json!({"runId": RUN_A, "timestamp": "2017-05-30T13:00:00Z"});
    let end = call_tool(&kernel, "get_state_snapshot", end).await.unwrap();
    // The balance changed from 1,000,000 to 988,156.90.
    assert_eq!(end["state"]["pnl"]["realized"], -11843.1);
}

#[tokio::test]
async fn table_of_trades_takes_under_a_third_of_the_jsonl_bytes() {
    // The contract requires 70 % fewer tokens than JSONL; bytes stand for tokens.
    let kernel = kernel(REAL.clone());
    let lines = crate::helpers::data("ema_cross.jsonl.zst");
    let own: usize = String::from_utf8(lines)
        .unwrap()
        .lines()
        .filter(|line| line.contains(r#""eventType":"TradeExecution""#))
        .map(str::len)
        .sum();
    let arguments = json!({"runId": RUN_A, "eventType": "TradeExecution", "pageSize": 144, "format": "table", "handles": true});
    let table = call_tool(&kernel, "get_events_by_type", arguments).await.unwrap();
    assert_eq!(table["metadata"]["returnedCount"], 144);
    let share = table.to_string().len() as f64 / own as f64;
    assert!(share <= 0.30, "{share:.3} of the bytes of the same events as lines");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn hundred_concurrent_queries_all_succeed() {
    let kernel = kernel(REAL.clone());
    let question = |place: u64| {
        let (kind, size) =
            if place.is_multiple_of(2) { ("TradeExecution", 3) } else { ("RiskEvent", 5) };
        json!({"runId": RUN_A, "eventType": kind, "pageSize": size, "pageIndex": place % 10, "fields": ["eventId"]})
    };
    let asked: Vec<_> = (0..100)
        .map(|place| {
            let kernel = Arc::clone(&kernel);
            tokio::spawn(
                async move { call_tool(&kernel, "get_events_by_type", question(place)).await },
            )
        })
        .collect();
    for (place, answer) in (0..100).zip(asked) {
        let alone = call_tool(&kernel, "get_events_by_type", question(place)).await.unwrap();
        let together = answer.await.unwrap().unwrap();
        assert_eq!(together["events"], alone["events"], "question {place}");
    }
}
