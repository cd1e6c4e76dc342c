//! Files of engines, as they write them.

use std::sync::Arc;

use panoply_backtest::event::Guid;
use panoply_backtest::import::{backtesting_py, lean};
use panoply_backtest::run::RunHeader;
use panoply_backtest::store::Store;
use panoply_backtest::store::memory::MemoryStore;
use serde_json::json;

use crate::helpers::{OWN_RUN, ask, import, kernel};

#[tokio::test]
async fn trades_of_backtesting_py_become_orders_fills_and_positions() {
    let trades = "\
,Size,EntryBar,ExitBar,EntryPrice,ExitPrice,SL,TP,PnL,Commission,ReturnPct,EntryTime,ExitTime,Duration,Tag
0,-590,64,70,169.02,184.7,,,-9456.6,205.4,-0.09,2004-11-17 00:00:00,2004-11-26 00:00:00,9 days,
1,490,70,nonsense,184.7,190.0,,,2597.0,0,0.03,2004-11-26 00:00:00,2004-12-10 00:00:00,14 days,
2,1,70,71,x,190.0,,,1,0,0.03,2004-11-26 00:00:00,2004-12-10 00:00:00,14 days,
";
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let run = Guid::parse(OWN_RUN).unwrap();
    let mut own = import(Arc::clone(&store), Some(run), RunHeader::default());
    backtesting_py::read(trades, "GOOG", run, &mut own).unwrap();
    let reports = own.seal(&mut |_, _| {}, &|| false).unwrap();
    let report = &reports[0].1;
    assert_eq!((report.events, report.errors, report.rejected), (12, 0, 1));
    assert!(report.rejected_lines[0].reason.contains("`EntryPrice` is `x`"), "{report:?}");
    let kernel = kernel(store);
    let at = json!({"runId": OWN_RUN, "timestamp": "2004-11-26T00:00:00Z"});
    let held = ask(&kernel, "get_state_snapshot", at).await.unwrap();
    assert_eq!(held["state"]["positions"][0]["quantity"], 490, "closed before the next was opened");
    assert_eq!(held["state"]["positions"][0]["realizedPnL"], -9456.6);
    assert_eq!(held["state"]["activeOrders"], json!([]));
    let end = json!({"runId": OWN_RUN, "timestamp": "2005-01-01T00:00:00Z"});
    let end = ask(&kernel, "get_state_snapshot", end).await.unwrap();
    assert_eq!(end["state"]["pnl"]["realized"], -6859.6);
    let broken = json!({"runId": OWN_RUN, "sequencePattern": ["OrderPlaced", "TradeExecution", "PositionUpdate"]});
    let whole = ask(&kernel, "query_event_sequence", broken).await.unwrap();
    assert_eq!(whole["metadata"]["totalSequences"], 4);
}

#[tokio::test]
async fn order_events_of_lean_are_read_in_both_spellings() {
    let events = r#"[
      {"order-id": 1, "order-event-id": 1, "symbol-value": "SPY", "status": "submitted", "quantity": 10, "time": 1381152600.5},
      {"order-id": 1, "symbol-value": "SPY", "status": "filled", "fill-price": 144.5, "fill-quantity": 10, "order-fee-amount": 1, "time": 1381152660},
      {"orderId": 2, "symbolValue": "SPY", "status": "Submitted", "quantity": -4, "time": "2013-10-08T13:31:00Z"},
      {"orderId": 2, "symbolValue": "SPY", "status": "Canceled", "time": "2013-10-08T13:32:00Z"},
      {"orderId": 3, "symbolValue": "SPY", "status": "Invalid", "message": "Insufficient buying power", "time": "2013-10-08T13:33:00Z"},
      {"orderId": 4, "status": "Filled"}
    ]"#;
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let run = Guid::parse(OWN_RUN).unwrap();
    let mut own = import(Arc::clone(&store), Some(run), RunHeader::default());
    lean::read(events, run, &mut own).unwrap();
    let report = own.seal(&mut |_, _| {}, &|| false).unwrap().remove(0).1;
    assert_eq!((report.events, report.errors, report.rejected), (6, 0, 1));
    let kernel = kernel(store);
    let first = json!({"runId": OWN_RUN, "entityType": "OrderId", "entityValue": "1"});
    let first = ask(&kernel, "get_events_by_entity", first).await.unwrap();
    assert_eq!(first["metadata"]["totalCount"], 2, "found by the engine's own id");
    assert_eq!(first["events"][0]["timestamp"], "2013-10-07T13:30:00.500Z");
    let end = json!({"runId": OWN_RUN, "timestamp": "2014-01-01T00:00:00Z"});
    let end = ask(&kernel, "get_state_snapshot", end).await.unwrap();
    assert_eq!(end["state"]["activeOrders"], json!([]));
    assert_eq!(end["state"]["positions"][0]["quantity"], 10);
}
