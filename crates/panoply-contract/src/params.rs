//! Common parameter types: pagination, sorting, date ranges. Each type admits only valid values and
//! has a matching schema.

use std::borrow::Cow;
use std::fmt;

use jiff::civil::Date;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::audit::Fingerprint;

/// Page size: 1 to 100, default 20.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Limit(u32);

impl Limit {
    /// The largest page.
    pub const MAX: u32 = 100;

    /// `None` when out of range.
    pub const fn new(limit: u32) -> Option<Self> {
        if limit >= 1 && limit <= Self::MAX { Some(Self(limit)) } else { None }
    }

    /// As a count.
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self(20)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let limit = u32::deserialize(deserializer)?;
        Self::new(limit)
            .ok_or_else(|| D::Error::custom(format!("expected 1 to {}, got {limit}", Self::MAX)))
    }
}

impl JsonSchema for Limit {
    fn schema_name() -> Cow<'static, str> {
        "Limit".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "integer", "minimum": 1, "maximum": Self::MAX, "default": 20,
            "description": "How many items to return at most.",
        })
    }
}

/// How many items to skip.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Offset(u32);

impl Offset {
    /// The largest offset.
    pub const MAX: u32 = 10_000_000;

    /// As a count.
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

impl<'de> Deserialize<'de> for Offset {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let offset = u32::deserialize(deserializer)?;
        if offset <= Self::MAX {
            Ok(Self(offset))
        } else {
            Err(D::Error::custom(format!("expected 0 to {}, got {offset}", Self::MAX)))
        }
    }
}

impl JsonSchema for Offset {
    fn schema_name() -> Cow<'static, str> {
        "Offset".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "integer", "minimum": 0, "maximum": Self::MAX, "default": 0,
            "description": "How many items to skip.",
        })
    }
}

/// Pagination cursor: issued by a reply and sent back unchanged. It contains a fingerprint of its
/// query, so that it cannot be used with another one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cursor {
    offset: u64,
    query: String,
}

/// Why a cursor cannot be used.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BadCursor {
    /// The cursor belongs to another query.
    #[error("this cursor continues another query; start again without a cursor")]
    OtherQuery,
}

impl Cursor {
    /// Creates a cursor that continues `query` at `offset`.
    pub fn at(offset: u64, query: &Fingerprint) -> Self {
        Self { offset, query: query.hex().chars().take(12).collect() }
    }

    /// The offset, if this cursor belongs to `query`.
    pub fn offset_in(&self, query: &Fingerprint) -> Result<u64, BadCursor> {
        if query.hex().starts_with(&self.query) {
            Ok(self.offset)
        } else {
            Err(BadCursor::OtherQuery)
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let (offset, query) = text.strip_prefix('c')?.split_once('-')?;
        let hexadecimal = query.len() == 12 && query.bytes().all(|byte| byte.is_ascii_hexdigit());
        let offset = u64::from_str_radix(offset, 36).ok()?;
        hexadecimal.then(|| Self { offset, query: query.to_owned() })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}-{}", base36(self.offset), self.query)
    }
}

fn base36(mut number: u64) -> String {
    let mut digits = Vec::new();
    loop {
        let digit = u32::try_from(number % 36).unwrap_or_default();
        digits.push(char::from_digit(digit, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

impl Serialize for Cursor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Cursor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text)
            .ok_or_else(|| D::Error::custom("expected a cursor that an earlier reply gave"))
    }
}

impl JsonSchema for Cursor {
    fn schema_name() -> Cow<'static, str> {
        "Cursor".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string", "pattern": "^c[0-9a-z]{1,13}-[0-9a-f]{12}$",
            "description": "Continues an earlier reply: its `nextCursor`, with the other arguments unchanged.",
        })
    }
}

/// Which way to sort.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SortOrder {
    /// Smallest first.
    Asc,
    /// Largest first.
    #[default]
    Desc,
}

/// Days from `from` to `to`, both included; either end may be open.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct DateRange {
    from: Option<Date>,
    to: Option<Date>,
}

/// Error of a range that ends before it starts.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the range starts on {from}, after its end on {to}")]
pub struct BackwardRange {
    /// The start.
    pub from: Date,
    /// The end.
    pub to: Date,
}

impl DateRange {
    /// Fails when `from` is after `to`.
    pub fn new(from: Option<Date>, to: Option<Date>) -> Result<Self, BackwardRange> {
        match (from, to) {
            (Some(from), Some(to)) if from > to => Err(BackwardRange { from, to }),
            _ => Ok(Self { from, to }),
        }
    }

    /// Whether `date` lies in it.
    pub fn contains(&self, date: Date) -> bool {
        self.from.is_none_or(|from| from <= date) && self.to.is_none_or(|to| date <= to)
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use serde_json::json;

    use super::*;

    #[test]
    fn limits_stay_in_range() {
        for (value, fits) in [
            (json!(1), true),
            (json!(100), true),
            (json!(0), false),
            (json!(101), false),
            (json!(1.5), false),
            (json!("5"), false),
        ] {
            assert_eq!(
                serde_json::from_value::<Limit>(value.clone()).is_ok(),
                fits,
                "limit: {value}"
            );
        }
    }

    #[test]
    fn a_cursor_round_trips_and_is_bound_to_its_query() {
        let (query, _) = Fingerprint::of(&json!({"q": "a"})).unwrap();
        let (other, _) = Fingerprint::of(&json!({"q": "b"})).unwrap();
        for offset in [0, 35, 36, 12_345, u64::MAX] {
            let cursor = Cursor::at(offset, &query);
            let back: Cursor =
                serde_json::from_value(serde_json::to_value(&cursor).unwrap()).unwrap();
            assert_eq!(back.offset_in(&query), Ok(offset));
            assert_eq!(back.offset_in(&other), Err(BadCursor::OtherQuery));
        }
        for text in ["", "c-", "c1", "x1-0123456789ab", "c1-0123456789xy", "cZZ!-0123456789ab"] {
            assert!(serde_json::from_value::<Cursor>(json!(text)).is_err(), "cursor: {text:?}");
        }
    }

    #[test]
    fn a_date_range_is_inclusive_and_never_reversed() {
        let range = DateRange::new(Some(date(2026, 1, 1)), Some(date(2026, 1, 31))).unwrap();
        assert!(range.contains(date(2026, 1, 1)) && range.contains(date(2026, 1, 31)));
        assert!(!range.contains(date(2026, 2, 1)));
        assert!(DateRange::new(Some(date(2026, 2, 1)), Some(date(2026, 1, 1))).is_err());
    }
}
