//! State, trades and performance of logs in which the engine wrote fills and prices only.

use std::sync::Arc;

use panoply_contract::kernel::Kernel;
use serde_json::{Value, json};

use crate::filters::run_of;
use crate::helpers::{OWN_RUN, call_tool, line};
use crate::importers::{near, number};

/// Lines of one run, each a second after the one before unless a time is given.
#[derive(Default)]
struct Log(Vec<String>);

impl Log {
    fn add(&mut self, time: &str, kind: &str, properties: &str) {
        let number = u32::try_from(self.0.len()).unwrap() + 1;
        self.0.push(line(OWN_RUN, number, &format!("{time}Z"), kind, properties, None));
    }

    fn fill(&mut self, time: &str, symbol: &str, signed: i32, price: &str, more: &str) {
        let side = if signed > 0 { "Buy" } else { "Sell" };
        let properties = format!(
            r#"{{"OrderId":"{OWN_RUN}","SecuritySymbol":"{symbol}","Direction":"{side}","Quantity":{},"Price":{price}{more}}}"#,
            signed.abs()
        );
        self.add(time, "TradeExecution", &properties);
    }

    fn bar(&mut self, time: &str, symbol: &str, close: &str) {
        let properties = format!(r#"{{"SecuritySymbol":"{symbol}","Data":{{"Close":{close}}}}}"#);
        self.add(time, "MarketDataEvent", &properties);
    }

    fn kernel(&self) -> Arc<Kernel> {
        run_of(&self.0)
    }
}

async fn ask(kernel: &Kernel, tool: &str, more: Value) -> Value {
    let mut arguments = json!({"runId": OWN_RUN});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    call_tool(kernel, tool, arguments).await.unwrap()
}

async fn pnl_at(kernel: &Kernel, time: &str) -> Value {
    let mut reply = ask(kernel, "get_state_snapshot", json!({"timestamp": time})).await;
    reply["state"]["pnl"].take()
}

#[tokio::test]
async fn bar_without_a_price_leaves_the_last_price_in_force() {
    let mut log = Log::default();
    log.fill("2024-03-01T10:00:00", "A", 10, "100", "");
    log.bar("2024-03-01T10:01:00", "A", "110");
    for close in ["null", "\"NaN\"", "1e400", "{}"] {
        log.bar("2024-03-01T10:02:00", "A", close);
    }
    log.fill("2024-03-01T10:03:00", "A", 1, "111", "");
    let kernel = log.kernel();
    // 10 * (110 - 100), at the last close that is a number.
    assert_eq!(pnl_at(&kernel, "2024-03-01T10:02:30Z").await["unrealized"], 100.0);
    let asked = json!({"eventType": "TradeExecution", "asOf": [{"name": "price"}], "top": 9});
    let joined = ask(&kernel, "query_events", asked).await;
    // No price before the first one.
    assert_eq!(joined["events"][0]["asOf"]["price"], Value::Null);
    assert_eq!(joined["events"][1]["asOf"]["price"], 110.0);
}

#[tokio::test]
async fn curve_ends_with_the_profit_of_the_snapshot() {
    let mut log = Log::default();
    // A re-entry after a bar; B has no prices at all and is bought twice; C is first bought after
    // its bar, and not at its price.
    log.fill("2024-03-01T10:00:00", "A", 10, "100", "");
    log.bar("2024-03-01T10:01:00", "A", "110");
    log.fill("2024-03-01T10:02:00", "A", -10, "109", "");
    log.bar("2024-03-01T10:03:00", "A", "120");
    log.fill("2024-03-01T10:04:00", "A", -5, "118", "");
    log.fill("2024-03-01T10:05:00", "B", 10, "100", "");
    log.fill("2024-03-01T10:06:00", "B", 10, "120", "");
    log.bar("2024-03-01T10:07:00", "C", "50");
    log.fill("2024-03-01T10:08:00", "C", 2, "51", "");
    let kernel = log.kernel();
    // Realized 10 * (109 - 100); A -5 * (120 - 118), B 20 * (120 - 110), C 2 * (50 - 51).
    let expected = 90.0 - 10.0 + 200.0 - 2.0;
    assert_eq!(pnl_at(&kernel, "2024-03-01T11:00:00Z").await["total"], expected);
    let performance = ask(&kernel, "get_performance", json!({})).await;
    assert_eq!(performance["metadata"]["curve"], "markToMarket");
    assert_eq!(performance["end"], expected);
}

#[tokio::test]
async fn position_is_that_of_the_fills_until_the_first_update() {
    let mut log = Log::default();
    log.fill("2024-03-01T10:00:00", "A", -3, "100", "");
    let update = r#"{"SecuritySymbol":"A","Quantity":-3,"AveragePrice":100,"UnrealizedPnL":0,"RealizedPnL":0}"#;
    log.add("2024-03-01T18:00:00", "PositionUpdate", update);
    let kernel = log.kernel();
    let at = async |time: &str| {
        let reply = ask(&kernel, "get_state_snapshot", json!({"timestamp": time})).await;
        reply["state"]["positions"][0].clone()
    };
    let before = at("2024-03-01T12:00:00Z").await;
    assert_eq!(before["quantity"], -3, "{before}");
    assert!(before["derived"].as_array().is_some_and(|own| own.len() == 4), "{before}");
    let after = at("2024-03-01T19:00:00Z").await;
    assert_eq!((&after["quantity"], &after["derived"]), (&json!(-3), &Value::Null));
}

#[tokio::test]
async fn currency_that_appears_late_does_not_rename_earlier_amounts() {
    let mut log = Log::default();
    log.fill("2024-03-01T10:00:00", "U", 1, "10", r#","Currency":"USD""#);
    log.fill("2024-03-01T10:01:00", "U", -1, "12", r#","Currency":"USD""#);
    log.fill("2024-03-01T10:02:00", "N", 1, "10", "");
    log.fill("2024-03-01T10:03:00", "N", -1, "15", "");
    log.fill("2024-03-02T10:00:00", "J", 1, "1000", r#","Currency":"JPY""#);
    let kernel = log.kernel();
    let parts = |pnl: &Value| -> Vec<(String, f64)> {
        let all = pnl["byCurrency"].as_array().unwrap().iter();
        all.map(|own| (own["currency"].as_str().unwrap().to_owned(), number(&own["total"])))
            .collect()
    };
    let own = |name: &str, total: f64| (name.to_owned(), total);
    let early = pnl_at(&kernel, "2024-03-01T12:00:00Z").await;
    assert_eq!(parts(&early), [own("", 5.0), own("USD", 2.0)]);
    let late = pnl_at(&kernel, "2024-03-03T00:00:00Z").await;
    assert_eq!(parts(&late), [own("", 5.0), own("JPY", 0.0), own("USD", 2.0)]);
    let asked = json!({"startTime": "2024-03-01T12:00:00Z", "endTime": "2024-03-03T00:00:00Z"});
    let delta = ask(&kernel, "get_state_delta", asked).await;
    assert!(parts(&delta["pnl"]).iter().all(|(_, change)| *change == 0.0), "{delta}");
    let unnamed = ask(&kernel, "get_performance", json!({"currency": ""})).await;
    assert_eq!(unnamed["profit"], 5.0);
}

#[tokio::test]
async fn commission_in_a_third_currency_is_a_cost_of_trade_and_state() {
    let mut log = Log::default();
    let paid = r#","Currency":"EUR","Commission":0.25,"CommissionCurrency":"BNB""#;
    log.fill("2024-03-01T10:00:00", "A", 2, "10", paid);
    // Through zero: the commission belongs to the trade that it closes.
    log.fill("2024-03-01T11:00:00", "A", -3, "12", paid);
    log.fill("2024-03-01T12:00:00", "A", -1, "12", paid);
    log.fill("2024-03-01T13:00:00", "A", 2, "11", paid);
    let kernel = log.kernel();
    for (time, realized) in
        [("10:30:00", -0.25), ("11:30:00", -0.5), ("12:30:00", -0.75), ("13:30:00", -1.0)]
    {
        let pnl = pnl_at(&kernel, &format!("2024-03-01T{time}Z")).await;
        let all = pnl["byCurrency"].as_array().unwrap();
        let coins = all.iter().find(|own| own["currency"] == "BNB").unwrap();
        near(number(&coins["realized"]), realized, 1e-12, time);
    }
    let trades = ask(&kernel, "list_trades", json!({})).await;
    let own = |place: usize| trades["trades"][place].clone();
    assert_eq!((own(0)["profit"].clone(), own(1)["profit"].clone()), (json!(4.0), json!(2.0)));
    assert_eq!(own(0)["otherCommissions"], json!({"BNB": 0.5}));
    assert_eq!(own(1)["otherCommissions"], json!({"BNB": 0.5}));
    let grouped = ask(&kernel, "list_trades", json!({"groupBy": "symbol"})).await;
    assert_eq!(grouped["groups"][0]["otherCommissions"], json!({"BNB": 1.0}));
}

#[tokio::test]
async fn trades_without_a_figure_are_sorted_last_and_an_exit_at_zero_is_an_exit() {
    let mut log = Log::default();
    log.fill("2024-03-01T10:00:00", "NOPRICE", 1, "10", "");
    log.fill("2024-03-01T10:01:00", "NOPRICE", -1, "10", "");
    log.fill("2024-03-01T10:02:00", "OPTION", 1, "10", "");
    log.bar("2024-03-01T10:03:00", "OPTION", "4");
    log.fill("2024-03-01T10:04:00", "OPTION", -1, "0", "");
    log.fill("2024-03-01T10:05:00", "STILL", 1, "10", "");
    let kernel = log.kernel();
    for (sort, descending) in [("mae", false), ("mae", true), ("mfe", true)] {
        let asked = json!({"sortBy": sort, "descending": descending});
        let trades = ask(&kernel, "list_trades", asked).await;
        let first = &trades["trades"][0];
        assert_eq!(first["securitySymbol"], "OPTION", "{sort} {descending}");
        assert_eq!((&first["mae"], &first["exitPrice"]), (&json!(-10.0), &json!(0.0)));
    }
    let trades = ask(&kernel, "list_trades", json!({"sortBy": "holding"})).await;
    assert_eq!(trades["trades"][2]["securitySymbol"], "STILL");
    let worthless = ask(&kernel, "list_trades", json!({"where": "exitPrice = 0"})).await;
    assert_eq!(worthless["metadata"]["totalCount"], 1);
}

#[tokio::test]
async fn performance_of_a_period_starts_with_the_value_before_it() {
    let mut log = Log::default();
    for (day, equity, index) in
        [("01-30", 100, 10), ("02-10", 110, 20), ("02-20", 121, 25), ("03-15", 242, 100)]
    {
        let time = format!("2024-{day}T21:00:00");
        log.bar(&time, "INDEX", &index.to_string());
        let after = format!(r#"{{"StateType":"Account","StateAfter":{{"Equity":{equity}}}}}"#);
        log.add(&time, "StateChange", &after);
    }
    let kernel = log.kernel();
    let asked = json!({
        "startTime": "2024-02-01", "endTime": "2024-02-29T24:00", "benchmark": "INDEX",
        "initialCapital": 1_000_000,
    });
    let february = ask(&kernel, "get_performance", asked).await;
    // From the 100 of 30 January; the capital of an account is in its value already.
    assert_eq!((&february["start"], &february["profit"]), (&json!(100.0), &json!(21.0)));
    near(number(&february["returns"]["total"]), 0.21, 1e-12, "total");
    assert_eq!(february["returns"]["periods"], 2);
    near(number(&february["benchmark"]["total"]), 1.5, 1e-12, "index from 10 to 25");
    assert_eq!(february["benchmark"]["periods"], 2);
    let asked = json!({"startTime": "2024-02-21", "endTime": "2024-03-01"});
    let nothing = ask(&kernel, "get_performance", asked).await;
    assert_eq!((&nothing["start"], &nothing["end"]), (&json!(121.0), &json!(121.0)));
}

#[tokio::test]
async fn groups_of_trades_stay_within_the_budget_and_say_what_is_left() {
    let mut log = Log::default();
    for number in 0..400 {
        let time = format!("2024-03-01T10:{:02}:{:02}", number / 60, number % 60);
        log.fill(&time, &format!("SYMBOL{number:03}"), 1, "10", "");
        log.fill(&time, &format!("SYMBOL{number:03}"), -1, "11", "");
    }
    let kernel = log.kernel();
    let cut = ask(&kernel, "list_trades", json!({"groupBy": "symbol"})).await;
    let shown = cut["groups"].as_array().unwrap().len();
    assert!((100..400).contains(&shown), "{shown}");
    assert_eq!(cut["metadata"]["hasMore"], true);
    assert_eq!(cut["metadata"]["truncated"], true);
    let asked = json!({"groupBy": "symbol", "maxTokens": 200_000});
    let whole = ask(&kernel, "list_trades", asked).await;
    assert_eq!(whole["groups"].as_array().unwrap().len(), 400);
    assert_eq!(whole["metadata"]["hasMore"], false);
}

#[tokio::test]
async fn many_open_orders_do_not_displace_indicators() {
    let mut log = Log::default();
    for number in 0..300 {
        let order = format!("00000000-0000-4000-8000-{number:012}");
        let placed = format!(
            r#"{{"StateType":"Order","OrderStatus":"Placed","OrderId":"{order}","SecuritySymbol":"A","Direction":"Buy","Quantity":1,"Price":2}}"#
        );
        log.add("2024-03-01T10:00:00", "StateChange", &placed);
    }
    for name in ["EMA", "RSI"] {
        let value = format!(r#"{{"IndicatorName":"{name}","SecuritySymbol":"A","Value":1}}"#);
        log.add("2024-03-01T10:01:00", "IndicatorCalculation", &value);
    }
    let asked = json!({"timestamp": "2024-03-01T11:00:00Z", "maxTokens": 2000});
    let cut = ask(&log.kernel(), "get_state_snapshot", asked).await;
    assert_eq!(cut["state"]["indicators"].as_array().unwrap().len(), 2);
    assert!(!cut["state"]["activeOrders"].as_array().unwrap().is_empty());
    assert_eq!(
        (&cut["metadata"]["activeOrderCount"], &cut["metadata"]["truncated"]),
        (&json!(300), &json!(true))
    );
}

/// One symbol on two exchanges: 10 in dollars, bought at 100 and sold at 120; 5 in euros, bought at
/// 80, last priced at 90.
fn listings(log: &mut Log) {
    let bar = |log: &mut Log, time: &str, close: &str, currency: &str| {
        let properties = format!(
            r#"{{"SecuritySymbol":"VOD","Currency":"{currency}","Data":{{"Close":{close}}}}}"#
        );
        log.add(time, "MarketDataEvent", &properties);
    };
    bar(log, "2024-03-01T10:00:00", "99", "USD");
    bar(log, "2024-03-01T10:00:01", "79", "EUR");
    log.fill("2024-03-01T10:01:00", "VOD", 10, "100", r#","Currency":"USD""#);
    log.fill("2024-03-01T10:02:00", "VOD", 5, "80", r#","Currency":"EUR""#);
    bar(log, "2024-03-01T10:03:00", "110", "USD");
    bar(log, "2024-03-01T10:03:01", "90", "EUR");
}

#[tokio::test]
async fn symbol_in_two_currencies_has_a_position_in_each() {
    let mut log = Log::default();
    listings(&mut log);
    log.fill("2024-03-01T10:04:00", "VOD", -10, "120", r#","Currency":"USD""#);
    // A symbol that starts with the other's name.
    log.fill("2024-03-01T10:05:00", "VODA", 1, "7", r#","Currency":"USD""#);
    let kernel = log.kernel();
    let state = async |time: &str| {
        let asked = json!({"timestamp": time, "securitySymbol": "vod"});
        ask(&kernel, "get_state_snapshot", asked).await
    };
    let figures = |reply: &Value| {
        let positions = reply["state"]["positions"].as_array().unwrap();
        let names = ["quantity", "averagePrice", "unrealizedPnL", "realizedPnL"];
        let figures = |own: &Value| names.map(|name| number(&own[name]));
        let currency = |own: &Value| own["currency"].as_str().unwrap().to_owned();
        positions.iter().map(|own| (currency(own), figures(own))).collect::<Vec<_>>()
    };
    // 10 * (110 - 100), and 5 * (90 - 80).
    let open = [("EUR", [5.0, 80.0, 50.0, 0.0]), ("USD", [10.0, 100.0, 100.0, 0.0])];
    let closed = [("EUR", [5.0, 80.0, 50.0, 0.0]), ("USD", [0.0, 0.0, 0.0, 200.0])];
    for (time, expected) in [("2024-03-01T10:03:30Z", open), ("2024-03-01T10:06:00Z", closed)] {
        let expected = expected.map(|(currency, figures)| (currency.to_owned(), figures));
        assert_eq!(figures(&state(time).await), expected, "{time}");
    }
    let asked = json!({"startTime": "2024-03-01T10:03:30Z", "endTime": "2024-03-01T10:06:00Z"});
    let delta = ask(&kernel, "get_state_delta", asked).await;
    let dollars = &delta["positions"][0];
    assert_eq!(dollars["currency"], "USD", "{delta}");
    assert_eq!((&dollars["quantityBefore"], &dollars["quantityAfter"]), (&json!(10), &json!(0)));
    let trades = ask(&kernel, "list_trades", json!({"securitySymbol": "VOD"})).await;
    let profits = trades["trades"].as_array().unwrap().iter();
    let profits = profits.map(|own| (own["currency"].as_str().unwrap(), own["profit"].as_f64()));
    assert_eq!(profits.collect::<Vec<_>>(), [("USD", Some(200.0)), ("EUR", Some(0.0))]);
    // The price before each fill, in its currency.
    let asked = json!({"eventType": "TradeExecution", "asOf": [{"name": "price"}], "top": 9});
    let joined = ask(&kernel, "query_events", asked).await;
    let prices = joined["events"].as_array().unwrap().iter();
    let prices: Vec<&Value> = prices.map(|own| &own["asOf"]["price"]).collect();
    assert_eq!(prices, [&json!(99.0), &json!(79.0), &json!(110.0), &Value::Null]);
}

#[tokio::test]
async fn updates_of_a_symbol_in_two_currencies_are_compared_with_their_own_fills() {
    let update = |log: &mut Log, quantity: u32, currency: &str| {
        let properties = format!(
            r#"{{"SecuritySymbol":"VOD","Currency":"{currency}","Quantity":{quantity},"AveragePrice":1,"RealizedPnL":0}}"#
        );
        log.add("2024-03-01T10:03:30", "PositionUpdate", &properties);
    };
    for (euros, agrees) in [(5, true), (6, false)] {
        let mut log = Log::default();
        listings(&mut log);
        update(&mut log, 10, "USD");
        update(&mut log, euros, "EUR");
        let kernel = log.kernel();
        let books = ask(&kernel, "reconcile_run", json!({})).await;
        assert_eq!(books["agrees"], agrees, "{books}");
        let asked = json!({"timestamp": "2024-03-01T11:00:00Z"});
        let state = ask(&kernel, "get_state_snapshot", asked).await;
        let positions = state["state"]["positions"].as_array().unwrap().iter();
        let quantities: Vec<f64> = positions.map(|own| number(&own["quantity"])).collect();
        assert_eq!(quantities, [f64::from(euros), 10.0], "{state}");
    }
    // Updates in the currency of the account are those of the fills.
    let mut log = Log::default();
    log.fill("2024-03-01T10:01:00", "VOD", 10, "100", r#","Currency":"JPY""#);
    update(&mut log, 10, "USD");
    let kernel = log.kernel();
    let books = ask(&kernel, "reconcile_run", json!({})).await;
    assert_eq!(
        (&books["agrees"], books["securities"].as_array().unwrap().len()),
        (&json!(true), 1)
    );
    let state = ask(&kernel, "get_state_snapshot", json!({"timestamp": "2024-03-01T11:00:00Z"}));
    let state = state.await;
    assert_eq!(state["state"]["positions"].as_array().unwrap().len(), 1, "{state}");
    assert_eq!(state["state"]["positions"][0]["currency"], "USD");
}

#[tokio::test]
async fn currency_of_market_data_alone_names_no_amounts_of_others() {
    let mut log = Log::default();
    let index = r#"{"SecuritySymbol":"DAX","Currency":"EUR","Data":{"Close":18000}}"#;
    log.add("2024-03-01T09:59:00", "MarketDataEvent", index);
    log.fill("2024-03-01T10:00:00", "A", 10, "100", r#","Currency":"USD""#);
    log.fill("2024-03-01T10:01:00", "B", 1, "7", "");
    log.fill("2024-03-01T10:02:00", "B", -1, "9", "");
    let pnl = pnl_at(&log.kernel(), "2024-03-01T11:00:00Z").await;
    // Dollars are the only currency of the trades: the unnamed ones are in it.
    assert_eq!((&pnl["currency"], &pnl["realized"]), (&json!("USD"), &json!(2.0)), "{pnl}");
}
