//! Hostile input and concurrent callers: always a reply of limited size, never an internal error.
#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

use std::sync::Arc;

use panoply_cgt::tools::{Settings, pack};
use panoply_contract::compliance::error_code;
use panoply_contract::dialect::Envelope;
use panoply_contract::kernel::{Kernel, Settings as KernelSettings};
use panoply_contract::testing::{FixedClock, call_as_owner, kernel_in_memory, noon};
use serde_json::{Value, json};

/// About 20,000 tokens.
const MAX_BYTES: usize = 80_000;

fn kernel() -> Arc<Kernel> {
    let pack = pack(&Settings::default()).unwrap();
    kernel_in_memory(vec![pack], FixedClock::at(noon()), KernelSettings::default()).unwrap()
}

fn size(envelope: &Envelope) -> usize {
    match envelope {
        Envelope::Result { text, structured, .. } => {
            text.len() + structured.as_ref().map_or(0, |data| data.text().len())
        }
        Envelope::Refusal { message, data, .. } => message.len() + data.to_string().len(),
    }
}

/// Calls every tool that takes transactions.
async fn every_tool(kernel: &Kernel, content: &Value, about: &str) {
    let sale = json!({"disposal_date": "2024-03-01", "ticker": "A"});
    let calls = [
        ("parse_transactions", json!({})),
        ("calculate_report", json!({})),
        ("calculate_report", json!({"rounding": "exact", "allow_short": true})),
        ("explain_matching", sale.clone()),
        ("check_repurchase", sale),
        ("convert_to_dsl", json!({})),
        ("validate_transactions", json!({})),
        ("estimate_tax", json!({"year": 2024, "taxable_income": "1"})),
        ("sa108_summary", json!({"year": 2024})),
        ("get_excess_reportable_income", json!({"isin": "IE00004FVB93", "ticker": "A"})),
    ];
    for (tool, mut input) in calls {
        input.as_object_mut().unwrap().insert("cgt_content".to_owned(), content.clone());
        let envelope = call_as_owner(kernel, tool, input).await;
        let code = error_code(&envelope);
        assert_ne!(code.as_deref(), Some("INTERNAL_ERROR"), "{tool}, {about}: {envelope:?}");
        assert!(size(&envelope) <= MAX_BYTES, "{tool}, {about}: {} bytes", size(&envelope));
    }
}

#[tokio::test]
async fn unusual_numbers_dates_and_letters_get_a_reply() {
    let kernel = kernel();
    let big = "1000000000000000000000000000000";
    let digits = "9".repeat(28);
    let cases = [
        format!("2024-01-01 BUY A {big} @ 1\n2024-03-01 SELL A 1 @ 1"),
        format!("2024-01-01 BUY A {digits} @ {digits}\n2024-03-01 SELL A 1 @ 1"),
        format!("2024-01-01 BUY A 0.{digits} @ 0.{digits}\n2024-03-01 SELL A 0.{digits} @ 1"),
        "2024-01-01 BUY A 1e30 @ 1".to_owned(),
        "2024-01-01 BUY A NaN @ inf".to_owned(),
        format!(
            "2024-01-01 BUY A 1 @ 1\n2024-02-01 SPLIT A RATIO {digits}\n2024-03-01 SELL A {digits} @ 1"
        ),
        format!(
            "2024-01-01 BUY A 1 @ 1\n2024-02-01 RESTRUCT A RATIO 7:3\n2024-02-02 UNSPLIT A RATIO 0.{digits}\n2024-03-01 SELL A 1 @ 1"
        ),
        "9999-12-30 BUY A 2 @ 1\n9999-12-31 SELL A 1 @ 1".to_owned(),
        "0001-01-01 BUY A 2 @ 1\n0001-01-02 SELL A 1 @ 1".to_owned(),
        "0000-01-01 BUY A 2 @ 1".to_owned(),
        "2024-01-01 BUY 株式会社 2 @ 1\n2024-01-01 BUY Ａ 2 @ 1\n2024-01-01 BUY \u{202e}A 1 @ 1"
            .to_owned(),
        "2024-01-01 BUY A\u{0} 2 @ 1\u{0}".to_owned(),
        "\u{feff}2024-01-01 BUY A 2 @ 1\r2024-03-01 SELL A 1 @ £1,000.50".to_owned(),
        "[".repeat(100_000),
        format!("[{}]", "{\"date\":1},".repeat(5_000)),
        format!("{}1{}", "{\"a\":".repeat(1_000), "}".repeat(1_000)),
        format!("2024-01-01 BUY A 1 @ 1 #{}", "x".repeat(100_000)),
        format!("2024-01-01 BUY {} 1 @ 1", "A".repeat(100_000)),
        format!("2024-01-01 {} A 1 @ 1", "B".repeat(1_000_000)),
        "\n".repeat(100_000),
    ];
    for content in &cases {
        let about: String = content.chars().take(60).collect();
        every_tool(&kernel, &json!(content), &about).await;
    }
    let items = json!([{"date": "9999-12-31", "action": "buy", "ticker": "A", "quantity": 1e300, "price": -0.0}, 5, null, [[]]]);
    every_tool(&kernel, &items, "a list of anything").await;
    let item = json!({"date": "2024-01-01", "action": "buy", "ticker": "A", "quantity": 1, "price": 1, "nobody reads this": "x".repeat(100)});
    every_tool(&kernel, &json!(vec![item; 3_000]), "members that nobody reads").await;
}

#[tokio::test]
async fn thirty_day_window_beyond_the_calendar_is_rejected() {
    let kernel = kernel();
    let input = json!({"cgt_content": "2024-01-01 BUY A 2 @ 1\n9999-12-31 SELL A 1 @ 1", "disposal_date": "9999-12-31", "ticker": "A"});
    let envelope = call_as_owner(&kernel, "check_repurchase", input).await;
    assert_eq!(error_code(&envelope).as_deref(), Some("INVALID_DATE"));
}

#[tokio::test]
async fn ten_megabyte_input_gets_a_short_reply() {
    let kernel = kernel();
    let good = "2024-01-01 BUY A 1 @ 1\n".repeat(10_000_000 / 23);
    let bad = "2024-01-01 BUY A one @ 1\n".repeat(10_000_000 / 25);
    let cases = [
        ("calculate_report", "good", good),
        ("validate_transactions", "bad", bad),
        ("parse_transactions", "one word", "x".repeat(10_000_000)),
    ];
    for (tool, about, content) in cases {
        let envelope = call_as_owner(&kernel, tool, json!({"cgt_content": content})).await;
        let code = error_code(&envelope);
        assert_ne!(code.as_deref(), Some("INTERNAL_ERROR"), "{tool}, {about}");
        assert!(size(&envelope) <= MAX_BYTES, "{tool}, {about}: {}", size(&envelope));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_callers_get_their_own_replies() {
    let kernel = kernel();
    let content = |caller: u32| {
        format!("2024-01-15 BUY A 100 @ {}\n2024-06-20 SELL A 50 @ {}", caller + 1, 3 * caller + 7)
    };
    let calls = (0..32).map(|caller| {
        let (kernel, content) = (Arc::clone(&kernel), content(caller));
        tokio::spawn(async move {
            call_as_owner(&kernel, "calculate_report", json!({"cgt_content": content})).await
        })
    });
    for (caller, call) in (0..).zip(calls.collect::<Vec<_>>()) {
        let Envelope::Result { structured: Some(report), is_error: false, .. } =
            call.await.unwrap()
        else {
            panic!("caller {caller} was refused")
        };
        let gain = 50 * (3 * caller + 7) - 50 * (caller + 1);
        assert_eq!(
            report.value()["tax_years"][0]["net_gain"],
            format!("{gain}.00"),
            "caller {caller}"
        );
    }
}
