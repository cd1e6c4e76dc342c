//! From transactions to the figures of a return: earlier losses, holdings at the year's end,
//! conflicting input, disposals that the current rules do not cover.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

use std::sync::Arc;

use panoply_cgt::tools::{Settings, pack};
use panoply_contract::dialect::Envelope;
use panoply_contract::kernel::{Kernel, Settings as KernelSettings};
use panoply_contract::testing::{FixedClock, call_as_owner, kernel_in_memory, noon};
use serde_json::{Value, json};

fn kernel() -> Arc<Kernel> {
    let pack = pack(&Settings::default()).unwrap();
    kernel_in_memory(vec![pack], FixedClock::at(noon()), KernelSettings::default()).unwrap()
}

async fn data(tool: &str, input: Value) -> Value {
    match call_as_owner(&kernel(), tool, input.clone()).await {
        Envelope::Result { structured: Some(data), is_error: false, .. } => data.value(),
        other => panic!("{tool} {input}: {other:?}"),
    }
}

async fn refusal(tool: &str, input: Value) -> (String, Value) {
    match call_as_owner(&kernel(), tool, input.clone()).await {
        Envelope::Refusal { message, data, .. } => (message, data),
        other @ Envelope::Result { .. } => panic!("{tool} {input}: {other:?}"),
    }
}

/// A loss of £15,000 in 2022/23 and a gain of £20,000 on 1 December 2024.
const OLD_LOSS: &str = "2020-01-01 BUY A 1000 @ 20\n2022-06-01 SELL A 1000 @ 5\n2020-01-01 BUY B 1000 @ 5\n2024-12-01 SELL B 1000 @ 25";

fn entry(form: &Value, number: &str) -> Value {
    let boxes = form["boxes"].as_array().unwrap();
    boxes.iter().find(|filled| filled["number"] == number).unwrap()["entry"].clone()
}

#[tokio::test]
async fn losses_of_earlier_years_are_never_passed_over_in_silence() {
    let base = json!({"cgt_content": OLD_LOSS, "year": 2024, "taxable_income": "60000"});
    let with = |name: &str, value: &str| {
        let mut input = base.clone();
        input[name] = value.into();
        input
    };
    // (20,000 - 3,000) x 24 % = 4,080; with the loss (20,000 - 15,000 - 3,000) x 24 % = 480.
    let open = data("estimate_tax", base.clone()).await;
    assert_eq!(
        (&open["tax_due"], &open["tax_due_if_losses_claimed"]),
        (&json!("4080.00"), &json!("480.00"))
    );
    assert_eq!(open["earlier_losses"]["available"], "15000.00");
    assert_eq!(open["earlier_losses"]["made"][0]["claim_by"], "2027-04-05");
    assert!(open["warnings"][0].as_str().unwrap().contains("earlier_losses"), "{open}");
    let claimed = data("estimate_tax", with("earlier_losses", "claimed")).await;
    assert_eq!(
        (&claimed["tax_due"], &claimed["losses_brought_forward_used"]),
        (&json!("480.00"), &json!("15000.00"))
    );
    let not_claimed = data("estimate_tax", with("earlier_losses", "not_claimed")).await;
    assert_eq!(
        (&not_claimed["tax_due"], &not_claimed["warnings"]),
        (&json!("4080.00"), &json!([]))
    );
    let own = data("estimate_tax", with("losses_brought_forward", "5000")).await;
    assert_eq!(own["tax_due"], "2880.00");
    assert!(own["warnings"][0].as_str().unwrap().contains("differs"), "{own}");

    let form = data("sa108_summary", base.clone()).await;
    assert_eq!(
        [entry(&form, "45"), entry(&form, "47"), entry(&form, "51")],
        [Value::Null, Value::Null, Value::Null]
    );
    let form = data("sa108_summary", with("earlier_losses", "claimed")).await;
    assert_eq!([entry(&form, "45"), entry(&form, "47")], [json!("15000"), json!("0")]);
    let form = data("sa108_summary", with("earlier_losses", "not_claimed")).await;
    assert_eq!([entry(&form, "45"), entry(&form, "47")], [json!("0"), json!("0")]);

    let report =
        data("calculate_report", json!({"cgt_content": OLD_LOSS, "year": "2024/25"})).await;
    let year = &report["tax_years"][0];
    assert_eq!(
        (&year["taxable_gain"], &year["earlier_losses"], &year["taxable_gain_if_claimed"]),
        (&json!("17000.00"), &json!("15000.00"), &json!("2000.00"))
    );
    assert!(report["warnings"][0].as_str().unwrap().contains("£15000.00 in 2022/23"), "{report}");
    let both = json!({"cgt_content": OLD_LOSS, "year": 2024, "taxable_income": 1, "losses_brought_forward": 1, "earlier_losses": "claimed"});
    assert_eq!(refusal("estimate_tax", both).await.1["code"], "INVALID_INPUT");
}

#[tokio::test]
async fn boxes_and_estimate_come_from_the_same_figures() {
    // 40 sales with fees, each with pence: the estimate's gain is box 26 plus less than a pound.
    let mut content = String::from("2020-01-01 BUY A 40 @ 10.37\n");
    for sale in 0..40 {
        content +=
            &format!("2024-{:02}-{:02} SELL A 1 @ 99.99 FEES 1.55\n", 5 + sale / 20, 1 + sale % 20);
    }
    let input = json!({"cgt_content": content, "year": 2024, "taxable_income": 60000});
    let estimate = data("estimate_tax", input.clone()).await;
    let form = data("sa108_summary", input).await;
    // 40 x (99.99 - 1.55 - 10.37) = 3,522.80; (3,522.80 - 3,000) x 20 % = 104.56.
    assert_eq!(
        (&estimate["total_gain"], &estimate["tax_due"]),
        (&json!("3522.80"), &json!("104.56"))
    );
    assert_eq!(
        (entry(&form, "26"), entry(&form, "24"), entry(&form, "25")),
        (json!("3522"), json!("3999"), json!("477"))
    );
    assert_eq!(entry(&form, "51"), "0.00");
    assert!(form["rounding"].as_str().unwrap().contains("whole pounds"));
}

#[tokio::test]
async fn holdings_of_a_year_are_those_of_its_last_day() {
    let content = "2020-01-01 BUY A 100 @ 1\n2021-01-05 SELL A 40 @ 2\n2024-05-01 BUY A 1000 @ 3\n2024-09-01 SELL A 500 @ 4\n2022-01-01 SPLIT A RATIO 2\n2023-01-01 BUY B 1 @ 1";
    let held = |report: &Value| report["holdings"].clone();
    let in_2020 = data("calculate_report", json!({"cgt_content": content, "year": 2020})).await;
    assert_eq!(held(&in_2020), json!([{"ticker": "A", "quantity": "60", "total_cost": "60.00"}]));
    assert_eq!(in_2020["holdings_as_of"], "2021-04-05");
    let in_2021 = data("calculate_report", json!({"cgt_content": content, "year": 2021})).await;
    assert_eq!(held(&in_2021), json!([{"ticker": "A", "quantity": "120", "total_cost": "60.00"}]));
    let last = data("calculate_report", json!({"cgt_content": content})).await;
    // 1,120 shares cost 3,060; 500 of them leave 620 / 1,120.
    assert_eq!(held(&last)[0], json!({"ticker": "A", "quantity": "620", "total_cost": "1693.93"}));
    assert_eq!(last["holdings_as_of"], Value::Null);
}

#[tokio::test]
async fn pence_are_not_pounds() {
    let trade = |action: &str, date: &str, pence: &str| json!({"date": date, "action": action, "ticker": "VOD.L", "quantity": "1000", "price": {"amount": pence, "currency": "GBp"}});
    let content =
        json!([trade("BUY", "2020-01-01", "120.5"), trade("SELL", "2021-01-01", "130.5")]);
    let report = data("calculate_report", json!({"cgt_content": content})).await;
    assert_eq!(report["tax_years"][0]["net_gain"], "100.00");
}

#[tokio::test]
async fn conflicting_members_are_errors() {
    let buy = |members: &str| {
        format!(r#"[{{"date":"2024-01-15","ticker":"A","action":"BUY","price":"1",{members}}}]"#)
    };
    for (content, word) in [
        (buy(r#""quantity":"1","quantity":"1000""#), "two members `quantity`"),
        (buy(r#""quantity":"1","amount":"1000""#), "`amount`"),
        (buy(r#""quantity":"1","Quantity":"1000""#), "`Quantity`"),
        (buy(r#""quantity":"1","type":"SELL""#), "`type`"),
    ] {
        let (message, data) = refusal("parse_transactions", json!({"cgt_content": content})).await;
        assert_eq!(data["code"], "PARSE_ERROR", "{content}");
        assert!(message.contains(word), "{content}: {message}");
    }
    let same = json!({"cgt_content": buy(r#""quantity":"1","amount":"1""#)});
    assert_eq!(data("parse_transactions", same).await["count"], 1);
    let (_, error) = refusal(
        "parse_transactions",
        json!({"cgt_content": "2024-01-15 BUY A 1 @ 1", "transactions": "2024-01-15 BUY A 2 @ 1"}),
    )
    .await;
    assert_eq!(error["code"], "INVALID_INPUT");
}

#[tokio::test]
async fn disposals_before_april_2008_are_refused_by_row() {
    let content = "1998-01-01 BUY A 10 @ 1\n1999-05-01 SELL A 2 @ 3\n2008-04-05 SPOUSE_OUT A 1\n2008-04-06 SELL A 1 @ 3";
    let (message, error) = refusal("calculate_report", json!({"cgt_content": content})).await;
    assert_eq!((&error["code"], &error["problem_count"]), (&json!("BEFORE_APRIL_2008"), &json!(2)));
    assert!(
        message.contains("line 2") && message.contains("line 3") && message.contains("OPENING"),
        "{message}"
    );
}

#[tokio::test]
async fn not_found_and_too_large_carry_an_example() {
    let content = "2020-01-01 BUY A 10 @ 1\n2024-05-01 SELL A 2 @ 3";
    let asked = |ticker: &str| json!({"cgt_content": content, "disposal_date": "2024-05-02", "ticker": ticker});
    for ticker in ["A", "B"] {
        let (_, error) = refusal("explain_matching", asked(ticker)).await;
        assert_eq!(
            error["example"],
            json!({"disposal_date": "2024-05-01", "ticker": "A"}),
            "{error}"
        );
    }
    let huge = format!("2024-01-15 BUY A 1 @ 1 # {}", "x".repeat(20_000_000));
    let (message, error) = refusal("calculate_report", json!({"cgt_content": huge})).await;
    assert_eq!(error["code"], "INPUT_TOO_LARGE");
    assert!(error["example"].as_str().unwrap().contains("panoply cgt report"), "{error}");
    assert!(!message.contains("split the input"), "{message}");
}

#[tokio::test]
async fn pool_purchases_show_their_original_currency() {
    let content =
        "2024-01-15 BUY AAPL 100 @ 150 USD FEES 10 USD\n2024-06-20 SELL AAPL 50 @ 180 USD";
    let input = json!({"cgt_content": content, "disposal_date": "2024-06-20", "ticker": "AAPL"});
    let explained = data("explain_matching", input).await;
    let purchase = &explained["matches"][0]["pool"]["purchases"][0];
    assert_eq!((&purchase["date"], &purchase["quantity"]), (&json!("2024-01-15"), &json!("100")));
    assert_eq!(
        (
            &purchase["original"][0]["currency"],
            &purchase["original"][0]["amount"],
            &purchase["original"][0]["fees"]
        ),
        (&json!("USD"), &json!("15000"), &json!("10"))
    );
}

#[tokio::test]
async fn broker_export_is_pointed_to_the_importer() {
    let export = "Action,Time,ISIN,Ticker,Name,No. of shares,Price / share,Currency (Price / share)\nMarket buy,2024-01-05 10:00:00,US0378331005,AAPL,Apple,1,185,USD\n";
    let (message, error) = refusal("calculate_report", json!({"cgt_content": export})).await;
    assert_eq!((&error["code"], &error["value"]), (&json!("BROKER_EXPORT"), &json!("trading212")));
    assert!(message.contains("import_transactions"), "{message}");
}

#[tokio::test]
async fn other_gains_enter_the_estimate() {
    let content = "2020-01-01 BUY A 1 @ 1\n2023-12-01 SELL A 1 @ 10001";
    let with = |other: Value| json!({"cgt_content": content, "year": 2023, "taxable_income": 30000, "other_gains": other});
    // The figures of `other_gains_share_the_exempt_amount_and_the_band`, by hand.
    let estimate = data("estimate_tax", with(json!([{"class": "residential_property", "gain": 20000}, {"class": "general", "loss": "1000"}]))).await;
    assert_eq!(
        (&estimate["tax_due"], &estimate["total_gain"]),
        (&json!("4870.00"), &json!("30000.00"))
    );
    for (other, word) in [
        (json!([{"class": "general", "gain": 1, "date": "2022-01-01"}]), "not dated"),
        (json!([{"class": "general", "gain": "x"}]), "`gain`"),
    ] {
        let (message, _) = refusal("estimate_tax", with(other)).await;
        assert!(message.contains(word), "{message}");
    }
    let undated = json!({"cgt_content": content, "year": 2024, "taxable_income": 1, "other_gains": [{"class": "general", "gain": 1}]});
    assert!(refusal("estimate_tax", undated).await.0.contains("add `date`"));
}

#[tokio::test]
async fn planned_losses_save_the_tax_that_the_engine_computes() {
    let content =
        "2020-01-01 BUY A 1000 @ 10\n2020-01-01 BUY B 500 @ 20\n2025-06-01 SELL A 1000 @ 15";
    let input = json!({"cgt_content": content, "year": 2025, "taxable_income": 60000, "prices": [{"ticker": "b", "price": 12}]});
    let planned = data("plan_disposals", input.clone()).await;
    // 5,000 of gains less 3,000 exempt: 24 % of 2,000 is 480. 250 shares of B lose 8 each, 2,000.
    assert_eq!((&planned["tax_before"], &planned["tax_after"]), (&json!("480.00"), &json!("0.00")));
    assert_eq!(
        (&planned["sales"][0]["quantity"], &planned["sales"][0]["expected_gain"]),
        (&json!("250"), &json!("-2000.00"))
    );
    assert_eq!(
        (&planned["date"], &planned["first_safe_repurchase"]),
        (&json!("2026-04-05"), &json!("2026-05-06"))
    );
    let mut late = input;
    late["date"] = "2026-04-06".into();
    assert_eq!(refusal("plan_disposals", late).await.1["code"], "INVALID_DATE");
}

#[tokio::test]
async fn gains_fill_the_basic_rate_band_at_its_rate() {
    let input = json!({"cgt_content": "2020-01-01 BUY A 2000 @ 1", "year": 2025, "taxable_income": 30000, "use_basic_rate_band": true, "prices": [{"ticker": "A", "price": 11}]});
    let planned = data("plan_disposals", input).await;
    // 3,000 exempt, then 37,700 - 30,000 = 7,700 at 18 % = 1,386.
    assert_eq!(
        (&planned["tax_after"], &planned["net_gain_after"], &planned["basic_rate_band_left"]),
        (&json!("1386.00"), &json!("10700.00"), &json!("0.00"))
    );
    assert_eq!(planned["sales"][1]["purpose"], "use_basic_rate_band");
}

#[tokio::test]
async fn losses_can_be_claimed_for_some_years_only() {
    // 5,000 lost in 2021/22, 15,000 in 2022/23; a gain of 20,000 in 2024/25.
    let content = "2020-01-01 BUY L 2000 @ 20\n2021-06-01 SELL L 500 @ 10\n2022-06-01 SELL L 1500 @ 10\n2020-01-01 BUY G 1000 @ 5\n2024-05-01 SELL G 1000 @ 25";
    let base = json!({"cgt_content": content, "year": 2024, "taxable_income": 60000, "earlier_losses": "claimed"});
    let mut some = base.clone();
    some["unclaimed_loss_years"] = json!([2022]);
    // (20,000 - 20,000) leaves nothing above 3,000; without 2022/23 (20,000 - 5,000 - 3,000) x 20 %.
    assert_eq!(data("estimate_tax", base).await["tax_due"], "0.00");
    assert_eq!(data("estimate_tax", some.clone()).await["tax_due"], "2400.00");
    let form = data("sa108_summary", some.clone()).await;
    assert_eq!([entry(&form, "45"), entry(&form, "47")], [json!("5000"), json!("0")]);
    some["earlier_losses"] = "not_claimed".into();
    assert_eq!(refusal("estimate_tax", some).await.1["code"], "INVALID_INPUT");
}

#[tokio::test]
async fn other_gains_change_the_boxes_of_losses_and_the_property_return() {
    let content = "2020-01-01 BUY A 1 @ 2000\n2024-12-01 SELL A 1 @ 1000";
    let flat = json!([{"class": "residential_property", "date": "2024-10-01", "completed": "2024-11-01", "gain": 10000}]);
    let with = json!({"cgt_content": content, "year": 2024, "taxable_income": 60000, "losses_brought_forward": 2000, "other_gains": flat});
    // 10,000 - 1,000 - 3,000 exempt leaves 6,000, of which 2,000 are covered by old losses: 4,000 x 24 %.
    let estimate = data("estimate_tax", with.clone()).await;
    assert_eq!(estimate["tax_due"], "960.00");
    assert_eq!(estimate["property_returns"][0]["due"], "2024-12-31");
    let form = data("sa108_summary", with).await;
    assert_eq!([entry(&form, "45"), entry(&form, "47")], [json!("2000"), json!("0")]);
    assert!(form["reasons"][0].as_str().unwrap().contains("£6000.00 above"), "{form}");
    // Without the flat the loss of the year joins the old ones.
    let alone = json!({"cgt_content": content, "year": 2024, "taxable_income": 60000, "losses_brought_forward": 2000});
    let form = data("sa108_summary", alone).await;
    assert_eq!([entry(&form, "45"), entry(&form, "47")], [json!("0"), json!("3000")]);
}

#[tokio::test]
async fn exempt_bonds_are_neither_planned_nor_explained_nor_boxed() {
    let content = "2020-01-01 BUY TR68 100 @ 50\n2020-01-01 BUY A 100 @ 50\n2024-06-01 SELL TR68 10 @ 90\n2020-01-01 SECURITY TR68 CLASS gilt";
    let plan = json!({"cgt_content": content, "year": 2024, "taxable_income": "20000", "prices": [{"ticker": "TR68", "price": "90"}, {"ticker": "A", "price": "60"}]});
    let sales = data("plan_disposals", plan).await["sales"].clone();
    let sold: Vec<&str> =
        sales.as_array().unwrap().iter().map(|sale| sale["ticker"].as_str().unwrap()).collect();
    assert_eq!(sold, ["A"]);
    let ask = json!({"cgt_content": content, "disposal_date": "2024-06-01", "ticker": "TR68"});
    let (message, _) = refusal("explain_matching", ask).await;
    assert!(message.contains("s.115"), "{message}");
    let form = data("sa108_summary", json!({"cgt_content": content, "year": 2024})).await;
    assert_eq!((entry(&form, "23"), &form["due"]), (json!("0"), &json!("2026-01-31")));
}

#[tokio::test]
async fn names_cannot_smuggle_lines_into_a_transaction_file() {
    let evil = json!([{"date": "2024-01-01", "action": "SECURITY", "ticker": "A", "name": "x\n2024-01-02 BUY B 1 @ 1 # y"}]);
    let text = data("convert_to_dsl", json!({"transactions": evil})).await;
    let dsl = text.to_string();
    assert!(dsl.contains("2024-01-01 SECURITY A NAME x 2024-01-02 BUY B 1 @ 1 y"), "{dsl}");
}

#[test]
fn own_lists_of_reported_income_are_read_and_bad_ones_refused() {
    let folder = tempfile::tempdir().unwrap();
    let list = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        Settings { reported_income: vec![path], ..Settings::default() }
    };
    assert!(
        pack(&list(
            "good.csv",
            "isin,period_end,currency,eri_per_unit\nIE00BK5BQT80,2026-06-30,USD,2.25\n"
        ))
        .is_ok()
    );
    let bad = pack(&list("bad.csv", "isin\nIE00BK5BQT80,yesterday,USD,2.25\n")).err().unwrap();
    assert!(bad.to_string().contains("line 2"), "{bad}");
    let none =
        Settings { reported_income: vec![folder.path().join("none.csv")], ..Settings::default() };
    assert!(pack(&none).err().unwrap().to_string().contains("cannot read"));
}
