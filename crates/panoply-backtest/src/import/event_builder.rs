//! Builder of events for the importers, and parsing of the engines' timestamps.

use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::Import;
use crate::error::LogError;
use crate::event::{Event, EventType, Guid, Parent, Severity};
use crate::line;
use crate::number::{Number, Sum};
use crate::position::Position;
use crate::timestamp::Timestamp;

pub(crate) struct EventBuilder {
    time: Timestamp,
    event_type: EventType,
    severity: Option<Severity>,
    parent: Option<Guid>,
    id: Option<Guid>,
    properties: String,
    /// The security, and whether a currency is named.
    symbol: Option<String>,
    has_currency: bool,
    /// Fields that the source does not have, and what follows.
    warnings: Vec<Value>,
}

impl EventBuilder {
    pub(crate) fn new(time: Timestamp, event_type: EventType) -> Self {
        let properties = String::from("{");
        let warnings = Vec::new();
        Self {
            time,
            event_type,
            severity: None,
            parent: None,
            id: None,
            properties,
            symbol: None,
            has_currency: false,
            warnings,
        }
    }

    /// Adds a validation warning about what the source lacks.
    pub(crate) fn warning(mut self, field: &str, error: &str) -> Self {
        self.warnings.push(json!({"Field": field, "Error": error, "Severity": "Warning"}));
        self
    }

    /// A state change of an order.
    pub(crate) fn order_status(time: Timestamp, status: &str) -> Self {
        Self::new(time, EventType::StateChange)
            .text("StateType", "Order")
            .text("OrderStatus", status)
    }

    /// A state change of the account; `after` are the members of `StateAfter`.
    pub(crate) fn account(time: Timestamp, after: &[(&str, &str)]) -> Self {
        let mut event = Self::new(time, EventType::StateChange)
            .text("StateType", "Account")
            .object("StateAfter", after);
        event.has_currency = after.iter().any(|(name, _)| *name == "Currency");
        event
    }

    /// A state change of an account with several currencies.
    pub(crate) fn account_of_several(time: Timestamp, balances: &[(&str, &str)]) -> Self {
        let after = Self::new(time, EventType::StateChange).object("Balances", balances);
        let event = Self::new(time, EventType::StateChange)
            .text("StateType", "Account")
            .json("StateAfter", &(after.properties + "}"));
        Self { has_currency: true, ..event }
    }

    /// A state change of profit and loss in one currency.
    pub(crate) fn pnl(time: Timestamp, realized: Decimal, unrealized: Option<Decimal>) -> Self {
        let unrealized = unrealized.map(decimal_text).unwrap_or_default();
        let realized = decimal_text(realized);
        let after = [("RealizedPnL", realized.as_str()), ("UnrealizedPnL", unrealized.as_str())];
        Self::new(time, EventType::StateChange)
            .text("StateType", "PnL")
            .object("StateAfter", &after)
    }

    /// A position update. Unrealized profit is left out: the source does not report it.
    pub(crate) fn position(time: Timestamp, symbol: &str, position: &Position) -> Self {
        Self::new(time, EventType::PositionUpdate)
            .text("SecuritySymbol", symbol)
            .decimal("Quantity", position.quantity)
            .decimal("AveragePrice", position.average)
            .decimal("RealizedPnL", position.realized)
    }

    pub(crate) fn parent(mut self, parent: Option<Guid>) -> Self {
        self.parent = parent;
        self
    }

    pub(crate) fn severity(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }

    /// Sets the engine's own event id, if it is a GUID.
    pub(crate) fn id(mut self, id: Option<Guid>) -> Self {
        self.id = id;
        self
    }

    pub(crate) fn text(mut self, name: &str, text: &str) -> Self {
        match name {
            "SecuritySymbol" => self.symbol = Some(text.to_owned()),
            "Currency" => self.has_currency = true,
            _ => {}
        }
        self.json(name, &Value::from(text).to_string())
    }

    /// Adds a text, unless it is missing or empty.
    pub(crate) fn text_if(self, name: &str, text: Option<&str>) -> Self {
        match text {
            Some(text) if !text.is_empty() => self.text(name, text),
            _ => self,
        }
    }

    /// Adds a number as written; omits text that is not a number.
    pub(crate) fn number(self, name: &str, text: &str) -> Self {
        if Number::parse(text).is_some() { self.json(name, text) } else { self }
    }

    pub(crate) fn decimal(self, name: &str, decimal: Decimal) -> Self {
        self.json(name, &decimal_text(decimal))
    }

    /// Adds an object of numbers and texts; omits empty values.
    pub(crate) fn object(self, name: &str, members: &[(&str, &str)]) -> Self {
        let mut object = Self::new(self.time, self.event_type);
        for (name, value) in members.iter().filter(|(_, value)| !value.is_empty()) {
            object = match Number::parse(value) {
                Some(_) => object.number(name, value),
                None => object.text(name, value),
            };
        }
        self.json(name, &(object.properties + "}"))
    }

    /// Adds a JSON value verbatim.
    pub(crate) fn json(mut self, name: &str, json: &str) -> Self {
        if self.properties.len() > 1 {
            self.properties.push(',');
        }
        self.properties.push_str(&Value::from(name).to_string());
        self.properties.push(':');
        self.properties.push_str(json);
        self
    }

    /// Adds `OrderId`, a GUID derived from the engine's id, and the latter as `ExternalOrderId`.
    pub(crate) fn order(self, run: Guid, external: &str) -> Self {
        let id = Guid::named(run, &format!("order {external}"));
        self.text("OrderId", &id.to_string()).text("ExternalOrderId", external)
    }

    /// Adds the event to the import, with its own id or one derived from `name`. Returns the id.
    pub(crate) fn send(
        mut self,
        import: &mut Import,
        run: Guid,
        line_number: u64,
        name: &str,
    ) -> Result<Guid, LogError> {
        // The currency that the caller named for files that name none.
        if !self.has_currency
            && self.event_type != EventType::IndicatorCalculation
            && let Some(currency) = import.currency_of(self.symbol.as_deref())
        {
            self = self.text("Currency", currency);
        }
        self.properties.push('}');
        let id = self.id.unwrap_or_else(|| Guid::named(run, name));
        let mut event = Event {
            id,
            timestamp: self.time,
            event_type: self.event_type,
            severity: self.severity.unwrap_or_else(|| self.event_type.usual_severity()),
            category: self.event_type.usual_category(),
            properties: self.properties.into(),
            parent: self.parent.map_or(Parent::None, Parent::Id),
            original: None,
        };
        if !self.warnings.is_empty() {
            event.original = Some(line::format_line_with(run, &event, &self.warnings).into());
        }
        import.event(line_number, Some(run), &event)?;
        Ok(id)
    }
}

/// A decimal without trailing zeros.
pub(crate) fn decimal_text(decimal: Decimal) -> String {
    decimal.normalize().to_string()
}

/// Parses a count of units of `nanos` nanoseconds since 1970, with an optional fraction.
pub(crate) fn timestamp_in_unit(text: &str, nanos: i128) -> Option<Timestamp> {
    let mut count = Sum::ZERO;
    count.add(Number::parse(text)?);
    let Sum::Exact { mantissa, scale } = count else { return None };
    let nanos = mantissa.checked_mul(nanos)?.checked_div(10_i128.checked_pow(u32::from(scale))?)?;
    i64::try_from(nanos).ok().map(Timestamp::from_nanos)
}

/// Parses a count since 1970 and infers its unit from its magnitude: seconds, milli-, micro- or
/// nanoseconds. Seconds are unambiguous until the year 5138; milliseconds are mistaken for
/// seconds only before April 1973.
pub(crate) fn timestamp_by_magnitude(text: &str) -> Option<Timestamp> {
    let size = Number::parse(text)?.to_f64().abs();
    let nanos = if size < 1e11 {
        1_000_000_000
    } else if size < 1e14 {
        1_000_000
    } else if size < 1e17 {
        1_000
    } else {
        1
    };
    timestamp_in_unit(text, nanos)
}

/// Parses ISO 8601 or a count since 1970. Digits alone are a count unless they are a basic date.
pub(crate) fn parse_timestamp(text: &str) -> Option<Timestamp> {
    let is_count = text.len() != 8 && text.bytes().all(|byte| byte.is_ascii_digit());
    let iso = if is_count { None } else { Timestamp::parse(text).ok() };
    iso.or_else(|| timestamp_by_magnitude(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epoch_count_unit_is_inferred_from_magnitude() {
        for text in [
            "1729555200",
            "1729555200.0",
            "1729555200000",
            "1729555200000000",
            "1729555200000000000",
            "2024-10-22T00:00:00Z",
            "2024-10-22 00:00:00+00:00",
        ] {
            let read = parse_timestamp(text).map(|parse_timestamp| parse_timestamp.to_string());
            assert_eq!(read.as_deref(), Some("2024-10-22T00:00:00Z"), "{text}");
        }
        assert_eq!(parse_timestamp("soon"), None);
    }
}
