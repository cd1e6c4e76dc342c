//! Random portfolios compared with an exact model in Python fractions: `oracle/model.py` writes
//! `oracle/cases.json`.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::type_complexity,
    reason = "helpers of tests may fail the test, and cases are tuples"
)]

use panoply_cgt::dsl;
use panoply_cgt::engine::{EngineError, Options, compute};
use panoply_cgt::fx::Rates;
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    seed: u32,
    allow_short: bool,
    input: Vec<String>,
    refused: Option<Vec<String>>,
    #[serde(default)]
    disposals: Vec<(String, String, String, Vec<(String, String, String, String, Option<String>)>)>,
    #[serde(default)]
    transfers: Vec<(String, String, String, String)>,
    #[serde(default)]
    holdings: Vec<(String, String, String)>,
}

#[test]
fn engine_agrees_with_the_exact_fraction_model() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("oracle/cases.json")).unwrap();
    assert!(cases.len() >= 150);
    for case in &cases {
        check(case);
    }
}

fn check(case: &Case) {
    let rows = dsl::parse(&case.input.join("\n")).unwrap();
    let options = Options { allow_short: case.allow_short, ..Options::default() };
    let computed = compute(&rows, &Rates::default(), options);
    let seed = case.seed;
    if let Some(refused) = &case.refused {
        let errors = computed.expect_err(&format!("seed {seed}"));
        let kinds: Vec<&str> = errors.iter().map(kind_of).collect();
        assert_eq!(kinds.len(), refused.len(), "seed {seed}: {kinds:?}");
        return assert!(refused.iter().all(|word| kinds.contains(&word.as_str())), "seed {seed}");
    }
    let computed = computed.unwrap_or_else(|errors| panic!("seed {seed}: {errors:?}"));
    assert_eq!(computed.disposals.len(), case.disposals.len(), "seed {seed}");
    for (seen, (date, ticker, quantity, legs)) in computed.disposals.iter().zip(&case.disposals) {
        let at = format!("seed {seed}, {date} {ticker}");
        assert_eq!((&seen.date.to_string(), seen.ticker.as_str()), (date, ticker.as_str()), "{at}");
        near(&at, &seen.quantity.to_string(), quantity);
        assert_eq!(seen.legs.len(), legs.len(), "{at}");
        for (leg, (rule, quantity, cost, gain, acquired)) in seen.legs.iter().zip(legs) {
            assert_eq!(leg.rule.as_str(), rule, "{at}");
            near(&at, &leg.quantity.to_string(), quantity);
            near(&at, &leg.cost.exact(), cost);
            near(&at, &leg.gain().exact(), gain);
            assert_eq!(leg.acquired.map(|date| date.to_string()), *acquired, "{at}");
        }
    }
    assert_eq!(computed.transfers.len(), case.transfers.len(), "seed {seed}");
    for (seen, (date, ticker, quantity, cost)) in computed.transfers.iter().zip(&case.transfers) {
        let at = format!("seed {seed}, transfer {date} {ticker}");
        assert_eq!(&seen.date.to_string(), date, "{at}");
        near(&at, &seen.quantity.to_string(), quantity);
        near(&at, &seen.cost.exact(), cost);
    }
    for (ticker, quantity, cost) in &case.holdings {
        let at = format!("seed {seed}, holding {ticker}");
        let held = computed.holdings.iter().find(|held| held.ticker.as_str() == ticker);
        let zero = || "0".to_owned();
        near(&at, &held.map_or_else(zero, |held| held.quantity.to_string()), quantity);
        near(&at, &held.map_or_else(zero, |held| held.cost.exact()), cost);
    }
}

fn near(at: &str, seen: &str, expected: &str) {
    let (seen, expected): (rust_decimal::Decimal, rust_decimal::Decimal) =
        (seen.parse().unwrap(), expected.parse().unwrap());
    // The model prints nine decimals.
    assert!(
        (seen - expected).abs() <= "0.000000001".parse().unwrap(),
        "{at}: {seen}, expected {expected}"
    );
}

const fn kind_of(error: &EngineError) -> &'static str {
    match error {
        EngineError::ExceedsHolding { .. } => "exceeds_holding",
        EngineError::NeverCovered { .. } => "never_covered",
        EngineError::AmbiguousSplit { .. } => "ambiguous_split",
        EngineError::AccumulationWithoutHolding { .. } => "accumulation_without_holding",
        EngineError::CapitalReturnExceedsCost { .. } => "capital_return_exceeds_cost",
        EngineError::ValueRequired { .. } => "value_required",
        EngineError::EventWithoutHolding { .. } => "event_without_holding",
        EngineError::CircularExchange { .. } => "circular_exchange",
        EngineError::BeforeApril2008 { .. } => "before_april_2008",
        EngineError::MissingRate { .. } => "missing_fx_rate",
        EngineError::TooLarge { .. } => "too_large",
    }
}
