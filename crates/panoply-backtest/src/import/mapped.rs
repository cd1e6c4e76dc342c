//! Importer for any CSV or JSONL, by a mapping file that assigns the columns.
//!
//! ```json
//! {
//!   "timestamp": {"column": "when", "unit": "ms"},
//!   "eventType": {"column": "kind", "values": {"fill": "TradeExecution", "new": "OrderPlaced"}},
//!   "properties": {
//!     "OrderId": "order_no", "SecuritySymbol": "ticker", "Quantity": "size", "Price": "px",
//!     "Direction": {"column": "side", "values": {"B": "Buy", "S": "Sell"}}
//!   }
//! }
//! ```
//!
//! A JSONL column may be a path (`order.id`). Without `properties` every column that is not
//! assigned becomes a property under its own name. An id that is not a GUID is replaced by a
//! derived one; an order's own id becomes `ExternalOrderId`.

use std::collections::BTreeMap;
use std::io::BufRead;

use serde::Deserialize;

use super::event_builder::{parse_timestamp, timestamp_in_unit};
use super::records::{RecordOutcome, each_object};
use super::table::{Row, each_row};
use super::{Import, ImportControl};
use crate::error::LogError;
use crate::event::{Category, Event, EventType, Guid, Parent, Severity};
use crate::line;
use crate::number::Number;
use crate::scan::{self, Token};
use crate::timestamp::Timestamp;

/// A mapping file: the source of each field of an event.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Mapping {
    timestamp: ColumnSource,
    event_type: ColumnSource,
    #[serde(default)]
    severity: Option<ColumnSource>,
    #[serde(default)]
    category: Option<ColumnSource>,
    #[serde(default)]
    event_id: Option<ColumnSource>,
    #[serde(default)]
    parent_event_id: Option<ColumnSource>,
    #[serde(default)]
    properties: Option<BTreeMap<String, ColumnSource>>,
}

/// The source of a value: a column, optionally with a unit or a translation, or a constant.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "ColumnSourceInput")]
struct ColumnSource {
    column: Option<String>,
    value: Option<String>,
    unit: Option<Unit>,
    values: BTreeMap<String, String>,
}

/// The unit of a count since 1970.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Unit {
    S,
    Ms,
    Us,
    Ns,
}

/// A [`ColumnSource`] in JSON: a column name, or an object.
struct ColumnSourceInput(ColumnSource);

impl<'de> Deserialize<'de> for ColumnSourceInput {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct ObjectForm {
            column: Option<String>,
            value: Option<String>,
            unit: Option<Unit>,
            #[serde(default)]
            values: BTreeMap<String, String>,
        }
        struct ColumnSourceVisitor;
        impl<'de> serde::de::Visitor<'de> for ColumnSourceVisitor {
            type Value = ColumnSourceInput;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("the name of a column, or {\"column\": …} or {\"value\": …}")
            }

            fn visit_str<E>(self, column: &str) -> Result<ColumnSourceInput, E> {
                let column = Some(column.to_owned());
                Ok(ColumnSourceInput(ColumnSource {
                    column,
                    value: None,
                    unit: None,
                    values: BTreeMap::new(),
                }))
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                map: A,
            ) -> Result<ColumnSourceInput, A::Error> {
                let long =
                    ObjectForm::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                let ObjectForm { column, value, unit, values } = long;
                Ok(ColumnSourceInput(ColumnSource { column, value, unit, values }))
            }
        }
        deserializer.deserialize_any(ColumnSourceVisitor)
    }
}

impl TryFrom<ColumnSourceInput> for ColumnSource {
    type Error = &'static str;

    fn try_from(ColumnSourceInput(source): ColumnSourceInput) -> Result<Self, Self::Error> {
        if source.column.is_some() == source.value.is_some() {
            return Err("name either a `column` or a fixed `value`");
        }
        Ok(source)
    }
}

impl Mapping {
    /// Reads a mapping file.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// Whether a column is assigned to a field other than a property.
    fn used(&self, column: &str) -> bool {
        let given = [Some(&self.timestamp), Some(&self.event_type)];
        let optional = [&self.severity, &self.category, &self.event_id, &self.parent_event_id];
        let all = given.into_iter().chain(optional.map(Option::as_ref)).flatten();
        all.into_iter().any(|source| source.column.as_deref() == Some(column))
    }
}

/// Reads a CSV.
pub fn read_csv(
    source: impl BufRead,
    mapping: &Mapping,
    run: Guid,
    import: &mut Import,
    control: &mut ImportControl<'_>,
) -> Result<(), LogError> {
    each_row(source, import, control, |row, import| {
        read_record(row.number, row, mapping, run, import)
    })
}

/// Reads JSONL, or a JSON array of objects.
pub fn read_jsonl(
    source: impl BufRead,
    mapping: &Mapping,
    run: Guid,
    import: &mut Import,
    control: &mut ImportControl<'_>,
) -> Result<(), LogError> {
    each_object(source, import, control, |number, json, import| {
        read_record(number, &Object(json), mapping, run, import)
    })
}

/// A CSV row or a JSON object.
trait Record {
    fn text(&self, column: &str) -> Option<String>;
    /// A cell as JSON. With `as_number`, a cell that looks like a number becomes one.
    fn json(&self, column: &str, as_number: bool) -> Option<String>;
    /// Names of all columns with a value.
    fn names(&self) -> Vec<String>;
}

impl Record for Row<'_> {
    fn text(&self, column: &str) -> Option<String> {
        self.cell(column).map(str::to_owned)
    }

    fn json(&self, column: &str, as_number: bool) -> Option<String> {
        let cell = self.cell(column)?;
        let is_number = as_number && Number::parse(cell).is_some();
        Some(if is_number { cell.to_owned() } else { quoted(cell) })
    }

    fn names(&self) -> Vec<String> {
        self.cells().map(|(name, _)| name.to_owned()).filter(|name| !name.is_empty()).collect()
    }
}

struct Object<'a>(&'a str);

impl Record for Object<'_> {
    fn text(&self, column: &str) -> Option<String> {
        scan::at_path(self.0, column)?.id_text().map(|text| text.into_owned())
    }

    fn json(&self, column: &str, _: bool) -> Option<String> {
        match scan::at_path(self.0, column)? {
            Token::Null => None,
            text @ Token::Text(_) => text.text().map(|text| quoted(&text)),
            other => other.json().map(str::to_owned),
        }
    }

    fn names(&self) -> Vec<String> {
        scan::members(self.0).map(|(name, _)| name.to_owned()).collect()
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl ColumnSource {
    /// The value, translated if `values` contains it.
    fn word(&self, row: &dyn Record) -> Option<String> {
        let Some(column) = &self.column else { return self.value.clone() };
        let cell = row.text(column)?;
        Some(self.values.get(&cell).cloned().unwrap_or(cell))
    }

    fn parse_timestamp(&self, row: &dyn Record) -> Result<Timestamp, String> {
        let column = self.column.as_deref().unwrap_or("timestamp");
        let text = self.word(row).ok_or_else(|| format!("`{column}` is empty"))?;
        let read = match self.unit {
            None => parse_timestamp(&text),
            Some(Unit::S) => timestamp_in_unit(&text, 1_000_000_000),
            Some(Unit::Ms) => timestamp_in_unit(&text, 1_000_000),
            Some(Unit::Us) => timestamp_in_unit(&text, 1_000),
            Some(Unit::Ns) => timestamp_in_unit(&text, 1),
        };
        read.ok_or_else(|| format!("`{column}` is `{}`, not a time", line::excerpt(&text)))
    }
}

/// Properties that stay texts even if they look like numbers.
const TEXT_PROPERTIES: [&str; 6] =
    ["OrderId", "ExternalOrderId", "PositionId", "SecuritySymbol", "IndicatorName", "TradeId"];

fn read_record(
    number: u64,
    row: &dyn Record,
    mapping: &Mapping,
    run: Guid,
    import: &mut Import,
) -> RecordOutcome {
    let read = || -> Result<Event<'static>, String> {
        let timestamp = mapping.timestamp.parse_timestamp(row)?;
        let word = mapping.event_type.word(row).ok_or("there is no event type")?;
        let is_order_placed = word == "OrderPlaced";
        let event_type =
            if is_order_placed { Some(EventType::StateChange) } else { EventType::parse(&word) };
        let event_type = event_type.ok_or_else(|| {
            format!("`{}` is not an event type; translate it with `values`", line::excerpt(&word))
        })?;
        let severity = mapping.severity.as_ref().and_then(|source| source.word(row));
        let severity = match severity {
            None => event_type.usual_severity(),
            Some(word) => Severity::parse(&word)
                .ok_or_else(|| format!("`{}` is not a severity", line::excerpt(&word)))?,
        };
        let category = mapping.category.as_ref().and_then(|source| source.word(row));
        let category = match category {
            None => event_type.usual_category(),
            Some(word) => Category::parse_mapped(&word)
                .ok_or_else(|| format!("`{}` is not a category", line::excerpt(&word)))?,
        };
        let guid = |text: String| {
            Guid::parse(&text).unwrap_or_else(|| Guid::named(run, &format!("event {text}")))
        };
        let id = mapping.event_id.as_ref().and_then(|source| source.word(row));
        let parent = mapping.parent_event_id.as_ref().and_then(|source| source.word(row));
        let properties = properties(row, mapping, run);
        let properties = if is_order_placed {
            line::normalize_order_placed(&properties).into_owned()
        } else {
            properties
        };
        Ok(Event {
            id: id.map_or_else(|| Guid::named(run, &format!("line {number}")), guid),
            timestamp,
            event_type,
            severity,
            category,
            properties: properties.into(),
            parent: parent.map_or(Parent::None, |parent| Parent::Id(guid(parent))),
            original: None,
        })
    };
    match read() {
        Ok(event) => import.event(number, Some(run), &event).map(Ok),
        Err(reason) => Ok(Err(reason)),
    }
}

fn properties(row: &dyn Record, mapping: &Mapping, run: Guid) -> String {
    let mut out = String::from("{");
    let mut add = |name: &str, json: &str| {
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(&quoted(name));
        out.push(':');
        out.push_str(json);
    };
    let mut one = |name: &str, json: Option<String>, text: Option<String>| {
        let Some(json) = json else { return };
        match text {
            Some(order) if name == "OrderId" && Guid::parse(&order).is_none() => {
                let id = Guid::named(run, &format!("order {order}"));
                add("OrderId", &quoted(&id.to_string()));
                add("ExternalOrderId", &quoted(&order));
            }
            _ => add(name, &json),
        }
    };
    match &mapping.properties {
        None => {
            for name in row.names().iter().filter(|name| !mapping.used(name)) {
                one(
                    name,
                    row.json(name, !TEXT_PROPERTIES.contains(&name.as_str())),
                    row.text(name),
                );
            }
        }
        Some(mapped) => {
            for (name, source) in mapped {
                let word = source.word(row);
                let is_cell = source.values.is_empty() && source.column.is_some();
                let json = match (&source.column, is_cell) {
                    (Some(column), true) => {
                        row.json(column, !TEXT_PROPERTIES.contains(&name.as_str()))
                    }
                    _ => word.as_deref().map(quoted),
                };
                one(name, json, word);
            }
        }
    }
    out.push('}');
    out
}
