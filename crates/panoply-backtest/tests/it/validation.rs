//! Validation of types, and of the producer's own findings.

use std::sync::Arc;

use panoply_backtest::run::RunHeader;
use panoply_backtest::store::Store;
use panoply_backtest::store::memory::MemoryStore;
use panoply_contract::kernel::Kernel;
use serde_json::{Value, json};

use crate::helpers::{OWN_RUN, call_tool, kernel, line, sealed};

const ORDER: &str = r#""OrderId":"00000000-0000-4000-8000-0000000000aa""#;

fn time(n: u32) -> String {
    format!("2025-01-01T00:00:{n:02}.000Z")
}

fn run_of(lines: &[String]) -> (Arc<Kernel>, u64, u64) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let reports = sealed(Arc::clone(&store), RunHeader::default(), lines.join("\n").as_bytes());
    (kernel(store), reports[0].1.errors, reports[0].1.warnings)
}

#[tokio::test]
async fn problems_of_the_producer_are_kept_and_listed() {
    let fill =
        format!(r#"{{{ORDER},"SecuritySymbol":"A","Direction":"Buy","Quantity":1,"Price":1}}"#);
    let listed = r#"[{"Field":"Properties.Price","Error":"Stale price from feed","Severity":"Error"},{"Field":"Properties.Quantity","Error":"Rounded","Severity":"Warning"}]"#;
    let lines = [
        line(OWN_RUN, 1, &time(1), "TradeExecution", &fill, None)
            .replace(r#""validationErrors":null"#, &format!(r#""validationErrors":{listed}"#)),
        line(OWN_RUN, 2, &time(2), "TradeExecution", &fill, None),
    ];
    let (kernel, errors, warnings) = run_of(&lines);
    assert_eq!((errors, warnings), (1, 1));
    for severity in [json!(null), json!("Error"), json!("Warning")] {
        let arguments = json!({"runId": OWN_RUN, "severityFilter": severity});
        let page = call_tool(&kernel, "get_validation_errors", arguments).await.unwrap();
        assert_eq!(page["metadata"]["totalCount"], 1, "{severity}");
        let expected: Value = serde_json::from_str(listed).unwrap();
        assert_eq!(page["events"][0]["validationErrors"], expected);
    }
    // The event is still a fill: only a problem of this program takes it out of the state.
    let arguments = json!({"runId": OWN_RUN, "timestamp": time(1)});
    let state = call_tool(&kernel, "get_state_snapshot", arguments).await.unwrap();
    assert_eq!(state["state"]["positions"][0]["quantity"], 1);
}

#[tokio::test]
async fn snapshot_contains_numbers_only_where_the_contract_says_decimal() {
    let update =
        |n: u32, properties: &str| line(OWN_RUN, n, &time(n), "PositionUpdate", properties, None);
    let lines = [
        update(1, r#"{"SecuritySymbol":"A","Quantity":1,"AveragePrice":2,"RealizedPnL":"3.5"}"#),
        update(
            2,
            r#"{"SecuritySymbol":"A","Quantity":"abc","AveragePrice":[1],"UnrealizedPnL":true}"#,
        ),
        update(
            3,
            r#"{"SecuritySymbol":"B","Quantity":12345678901234567890.25,"UnrealizedPnL":null}"#,
        ),
        line(
            OWN_RUN,
            4,
            &time(4),
            "StateChange",
            r#"{"StateType":"PnL","StateAfter":{"RealizedPnL":"NaN"}}"#,
            None,
        ),
        line(
            OWN_RUN,
            5,
            &time(5),
            "TradeExecution",
            &format!(r#"{{{ORDER},"Direction":"Hold","Quantity":1,"Price":1e999}}"#),
            None,
        ),
    ];
    let (kernel, errors, _) = run_of(&lines);
    assert_eq!(errors, 3, "events 2, 4 and 5");
    let arguments = json!({"runId": OWN_RUN, "timestamp": time(9)});
    let state = call_tool(&kernel, "get_state_snapshot", arguments).await.unwrap()["state"].clone();
    let expected = json!({
        "securitySymbol": "A", "quantity": 1, "averagePrice": 2, "unrealizedPnL": 0,
        "realizedPnL": 3.5, "derived": ["unrealizedPnL"],
    });
    assert_eq!(state["positions"][0], expected, "the last valid update");
    assert!(state["positions"][1]["quantity"].is_number(), "{state}");
    assert_eq!(state["pnl"], json!({"total": 3.5, "realized": 3.5, "unrealized": 0.0}));
}

#[tokio::test]
async fn positions_follow_from_fills_and_prices_when_the_log_has_none() {
    let fill = |n: u32, side: &str, quantity: &str, price: &str| {
        let properties = format!(
            r#"{{{ORDER},"SecuritySymbol":"A","Direction":"{side}","Quantity":{quantity},"Price":{price},"Commission":1}}"#
        );
        line(OWN_RUN, n, &time(n), "TradeExecution", &properties, None)
    };
    let bar = |n: u32, close: &str| {
        let properties = format!(r#"{{"SecuritySymbol":"A","Data":{{"Close":{close}}}}}"#);
        line(OWN_RUN, n, &time(n), "MarketDataEvent", &properties, None)
    };
    let lines = [
        fill(1, "Buy", "10", "100"),
        bar(2, "103"),
        fill(3, "Sell", "4", "105"),
        bar(4, "99.5"),
        fill(5, "Sell", "6", "98"),
    ];
    let (kernel, _, _) = run_of(&lines);
    // 10 at 100; 4 × (105 − 100) − 2 commissions = 18 realized; 6 × (99.5 − 100) = −3.
    for (n, quantity, unrealized, realized) in [
        (1, 10.0, 0.0, -1.0),
        (2, 10.0, 30.0, -1.0),
        (3, 6.0, 18.0, 18.0),
        (4, 6.0, -3.0, 18.0),
        (5, 0.0, 0.0, 5.0),
    ] {
        let arguments = json!({"runId": OWN_RUN, "timestamp": time(n)});
        let reply = call_tool(&kernel, "get_state_snapshot", arguments).await.unwrap();
        let position = &reply["state"]["positions"][0];
        let of = |name: &str| position[name].as_f64().unwrap();
        let seen = (of("quantity"), of("unrealizedPnL"), of("realizedPnL"));
        assert_eq!(seen, (quantity, unrealized, realized), "after {n}");
        assert_eq!(position["derived"].as_array().unwrap().len(), 4);
        assert_eq!(reply["state"]["pnl"]["total"], json!(unrealized + realized), "after {n}");
    }
}
