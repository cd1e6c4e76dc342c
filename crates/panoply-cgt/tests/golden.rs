//! Golden cases in `golden/`: HMRC's examples, published cases of other calculators, and random
//! portfolios computed by an exact model in Python fractions (`oracle/`).
#![expect(
    clippy::unwrap_used,
    clippy::type_complexity,
    reason = "helpers of tests may fail the test, and cases are tuples"
)]

use std::fs;
use std::path::Path;

use panoply_cgt::dsl;
use panoply_cgt::engine::report::{Report, Rounding, report};
use panoply_cgt::engine::{Computation, EngineError, Options, SameDaySplit, compute};
use panoply_cgt::fx::Rates;
use panoply_cgt::parameters::Parameters;
use rust_decimal::Decimal;
use serde::Deserialize;

/// A number, sent as text.
#[derive(Clone, Copy)]
struct Figure(Decimal);

impl<'de> Deserialize<'de> for Figure {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(serde::de::Error::custom)
    }
}

#[derive(Deserialize)]
struct Case {
    about: String,
    #[serde(default)]
    options: CaseOptions,
    input: Vec<String>,
    refused: Option<String>,
    #[serde(default)]
    years: Vec<Year>,
    #[serde(default)]
    holdings: Vec<(String, Figure, Figure)>,
    #[serde(default)]
    transfers: Vec<(String, String, Figure, Figure)>,
    #[serde(default)]
    whole_pounds: Vec<(String, Figure, Figure, Option<Figure>, Option<Figure>)>,
}

#[derive(Default, Deserialize)]
struct CaseOptions {
    #[serde(default)]
    allow_short: bool,
    same_day_split: Option<String>,
}

#[derive(Deserialize)]
struct Year {
    year: String,
    gains: Figure,
    losses: Figure,
    net: Figure,
    proceeds: Figure,
    costs: Figure,
    dividends: Figure,
    tax: Figure,
    disposals: Vec<Disposal>,
}

#[derive(Deserialize)]
struct Disposal {
    date: String,
    ticker: String,
    quantity: Figure,
    gross: Figure,
    net: Figure,
    gain: Figure,
    legs: Vec<(String, Figure, Figure, Figure, Option<String>)>,
}

#[test]
fn golden_cases_match_their_published_figures() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 78, "only {} cases", files.len());
    let mut mismatches = Vec::new();
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let case: Case = serde_json::from_str(&fs::read_to_string(&file).unwrap())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut found = Mismatches { case: format!("{name} ({})", case.about), list: Vec::new() };
        check(&case, &mut found);
        mismatches.append(&mut found.list);
    }
    assert!(
        mismatches.is_empty(),
        "{} figures differ:\n{}",
        mismatches.len(),
        mismatches.join("\n")
    );
}

struct Mismatches {
    case: String,
    list: Vec<String>,
}

impl Mismatches {
    fn same<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, seen: T, expected: T) {
        if seen != expected {
            self.list.push(format!("{}: {what}: {seen:?}, expected {expected:?}", self.case));
        }
    }

    fn near(&mut self, what: &str, seen: &str, expected: Figure, tolerance: &str) {
        let seen: Decimal = seen.parse().unwrap();
        if (seen - expected.0).abs() > tolerance.parse().unwrap() {
            self.list.push(format!("{}: {what}: {seen}, expected {}", self.case, expected.0));
        }
    }
}

fn check(case: &Case, found: &mut Mismatches) {
    let same_day_split = match case.options.same_day_split.as_deref() {
        Some("after_trades") => SameDaySplit::AfterTrades,
        Some("before_trades") => SameDaySplit::BeforeTrades,
        _ => SameDaySplit::Refuse,
    };
    let options =
        Options { allow_short: case.options.allow_short, same_day_split, ..Options::default() };
    let rows = dsl::parse(&case.input.join("\n")).unwrap();
    match (compute(&rows, &Rates::default(), options), &case.refused) {
        (Ok(computation), None) => check_figures(case, &computation, found),
        (Err(errors), Some(refused)) => {
            found.same(
                "refused",
                errors.iter().map(kind_of).collect::<Vec<_>>(),
                vec![refused.as_str()],
            );
        }
        (Ok(_), Some(refused)) => found.same("outcome", "computed", refused.as_str()),
        (Err(errors), None) => found.same("outcome", format!("{errors:?}"), "computed".to_owned()),
    }
}

fn kind_of(error: &EngineError) -> &'static str {
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

fn check_figures(case: &Case, computation: &Computation, found: &mut Mismatches) {
    let parameters = Parameters::bundled().unwrap();
    let exact = report(computation, parameters, None, Rounding::Exact);
    check_exact(case, &exact, found);
    check_pence(case, &report(computation, parameters, None, Rounding::PerLeg), found);
    check_whole_pounds(case, &report(computation, parameters, None, Rounding::WholePounds), found);
    let left: Vec<_> =
        computation.holdings.iter().filter(|held| !held.quantity.is_zero()).collect();
    found.same("number of holdings", left.len(), case.holdings.len());
    for (held, (ticker, quantity, cost)) in left.iter().zip(&case.holdings) {
        found.same("holding", held.ticker.as_str(), ticker);
        found.near("held", &held.quantity.to_string(), *quantity, "0.000001");
        found.near("pool cost", &held.cost.to_string(), *cost, "0");
    }
    found.same("number of transfers", computation.transfers.len(), case.transfers.len());
    for (transfer, (date, ticker, quantity, cost)) in
        computation.transfers.iter().zip(&case.transfers)
    {
        found.same(
            "transfer",
            (&transfer.date.to_string(), transfer.ticker.as_str()),
            (date, ticker),
        );
        found.near("transferred", &transfer.quantity.to_string(), *quantity, "0.000001");
        found.near("transferred cost", &transfer.cost.exact(), *cost, "0.000001");
    }
}

fn check_exact(case: &Case, report: &Report<'_>, found: &mut Mismatches) {
    found.same("number of years", report.years.len(), case.years.len());
    for (seen, expected) in report.years.iter().zip(&case.years) {
        found.same("year", &seen.year.to_string(), &expected.year);
        found.near("dividends", &seen.dividends.income.to_string(), expected.dividends, "0");
        found.near("dividend tax", &seen.dividends.tax.to_string(), expected.tax, "0");
        found.same("number of disposals", seen.disposals.len(), expected.disposals.len());
        for (disposal, expected) in seen.disposals.iter().zip(&expected.disposals) {
            let what = format!("{} {}", expected.date, expected.ticker);
            found.same(
                "disposal",
                format!("{} {}", disposal.disposal.date, disposal.disposal.ticker),
                what.clone(),
            );
            found.near(
                &what,
                &disposal.disposal.quantity.to_string(),
                expected.quantity,
                "0.000001",
            );
            found.near(&what, &disposal.gross.to_string(), expected.gross, "0");
            found.near(&what, &disposal.proceeds.to_string(), expected.net, "0");
            found.near(&what, &disposal.gain.exact(), expected.gain, "0.00000001");
            found.same(&what, disposal.legs.len(), expected.legs.len());
            for (leg, (rule, quantity, cost, gain, acquired)) in
                disposal.legs.iter().zip(&expected.legs)
            {
                found.same(&what, leg.leg.rule.as_str(), rule.as_str());
                found.near(&what, &leg.leg.quantity.to_string(), *quantity, "0.000001");
                found.near(&what, &leg.cost.exact(), *cost, "0.000001");
                found.near(&what, &leg.gain.exact(), *gain, "0.000001");
                found.same(&what, leg.leg.acquired.map(|date| date.to_string()), acquired.clone());
            }
        }
    }
}

/// Rounded totals differ from the exact ones by at most a penny per leg.
fn check_pence(case: &Case, report: &Report<'_>, found: &mut Mismatches) {
    for (seen, expected) in report.years.iter().zip(&case.years) {
        let legs: usize = expected.disposals.iter().map(|disposal| disposal.legs.len()).sum();
        let tolerance = Decimal::new(i64::try_from(legs).unwrap(), 2).to_string();
        for (what, amount, expected) in [
            ("gains", seen.total_gain, expected.gains),
            ("losses", seen.total_loss, expected.losses),
            ("net", seen.net_gain, expected.net),
            ("proceeds", seen.gross_proceeds, expected.proceeds),
            ("costs", seen.allowable_cost, expected.costs),
        ] {
            found.near(what, &amount.to_string(), expected, &tolerance);
        }
        for disposal in &seen.disposals {
            let legs = disposal.legs.iter().map(|leg| leg.gain).sum();
            found.same("legs add up", disposal.gain, legs);
        }
    }
}

/// Totals of another calculator in whole pounds. It rounds every purchase up before pooling, we
/// round the legs of disposals only, so a pound per leg and per disposal may differ.
fn check_whole_pounds(case: &Case, report: &Report<'_>, found: &mut Mismatches) {
    for (year, gains, losses, proceeds, costs) in &case.whole_pounds {
        let Some(seen) = report.years.iter().find(|seen| &seen.year.to_string() == year) else {
            continue;
        };
        let roundings: usize = seen.disposals.iter().map(|disposal| 1 + disposal.legs.len()).sum();
        let tolerance = roundings.to_string();
        found.near("whole pounds: gains", &seen.total_gain.to_string(), *gains, &tolerance);
        found.near("whole pounds: losses", &seen.total_loss.to_string(), *losses, &tolerance);
        for (what, seen, expected) in [
            ("whole pounds: proceeds", seen.gross_proceeds, proceeds),
            ("whole pounds: costs", seen.allowable_cost + seen.selling_costs, costs),
        ] {
            if let Some(expected) = expected {
                found.near(what, &seen.to_string(), *expected, &tolerance);
            }
        }
    }
}
