//! What is wrong with an event. Nothing here refuses one: an event is kept with its problems.
//!
//! The table follows the published contract (an `OrderId` that is no GUID is an error, a missing
//! `Price` a warning), and for the rest the rules of the system the contract came from.

use crate::event::{EventType, Guid};
use crate::number::Number;
use crate::outline::Outline;
use crate::scan::Token;

/// Properties longer than this are a problem.
pub const MAX_PROPERTIES_BYTES: usize = 1 << 20;

/// One thing wrong with an event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Problem {
    /// Where, such as `Properties.OrderId`.
    pub field: &'static str,
    /// What, in a few words.
    pub error: &'static str,
    /// How bad it is.
    pub severity: ProblemSeverity,
}

/// How bad a problem is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ProblemSeverity {
    /// The event cannot be used for what it is.
    Error,
    /// It can, with less to say.
    Warning,
}

impl ProblemSeverity {
    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "Error",
            Self::Warning => "Warning",
        }
    }
}

const MISSING: &str = "Missing required field";
const MISSING_RECOMMENDED: &str = "Missing recommended field";
const BAD_GUID: &str = "Invalid GUID format";

const fn error(field: &'static str, error: &'static str) -> Problem {
    Problem { field, error, severity: ProblemSeverity::Error }
}

const fn warning(field: &'static str, error: &'static str) -> Problem {
    Problem { field, error, severity: ProblemSeverity::Warning }
}

/// What can be seen from an event's type and properties alone.
pub fn properties(event_type: EventType, json: &str) -> Vec<Problem> {
    property_problems(event_type, &Outline::of(json))
}

/// The same, of properties that were walked already.
pub(crate) fn property_problems(event_type: EventType, outline: &Outline<'_>) -> Vec<Problem> {
    let mut found = Vec::new();
    if !outline.is_object {
        found.push(error("Properties", "Not a JSON object"));
        return found;
    }
    if outline.bytes > MAX_PROPERTIES_BYTES {
        found.push(error("Properties", "Larger than 1 MiB"));
    }
    let present = |name| outline.member(name).filter(|token| *token != Token::Null);
    let mut require = |name, problem| {
        if present(name).is_none() {
            found.push(problem);
        }
    };
    match event_type {
        EventType::TradeExecution => {
            found.extend(order_id(present("OrderId")));
            let mut require = |name, problem| {
                if present(name).is_none() {
                    found.push(problem);
                }
            };
            require("Price", warning("Properties.Price", MISSING));
            require("Quantity", warning("Properties.Quantity", MISSING_RECOMMENDED));
        }
        EventType::OrderRejection => {
            found.extend(order_id(present("OrderId")));
            if present("RejectionReason").is_none() {
                found.push(error("Properties.RejectionReason", MISSING));
            }
        }
        EventType::IndicatorCalculation => {
            require("IndicatorName", error("Properties.IndicatorName", MISSING));
            require("Value", error("Properties.Value", MISSING));
            if present("Value").is_some_and(|value| !is_number(value)) {
                found.push(error("Properties.Value", "Invalid number format"));
            }
        }
        EventType::PositionUpdate => {
            require("SecuritySymbol", error("Properties.SecuritySymbol", MISSING));
        }
        EventType::RiskEvent => require("RiskType", error("Properties.RiskType", MISSING)),
        EventType::StateChange | EventType::MarketDataEvent => {}
    }
    found
}

fn order_id(token: Option<Token<'_>>) -> Option<Problem> {
    let Some(token) = token else { return Some(error("Properties.OrderId", MISSING)) };
    let is_guid = token.text().is_some_and(|text| Guid::parse(&text).is_some());
    (!is_guid).then_some(error("Properties.OrderId", BAD_GUID))
}

fn is_number(token: Token<'_>) -> bool {
    token.number_text().is_some_and(|text| Number::parse(text).is_some())
}

/// What can only be seen once the whole run is there, and a note of what [`properties`] found.
/// One byte, kept with each event.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Flags(u8);

impl Flags {
    /// Its parent is not in the run.
    pub const PARENT_MISSING: Self = Self(1);
    /// It is its own ancestor; the link is ignored.
    pub const CIRCULAR: Self = Self(2);
    /// It lies outside the period that the run declares.
    pub const OUTSIDE_PERIOD: Self = Self(4);
    /// Its parent's id is not a GUID.
    pub const PARENT_UNREADABLE: Self = Self(8);
    /// Its properties have an error.
    pub const PROPERTY_ERROR: Self = Self(16);
    /// Its properties have a warning.
    pub const PROPERTY_WARNING: Self = Self(32);

    /// The flags kept in a byte.
    pub const fn of_byte(byte: u8) -> Self {
        Self(byte)
    }

    /// The byte to keep.
    pub const fn byte(self) -> u8 {
        self.0
    }

    /// Raises a flag.
    pub const fn insert(&mut self, flag: Self) {
        self.0 |= flag.0;
    }

    /// Whether a flag is up.
    pub const fn contains(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }

    /// The flags for what [`properties`] found.
    pub fn of_problems(problems: &[Problem]) -> Self {
        let mut flags = Self::default();
        for problem in problems {
            flags.insert(match problem.severity {
                ProblemSeverity::Error => Self::PROPERTY_ERROR,
                ProblemSeverity::Warning => Self::PROPERTY_WARNING,
            });
        }
        flags
    }

    /// Whether there is an error.
    pub const fn is_error(self) -> bool {
        self.contains(Self(Self::CIRCULAR.0 | Self::PARENT_UNREADABLE.0 | Self::PROPERTY_ERROR.0))
    }

    /// Whether there is a warning.
    pub const fn is_warning(self) -> bool {
        self.contains(Self(
            Self::PARENT_MISSING.0 | Self::OUTSIDE_PERIOD.0 | Self::PROPERTY_WARNING.0,
        ))
    }
}

/// Everything wrong with an event, in a fixed order.
pub fn all(event_type: EventType, json: &str, flags: Flags) -> Vec<Problem> {
    let mut found = Vec::new();
    if flags.contains(Flags::PROPERTY_ERROR) || flags.contains(Flags::PROPERTY_WARNING) {
        found = properties(event_type, json);
    }
    let later = [
        (Flags::PARENT_UNREADABLE, error("ParentEventId", BAD_GUID)),
        (Flags::PARENT_MISSING, warning("ParentEventId", "Parent event not found")),
        (Flags::CIRCULAR, error("ParentEventId", "Circular reference")),
        (Flags::OUTSIDE_PERIOD, warning("Timestamp", "Outside the period of the run")),
    ];
    found.extend(
        later.iter().filter(|(flag, _)| flags.contains(*flag)).map(|(_, problem)| *problem),
    );
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn validation_rules_per_event_type() {
        use EventType as T;
        const ID: &str = r#""OrderId":"99999999-8888-7777-6666-555555555555""#;
        let cases = [
            (T::TradeExecution, format!(r#"{{{ID},"Price":1,"Quantity":2}}"#), ""),
            (
                T::TradeExecution,
                r#"{"OrderId":"invalid-guid","SecuritySymbol":"AAPL","Quantity":100}"#.to_owned(),
                "Properties.OrderId: Invalid GUID format (Error), Properties.Price: Missing required field (Warning)",
            ),
            (
                T::TradeExecution,
                r#"{"OrderId":null,"Price":1}"#.to_owned(),
                "Properties.OrderId: Missing required field (Error), Properties.Quantity: Missing recommended field (Warning)",
            ),
            (
                T::OrderRejection,
                format!("{{{ID}}}"),
                "Properties.RejectionReason: Missing required field (Error)",
            ),
            (
                T::OrderRejection,
                r#"{"OrderId":7,"RejectionReason":"x"}"#.to_owned(),
                "Properties.OrderId: Invalid GUID format (Error)",
            ),
            (T::IndicatorCalculation, r#"{"IndicatorName":"SMA","Value":"1.5"}"#.to_owned(), ""),
            (
                T::IndicatorCalculation,
                r#"{"IndicatorName":"SMA"}"#.to_owned(),
                "Properties.Value: Missing required field (Error)",
            ),
            (
                T::IndicatorCalculation,
                r#"{"IndicatorName":"SMA","Value":"NaN"}"#.to_owned(),
                "Properties.Value: Invalid number format (Error)",
            ),
            (
                T::IndicatorCalculation,
                r#"{"IndicatorName":"SMA","Value":1e400}"#.to_owned(),
                "Properties.Value: Invalid number format (Error)",
            ),
            (
                T::IndicatorCalculation,
                r#"{"Value":1}"#.to_owned(),
                "Properties.IndicatorName: Missing required field (Error)",
            ),
            (
                T::PositionUpdate,
                "{}".to_owned(),
                "Properties.SecuritySymbol: Missing required field (Error)",
            ),
            (T::RiskEvent, "{}".to_owned(), "Properties.RiskType: Missing required field (Error)"),
            (T::StateChange, "{}".to_owned(), ""),
            (T::MarketDataEvent, "{}".to_owned(), ""),
            (T::MarketDataEvent, "[]".to_owned(), "Properties: Not a JSON object (Error)"),
            (T::MarketDataEvent, "null".to_owned(), "Properties: Not a JSON object (Error)"),
            (
                T::MarketDataEvent,
                format!(r#"{{"a":"{}"}}"#, "x".repeat(1 << 20)),
                "Properties: Larger than 1 MiB (Error)",
            ),
        ];
        for (event_type, json, expected) in cases {
            let listed: Vec<String> = properties(event_type, &json)
                .iter()
                .map(|p| format!("{}: {} ({})", p.field, p.error, p.severity.as_str()))
                .collect();
            let shown: String = json.chars().take(60).collect();
            assert_eq!(listed.join(", "), expected, "{event_type}: {shown}");
        }
    }

    #[test]
    fn flags_distinguish_errors_from_warnings() {
        let mut flags = Flags::default();
        assert!(!flags.is_error() && !flags.is_warning());
        flags.insert(Flags::PARENT_MISSING);
        assert!(!flags.is_error() && flags.is_warning());
        flags.insert(Flags::CIRCULAR);
        assert!(flags.is_error());
        let fields: Vec<&str> =
            all(EventType::StateChange, "{}", flags).iter().map(|problem| problem.error).collect();
        assert_eq!(fields, ["Parent event not found", "Circular reference"]);
    }
}
