//! Events in replies: the published shape by default, or a shorter one (fields, table, handles).

use std::borrow::Cow;

use panoply_contract::prelude::*;
use schemars::{Schema, SchemaGenerator};
use serde::Serializer;
use serde::ser::SerializeMap;
use serde_json::{Map, Value, json};

use super::event_table::EventTable;
use super::params::{EventType, MaxTokens, Severity};
use super::service::tool_error;
use super::sized_json::SizedJson;
use crate::number;
use crate::query::reader::{SealedRun, StoredEvent};
use crate::scan::{self, Token};

/// Reserved bytes of a reply for everything but the events.
const FRAME_BYTES: usize = 1_500;
/// Ten times the bytes per token: ids and digits have about 2.5.
const TOKEN_BYTES_TENFOLD: usize = 25;

/// The format of events in a reply.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum Format {
    /// One object per event, as the contract publishes it.
    #[default]
    Events,
    /// Columns and rows; what rows share is listed once.
    Table,
}

/// Formatting options of a page.
#[derive(Clone, Debug)]
pub(crate) struct Style {
    pub(crate) format: Format,
    pub(crate) fields: Vec<String>,
    pub(crate) handles: bool,
    pub(crate) max_tokens: MaxTokens,
}

/// One event. Members that were not requested are absent.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireEvent<'a> {
    /// Event id, or handle.
    #[serde(skip_serializing_if = "Option::is_none")]
    event_id: Option<String>,
    /// Id of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<&'a str>,
    /// Simulated time; ISO 8601, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<String>,
    /// Event type.
    #[serde(skip_serializing_if = "Option::is_none")]
    event_type: Option<EventType>,
    /// Severity.
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<Severity>,
    /// Category.
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<&'static str>,
    /// Properties as logged. Numbers that a double cannot represent are texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<Properties<'a>>,
    /// Id of the causing event; null when none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_event_id: Option<Option<String>>,
    /// Validation problems; null when there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    validation_errors: Option<Option<Vec<WireProblem>>>,
}

#[derive(Debug)]
enum Properties<'a> {
    /// All, as logged.
    All(&'a str),
    /// Selected ones, or with handles.
    Selected(Value),
}

impl Serialize for Properties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::All(json) => LosslessJson::of(json).serialize(serializer),
            Self::Selected(value) => value.serialize(serializer),
        }
    }
}

impl JsonSchema for Properties<'_> {
    fn inline_schema() -> bool {
        Value::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        Value::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Value::json_schema(generator)
    }
}

/// A validation problem.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct WireProblem {
    /// The field.
    field: String,
    /// The violated rule.
    error: String,
    /// Error or Warning.
    severity: String,
}

/// Formatted events, as many as the budget allows.
#[derive(Debug, Default)]
pub(crate) struct EventPage {
    pub(crate) events: Option<Vec<SizedJson<WireEvent<'static>>>>,
    pub(crate) table: Option<EventTable>,
    /// Number of events.
    pub(crate) count: usize,
}

/// Formats events up to the token budget. Fails if the first one alone exceeds it.
pub(crate) fn write(run: &SealedRun, seqs: &[u32], style: &Style) -> Result<EventPage, ToolError> {
    let limit = budget(style.max_tokens);
    let writer = EventWriter { run, run_id: run.id().to_string(), style };
    match style.format {
        Format::Events => {
            let mut events = Vec::new();
            let mut bytes = 0;
            for seq in seqs {
                let stored = run.event(*seq).map_err(tool_error)?;
                let event = SizedJson::of(&writer.event(&stored)?)?;
                bytes += event.len() + 1;
                if bytes > limit {
                    break;
                }
                events.push(event);
            }
            require_one(seqs, events.len(), run)?;
            let count = events.len();
            Ok(EventPage { events: Some(events), table: None, count })
        }
        Format::Table => {
            let mut rows = Vec::new();
            let mut bytes = 0;
            for seq in seqs {
                let cells = writer.cells(&run.event(*seq).map_err(tool_error)?)?;
                bytes += cells.iter().map(|(_, value)| size_of_json(value) + 1).sum::<usize>() + 2;
                if bytes > limit {
                    break;
                }
                rows.push(cells);
            }
            require_one(seqs, rows.len(), run)?;
            let count = rows.len();
            Ok(EventPage {
                events: None,
                table: Some(EventTable::of(rows, !style.fields.is_empty())),
                count,
            })
        }
    }
}

/// Bytes available for events.
pub(crate) fn budget(max_tokens: MaxTokens) -> usize {
    reply_bytes(max_tokens).saturating_sub(FRAME_BYTES)
}

/// Bytes of a reply that a caller allows.
pub(crate) fn reply_bytes(max_tokens: MaxTokens) -> usize {
    usize::try_from(max_tokens.0).unwrap_or_default() * TOKEN_BYTES_TENFOLD / 10
}

fn require_one(seqs: &[u32], written: usize, run: &SealedRun) -> Result<(), ToolError> {
    let Some(first) = seqs.first().filter(|_| written == 0) else { return Ok(()) };
    let id = run.id_at(*first).map_err(tool_error)?;
    Err(ToolError::business(
        "RESULT_TOO_LARGE",
        format!("event `{id}` alone exceeds the maximum size of a reply"),
    )
    .hint("ask for some of its properties with `fields`, or raise `maxTokens`")
    .detail("eventId", id.to_string()))
}

/// Size of a value as JSON, in bytes.
pub(crate) fn size_of_json(value: &impl Serialize) -> usize {
    let mut count = ByteCounter(0);
    serde_json::to_writer(&mut count, value).map_or(0, |()| count.0)
}

/// A writer that only counts bytes.
struct ByteCounter(usize);

impl std::io::Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Members of an event besides its properties, in column order.
const EVENT_MEMBERS: [&str; 8] = [
    "timestamp",
    "eventId",
    "runId",
    "eventType",
    "severity",
    "category",
    "parentEventId",
    "validationErrors",
];

struct EventWriter<'a> {
    run: &'a SealedRun,
    run_id: String,
    style: &'a Style,
}

impl EventWriter<'_> {
    fn event<'a>(&'a self, event: &'a StoredEvent) -> Result<WireEvent<'a>, ToolError> {
        let all = self.style.fields.is_empty();
        let wants = |name: &str| all || self.style.fields.iter().any(|field| field == name);
        let mut wire = WireEvent::default();
        if wants("eventId") {
            wire.event_id = Some(self.event_ref(event));
        }
        if wants("runId") {
            wire.run_id = Some(&self.run_id);
        }
        if wants("timestamp") {
            wire.timestamp = Some(event.timestamp().with_millis());
        }
        if wants("eventType") {
            wire.event_type = Some(event.event_type().into());
        }
        if wants("severity") {
            wire.severity = Some(event.severity().into());
        }
        if wants("category") {
            wire.category = Some(event.category().as_str());
        }
        if wants("parentEventId") {
            wire.parent_event_id = Some(self.parent_ref(event)?);
        }
        if wants("validationErrors") {
            wire.validation_errors = Some(problems(event));
        }
        wire.properties = self.properties(event, all || wants("properties"))?;
        Ok(wire)
    }

    fn properties<'a>(
        &self,
        event: &'a StoredEvent,
        all: bool,
    ) -> Result<Option<Properties<'a>>, ToolError> {
        let json = event.properties();
        if all && self.style.handles {
            let mut value = lossless_value(json);
            self.shorten_order(&mut value)?;
            return Ok(Some(Properties::Selected(value)));
        }
        if all {
            return Ok(Some(Properties::All(json)));
        }
        let mut selected = Map::new();
        for path in self.style.fields.iter().filter_map(|field| property_path(field)) {
            if let Some(token) = scan::at_path(json, path) {
                let mut value = token_value(token);
                if path == "OrderId" && self.style.handles {
                    self.shorten(&mut value)?;
                }
                selected.insert(path.to_owned(), value);
            }
        }
        Ok((!selected.is_empty()).then_some(Properties::Selected(Value::Object(selected))))
    }

    /// The cells of a row: members of the event, then properties by path.
    fn cells(&self, event: &StoredEvent) -> Result<Vec<(String, Value)>, ToolError> {
        let all = self.style.fields.is_empty();
        let wants = |name: &str| all || self.style.fields.iter().any(|field| field == name);
        let mut cells: Vec<(String, Value)> = Vec::new();
        for name in EVENT_MEMBERS.into_iter().filter(|name| wants(name)) {
            let value = match name {
                "timestamp" => event.timestamp().with_millis().into(),
                "eventId" => self.event_ref(event).into(),
                "runId" => self.run_id.as_str().into(),
                "eventType" => event.event_type().as_str().into(),
                "severity" => event.severity().as_str().into(),
                "category" => event.category().as_str().into(),
                "parentEventId" => self.parent_ref(event)?.into(),
                _ => problems(event).map_or(Value::Null, |problems| json!(problems)),
            };
            cells.push((name.to_owned(), value));
        }
        if all || wants("properties") {
            flatten(event.properties(), "", &mut cells);
        } else {
            for path in self.style.fields.iter().filter_map(|field| property_path(field)) {
                let token = scan::at_path(event.properties(), path);
                cells.push((path.to_owned(), token.map_or(Value::Null, token_value)));
            }
        }
        if self.style.handles {
            for (_, value) in cells.iter_mut().filter(|(name, _)| name == "OrderId") {
                self.shorten(value)?;
            }
        }
        Ok(cells)
    }

    fn event_ref(&self, event: &StoredEvent) -> String {
        if self.style.handles { format!("e{}", event.seq()) } else { event.id().to_string() }
    }

    fn parent_ref(&self, event: &StoredEvent) -> Result<Option<String>, ToolError> {
        if let Some(seq) = event.parent_seq().filter(|_| self.style.handles) {
            return Ok(Some(format!("e{seq}")));
        }
        let id = self.run.parent_id(event).map_err(tool_error)?;
        Ok(id.map(|id| id.to_string()))
    }

    fn shorten_order(&self, properties: &mut Value) -> Result<(), ToolError> {
        match properties.get_mut("OrderId") {
            Some(value) => self.shorten(value),
            None => Ok(()),
        }
    }

    fn shorten(&self, value: &mut Value) -> Result<(), ToolError> {
        if let Value::String(id) = value
            && let Some(seq) = self.run.first_of_order(id).map_err(tool_error)?
        {
            *value = format!("o{seq}").into();
        }
        Ok(())
    }
}

/// The property path of a field: `Price`, `$.Price` or `Data.Close`.
fn property_path(field: &str) -> Option<&str> {
    let prefixed = field.strip_prefix("$.").or_else(|| field.strip_prefix("properties."));
    let is_member = EVENT_MEMBERS.contains(&field) || field == "properties";
    prefixed.or_else(|| (!is_member).then_some(field))
}

fn problems(event: &StoredEvent) -> Option<Vec<WireProblem>> {
    let problems = event.problems();
    (!problems.is_empty()).then(|| {
        let wire = problems.into_iter().map(|problem| WireProblem {
            field: problem.field.into_owned(),
            error: problem.error.into_owned(),
            severity: problem.severity.as_str().to_owned(),
        });
        wire.collect()
    })
}

/// Adds the properties as cells named by their paths.
fn flatten(json: &str, prefix: &str, cells: &mut Vec<(String, Value)>) {
    let Some(Token::Object(_)) = Token::of(json) else {
        cells.push(("properties".to_owned(), lossless_value(json)));
        return;
    };
    for (name, token) in scan::members(json) {
        let name = Token::Text(name).text().unwrap_or_default();
        let path = column_name(prefix, &name);
        match token {
            Token::Object("{}") => cells.push((path, Value::Object(Map::new()))),
            Token::Object(inner) if prefix.matches('.').count() < 4 => flatten(inner, &path, cells),
            other => cells.push((path, token_value(other))),
        }
    }
}

/// The column of a property. A dot in a name is escaped, and a property with the name of a member
/// of the event gets the prefix `properties.`, so that no two values share a column.
fn column_name(prefix: &str, name: &str) -> String {
    let name = name.replace('\\', "\\\\").replace('.', "\\.");
    match prefix {
        "" if EVENT_MEMBERS.contains(&name.as_str()) || name == "properties" => {
            format!("properties.{name}")
        }
        "" => name,
        prefix => format!("{prefix}.{name}"),
    }
}

/// Serializes JSON text like [`lossless_value`], without building a tree.
struct LosslessJson<'a> {
    token: Token<'a>,
    depth: usize,
}

impl<'a> LosslessJson<'a> {
    fn of(json: &'a str) -> Self {
        Self { token: Token::of(json).unwrap_or(Token::Null), depth: 0 }
    }
}

/// Up to this many members, duplicate names are found by linear search.
const MAX_LINEAR_MEMBERS: usize = 16;

impl Serialize for LosslessJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (Token::Object(json), true) = (self.token, self.depth < MAX_DEPTH) else {
            return nested_value(self.token, self.depth).serialize(serializer);
        };
        // Of duplicate names the first counts.
        if scan::members(json).nth(MAX_LINEAR_MEMBERS).is_some() {
            return nested_value(self.token, self.depth).serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        for (place, (raw, token)) in scan::members(json).enumerate() {
            let name = Token::Text(raw).text().unwrap_or_default();
            let is_same = |(other, _): (&str, Token<'_>)| {
                Token::Text(other).text().unwrap_or_default() == name
            };
            if !scan::members(json).take(place).any(is_same) {
                map.serialize_entry(&name, &LosslessJson { token, depth: self.depth + 1 })?;
            }
        }
        map.end()
    }
}

/// Parses JSON text; a number that a double cannot represent becomes a text.
pub(crate) fn lossless_value(json: &str) -> Value {
    Token::of(json).map_or(Value::Null, token_value)
}

pub(crate) fn token_value(token: Token<'_>) -> Value {
    nested_value(token, 0)
}

/// Deeper JSON stays text, so that a hostile log cannot exhaust the stack.
const MAX_DEPTH: usize = 32;

fn nested_value(token: Token<'_>, depth: usize) -> Value {
    match token {
        Token::Null => Value::Null,
        Token::Bool(value) => value.into(),
        Token::Text(_) => token.text().map_or(Value::Null, |text| Value::String(text.into_owned())),
        Token::Number(text) => number_value(text),
        Token::Object(json) if depth >= MAX_DEPTH => json.into(),
        Token::Object(json) => {
            let mut object = Map::new();
            for (name, token) in scan::members(json) {
                let name = Token::Text(name).text().unwrap_or_default().into_owned();
                object.entry(name).or_insert_with(|| nested_value(token, depth + 1));
            }
            Value::Object(object)
        }
        Token::Array(json) if depth >= MAX_DEPTH => json.into(),
        Token::Array(json) => {
            scan::elements(json).map(|token| nested_value(token, depth + 1)).collect()
        }
    }
}

/// A number; a text if a double would change its digits.
pub(crate) fn number_value(text: &str) -> Value {
    number::lossless(text).map_or_else(|| text.into(), Value::Number)
}
