//! Hostile and extreme input.

use std::sync::Arc;

use panoply_backtest::event::Guid;
use panoply_backtest::ingest::OpenRun;
use panoply_backtest::run::RunHeader;
use panoply_backtest::store::Store;
use panoply_backtest::store::memory::MemoryStore;
use panoply_backtest::timestamp::Timestamp;
use serde_json::{Value, json};

use crate::helpers::{OWN_RUN, REAL, RUN_A, RUN_B, call_tool, kernel, line, open, sealed};

const ATTACK: &str = "'; DROP TABLE Events; --";

#[tokio::test]
async fn hostile_arguments_are_rejected_or_match_nothing() {
    let kernel = kernel(REAL.clone());
    let by_type = |more: serde_json::Value| {
        let mut arguments = json!({"runId": RUN_A, "eventType": "TradeExecution"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    let path =
        |path: &str| json!({"runId": RUN_A, "eventType": "TradeExecution", "propertyPath": path});
    let cases = [
        ("get_events_by_type", by_type(json!({"runId": ATTACK})), "INVALID_PARAMETER"),
        ("get_events_by_type", by_type(json!({"eventType": ATTACK})), "INVALID_PARAMETER"),
        ("get_events_by_type", by_type(json!({"eventType": "OrderPlaced"})), "INVALID_PARAMETER"),
        ("get_events_by_type", by_type(json!({"startTime": ATTACK})), "INVALID_PARAMETER"),
        ("get_events_by_type", by_type(json!({"severity": "Fatal"})), "INVALID_PARAMETER"),
        ("get_events_by_type", by_type(json!({"pageSize": 0})), "INVALID_PARAMETER"),
        ("get_events_by_type", by_type(json!({"pageSize": 1001})), "INVALID_PARAMETER"),
        ("get_events_by_type", by_type(json!({"pageIndex": -1})), "INVALID_PARAMETER"),
        ("get_events_by_type", by_type(json!({"unknown": 1})), "INVALID_PARAMETER"),
        (
            "get_events_by_type",
            by_type(json!({"startTime": "2300-13-01T00:00:00Z"})),
            "INVALID_PARAMETER",
        ),
        (
            "get_events_by_type",
            by_type(json!({"startTime": "2200-01-01T00:00:00Z"})),
            "INVALID_TIME_RANGE",
        ),
        (
            "get_events_by_type",
            by_type(
                json!({"startTime": "2025-12-31T23:59:59Z", "endTime": "2025-01-01T00:00:00Z"}),
            ),
            "INVALID_TIME_RANGE",
        ),
        ("aggregate_metrics", path("Price"), "INVALID_JSON_PATH"),
        ("aggregate_metrics", path("$.Price') OR 1=1 --"), "INVALID_JSON_PATH"),
        ("aggregate_metrics", path("$[0]"), "INVALID_JSON_PATH"),
        ("aggregate_metrics", path("$..Price"), "INVALID_JSON_PATH"),
        ("aggregate_metrics", path("$.Price."), "INVALID_JSON_PATH"),
        ("query_event_sequence", json!({"runId": RUN_A, "maxDepth": 51}), "INVALID_PARAMETER"),
        (
            "query_event_sequence",
            json!({"runId": RUN_A, "rootEventId": "e999999"}),
            "EVENT_NOT_FOUND",
        ),
        // An event of run A, requested in run B.
        (
            "query_event_sequence",
            json!({"runId": RUN_B, "rootEventId": "57453022-ff75-5624-af3c-230a3df4f960"}),
            "EVENT_NOT_FOUND",
        ),
        ("get_state_snapshot", json!({"runId": RUN_A, "timestamp": "never"}), "INVALID_PARAMETER"),
        (
            "get_validation_errors",
            json!({"runId": "00000000-0000-0000-0000-000000000000"}),
            "RUN_NOT_FOUND",
        ),
    ];
    for (tool, arguments, code) in cases {
        let error = call_tool(&kernel, tool, arguments.clone()).await.unwrap_err();
        assert_eq!(error["code"], code, "{tool} {arguments}: {error}");
        assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()));
        assert!(error.get("details").is_some(), "{error}");
    }
    let none = call_tool(
        &kernel,
        "get_events_by_entity",
        json!({"runId": RUN_A, "entityType": "SecuritySymbol", "entityValue": ATTACK}),
    );
    assert_eq!(none.await.unwrap()["metadata"]["totalCount"], 0);
    let far = call_tool(
        &kernel,
        "get_events_by_type",
        by_type(json!({"pageIndex": 1_000_000_000, "pageSize": 1000})),
    );
    let far = far.await.unwrap();
    assert_eq!(far["metadata"]["totalCount"], 144);
    assert_eq!(far["metadata"]["returnedCount"], 0);
    assert_eq!(far["metadata"]["hasMore"], false);
}

#[tokio::test]
async fn open_run_is_not_found_with_status_running() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let id = Guid::parse(OWN_RUN).unwrap();
    OpenRun::open(Arc::clone(&store), id, RunHeader::default(), Timestamp::from_nanos(0)).unwrap();
    let error = call_tool(&kernel(store), "get_validation_errors", json!({"runId": OWN_RUN}))
        .await
        .unwrap_err();
    assert_eq!(error["code"], "RUN_NOT_FOUND");
    assert_eq!(error["details"]["status"], "running");
}

#[tokio::test]
async fn megabyte_property_is_stored_flagged_and_too_large_for_a_reply() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let time = "2025-01-01T00:00:00.000Z";
    let deep = "{\"a\":".repeat(100_000) + "1" + &"}".repeat(100_000);
    let lines = [
        line(
            OWN_RUN,
            1,
            time,
            "MarketDataEvent",
            &format!(r#"{{"Note":"{}"}}"#, "x".repeat(1 << 20)),
            None,
        ),
        line(OWN_RUN, 2, time, "StateChange", &deep, None),
        line(
            OWN_RUN,
            3,
            time,
            "TradeExecution",
            r#"{"Price":1e400,"Quantity":0.12345678901234567890}"#,
            None,
        ),
    ];
    sealed(Arc::clone(&store), RunHeader::default(), lines.join("\n").as_bytes());
    let kernel = kernel(store);
    let call_tool = |arguments| call_tool(&kernel, "get_events_by_type", arguments);
    let large =
        call_tool(json!({"runId": OWN_RUN, "eventType": "MarketDataEvent"})).await.unwrap_err();
    assert_eq!(large["code"], "RESULT_TOO_LARGE");
    let named = call_tool(
        json!({"runId": OWN_RUN, "eventType": "MarketDataEvent", "fields": ["eventId", "validationErrors"]}),
    );
    assert_eq!(
        named.await.unwrap()["events"][0]["validationErrors"][0]["Error"],
        "Larger than 1 MiB"
    );
    let deep = call_tool(json!({"runId": OWN_RUN, "eventType": "StateChange"})).await.unwrap_err();
    assert_eq!(deep["code"], "RESULT_TOO_LARGE", "and the stack is whole");
    let exact = call_tool(json!({"runId": OWN_RUN, "eventType": "TradeExecution"})).await.unwrap();
    let properties = &exact["events"][0]["properties"];
    assert_eq!(*properties, json!({"Price": "1e400", "Quantity": "0.12345678901234567890"}));
}

#[tokio::test]
async fn parent_chain_of_200_000_is_queryable() {
    check_long_chain(200_000, false).await;
    check_long_chain(20_000, true).await;
}

#[tokio::test]
#[ignore = "takes minutes without optimisation; `./test --long` runs it"]
async fn parent_chain_of_a_million_is_queryable() {
    for closed in [false, true] {
        check_long_chain(1_000_000, closed).await;
    }
}

/// A chain in which each event is the parent of the next: all events are stored, no stack
/// overflows, and no cycle is reported unless there is one.
async fn check_long_chain(length: u32, closed: bool) {
    let mut lines = String::new();
    for n in 1..=length {
        let parent = if n > 1 { Some(n - 1) } else { closed.then_some(length) };
        let time = "2025-01-01T00:00:00.000Z";
        lines += &line(OWN_RUN, n, time, "RiskEvent", r#"{"RiskType":"x"}"#, parent);
        lines.push('\n');
    }
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let reports = sealed(Arc::clone(&store), RunHeader::default(), lines.as_bytes());
    let run = open(store.as_ref(), reports[0].0);
    let mut exported = lines.lines();
    run.export(|line| {
        assert_eq!(Some(line), exported.next());
        Ok(())
    })
    .unwrap();
    assert_eq!(exported.next(), None);
    let kernel = kernel(store);
    let call_tool = async |tool, mut arguments: Value| {
        arguments["runId"] = json!(OWN_RUN);
        call_tool(&kernel, tool, arguments).await.unwrap()
    };
    let wrong = call_tool("get_validation_errors", json!({"pageSize": 1})).await;
    assert_eq!(wrong["metadata"]["totalCount"], if closed { length } else { 0 });
    let shown = async |root: u32| {
        let arguments =
            json!({"rootEventId": format!("e{root}"), "maxDepth": 50, "fields": ["timestamp"]});
        let chain = call_tool("query_event_sequence", arguments).await;
        chain["sequences"][0]["events"].as_array().unwrap().len()
    };
    let expected = if closed { [1, 1, 1] } else { [50, 50, 10] };
    let found = [shown(0).await, shown(length / 2).await, shown(length - 10).await];
    assert_eq!(found, expected, "closed: {closed}");
    // A pattern starts at an event whose parent has another type: the head of the chain.
    let pattern = json!({"sequencePattern": ["RiskEvent", "RiskEvent"], "fields": ["eventId"]});
    let found = call_tool("query_event_sequence", pattern).await;
    let sequences = &found["metadata"]["totalSequences"];
    assert_eq!(*sequences, if closed { 0 } else { 1 });
}
