//! Parsing of arguments shared by several tools: amounts, quantities, tax years.

use panoply_contract::error::ToolError;
use serde_json::json;

use super::dialect::EXAMPLE_KEY;
use crate::currency::Currency;
use crate::engine::report::{Report, YearReport};
use crate::money::Money;
use crate::number;
use crate::parameters::Parameters;
use crate::tax_year::TaxYear;
use crate::transaction::{Amount, Quantity};

/// Parses an amount in pounds.
pub(super) fn pounds_of(name: &str, text: &str) -> Result<Money, ToolError> {
    let bad = |why: String, hint: &str| {
        ToolError::validation("INVALID_AMOUNT", format!("`{name}` is `{text}`, which {why}"))
            .hint(hint.to_owned())
            .detail("value", text)
            .detail(EXAMPLE_KEY, json!({name: "37700"}))
    };
    let number =
        number::parse(text.trim()).map_err(|error| bad(error.to_string(), error.hint()))?;
    Money::of(number)
        .ok_or_else(|| bad("is above a trillion pounds".to_owned(), "give the amount in pounds"))
}

/// Parses an optional amount in pounds; zero by default.
pub(super) fn pounds_or_none(name: &str, text: Option<&str>) -> Result<Money, ToolError> {
    text.map_or(Ok(Money::ZERO), |text| pounds_of(name, text))
}

/// The single year of a report on one year.
pub(super) fn only_year<'a, 'b>(report: &'a Report<'b>) -> Result<&'a YearReport<'b>, ToolError> {
    report.years.first().ok_or_else(|| ToolError::system("the report lacks the requested year"))
}

/// Parses a price in pounds, keeping its decimals.
pub(super) fn price_of(name: &str, text: &str) -> Result<Amount, ToolError> {
    pounds_of(name, text)?;
    let number =
        number::parse(text.trim()).ok().and_then(|number| Amount::new(number, Currency::GBP));
    number.ok_or_else(|| ToolError::system("a price that was parsed before is not a number"))
}

/// Parses a positive number of shares.
pub(super) fn quantity_of(name: &str, text: &str) -> Result<Quantity, ToolError> {
    let bad = |why: String, hint: &str| {
        ToolError::validation("INVALID_QUANTITY", format!("`{name}` is `{text}`, which {why}"))
            .hint(hint.to_owned())
            .detail("value", text)
            .detail(EXAMPLE_KEY, json!({name: "100"}))
    };
    let number =
        number::parse(text.trim()).map_err(|error| bad(error.to_string(), error.hint()))?;
    Quantity::new(number)
        .ok_or_else(|| bad("must be positive".to_owned(), "give a number of shares, or omit it"))
}

/// Error for a year without known rates.
pub(super) fn unknown_year(year: TaxYear, parameters: &Parameters) -> ToolError {
    let known = match parameters.years() {
        Some((first, last)) => {
            format!("figures are known from {first} to {last}, as of {}", parameters.as_of)
        }
        None => "no figures are known".to_owned(),
    };
    ToolError::not_found(
        "YEAR_NOT_KNOWN",
        format!("rates and exempt amount of {year} are not known; {known}"),
    )
    .hint("ask for a tax year in that range")
    .detail("value", year.to_string())
}
