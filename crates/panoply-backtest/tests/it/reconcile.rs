//! Fills, positions and balance held against each other, on logs of real engines.

use serde_json::{Value, json};

use crate::helpers::{OWN_RUN, REAL, RUN_A, RUN_B, ask, kernel};
use crate::importers::{golden, imported, near, number, truth};

async fn books(files: &[&[u8]]) -> Value {
    let (store, _) = imported(files, "TEST");
    let run = store.runs().unwrap()[0].id.to_string();
    ask(&kernel(store), "reconcile_run", json!({"runId": run})).await.unwrap()
}

fn balance<'a>(books: &'a Value, what: &str) -> &'a Value {
    let balances = books["balances"].as_array().unwrap();
    balances.iter().find(|one| one["what"] == what).unwrap_or(&Value::Null)
}

#[tokio::test]
async fn the_books_of_nautilus_trader_agree_to_the_cent() {
    let books = books(&[&golden("nautilus.jsonl.zst")]).await;
    assert_eq!(books["agrees"], true, "{books}");
    assert_eq!(books["firstParting"], Value::Null);
    let truth = truth("nautilus");
    let told = balance(&books, "balance");
    near(number(&told["first"]), number(&truth["start"]), 0.0, "start");
    near(number(&told["last"]), number(&truth["balance"]), 0.0, "balance");
    let earned = number(&truth["balance"]) - number(&truth["start"]);
    let by_fills = number(&told["changeByFills"]);
    assert!((by_fills - earned).abs() < 0.25, "{by_fills} instead of {earned}");
    assert!(told["compared"].as_u64().unwrap() > 40, "{told}");
    assert_eq!(told["onlyWhenFlat"], false, "the engine books by average cost");
    let fills: u64 = books["securities"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| own["fills"].as_u64().unwrap())
        .sum();
    assert_eq!(json!(fills), truth["fills"]);
}

#[tokio::test]
async fn the_books_of_backtesting_py_agree_whenever_nothing_is_held() {
    let books = books(&[&golden("trades.csv"), &golden("equity.csv")]).await;
    assert_eq!(books["agrees"], true, "{books}");
    let truth = truth("backtesting_py");
    let realized = number(&books["securities"][0]["realizedFromFills"]);
    assert!((realized - number(&truth["realized"])).abs() < 1e-6, "{realized}");
    let told = balance(&books, "equity");
    assert!((number(&told["last"]) - number(&truth["equityFinal"])).abs() < 1e-6, "{told}");
    assert!(told["compared"].as_u64().unwrap() > 1, "{told}");
}

#[tokio::test]
async fn the_books_of_freqtrade_agree_with_its_wallet() {
    let books = books(&[&golden("freqtrade.zip")]).await;
    assert_eq!(books["agrees"], true, "{books}");
    let truth = &truth("freqtrade")["freqtrade"]["Sample"];
    let told = balance(&books, "balance");
    near(number(&told["last"]), number(&truth["balance"]), 0.0, "balance");
    assert!((number(&told["changeByFills"]) - number(&truth["profit"])).abs() < 1e-6, "{told}");
}

/// The lines of the nautilus run, changed.
fn changed(change: impl Fn(usize, Value) -> Option<Value>) -> Vec<u8> {
    let text = String::from_utf8(golden("nautilus.jsonl.zst")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let kept = lines.enumerate().filter_map(|(place, line)| change(place, line));
    kept.map(|line: Value| format!("{line}\n")).collect::<String>().into_bytes()
}

/// The place of the n-th line of a type.
fn nth(kind: &str, n: usize) -> (usize, Value) {
    let text = String::from_utf8(golden("nautilus.jsonl.zst")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.enumerate().filter(|(_, line)| line["type"] == kind).nth(n).unwrap()
}

#[tokio::test]
async fn a_fill_that_was_lost_is_where_fills_and_positions_part() {
    let (lost, fill) = nth("OrderFilled", 20);
    let books = books(&[&changed(|place, line| (place != lost).then_some(line))]).await;
    assert_eq!(books["agrees"], false);
    let first = &books["firstParting"];
    assert_eq!(first["what"], "quantity", "{first}");
    let symbol = fill["instrument_id"].as_str().unwrap().trim_end_matches(".SIM");
    assert_eq!(first["securitySymbol"], symbol);
    let nanos = fill["ts_event"].as_i64().unwrap();
    let time = panoply_backtest::timestamp::Timestamp::from_nanos(nanos).with_millis();
    assert_eq!(first["timestamp"], time);
    let quantity = number(&fill["last_qty"]);
    let apart = (number(&first["byFills"]) - number(&first["inLog"])).abs();
    assert!((apart - quantity).abs() < 1e-9, "{first}");
}

#[tokio::test]
async fn a_balance_that_moved_without_a_fill_is_found() {
    let (altered, state) = nth("AccountState", 40);
    let books = books(&[&changed(|place, mut line| {
        // A hundred dollars leave the account and stay away.
        if place >= altered && line["type"] == "AccountState" {
            let total = number(&line["balances"][0]["total"]) - 100.0;
            line["balances"][0]["total"] = format!("{total:.2}").into();
        }
        Some(line)
    })])
    .await;
    assert_eq!(books["agrees"], false);
    let first = &books["firstParting"];
    assert_eq!(first["what"], "balance", "{first}");
    let nanos = state["ts_event"].as_i64().unwrap();
    let time = panoply_backtest::timestamp::Timestamp::from_nanos(nanos).with_millis();
    assert_eq!(first["timestamp"], time);
    let apart = number(&first["byFills"]) - number(&first["inLog"]);
    assert!((apart - 100.0).abs() < 0.05, "{first}");
    assert_eq!(balance(&books, "balance")["disagreements"], 1, "told once, not ever after");
}

#[tokio::test]
async fn a_profit_that_the_engine_got_wrong_is_found() {
    let (altered, closed) = nth("PositionClosed", 5);
    let books = books(&[&changed(|place, mut line| {
        if place == altered {
            line["realized_pnl"] = "77.77 USD".into();
        }
        Some(line)
    })])
    .await;
    let first = &books["firstParting"];
    assert_eq!(first["what"], "realized", "{first}");
    let nanos = closed["ts_closed"].as_i64().unwrap();
    let time = panoply_backtest::timestamp::Timestamp::from_nanos(nanos).with_millis();
    assert_eq!(first["timestamp"], time);
}

#[tokio::test]
async fn the_sample_has_the_engines_fills_and_its_change_of_balance() {
    let kernel = kernel(REAL.clone());
    let books = ask(&kernel, "reconcile_run", json!({"runId": RUN_A})).await.unwrap();
    assert_eq!(books["agrees"], true, "{books}");
    // The engine's truth: 139 fills, balance 1,000,000 to 988,156.90.
    let securities = books["securities"].as_array().unwrap();
    let fills: u64 = securities.iter().map(|own| own["fills"].as_u64().unwrap()).sum();
    assert_eq!(fills, 139);
    assert_eq!(balance(&books, "pnl")["last"], -11843.1);
    let one = json!({"runId": RUN_A, "securitySymbol": "eurusd"});
    let one = ask(&kernel, "reconcile_run", one).await.unwrap();
    assert_eq!(one["securities"].as_array().unwrap().len(), 1);
    assert_eq!(one["balances"], json!([]), "the account is of all securities");
    let none = json!({"runId": OWN_RUN});
    assert_eq!(ask(&kernel, "reconcile_run", none).await.unwrap_err()["code"], "RUN_NOT_FOUND");
}

#[tokio::test]
async fn a_run_of_lots_is_compared_when_nothing_is_held() {
    let kernel = kernel(REAL.clone());
    let books = ask(&kernel, "reconcile_run", json!({"runId": RUN_B})).await.unwrap();
    assert_eq!(books["agrees"], true, "{books}");
    // backtesting.py: 94 trades, profit 608,155.78.
    let profit = number(&books["securities"][0]["realizedFromFills"]);
    near(profit, 608_155.78, 0.05, "profit");
    assert_eq!(books["securities"][0]["fills"], 188);
}
