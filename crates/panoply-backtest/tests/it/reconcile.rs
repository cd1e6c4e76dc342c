//! Reconciliation of runs of real engines.

use std::sync::Arc;

use panoply_backtest::run::RunHeader;
use panoply_backtest::store::Store;
use panoply_backtest::store::memory::MemoryStore;
use serde_json::{Value, json};

use crate::helpers::{OWN_RUN, REAL, RUN_A, RUN_B, call_tool, kernel, line, sealed};
use crate::importers::{golden, imported, near, number, truth};

async fn reconciliation(files: &[&[u8]]) -> Value {
    let (store, _) = imported(files, "TEST");
    let run = store.runs().unwrap()[0].id.to_string();
    call_tool(&kernel(store), "reconcile_run", json!({"runId": run})).await.unwrap()
}

fn balance<'a>(reconciliation: &'a Value, what: &str) -> &'a Value {
    let balances = reconciliation["balances"].as_array().unwrap();
    balances.iter().find(|one| one["what"] == what).unwrap_or(&Value::Null)
}

#[tokio::test]
async fn nautilus_run_reconciles_to_the_cent() {
    let reconciliation = reconciliation(&[&golden("nautilus.jsonl.zst")]).await;
    assert_eq!(reconciliation["agrees"], true, "{reconciliation}");
    assert_eq!(reconciliation["firstParting"], Value::Null);
    let truth = truth("nautilus");
    let reported = balance(&reconciliation, "balance");
    near(number(&reported["first"]), number(&truth["start"]), 0.0, "start");
    near(number(&reported["last"]), number(&truth["balance"]), 0.0, "balance");
    let earned = number(&truth["balance"]) - number(&truth["start"]);
    let by_fills = number(&reported["changeByFills"]);
    assert!((by_fills - earned).abs() < 0.25, "{by_fills} instead of {earned}");
    assert!(reported["compared"].as_u64().unwrap() > 40, "{reported}");
    assert_eq!(reported["onlyWhenFlat"], false, "the engine books by average cost");
    let fills: u64 = reconciliation["securities"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| own["fills"].as_u64().unwrap())
        .sum();
    assert_eq!(json!(fills), truth["fills"]);
}

#[tokio::test]
async fn two_currency_account_reconciles_per_currency() {
    let reconciliation = reconciliation(&[&golden("nautilus_two.jsonl.zst")]).await;
    assert_eq!(reconciliation["agrees"], true, "{reconciliation}");
    assert_eq!(reconciliation["metadata"]["currencies"], json!(["JPY", "USD"]));
    assert_eq!(reconciliation["metadata"]["notCompared"], json!([]));
    let balances = reconciliation["balances"].as_array().unwrap();
    for money in truth("nautilus_two")["money"].as_array().unwrap() {
        let own = |one: &&Value| one["what"] == "balance" && one["currency"] == money["currency"];
        let reported = balances.iter().find(own).unwrap();
        near(number(&reported["first"]), number(&money["start"]), 0.0, "start");
        near(number(&reported["last"]), number(&money["balance"]), 0.0, "balance");
        let earned = number(&money["balance"]) - number(&money["start"]);
        // Every fill is rounded to the currency's smallest unit: a cent, or a yen.
        let unit = if money["currency"] == "JPY" { 1.0 } else { 0.01 };
        let apart = (number(&reported["changeByFills"]) - earned).abs();
        assert!(apart < 25.0 * unit, "{reported}");
        assert!(reported["compared"].as_u64().unwrap() > 40, "{reported}");
        assert_eq!(reported["onlyWhenFlat"], false, "{reported}");
    }
    let securities = reconciliation["securities"].as_array().unwrap();
    let currencies: Vec<&Value> = securities.iter().map(|own| &own["currency"]).collect();
    assert_eq!(currencies, [&json!("USD"), &json!("JPY")]);
}

#[tokio::test]
async fn missing_yen_are_reported_in_yen() {
    let text = String::from_utf8(golden("nautilus_two.jsonl.zst")).unwrap();
    let mut states = 0;
    let lines = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        states += u32::from(line["type"] == "AccountState");
        if states > 30 && line["type"] == "AccountState" {
            let yen = number(&line["balances"][1]["total"]) - 5000.0;
            line["balances"][1]["total"] = format!("{yen}").into();
        }
        format!("{line}\n")
    });
    let reconciliation = reconciliation(&[lines.collect::<String>().as_bytes()]).await;
    let first = &reconciliation["firstParting"];
    assert_eq!((&first["what"], &first["currency"]), (&json!("balance"), &json!("JPY")), "{first}");
    let apart = number(&first["byFills"]) - number(&first["inLog"]);
    assert!((apart - 5000.0).abs() < 5.0, "{first}");
    let differing: u64 = reconciliation["balances"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["disagreements"].as_u64().unwrap())
        .sum();
    assert_eq!(differing, 1, "once, and only in yen: {reconciliation}");
}

#[tokio::test]
async fn amounts_without_currency_are_reported_as_not_compared() {
    let time = |n: u32| format!("2025-01-01T00:{n:02}:00.000Z");
    let fill = |n: u32, symbol: &str, side: &str, price: &str, more: &str| {
        let properties = format!(
            r#"{{"SecuritySymbol":"{symbol}","Direction":"{side}","Quantity":10,"Price":{price}{more}}}"#
        );
        line(OWN_RUN, n, &time(n), "TradeExecution", &properties, None)
    };
    let state = |n: u32, after: &str| {
        let properties = format!(r#"{{"StateType":"Account","StateAfter":{after}}}"#);
        line(OWN_RUN, n, &time(n), "StateChange", &properties, None)
    };
    let (usd, eur) =
        (r#","Currency":"USD""#, r#","Currency":"EUR","Commission":2,"CommissionCurrency":"USD""#);
    let ask_of = async |lines: Vec<String>| {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        sealed(Arc::clone(&store), RunHeader::default(), lines.join("\n").as_bytes());
        call_tool(&kernel(store), "reconcile_run", json!({"runId": OWN_RUN})).await.unwrap()
    };

    // 10 × (12 − 10) = 20 dollars, 10 × (7 − 5) = 20 euros, and 2 × 2 dollars of commission.
    let trades = |usd: &str| {
        vec![
            state(1, r#"{"Balances":{"USD":100,"EUR":200}}"#),
            fill(2, "A", "Buy", "10", usd),
            fill(3, "A", "Sell", "12", usd),
            fill(4, "B", "Buy", "5", eur),
            fill(5, "B", "Sell", "7", eur),
        ]
    };
    let mut reported = trades(usd);
    reported.push(state(6, r#"{"Balances":{"USD":116,"EUR":220}}"#));
    let reconciliation = ask_of(reported.clone()).await;
    assert_eq!(reconciliation["agrees"], true, "{reconciliation}");
    assert_eq!(reconciliation["balances"].as_array().unwrap().len(), 2, "{reconciliation}");

    // One amount without a currency, ambiguous between two.
    reported.push(state(7, r#"{"Equity":336}"#));
    let reconciliation = ask_of(reported).await;
    assert_eq!(reconciliation["balances"].as_array().unwrap().len(), 2, "{reconciliation}");
    let reason = reconciliation["metadata"]["notCompared"][0].as_str().unwrap();
    assert!(reason.starts_with("equity, because"), "{reason}");

    // Two fills without a currency, ambiguous between two.
    let mut untold = trades("");
    untold.push(state(6, r#"{"Balances":{"USD":116,"EUR":220}}"#));
    let reconciliation = ask_of(untold).await;
    assert_eq!(reconciliation["balances"], json!([]), "{reconciliation}");
    let reason = reconciliation["metadata"]["notCompared"][0].as_str().unwrap();
    assert!(reason.starts_with("money, because") && reason.contains("2 fills"), "{reason}");

    // With a single currency there is no ambiguity.
    let mut one = vec![state(1, r#"{"Balance":100,"Currency":"USD"}"#)];
    one.extend([fill(2, "A", "Buy", "10", ""), fill(3, "A", "Sell", "12", "")]);
    one.push(state(4, r#"{"Balance":120,"Currency":"USD"}"#));
    let reconciliation = ask_of(one).await;
    assert_eq!(reconciliation["balances"][0]["changeByFills"], 20.0, "{reconciliation}");
    assert_eq!(
        (&reconciliation["agrees"], &reconciliation["metadata"]["notCompared"]),
        (&json!(true), &json!([]))
    );
}

#[tokio::test]
async fn backtesting_py_run_reconciles_when_flat() {
    let reconciliation = reconciliation(&[&golden("trades.csv"), &golden("equity.csv")]).await;
    assert_eq!(reconciliation["agrees"], true, "{reconciliation}");
    let truth = truth("backtesting_py");
    let realized = number(&reconciliation["securities"][0]["realizedFromFills"]);
    assert!((realized - number(&truth["realized"])).abs() < 1e-6, "{realized}");
    let reported = balance(&reconciliation, "equity");
    assert!((number(&reported["last"]) - number(&truth["equityFinal"])).abs() < 1e-6, "{reported}");
    assert!(reported["compared"].as_u64().unwrap() > 1, "{reported}");
}

#[tokio::test]
async fn freqtrade_run_reconciles_with_its_wallet() {
    let reconciliation = reconciliation(&[&golden("freqtrade.zip")]).await;
    assert_eq!(reconciliation["agrees"], true, "{reconciliation}");
    let truth = &truth("freqtrade")["freqtrade"]["Sample"];
    let reported = balance(&reconciliation, "balance");
    near(number(&reported["last"]), number(&truth["balance"]), 0.0, "balance");
    assert!(
        (number(&reported["changeByFills"]) - number(&truth["profit"])).abs() < 1e-6,
        "{reported}"
    );
}

/// The lines of the nautilus run, modified.
fn changed(change: impl Fn(usize, Value) -> Option<Value>) -> Vec<u8> {
    let text = String::from_utf8(golden("nautilus.jsonl.zst")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let kept = lines.enumerate().filter_map(|(place, line)| change(place, line));
    kept.map(|line: Value| format!("{line}\n")).collect::<String>().into_bytes()
}

/// The index of the n-th line of a type.
fn nth(kind: &str, n: usize) -> (usize, Value) {
    let text = String::from_utf8(golden("nautilus.jsonl.zst")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.enumerate().filter(|(_, line)| line["type"] == kind).nth(n).unwrap()
}

#[tokio::test]
async fn lost_fill_is_the_first_discrepancy() {
    let (lost, fill) = nth("OrderFilled", 20);
    let reconciliation =
        reconciliation(&[&changed(|place, line| (place != lost).then_some(line))]).await;
    assert_eq!(reconciliation["agrees"], false);
    let first = &reconciliation["firstParting"];
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
async fn balance_change_without_a_fill_is_detected() {
    let (altered, state) = nth("AccountState", 40);
    let reconciliation = reconciliation(&[&changed(|place, mut line| {
        // A hundred dollars are missing from the account from here on.
        if place >= altered && line["type"] == "AccountState" {
            let total = number(&line["balances"][0]["total"]) - 100.0;
            line["balances"][0]["total"] = format!("{total:.2}").into();
        }
        Some(line)
    })])
    .await;
    assert_eq!(reconciliation["agrees"], false);
    let first = &reconciliation["firstParting"];
    assert_eq!(first["what"], "balance", "{first}");
    let nanos = state["ts_event"].as_i64().unwrap();
    let time = panoply_backtest::timestamp::Timestamp::from_nanos(nanos).with_millis();
    assert_eq!(first["timestamp"], time);
    let apart = number(&first["byFills"]) - number(&first["inLog"]);
    assert!((apart - 100.0).abs() < 0.05, "{first}");
    assert_eq!(
        balance(&reconciliation, "balance")["disagreements"],
        1,
        "told once, not ever after"
    );
}

#[tokio::test]
async fn wrong_engine_profit_is_detected() {
    let (altered, closed) = nth("PositionClosed", 5);
    let reconciliation = reconciliation(&[&changed(|place, mut line| {
        if place == altered {
            line["realized_pnl"] = "77.77 USD".into();
        }
        Some(line)
    })])
    .await;
    let first = &reconciliation["firstParting"];
    assert_eq!(first["what"], "realized", "{first}");
    let nanos = closed["ts_closed"].as_i64().unwrap();
    let time = panoply_backtest::timestamp::Timestamp::from_nanos(nanos).with_millis();
    assert_eq!(first["timestamp"], time);
}

#[tokio::test]
async fn sample_run_reconciles_with_the_engine_balance() {
    let kernel = kernel(REAL.clone());
    let reconciliation =
        call_tool(&kernel, "reconcile_run", json!({"runId": RUN_A})).await.unwrap();
    assert_eq!(reconciliation["agrees"], true, "{reconciliation}");
    // The engine's own totals: 139 fills, balance 1,000,000 to 988,156.90.
    let securities = reconciliation["securities"].as_array().unwrap();
    let fills: u64 = securities.iter().map(|own| own["fills"].as_u64().unwrap()).sum();
    assert_eq!(fills, 139);
    assert_eq!(balance(&reconciliation, "pnl")["last"], -11843.1);
    let one = json!({"runId": RUN_A, "securitySymbol": "eurusd"});
    let one = call_tool(&kernel, "reconcile_run", one).await.unwrap();
    assert_eq!(one["securities"].as_array().unwrap().len(), 1);
    assert_eq!(one["balances"], json!([]), "the account is of all securities");
    let none = json!({"runId": OWN_RUN});
    assert_eq!(
        call_tool(&kernel, "reconcile_run", none).await.unwrap_err()["code"],
        "RUN_NOT_FOUND"
    );
}

#[tokio::test]
async fn lot_matching_run_is_compared_when_flat() {
    let kernel = kernel(REAL.clone());
    let reconciliation =
        call_tool(&kernel, "reconcile_run", json!({"runId": RUN_B})).await.unwrap();
    assert_eq!(reconciliation["agrees"], true, "{reconciliation}");
    // backtesting.py: 94 trades, profit 608,155.78.
    let profit = number(&reconciliation["securities"][0]["realizedFromFills"]);
    near(profit, 608_155.78, 0.05, "profit");
    assert_eq!(reconciliation["securities"][0]["fills"], 188);
}

/// Books with fills and updates after a delay, linked or not; the updates of `lost` are left out.
fn delayed_book(delay_ms: u32, is_linked: bool, lost: &[u32]) -> String {
    let (mut lines, mut held) = (Vec::new(), 0_i64);
    for n in 1..=12_u32 {
        let (side, signed) = if n % 3 == 0 { ("Sell", -7) } else { ("Buy", 5) };
        held += signed;
        let at = |millis: u32| format!("2025-01-01T00:{n:02}:00.{millis:03}Z");
        let fill = format!(
            r#"{{"OrderId":"00000000-0000-4000-8000-0000000000aa","SecuritySymbol":"A","Direction":"{side}","Quantity":{},"Price":10}}"#,
            signed.abs()
        );
        let update = format!(r#"{{"SecuritySymbol":"A","Quantity":{held},"AveragePrice":10}}"#);
        lines.push(line(OWN_RUN, n * 2, &at(0), "TradeExecution", &fill, None));
        if !lost.contains(&n) {
            let parent = is_linked.then_some(n * 2);
            lines.push(line(OWN_RUN, n * 2 + 1, &at(delay_ms), "PositionUpdate", &update, parent));
        }
    }
    lines.join("\n")
}

#[tokio::test]
async fn lost_updates_are_found_and_delayed_ones_are_not() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let kernel = kernel(Arc::clone(&store));
    for delay in [0, 1, 750] {
        for is_linked in [true, false] {
            for lost in [&[][..], &[1], &[5], &[12], &[3, 4, 9]] {
                let run = panoply_backtest::event::Guid::named(
                    panoply_backtest::event::Guid::new(1),
                    &format!("{delay} {is_linked} {lost:?}"),
                );
                let text = delayed_book(delay, is_linked, lost).replace(OWN_RUN, &run.to_string());
                sealed(Arc::clone(&store), RunHeader::default(), text.as_bytes());
                let arguments = json!({"runId": run.to_string()});
                let found = call_tool(&kernel, "reconcile_run", arguments).await.unwrap();
                let security = &found["securities"][0];
                let about = format!("delay {delay}, linked {is_linked}, lost {lost:?}: {security}");
                assert_eq!(security["fillsWithoutUpdate"], lost.len(), "{about}");
                let first = lost.first().map(|n| format!("00000000-0000-4000-8000-{:012x}", n * 2));
                assert_eq!(
                    security["firstFillWithoutUpdate"].as_str(),
                    first.as_deref(),
                    "{about}"
                );
            }
        }
    }
}
