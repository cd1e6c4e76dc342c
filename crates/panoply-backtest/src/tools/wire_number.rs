//! A number in a reply, with all digits of the log.

use std::borrow::Cow;
use std::fmt;

use panoply_contract::prelude::*;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Serializer;
use serde_json::value::RawValue;

use crate::number::{Number, Sum};
use crate::query::snapshot::Figure;

/// A JSON number as written in the log, or null.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct WireNumber(Option<Box<str>>);

/// Significant digits of a computed number: more are noise of a division.
const COMPUTED_DIGITS: u32 = 17;

impl WireNumber {
    /// The number in a text; null if it contains none.
    pub(crate) fn of(text: &str) -> Self {
        let text = text.trim();
        let Some(number) = Number::parse(text) else { return Self(None) };
        // A text such as `007` is a number of this crate and not of JSON.
        if serde_json::from_str::<&RawValue>(text).is_ok() {
            return Self(Some(text.into()));
        }
        let mut sum = Sum::ZERO;
        sum.add(number);
        Self(Some(sum.to_text().into()))
    }

    /// A figure of the state.
    pub(crate) fn of_figure(figure: Option<&Figure>) -> Self {
        match figure {
            None => Self(None),
            Some(Figure::Logged(text)) => Self::of(text),
            Some(Figure::Derived(amount)) => {
                let amount = amount.round_sf(COMPUTED_DIGITS).unwrap_or(*amount);
                Self::of(&amount.normalize().to_string())
            }
        }
    }
}

impl fmt::Display for WireNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_deref().unwrap_or("null"))
    }
}

impl Serialize for WireNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            None => serializer.serialize_none(),
            Some(text) => RawValue::from_string(text.to_string())
                .map_err(serde::ser::Error::custom)?
                .serialize(serializer),
        }
    }
}

impl JsonSchema for WireNumber {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["number", "null"]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_with_all_their_digits() {
        for (text, expected) in [
            ("1.50", "1.50"),
            (" 7 ", "7"),
            ("007", "7"),
            ("814786633366918.3", "814786633366918.3"),
            ("12345678901234567890.5", "12345678901234567890.5"),
            ("NaN", "null"),
            ("", "null"),
        ] {
            assert_eq!(serde_json::to_string(&WireNumber::of(text)).unwrap(), expected, "{text}");
        }
    }
}
