//! Fast path for canonical lines: exactly what [`format_line`](super::format_line) writes.
//!
//! Members are expected in a fixed order and the line need not be formatted again to decide
//! whether an export reproduces it. Any other line yields `None` and takes the general parser.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::event::{Category, Event, EventType, Guid, Parent, Severity};
use crate::timestamp::Timestamp;

pub(super) fn parse(line: &str) -> Option<(Guid, Event<'_>)> {
    let (id, rest) = guid(line.strip_prefix(r#"{"eventId":""#)?)?;
    let (run, rest) = guid(rest.strip_prefix(r#","runId":""#)?)?;
    let (text, rest) = word(rest.strip_prefix(r#","timestamp":""#)?)?;
    let timestamp = canonical_timestamp(text)?;
    let (text, rest) = word(rest.strip_prefix(r#","eventType":""#)?)?;
    let event_type = EventType::parse(text)?;
    let (text, rest) = word(rest.strip_prefix(r#","severity":""#)?)?;
    let severity = Severity::parse(text)?;
    let (text, rest) = word(rest.strip_prefix(r#","category":""#)?)?;
    let category = Category::parse(text)?;
    let (properties, rest) = object(rest.strip_prefix(r#","properties":"#)?)?;
    let rest = rest.strip_prefix(r#","parentEventId":"#)?;
    let (parent, rest) = match rest.strip_prefix('"') {
        None => (Parent::None, rest.strip_prefix("null")?),
        Some(rest) => {
            let (id, rest) = guid(rest)?;
            (Parent::Id(id), rest)
        }
    };
    let properties = Cow::Borrowed(properties);
    (rest == r#","validationErrors":null}"#).then_some((
        run,
        Event { id, timestamp, event_type, severity, category, properties, parent, original: None },
    ))
}

/// A lower-case GUID up to its closing quote, and the rest.
fn guid(text: &str) -> Option<(Guid, &str)> {
    let (digits, rest) = text.split_at_checked(36)?;
    let is_lower = !digits.bytes().any(|byte| byte.is_ascii_uppercase());
    let guid = Guid::parse(digits).filter(|_| is_lower)?;
    Some((guid, rest.strip_prefix('"')?))
}

/// A short text up to its closing quote, and the rest. No known word contains an escape.
fn word(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().take(40).position(|byte| byte == b'"')?;
    Some((text.get(..end)?, text.get(end + 1..)?))
}

/// A timestamp with exactly the digits that [`format_line`](super::format_line) would write.
fn canonical_timestamp(text: &str) -> Option<Timestamp> {
    let timestamp = Timestamp::parse(text).ok()?;
    let bytes = text.as_bytes();
    let is_canonical = bytes.len() == 21 + usize::from(timestamp.digits().max(3))
        && bytes.get(10) == Some(&b'T')
        && bytes.get(19) == Some(&b'.')
        && bytes.last() == Some(&b'Z');
    is_canonical.then_some(timestamp)
}

/// An object, and the rest.
fn object(text: &str) -> Option<(&str, &str)> {
    if !text.starts_with('{') {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let object = values.next()?.ok()?.get();
    Some((object, text.get(object.len()..)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{format_line, parse_any};
    use super::*;

    /// Asserts that the general parser yields the same event. False if this parser declines.
    fn agree(line: &str) -> bool {
        match parse(line) {
            None => false,
            Some((run, event)) => {
                assert_eq!(parse_any(line), Ok((Some(run), event)), "{line}");
                true
            }
        }
    }

    proptest! {
        #[test]
        fn canonical_parser_agrees_with_the_general_parser(
            (id, run, parent) in (any::<u128>(), any::<u128>(), any::<Option<u128>>()),
            nanos in prop_oneof![any::<i64>(), (0_i64..2_000_000_000_000).prop_map(|ms| ms * 1_000_000)],
            (kind, severity, category) in (0_usize..7, 0_usize..4, 0_usize..5),
            properties in prop_oneof![
                Just(r#"{"Price":175.50, "x":[1e400,{"y":"}\"\\"}]}"#.to_owned()),
                Just("{}".to_owned()),
                "\\PC{0,12}".prop_map(|text| serde_json::json!({"a": text}).to_string()),
            ],
            (place, other) in (any::<prop::sample::Index>(), "[ -~]"),
        ) {
            let event = Event {
                id: Guid::new(id),
                timestamp: Timestamp::from_nanos(nanos),
                event_type: EventType::ALL[kind],
                severity: Severity::ALL[severity],
                category: Category::ALL[category],
                properties: properties.into(),
                parent: parent.map_or(Parent::None, |parent| Parent::Id(Guid::new(parent))),
                original: None,
            };
            let line = format_line(Guid::new(run), &event);
            prop_assert!(agree(&line), "{line}");
            // One character changed: the line is either declined or yields the same event as in general.
            let changed: String = line
                .char_indices()
                .map(|(at, c)| if at == place.index(line.len()) { other.clone() } else { c.to_string() })
                .collect();
            agree(&changed);
        }
    }

    #[test]
    fn canonical_parser_declines_non_canonical_lines() {
        const LINE: &str = r#"{"eventId":"11111111-2222-3333-4444-55555555555a","runId":"a1b2c3d4-e5f6-7890-abcd-ef1234567890","timestamp":"2025-06-15T14:30:45.123Z","eventType":"RiskEvent","severity":"Info","category":"Risk","properties":{"a":1},"parentEventId":null,"validationErrors":null}"#;
        assert!(agree(LINE));
        for (from, to) in [
            ("45.123Z", "45.123000Z"),
            ("45.123Z", "45.12Z"),
            ("45.123Z", "45,123Z"),
            ("45.123Z", "45.123z"),
            ("45.123Z", "45.123+00:00"),
            ("T14", " 14"),
            ("55a", "55A"),
            ("\"Risk\"", "\"Portfolio\""),
            ("RiskEvent", "OrderPlaced"),
            (r#"{"a":1}"#, r#" {"a":1}"#),
            (r#"{"a":1}"#, r#"{"a":1} "#),
            (r#"{"a":1}"#, r#"{"a":NaN}"#),
            (r#"{"a":1}"#, "null"),
            (r#"":null}"#, r#"":null} "#),
            (r#"Errors":null"#, r#"Errors":[]"#),
        ] {
            assert!(!agree(&LINE.replace(from, to)), "{from} -> {to}");
        }
    }
}
