//! Parsing of arguments shared by several tools: amounts, quantities, tax years.

use std::borrow::Cow;
use std::fmt;

use panoply_contract::error::ToolError;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer};
use serde_json::json;

use super::dialect::EXAMPLE_KEY;
use super::explain_matching::date_of;
use crate::currency::Currency;
use crate::engine::Absence;
use crate::engine::report::{Report, YearReport};
use crate::money::Money;
use crate::number;
use crate::parameters::Parameters;
use crate::tax_year::TaxYear;
use crate::transaction::{Amount, Quantity};

/// A number that callers write as text or as a JSON number.
#[derive(Clone, Debug)]
pub(super) struct NumberText(pub(super) String);

impl NumberText {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for NumberText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrNumber;
        impl Visitor<'_> for TextOrNumber {
            type Value = NumberText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, as text or as a JSON number")
            }

            fn visit_str<E>(self, text: &str) -> Result<NumberText, E> {
                Ok(NumberText(text.to_owned()))
            }

            fn visit_i64<E>(self, number: i64) -> Result<NumberText, E> {
                Ok(NumberText(number.to_string()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<NumberText, E> {
                Ok(NumberText(number.to_string()))
            }

            fn visit_f64<E>(self, number: f64) -> Result<NumberText, E> {
                Ok(NumberText(number.to_string()))
            }
        }
        deserializer.deserialize_any(TextOrNumber)
    }
}

impl JsonSchema for NumberText {
    fn schema_name() -> Cow<'static, str> {
        "NumberText".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "number"], "minLength": 1, "maxLength": 30})
    }
}

/// A tax year: the year it starts in, or `2024/25`.
#[derive(Clone, Debug)]
pub(super) struct YearText(NumberText);

impl YearText {
    /// The tax year, or an error with an example.
    pub(super) fn year(&self) -> Result<TaxYear, ToolError> {
        TaxYear::parse(self.0.as_str().trim()).map_err(|bad| {
            ToolError::validation("INVALID_YEAR", bad.to_string())
                .hint("give the year in which the tax year starts: 2024 for 2024/25")
                .detail("value", self.0.as_str())
                .detail(EXAMPLE_KEY, json!({"year": 2024}))
        })
    }
}

impl<'de> Deserialize<'de> for YearText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        NumberText::deserialize(deserializer).map(Self)
    }
}

impl JsonSchema for YearText {
    fn schema_name() -> Cow<'static, str> {
        "YearText".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [
            {"type": "integer", "minimum": TaxYear::FIRST, "maximum": TaxYear::LAST},
            {"type": "string", "minLength": 4, "maxLength": 7},
        ]})
    }
}

/// Time during which the person was not resident in the UK.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AbsenceParam {
    /// First day of non-residence, YYYY-MM-DD.
    #[schemars(length(min = 10, max = 10))]
    left: String,
    /// First day of residence afterwards; leave it out while the person is away.
    #[schemars(length(min = 10, max = 10))]
    returned: Option<String>,
}

impl AbsenceParam {
    /// The time, or an error with an example.
    pub(super) fn absence(&self) -> Result<Absence, ToolError> {
        let left = date_of("left", &self.left)?;
        let returned =
            self.returned.as_deref().map(|text| date_of("returned", text)).transpose()?;
        if returned.is_some_and(|returned| returned <= left) {
            return Err(ToolError::validation(
                "INVALID_DATE",
                format!("`returned` is not after `left`, {left}"),
            )
            .hint("give the first day of non-residence and the first day of residence after it")
            .detail("value", self.returned.clone())
            .detail(EXAMPLE_KEY, json!({"left": "2020-04-06", "returned": "2023-04-06"})));
        }
        Ok(Absence { left, returned })
    }
}

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
pub(super) fn pounds_or_none(name: &str, text: Option<&NumberText>) -> Result<Money, ToolError> {
    text.map_or(Ok(Money::ZERO), |text| pounds_of(name, text.as_str()))
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
