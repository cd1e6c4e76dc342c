//! JSON types shared by the tools: figures, dates, fund rows, sort arguments.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::civil::Date;
use panoply_contract::params::SortOrder;
use panoply_contract::prelude::*;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::ser::Serializer;
use serde_json::{Value, json};

use super::data_age::DataAge;
use super::locale::Locale;
use crate::figures::to_f64;
use crate::fund::{Flag, Fund};
use crate::period::Period;
use crate::query::{Direction, SortKey};
use crate::tax::FIRST_YEAR;

/// Exact decimal, serialized as a JSON number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Figure(pub(crate) Decimal);

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_i64().filter(|_| self.0.is_integer()) {
            Some(whole) => serializer.serialize_i64(whole),
            None => serializer.serialize_f64(to_f64(self.0)),
        }
    }
}

impl JsonSchema for Figure {
    fn schema_name() -> Cow<'static, str> {
        "Figure".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number"})
    }
}

/// Date, serialized as `YYYY-MM-DD`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Day(pub(crate) Date);

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl JsonSchema for Day {
    fn schema_name() -> Cow<'static, str> {
        "Day".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"})
    }
}

pub(crate) fn figure(value: Option<Decimal>) -> Option<Figure> {
    value.map(Figure)
}

/// Row of a fund list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FundRow {
    /// The fund's code.
    symbol: String,
    /// English name.
    fund_name: String,
    /// Asset management company.
    amc: String,
    /// Latest net asset value per unit, in baht; null when none was published.
    nav_value: Option<Figure>,
    /// Date of that value.
    nav_date: Option<Day>,
    /// Change from the previous value, in percent.
    nav_change_percent: Option<Figure>,
    /// Risk from 1 (lowest) to 8 (highest).
    risk_level: u8,
    /// Return since the start of the year, in percent, as of the factsheet's date.
    perf_ytd: Option<Figure>,
    /// Return over a year, in percent, as of the factsheet's date.
    perf_1y: Option<Figure>,
    /// AIMC classification.
    fund_classification: Option<String>,
    /// Date that the returns are stated for; left out when it is the latest of `dataAge.returns`.
    #[serde(skip_serializing_if = "Option::is_none")]
    perf_as_of: Option<Day>,
}

impl FundRow {
    /// `age` is that of the reply.
    pub(crate) fn of(fund: &Fund, age: &DataAge) -> Self {
        let latest = fund.nav.latest();
        Self {
            symbol: fund.symbol.clone(),
            fund_name: fund.name.clone(),
            amc: fund.company.name.clone(),
            nav_value: latest.map(|point| Figure(point.nav)),
            nav_date: latest.map(|point| Day(point.date)),
            nav_change_percent: fund.nav.latest_change().map(|change| Figure(change.percent)),
            risk_level: fund.risk.get(),
            perf_ytd: figure(fund.returns.get(Period::Ytd)),
            perf_1y: figure(fund.returns.get(Period::Y1)),
            fund_classification: fund.classification.clone(),
            perf_as_of: fund
                .returns_as_of
                .filter(|date| age.returns_date() != Some(*date))
                .map(Day),
        }
    }
}

/// Fund codes by quality flag. Flags of repaired defects are left to the fund's detail: nothing
/// follows from them for a reader of a list.
pub(crate) fn funds_by_flag<'a>(funds: impl IntoIterator<Item = &'a Fund>) -> Value {
    let mut by_flag: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for fund in funds {
        let repaired =
            |flag: &&Flag| matches!(flag, Flag::RepairedColumnShift | Flag::RepairedName);
        for flag in fund.flags.iter().filter(|flag| !repaired(flag)) {
            by_flag.entry(flag.as_str()).or_default().push(&fund.symbol);
        }
    }
    json!(by_flag)
}

/// Sort key.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SortBy {
    /// Return since the start of the year.
    #[default]
    Ytd,
    /// Return over a year.
    #[serde(rename = "1y")]
    OneYear,
    /// Risk level.
    Risk,
    /// Latest net asset value.
    Nav,
    /// English name.
    Name,
}

impl SortBy {
    pub(crate) const fn key(self) -> SortKey {
        match self {
            Self::Ytd => SortKey::Return(Period::Ytd),
            Self::OneYear => SortKey::Return(Period::Y1),
            Self::Risk => SortKey::Risk,
            Self::Nav => SortKey::Nav,
            Self::Name => SortKey::Name,
        }
    }

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Ytd => "ytd",
            Self::OneYear => "1y",
            Self::Risk => "risk",
            Self::Nav => "nav",
            Self::Name => "name",
        }
    }
}

pub(crate) const fn direction(order: SortOrder) -> Direction {
    match order {
        SortOrder::Asc => Direction::Ascending,
        SortOrder::Desc => Direction::Descending,
    }
}

pub(crate) const fn order_name(order: SortOrder) -> &'static str {
    match order {
        SortOrder::Asc => "asc",
        SortOrder::Desc => "desc",
    }
}

/// Deserializes an integer that some clients send as `2.0`. JSON Schema accepts that as an integer,
/// serde does not.
pub(crate) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    struct Whole;
    impl Visitor<'_> for Whole {
        type Value = u32;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a whole number")
        }

        fn visit_u64<E: de::Error>(self, value: u64) -> Result<u32, E> {
            u32::try_from(value).map_err(|_| E::custom(format!("{value} is too large")))
        }

        fn visit_i64<E: de::Error>(self, value: i64) -> Result<u32, E> {
            u32::try_from(value).map_err(|_| E::custom(format!("{value} is out of range")))
        }

        fn visit_f64<E: de::Error>(self, value: f64) -> Result<u32, E> {
            let whole = Decimal::from_f64_retain(value).filter(Decimal::is_integer);
            whole
                .and_then(|whole| whole.to_u32())
                .ok_or_else(|| E::custom(format!("{value} is not a whole number")))
        }
    }
    deserializer.deserialize_any(Whole)
}

/// [`whole`] for an optional argument.
pub(crate) fn optional_whole<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u32>, D::Error> {
    whole(deserializer).map(Some)
}

/// Converts a JSON number to the shortest decimal that represents it.
pub(crate) fn decimal(locale: Locale, value: f64) -> Result<Decimal, ToolError> {
    value.to_string().parse().map_err(|_| locale.too_many_digits(value))
}

/// Years from here on are of the Buddhist era.
const BUDDHIST_FROM: i16 = 2400;
/// Offset of the Buddhist era.
const BUDDHIST_YEARS: i16 = 543;

/// Converts a year of the Buddhist era.
pub(crate) const fn common_era(year: i16) -> i16 {
    if year >= BUDDHIST_FROM { year - BUDDHIST_YEARS } else { year }
}

/// Parses a date argument: `YYYY-MM-DD` or `DD/MM/YYYY`, in the common or the Buddhist era.
pub(crate) fn date(locale: Locale, argument: &str, text: &str) -> Result<Date, ToolError> {
    // A leap day of the Buddhist era, 2567-02-29, must be converted before it is a date.
    let numbers: Option<Vec<i16>> =
        text.trim().split(['-', '/']).map(|part| part.trim().parse().ok()).collect();
    let parts = match numbers.as_deref() {
        Some([year, month, day]) if *year > 31 => Some((*year, *month, *day)),
        Some([day, month, year]) => Some((*year, *month, *day)),
        _ => None,
    };
    parts
        .and_then(|(year, month, day)| {
            Date::new(common_era(year), i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
        })
        .ok_or_else(|| locale.not_a_date(argument, text))
}

/// Parses a tax year of either era.
pub(crate) fn tax_year(locale: Locale, year: u32) -> Result<i16, ToolError> {
    let year = i16::try_from(year).unwrap_or(i16::MAX);
    let common = common_era(year);
    if (FIRST_YEAR..=2100).contains(&common) {
        return Ok(common);
    }
    Err(locale.not_a_tax_year(year))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGLISH: Locale = Locale(Lang::En);

    #[test]
    fn figure_serializes_as_the_shortest_json_number() {
        let cases = [("15.626", "15.626"), ("1000", "1000"), ("0.5000", "0.5"), ("-1.0", "-1")];
        for (text, expected) in cases {
            let json = serde_json::to_string(&Figure(text.parse().unwrap())).unwrap();
            assert_eq!(json, expected);
        }
    }

    #[test]
    fn dates_and_years_of_both_eras_are_accepted() {
        for (text, expected) in [
            ("1970-06-01", Some("1970-06-01")),
            ("2513-06-01", Some("1970-06-01")),
            ("01/06/2513", Some("1970-06-01")),
            ("29/02/2567", Some("2024-02-29")),
            ("2567-02-29", Some("2024-02-29")),
            ("2568-02-29", None),
            ("June 1970", None),
            ("1970-13-01", None),
        ] {
            let parsed = date(ENGLISH, "d", text).ok().map(|date| date.to_string());
            assert_eq!(parsed.as_deref(), expected, "{text}");
        }
        assert_eq!(
            (tax_year(ENGLISH, 2568).unwrap(), tax_year(ENGLISH, 2025).unwrap()),
            (2025, 2025)
        );
        for year in [2019, 2300, 99_999] {
            assert!(tax_year(ENGLISH, year).is_err(), "{year}");
        }
    }

    #[test]
    fn integer_argument_accepts_a_zero_fraction_only() {
        for (input, expected) in [
            ("2", Some(2)),
            ("2.0", Some(2)),
            ("1.5", None),
            ("-1", None),
            ("1e300", None),
            ("\"2\"", None),
        ] {
            let parsed = whole(&mut serde_json::Deserializer::from_str(input)).ok();
            assert_eq!(parsed, expected, "input: {input}");
        }
    }
}
