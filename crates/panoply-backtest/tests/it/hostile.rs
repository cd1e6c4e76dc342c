//! Injection into every string parameter of every tool: no failure, no data of another run, and
//! unchanged replies afterwards.

use std::collections::BTreeSet;
use std::sync::Arc;

use panoply_backtest::store::Store;
use panoply_backtest::store::memory::MemoryStore;
use panoply_backtest::store::sqlite::SqliteStore;
use panoply_contract::kernel::Kernel;
use serde_json::{Map, Value, json};

use crate::helpers::{REAL, RUN_A, RUN_B, call_tool, data, kernel, open, sealed};

const ATTACKS: [&str; 6] = [
    "'; DROP TABLE blob; --",
    "\" OR 1=1 --",
    "$.Price') UNION SELECT value FROM blob --",
    "../../../etc/passwd\0",
    "%s%n{}{{$(rm -rf /)}}",
    "\u{202e}e1\u{feff}🦀",
];

/// Error codes of the contract.
const CODES: [&str; 8] = [
    "INVALID_PARAMETER",
    "RUN_NOT_FOUND",
    "EVENT_NOT_FOUND",
    "QUERY_TIMEOUT",
    "RESULT_TOO_LARGE",
    "INVALID_TIME_RANGE",
    "INVALID_JSON_PATH",
    "DATABASE_ERROR",
];

/// Valid arguments for every tool of the pack.
fn working() -> Vec<(&'static str, Value)> {
    let (start, end) = ("2017-05-01T00:00:00Z", "2017-05-16T00:00:00Z");
    vec![
        ("get_events_by_type", json!({"runId": RUN_A, "eventType": "TradeExecution"})),
        (
            "get_events_by_entity",
            json!({"runId": RUN_A, "entityType": "SecuritySymbol", "entityValue": "EURUSD"}),
        ),
        (
            "aggregate_metrics",
            json!({"runId": RUN_A, "eventType": "TradeExecution", "propertyPath": "$.Price"}),
        ),
        ("get_state_snapshot", json!({"runId": RUN_A, "timestamp": start})),
        (
            "query_event_sequence",
            json!({"runId": RUN_A, "sequencePattern": ["TradeExecution", "PositionUpdate"]}),
        ),
        ("get_validation_errors", json!({"runId": RUN_A})),
        ("list_backtest_runs", json!({})),
        ("describe_run", json!({"runId": RUN_A})),
        ("get_state_delta", json!({"runId": RUN_A, "startTime": start, "endTime": end})),
        ("compare_runs", json!({"runId": RUN_A, "otherRunId": RUN_B})),
        ("reconcile_run", json!({"runId": RUN_A})),
        ("get_context", json!({"runId": RUN_A, "timestamp": start})),
    ]
}

/// Names of the parameters that are strings or lists of strings.
fn strings(kernel: &Kernel, tool: &str) -> Vec<(String, bool)> {
    let tools = kernel.registry().get_all();
    let entry = tools.iter().find(|entry| entry.spec.name == tool).unwrap();
    let schema: &Value = entry.input_schema();
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let kinds = properties.into_iter().filter_map(|(name, schema)| {
        if schema["type"] == "string" {
            Some((name, false))
        } else if schema["items"]["type"] == "string" {
            Some((name, true))
        } else {
            None
        }
    });
    kinds.collect()
}

fn with(arguments: &Value, name: &str, value: Value) -> Value {
    let mut changed: Map<String, Value> = arguments.as_object().unwrap().clone();
    changed.insert(name.to_owned(), value);
    Value::Object(changed)
}

#[tokio::test]
async fn injection_in_any_string_parameter_errors_or_matches_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> =
        Arc::new(SqliteStore::open(&folder.path().join("backtest.db")).unwrap());
    for name in ["ema_cross", "sma_cross"] {
        let header = serde_json::from_slice(&data(&format!("{name}.run.json"))).unwrap();
        sealed(Arc::clone(&store), header, &data(&format!("{name}.jsonl.zst")));
    }
    let kernel = kernel(store);
    let mut before = Vec::new();
    for (tool, arguments) in working() {
        before.push(
            call_tool(&kernel, tool, arguments)
                .await
                .unwrap_or_else(|error| panic!("{tool}: {error}")),
        );
    }
    let mut asked = 0;
    for (tool, arguments) in working() {
        for (name, is_list) in strings(&kernel, tool) {
            for attack in ATTACKS {
                let value = if is_list { json!([attack]) } else { json!(attack) };
                asked += 1;
                match call_tool(&kernel, tool, with(&arguments, &name, value)).await {
                    Err(error) => {
                        let code = error["code"].as_str().unwrap();
                        assert!(CODES.contains(&code), "{tool} {name} {attack:?}: {error}");
                        assert_ne!(code, "DATABASE_ERROR", "{tool} {name} {attack:?}: {error}");
                    }
                    // A search text or a field name may have any content.
                    Ok(reply) => {
                        let total = &reply["metadata"]["totalCount"];
                        let free = matches!(name.as_str(), "fields" | "securitySymbol");
                        assert!(free || *total == 0, "{tool} {name} {attack:?}: {reply}");
                    }
                }
            }
        }
    }
    assert!(asked > 150, "{asked}");
    for ((tool, arguments), before) in working().into_iter().zip(before) {
        let after = call_tool(&kernel, tool, arguments).await.unwrap();
        let without_time = |mut reply: Value| {
            if let Some(metadata) = reply["metadata"].as_object_mut() {
                metadata.remove("queryTimeMs");
            }
            reply
        };
        assert_eq!(without_time(after), without_time(before), "{tool}");
    }
}

#[tokio::test]
async fn property_path_outside_the_safe_pattern_is_rejected() {
    let kernel = kernel(REAL.clone());
    for path in [
        "",
        "$",
        "$.",
        "Price",
        "$Price",
        "$..Price",
        "$.Price.",
        "$.Price ",
        " $.Price",
        "$.a b",
        "$.a-b",
        "$.a'b",
        "$.a\"b",
        "$.a[0]",
        "$[*]",
        "$.*",
        "$.é",
        "$.a\0",
        "$.a;b",
        "$.a/b",
        "@.Price",
        "$.Price\n",
    ] {
        let arguments =
            json!({"runId": RUN_A, "eventType": "TradeExecution", "propertyPath": path});
        let error = call_tool(&kernel, "aggregate_metrics", arguments).await.unwrap_err();
        let shown: String = path.chars().take(40).collect();
        assert_eq!(error["code"], "INVALID_JSON_PATH", "{shown:?}: {error}");
    }
}

/// The error is about the length and is itself short, not `RESULT_TOO_LARGE`.
#[tokio::test]
async fn overlong_string_parameter_is_rejected_for_its_length() {
    let kernel = kernel(REAL.clone());
    // A path, a handle and a timestamp that are valid except for their length.
    let texts = [
        format!("$.{}", "a".repeat(100_000)),
        format!("e{}", "1".repeat(100_000)),
        format!("2017-05-01T00:00:00.{}Z", "0".repeat(100_000)),
    ];
    let mut asked = 0;
    for (tool, arguments) in working() {
        for (name, is_list) in strings(&kernel, tool) {
            for text in &texts {
                let value = if is_list { json!([text]) } else { json!(text) };
                let refused = call_tool(&kernel, tool, with(&arguments, &name, value)).await;
                let error = refused.expect_err(&format!("{tool} {name}"));
                let expected = match name.as_str() {
                    "propertyPath" => "INVALID_JSON_PATH",
                    _ => "INVALID_PARAMETER",
                };
                assert_eq!(error["code"], expected, "{tool} {name}: {error}");
                assert!(error.to_string().len() < 4000, "{tool} {name}: {error}");
                asked += 1;
            }
        }
    }
    assert!(asked > 80, "{asked}");
}

#[tokio::test]
async fn reversed_time_range_is_rejected_by_every_tool() {
    let kernel = kernel(REAL.clone());
    let mut refused = 0;
    for (tool, arguments) in working() {
        let names: BTreeSet<String> =
            strings(&kernel, tool).into_iter().map(|(name, _)| name).collect();
        if !names.contains("startTime") || !names.contains("endTime") {
            continue;
        }
        let late = with(&arguments, "startTime", json!("2017-05-16T00:00:00.000000001Z"));
        let reversed = with(&late, "endTime", json!("2017-05-16T00:00:00Z"));
        let error = call_tool(&kernel, tool, reversed).await.unwrap_err();
        assert_eq!(error["code"], "INVALID_TIME_RANGE", "{tool}: {error}");
        refused += 1;
    }
    assert!(refused >= 3, "{refused}");
}

#[tokio::test]
async fn queries_never_cross_runs() {
    let store = REAL.clone();
    let kernel = kernel(Arc::clone(&store) as Arc<dyn Store>);
    let run = |id: &str| panoply_backtest::event::Guid::parse(id).unwrap();
    let (first, other) = (open(store.as_ref(), run(RUN_A)), open(store.as_ref(), run(RUN_B)));
    for place in (0..first.head().events).step_by(97) {
        let id = first.id_at(place).unwrap();
        assert_eq!(other.find(id).unwrap(), None, "{id}");
        let foreign = json!({"runId": RUN_B, "rootEventId": id.to_string()});
        let error = call_tool(&kernel, "query_event_sequence", foreign).await.unwrap_err();
        assert_eq!(error["code"], "EVENT_NOT_FOUND", "{error}");
    }
    for (entity, value) in [
        ("SecuritySymbol", "EURUSD"),
        ("OrderId", "4f516d50-66a0-5e3e-bebe-ddcd2232fdd4"),
        ("PositionId", "AUDUSD-NET"),
    ] {
        let about = |run: &str| json!({"runId": run, "entityType": entity, "entityValue": value});
        let own = call_tool(&kernel, "get_events_by_entity", about(RUN_A)).await.unwrap();
        let foreign = call_tool(&kernel, "get_events_by_entity", about(RUN_B)).await.unwrap();
        assert_ne!(own["metadata"]["totalCount"], 0, "{entity}");
        assert_eq!(foreign["metadata"]["totalCount"], 0, "{entity}");
    }
    let empty: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let nowhere = crate::helpers::kernel(empty);
    let error = call_tool(&nowhere, "describe_run", json!({"runId": RUN_B})).await.unwrap_err();
    assert_eq!(error["code"], "RUN_NOT_FOUND");
}
