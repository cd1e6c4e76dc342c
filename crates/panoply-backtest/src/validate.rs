//! Validation rules for events. An invalid event is stored with its problems, never rejected.
//!
//! The rules follow the published contract (an `OrderId` that is not a GUID is an error, a missing
//! `Price` a warning); rules it does not state follow the system the contract was derived from.

use std::borrow::Cow;

use crate::event::{EventType, Guid};
use crate::number::Number;
use crate::scan::outline::Outline;
use crate::scan::{self, Token};
use crate::sealed::orders;

/// Longer properties are an error.
pub(crate) const MAX_PROPERTIES_BYTES: usize = 1 << 20;

/// A violated rule, of this program or of the producer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Problem {
    /// The field, such as `Properties.OrderId`.
    pub field: Cow<'static, str>,
    pub error: Cow<'static, str>,
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
const BAD_NUMBER: &str = "Invalid number format";

const fn error(field: &'static str, error: &'static str) -> Problem {
    let (field, error) = (Cow::Borrowed(field), Cow::Borrowed(error));
    Problem { field, error, severity: ProblemSeverity::Error }
}

const fn warning(field: &'static str, error: &'static str) -> Problem {
    let (field, error) = (Cow::Borrowed(field), Cow::Borrowed(error));
    Problem { field, error, severity: ProblemSeverity::Warning }
}

/// The type of a property.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A finite number, or a text that contains one.
    Number,
    /// A text, or a number used as a name.
    Name,
    /// `Buy` or `Sell`.
    Direction,
}

impl Kind {
    fn problem(self, token: Token<'_>) -> Option<&'static str> {
        match self {
            Self::Number => (!is_number(token)).then_some(BAD_NUMBER),
            Self::Name => token.id_text().is_none().then_some("Not a text"),
            Self::Direction => {
                let is_side = matches!(token, Token::Text("Buy" | "Sell"));
                (!is_side).then_some("Not one of Buy, Sell")
            }
        }
    }
}

/// A property: the enclosing object, the name, the field in a problem, the type.
type Typed = (Option<&'static str>, &'static str, &'static str, Kind);

/// Declares the types of properties.
macro_rules! typed {
    ($($path:literal: $kind:ident),+ $(,)?) => {
        &[$(typed!(@ $path, $kind)),+]
    };
    (@ $path:literal, $kind:ident) => {
        (None, $path, concat!("Properties.", $path), Kind::$kind)
    };
    (in $parent:literal { $($path:literal),+ $(,)? }) => {
        &[$((
            Some($parent), $path, concat!("Properties.", $parent, ".", $path), Kind::Number
        )),+]
    };
}

const FILL: &[Typed] = typed!(
    "SecuritySymbol": Name, "Direction": Direction, "Quantity": Number, "Price": Number,
    "Commission": Number, "Slippage": Number,
);
const REJECTION: &[Typed] = typed!(
    "RejectionReason": Name, "SecuritySymbol": Name, "RequestedQuantity": Number,
    "RequestedPrice": Number,
);
const INDICATOR: &[Typed] = typed!("IndicatorName": Name, "SecuritySymbol": Name, "Value": Number);
const POSITION: &[Typed] = typed!(
    "SecuritySymbol": Name, "Quantity": Number, "AveragePrice": Number, "UnrealizedPnL": Number,
    "RealizedPnL": Number,
);
const ORDER: &[Typed] = typed!(
    "SecuritySymbol": Name, "Direction": Direction, "Quantity": Number, "Price": Number,
);
const STATE: &[Typed] =
    typed!(in "StateAfter" { "RealizedPnL", "UnrealizedPnL", "Balance", "Equity" });
const MARKET: &[Typed] = typed!(in "Data" {
    "Open", "High", "Low", "Close", "Volume", "Price", "BidPrice", "AskPrice",
});
const SYMBOL: &[Typed] = typed!("SecuritySymbol": Name);
const RISK: &[Typed] = typed!("RiskType": Name, "SecuritySymbol": Name);
const STATE_TYPE: &[Typed] = typed!("StateType": Name);
/// The state types that the state of a run is made from; others are free.
const STATE_TYPES: [&str; 3] = ["Order", "PnL", "Account"];
/// Statuses between placing and ending an order, besides those of [`orders::status_effect`].
const OTHER_STATUSES: [&str; 17] = [
    "accepted",
    "cancelpending",
    "cancelrejected",
    "emulated",
    "initialized",
    "modifyrejected",
    "new",
    "none",
    "partiallyfilled",
    "pending",
    "pendingcancel",
    "pendingupdate",
    "released",
    "submitted",
    "triggered",
    "updatesubmitted",
    "working",
];

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
            check_types(FILL, outline, &mut found);
        }
        EventType::OrderRejection => {
            found.extend(order_id(present("OrderId")));
            let problem = error("Properties.RejectionReason", MISSING);
            found.extend(missing("RejectionReason", problem));
            check_types(REJECTION, outline, &mut found);
        }
        EventType::IndicatorCalculation => {
            found.extend(missing("IndicatorName", error("Properties.IndicatorName", MISSING)));
            found.extend(missing("Value", error("Properties.Value", MISSING)));
            check_types(INDICATOR, outline, &mut found);
        }
        EventType::PositionUpdate => {
            found.extend(missing("SecuritySymbol", error("Properties.SecuritySymbol", MISSING)));
            check_types(POSITION, outline, &mut found);
        }
        EventType::RiskEvent => {
            found.extend(missing("RiskType", error("Properties.RiskType", MISSING)));
            check_types(RISK, outline, &mut found);
        }
        EventType::StateChange => {
            check_types(STATE_TYPE, outline, &mut found);
            match present("StateType") {
                Some(Token::Text("Order")) => {
                    found.extend(order_status(present("OrderStatus")));
                    check_types(ORDER, outline, &mut found);
                }
                Some(Token::Text("PnL" | "Account")) => check_types(STATE, outline, &mut found),
                Some(Token::Text(other)) => found.extend(miswritten_state_type(other)),
                _ => {}
            }
        }
        EventType::MarketDataEvent => {
            check_types(SYMBOL, outline, &mut found);
            check_types(MARKET, outline, &mut found);
        }
    }
    found
}

/// A property that is present, not null and of the wrong type is an error.
fn check_types(types: &[Typed], outline: &Outline<'_>, found: &mut Vec<Problem>) {
    for (parent, name, field, kind) in types {
        let token = match parent {
            None => outline.member(name),
            Some(parent) => outline.member_of(parent, name),
        };
        let present = token.filter(|token| *token != Token::Null);
        if let Some(problem) = present.and_then(|token| kind.problem(token)) {
            found.push(error(field, problem));
        }
    }
}

/// A state type that differs from a known one in case only is ignored by the state, which its
/// producer hardly wants.
fn miswritten_state_type(text: &str) -> Option<Problem> {
    let is_known = |own: &&str| own.eq_ignore_ascii_case(text);
    let problem = warning("Properties.StateType", "Not one of Order, PnL, Account in this case");
    STATE_TYPES.iter().any(is_known).then_some(problem)
}

/// An order whose status is unknown keeps its previous state.
fn order_status(token: Option<Token<'_>>) -> Option<Problem> {
    const FIELD: &str = "Properties.OrderStatus";
    let Some(token) = token else { return Some(warning(FIELD, MISSING_RECOMMENDED)) };
    let Some(text) = token.text() else { return Some(error(FIELD, "Not a text")) };
    let status: String = text.chars().filter(|c| !matches!(c, '_' | ' ')).collect();
    let status = status.to_ascii_lowercase();
    let is_known = orders::status_effect(&status).is_some()
        || OTHER_STATUSES.binary_search(&status.as_str()).is_ok();
    (!is_known).then_some(warning(FIELD, "Unknown order status"))
}

fn order_id(token: Option<Token<'_>>) -> Option<Problem> {
    let Some(token) = token else { return Some(error("Properties.OrderId", MISSING)) };
    let is_guid = token.text().is_some_and(|text| Guid::parse(&text).is_some());
    (!is_guid).then_some(error("Properties.OrderId", BAD_GUID))
}

fn is_number(token: Token<'_>) -> bool {
    token.number_text().is_some_and(|text| Number::parse(text).is_some())
}

/// The problems that the producer listed in the event's original line.
pub(crate) fn producer_problems(original: &str) -> Vec<Problem> {
    let listed = scan::member(original, "validationErrors").and_then(|token| token.json());
    scan::elements(listed.unwrap_or_default()).map(producer_problem).collect()
}

fn producer_problem(token: Token<'_>) -> Problem {
    let json = token.json().unwrap_or_default();
    let text = |name: &str| {
        let mut members = scan::members(json);
        let found = members.find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.and_then(|(_, token)| token.id_text()).map(Cow::into_owned)
    };
    let is_warning = text("severity").is_some_and(|word| word.eq_ignore_ascii_case("warning"));
    let whole = || token.text().map_or_else(|| json.to_owned(), Cow::into_owned);
    Problem {
        field: text("field").unwrap_or_default().into(),
        error: text("error").or_else(|| text("message")).unwrap_or_else(whole).into(),
        severity: if is_warning { ProblemSeverity::Warning } else { ProblemSeverity::Error },
    }
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
    /// The producer listed an error.
    pub(crate) const PRODUCER_ERROR: Self = Self(64);
    /// The producer listed a warning.
    pub(crate) const PRODUCER_WARNING: Self = Self(128);

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

    /// The flags for problems that the producer listed.
    pub(crate) fn of_producer(problems: &[Problem]) -> Self {
        let mut flags = Self::default();
        for problem in problems {
            flags.insert(match problem.severity {
                ProblemSeverity::Error => Self::PRODUCER_ERROR,
                ProblemSeverity::Warning => Self::PRODUCER_WARNING,
            });
        }
        flags
    }

    pub(crate) const fn is_error(self) -> bool {
        self.contains(Self(
            Self::CIRCULAR.0
                | Self::PARENT_UNREADABLE.0
                | Self::PROPERTY_ERROR.0
                | Self::PRODUCER_ERROR.0,
        ))
    }

    pub(crate) const fn is_warning(self) -> bool {
        self.contains(Self(
            Self::PARENT_MISSING.0
                | Self::OUTSIDE_PERIOD.0
                | Self::PROPERTY_WARNING.0
                | Self::PRODUCER_WARNING.0,
        ))
    }
}

/// All problems of an event, in a fixed order: those of its properties, of its links and time, and
/// those that the producer listed in the original line.
pub(crate) fn all(
    event_type: EventType,
    json: &str,
    flags: Flags,
    original: Option<&str>,
) -> Vec<Problem> {
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
        later.into_iter().filter(|(flag, _)| flags.contains(*flag)).map(|(_, problem)| problem),
    );
    if flags.contains(Flags::PRODUCER_ERROR) || flags.contains(Flags::PRODUCER_WARNING) {
        for problem in producer_problems(original.unwrap_or_default()) {
            if !found.contains(&problem) {
                found.push(problem);
            }
        }
    }
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
            (
                T::TradeExecution,
                format!(r#"{{{ID},"Price":"NaN","Quantity":"x","Direction":"Hold","Slippage":true}}"#),
                "Properties.Direction: Not one of Buy, Sell (Error), Properties.Quantity: Invalid number format (Error), Properties.Price: Invalid number format (Error), Properties.Slippage: Invalid number format (Error)",
            ),
            (
                T::PositionUpdate,
                r#"{"SecuritySymbol":["A"],"Quantity":"abc","AveragePrice":[1],"UnrealizedPnL":null}"#
                    .to_owned(),
                "Properties.SecuritySymbol: Not a text (Error), Properties.Quantity: Invalid number format (Error), Properties.AveragePrice: Invalid number format (Error)",
            ),
            (
                T::StateChange,
                r#"{"StateType":"PnL","RealizedPnL":"x","StateAfter":{"RealizedPnL":"x"}}"#.to_owned(),
                "Properties.StateAfter.RealizedPnL: Invalid number format (Error)",
            ),
            (
                T::MarketDataEvent,
                r#"{"SecuritySymbol":7203,"Data":{"Close":1e999,"Open":"1.5"}}"#.to_owned(),
                "Properties.Data.Close: Invalid number format (Error)",
            ),
            (T::StateChange, "{}".to_owned(), ""),
            (T::StateChange, r#"{"StateType":"Order","OrderStatus":"Placed"}"#.to_owned(), ""),
            (T::StateChange, r#"{"StateType":"Order","OrderStatus":"PENDING_CANCEL"}"#.to_owned(), ""),
            (T::StateChange, r#"{"StateType":"Strategy","OrderStatus":"x"}"#.to_owned(), ""),
            (
                T::StateChange,
                r#"{"StateType":"Order","OrderStatus":"Gone"}"#.to_owned(),
                "Properties.OrderStatus: Unknown order status (Warning)",
            ),
            (
                T::StateChange,
                r#"{"StateType":"Order","OrderStatus":3}"#.to_owned(),
                "Properties.OrderStatus: Not a text (Error)",
            ),
            (
                T::StateChange,
                r#"{"StateType":"Order","Direction":"Long"}"#.to_owned(),
                "Properties.OrderStatus: Missing recommended field (Warning), Properties.Direction: Not one of Buy, Sell (Error)",
            ),
            (
                T::StateChange,
                r#"{"StateType":"pnl"}"#.to_owned(),
                "Properties.StateType: Not one of Order, PnL, Account in this case (Warning)",
            ),
            (
                T::StateChange,
                r#"{"StateType":{"a":1}}"#.to_owned(),
                "Properties.StateType: Not a text (Error)",
            ),
            (
                T::RiskEvent,
                r#"{"RiskType":[1]}"#.to_owned(),
                "Properties.RiskType: Not a text (Error)",
            ),
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
    fn problems_listed_by_the_producer_are_read_in_any_case() {
        let line = r#"{"a":1,"validationErrors":[{"Field":"F","Error":"E","Severity":"Warning"},{"field":"g","message":"m"},"text"]}"#;
        let listed: Vec<String> = producer_problems(line)
            .iter()
            .map(|p| format!("{}: {} ({})", p.field, p.error, p.severity.as_str()))
            .collect();
        assert_eq!(listed, ["F: E (Warning)", "g: m (Error)", ": text (Error)"]);
        assert_eq!(producer_problems(r#"{"validationErrors":null}"#), []);
    }

    #[test]
    fn flags_distinguish_errors_from_warnings() {
        let mut flags = Flags::default();
        assert!(!flags.is_error() && !flags.is_warning());
        flags.insert(Flags::PARENT_MISSING);
        assert!(!flags.is_error() && flags.is_warning());
        flags.insert(Flags::CIRCULAR);
        assert!(flags.is_error());
        let found = all(EventType::StateChange, "{}", flags, None);
        let fields: Vec<&str> = found.iter().map(|problem| problem.error.as_ref()).collect();
        assert_eq!(fields, ["Parent event not found", "Circular reference"]);
    }
}
