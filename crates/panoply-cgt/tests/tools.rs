//! Tools through the real pipeline: every scenario of the contract, and errors.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::match_wildcard_for_single_variants,
    reason = "helpers of tests may fail the test, and cases are tuples"
)]

use std::sync::Arc;

use panoply_cgt::tools::{ErrorForm, Settings, pack, pack_with, sample};
use panoply_contract::context::CallContext;
use panoply_contract::dialect::{Envelope, Fault};
use panoply_contract::ids::TraceId;
use panoply_contract::kernel::{Kernel, Scope, Settings as KernelSettings};
use panoply_contract::pack::Pack;
use panoply_contract::resource::ResourceBody;
use panoply_contract::testing::{FixedClock, call_as_owner, check_pack, kernel_in_memory, noon};
use serde::Deserialize;
use serde_json::{Value, json};

fn kernel_with(settings: &Settings) -> Arc<Kernel> {
    let pack = pack(settings).unwrap();
    kernel_in_memory(vec![pack], FixedClock::at(noon()), KernelSettings::default()).unwrap()
}

fn sample_pack(settings: &Settings) -> Pack {
    pack_with(settings, sample::store().unwrap()).unwrap()
}

fn kernel() -> Arc<Kernel> {
    kernel_with(&Settings::default())
}

async fn data(kernel: &Kernel, tool: &str, input: Value) -> Value {
    match call_as_owner(kernel, tool, input.clone()).await {
        Envelope::Result { structured: Some(data), is_error: false, .. } => data.value(),
        other => panic!("{tool} {input}: {other:?}"),
    }
}

async fn refusal(kernel: &Kernel, tool: &str, input: Value) -> (Fault, String, Value) {
    match call_as_owner(kernel, tool, input.clone()).await {
        Envelope::Refusal { fault, message, data } => (fault, message, data),
        other => panic!("{tool} {input}: {other:?}"),
    }
}

#[tokio::test]
async fn every_tool_meets_the_contract() {
    let violations = check_pack(sample_pack(&Settings::default())).await;
    assert!(violations.is_empty(), "{violations:#?}");
    let as_results = Settings { errors: ErrorForm::Result, ..Settings::default() };
    let violations = check_pack(sample_pack(&as_results)).await;
    assert!(violations.is_empty(), "{violations:#?}");
}

#[derive(Deserialize)]
struct Scenario {
    about: String,
    tool: String,
    arguments: Value,
    refused: Option<Vec<String>>,
    #[serde(default)]
    refused_any: Vec<String>,
    text: Option<Vec<String>>,
    length: Option<(String, usize)>,
    #[serde(default)]
    data: serde_json::Map<String, Value>,
}

#[tokio::test]
async fn every_scenario_of_the_contract_holds() {
    let kernel = kernel();
    let scenarios: Vec<Scenario> = serde_json::from_str(include_str!("scenarios.json")).unwrap();
    assert!(scenarios.len() >= 40, "{}", scenarios.len());
    let mut complaints = Vec::new();
    for scenario in &scenarios {
        let envelope = call_as_owner(&kernel, &scenario.tool, scenario.arguments.clone()).await;
        if let Some(classify_error) = classify_error(scenario, &envelope) {
            complaints.push(format!("{}: {classify_error}", scenario.about));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

fn classify_error(scenario: &Scenario, envelope: &Envelope) -> Option<String> {
    match (envelope, &scenario.refused) {
        (Envelope::Refusal { fault: Fault::Input, message, data }, Some(words)) => {
            let missing = words.iter().find(|word| !message.contains(word.as_str()));
            if let Some(word) = missing {
                return Some(format!("`{word}` is not in: {message}"));
            }
            if !scenario.refused_any.is_empty()
                && !scenario.refused_any.iter().any(|word| message.contains(word.as_str()))
            {
                return Some(format!("none of {:?} is in: {message}", scenario.refused_any));
            }
            data.get("code").is_none().then(|| format!("no code in {data}"))
        }
        (Envelope::Result { text, structured: Some(data), is_error: false, .. }, None) => {
            let data = &data.value();
            if let Some(texts) = &scenario.text
                && !texts.contains(text)
            {
                return Some(format!("text is {text:?}, expected {texts:?}"));
            }
            if let Some((list, length)) = &scenario.length
                && at(data, list).and_then(Value::as_array).map(Vec::len) != Some(*length)
            {
                return Some(format!("`{list}` has not {length} elements: {data}"));
            }
            scenario.data.iter().find_map(|(path, expected)| {
                let seen = at(data, path);
                (!seen.is_some_and(|seen| same(seen, expected)))
                    .then(|| format!("`{path}` is {seen:?}, expected {expected}"))
            })
        }
        (other, _) => Some(format!("{other:?}")),
    }
}

fn at<'a>(data: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(data, |value, name| match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        other => other.get(name),
    })
}

/// Compares amounts as numbers: 10 equals 10.00.
fn same(seen: &Value, expected: &Value) -> bool {
    let number =
        |value: &Value| value.as_str().and_then(|text| text.parse::<rust_decimal::Decimal>().ok());
    seen == expected || number(seen).is_some_and(|seen| number(expected) == Some(seen))
}

#[tokio::test]
async fn parse_error_data_has_line_column_value_hint_and_example() {
    let kernel = kernel();
    let content = "2024-01-15 BUY AAPL 100 @ 150\n2024-02-28 SELL AAPL x\n2024-02-30 BUY A 1 @ 1";
    let (fault, message, data) =
        refusal(&kernel, "parse_transactions", json!({"cgt_content": content})).await;
    assert_eq!(fault, Fault::Input);
    for word in ["line 2, column 22", "line 3, column 1", "^", "hint:", "example:"] {
        assert!(message.contains(word), "{word} is not in {message}");
    }
    assert_eq!(
        (&data["line"], &data["column"], &data["value"]),
        (&json!(2), &json!(22), &json!("x"))
    );
    assert_eq!(data["problems"].as_array().unwrap().len(), 2);
    assert!(data["hint"].is_string() && data["example"].is_string(), "{data}");
}

#[tokio::test]
async fn errors_can_be_sent_as_results() {
    let kernel = kernel_with(&Settings { errors: ErrorForm::Result, ..Settings::default() });
    let envelope = call_as_owner(
        &kernel,
        "calculate_report",
        json!({"cgt_content": "2024-01-15 SELL A 1 @ 1"}),
    )
    .await;
    let Envelope::Result { text, structured: None, is_error: true, .. } = envelope else {
        panic!("{envelope:?}")
    };
    let body: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(body["error"]["code"], "EXCEEDS_HOLDING");
    assert_eq!(body["error"]["line"], 1);
}

#[tokio::test]
async fn engine_errors_have_a_code_and_a_hint() {
    let kernel = kernel();
    let cases = [
        ("2024-01-15 SELL A 1 @ 1", "EXCEEDS_HOLDING", "allow_short"),
        ("2010-01-15 BUY A 1 @ 1 USD", "FX_RATE_NOT_FOUND", "RATE"),
        ("2024-01-15 BUY A 1 @ 1\n2024-01-15 SPLIT A RATIO 2", "AMBIGUOUS_SPLIT", "same_day_split"),
        ("2024-01-15 ACCUMULATION A 1 TOTAL 1", "ACCUMULATION_WITHOUT_HOLDING", "date"),
        (
            "2024-01-15 BUY A 1 @ 1\n2024-02-15 CAPRETURN A 1 TOTAL 5",
            "CAPITAL_RETURN_EXCEEDS_COST",
            "s.122",
        ),
        ("2024-01-15 BUY A 1 @ 99999999999999", "NUMBER_TOO_LARGE", "trillion"),
        ("", "NO_TRANSACTIONS", "history"),
    ];
    for (content, code, hint) in cases {
        let (fault, message, data) =
            refusal(&kernel, "calculate_report", json!({"cgt_content": content})).await;
        assert_eq!((fault, data["code"].as_str()), (Fault::Input, Some(code)), "{content}");
        assert!(message.contains(hint), "{content}: {message}");
    }
    let (_, _, data) = refusal(
        &kernel,
        "calculate_report",
        json!({"cgt_content": "2024-01-15 SELL A 1 @ 1", "allow_short": true}),
    )
    .await;
    assert_eq!(data["code"], "NEVER_COVERED");
}

#[tokio::test]
async fn invalid_arguments_are_rejected_by_name() {
    let kernel = kernel();
    let good = "2024-01-15 BUY A 1 @ 1\n2024-03-15 SELL A 1 @ 1";
    let cases = [
        ("parse_transactions", json!({}), "NO_TRANSACTIONS"),
        ("parse_transactions", json!({"content": "x"}), "INVALID_INPUT"),
        ("parse_transactions", json!({"cgt_content": 5}), "INVALID_INPUT"),
        ("parse_transactions", json!({"cgt_content": good, "limit": 0}), "INVALID_INPUT"),
        ("calculate_report", json!({"cgt_content": good, "year": 1}), "INVALID_INPUT"),
        ("calculate_report", json!({"cgt_content": good, "rounding": "up"}), "INVALID_INPUT"),
        (
            "explain_matching",
            json!({"cgt_content": good, "disposal_date": "2024-03-15", "ticker": "A B"}),
            "INVALID_TICKER",
        ),
        ("get_fx_rate", json!({"currency": "USD", "year": 2024, "month": 0}), "INVALID_INPUT"),
        ("get_fx_rate", json!({"currency": "USD", "year": "24", "month": 1}), "INVALID_INPUT"),
        (
            "estimate_tax",
            json!({"cgt_content": good, "year": 2023, "taxable_income": "lots"}),
            "INVALID_AMOUNT",
        ),
        (
            "estimate_tax",
            json!({"cgt_content": good, "year": 2023, "taxable_income": "-1"}),
            "INVALID_AMOUNT",
        ),
        (
            "check_repurchase",
            json!({"cgt_content": good, "disposal_date": "2024-03-15", "ticker": "A", "quantity": "0", "price": "1"}),
            "INVALID_QUANTITY",
        ),
        (
            "compare_scenarios",
            json!({"cgt_content": good, "disposal_date": "2024-03-15", "ticker": "A", "alternatives": []}),
            "INVALID_INPUT",
        ),
        (
            "compare_scenarios",
            json!({"cgt_content": good, "disposal_date": "2024-03-15", "ticker": "A", "alternatives": [{"date": "2024-05-01", "quantity": "2"}]}),
            "MORE_THAN_SOLD",
        ),
        ("get_excess_reportable_income", json!({"isin": "short"}), "INVALID_INPUT"),
    ];
    for (tool, input, code) in cases {
        let (_, _, data) = refusal(&kernel, tool, input.clone()).await;
        assert_eq!(data["code"], code, "{tool} {input}");
    }
}

#[tokio::test]
async fn requested_year_is_the_only_one_reported() {
    let kernel = kernel();
    let content = "2020-01-01 BUY A 10 @ 1\n2021-05-01 SELL A 1 @ 2\n2023-05-01 SELL A 1 @ 3\n2022-05-01 DIVIDEND A TOTAL 7";
    let periods = |report: &Value| -> Vec<String> {
        report["tax_years"]
            .as_array()
            .unwrap()
            .iter()
            .map(|year| year["period"].as_str().unwrap().to_owned())
            .collect()
    };
    let all = data(&kernel, "calculate_report", json!({"cgt_content": content})).await;
    assert_eq!(periods(&all), ["2021/22", "2023/24"]);
    let empty =
        data(&kernel, "calculate_report", json!({"cgt_content": content, "year": 2022})).await;
    assert_eq!(periods(&empty), ["2022/23"]);
    assert_eq!(empty["tax_years"][0]["dividend_income"], "7.00");
}

#[tokio::test]
async fn report_pages_join_to_the_full_report() {
    let kernel = kernel();
    let mut content = "2015-01-01 BUY A 100000 @ 1 USD\n".to_owned();
    let mut day = jiff::civil::date(2016, 1, 1);
    for _ in 0..600 {
        day = day.tomorrow().unwrap();
        content += &format!("{day} SELL A 1 @ 2 USD FEES 0.50 USD\n");
    }
    let (mut offset, mut seen, mut pages) = (0, 0, 0);
    loop {
        let report =
            data(&kernel, "calculate_report", json!({"cgt_content": content, "offset": offset}))
                .await;
        assert!(report.to_string().len() <= 80_000, "{}", report.to_string().len());
        let shown: usize = report["tax_years"]
            .as_array()
            .unwrap()
            .iter()
            .map(|year| year["disposals"].as_array().unwrap().len())
            .sum();
        let counted: u64 = report["tax_years"]
            .as_array()
            .unwrap()
            .iter()
            .map(|year| year["disposal_count"].as_u64().unwrap())
            .sum();
        assert_eq!(counted, 600, "totals are of all");
        seen += shown;
        pages += 1;
        match report["page"]["next_offset"].as_u64() {
            Some(next) => offset = next,
            None => break,
        }
    }
    assert_eq!(seen, 600);
    assert!(pages > 1);
    let summary =
        data(&kernel, "calculate_report", json!({"cgt_content": content, "detail": "summary"}))
            .await;
    assert_eq!(summary["tax_years"][0]["disposals"], json!([]));
    let parsed = data(&kernel, "parse_transactions", json!({"cgt_content": content})).await;
    assert_eq!(parsed["count"], 601);
    assert!(parsed["page"]["next_offset"].is_u64());
}

#[tokio::test]
async fn rounding_option_is_applied() {
    let kernel = kernel();
    let content = "2020-01-01 BUY A 3 @ 3.3333\n2021-05-01 SELL A 1 @ 5.555 FEES 0.10";
    for (rounding, proceeds, gain) in [
        ("per_leg", "5.56", "2.12"),
        ("exact", "5.555", "2.1217"),
        ("whole_pounds", "5.00", "0.00"),
    ] {
        let report = data(
            &kernel,
            "calculate_report",
            json!({"cgt_content": content, "rounding": rounding}),
        )
        .await;
        let year = &report["tax_years"][0];
        assert_eq!(
            (year["gross_proceeds"].as_str(), year["net_gain"].as_str()),
            (Some(proceeds), Some(gain)),
            "{rounding}"
        );
    }
}

#[tokio::test]
async fn settings_override_bundled_rates_and_exempt_amounts() {
    let settings: Settings = serde_json::from_value(json!({
        "exempt_amounts": {"2030": 1500}, "fx_rates": {"2010-01": {"USD": "1.6"}},
    }))
    .unwrap();
    let kernel = kernel_with(&settings);
    let rate =
        data(&kernel, "get_fx_rate", json!({"currency": "USD", "year": 2010, "month": 1})).await;
    assert_eq!(
        (rate["rate"].as_str(), rate["source"].as_str()),
        (Some("1.6"), Some("own rate table"))
    );
    let report = data(
        &kernel,
        "calculate_report",
        json!({"cgt_content": "2020-01-01 BUY A 3 @ 3", "year": 2030}),
    )
    .await;
    assert_eq!(report["tax_years"][0]["exempt_amount"], "1500.00");
    let bad: Settings = serde_json::from_value(
        json!({"exempt_amounts": {"x": 1}, "fx_rates": {"2010": {"USD": "1"}}}),
    )
    .unwrap();
    assert_eq!(pack(&bad).err().unwrap().0.len(), 2);
}

#[tokio::test]
async fn both_resources_are_readable_as_markdown() {
    let kernel = kernel();
    let cx = CallContext::local(
        Arc::clone(kernel.clock()),
        TraceId::parse("4bf92f35-77b3-4da6-a3ce-929d0e0e4736").unwrap(),
    );
    let listed: Vec<String> = kernel
        .resources(&Scope::All, &cx.caller)
        .into_iter()
        .map(|resource| resource.uri)
        .collect();
    assert_eq!(listed, ["cgt://docs/tax-rules", "cgt://docs/dsl-syntax"]);
    for (uri, words) in [
        ("cgt://docs/tax-rules", ["Same Day", "Bed", "Section 104"]),
        ("cgt://docs/dsl-syntax", ["BUY", "SELL", "SPLIT"]),
    ] {
        let content = kernel.read_resource(&Scope::All, uri, &cx).await.unwrap();
        assert_eq!(content.mime_type, "text/markdown");
        let ResourceBody::Text(text) = content.body else { panic!("text") };
        for word in words {
            assert!(text.contains(word), "{uri}: {word}");
        }
    }
}

#[tokio::test]
async fn suspicious_rows_are_reported_without_failing() {
    let kernel = kernel();
    let content = "2024-01-15 BUY A 1 @ 1\n2024-01-15 BUY A 1 @ 1\n2099-01-01 BUY A 1 @ NIL\n2024-01-01 SELL B 1 @ 1\nnonsense";
    let found = data(&kernel, "validate_transactions", json!({"cgt_content": content})).await;
    assert_eq!((&found["is_valid"], &found["error_count"]), (&json!(false), &json!(1)));
    let readable = content.replace("\nnonsense", "");
    let found = data(&kernel, "validate_transactions", json!({"cgt_content": readable})).await;
    assert_eq!(found["error_count"], 1, "{found}");
    assert_eq!(found["warning_count"], 4, "{found}");
}
