//! Questions of a quant: `query_events`, `list_trades`, `get_performance`, `query_runs`.

use std::sync::Arc;

use panoply_backtest::event::{EventType, Guid};
use panoply_backtest::performance::{CurrencyFigures, RunSummary, returns::ReturnFigures};
use panoply_backtest::query::events_query::{EventQuery, Top};
use panoply_backtest::run::{RunHeader, RunRecord, Status};
use panoply_backtest::store::Store;
use panoply_backtest::store::memory::MemoryStore;
use panoply_backtest::timestamp::Timestamp;
use panoply_contract::kernel::Kernel;
use serde_json::{Value, json};

use crate::helpers::{OWN_RUN, REAL, RUN_A, call_tool, data, kernel, line, sealed};
use crate::importers::{golden, imported, near, number, truth};

/// The lines of the sample, in order of time.
fn sample() -> Vec<Value> {
    let lines = data("ema_cross.jsonl.zst");
    let mut events: Vec<Value> = lines
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    events.sort_by(|a, b| a["timestamp"].as_str().cmp(&b["timestamp"].as_str()));
    events
}

fn fills(events: &[Value]) -> Vec<&Value> {
    events.iter().filter(|event| event["eventType"] == "TradeExecution").collect()
}

async fn ask(kernel: &Kernel, tool: &str, more: Value) -> Result<Value, Value> {
    let mut arguments = json!({"runId": RUN_A});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    call_tool(kernel, tool, arguments).await
}

#[tokio::test]
async fn query_filters_groups_and_percentiles_equal_a_scan_of_the_lines() {
    let kernel = kernel(REAL.clone());
    let events = sample();
    let of = |event: &Value, name: &str| event["properties"][name].as_f64();
    let reply = ask(
        &kernel,
        "query_events",
        json!({
            "eventType": "TradeExecution", "where": "Slippage > 0.0001 and SecuritySymbol in ('EURUSD', 'GBPUSD')",
            "groupBy": ["Direction", "hourOfDay"], "value": "Slippage", "percentiles": [50, 90],
        }),
    );
    let reply = reply.await.unwrap();
    let matching: Vec<&Value> = fills(&events)
        .into_iter()
        .filter(|event| of(event, "Slippage").is_some_and(|own| own > 0.0001))
        .filter(|event| {
            let symbol = event["properties"]["SecuritySymbol"].as_str();
            matches!(symbol, Some("EURUSD" | "GBPUSD"))
        })
        .collect();
    assert!(matching.len() > 10, "{}", matching.len());
    assert_eq!(reply["metadata"]["matchedEvents"], matching.len());
    let groups = reply["groups"].as_array().unwrap();
    let counted: u64 = groups.iter().map(|group| group["count"].as_u64().unwrap()).sum();
    assert_eq!(counted, matching.len() as u64);
    for group in groups {
        let mut own: Vec<f64> = matching
            .iter()
            .filter(|event| event["properties"]["Direction"] == group["key"]["Direction"])
            .filter(|event| {
                event["timestamp"].as_str().unwrap().get(11..13)
                    == group["key"]["hourOfDay"].as_str()
            })
            .filter_map(|event| of(event, "Slippage"))
            .collect();
        own.sort_by(f64::total_cmp);
        assert_eq!(group["valueCount"], own.len(), "{group}");
        near(number(&group["sum"]), own.iter().sum(), 1e-12, "sum");
        // Linear interpolation between the closest ranks, as numpy does.
        let median = f64::midpoint(own[(own.len() - 1) / 2], own[own.len() / 2]);
        near(number(&group["percentiles"]["p50"]), median, 1e-12, "median");
    }
}

#[tokio::test]
async fn query_returns_the_events_with_the_largest_value() {
    let kernel = kernel(REAL.clone());
    let events = sample();
    let reply = ask(
        &kernel,
        "query_events",
        json!({
            "eventType": "TradeExecution", "value": "Slippage", "order": "largest", "top": 3,
            "fields": ["Slippage"],
        }),
    );
    let reply = reply.await.unwrap();
    let mut slippages: Vec<f64> = fills(&events)
        .iter()
        .filter_map(|event| event["properties"]["Slippage"].as_f64())
        .collect();
    slippages.sort_by(|a, b| b.total_cmp(a));
    let seen: Vec<f64> = reply["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| number(&own["properties"]["Slippage"]))
        .collect();
    assert_eq!(seen, &slippages[..3]);
    let id = reply["events"][0]["eventId"].as_str().unwrap();
    let event = events.iter().find(|event| event["eventId"] == id).unwrap();
    assert_eq!(event["properties"]["Slippage"], json!(slippages[0]));
}

/// The value of the last event at or before `until` that `wanted` takes, in the order of the log.
fn last_value<'a>(
    events: &'a [Value],
    until: &str,
    wanted: &dyn Fn(&'a Value) -> Option<&'a Value>,
) -> Value {
    let before = events.iter().filter(|event| event["timestamp"].as_str().unwrap() <= until);
    before.filter_map(wanted).next_back().cloned().unwrap_or_default()
}

#[tokio::test]
async fn query_joins_the_last_price_and_indicator_as_of_each_event() {
    let kernel = kernel(REAL.clone());
    let events = sample();
    let mut compared = [0; 4];
    for (place, seconds) in [0_i64, 7200, -5400, 1].into_iter().enumerate() {
        let as_of = json!([
            {"name": "px", "offsetSeconds": seconds},
            {"name": "ema", "indicator": "EMA_8", "offsetSeconds": seconds},
        ]);
        let arguments = json!({"eventType": "OrderRejection", "top": 30, "asOf": as_of});
        let reply = ask(&kernel, "query_events", arguments).await.unwrap();
        for own in reply["events"].as_array().unwrap() {
            let symbol = &own["properties"]["SecuritySymbol"];
            let time = Timestamp::parse(own["timestamp"].as_str().unwrap()).unwrap();
            let until = Timestamp::from_nanos(time.nanos() + seconds * 1_000_000_000).with_millis();
            // Without an offset only what the log has before the event counts.
            let place_of = |id: &Value| events.iter().position(|event| event["eventId"] == *id);
            let known = match seconds {
                0 => &events[..place_of(&own["eventId"]).unwrap()],
                _ => &events[..],
            };
            let is_of = |event: &Value, kind: &str| {
                event["eventType"] == kind && event["properties"]["SecuritySymbol"] == *symbol
            };
            let price = last_value(known, &until, &|event| {
                // A bar has a close, a tick a price.
                let data = &event["properties"]["Data"];
                let price = ["Close", "Price"].map(|name| &data[name]);
                let price = price.into_iter().find(|price| price.is_number())?;
                is_of(event, "MarketDataEvent").then_some(price)
            });
            let ema = last_value(known, &until, &|event| {
                let is_ema = event["properties"]["IndicatorName"] == "EMA_8";
                (is_of(event, "IndicatorCalculation") && is_ema)
                    .then_some(&event["properties"]["Value"])
            });
            assert_eq!((&own["asOf"]["px"], &own["asOf"]["ema"]), (&price, &ema), "{own}");
            compared[place] += u32::from(price.is_number()) + u32::from(ema.is_number());
        }
    }
    assert!(compared.iter().all(|values| *values > 20), "{compared:?}");
}

#[test]
fn group_with_values_beyond_the_limit_has_no_percentiles() {
    let run = crate::helpers::open(REAL.as_ref(), Guid::parse(RUN_A).unwrap());
    let query = |limit| EventQuery {
        event_type: EventType::TradeExecution,
        range: run.between(None, None).unwrap(),
        filter: None,
        group_by: Vec::new(),
        value: Some("Price".to_owned()),
        percentiles: vec![0.0, 100.0],
        percentile_limit: limit,
        joins: Vec::new(),
        top: Top::default(),
    };
    let whole = run.query(&query(144), &|| false).unwrap();
    let stats = whole.groups[0].stats;
    assert_eq!(whole.groups[0].percentiles, [Some(stats.min), Some(stats.max)]);
    assert_eq!(whole.beyond_percentiles, 0);
    let part = run.query(&query(100), &|| false).unwrap();
    assert_eq!(part.groups[0].percentiles, [None, None]);
    assert_eq!(part.beyond_percentiles, stats.count - 100);
    assert!(stats.count > 100, "{}", stats.count);
}

#[tokio::test]
async fn query_errors_name_the_parameter_and_the_place() {
    let kernel = kernel(REAL.clone());
    for (arguments, expected) in [
        (json!({"where": "Price > "}), "`where`: expected a property or a value at character 9"),
        (json!({"order": "largest"}), "`order` needs a `value` to sort by"),
        (json!({"percentiles": [50]}), "`percentiles` need a `value`"),
    ] {
        let mut arguments = arguments;
        arguments["eventType"] = "TradeExecution".into();
        let error = ask(&kernel, "query_events", arguments).await.unwrap_err();
        assert_eq!(
            (&error["code"], &error["message"]),
            (&json!("INVALID_PARAMETER"), &json!(expected))
        );
    }
}

fn small_log() -> Arc<Kernel> {
    let order = r#""OrderId":"00000000-0000-4000-8000-0000000000aa""#;
    let time = |n: u32| format!("2025-01-{n:02}T12:00:00.000Z");
    let fill = |n: u32, side: &str, quantity: u32, price: &str| {
        let properties = format!(
            r#"{{{order},"SecuritySymbol":"A","Direction":"{side}","Quantity":{quantity},"Price":{price},"Commission":2}}"#
        );
        line(OWN_RUN, n, &time(n), "TradeExecution", &properties, None)
    };
    let bar = |n: u32, data: &str| {
        let properties = format!(r#"{{"SecuritySymbol":"A","Data":{data}}}"#);
        line(OWN_RUN, n, &time(n), "MarketDataEvent", &properties, None)
    };
    let ema = r#"{"IndicatorName":"EMA","SecuritySymbol":"A","Value":99.5}"#;
    let account = r#"{"StateType":"Account","StateAfter":{"Balance":1000,"Currency":"EUR"}}"#;
    let lines = [
        line(OWN_RUN, 1, &time(1), "StateChange", account, None),
        line(OWN_RUN, 2, &time(2), "IndicatorCalculation", ema, None),
        fill(3, "Buy", 10, "100"),
        bar(4, r#"{"High":104,"Low":97,"Close":101}"#),
        bar(5, r#"{"High":108,"Low":100,"Close":106}"#),
        fill(6, "Sell", 15, "107"),
        bar(7, r#"{"High":111,"Low":106,"Close":110}"#),
        fill(8, "Buy", 5, "112"),
        bar(9, r#"{"Close":120}"#),
    ];
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    sealed(Arc::clone(&store), RunHeader::default(), lines.join("\n").as_bytes());
    kernel(store)
}

#[tokio::test]
async fn trades_have_costs_excursions_and_indicators_at_entry() {
    let kernel = small_log();
    let arguments = json!({"runId": OWN_RUN, "indicators": true});
    let reply = call_tool(&kernel, "list_trades", arguments).await.unwrap();
    let trades = reply["trades"].as_array().unwrap();
    assert_eq!(trades.len(), 2);
    let long = &trades[0];
    // Long 10 at 100, closed at 107 by the fill that goes 5 short: 70 gross, 4 commission.
    assert_eq!((&long["direction"], &long["profit"]), (&json!("long"), &json!(66.0)));
    assert_eq!((&long["entryPrice"], &long["exitPrice"]), (&json!(100.0), &json!(107.0)));
    // Low 97 and high 108 during the trade: 10 × −3 and 10 × 8.
    assert_eq!((&long["mae"], &long["mfe"]), (&json!(-30.0), &json!(80.0)));
    assert_eq!(long["holdingSeconds"], json!(3.0 * 86_400.0));
    assert_eq!(long["indicators"], json!({"EMA": 99.5}));
    assert_eq!(long["currency"], "EUR");
    let short = &trades[1];
    // Short 5 at 107, closed at 112: −25 gross, 2 commission; high 111: 5 × −4, at the exit −25.
    assert_eq!((&short["direction"], &short["profit"]), (&json!("short"), &json!(-27.0)));
    assert_eq!((&short["mae"], &short["mfe"]), (&json!(-25.0), &json!(5.0)));
    assert_eq!(short["fills"], json!(["e5", "e7"]));
    let grouped = json!({"runId": OWN_RUN, "groupBy": "direction"});
    let groups = call_tool(&kernel, "list_trades", grouped).await.unwrap()["groups"].clone();
    assert_eq!((&groups[0]["key"], &groups[0]["winRate"]), (&json!("long"), &json!(1.0)));
    assert_eq!((&groups[1]["key"], &groups[1]["winRate"]), (&json!("short"), &json!(0.0)));
    let losses = json!({"runId": OWN_RUN, "outcome": "loss"});
    let losses = call_tool(&kernel, "list_trades", losses).await.unwrap();
    assert_eq!(losses["metadata"]["totalCount"], 1);
}

#[tokio::test]
async fn performance_follows_its_definitions() {
    let kernel = small_log();
    let arguments = json!({"runId": OWN_RUN, "benchmark": "A"});
    let reply = call_tool(&kernel, "get_performance", arguments).await.unwrap();
    // Equity: 1000; after the first fill 998; closes 101, 106 → 1008, 1058; flip at 107: 1066 and
    // the short valued at the last price 106: +5; close 110: −15 → 1051; closed at 112: 1039.
    assert_eq!((&reply["start"], &reply["end"]), (&json!(1000.0), &json!(1039.0)));
    let values = [1000.0, 998.0, 1008.0, 1058.0, 1071.0, 1051.0, 1039.0];
    let returns: Vec<f64> = values.windows(2).map(|pair| pair[1] / pair[0] - 1.0).collect();
    let mean = returns.iter().sum::<f64>() / returns.len() as f64;
    let variance = returns.iter().map(|own| (own - mean).powi(2)).sum::<f64>() / 5.0;
    near(
        number(&reply["returns"]["sharpe"]),
        mean / variance.sqrt() * 252_f64.sqrt(),
        1e-9,
        "sharpe",
    );
    let drawdown = &reply["drawdowns"][0];
    assert_eq!((&drawdown["depth"], &drawdown["trades"]), (&json!(32.0), &json!(2)));
    near(number(&drawdown["percent"]), 32.0 / 1071.0 * 100.0, 1e-9, "percent");
    // In the market from the 3rd to the 8th, of the 1st to the 9th.
    near(number(&reply["exposure"]), 5.0 / 8.0, 1e-12, "exposure");
    assert_eq!(reply["metadata"]["curve"], "markToMarket");
    assert!(reply["benchmark"]["beta"].is_number(), "{reply}");
}

#[tokio::test]
async fn trades_of_an_engine_add_up_to_its_books() {
    let (store, _) = imported(&[&golden("nautilus_two.jsonl.zst")], "");
    let run = store.runs().unwrap()[0].id.to_string();
    let kernel = kernel(store);
    let arguments = json!({"runId": run, "pageSize": 1000});
    let reply = call_tool(&kernel, "list_trades", arguments).await.unwrap();
    for money in truth("nautilus_two")["money"].as_array().unwrap() {
        let own = reply["trades"].as_array().unwrap().iter();
        let own = own.filter(|trade| trade["currency"] == money["currency"]);
        let profit: f64 = own.clone().map(|trade| number(&trade["profit"])).sum();
        let commission: f64 = own.map(|trade| number(&trade["commission"])).sum();
        let earned = number(&money["balance"]) - number(&money["start"]);
        // Every fill is rounded to the smallest unit.
        let unit = if money["currency"] == "JPY" { 25.0 } else { 0.25 };
        near(profit, earned, unit, "profit");
        near(commission, number(&money["commissions"]), 1e-6, "commission");
    }
}

#[tokio::test]
async fn thousand_runs_are_a_table_with_a_warning_about_luck() {
    let store = Arc::new(MemoryStore::default());
    for n in 0..1000_u32 {
        let sharpe = f64::from(n % 100) / 50.0 - 1.0;
        let returns = ReturnFigures {
            periods: 250,
            sharpe: Some(sharpe),
            skewness: Some(0.0),
            kurtosis: Some(3.0),
            ..ReturnFigures::default()
        };
        let figures = CurrencyFigures {
            trades: u64::from(n),
            returns: Some(returns),
            ..CurrencyFigures::default()
        };
        // As long as the parameters of a real strategy.
        let note = format!("{n:0>200}");
        let header = json!({"strategyName": "S", "parameters": {"fast": n % 10, "slow": n / 10, "note": note}, "tags": {"fold": n % 5}});
        let record = RunRecord {
            id: Guid::new(u128::from(n) + 1),
            status: Status::Completed,
            header: serde_json::from_value(header).unwrap(),
            created_at: Timestamp::from_nanos(0),
            events: 1,
            span: None,
            summary: Some(RunSummary { currencies: vec![figures], ..RunSummary::default() }),
        };
        store.save(&record).unwrap();
    }
    let kernel = kernel(store);
    let arguments = json!({
        "sortBy": "sharpe", "descending": true, "limit": 3,
        "filters": [{"name": "fast", "op": "=", "value": "9"}, {"name": "trades", "op": ">=", "value": "500"}],
    });
    let reply = call_tool(&kernel, "query_runs", arguments).await.unwrap();
    assert_eq!(reply["metadata"]["totalCount"], 50);
    assert_eq!(reply["runs"][0]["figures"]["sharpe"], json!(0.98));
    assert_eq!(reply["runs"][0]["parameters"]["slow"], 59, "the first of equals");
    assert_eq!(reply["best"]["trials"], 50);
    assert!(number(&reply["best"]["deflatedSharpe"]) < 0.5, "{}", reply["best"]);
    let grouped = call_tool(&kernel, "query_runs", json!({"groupBy": "fold"})).await.unwrap();
    let groups = grouped["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 6, "five folds, and the bundled run without one");
    let second = groups.iter().find(|group| group["value"] == 1).unwrap();
    assert_eq!(second["runs"], 200);
    let (mut seen, mut replies) = (0, 0);
    loop {
        let asked = json!({"query": "S", "limit": 200, "offset": seen});
        let page = call_tool(&kernel, "query_runs", asked).await.unwrap();
        seen += page["runs"].as_array().unwrap().len();
        replies += 1;
        if page["metadata"]["hasMore"] == false {
            break;
        }
    }
    assert!(seen >= 1000 && replies < 20, "{seen} runs in {replies} replies");
    let unknown = call_tool(&kernel, "query_runs", json!({"sortBy": "fasst"})).await.unwrap_err();
    assert!(unknown["message"].as_str().unwrap().contains("`fasst`"), "{unknown}");
}

#[tokio::test]
async fn first_divergence_of_two_runs_is_found_and_explained() {
    let other = "22222222-2222-4222-8222-222222222222";
    let bar = |run: &str, n: u32, close: u32| {
        let time = Timestamp::from_nanos(i64::from(n) * 60_000_000_000).with_millis();
        let properties =
            format!(r#"{{"SecuritySymbol":"A","OrderId":"{run}","Data":{{"Close":{close}}}}}"#);
        line(run, n + 1, &time, "MarketDataEvent", &properties, None)
    };
    let log = |run: &str, changed: Option<u32>| -> String {
        let lines: Vec<String> = (0..9000)
            .map(|n| bar(run, n, if changed == Some(n) { 777 } else { n % 100 }))
            .collect();
        lines.join("\n")
    };
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let header = |fast: u32| serde_json::from_value(json!({"parameters": {"fast": fast}})).unwrap();
    sealed(Arc::clone(&store), header(8), log(OWN_RUN, None).as_bytes());
    sealed(Arc::clone(&store), header(9), log(other, Some(8500)).as_bytes());
    let kernel = kernel(store);
    let both = json!({"runId": OWN_RUN, "otherRunId": other});
    let reply = call_tool(&kernel, "compare_runs", both).await.unwrap();
    let found = &reply["firstDivergence"];
    assert_eq!(found["commonEvents"], 8500);
    assert_eq!(found["differences"], json!([{"name": "Data.Close", "first": 0, "second": 777}]));
    assert!(found["explanation"].as_str().unwrap().contains("differs in Data.Close"), "{found}");
    assert_eq!(reply["parameters"], json!([{"name": "fast", "first": 8, "second": 9}]));
    assert_eq!(reply["configurationDiffers"], true);
    let same = json!({"runId": OWN_RUN, "otherRunId": OWN_RUN});
    let same = call_tool(&kernel, "compare_runs", same).await.unwrap();
    assert_eq!(same["firstDivergence"], Value::Null);
}

#[tokio::test]
async fn additional_events_of_one_run_are_told_from_changed_ones() {
    let other = "22222222-2222-4222-8222-222222222222";
    let log = |run: &str, closes: &[u32]| -> String {
        let bar = |(place, close): (usize, &u32)| {
            let properties = format!(r#"{{"SecuritySymbol":"A","Data":{{"Close":{close}}}}}"#);
            let number = u32::try_from(place).unwrap() + 1;
            line(run, number, "2024-01-01T00:00:00Z", "MarketDataEvent", &properties, None)
        };
        closes.iter().enumerate().map(bar).collect::<Vec<_>>().join("\n")
    };
    for (first, second, expected) in [
        (&[1, 2, 3, 4][..], &[1, 2, 9, 8, 3, 4][..], "only the second run has 2 events from"),
        (&[1, 2, 7, 3], &[1, 2, 3], "only the first run has 1 event from"),
        (&[1, 2, 3, 4], &[1, 2, 9, 4], "differs in Data.Close"),
        (&[1, 2, 3], &[1, 2], "ends after 2 equal events"),
    ] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        sealed(Arc::clone(&store), Default::default(), log(OWN_RUN, first).as_bytes());
        sealed(Arc::clone(&store), Default::default(), log(other, second).as_bytes());
        let both = json!({"runId": OWN_RUN, "otherRunId": other});
        let reply = call_tool(&kernel(store), "compare_runs", both).await.unwrap();
        let explanation = reply["firstDivergence"]["explanation"].as_str().unwrap();
        assert!(explanation.contains(expected), "{explanation}");
    }
}
