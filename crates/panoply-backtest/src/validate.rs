//! Validation rules for events. An invalid event is stored with its problems, never rejected.
//!
//! The rules follow the published contract (an `OrderId` that is not a GUID is an error, a missing
//! `Price` a warning); rules it does not state follow the system the contract was derived from.

use crate::event::{EventType, Guid};
use crate::number::Number;
use crate::scan::Token;
use crate::scan::outline::Outline;

/// Longer properties are an error.
pub(crate) const MAX_PROPERTIES_BYTES: usize = 1 << 20;

/// A violated rule.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Problem {
    /// The field, such as `Properties.OrderId`.
    pub field: &'static str,
    pub error: &'static str,
    pub severity: ProblemSeverity,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ProblemSeverity {
    /// The event cannot be used for its purpose.
    Error,
    /// The event can be used, with less information.
    Warning,
}

impl ProblemSeverity {
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

/// Problems of the properties alone, given the event's type.
pub(crate) fn properties(event_type: EventType, json: &str) -> Vec<Problem> {
    property_problems(event_type, &Outline::of(json))
}

/// Like [`properties`], for properties that were scanned before.
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
    let missing = |name, problem: Problem| present(name).is_none().then_some(problem);
    match event_type {
        EventType::TradeExecution => {
            found.extend(order_id(present("OrderId")));
            found.extend(missing("Price", warning("Properties.Price", MISSING)));
            found.extend(missing("Quantity", warning("Properties.Quantity", MISSING_RECOMMENDED)));
        }
        EventType::OrderRejection => {
            found.extend(order_id(present("OrderId")));
            let problem = error("Properties.RejectionReason", MISSING);
            found.extend(missing("RejectionReason", problem));
        }
        EventType::IndicatorCalculation => {
            found.extend(missing("IndicatorName", error("Properties.IndicatorName", MISSING)));
            found.extend(missing("Value", error("Properties.Value", MISSING)));
            if present("Value").is_some_and(|value| !is_number(value)) {
                found.push(error("Properties.Value", "Invalid number format"));
            }
        }
        EventType::PositionUpdate => {
            found.extend(missing("SecuritySymbol", error("Properties.SecuritySymbol", MISSING)));
        }
        EventType::RiskEvent => {
            found.extend(missing("RiskType", error("Properties.RiskType", MISSING)));
        }
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

/// Validation result of an event in one stored byte: problems that depend on the whole run, and
/// whether the properties have problems, which [`all`] then derives again.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Flags(u8);

impl Flags {
    /// The parent is not in the run.
    pub(crate) const PARENT_MISSING: Self = Self(1);
    /// The event is its own ancestor; the parent link is ignored.
    pub(crate) const CIRCULAR: Self = Self(2);
    /// The time is outside the run's declared period.
    pub(crate) const OUTSIDE_PERIOD: Self = Self(4);
    /// The parent's id is not a GUID.
    pub(crate) const PARENT_UNREADABLE: Self = Self(8);
    /// The properties have an error.
    pub(crate) const PROPERTY_ERROR: Self = Self(16);
    /// The properties have a warning.
    pub(crate) const PROPERTY_WARNING: Self = Self(32);

    pub(crate) const fn of_byte(byte: u8) -> Self {
        Self(byte)
    }

    pub(crate) const fn byte(self) -> u8 {
        self.0
    }

    pub(crate) const fn insert(&mut self, flag: Self) {
        self.0 |= flag.0;
    }

    pub(crate) const fn contains(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }

    /// The flags for property problems.
    pub(crate) fn of_problems(problems: &[Problem]) -> Self {
        let mut flags = Self::default();
        for problem in problems {
            flags.insert(match problem.severity {
                ProblemSeverity::Error => Self::PROPERTY_ERROR,
                ProblemSeverity::Warning => Self::PROPERTY_WARNING,
            });
        }
        flags
    }

    pub(crate) const fn is_error(self) -> bool {
        self.contains(Self(Self::CIRCULAR.0 | Self::PARENT_UNREADABLE.0 | Self::PROPERTY_ERROR.0))
    }

    pub(crate) const fn is_warning(self) -> bool {
        self.contains(Self(
            Self::PARENT_MISSING.0 | Self::OUTSIDE_PERIOD.0 | Self::PROPERTY_WARNING.0,
        ))
    }
}

/// All problems of an event, in a fixed order.
pub(crate) fn all(event_type: EventType, json: &str, flags: Flags) -> Vec<Problem> {
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
