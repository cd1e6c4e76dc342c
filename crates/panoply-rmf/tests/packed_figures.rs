//! The packed dataset equals its snapshot: counts, sums and hashes of every column, computed from
//! the snapshot by an independent program (`oracle/source_totals.py`).
#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

use std::fmt::Write as _;

use base64::Engine as _;
use panoply_rmf::catalog::{BUNDLED, FundCatalog};
use panoply_rmf::fund::{Flag, Fund};
use panoply_rmf::period::Period;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

fn totals() -> Value {
    serde_json::from_str(include_str!("oracle/source_totals.json")).unwrap()
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

fn text_column(values: &[Option<String>]) -> Value {
    let joined: Vec<&str> = values.iter().map(|value| value.as_deref().unwrap_or("")).collect();
    json!({"count": values.iter().flatten().count(), "sha256": sha256(&joined.join("\n"))})
}

fn number_column(values: &[Option<Decimal>]) -> Value {
    let known: Vec<Decimal> = values.iter().flatten().copied().collect();
    if known.is_empty() {
        return text_column(&values.iter().map(|_| None).collect::<Vec<_>>());
    }
    let sum: Decimal = known.iter().sum();
    json!({"count": known.len(), "sum": sum.normalize().to_string()})
}

fn base64(text: &Option<String>) -> Option<String> {
    text.as_ref().map(|text| base64::engine::general_purpose::STANDARD.encode(text))
}

fn column(funds: &[Fund], name: &str) -> Value {
    let texts = |read: &dyn Fn(&Fund) -> Option<String>| {
        text_column(&funds.iter().map(read).collect::<Vec<_>>())
    };
    let numbers = |read: &dyn Fn(&Fund) -> Option<Decimal>| {
        number_column(&funds.iter().map(read).collect::<Vec<_>>())
    };
    if let Some(period) = name.strip_prefix("perf_").and_then(Period::parse) {
        return numbers(&|fund| fund.returns.get(period));
    }
    if let Some(period) = name.strip_prefix("benchmark_").and_then(Period::parse) {
        return numbers(&|fund| fund.benchmark.returns.get(period));
    }
    match name {
        "fund_id" => texts(&|fund| Some(fund.fund_id.clone())),
        "symbol" => texts(&|fund| Some(fund.symbol.clone())),
        "fund_name" => texts(&|fund| Some(fund.name.clone())),
        "amc" => texts(&|fund| Some(fund.company.name.clone())),
        "fund_classification" => texts(&|fund| fund.classification.clone()),
        "management_style" => texts(&|fund| fund.management_style.clone()),
        "dividend_policy" => texts(&|fund| fund.dividend_policy.clone()),
        "risk_level" => numbers(&|fund| Some(fund.risk.get().into())),
        "nav_date" => texts(&|fund| fund.nav.latest().map(|point| point.date.to_string())),
        "nav_value" => numbers(&|fund| fund.nav.latest().map(|point| point.nav)),
        "buy_price" => numbers(&|fund| fund.buy_price),
        "sell_price" => numbers(&|fund| fund.sell_price),
        "benchmark_name" => texts(&|fund| fund.benchmark.name.clone()),
        "min_initial" => numbers(&|fund| fund.minimums.initial),
        "min_additional" => numbers(&|fund| fund.minimums.additional),
        "min_redemption" => numbers(&|fund| fund.minimums.redemption),
        "min_balance" => numbers(&|fund| fund.minimums.balance),
        "factsheet_url" => texts(&|fund| fund.documents.factsheet.clone()),
        "annual_report_url" => texts(&|fund| fund.documents.annual_report.clone()),
        "halfyear_report_url" => texts(&|fund| fund.documents.halfyear_report.clone()),
        "suitability_risk_level" => texts(&|fund| base64(&fund.suitability.risk_level)),
        "suitability_target_investor" => texts(&|fund| base64(&fund.suitability.target_investor)),
        "suitability_investment_horizon" => {
            texts(&|fund| base64(&fund.suitability.investment_horizon))
        }
        "volatility_1y" => numbers(&|fund| fund.volatility_1y),
        "tracking_error" => numbers(&|fund| fund.tracking_error),
        "x_net_asset" => numbers(&|fund| fund.net_assets),
        "x_fund_name_th" => texts(&|fund| fund.name_th.clone()),
        "x_amc_id" => texts(&|fund| Some(fund.company.id.clone())),
        "x_fund_status" => texts(&|fund| Some(fund.status.as_str().to_owned())),
        "x_regis_date" => texts(&|fund| fund.registered.map(|date| date.to_string())),
        "x_aimc_category" => texts(&|fund| fund.compare_code.clone()),
        "x_sec_policy_th" => texts(&|fund| fund.policy_th.clone()),
        "x_sec_std_dev" => numbers(&|fund| fund.deviation.as_ref().map(|found| found.percent)),
        "x_sec_std_dev_period" => {
            texts(&|fund| fund.deviation.as_ref().map(|found| found.period.clone()))
        }
        _ => Value::Null,
    }
}

#[test]
fn every_column_equals_the_snapshot() {
    let (catalog, totals) = (FundCatalog::bundled().unwrap(), totals());
    assert_eq!(json!(catalog.funds().len()), totals["funds"]);
    for (name, expected) in totals["columns"].as_object().unwrap() {
        assert_eq!(column(catalog.funds(), name), *expected, "column {name}");
    }
}

#[test]
fn allocations_fees_and_navs_equal_the_snapshot() {
    let (catalog, totals) = (FundCatalog::bundled().unwrap(), totals());
    let parts: Vec<_> =
        catalog.funds().iter().flat_map(|fund| fund.allocation.iter().flatten()).collect();
    let classes: Vec<&str> = parts.iter().map(|part| part.asset_class.as_str()).collect();
    let sum: Decimal = parts.iter().map(|part| part.percent).sum();
    let allocation = json!({
        "count": parts.len(), "sum": sum.normalize().to_string(), "sha256": sha256(&classes.join("\n")),
    });
    assert_eq!(allocation, totals["allocation"]);

    let fees: Vec<_> = catalog.funds().iter().flat_map(|fund| &fund.fees).collect();
    let lines: Vec<String> =
        fees.iter().map(|fee| format!("{}{}", fee.kind, fee.description)).collect();
    let known = fees.iter().filter(|fee| fee.value.is_some()).count();
    let fees = json!({"count": fees.len(), "known": known, "sha256": sha256(&lines.join("\n"))});
    assert_eq!(fees, totals["fees"]);

    let days: Vec<(String, Decimal)> = catalog
        .funds()
        .iter()
        .flat_map(|fund| {
            fund.nav.points().iter().map(|point| {
                let line = format!("{} {} {}", fund.symbol, point.date, point.nav.normalize());
                (line, point.nav)
            })
        })
        .collect();
    let lines: Vec<&str> = days.iter().map(|(line, _)| line.as_str()).collect();
    let sum: Decimal = days.iter().map(|(_, nav)| nav).sum();
    let nav = json!({
        "count": days.len(), "sum": sum.normalize().to_string(), "sha256": sha256(&lines.join("\n")),
    });
    assert_eq!(nav, totals["nav"]);
}

#[test]
fn nav_change_is_computed_from_the_last_two_records() {
    let (catalog, totals) = (FundCatalog::bundled().unwrap(), totals());
    let changes: serde_json::Map<String, Value> = catalog
        .funds()
        .iter()
        .filter_map(|fund| {
            let change = fund.nav.latest_change()?;
            let pair = json!([change.baht.normalize().to_string(), change.percent.to_string()]);
            Some((fund.symbol.clone(), pair))
        })
        .collect();
    assert_eq!(Value::Object(changes), totals["nav_change"]);
}

#[test]
fn data_flags_are_reported_with_the_funds() {
    let (catalog, totals) = (FundCatalog::bundled().unwrap(), totals());
    let counts = catalog.flag_counts();
    for (name, expected) in totals["flags"].as_object().unwrap() {
        let flag = Flag::parse(name).unwrap();
        assert_eq!(json!(counts[&flag]), *expected, "flag {name}");
    }
    assert_eq!(counts[&Flag::AllocationDoesNotAddUp], 9);
    assert!(catalog.find("BFLRMF").unwrap().flags.contains(&Flag::AllocationDoesNotAddUp));
    let offered = catalog.find("B-USPASSIVERMF").unwrap();
    assert_eq!(offered.flags, [Flag::NoNav]);
    assert_eq!(offered.nav.latest(), None, "a missing NAV is not zero");
}

#[test]
fn every_code_is_found_with_any_punctuation() {
    let catalog = FundCatalog::bundled().unwrap();
    for fund in catalog.funds() {
        let spoken = fund.symbol.to_lowercase().replace(['-', '/', '(', ')'], " ");
        assert_eq!(catalog.find(&fund.symbol).unwrap().symbol, fund.symbol);
        assert_eq!(catalog.find(&spoken).unwrap().symbol, fund.symbol, "spoken: {spoken}");
    }
}

#[test]
fn readme_states_the_dataset_checksum() {
    let readme = include_str!("../../../data/rmf/README.md");
    let text = std::str::from_utf8(BUNDLED).unwrap();
    assert!(readme.contains(&sha256(text)), "expected {} in data/rmf/README.md", sha256(text));
}
