//! The native JSONL format: one event per line, as the published contract defines it.
//!
//! An unreadable line is rejected with its line number and reading continues. A line that is not
//! in canonical form (spacing, member order, case, digits) is stored verbatim as well, so that an
//! export reproduces the import byte for byte.

mod canonical;

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::event::{Category, Event, EventType, Guid, Parent, Severity};
use crate::scan;
use crate::timestamp::Timestamp;

/// Longer lines are rejected; no known engine writes events of this size.
pub const MAX_LINE_BYTES: u64 = 64 << 20;

/// A line that contains no event.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Rejection {
    /// The line number, from 1.
    pub line: u64,
    /// The reason.
    pub reason: String,
}

/// Parses a line into the run it names and its event, or the reason for rejection.
pub fn parse(line: &str) -> Result<(Option<Guid>, Event<'_>), String> {
    match canonical::parse(line) {
        Some((run, event)) => Ok((Some(run), event)),
        None => parse_any(line),
    }
}

/// Parses a line in any member order and formatting.
fn parse_any(line: &str) -> Result<(Option<Guid>, Event<'_>), String> {
    let raw: RawLine<'_> =
        serde_json::from_str(line).map_err(|error| parse_failure(line, &error))?;
    let id = raw.event_id.ok_or("there is no `eventId`")?;
    let id =
        Guid::parse(&id).ok_or_else(|| format!("`eventId` is `{}`, not a GUID", excerpt(&id)))?;
    let run = match raw.run_id {
        None => None,
        Some(run) => Some(
            Guid::parse(&run)
                .ok_or_else(|| format!("`runId` is `{}`, not a GUID", excerpt(&run)))?,
        ),
    };
    let time = raw.timestamp.ok_or("there is no `timestamp`")?;
    let timestamp = Timestamp::parse(&time).map_err(|error| error.to_string())?;
    let word = raw.event_type.ok_or("there is no `eventType`")?;
    let is_order_placed = word == "OrderPlaced";
    let event_type =
        if is_order_placed { Some(EventType::StateChange) } else { EventType::parse(&word) };
    let event_type = event_type.ok_or_else(|| unknown_value("eventType", &word))?;
    let severity = match raw.severity {
        None => event_type.usual_severity(),
        Some(word) => Severity::parse(&word).ok_or_else(|| unknown_value("severity", &word))?,
    };
    let category = match raw.category {
        None => event_type.usual_category(),
        Some(word) => {
            Category::parse_mapped(&word).ok_or_else(|| unknown_value("category", &word))?
        }
    };
    let parent = match raw.parent_event_id {
        None => Parent::None,
        Some(id) => Guid::parse(&id).map_or(Parent::Unreadable, Parent::Id),
    };
    let properties = raw.properties.map_or("null", RawValue::get);
    let properties = if is_order_placed {
        normalize_order_placed(properties)
    } else {
        Cow::Borrowed(properties)
    };
    let mut event =
        Event { id, timestamp, event_type, severity, category, properties, parent, original: None };
    if run.is_none_or(|run| format_line(run, &event) != line) {
        event.original = Some(Cow::Borrowed(line));
    }
    Ok((run, event))
}

/// Formats an event as a canonical line, without the line break.
pub fn format_line(run: Guid, event: &Event<'_>) -> String {
    let mut out = String::with_capacity(event.properties.len() + 320);
    out.push_str(r#"{"eventId":""#);
    event.id.write_to(&mut out);
    out.push_str(r#"","runId":""#);
    run.write_to(&mut out);
    out.push_str(r#"","timestamp":""#);
    event.timestamp.write_to(&mut out, event.timestamp.digits().max(3));
    out.push_str(r#"","eventType":""#);
    out.push_str(event.event_type.as_str());
    out.push_str(r#"","severity":""#);
    out.push_str(event.severity.as_str());
    out.push_str(r#"","category":""#);
    out.push_str(event.category.as_str());
    out.push_str(r#"","properties":"#);
    out.push_str(&event.properties);
    match event.parent {
        Parent::Id(id) => {
            out.push_str(r#","parentEventId":""#);
            id.write_to(&mut out);
            out.push('"');
        }
        Parent::None | Parent::Unreadable => out.push_str(r#","parentEventId":null"#),
    }
    out.push_str(r#","validationErrors":null}"#);
    out
}

/// Formats an event with validation problems of its producer.
pub(crate) fn format_line_with(run: Guid, event: &Event<'_>, problems: &[Value]) -> String {
    let line = format_line(run, event);
    let problems = Value::from(problems.to_vec());
    let line = line.strip_suffix("null}").unwrap_or(&line);
    format!("{line}{problems}}}")
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawLine<'a> {
    #[serde(borrow)]
    event_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    run_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    event_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    severity: Option<Cow<'a, str>>,
    #[serde(borrow)]
    category: Option<Cow<'a, str>>,
    #[serde(borrow)]
    properties: Option<&'a RawValue>,
    #[serde(borrow)]
    parent_event_id: Option<Cow<'a, str>>,
}

/// Converts the properties of an `OrderPlaced` event, which some engines write as a type of its
/// own, into those of a state change of an order.
pub(crate) fn normalize_order_placed(properties: &str) -> Cow<'_, str> {
    let Some(rest) = properties.strip_prefix('{') else { return Cow::Borrowed(properties) };
    let mut added = String::from("{");
    for (name, value) in [("StateType", "Order"), ("OrderStatus", "Placed")] {
        if scan::member(properties, name).is_none() {
            added.push_str(&format!(r#""{name}":"{value}","#));
        }
    }
    if rest.trim_ascii_start().starts_with('}') {
        added.truncate(added.trim_end_matches(',').len());
    }
    Cow::Owned(added + rest)
}

fn parse_failure(line: &str, error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "the line ends in the middle of its JSON".to_owned();
    }
    if line.trim_ascii_start().starts_with('{') {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        format!("not an event at column {}: {message}", error.column())
    } else {
        "not a JSON object".to_owned()
    }
}

fn unknown_value(what: &str, word: &str) -> String {
    format!("`{what}` is `{}`, which is not a known value", excerpt(word))
}

/// The start of a value, for an error text.
pub(crate) fn excerpt(text: &str) -> String {
    text.chars().take(60).collect()
}

/// Reads lines of any length and encoding.
pub struct Lines<R> {
    source: R,
    number: u64,
    bytes: u64,
    buffer: Vec<u8>,
}

/// A line as read.
#[derive(Debug, Eq, PartialEq)]
pub enum Line<'a> {
    /// Valid UTF-8.
    Text(&'a str),
    /// Not parsable, with the reason.
    Invalid(&'static str),
}

impl<R: BufRead> Lines<R> {
    /// Reads lines from `source`.
    pub const fn new(source: R) -> Self {
        Self { source, number: 0, bytes: 0, buffer: Vec::new() }
    }

    /// Bytes read so far, for progress.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next non-blank line, with its number.
    pub fn next_line(&mut self) -> io::Result<Option<(u64, Line<'_>)>> {
        loop {
            self.buffer.clear();
            let read =
                self.source.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut self.buffer)?;
            if read == 0 {
                return Ok(None);
            }
            self.bytes += read as u64;
            self.number += 1;
            let too_long = read as u64 == MAX_LINE_BYTES && !self.buffer.ends_with(b"\n");
            if too_long {
                self.bytes += self.source.skip_until(b'\n')? as u64;
                return Ok(Some((self.number, Line::Invalid("the line is longer than 64 MiB"))));
            }
            if !self.buffer.trim_ascii().is_empty() {
                break;
            }
        }
        let mut line = self.buffer.as_slice();
        line = line.strip_suffix(b"\n").unwrap_or(line);
        line = line.strip_suffix(b"\r").unwrap_or(line);
        if self.number == 1 {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        let found = match std::str::from_utf8(line) {
            Ok(text) => Line::Text(text),
            Err(_) => Line::Invalid("the line is not UTF-8"),
        };
        Ok(Some((self.number, found)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"eventId":"11111111-2222-3333-4444-555555555555","runId":"a1b2c3d4-e5f6-7890-abcd-ef1234567890","timestamp":"2025-06-15T14:30:45.123Z","eventType":"TradeExecution","severity":"Info","category":"Execution","properties":{"Price":175.50, "x":1e400},"parentEventId":null,"validationErrors":null}"#;

    #[test]
    fn contract_line_round_trips() {
        let (run, event) = parse(LINE).unwrap();
        assert_eq!(event.event_type, EventType::TradeExecution);
        assert_eq!(event.properties, r#"{"Price":175.50, "x":1e400}"#, "byte for byte");
        assert_eq!(event.original, None);
        assert_eq!(format_line(run.unwrap(), &event), LINE);
    }

    #[test]
    fn non_canonical_line_keeps_its_original_text() {
        for line in [
            LINE.replace("45.123Z", "45.123+00:00"),
            LINE.replace(r#","validationErrors":null"#, ""),
            LINE.replace(r#","runId":"a1b2c3d4-e5f6-7890-abcd-ef1234567890""#, ""),
            LINE.replace(r#""severity":"Info","#, ""),
            LINE.replace("\"Execution\"", "\"Portfolio\""),
            LINE.replace("a1b2", "A1B2"),
            format!(" {LINE}"),
        ] {
            let (_, event) = parse(&line).unwrap();
            assert_eq!(event.original.as_deref(), Some(line.as_str()));
        }
    }

    #[test]
    fn invalid_line_reports_its_reason() {
        let cases = [
            ("{\"eventId\":\"111", "ends in the middle"),
            ("hello", "not a JSON object"),
            ("{\"eventId\":NaN}", "not an event at column"),
            ("{}", "there is no `eventId`"),
            (&LINE.replace("11111111-2222", "x'; DROP TABLE Events"), "not a GUID"),
            (&LINE.replace("2025-06-15T", "2025-06-35T"), "not an ISO 8601 time"),
            (&LINE.replace("TradeExecution", "TradeExecuted"), "`eventType` is `TradeExecuted`"),
            (&LINE.replace("\"Info\"", "\"Loud\""), "`severity` is `Loud`"),
            (&LINE.replace("\"Execution\"", "\"Gossip\""), "`category` is `Gossip`"),
            (&LINE.replace("1e400", "NaN"), "not an event at column"),
        ];
        for (line, expected) in cases {
            let reason = parse(line).unwrap_err();
            assert!(reason.contains(expected), "{reason} for {line}");
        }
    }

    #[test]
    fn order_placed_type_becomes_a_state_change() {
        for (properties, expected) in [
            (r#"{"OrderId":"x"}"#, r#"{"StateType":"Order","OrderStatus":"Placed","OrderId":"x"}"#),
            (r#"{"StateType":"Order"}"#, r#"{"OrderStatus":"Placed","StateType":"Order"}"#),
            ("{}", r#"{"StateType":"Order","OrderStatus":"Placed"}"#),
        ] {
            let line = LINE
                .replace("TradeExecution", "OrderPlaced")
                .replace(r#"{"Price":175.50, "x":1e400}"#, properties);
            let (_, event) = parse(&line).unwrap();
            assert_eq!(event.event_type, EventType::StateChange);
            assert_eq!(event.properties, expected);
            assert!(event.original.is_some());
        }
    }

    #[test]
    fn line_numbers_count_blank_and_invalid_lines() {
        let text = b"\xEF\xBB\xBFone\r\n\n  \ntwo\xFF\nthree";
        let mut lines = Lines::new(text.as_slice());
        assert_eq!(lines.next_line().unwrap(), Some((1, Line::Text("one"))));
        assert_eq!(lines.next_line().unwrap(), Some((4, Line::Invalid("the line is not UTF-8"))));
        assert_eq!(lines.next_line().unwrap(), Some((5, Line::Text("three"))));
        assert_eq!(lines.next_line().unwrap(), None);
        assert_eq!(lines.bytes(), text.len() as u64);
    }
}
