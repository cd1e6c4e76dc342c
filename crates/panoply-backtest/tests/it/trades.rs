//! Filters and groups of trades, the figures of their period, and walk-forward pairs.

use std::sync::Arc;

use panoply_backtest::event::Guid;
use panoply_backtest::performance::{CurrencyFigures, RunSummary, returns::ReturnFigures};
use panoply_backtest::run::{RunRecord, Status};
use panoply_backtest::store::Store;
use panoply_backtest::store::memory::MemoryStore;
use panoply_backtest::timestamp::Timestamp;
use panoply_contract::kernel::Kernel;
use serde_json::{Value, json};

use crate::helpers::{REAL, RUN_A, call_tool, data, kernel};
use crate::importers::{near, number};

async fn trades(kernel: &Kernel, more: Value) -> Value {
    let mut arguments = json!({"runId": RUN_A, "pageSize": 1000, "maxTokens": 200_000});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    call_tool(kernel, "list_trades", arguments).await.unwrap()
}

fn numbers(trades: &[&Value]) -> Vec<u64> {
    trades.iter().map(|trade| trade["number"].as_u64().unwrap()).collect()
}

/// What a filter says of a trade.
type Condition<'a> = &'a dyn Fn(&Value) -> bool;

#[tokio::test]
async fn thresholds_on_trades_select_what_a_scan_selects() {
    let kernel = kernel(REAL.clone());
    let all = trades(&kernel, json!({"indicators": true})).await;
    let all: Vec<&Value> = all["trades"].as_array().unwrap().iter().collect();
    assert!(all.len() > 30, "{}", all.len());
    let of = |trade: &Value, name: &str| trade[name].as_f64();
    let ema = |trade: &Value| trade["indicators"]["EMA_8"].as_f64();
    let hour = |trade: &Value| trade["opened"].as_str().unwrap()[11..13].parse::<u32>().unwrap();
    let cases: [(&str, Condition<'_>); 6] = [
        ("profit < -200", &|own| of(own, "profit").unwrap() < -200.0),
        ("mae <= -300 and profit > 0", &|own| {
            of(own, "mae").is_some_and(|mae| mae <= -300.0) && of(own, "profit").unwrap() > 0.0
        }),
        ("holdingSeconds > 7200 and holdingSeconds <= 86400", &|own| {
            of(own, "holdingSeconds").is_some_and(|held| held > 7200.0 && held <= 86400.0)
        }),
        ("indicators.EMA_8 > 1.1", &|own| ema(own).is_some_and(|value| value > 1.1)),
        ("direction = 'short' and not (securitySymbol in ('EURUSD'))", &|own| {
            own["direction"] == "short" && own["securitySymbol"] != "EURUSD"
        }),
        ("hour >= 12 or fills > 2", &|own| {
            hour(own) >= 12 || own["fills"].as_array().unwrap().len() > 2
        }),
    ];
    for (filter, wanted) in cases {
        let expected: Vec<&Value> = all.iter().copied().filter(|own| wanted(own)).collect();
        assert!(!expected.is_empty() && expected.len() < all.len(), "{filter} decides nothing");
        let found = trades(&kernel, json!({"where": filter})).await;
        let found: Vec<&Value> = found["trades"].as_array().unwrap().iter().collect();
        assert_eq!(numbers(&found), numbers(&expected), "{filter}");
    }
    let unknown = json!({"runId": RUN_A, "where": "profits > 1"});
    let error = call_tool(&kernel, "list_trades", unknown).await.unwrap_err();
    assert_eq!(error["message"], "`where`: a trade has no `profits`");
}

/// The last value of an indicator of a security in the log before an event.
fn indicator_before(events: &[Value], name: &str, symbol: &Value, seq: usize) -> Option<f64> {
    let of = |event: &&Value| {
        event["eventType"] == "IndicatorCalculation"
            && event["properties"]["IndicatorName"] == name
            && event["properties"]["SecuritySymbol"] == *symbol
    };
    events[..seq].iter().rev().find(of)?["properties"]["Value"].as_f64()
}

#[tokio::test]
async fn trades_are_grouped_by_the_indicator_at_entry() {
    let kernel = kernel(REAL.clone());
    let lines = data("ema_cross.jsonl.zst");
    let mut events: Vec<Value> = lines
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    events.sort_by(|a, b| a["timestamp"].as_str().cmp(&b["timestamp"].as_str()));
    let by = json!({"name": "EMA_8", "edges": [0.8, 1.2]});
    let grouped = trades(&kernel, json!({"groupByIndicator": by})).await;
    let all = trades(&kernel, json!({})).await;
    // Below 0.8 is AUDUSD, from 0.8 to 1.2 EURUSD, above GBPUSD.
    let mut expected = [(0_u64, 0.0, 0_u64); 3];
    for trade in all["trades"].as_array().unwrap() {
        let entry: usize = trade["fills"][0].as_str().unwrap()[1..].parse().unwrap();
        let value = indicator_before(&events, "EMA_8", &trade["securitySymbol"], entry).unwrap();
        let place = usize::from(value >= 0.8) + usize::from(value >= 1.2);
        let profit = number(&trade["profit"]);
        let (count, sum, wins) = expected[place];
        let is_win = trade["closed"].is_string() && profit > 0.0;
        expected[place] = (count + 1, sum + profit, wins + u64::from(is_win));
    }
    let groups = grouped["groups"].as_array().unwrap();
    let keys: Vec<&str> = groups.iter().map(|own| own["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["1: below 0.8", "2: 0.8 to below 1.2", "3: 1.2 or more"]);
    for (group, (count, profit, wins)) in groups.iter().zip(expected) {
        assert_eq!(group["trades"], count, "{group}");
        near(number(&group["profit"]), profit, 1e-6, "profit");
        let rate = number(&group["winRate"]);
        #[expect(clippy::cast_precision_loss, reason = "a few trades")]
        near(rate * count as f64, wins as f64, 1.0, "all but an open trade are closed");
    }
    // Quartiles by default: four groups of about equal size.
    let quartiles = trades(&kernel, json!({"groupByIndicator": {"name": "EMA_8"}})).await;
    assert_eq!(quartiles["groups"].as_array().unwrap().len(), 4, "{quartiles}");
    let none = json!({"runId": RUN_A, "groupByIndicator": {"name": "NOPE"}});
    let error = call_tool(&kernel, "list_trades", none).await.unwrap_err();
    assert_eq!(error["code"], "INVALID_PARAMETER");
}

#[tokio::test]
async fn performance_has_the_equity_of_the_log_and_the_trades_of_the_period() {
    let kernel = kernel(REAL.clone());
    let middle = "2017-05-10T00:00:00Z";
    let arguments = json!({"runId": RUN_A, "endTime": middle, "equityPoints": 2000});
    let reply = call_tool(&kernel, "get_performance", arguments).await.unwrap();
    let lines = data("ema_cross.jsonl.zst");
    let states = lines.split(|byte| *byte == b'\n').filter_map(|line| {
        let line: Value = serde_json::from_slice(line).ok()?;
        let after = &line["properties"]["StateAfter"];
        let value = after["RealizedPnL"].as_f64()? + after["UnrealizedPnL"].as_f64()?;
        Some((line["timestamp"].as_str()?.replace(".000Z", "Z"), value))
    });
    // Of several amounts at one time the last counts.
    let logged: std::collections::BTreeMap<String, f64> =
        states.filter(|(time, _)| time.as_str() <= middle).collect();
    let curve = reply["equity"].as_array().unwrap();
    assert!(curve.len() > 50, "{}", curve.len());
    let mut seen: std::collections::BTreeMap<&str, f64> = std::collections::BTreeMap::new();
    for point in curve {
        assert!(number(&point["drawdown"]) <= 0.0);
        seen.insert(point["time"].as_str().unwrap(), number(&point["value"]));
    }
    let mut compared = 0;
    for (time, value) in &seen {
        if let Some(expected) = logged.get(*time) {
            near(*value, *expected, 1e-6, time);
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
    let sampled = json!({"runId": RUN_A, "endTime": middle, "equityPoints": 30});
    let sampled = call_tool(&kernel, "get_performance", sampled).await.unwrap();
    assert!(sampled["equity"].as_array().unwrap().len() <= 34);
    assert_eq!(sampled["equity"][0], reply["equity"][0]);

    let all = trades(&kernel, json!({"outcome": "closed"})).await;
    let all = all["trades"].as_array().unwrap();
    let closed: Vec<f64> = all
        .iter()
        .filter(|own| own["closed"].as_str().unwrap() <= middle)
        .map(|own| number(&own["profit"]))
        .collect();
    let figures = &reply["trades"];
    assert_eq!(figures["closed"], closed.len());
    assert_eq!(figures["wins"], closed.iter().filter(|profit| **profit > 0.0).count());
    let gains: f64 = closed.iter().filter(|profit| **profit > 0.0).sum();
    let losses: f64 = closed.iter().filter(|profit| **profit < 0.0).sum();
    near(number(&figures["profitFactor"]), gains / -losses, 1e-9, "profit factor");
    assert!(closed.len() > 5 && closed.len() < all.len());
}

/// A store with the runs of a walk-forward analysis: fold, sample, fast, slow and Sharpe ratio.
fn folds(rows: &[(u32, &str, u32, f64)]) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    for (n, (fold, sample, fast, sharpe)) in (1..).zip(rows) {
        let returns = ReturnFigures { sharpe: Some(*sharpe), ..ReturnFigures::default() };
        let figures = CurrencyFigures { returns: Some(returns), ..CurrencyFigures::default() };
        let header =
            json!({"parameters": {"fast": fast}, "tags": {"fold": fold, "sample": sample}});
        let record = RunRecord {
            id: Guid::new(n),
            status: Status::Completed,
            header: serde_json::from_value(header).unwrap(),
            created_at: Timestamp::from_nanos(0),
            events: 1,
            span: None,
            summary: Some(RunSummary { currencies: vec![figures], ..RunSummary::default() }),
        };
        store.save(&record).unwrap();
    }
    store
}

#[tokio::test]
async fn walk_forward_pairs_the_best_in_sample_with_its_result_out_of_sample() {
    let rows = [
        (1, "in", 5, 2.0),
        (1, "in", 10, 1.0),
        (1, "out", 5, 0.4),
        (1, "out", 10, 0.9),
        (2, "train", 5, 0.5),
        (2, "train", 10, 1.5),
        (2, "test", 5, -1.0),
        (2, "test", 10, 1.1),
        // Ten sorts after two, and its choice was not run out of sample.
        (10, "in", 20, 3.0),
        (10, "out", 10, 0.2),
    ];
    let kernel = kernel(folds(&rows));
    let reply = call_tool(&kernel, "query_runs", json!({"walkForward": {}})).await.unwrap();
    let found = &reply["walkForward"];
    let row = |n: usize| {
        let own = &found["folds"][n];
        json!([
            own["fold"],
            own["parameters"]["fast"],
            own["inSample"]["value"],
            own["outOfSample"]["value"],
            own["outRank"],
            own["outTrials"],
            own["trials"]
        ])
    };
    assert_eq!(row(0), json!([1, 5, 2.0, 0.4, 2, 2, 2]));
    assert_eq!(row(1), json!([2, 10, 1.5, 1.1, 1, 2, 2]));
    assert_eq!(row(2), json!([10, 20, 3.0, null, null, 1, 1]));
    near(number(&found["meanInSample"]), 1.75, 1e-12, "mean of 2.0 and 1.5");
    near(number(&found["meanOutOfSample"]), 0.75, 1e-12, "mean of 0.4 and 1.1");
    near(number(&found["efficiency"]), 0.75 / 1.75, 1e-12, "efficiency");
    assert_eq!((&found["aboveMedian"], &found["withoutPartner"]), (&json!(1), &json!(1)));
    assert_eq!(reply["runs"], json!([]));
    let wrong = json!({"walkForward": {"fold": "no_such"}});
    let error = call_tool(&kernel, "query_runs", wrong).await.unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("`no_such`"), "{error}");
}
