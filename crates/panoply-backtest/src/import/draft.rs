//! What importers of engines share: events made from an engine's own words.

use serde_json::Value;

use super::Import;
use crate::error::LogError;
use crate::event::{Event, EventType, Guid, Parent, Severity};
use crate::number::Number;
use crate::timestamp::Timestamp;

/// An event in the making.
pub(crate) struct Draft {
    pub(crate) time: Timestamp,
    pub(crate) event_type: EventType,
    pub(crate) severity: Option<Severity>,
    pub(crate) parent: Option<Guid>,
    properties: String,
}

impl Draft {
    pub(crate) fn new(time: Timestamp, event_type: EventType) -> Self {
        Self { time, event_type, severity: None, parent: None, properties: String::from("{") }
    }

    pub(crate) fn parent(mut self, parent: Option<Guid>) -> Self {
        self.parent = parent;
        self
    }

    /// Adds a text.
    pub(crate) fn text(self, name: &str, text: &str) -> Self {
        self.json(name, &Value::from(text).to_string())
    }

    /// Adds a number as it is written; text that is no number is left out.
    pub(crate) fn number(self, name: &str, text: &str) -> Self {
        if Number::parse(text).is_some() { self.json(name, text) } else { self }
    }

    fn json(mut self, name: &str, json: &str) -> Self {
        if self.properties.len() > 1 {
            self.properties.push(',');
        }
        self.properties.push_str(&Value::from(name).to_string());
        self.properties.push(':');
        self.properties.push_str(json);
        self
    }

    /// Adds the order: its id as a GUID made from the engine's, which is kept beside it.
    pub(crate) fn order(self, run: Guid, external: &str) -> Self {
        let id = Guid::named(run, &format!("order {external}"));
        self.text("OrderId", &id.to_string()).text("ExternalOrderId", external)
    }

    /// Hands the event over under an id made from `name`; gives the id.
    pub(crate) fn send(
        mut self,
        import: &mut Import,
        run: Guid,
        line: u64,
        name: &str,
    ) -> Result<Guid, LogError> {
        self.properties.push('}');
        let id = Guid::named(run, name);
        let event = Event {
            id,
            timestamp: self.time,
            event_type: self.event_type,
            severity: self.severity.unwrap_or_else(|| self.event_type.usual_severity()),
            category: self.event_type.usual_category(),
            properties: self.properties.into(),
            parent: self.parent.map_or(Parent::None, Parent::Id),
            original: None,
        };
        import.event(line, Some(run), &event)?;
        Ok(id)
    }
}
