//! Replies beyond the contract's scenarios: report members, statutory references, tax across a rate
//! change, SA108 boxes, imports.
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

#[tokio::test]
async fn report_has_every_contract_member() {
    let content = "2024-01-15 BUY A 100 @ 150 USD\n2024-06-20 SELL A 50 @ 180 USD FEES 5 USD\n2024-06-25 BUY A 10 @ 170 USD";
    let report = data("calculate_report", json!({"cgt_content": content})).await;
    let has = |value: &Value, names: &str| {
        for name in names.split(' ') {
            assert!(value.get(name).is_some(), "`{name}` is not in {value}");
        }
    };
    has(&report, "tax_years holdings warnings");
    let year = &report["tax_years"][0];
    has(
        year,
        "period disposal_count total_gain total_loss net_gain gross_proceeds total_allowable_cost exempt_amount taxable_gain dividend_income dividend_tax_paid disposals",
    );
    let disposal = &year["disposals"][0];
    has(disposal, "date ticker quantity gross_proceeds proceeds matches original");
    has(&disposal["matches"][0], "rule quantity allowable_cost gain_or_loss acquisition_date");
    assert!(disposal["matches"][1].get("acquisition_date").is_none(), "a pool has no date");
    has(&report["holdings"][0], "ticker quantity total_cost");
    assert_eq!(disposal["original"][0]["currency"], "USD");
    for amount in ["total_gain", "gross_proceeds", "exempt_amount"] {
        assert!(year[amount].is_string(), "{amount} is a decimal string");
    }
}

#[tokio::test]
async fn explanation_names_pool_average_window_and_law() {
    let content = "2020-01-01 BUY A 30 @ 2\n2024-05-01 BUY A 10 @ 5\n2024-05-01 SELL A 25 @ 6\n2024-05-31 BUY A 5 @ 7";
    let input = json!({"cgt_content": content, "disposal_date": "2024-05-01", "ticker": "a"});
    let explained = data("explain_matching", input).await;
    let [same_day, bed_and_breakfast, pool] = [0, 1, 2].map(|index| &explained["matches"][index]);
    for (leg, rule, law) in [
        (same_day, "Same Day", "s.105(1)"),
        (bed_and_breakfast, "Bed & Breakfast", "s.106A(5)"),
        (pool, "Section 104", "s.104"),
    ] {
        assert_eq!(leg["rule"], rule);
        assert!(leg["law"].as_str().unwrap().contains(law), "{leg}");
        assert!(leg["explanation"].as_str().unwrap().len() > 30, "{leg}");
    }
    assert_eq!(bed_and_breakfast["window"], json!({"from": "2024-05-02", "to": "2024-05-31"}));
    assert_eq!(pool["pool"]["before"], json!({"quantity": "30", "total_cost": "60.00"}));
    assert_eq!(pool["pool"]["after"], json!({"quantity": "20", "total_cost": "40.00"}));
    assert!(pool["pool"]["average_cost"].as_str().unwrap().starts_with('2'), "{pool}");
}

#[tokio::test]
async fn same_day_split_follows_the_option() {
    let content = "2024-01-01 BUY A 10 @ 10\n2024-05-01 SPLIT A RATIO 2\n2024-05-01 SELL A 10 @ 8";
    for (word, left) in [("before_trades", "10"), ("after_trades", "0")] {
        let input = json!({"cgt_content": content, "same_day_split": word});
        let report = data("calculate_report", input).await;
        assert_eq!(report["holdings"][0]["quantity"], left, "{word}");
    }
    let refused =
        call_as_owner(&kernel(), "calculate_report", json!({"cgt_content": content})).await;
    assert!(matches!(refused, Envelope::Refusal { .. }), "{refused:?}");
}

/// £10,000 before and £10,000 after 30 October 2024, income above the basic rate band: the exempt
/// £3,000 goes against the part with the higher rate, so 20 % of 10,000 and 24 % of 7,000 (HMRC
/// CG10246).
#[tokio::test]
async fn tax_across_the_rate_change_fills_the_sa108_boxes() {
    let content =
        "2020-01-01 BUY A 200 @ 100\n2024-06-01 SELL A 100 @ 200\n2024-12-01 SELL A 100 @ 200";
    let input = json!({"cgt_content": content, "year": 2024, "taxable_income": "60000"});
    let estimate = data("estimate_tax", input.clone()).await;
    assert_eq!(estimate["tax_due"], "3680.00");
    assert_eq!(estimate["tax_computed_by_return"], "3400.00");
    assert_eq!(estimate["return_adjustment"], "280.00");
    let form = data("sa108_summary", input).await;
    let entry = |number: &str| -> Value {
        let boxes = form["boxes"].as_array().unwrap();
        boxes
            .iter()
            .find(|filled| filled["number"] == number)
            .map_or(Value::Null, |filled| filled["entry"].clone())
    };
    for (number, expected) in [
        ("23", "2"),
        ("24", "40000"),
        ("25", "20000"),
        ("26", "20000"),
        ("27", "0"),
        ("45", "0"),
        ("47", "0"),
        ("51", "280"),
    ] {
        let seen = entry(number);
        let seen = seen.as_str().unwrap_or_default().trim_end_matches(".00");
        assert_eq!(seen, expected, "box {number} of {form}");
    }
    assert_eq!(form["report_needed"], true);
}

#[tokio::test]
async fn import_reports_file_line_and_duplicates() {
    let first = "B 08/09/2010 BARC 10 4\nX what is this\n";
    let second = "B 08/09/2010 BARC 10 4\nS 09/09/2010 BARC 5 5\n";
    let files = json!([{"name": "a.txt", "content": first}, {"name": "b.txt", "content": second}]);
    let imported = data("import_transactions", json!({"files": files})).await;
    assert_eq!(imported["count"], 2);
    assert_eq!(
        imported["duplicates"],
        json!(["b.txt, line 1: 2010-09-08 BUY BARC 10 @ 4 GBP (same date; the file has no times)"])
    );
    let warning = imported["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("a.txt, line 2:"), "{warning}");
}
