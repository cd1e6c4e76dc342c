//! Amounts in several currencies are kept apart, and converted only with stated rates.

use panoply_backtest::timestamp::Timestamp;
use serde_json::{Value, json};

use crate::helpers::{call_tool, kernel};
use crate::importers::{golden, imported, near, number, truth};

async fn two_currencies() -> (std::sync::Arc<panoply_contract::kernel::Kernel>, String) {
    let (store, _) = imported(&[&golden("nautilus_two.jsonl.zst")], "");
    let run = store.runs().unwrap()[0].id.to_string();
    (kernel(store), run)
}

fn of_currency<'a>(pnl: &'a Value, currency: &str) -> &'a Value {
    let all = pnl["byCurrency"].as_array().unwrap();
    all.iter().find(|own| own["currency"] == currency).unwrap_or(&Value::Null)
}

#[tokio::test]
async fn profit_in_each_currency_matches_the_engine_at_every_moment() {
    let (kernel, run) = two_currencies().await;
    let truth = truth("nautilus_two");
    let start = |currency: &Value| {
        let money = truth["money"].as_array().unwrap();
        number(&money.iter().find(|own| own["currency"] == *currency).unwrap()["start"])
    };
    let moments = truth["moments"].as_array().unwrap();
    assert!(moments.len() >= 100, "{}", moments.len());
    let (mut held, mut amounts, mut known) = (0, 0, std::collections::BTreeSet::new());
    for moment in moments {
        let arguments = json!({"runId": run, "timestamp": moment["time"]});
        let reply = call_tool(&kernel, "get_state_snapshot", arguments).await.unwrap();
        let time = moment["time"].as_str().unwrap();
        let state = &reply["state"];
        let position = state["positions"].as_array().unwrap().iter();
        let position = position.clone().find(|own| own["securitySymbol"] == moment["symbol"]);
        match position {
            Some(position) => {
                held += u32::from(moment["quantity"] != "0");
                near(number(&position["quantity"]), number(&moment["quantity"]), 0.0, time);
                assert_eq!(position["currency"], moment["currency"], "{time}");
                // The engine rounds to the smallest unit of the currency.
                let unit = if moment["currency"] == "JPY" { 0.5 } else { 0.005 };
                near(number(&position["unrealizedPnL"]), number(&moment["unrealized"]), unit, time);
                assert_eq!(position["derived"], json!(["unrealizedPnL"]), "{time}");
                known.insert(moment["symbol"].as_str().unwrap());
            }
            // Only before its first fill a security has no position.
            None => {
                assert!(!known.contains(moment["symbol"].as_str().unwrap()), "{time}");
                assert_eq!(
                    (&moment["quantity"], &moment["unrealized"]),
                    (&json!("0"), &json!("0"))
                );
            }
        }
        let pnl = &state["pnl"];
        let realized = number(&moment["balance"]) - start(&moment["currency"]);
        let currency = moment["currency"].as_str().unwrap();
        let own = match pnl["byCurrency"] {
            Value::Null => pnl,
            _ => of_currency(pnl, currency),
        };
        // Without an amount in the currency nothing was earned in it.
        let booked = if own["currency"] == currency { number(&own["realized"]) } else { 0.0 };
        near(booked, realized, 1e-6, time);
        amounts += u32::from(own["currency"] == currency);
    }
    assert!(held >= 50 && amounts >= 90, "{held} moments with a position, {amounts} with amounts");
}

#[tokio::test]
async fn amounts_are_converted_with_prices_of_the_log_or_given_rates() {
    let (kernel, run) = two_currencies().await;
    let ask = async |more: Value| {
        let mut arguments = json!({"runId": run, "timestamp": "2024-01-05T12:00:00Z"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call_tool(&kernel, "get_state_snapshot", arguments).await
    };
    let apart = ask(json!({})).await.unwrap();
    let pnl = &apart["state"]["pnl"];
    assert_eq!(pnl["total"], Value::Null, "{pnl}");
    let (usd, jpy) =
        (number(&of_currency(pnl, "USD")["total"]), number(&of_currency(pnl, "JPY")["total"]));

    let converted = ask(json!({"currency": "USD"})).await.unwrap();
    let rate = &converted["metadata"]["rates"][0];
    assert_eq!((&rate["from"], &rate["to"]), (&json!("JPY"), &json!("USD")));
    let source = rate["source"].as_str().unwrap();
    assert!(source.starts_with("price of USD/JPY at 2024-01-0"), "{source}");
    let expected = usd + jpy * number(&rate["rate"]);
    near(number(&converted["state"]["pnl"]["total"]), expected, 1e-6, "by the log");

    let given = ask(json!({"currency": "USD", "rates": [{"currency": "JPY", "rate": 0.01}]}));
    let given = given.await.unwrap();
    assert_eq!(given["metadata"]["rates"][0]["source"], "given");
    near(number(&given["state"]["pnl"]["total"]), usd + jpy * 0.01, 1e-6, "given");

    let unknown = ask(json!({"currency": "CHF"})).await.unwrap_err();
    assert_eq!(unknown["code"], "INVALID_PARAMETER");
    assert!(unknown["message"].as_str().unwrap().contains("no price of"), "{unknown}");
    let useless = ask(json!({"rates": [{"currency": "JPY", "rate": 0.01}]})).await.unwrap_err();
    assert!(useless["message"].as_str().unwrap().contains("without `currency`"), "{useless}");
}

#[tokio::test]
async fn delta_comparison_and_report_keep_currencies_apart() {
    let (kernel, run) = two_currencies().await;
    let truth = truth("nautilus_two");
    let arguments = json!({
        "runId": run, "startTime": "2023-12-31T00:00:00Z", "endTime": "2024-02-01T00:00:00Z",
    });
    let delta = call_tool(&kernel, "get_state_delta", arguments).await.unwrap();
    let both = json!({"runId": run, "otherRunId": run});
    let comparison = call_tool(&kernel, "compare_runs", both).await.unwrap();
    let figure = |name: String| {
        let rows = comparison["figures"].as_array().unwrap();
        let row = rows.iter().find(|row| row["figure"] == name.as_str());
        number(&row.unwrap_or_else(|| panic!("no {name} in {comparison}"))["first"])
    };
    for money in truth["money"].as_array().unwrap() {
        let currency = money["currency"].as_str().unwrap();
        let earned = number(&money["balance"]) - number(&money["start"]);
        near(number(&of_currency(&delta["pnl"], currency)["realized"]), earned, 1e-6, currency);
        near(figure(format!("realized ({currency})")), earned, 1e-6, currency);
        near(
            figure(format!("commission ({currency})")),
            number(&money["commissions"]),
            1e-6,
            "fee",
        );
    }
    assert_eq!(delta["pnl"]["total"], Value::Null);

    let (store, _) = imported(&[&golden("nautilus_two.jsonl.zst")], "");
    let id = store.runs().unwrap()[0].id;
    let sealed = crate::helpers::open(store.as_ref(), id);
    let report = sealed.performance_report(Default::default()).unwrap();
    let names: Vec<&str> =
        report.figures.currencies.iter().map(|own| own.currency.as_str()).collect();
    assert_eq!(names, ["JPY", "USD"]);
    assert_eq!(report.figures.only, None);
    for own in &report.figures.currencies {
        let money = truth["money"].as_array().unwrap().iter();
        let money = money.clone().find(|money| money["currency"] == own.currency).unwrap();
        near(own.start, number(&money["start"]), 0.0, "start");
        near(own.end, number(&money["balance"]), 1e-6, "end");
    }
}

#[tokio::test]
async fn delta_is_converted_at_the_rates_of_its_end() {
    let (kernel, run) = two_currencies().await;
    let ask = async |more: Value| {
        let mut arguments = json!({
            "runId": run, "startTime": "2024-01-02T00:00:00Z", "endTime": "2024-01-05T12:00:00Z",
        });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call_tool(&kernel, "get_state_delta", arguments).await.unwrap()
    };
    let apart = ask(json!({})).await;
    assert_eq!(apart["pnl"]["total"], Value::Null, "{apart}");
    let of = |currency: &str| number(&of_currency(&apart["pnl"], currency)["total"]);
    let (usd, jpy) = (of("USD"), of("JPY"));
    assert!(usd != 0.0 && jpy != 0.0, "{usd} {jpy}");
    let given = json!({"currency": "USD", "rates": [{"currency": "JPY", "rate": 0.0071}]});
    let given = ask(given).await;
    near(number(&given["pnl"]["total"]), usd + jpy * 0.0071, 1e-6, "given");
    assert_eq!(given["metadata"]["rates"][0]["source"], "given");

    // The last bar of USD/JPY in the log before the end.
    let bars = String::from_utf8(golden("nautilus_two.jsonl.zst")).unwrap();
    let end = Timestamp::parse("2024-01-05T12:00:00Z").unwrap().nanos();
    let mut close = bars.lines().filter_map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let is_pair = line["bar_type"].as_str().is_some_and(|own| own.starts_with("USD/JPY"));
        let time = line["ts_event"].as_i64().or(line["ts_init"].as_i64());
        (is_pair && time.is_some_and(|time| time <= end)).then(|| number(&line["close"]))
    });
    let close = close.next_back().unwrap();
    let converted = ask(json!({"currency": "USD"})).await;
    near(number(&converted["metadata"]["rates"][0]["rate"]), 1.0 / close, 1e-12, "rate");
    near(number(&converted["pnl"]["total"]), usd + jpy / close, 1e-6, "by the log");
}

#[tokio::test]
async fn comparison_and_report_never_add_currencies() {
    let (kernel, run) = two_currencies().await;
    let both = json!({"runId": run, "otherRunId": run});
    let comparison = call_tool(&kernel, "compare_runs", both).await.unwrap();
    let rows = comparison["figures"].as_array().unwrap();
    let money = ["profit and loss", "realized", "commission", "unrealized", "gross profit"];
    for row in rows {
        let name = row["figure"].as_str().unwrap();
        assert!(!money.contains(&name), "{name} without a currency");
    }
    let (store, _) = imported(&[&golden("nautilus_two.jsonl.zst")], "");
    let id = store.runs().unwrap()[0].id;
    let report = crate::helpers::open(store.as_ref(), id);
    let html = panoply_backtest::report::html::render(
        &report.performance_report(Default::default()).unwrap(),
    );
    assert!(html.contains(" in JPY") && html.contains(" in USD"));
}

/// The close of the last bar of USD/JPY in the log.
fn last_close() -> f64 {
    let bars = String::from_utf8(golden("nautilus_two.jsonl.zst")).unwrap();
    let mut close = bars.lines().filter_map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let is_pair = line["bar_type"].as_str().is_some_and(|own| own.starts_with("USD/JPY"));
        is_pair.then(|| number(&line["close"]))
    });
    close.next_back().unwrap()
}

/// What the engine earned and paid in each currency: dollars, yen.
fn earned(name: &str) -> (f64, f64) {
    let truth = truth("nautilus_two");
    let of = |currency: &str| {
        let money = truth["money"].as_array().unwrap();
        let own = money.iter().find(|own| own["currency"] == currency).unwrap();
        match name {
            "realized" => number(&own["balance"]) - number(&own["start"]),
            name => number(&own[name]),
        }
    };
    (of("USD"), of("JPY"))
}

#[tokio::test]
async fn comparison_converts_amounts_only_with_stated_rates() {
    let (kernel, run) = two_currencies().await;
    let ask = async |more: Value| {
        let mut arguments = json!({"runId": run, "otherRunId": run});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call_tool(&kernel, "compare_runs", arguments).await
    };
    let figure = |reply: &Value, name: &str| {
        let rows = reply["figures"].as_array().unwrap();
        let row = rows.iter().find(|row| row["figure"] == name);
        row.map(|row| (number(&row["first"]), number(&row["second"])))
    };
    let apart = ask(json!({})).await.unwrap();
    assert_eq!(figure(&apart, "realized, all in USD"), None);
    assert_eq!(apart["metadata"].get("rates"), None);

    let given = json!({"currency": "USD", "rates": [{"currency": "JPY", "rate": 0.0065}]});
    let given = ask(given).await.unwrap();
    let by_log = ask(json!({"currency": "USD"})).await.unwrap();
    for (figure_name, engine_name) in [("realized", "realized"), ("commission", "commissions")] {
        let (usd, jpy) = earned(engine_name);
        assert!(usd != 0.0 && jpy != 0.0, "{figure_name}");
        for (reply, rate) in [(&given, 0.0065), (&by_log, 1.0 / last_close())] {
            let name = format!("{figure_name}, all in USD");
            let (first, second) = figure(reply, &name).unwrap();
            near(first, usd + jpy * rate, 1e-6, &name);
            near(second, first, 0.0, &name);
            // The amounts in each currency stay.
            near(figure(reply, &format!("{figure_name} (JPY)")).unwrap().0, jpy, 1e-6, "apart");
        }
    }
    assert_eq!(given["metadata"]["rates"][0]["source"], "given");
    let source = by_log["metadata"]["otherRates"][0]["source"].as_str().unwrap();
    assert!(source.starts_with("price of USD/JPY at 2024-01-0"), "{source}");
    let unknown = ask(json!({"currency": "CHF"})).await.unwrap_err();
    assert_eq!(unknown["code"], "INVALID_PARAMETER");
    assert!(unknown["message"].as_str().unwrap().contains("no price of"), "{unknown}");
}

#[test]
fn report_converts_amounts_only_with_stated_rates() {
    use panoply_backtest::report::converted::NotConverted;
    use rust_decimal::Decimal;
    let (store, _) = imported(&[&golden("nautilus_two.jsonl.zst")], "");
    let run = crate::helpers::open(store.as_ref(), store.runs().unwrap()[0].id);
    let given = [("JPY".to_owned(), Decimal::new(65, 4))].into();
    let ((usd, jpy), fees) = (earned("realized"), earned("commissions"));
    for (given, rate, source) in [
        (given, 0.0065, "given"),
        (Default::default(), 1.0 / last_close(), "price of USD/JPY at 2024-01-0"),
    ] {
        let converted = run.converted_figures("USD", &given).unwrap();
        // All positions are closed at the end, so the change of the curves is what was realized.
        near(converted.profit, usd + jpy * rate, 1e-6, source);
        near(converted.commissions, fees.0 + fees.1 * rate, 1e-6, source);
        near(converted.rates[0].rate, rate, 1e-12, source);
        assert!(converted.rates[0].source.starts_with(source), "{converted:?}");
        let mut report = run.performance_report(Default::default()).unwrap();
        assert_eq!(report.figures.converted, None);
        report.figures.converted = Some(converted);
        let html = panoply_backtest::report::html::render(&report);
        assert!(html.contains("All amounts in USD") && html.contains(source), "{source}");
    }
    let missing = run.converted_figures("CHF", &Default::default()).unwrap_err();
    assert!(matches!(missing, NotConverted::NoRate { .. }), "{missing}");
}

#[tokio::test]
async fn lean_fills_keep_the_currencies_of_their_prices_and_fees() {
    // Member names of LEAN's serialized order event class.
    let events = br#"[
      {"order-id":1,"symbol-value":"USDJPY","status":"filled","fill-price":100,"fill-price-currency":"JPY","fill-quantity":1000,"order-fee-amount":2,"order-fee-currency":"USD","time":1381152600},
      {"order-id":2,"symbol-value":"EURUSD","status":"filled","fill-price":1.25,"fill-price-currency":"USD","fill-quantity":1000,"order-fee-amount":2,"order-fee-currency":"USD","time":1381152660},
      {"orderId":3,"symbolValue":"USDJPY","status":"filled","fillPrice":101,"fillPriceCurrency":"JPY","fillQuantity":-1000,"orderFeeAmount":2,"orderFeeCurrency":"USD","time":1381152720},
      {"orderId":4,"symbolValue":"EURUSD","status":"filled","fillPrice":1.5,"fillPriceCurrency":"USD","fillQuantity":-1000,"time":1381152780}
    ]"#;
    let (store, _) = imported(&[events], "");
    let run = store.runs().unwrap()[0].id.to_string();
    let kernel = kernel(store);
    let asked = json!({"runId": run, "timestamp": "2013-10-08T00:00:00Z"});
    let reply = call_tool(&kernel, "get_state_snapshot", asked).await.unwrap();
    let pnl = &reply["state"]["pnl"];
    // 1000 * (101 - 100) yen; 1000 * (1.5 - 1.25) dollars less three fees.
    assert_eq!(of_currency(pnl, "JPY")["realized"], 1000.0, "{pnl}");
    assert_eq!(of_currency(pnl, "USD")["realized"], 244.0, "{pnl}");
}
