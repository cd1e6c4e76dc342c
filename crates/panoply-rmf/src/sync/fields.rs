//! Parses fields of API rows: numbers may be strings, `-` means missing, dates come with and
//! without time, zone and fraction.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::{Offset, TimeZone};
use rust_decimal::Decimal;
use serde_json::Value;

/// Years from here on are Buddhist era.
const BUDDHIST_FROM: i16 = 2400;

/// A field of a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell<T> {
    /// Absent, null, empty or `-`.
    Missing,
    Value(T),
    /// Present, but not of the expected type.
    Invalid,
}

impl<T> Cell<T> {
    fn value(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Missing | Self::Invalid => None,
        }
    }

    fn parsed(value: Option<T>) -> Self {
        value.map_or(Self::Invalid, Self::Value)
    }
}

/// Trimmed text.
pub(super) fn text_cell(row: &Value, name: &str) -> Cell<String> {
    match row.get(name) {
        None | Some(Value::Null) => Cell::Missing,
        Some(Value::String(text)) => match text.trim() {
            "" | "-" => Cell::Missing,
            text => Cell::Value(text.to_owned()),
        },
        Some(_) => Cell::Invalid,
    }
}

/// Number, sent as a number or as a string.
pub(super) fn number_cell(row: &Value, name: &str) -> Cell<Decimal> {
    if let Some(Value::Number(number)) = row.get(name) {
        let text = number.to_string();
        return Cell::parsed(text.parse().or_else(|_| Decimal::from_scientific(&text)).ok());
    }
    match text_cell(row, name) {
        Cell::Value(text) => Cell::parsed(text.replace(',', "").parse().ok()),
        Cell::Missing => Cell::Missing,
        Cell::Invalid => Cell::Invalid,
    }
}

/// Date in Thailand's time zone.
pub(super) fn day_cell(row: &Value, name: &str) -> Cell<Date> {
    match text_cell(row, name) {
        Cell::Value(text) => Cell::parsed(day_of(&text)),
        Cell::Missing => Cell::Missing,
        Cell::Invalid => Cell::Invalid,
    }
}

/// Trimmed text; `None` when missing.
pub(super) fn text(row: &Value, name: &str) -> Option<String> {
    text_cell(row, name).value()
}

/// Number; `None` when missing. The schema has rejected rows with an invalid one.
pub(super) fn number(row: &Value, name: &str) -> Option<Decimal> {
    number_cell(row, name).value()
}

/// Date; `None` when missing. The schema has rejected rows with an invalid one.
pub(super) fn day(row: &Value, name: &str) -> Option<Date> {
    day_cell(row, name).value()
}

/// Thai text in a Base64 field; a field that is not Base64 is returned unchanged.
pub(super) fn thai_text(row: &Value, name: &str) -> Option<String> {
    let field = text(row, name)?;
    let decoded = STANDARD.decode(&field).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    Some(decoded.unwrap_or(field))
}

fn day_of(text: &str) -> Option<Date> {
    let text = text.trim();
    let date = if let Ok(timestamp) = text.parse::<Timestamp>() {
        timestamp.to_zoned(TimeZone::fixed(Offset::constant(7))).date()
    } else if let Ok(local) = text.parse::<DateTime>() {
        local.date()
    } else {
        slashed(text)?
    };
    common_era(date)
}

/// `10/11/2025`.
fn slashed(text: &str) -> Option<Date> {
    let mut parts = text.split('/');
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    let year: i16 = year.get(..4)?.parse().ok()?;
    Date::new(year, month.parse().ok()?, day.parse().ok()?).ok()
}

fn common_era(date: Date) -> Option<Date> {
    if date.year() < BUDDHIST_FROM {
        return Some(date);
    }
    Date::new(date.year() - 543, date.month(), date.day()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn dates_parse_in_every_source_format() {
        let cases = [
            ("2025-11-10", Some("2025-11-10")),
            ("2025-11-10T00:00:00", Some("2025-11-10")),
            ("2025-11-10 16:58:54.123", Some("2025-11-10")),
            ("2025-11-10T00:00:00+07:00", Some("2025-11-10")),
            ("2025-11-09T17:00:00Z", Some("2025-11-10")),
            ("2025-11-09T16:59:59.999Z", Some("2025-11-09")),
            (" 2025-11-10 ", Some("2025-11-10")),
            ("10/11/2025", Some("2025-11-10")),
            ("10/11/2568", Some("2025-11-10")),
            ("2568-11-10", Some("2025-11-10")),
            ("-", None),
            ("", None),
            ("2025-02-30", None),
            ("yesterday", None),
        ];
        for (text, expected) in cases {
            assert_eq!(
                day_of(text).map(|date| date.to_string()).as_deref(),
                expected,
                "text: {text:?}"
            );
        }
    }

    #[test]
    fn numbers_parse_from_strings_and_a_dash_is_missing() {
        let row = json!({
            "a": 15.626, "b": "15.6260", "c": "-", "d": "", "e": null, "f": "1,234.50", "g": " 7 ",
            "h": "n/a", "i": -12.34, "j": 1e-7,
        });
        let cases = [
            ("a", Some("15.626")),
            ("b", Some("15.6260")),
            ("c", None),
            ("d", None),
            ("e", None),
            ("f", Some("1234.50")),
            ("g", Some("7")),
            ("h", None),
            ("i", Some("-12.34")),
            ("j", Some("0.0000001")),
            ("no such", None),
        ];
        for (name, expected) in cases {
            let seen = number(&row, name).map(|number| number.to_string());
            assert_eq!(seen.as_deref(), expected, "field {name}");
        }
    }

    #[test]
    fn texts_are_trimmed_and_base64_is_decoded() {
        let row = json!({"cur": "THB   ", "dash": " - ", "thai": "4LmA4Liq4Li14LmI4Lii4LiH", "plain": "เสี่ยง"});
        assert_eq!(text(&row, "cur").as_deref(), Some("THB"));
        assert_eq!(text(&row, "dash"), None);
        assert_eq!(thai_text(&row, "thai").as_deref(), Some("เสี่ยง"));
        assert_eq!(thai_text(&row, "plain").as_deref(), Some("เสี่ยง"));
    }
}
