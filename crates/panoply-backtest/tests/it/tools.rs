//! Compact replies: tables, fields, handles, samples, groups, budgets.

use panoply_contract::dialect::Envelope;
use panoply_contract::testing::call_as_owner;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::helpers::{REAL, RUN_A, call_tool, kernel};

fn trades(more: Value) -> Value {
    let mut arguments = json!({"runId": RUN_A, "eventType": "TradeExecution"});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    arguments
}

#[tokio::test]
async fn default_format_is_the_published_shape() {
    let kernel = kernel(REAL.clone());
    let page = call_tool(&kernel, "backtest_get_events_by_type", trades(json!({"pageSize": 1})))
        .await
        .unwrap();
    let expected = json!({
        "events": [{
            "eventId": "57453022-ff75-5624-af3c-230a3df4f960",
            "runId": RUN_A,
            "timestamp": "2017-04-21T06:00:00.000Z",
            "eventType": "TradeExecution",
            "severity": "Info",
            "category": "Execution",
            "properties": {
                "OrderId": "4f516d50-66a0-5e3e-bebe-ddcd2232fdd4", "SecuritySymbol": "AUDUSD",
                "PositionId": "AUDUSD-NET", "Direction": "Sell", "Quantity": 100_000,
                "Price": 0.75717, "Commission": 1.51, "Slippage": -0.00026,
                "LiquiditySide": "MAKER", "TradeId": "SIM-3-046",
            },
            "parentEventId": "cfbef556-acfd-56d7-adf6-685901b03e7e",
            "validationErrors": null,
        }],
        "metadata": {
            "totalCount": 144, "returnedCount": 1, "pageIndex": 0, "pageSize": 1,
            "hasMore": true, "truncated": false, "queryTimeMs": 0,
        },
    });
    assert_eq!(page, expected);
}

#[tokio::test]
async fn table_with_handles_takes_a_third_of_the_bytes() {
    let kernel = kernel(REAL.clone());
    let full = call_tool(&kernel, "get_events_by_type", trades(json!({}))).await.unwrap();
    let short = call_tool(
        &kernel,
        "get_events_by_type",
        trades(json!({"format": "table", "handles": true})),
    );
    let short = short.await.unwrap();
    let share = short.to_string().len() as f64 / full.to_string().len() as f64;
    assert!(share < 0.30, "{share:.2} of the bytes");
    let table = &short["table"];
    assert_eq!(table["constants"]["eventType"], "TradeExecution");
    assert_eq!(table["patterns"]["timestamp"], json!(["2017-*:00:00.000Z"]));
    let rows = unpacked(table);
    let cell = |row: usize, name: &str| rows[row][name].clone();
    assert_eq!(cell(0, "Price"), json!(0.75717));
    // The handles resolve to the same events.
    let (event, order) = (cell(0, "eventId"), cell(0, "OrderId"));
    let chain =
        call_tool(&kernel, "query_event_sequence", json!({"runId": RUN_A, "rootEventId": event}));
    assert_eq!(
        chain.await.unwrap()["sequences"][0]["rootEventId"],
        "57453022-ff75-5624-af3c-230a3df4f960"
    );
    let events_of_order = call_tool(
        &kernel,
        "get_events_by_entity",
        json!({"runId": RUN_A, "entityType": "OrderId", "entityValue": order}),
    );
    assert_eq!(events_of_order.await.unwrap()["metadata"]["totalCount"], 2);
}

/// The rows of a table by column, with constants and patterns filled in.
fn unpacked(table: &Value) -> Vec<BTreeMap<String, Value>> {
    let fill = |pattern: &Value, parts: &[Value]| {
        let mut parts = parts.iter().map(|part| part.as_str().unwrap());
        let mut text = String::new();
        for piece in pattern.as_str().unwrap().split_inclusive('*') {
            text += piece.trim_end_matches('*');
            if piece.ends_with('*') {
                text += parts.next().unwrap();
            }
        }
        assert_eq!(parts.next(), None, "{pattern}");
        Value::from(text)
    };
    let cell = |name: &str, value: &Value| match (&table["patterns"][name], value) {
        (Value::Null, _) | (_, Value::Null) => value.clone(),
        (patterns, Value::String(_)) => fill(&patterns[0], std::slice::from_ref(value)),
        (patterns, Value::Array(parts)) => {
            let number = usize::try_from(parts[0].as_u64().unwrap()).unwrap();
            fill(&patterns[number], &parts[1..])
        }
        (_, other) => panic!("{other} in the column {name} with a pattern"),
    };
    let columns: Vec<&str> =
        table["columns"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let row = |row: &Value| {
        let mut cells: BTreeMap<String, Value> = BTreeMap::new();
        for (name, value) in table["constants"].as_object().unwrap() {
            cells.insert(name.clone(), value.clone());
        }
        for (name, value) in columns.iter().zip(row.as_array().unwrap()) {
            cells.insert((*name).to_owned(), cell(name, value));
        }
        cells
    };
    table["rows"].as_array().unwrap().iter().map(row).collect()
}

/// The cells of an event that is no null, by column.
fn cells_of(event: &Value) -> BTreeMap<String, Value> {
    fn add(prefix: &str, value: &Value, cells: &mut BTreeMap<String, Value>) {
        match value {
            Value::Null => {}
            Value::Object(members) if !members.is_empty() => {
                for (name, value) in members {
                    let dot = if prefix.is_empty() { "" } else { "." };
                    add(&format!("{prefix}{dot}{name}"), value, cells);
                }
            }
            value => {
                cells.insert(prefix.to_owned(), value.clone());
            }
        }
    }
    let mut cells = BTreeMap::new();
    for (name, value) in event.as_object().unwrap() {
        add(if name == "properties" { "" } else { name }, value, &mut cells);
    }
    cells
}

#[tokio::test]
async fn table_has_every_value_of_the_published_shape() {
    let kernel = kernel(REAL.clone());
    let kinds = [
        "TradeExecution",
        "OrderRejection",
        "IndicatorCalculation",
        "PositionUpdate",
        "StateChange",
        "MarketDataEvent",
        "RiskEvent",
    ];
    for (kind, handles) in kinds.iter().flat_map(|kind| [(kind, false), (kind, true)]) {
        let ask = async |format: &str| {
            let arguments = json!({
                "runId": RUN_A, "eventType": kind, "pageSize": 120, "format": format,
                "handles": handles, "maxTokens": 200_000,
            });
            call_tool(&kernel, "get_events_by_type", arguments).await.unwrap()
        };
        let (events, table) = (ask("events").await, ask("table").await);
        let rows = unpacked(&table["table"]);
        let events = events["events"].as_array().unwrap();
        assert!(!events.is_empty() && rows.len() == events.len(), "{kind}");
        for (mut row, event) in rows.into_iter().zip(events) {
            row.retain(|_, value| !value.is_null());
            assert_eq!(row, cells_of(event), "{kind}");
        }
    }
}

#[tokio::test]
async fn external_order_id_finds_the_order() {
    let kernel = kernel(REAL.clone());
    let by_id = |id: &str| json!({"runId": RUN_A, "entityType": "OrderId", "entityValue": id});
    let found = call_tool(&kernel, "get_events_by_entity", by_id("O-20170420-200000-001-000-1"))
        .await
        .unwrap();
    assert_eq!(found["events"][0]["properties"]["OrderId"], "0bea32e2-81da-58de-8159-6e68f8258090");
}

#[tokio::test]
async fn fields_select_members_and_properties() {
    let kernel = kernel(REAL.clone());
    let fields = json!(["timestamp", "Price", "$.SecuritySymbol"]);
    let page =
        call_tool(&kernel, "get_events_by_type", trades(json!({"pageSize": 1, "fields": fields})))
            .await
            .unwrap();
    let expected = json!([{
        "timestamp": "2017-04-21T06:00:00.000Z",
        "properties": {"Price": 0.75717, "SecuritySymbol": "AUDUSD"},
    }]);
    assert_eq!(page["events"], expected);
}

#[tokio::test]
async fn page_over_budget_is_truncated_and_resumable() {
    let kernel = kernel(REAL.clone());
    let mut seen: Vec<String> = Vec::new();
    let mut skip = 0;
    loop {
        let arguments = trades(json!({"pageSize": 144, "maxTokens": 4000, "skip": skip}));
        let page = call_tool(&kernel, "get_events_by_type", arguments).await.unwrap();
        assert!(page.to_string().len() <= 16_000);
        let ids = page["events"].as_array().unwrap().iter();
        seen.extend(ids.map(|event| event["eventId"].as_str().unwrap().to_owned()));
        if page["metadata"]["truncated"] == false {
            break;
        }
        skip = seen.len();
        let hint = page["metadata"]["nextPageHint"].as_str().unwrap();
        assert!(hint.contains(&format!("\"skip\": {skip}")), "{hint}");
    }
    seen.dedup();
    assert_eq!(seen.len(), 144);
    let huge = call_tool(
        &kernel,
        "get_events_by_type",
        json!({"runId": RUN_A, "eventType": "IndicatorCalculation", "pageSize": 1000}),
    );
    let huge = huge.await.unwrap();
    assert_eq!(huge["metadata"]["truncated"], true);
    assert!(huge.to_string().len() <= 80_000);
}

#[tokio::test]
async fn sample_is_evenly_spread() {
    let kernel = kernel(REAL.clone());
    let page = call_tool(
        &kernel,
        "get_events_by_type",
        trades(json!({"sample": 5, "fields": ["timestamp"]})),
    )
    .await
    .unwrap();
    let times: Vec<&str> = page["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|event| event["timestamp"].as_str())
        .collect();
    assert_eq!(times.len(), 5);
    assert_eq!(times[0], "2017-04-21T06:00:00.000Z");
    assert!(times.is_sorted() && times[4] > "2017-05-29", "{times:?}");
}

#[tokio::test]
async fn group_figures_add_up_to_the_total() {
    let kernel = kernel(REAL.clone());
    for grouping in ["SecuritySymbol", "Severity", "day", "hour", "week"] {
        let arguments = json!({
            "runId": RUN_A, "eventType": "TradeExecution", "propertyPath": "$.Commission",
            "aggregations": ["sum"], "groupBy": grouping,
        });
        let answer = call_tool(&kernel, "aggregate_metrics", arguments).await.unwrap();
        let groups = answer["groups"].as_array().unwrap();
        let total =
            |name: &str| groups.iter().filter_map(|group| group[name].as_f64()).sum::<f64>();
        assert!(
            (total("sum") - answer["aggregations"]["sum"].as_f64().unwrap()).abs() < 1e-9,
            "{grouping}"
        );
        let events: u64 = groups.iter().filter_map(|group| group["count"].as_u64()).sum();
        assert_eq!(answer["aggregations"]["count"], events, "{grouping}");
    }
}

#[tokio::test]
async fn query_time_is_reported_but_not_hashed() {
    let kernel = kernel(REAL.clone());
    let mut hashes = Vec::new();
    for _ in 0..2 {
        let Envelope::Result { meta, structured, .. } =
            call_as_owner(&kernel, "get_validation_errors", json!({"runId": RUN_A})).await
        else {
            panic!("refused")
        };
        assert!(structured.unwrap().value()["metadata"]["queryTimeMs"].is_u64());
        hashes.push(meta.value("panoply/audit")["out_hash"].clone());
    }
    assert_eq!(hashes[0], hashes[1]);
}

#[tokio::test]
async fn describe_run_takes_at_most_400_tokens() {
    let kernel = kernel(REAL.clone());
    let answer = call_tool(&kernel, "describe_run", json!({"runId": RUN_A})).await.unwrap();
    let size = answer.to_string().len();
    assert!(size <= 1600, "{size} bytes: {answer}");
    assert_eq!(answer["symbols"], json!(["GBPUSD", "EURUSD", "AUDUSD", "ZZZUSD"]));
    assert!(
        answer["paths"]
            .as_array()
            .unwrap()
            .iter()
            .any(|path| { path.as_str().unwrap().starts_with("TradeExecution.$.Price") })
    );
}

#[tokio::test]
async fn sample_run_is_available_with_an_empty_store() {
    let empty = std::sync::Arc::new(panoply_backtest::store::memory::MemoryStore::default());
    let kernel = kernel(empty);
    let runs = call_tool(&kernel, "list_backtest_runs", json!({})).await.unwrap();
    assert_eq!(runs["runs"][0]["runId"], RUN_A);
    assert_eq!(runs["runs"][0]["events"], 7923);
    let page =
        call_tool(&kernel, "get_events_by_type", trades(json!({"pageSize": 1}))).await.unwrap();
    assert_eq!(page["metadata"]["totalCount"], 144);
}

#[tokio::test]
async fn state_delta_equals_the_difference_of_two_snapshots() {
    let kernel = kernel(REAL.clone());
    let (start, end) = ("2017-05-16T00:00:00Z", "2017-05-17T00:00:00Z");
    let at = |timestamp: &str| {
        call_tool(&kernel, "get_state_snapshot", json!({"runId": RUN_A, "timestamp": timestamp}))
    };
    let (before, after) = (at(start).await.unwrap(), at(end).await.unwrap());
    let delta = call_tool(
        &kernel,
        "get_state_delta",
        json!({"runId": RUN_A, "startTime": start, "endTime": end}),
    );
    let delta = delta.await.unwrap();
    let total = |snapshot: &Value| snapshot["state"]["pnl"]["total"].as_f64().unwrap();
    let change = delta["pnl"]["total"].as_f64().unwrap();
    assert!((change - (total(&after) - total(&before))).abs() < 1e-6, "{delta}");
    assert!(delta["events"]["MarketDataEvent"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn compare_runs_reports_both_values_and_their_difference() {
    let kernel = kernel(REAL.clone());
    let arguments = json!({"runId": RUN_A, "otherRunId": crate::helpers::RUN_B});
    let compared = call_tool(&kernel, "compare_runs", arguments).await.unwrap();
    assert_eq!(compared["configurationDiffers"], true);
    let row = |name: &str| {
        let rows = compared["figures"].as_array().unwrap().iter();
        rows.clone().find(|row| row["figure"] == name).unwrap().clone()
    };
    assert_eq!(row("events")["difference"], json!(2712.0 - 7923.0));
    assert_eq!(row("TradeExecution events")["second"], json!(188.0));
}

#[tokio::test]
async fn has_more_is_true_while_events_are_left() {
    let kernel = kernel(REAL.clone());
    let (mut seen, mut skip, mut index) = (0, 0, 0);
    loop {
        let page = json!({
            "runId": RUN_A, "eventType": "PositionUpdate", "pageSize": 300, "pageIndex": index,
            "skip": skip,
        });
        let page = call_tool(&kernel, "get_events_by_type", page).await.unwrap();
        let metadata = &page["metadata"];
        seen += metadata["returnedCount"].as_u64().unwrap();
        if !metadata["hasMore"].as_bool().unwrap() {
            break;
        }
        if metadata["truncated"].as_bool().unwrap() {
            skip += metadata["returnedCount"].as_u64().unwrap();
        } else {
            (skip, index) = (0, index + 1);
        }
    }
    assert_eq!(seen, 386);
}

#[tokio::test]
async fn page_of_a_thousand_events_is_obtainable() {
    let kernel = kernel(REAL.clone());
    let arguments = json!({
        "runId": RUN_A, "eventType": "IndicatorCalculation", "pageSize": 1000, "maxTokens": 200_000,
    });
    let page = call_tool(&kernel, "get_events_by_type", arguments).await.unwrap();
    assert_eq!(page["metadata"]["returnedCount"], 1000);
    assert_eq!(page["metadata"]["truncated"], false);
}

#[tokio::test]
async fn weeks_start_on_monday() {
    let kernel = kernel(REAL.clone());
    let arguments = json!({
        "runId": RUN_A, "eventType": "TradeExecution", "propertyPath": "$.Price", "groupBy": "week",
    });
    let reply = call_tool(&kernel, "aggregate_metrics", arguments).await.unwrap();
    let keys: Vec<&str> =
        reply["groups"].as_array().unwrap().iter().filter_map(|own| own["key"].as_str()).collect();
    // The Mondays by Python's calendar of the weeks in which the sample trades.
    let mondays = [
        "2017-04-17",
        "2017-04-24",
        "2017-05-01",
        "2017-05-08",
        "2017-05-15",
        "2017-05-22",
        "2017-05-29",
    ];
    assert_eq!(keys, mondays.map(|monday| format!("{monday}T00:00:00Z")));
}

#[tokio::test]
async fn group_by_entity_equals_one_aggregate_per_entity_in_any_range() {
    let kernel = kernel(REAL.clone());
    let lines = crate::helpers::data("ema_cross.jsonl.zst");
    let events: Vec<Value> = lines
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    for (from, to) in [
        ("2017-01-01T00:00:00.000Z", "2018-01-01T00:00:00.000Z"),
        ("2017-04-27T00:00:00.000Z", "2017-05-20T05:00:00.000Z"),
    ] {
        let arguments = json!({
            "runId": RUN_A, "eventType": "IndicatorCalculation", "propertyPath": "$.Value",
            "aggregations": ["count", "max", "min"], "groupBy": "SecuritySymbol",
            "startTime": from, "endTime": to,
        });
        let reply = call_tool(&kernel, "aggregate_metrics", arguments).await.unwrap();
        let groups = reply["groups"].as_array().unwrap();
        assert!(groups.len() >= 3, "{groups:?}");
        for group in groups {
            let values = events.iter().filter(|event| {
                let time = event["timestamp"].as_str().unwrap();
                event["eventType"] == "IndicatorCalculation"
                    && event["properties"]["SecuritySymbol"] == group["key"]
                    && (from..=to).contains(&time)
            });
            let values: Vec<f64> =
                values.clone().filter_map(|event| event["properties"]["Value"].as_f64()).collect();
            assert_eq!(group["valueCount"], values.len(), "{group}");
            let max = values.iter().copied().max_by(f64::total_cmp);
            assert_eq!(group["max"], json!(max), "{group}");
        }
    }
}

#[tokio::test]
async fn table_keeps_properties_with_names_of_members_and_dots() {
    use panoply_backtest::store::memory::MemoryStore;
    let store: std::sync::Arc<dyn panoply_backtest::store::Store> =
        std::sync::Arc::new(MemoryStore::default());
    let own = crate::helpers::OWN_RUN;
    let line = |n: u32, properties: &str| {
        let time = format!("2025-01-01T00:00:0{n}.000Z");
        crate::helpers::line(own, n, &time, "MarketDataEvent", properties, None)
    };
    let lines = [
        line(
            1,
            r#"{"timestamp":"t1","eventId":7,"X.Y":1,"X":{"Y":2,"Z":{}},"n":814786633366918.3}"#,
        ),
        line(2, r#"{"timestamp":"t2","eventId":8,"X.Y":3,"X":{"Y":4},"n":12345678.12345678}"#),
    ];
    crate::helpers::sealed(
        std::sync::Arc::clone(&store),
        Default::default(),
        lines.join("\n").as_bytes(),
    );
    let kernel = kernel(store);
    let arguments = json!({"runId": own, "eventType": "MarketDataEvent", "format": "table"});
    let reply = call_tool(&kernel, "get_events_by_type", arguments).await.unwrap();
    let table = &reply["table"];
    let rows = unpacked(table);
    let cell = |row: usize, name: &str| {
        rows[row].get(name).unwrap_or_else(|| panic!("{name} in {table}")).clone()
    };
    assert_eq!(cell(0, "properties.timestamp"), "t1");
    assert_eq!(cell(1, "properties.eventId"), 8);
    assert_eq!((cell(0, r"X\.Y"), cell(0, "X.Y")), (json!(1), json!(2)));
    assert_eq!(cell(0, "X.Z"), json!({}));
    assert_eq!(cell(0, "n"), json!("814786633366918.3"), "a double would print another digit");
    assert_eq!(cell(1, "n"), json!(12_345_678.123_456_78));
    let arguments = json!({
        "runId": own, "eventType": "MarketDataEvent", "fields": [r"X\.Y", "properties.timestamp"],
    });
    let reply = call_tool(&kernel, "get_events_by_type", arguments).await.unwrap();
    assert_eq!(reply["events"][0]["properties"], json!({r"X\.Y": 1, "timestamp": "t1"}));
}

#[tokio::test]
async fn times_from_year_1_to_9999_and_all_iso_forms_are_accepted() {
    let kernel = kernel(REAL.clone());
    for (start, end) in [
        ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.9999999Z"),
        ("20170419T000000Z", "2017-05-31T24:00:00Z"),
        ("2017-W16-1", "2017-365"),
    ] {
        let arguments = trades(json!({"startTime": start, "endTime": end, "pageSize": 1}));
        let page = call_tool(&kernel, "get_events_by_type", arguments).await.unwrap();
        assert_eq!(page["metadata"]["totalCount"], 144, "{start} to {end}");
    }
    let arguments = json!({"runId": RUN_A, "timestamp": "0001-01-01T00:00:00Z"});
    let state = call_tool(&kernel, "get_state_snapshot", arguments).await.unwrap();
    assert_eq!(state["timestamp"], "0001-01-01T00:00:00Z");
    assert_eq!(state["state"]["positions"], json!([]));
}

#[tokio::test]
async fn all_tools_agree_on_the_end_of_a_run() {
    let kernel = kernel(REAL.clone());
    let list = call_tool(&kernel, "list_backtest_runs", json!({"query": RUN_A})).await.unwrap();
    let described = call_tool(&kernel, "describe_run", json!({"runId": RUN_A})).await.unwrap();
    assert_eq!(list["runs"][0]["endTime"], described["last"]);
    assert_eq!(list["runs"][0]["startTime"], described["first"]);
    assert_eq!(described["last"], "2017-05-30T18:00:00Z", "the last line of the log");
}
