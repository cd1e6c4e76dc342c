//! `panoply backtest`: files of engines, and runs on one page.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::place::{Place, Said};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../panoply-backtest/tests/golden").join(name)
}

fn imported(said: &Said) -> (String, Value) {
    let json = said.json();
    (json["runId"].as_str().unwrap().to_owned(), json["report"].clone())
}

#[test]
fn file_format_is_detected() {
    let place = Place::new();
    let import = |files: &[&Path]| {
        let mut arguments = vec!["backtest", "import", "--json"];
        arguments.extend(files.iter().map(|file| file.to_str().unwrap()));
        place.run(&arguments)
    };
    let (trades, equity, freqtrade) =
        (golden("trades.csv"), golden("equity.csv"), golden("freqtrade.zip"));
    let (run, report) = imported(&import(&[&trades, &equity]));
    assert_eq!((&report["events"], &report["rejected"]), (&json!(142 * 6 + 240), &json!(0)));
    let (_, report) = imported(&import(&[&freqtrade]));
    assert_eq!(report["events"], json!(82 * 3 + 2));
    let again = import(&[&trades, &equity]);
    assert_eq!(again.status, Some(1), "the same files are the same run: {again:?}");
    assert!(again.err.contains("is completed"), "{}", again.err);
    // The sample's own lines, and back.
    let exported = place.path("lines.jsonl");
    place.run(&["backtest", "export", &run, "--out", exported.to_str().unwrap()]).good();
    place.run(&["backtest", "delete", &run]).good();
    let (native, report) = imported(&import(&[&exported]));
    assert_eq!((native, &report["events"]), (run, &json!(142 * 6 + 240)));
}

#[test]
fn files_without_currencies_get_those_of_the_command_line() {
    let place = Place::new();
    // Column 7203 is Toyota, not the number of a column.
    let orders = place.file(
        "orders.csv",
        ",Order Id,Column,Timestamp,Size,Price,Fees,Side\n\
         0,0,AAA,2024-01-01 00:00:00,5,100,1,Buy\n\
         1,1,7203,2024-01-01 01:00:00,10,2500,7,Buy\n\
         2,2,AAA,2024-01-01 02:00:00,5,110,1,Sell\n\
         3,3,7203,2024-01-01 03:00:00,10,2600,8,Sell\n",
    );
    let value = place.file(
        "value.csv",
        "Date,USD,JPY\n2024-01-01 00:00:00,1000,990000\n2024-01-01 03:00:00,1048,990985\n",
    );
    let import = |currencies: &[&str], file: &Path| {
        let mut arguments = vec!["backtest", "import", "--json", file.to_str().unwrap()];
        arguments.push(value.to_str().unwrap());
        arguments.extend(currencies.iter().flat_map(|own| ["--currency", *own]));
        place.run(&arguments)
    };
    let (run, report) = imported(&import(&["USD", "7203=JPY"], &orders));
    assert_eq!((&report["rejected"], &report["errors"]), (&json!(0), &json!(0)), "{report}");
    let asked = json!({"runId": run, "timestamp": "2024-01-02T00:00:00Z"}).to_string();
    let reply = place.run(&["call", "get_state_snapshot", &asked, "--json"]).json();
    let realized = |currency: &str| {
        let all = reply["state"]["pnl"]["byCurrency"].as_array().unwrap();
        all.iter().find(|own| own["currency"] == currency).unwrap()["realized"].as_f64()
    };
    // 5 * (110 - 100) - 2, and 10 * (2600 - 2500) - 15.
    assert_eq!((realized("USD"), realized("JPY")), (Some(48.0), Some(985.0)), "{reply}");
    let asked = json!({"runId": run, "currency": "JPY"}).to_string();
    let curve = place.run(&["call", "get_performance", &asked, "--json"]).json();
    assert_eq!(curve["end"], 990_985.0, "{curve}");
    for wrong in [&["=JPY"][..], &["USD", "EUR"], &["AAA="], &["A=USD", "A=EUR"]] {
        let refused = import(wrong, &orders);
        assert_eq!(refused.status, Some(2), "{wrong:?}: {refused:?}");
        assert!(refused.err.contains("is empty or given twice"), "{}", refused.err);
    }
    let native = place.file("native.jsonl", &log("11111111-1111-4111-8111-111111111111"));
    let refused = import(&["USD"], &native);
    assert_eq!(refused.status, Some(2), "{refused:?}");
    assert!(refused.err.contains("names its currencies itself"), "{}", refused.err);
}

/// A log of one event.
fn log(run: &str) -> String {
    format!(
        r#"{{"eventId":"{run}","runId":"{run}","timestamp":"2025-01-01T00:00:00.000Z","eventType":"RiskEvent","severity":"Info","category":"Risk","properties":{{"RiskType":"x"}},"parentEventId":null,"validationErrors":null}}"#
    )
}

#[test]
fn list_of_descriptions_gives_each_run_its_parameters() {
    let place = Place::new();
    let runs: Vec<String> =
        (1..4).map(|n| format!("1111111{n}-1111-4111-8111-111111111111")).collect();
    let logs: Vec<PathBuf> =
        runs.iter().map(|run| place.file(&format!("{run}.jsonl"), &log(run))).collect();
    let import = |descriptions: Value| {
        let file = place.file("runs.json", &descriptions.to_string());
        let mut arguments = vec!["backtest", "import", "--json", "--run", file.to_str().unwrap()];
        arguments.extend(logs.iter().map(|log| log.to_str().unwrap()));
        place.run(&arguments)
    };
    let one = |place: usize| json!({"runId": runs[place], "parameters": {"fast": place}});
    let refused = import(json!([one(0), {"parameters": {"fast": 1}}]));
    assert_eq!(refused.status, Some(2), "{refused:?}");
    assert!(refused.err.contains("description 2: `runId` is missing"), "{}", refused.err);
    let refused = import(json!([one(0), one(0)]));
    assert!(refused.err.contains("is described twice"), "{}", refused.err);
    // The third run has no description, and one description has no run.
    let stray = "99999999-9999-4999-8999-999999999999";
    let done = import(json!([one(1), one(0), {"runId": stray}]));
    assert_eq!(done.status, Some(0), "{done:?}");
    let notice = format!("run {stray} is described by --run, but no event names it");
    assert!(done.err.contains(&notice), "{}", done.err);
    let table = place.run(&["call", "query_runs", "--json"]).json();
    let parameters = |run: &String| {
        let rows = table["runs"].as_array().unwrap();
        rows.iter().find(|row| row["runId"] == *run).unwrap()["parameters"].clone()
    };
    let seen: Vec<Value> = runs.iter().map(parameters).collect();
    assert_eq!(seen, [json!({"fast": 0}), json!({"fast": 1}), json!({})]);
}

#[test]
fn import_shows_progress_only_on_a_terminal() {
    let place = Place::new();
    let file = golden("trades.csv");
    let import = ["backtest", "import", file.to_str().unwrap()];
    let seen = place.seen(&import);
    for expected in ["reading [", "sealing [====================] 100 %", "\r\u{1b}[K"] {
        assert!(seen.contains(expected), "{expected:?} is missing in {seen:?}");
    }
    let told = Place::new().run(&import);
    assert_eq!((told.status, told.err.contains('[')), (Some(0), false), "{told:?}");
}

#[test]
fn unknown_format_error_names_the_known_formats() {
    let place = Place::new();
    let file = place.file("odd.csv", "when,what\n1,2\n");
    let refused = place.run(&["backtest", "import", file.to_str().unwrap()]);
    assert_eq!(refused.status, Some(2), "{refused:?}");
    for expected in [
        "a table with the columns when,what",
        "native, nautilus, freqtrade, lean, backtesting-py, stocksharp",
        "--map",
    ] {
        assert!(refused.err.contains(expected), "{expected}: {}", refused.err);
    }
    place.file("map.json", r#"{"timestamp": {"column": "when", "unit": "s"}, "eventType": {"value": "RiskEvent"}, "properties": {"RiskType": "what"}}"#);
    let mapped = place.run(&["backtest", "import", "odd.csv", "--map", "map.json", "--json"]);
    assert_eq!(imported(&mapped).1["events"], 1, "{mapped:?}");
    place.file("map.json", r#"{"timestamp": "when"}"#);
    let wrong = place.run(&["backtest", "import", "odd.csv", "--map", "map.json"]);
    assert_eq!(wrong.status, Some(2));
    assert!(wrong.err.contains("missing field `eventType`"), "{}", wrong.err);
    let both =
        place.run(&["backtest", "import", "odd.csv", "--map", "map.json", "--format", "lean"]);
    assert_eq!(both.status, Some(2), "{both:?}");
}

#[test]
fn backtest_report_is_table_json_or_html() {
    let place = Place::new();
    let (trades, equity) = (golden("trades.csv"), golden("equity.csv"));
    let said = place.run(&[
        "backtest",
        "import",
        "--json",
        trades.to_str().unwrap(),
        equity.to_str().unwrap(),
    ]);
    let (run, _) = imported(&said);
    let figures = place.run(&["backtest", "report", &run, "--json"]).json();
    let truth: Value =
        serde_json::from_slice(&std::fs::read(golden("backtesting_py.truth.json")).unwrap())
            .unwrap();
    let fall = figures["maxDrawdownPercent"].as_f64().unwrap();
    assert!((fall - truth["maxDrawdownPercent"].as_f64().unwrap()).abs() < 1e-9, "{figures}");
    assert!(place.run(&["backtest", "report", &run]).good().contains("max drawdown"));
    place.run(&["backtest", "report", &run, "--html", "page.html"]).good();
    assert!(place.read("page.html").contains("<svg"));
    let sample = place.run(&["backtest", "report", "d91a7ddb-8986-54b3-8bd4-42d1dab9869e"]).good();
    assert!(sample.contains("-11300.10"), "realized and unrealized at the end: {sample}");
    let again = place.run(&["backtest", "report", &run, "--html", "page.html"]);
    assert_eq!(again.status, Some(2), "existing files are not overwritten: {again:?}");
}
