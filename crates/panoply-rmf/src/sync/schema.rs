//! Schema of the API's rows: which fields must be present and which must parse.
//!
//! A field that is present but cannot be parsed is an error of its record. It is never read as a
//! missing figure, because a missing figure may replace a known one.

use serde_json::Value;

use super::fetch::ProjectRows;
use super::fields::{Cell, day_cell, number_cell, text_cell};
use crate::fund::RiskLevel;

/// Type of a field.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Text,
    Number,
    Date,
    /// `RS1` to `RS81`.
    RiskSpectrum,
}

/// A field of a row.
struct Field {
    name: &'static str,
    kind: Kind,
    required: bool,
}

const fn required(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: true }
}

const fn optional(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: false }
}

const CLASS: Field = optional("fund_class_name", Kind::Text);
const SHEET_DATE: Field = required("start_date", Kind::Date);

const PERFORMANCE: &[Field] = &[
    CLASS,
    SHEET_DATE,
    required("performance_type_desc", Kind::Text),
    required("reference_period", Kind::Text),
    optional("performance_value", Kind::Number),
];
const BENCHMARKS: &[Field] = &[SHEET_DATE, optional("benchmark", Kind::Text)];
const RISK: &[Field] = &[
    SHEET_DATE,
    required("risk_spectrum", Kind::RiskSpectrum),
    optional("risk_spectrum_desc", Kind::Text),
];
const FEES: &[Field] = &[
    CLASS,
    SHEET_DATE,
    required("fee_type_desc", Kind::Text),
    optional("rate", Kind::Number),
    optional("actual_value", Kind::Number),
    optional("fee_other_desc", Kind::Text),
];
const STATISTICS: &[Field] = &[
    CLASS,
    SHEET_DATE,
    optional("maximum_drawdown", Kind::Number),
    optional("sharpe_ratio", Kind::Number),
    optional("alpha", Kind::Number),
    optional("beta", Kind::Number),
    optional("fx_hedging", Kind::Number),
    optional("portfolio_turnover_ratio", Kind::Number),
    optional("yield_to_maturity", Kind::Number),
    optional("tracking_error", Kind::Number),
];
const PARTS: &[Field] = &[
    SHEET_DATE,
    required("asset_name", Kind::Text),
    required("asset_ratio", Kind::Number),
    optional("asset_seq", Kind::Number),
];
const MINIMUMS: &[Field] = &[
    CLASS,
    SHEET_DATE,
    optional("minimum_sub_ipo", Kind::Number),
    optional("minimum_sub", Kind::Number),
    optional("minimum_redempt", Kind::Number),
    optional("lowbal_val", Kind::Number),
];
const DIVIDENDS: &[Field] = &[CLASS, SHEET_DATE, optional("dividend_policy", Kind::Text)];
const URLS: &[Field] =
    &[CLASS, optional("pdf_factsheet", Kind::Text), optional("amc_url_factsheet", Kind::Text)];
const NAV: &[Field] = &[
    CLASS,
    required("nav_date", Kind::Date),
    optional("last_val", Kind::Number),
    optional("buy_price", Kind::Number),
    optional("sell_price", Kind::Number),
    optional("net_asset", Kind::Number),
];
const SPECIFICATIONS: &[Field] =
    &[CLASS, required("proj_id", Kind::Text), required("spec_code", Kind::Text)];
const PROFILES: &[Field] = &[
    CLASS,
    required("proj_id", Kind::Text),
    required("proj_abbr_name", Kind::Text),
    optional("proj_name_en", Kind::Text),
    optional("proj_name_th", Kind::Text),
    optional("comp_name_en", Kind::Text),
    optional("policy_desc", Kind::Text),
    optional("regis_date", Kind::Date),
    optional("feederfund_master_fund", Kind::Text),
    optional("fund_class_isin_code", Kind::Text),
];

/// Checks the rows of the register's specifications.
pub(super) fn check_specifications(rows: &[Value]) -> Result<(), String> {
    check("specifications", SPECIFICATIONS, rows)
}

/// Checks the rows of the register's profiles.
pub(super) fn check_profiles(rows: &[Value]) -> Result<(), String> {
    check("profiles", PROFILES, rows)
}

/// Checks all rows of a project and returns the problems, at most one per endpoint.
pub(super) fn problems(rows: &ProjectRows) -> Vec<String> {
    let checks: [(&str, &[Field], &[Value]); 11] = [
        ("performance", PERFORMANCE, &rows.performance),
        ("benchmarks", BENCHMARKS, &rows.benchmarks),
        ("risk-spectrum", RISK, &rows.risk),
        ("fees", FEES, &rows.fees),
        ("statistics", STATISTICS, &rows.statistics),
        ("asset-allocation", PARTS, &rows.allocation),
        ("top5-holdings", PARTS, &rows.holdings),
        ("subscription-redemption-minimums", MINIMUMS, &rows.minimums),
        ("dividend-policy", DIVIDENDS, &rows.dividends),
        ("urls", URLS, &rows.urls),
        ("nav", NAV, &rows.nav),
    ];
    checks.into_iter().filter_map(|(name, fields, rows)| check(name, fields, rows).err()).collect()
}

fn check(endpoint: &str, fields: &[Field], rows: &[Value]) -> Result<(), String> {
    for row in rows {
        for field in fields {
            if let Some(problem) = fault(row, field) {
                return Err(format!("`{}` of {endpoint} {problem}", field.name));
            }
        }
    }
    Ok(())
}

fn fault(row: &Value, field: &Field) -> Option<String> {
    let invalid = match field.kind {
        Kind::Text => state(&text_cell(row, field.name)),
        Kind::Number => state(&number_cell(row, field.name)),
        Kind::Date => state(&day_cell(row, field.name)),
        Kind::RiskSpectrum => match text_cell(row, field.name) {
            Cell::Value(code) => Some(RiskLevel::parse_spectrum(&code).is_none()),
            other => state(&other),
        },
    };
    match invalid {
        Some(false) => None,
        Some(true) => {
            let value = row.get(field.name).map(Value::to_string).unwrap_or_default();
            let shown: String = value.chars().take(40).collect();
            Some(format!("is {shown}, expected {}", expected(field.kind)))
        }
        None => field.required.then(|| "is missing".to_owned()),
    }
}

/// Whether a cell is invalid; `None` when it is missing.
const fn state<T>(cell: &Cell<T>) -> Option<bool> {
    match cell {
        Cell::Missing => None,
        Cell::Value(_) => Some(false),
        Cell::Invalid => Some(true),
    }
}

const fn expected(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "a text",
        Kind::Number => "a number",
        Kind::Date => "a date",
        Kind::RiskSpectrum => "a risk level from RS1 to RS81",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unparsable_field_is_named_and_a_missing_one_only_when_required() {
        let sheet = |value: Value| ProjectRows {
            performance: vec![json!({
                "start_date": "2025-10-31", "performance_type_desc": "x",
                "reference_period": "1 year", "performance_value": value,
            })],
            ..ProjectRows::default()
        };
        for good in
            [json!("8.80"), json!(8.8), json!("-"), json!(""), Value::Null, json!("-1,234.5")]
        {
            assert_eq!(problems(&sheet(good)), [""; 0]);
        }
        for bad in [json!("8.80%"), json!({"value": 8.8}), json!("abc"), json!([1]), json!(true)] {
            let told = problems(&sheet(bad)).join(" ");
            assert!(told.contains("performance_value") && told.contains("a number"), "{told}");
        }
        let undated = ProjectRows {
            nav: vec![json!({"nav_date": "yesterday", "last_val": "1"})],
            risk: vec![json!({"start_date": "2025-10-31", "risk_spectrum": "RS99"})],
            fees: vec![json!({"start_date": "2025-10-31"})],
            ..ProjectRows::default()
        };
        let told = problems(&undated);
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told.iter().any(|line| line == "`fee_type_desc` of fees is missing"), "{told:?}");
    }
}
