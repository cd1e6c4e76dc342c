//! Importers on the engines' own files, compared with the engines' own results.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use panoply_backtest::event::Guid;
use panoply_backtest::import::format::Format;
use panoply_backtest::import::mapped::Mapping;
use panoply_backtest::import::{ImportControl, SourceFormat, read};
use panoply_backtest::ingest::SealReport;
use panoply_backtest::run::RunHeader;
use panoply_backtest::store::Store;
use panoply_backtest::store::memory::MemoryStore;
use panoply_contract::kernel::Kernel;
use serde_json::{Value, json};

use crate::helpers::{OWN_RUN, call_tool, import, kernel};

/// Imports files in their detected format.
pub(crate) fn imported(files: &[&[u8]], symbol: &str) -> (Arc<dyn Store>, Vec<(Guid, SealReport)>) {
    let readings = files.iter().map(|file| SourceFormat::Known(Format::detect(file).unwrap()));
    imported_as(files, &readings.collect::<Vec<_>>(), symbol)
}

fn imported_as(
    files: &[&[u8]],
    readings: &[SourceFormat<'_>],
    symbol: &str,
) -> (Arc<dyn Store>, Vec<(Guid, SealReport)>) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let run = Guid::parse(OWN_RUN).unwrap();
    let mut own = import(Arc::clone(&store), None, RunHeader::default());
    for (file, reading) in files.iter().zip(readings) {
        let mut watch = ImportControl { progress: &mut |_| {}, stop: &|| false };
        read(*file, reading, run, symbol, &mut own, &mut watch).unwrap();
    }
    let reports = own.seal(&mut |_, _| {}, &|| false).unwrap();
    (store, reports)
}

pub(crate) fn golden(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let bytes = std::fs::read(path).unwrap();
    if name.ends_with(".zst") { zstd::decode_all(bytes.as_slice()).unwrap() } else { bytes }
}

pub(crate) fn truth(name: &str) -> Value {
    serde_json::from_slice(&golden(&format!("{name}.truth.json"))).unwrap()
}

/// A number, or a text that contains one.
pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap())
}

pub(crate) fn near(seen: f64, expected: f64, tolerance: f64, about: &str) {
    assert!((seen - expected).abs() <= tolerance, "{about}: {seen} instead of {expected}");
}

async fn state(kernel: &Kernel, timestamp: &str, symbol: Option<&str>) -> Value {
    let mut arguments = json!({"runId": OWN_RUN, "timestamp": timestamp});
    if let Some(symbol) = symbol {
        arguments["securitySymbol"] = symbol.into();
    }
    call_tool(kernel, "get_state_snapshot", arguments).await.unwrap()["state"].clone()
}

async fn total(kernel: &Kernel, run: &str, kind: &str) -> u64 {
    let arguments = json!({"runId": run, "eventType": kind, "pageSize": 1});
    let page = call_tool(kernel, "get_events_by_type", arguments).await.unwrap();
    page["metadata"]["totalCount"].as_u64().unwrap()
}

async fn statuses(kernel: &Kernel) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    let mut page = 0;
    loop {
        let arguments = json!({"runId": OWN_RUN, "eventType": "StateChange", "pageSize": 200, "pageIndex": page, "fields": ["OrderStatus"]});
        let reply = call_tool(kernel, "get_events_by_type", arguments).await.unwrap();
        for event in reply["events"].as_array().unwrap() {
            if let Some(status) = event["properties"]["OrderStatus"].as_str() {
                *found.entry(status.to_owned()).or_default() += 1;
            }
        }
        if reply["metadata"]["hasMore"] == false {
            return found;
        }
        page += 1;
    }
}

/// Imports a nautilus_trader run and compares order counts, positions and open orders at several
/// timestamps with the engine's own.
async fn as_nautilus_says(name: &str) -> (Arc<Kernel>, Value) {
    let (store, reports) = imported(&[&golden(&format!("{name}.jsonl.zst"))], "");
    let report = &reports[0].1;
    assert_eq!((report.rejected, report.errors, report.warnings), (0, 0, 0), "{report:?}");
    let (kernel, truth) = (kernel(store), truth(name));
    let statuses = statuses(&kernel).await;
    assert_eq!(json!(statuses["Placed"]), truth["orders"]);
    assert_eq!(json!(statuses["Cancelled"]), truth["cancelled"]);
    assert_eq!(json!(statuses["Expired"]), truth["expired"]);
    assert_eq!(json!(total(&kernel, OWN_RUN, "TradeExecution").await), truth["fills"]);
    assert_eq!(json!(total(&kernel, OWN_RUN, "OrderRejection").await), truth["rejected"]);
    for timestamp in truth["moments"].as_array().unwrap() {
        let (time, symbol) =
            (timestamp["time"].as_str().unwrap(), timestamp["symbol"].as_str().unwrap());
        let state = state(&kernel, time, Some(symbol)).await;
        let held = state["positions"][0]["quantity"].as_f64().unwrap_or(0.0);
        near(held, number(&timestamp["quantity"]), 0.0, &format!("{symbol} at {time}"));
        let open: Vec<String> = timestamp["openOrders"]
            .as_array()
            .unwrap()
            .iter()
            .map(|id| {
                Guid::named(
                    Guid::parse(OWN_RUN).unwrap(),
                    &format!("order {}", id.as_str().unwrap()),
                )
                .to_string()
            })
            .collect();
        let shown: Vec<&str> = state["activeOrders"]
            .as_array()
            .unwrap()
            .iter()
            .map(|order| order["orderId"].as_str().unwrap())
            .collect();
        assert_eq!(shown, open, "{symbol} at {time}");
    }
    (kernel, truth)
}

#[tokio::test]
async fn nautilus_two_currency_run_matches_engine_commissions_and_profit() {
    let (kernel, truth) = as_nautilus_says("nautilus_two").await;
    let fees = json!({"runId": OWN_RUN, "eventType": "TradeExecution", "propertyPath": "$.Commission", "aggregations": ["sum"], "groupBy": "SecuritySymbol"});
    let fees = call_tool(&kernel, "aggregate_metrics", fees).await.unwrap();
    for (symbol, money) in ["EUR/USD", "USD/JPY"].iter().zip(truth["money"].as_array().unwrap()) {
        let groups = fees["groups"].as_array().unwrap();
        let own = groups.iter().find(|group| group["key"] == *symbol).unwrap();
        near(number(&own["sum"]), number(&money["commissions"]), 1e-9, symbol);
        let end = state(&kernel, "2024-02-01T00:00:00Z", Some(symbol)).await;
        let earned = number(&money["balance"]) - number(&money["start"]);
        near(number(&end["pnl"]["realized"]), earned, 0.005, symbol);
    }
}

#[tokio::test]
async fn nautilus_run_matches_engine_orders_positions_and_balance() {
    let (kernel, truth) = as_nautilus_says("nautilus").await;
    let commission = json!({"runId": OWN_RUN, "eventType": "TradeExecution", "propertyPath": "$.Commission", "aggregations": ["sum"]});
    let commission = call_tool(&kernel, "aggregate_metrics", commission).await.unwrap();
    near(
        number(&commission["aggregations"]["sum"]),
        number(&truth["commissions"]),
        1e-9,
        "commissions",
    );
    let end = state(&kernel, "2024-02-01T00:00:00Z", None).await;
    let earned = number(&truth["balance"]) - number(&truth["start"]);
    near(number(&end["pnl"]["realized"]), earned, 0.005, "what was earned");
}

#[tokio::test]
async fn nautilus_json_array_imports_like_jsonl() {
    let lines = String::from_utf8(golden("nautilus.jsonl.zst")).unwrap();
    let array = format!(" [\n{}]", lines.trim_end().replace('\n', ",\n"));
    let (_, of_lines) = imported(&[lines.as_bytes()], "");
    let (_, of_array) = imported(&[array.as_bytes()], "");
    assert_eq!(of_lines[0].1.events, of_array[0].1.events);
}

#[tokio::test]
async fn backtesting_py_run_matches_engine_positions_and_profit() {
    let (store, reports) = imported(&[&golden("trades.csv"), &golden("equity.csv")], "TEST");
    let truth = truth("backtesting_py");
    let report = &reports[0].1;
    assert_eq!((report.rejected, report.errors), (0, 0), "{report:?}");
    let kernel = kernel(store);
    let trades = truth["trades"].as_u64().unwrap();
    assert_eq!(total(&kernel, OWN_RUN, "TradeExecution").await, 2 * trades);
    for timestamp in truth["moments"].as_array().unwrap() {
        let time = format!("{}Z", timestamp["time"].as_str().unwrap());
        let state = state(&kernel, &time, None).await;
        let held = &state["positions"][0];
        near(number(&held["quantity"]), number(&timestamp["quantity"]), 1e-9, &time);
        near(number(&held["realizedPnL"]), number(&timestamp["realized"]), 1e-6, &time);
        assert_eq!(state["activeOrders"], json!([]), "{time}");
    }
    let pattern = json!({"runId": OWN_RUN, "sequencePattern": ["OrderPlaced", "TradeExecution", "PositionUpdate"], "pageSize": 1});
    let chains = call_tool(&kernel, "query_event_sequence", pattern).await.unwrap();
    assert_eq!(chains["metadata"]["totalSequences"], json!(2 * trades));
}

/// Positions and account value of an engine whose files have fills and the value of the account.
async fn matches_positions_and_value(engine: &str, files: [&str; 2], warnings: u64) {
    let files = files.map(golden);
    let (store, reports) = imported(&[&files[0], &files[1]], "TEST");
    let truth = truth(engine);
    let report = &reports[0].1;
    assert_eq!((report.rejected, report.errors, report.warnings), (0, 0, warnings), "{report:?}");
    let kernel = kernel(store);
    assert_eq!(json!(total(&kernel, OWN_RUN, "TradeExecution").await), truth["fills"]);
    let moments = truth["moments"].as_array().unwrap();
    assert!(moments.len() >= 50);
    let arguments = json!({"runId": OWN_RUN, "equityPoints": 2000});
    let performance = call_tool(&kernel, "get_performance", arguments).await.unwrap();
    let curve = performance["equity"].as_array().unwrap();
    for moment in moments {
        let time = moment["time"].as_str().unwrap();
        let state = state(&kernel, time, None).await;
        for (symbol, quantity) in moment["positions"].as_object().unwrap() {
            let mut held = state["positions"].as_array().unwrap().iter();
            let held = held.find(|own| own["securitySymbol"] == symbol.as_str());
            near(held.map_or(0.0, |own| number(&own["quantity"])), number(quantity), 1e-9, time);
        }
        let point = curve.iter().find(|point| point["time"] == time);
        near(number(&point.unwrap()["value"]), number(&moment["equity"]), 1e-6, time);
    }
    near(number(&performance["end"]), number(&truth["equityFinal"]), 1e-6, "end");
}

#[tokio::test]
async fn backtrader_run_matches_engine_positions_and_account_value() {
    // Its transactions have no commissions, and each fill says so.
    let files = ["backtrader_transactions.csv", "backtrader_writer.csv"];
    matches_positions_and_value("backtrader", files, 40).await;
}

#[tokio::test]
async fn vectorbt_run_matches_engine_positions_and_account_value() {
    let files = ["vectorbt_orders.csv", "vectorbt_value.csv"];
    matches_positions_and_value("vectorbt", files, 0).await;
}

#[tokio::test]
async fn unreadable_trades_are_reported_with_line_numbers() {
    let trades = b"\
,Size,EntryBar,ExitBar,EntryPrice,ExitPrice,SL,TP,PnL,Commission,ReturnPct,EntryTime,ExitTime,Duration,Tag
0,-590,64,70,169.02,184.7,,,-9456.6,205.4,-0.09,2004-11-17 00:00:00,2004-11-26 00:00:00,9 days,
1,490,70,nonsense,184.7,190.0,,,2597.0,0,0.03,2004-11-26 00:00:00,2004-12-10 00:00:00,14 days,
2,1,70,71,x,190.0,,,1,0,0.03,2004-11-26 00:00:00,2004-12-10 00:00:00,14 days,
";
    let (store, reports) = imported(&[trades], "GOOG");
    let report = &reports[0].1;
    assert_eq!((report.events, report.errors, report.rejected), (12, 0, 1));
    assert_eq!(report.rejected_lines[0].line, 4);
    assert!(report.rejected_lines[0].reason.contains("`EntryPrice` is `x`"), "{report:?}");
    let held = state(&kernel(store), "2004-11-26T00:00:00Z", None).await;
    assert_eq!(held["positions"][0]["quantity"], 490, "closed before the next was opened");
    assert_eq!(held["positions"][0]["realizedPnL"], -9456.6);
}

#[tokio::test]
async fn freqtrade_strategies_become_runs_with_engine_totals() {
    for name in ["freqtrade", "freqtrade_two"] {
        let (store, reports) = imported(&[&golden(&format!("{name}.zip"))], "");
        let truth = truth("freqtrade")[name].clone();
        assert_eq!(reports.len(), truth.as_object().unwrap().len(), "{name}");
        let kernel = kernel(Arc::clone(&store));
        for record in store.runs().unwrap() {
            let truth = &truth[record.header.strategy_name.as_deref().unwrap()];
            let run = record.id.to_string();
            let fills = total(&kernel, &run, "TradeExecution").await;
            assert_eq!(json!(fills), truth["orders"], "{name}");
            let end = json!({"runId": run, "timestamp": "2024-02-01T00:00:00Z"});
            let end = call_tool(&kernel, "get_state_snapshot", end).await.unwrap();
            near(number(&end["state"]["pnl"]["realized"]), number(&truth["profit"]), 1e-9, name);
            let held = end["state"]["positions"].as_array().unwrap();
            let pairs: Value = held.iter().map(|held| held["securitySymbol"].clone()).collect();
            assert_eq!(pairs, truth["pairs"]);
            assert!(held.iter().all(|held| number(&held["quantity"]).abs() < 1e-9), "{held:?}");
            let last = json!({"runId": run, "eventType": "StateChange", "pageSize": 1, "pageIndex": fills + 1, "fields": ["StateAfter"]});
            let last = call_tool(&kernel, "get_events_by_type", last).await.unwrap();
            let balance = &last["events"][0]["properties"]["StateAfter"]["Balance"];
            near(number(balance), number(&truth["balance"]), 0.0, "final balance");
        }
    }
}

#[tokio::test]
async fn freqtrade_trade_without_orders_yields_one_entry_and_one_exit() {
    // As written by freqtrade 2021, with its tag name.
    let result = br#"{"strategy":{"Old":{"trades":[
      {"pair":"TRX/BTC","amount":10.37344398340249,"open_date":"2018-01-10 07:15:00+00:00","close_date":"2018-01-10 07:20:00+00:00","open_rate":9.64e-05,"close_rate":0.00010074887218045112,"fee_open":0.0025,"fee_close":0.0025,"profit_abs":4.348872180451118e-06,"exit_reason":"roi","is_open":false,"buy_tag":"dip","open_timestamp":1515568500000.0,"close_timestamp":1515568800000.0},
      {"pair":"ADA/BTC","amount":5,"open_rate":4.7e-05,"open_timestamp":1515568500000.0,"is_open":true,"fee_open":0.0025},
      {"pair":"ADA/BTC","is_open":false}
    ]}}}"#;
    let (store, reports) = imported(&[result], "");
    let report = &reports[0].1;
    assert_eq!((report.events, report.rejected), (9, 1), "{report:?}");
    assert!(
        report.rejected_lines[0].reason.contains("trade 3: there is no `profit_abs`"),
        "{report:?}"
    );
    let kernel = kernel(store);
    let state = state(&kernel, "2018-01-10T08:00:00Z", None).await;
    assert_eq!(state["positions"][0]["quantity"], 5, "{state}");
    near(number(&state["positions"][1]["realizedPnL"]), 4.348872180451118e-06, 0.0, "profit");
}

#[tokio::test]
async fn freqtrade_fill_without_a_fee_rate_is_flagged() {
    let result = br#"{"strategy":{"Old":{"trades":[
      {"pair":"ADA/BTC","amount":5,"open_rate":4.7e-05,"open_timestamp":1515568500000.0,"is_open":true}
    ]}}}"#;
    let (store, reports) = imported(&[result], "");
    assert_eq!(reports[0].1.warnings, 1, "{:?}", reports[0].1);
    let flagged =
        call_tool(&kernel(store), "get_validation_errors", json!({"runId": OWN_RUN})).await;
    let flagged = flagged.unwrap().to_string();
    assert!(flagged.contains("The source has no fee rate"), "{flagged}");
}

#[tokio::test]
async fn lean_order_events_import_in_both_spellings() {
    // Member names of LEAN's serialized order event class, old and new.
    let events = br#"[
      {"id":"a-1-1","algorithm-id":"a","order-id": 1, "order-event-id": 1, "symbol":"SPY R735QTJ8XC9X","symbol-value": "SPY", "status": "submitted", "quantity": 10, "fill-price":0.0,"fill-quantity":0.0,"direction":"buy","is-assignment":false, "time": 1381152600.5},
      {"order-id": 1, "symbol-value": "SPY", "status": "partiallyFilled", "fill-price": 144.5, "fill-quantity": 4, "order-fee-amount": 1, "order-fee-currency":"USD", "time": 1381152660},
      {"order-id": 1, "symbol-value": "SPY", "status": "filled", "fill-price": 145.5, "fill-quantity": 6, "order-fee-amount": 1, "time": 1381152720},
      {"orderId": 2, "symbolValue": "SPY", "status": "submitted", "quantity": -4, "limitPrice": 150.0, "time": 1381239060.0},
      {"orderId": 2, "symbolValue": "SPY", "status": "cancelPending", "quantity": -4, "time": 1381239110.0},
      {"orderId": 2, "symbolValue": "SPY", "status": "canceled", "quantity": -4, "time": 1381239120.0},
      {"orderId": 3, "symbolValue": "SPY", "status": "invalid", "message": "Insufficient buying power", "quantity": 100000, "time": 1381239180.0},
      {"orderId": 4, "symbolValue": "SPY", "status": "submitted", "quantity": -10, "stopPrice": 140.0, "time": 1381239240.0},
      {"orderId": 4, "symbolValue": "SPY", "status": "filled", "fillPrice": 140.0, "fillQuantity": -10.0, "orderFeeAmount": 1.0, "time": 1381242840.0},
      {"orderId": 5, "symbolValue": "SPY", "status": "Dreaming", "time": 1381242841.0},
      {"orderId": 6, "status": "Filled"}
    ]"#;
    let (store, reports) = imported(&[events], "");
    let report = &reports[0].1;
    assert_eq!((report.events, report.errors, report.rejected), (12, 0, 2), "{report:?}");
    let kernel = kernel(store);
    let first = json!({"runId": OWN_RUN, "entityType": "OrderId", "entityValue": "1"});
    let first = call_tool(&kernel, "get_events_by_entity", first).await.unwrap();
    assert_eq!(first["metadata"]["totalCount"], 3, "found by the engine's own id");
    assert_eq!(first["events"][0]["timestamp"], "2013-10-07T13:30:00.500Z");
    // By hand: (4 × 144.5 + 6 × 145.5) / 10 = 145.1; 10 × (140 − 145.1) − 3 = −54.
    let filled = state(&kernel, "2013-10-08T13:31:00Z", None).await;
    assert_eq!(filled["positions"][0]["averagePrice"], 145.1);
    assert_eq!(filled["activeOrders"][0]["price"], 150.0, "{filled}");
    let end = state(&kernel, "2014-01-01T00:00:00Z", None).await;
    assert_eq!(end["activeOrders"], json!([]));
    assert_eq!(end["positions"][0]["quantity"], 0);
    assert_eq!(end["positions"][0]["realizedPnL"], -54);
}

#[tokio::test]
async fn stocksharp_debug_lines_import() {
    // The four record types of the project's documentation.
    let lines = br#"{"type":"candle","data":{"time":1729555200000,"open":50000,"high":50100,"low":49950,"close":50050,"volume":1250.5,"sequenceNumber":1,"securityId":"BTCUSDT@BINANCE"}}
{"type":"indicator_SMA_20","data":{"time":1729555200000,"value":49980.5,"sequenceNumber":2}}
{"type":"trade","data":{"time":1729555200000,"price":50050,"volume":0.01,"side":"buy","pnL":0,"sequenceNumber":3,"orderId":12345}}
{"type":"state","data":{"time":1729555200000,"position":0.01,"pnL":50,"unrealizedPnL":20.5,"processState":"Started","sequenceNumber":4}}
{"type":"trade","data":{"time":1729555260,"price":50050,"volume":0.01,"side":"hold"}}
{"type":"party","data":{"time":1729555260}}
"#;
    let (store, reports) = imported(&[lines], "?");
    let report = &reports[0].1;
    assert_eq!((report.events, report.errors, report.rejected), (5, 0, 2), "{report:?}");
    let kernel = kernel(store);
    let state = state(&kernel, "2024-10-22T00:00:00Z", None).await;
    assert_eq!(state["positions"][0]["securitySymbol"], "BTCUSDT@BINANCE");
    assert_eq!(state["positions"][0]["quantity"], 0.01);
    assert_eq!(state["indicators"][0]["name"], "SMA_20");
    assert_eq!(state["pnl"], json!({"total": 50.0, "realized": 29.5, "unrealized": 20.5}));
    let order = json!({"runId": OWN_RUN, "entityType": "OrderId", "entityValue": "12345"});
    let order = call_tool(&kernel, "get_events_by_entity", order).await.unwrap();
    assert_eq!(order["metadata"]["totalCount"], 1);
}

const MAPPING: &str = r#"{
  "timestamp": {"column": "when", "unit": "ms"},
  "eventType": {"column": "kind", "values": {"fill": "TradeExecution", "new": "OrderPlaced"}},
  "eventId": "nr", "parentEventId": "cause", "severity": {"value": "Warning"},
  "properties": {
    "OrderId": "order.no", "SecuritySymbol": "ticker", "Quantity": "size", "Price": "px",
    "Direction": {"column": "side", "values": {"B": "Buy", "S": "Sell"}}
  }
}"#;

#[tokio::test]
async fn mapped_csv_and_jsonl_import() {
    let csv = "when,kind,nr,cause,order.no,ticker,size,px,side,note\n\
        1729555200000,new,1,,A-1,0700,100,12.50,B,\"a, b\"\n\
        1729555260000,fill,2,1,A-1,0700,100,12.50,B,\n\
        yesterday,fill,3,,A-2,0700,1,1,S,\n\
        1729555261000,dance,4,,A-2,0700,1,1,S,\n";
    let jsonl = r#"{"when":1729555200000,"kind":"new","nr":1,"order":{"no":"A-1"},"ticker":"0700","size":100,"px":12.50,"side":"B"}
{"when":1729555260000,"kind":"fill","nr":2,"cause":1,"order":{"no":"A-1"},"ticker":"0700","size":100,"px":12.50,"side":"B"}
{"when":"yesterday","kind":"fill","nr":3}
{"when":1729555261000,"kind":"dance","nr":4}
"#;
    let mapping = Mapping::parse(MAPPING).unwrap();
    for (text, reading) in
        [(csv, SourceFormat::MappedCsv(&mapping)), (jsonl, SourceFormat::MappedJsonl(&mapping))]
    {
        let (store, reports) = imported_as(&[text.as_bytes()], &[reading], "");
        let report = &reports[0].1;
        assert_eq!((report.events, report.errors, report.warnings), (2, 0, 0), "{report:?}");
        let reasons: Vec<&str> =
            report.rejected_lines.iter().map(|line| line.reason.as_str()).collect();
        assert_eq!(reasons.len(), 2);
        assert!(reasons[0].contains("`when` is `yesterday`, not a time"), "{reasons:?}");
        assert!(reasons[1].contains("`dance` is not an event type"), "{reasons:?}");
        let kernel = kernel(store);
        let events_of_order =
            json!({"runId": OWN_RUN, "entityType": "OrderId", "entityValue": "A-1"});
        let events_of_order =
            call_tool(&kernel, "get_events_by_entity", events_of_order).await.unwrap();
        let events = events_of_order["events"].as_array().unwrap();
        assert_eq!(events.len(), 2);
        assert_eq!(events[1]["parentEventId"], events[0]["eventId"]);
        assert_eq!(events[1]["severity"], "Warning");
        assert_eq!(events[1]["properties"]["SecuritySymbol"], "0700", "a name stays a text");
        assert_eq!(events[1]["properties"]["Price"], 12.5);
        assert_eq!(events[0]["properties"]["OrderStatus"], "Placed");
    }
}

#[test]
fn invalid_mapping_names_the_faulty_field() {
    for (mapping, expected) in [
        (r#"{"timestamp": "t"}"#, "missing field `eventType`"),
        (r#"{"timestamp": "t", "eventType": "k", "colour": "c"}"#, "unknown field `colour`"),
        (
            r#"{"timestamp": {"unit": "ms"}, "eventType": "k"}"#,
            "name either a `column` or a fixed `value`",
        ),
        (
            r#"{"timestamp": {"column": "t", "unit": "weeks"}, "eventType": "k"}"#,
            "unknown variant `weeks`",
        ),
        (r#"{"timestamp": 7, "eventType": "k"}"#, "expected the name of a column"),
    ] {
        let error = Mapping::parse(mapping).unwrap_err();
        assert!(error.contains(expected), "{mapping}: {error}");
    }
}

#[tokio::test]
async fn truncated_file_loses_only_its_last_line() {
    let whole = golden("nautilus.jsonl.zst");
    let cut = &whole[..whole.len() - 40];
    let (_, reports) = imported(&[cut], "");
    let report = &reports[0].1;
    assert_eq!(report.rejected, 1);
    assert!(report.rejected_lines[0].reason.contains("ends in the middle"), "{report:?}");
    let (store, reports) = imported(&[br#"[{"orderId":1,"status":"filled""#], "");
    assert!(reports.is_empty() && store.runs().unwrap().is_empty(), "no event, no run");
}
