//! Transactions as JSON: an array of objects such as
//! `{"date": "2024-01-15", "action": "BUY", "ticker": "VOD", "quantity": "100", "price": "1.20"}`.
//!
//! Two members that say different things, such as `quantity` and its alias `amount`, are an error.
//! Action names, tickers and member names are case-insensitive. An amount is a string or number in
//! pounds, or `{"amount": …, "currency": …}`; an object without currency is ambiguous and rejected.

mod object;
pub(crate) mod positions;
mod unique;

use std::sync::Arc;

use serde_json::Value;

use crate::problem::{Problem, truncate};
use crate::transaction::{Row, SourceLocation};
use object::Object;
use positions::ElementPositions;

/// Parsed transactions and notices.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Parsed {
    /// Transactions.
    pub rows: Vec<Row>,
    /// Ignored input, such as unknown members.
    pub notices: Vec<String>,
}

/// Working example, for error messages.
pub const EXAMPLE: &str = r#"{"date": "2024-01-15", "action": "BUY", "ticker": "AAPL", "quantity": "100", "price": {"amount": "150", "currency": "USD"}, "fees": {"amount": "10", "currency": "USD"}}"#;

/// Parses JSON text: an array of transactions, or `{"transactions": [...]}`.
pub fn parse(text: &str) -> Result<Parsed, Vec<Problem>> {
    let value: Value =
        unique::parse(text).map_err(|error| vec![broken(text, &error).truncated()])?;
    let positions = ElementPositions::of(text);
    match &value {
        Value::Array(items) => read(items, &positions),
        Value::Object(object) => match object.get("transactions") {
            Some(Value::Array(items)) => {
                read(items, &ElementPositions::of_member(text, "transactions"))
            }
            _ => read(std::slice::from_ref(&value), &ElementPositions::none()),
        },
        other => Err(vec![not_a_list(other).truncated()]),
    }
}

/// Parses an array of JSON values; locations are element numbers.
pub fn parse_values(items: &[Value]) -> Result<Parsed, Vec<Problem>> {
    read(items, &ElementPositions::none())
}

fn read(items: &[Value], positions: &ElementPositions<'_>) -> Result<Parsed, Vec<Problem>> {
    let mut parsed = Parsed::default();
    let mut problems = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let mut object = Object::new(item, positions.element(index));
        match object.transaction() {
            Some(transaction) => {
                let location = SourceLocation { file: None::<Arc<str>>, line: object.line() };
                parsed.rows.push(Row { transaction, location });
            }
            None => problems.extend(object.problems.drain(..).map(Problem::truncated)),
        }
        parsed.notices.extend(object.notices.drain(..).map(truncate));
    }
    if problems.is_empty() { Ok(parsed) } else { Err(problems) }
}

fn broken(text: &str, error: &serde_json::Error) -> Problem {
    let line = error.line().max(1);
    let reason = error.to_string();
    let (message, expected, hint) = match reason.strip_prefix(unique::REPEATED) {
        Some(_) => (reason, "each member once", "remove one of them"),
        None => (
            format!("this is not JSON: {reason}"),
            "a JSON array of transactions",
            "close every bracket and quote, and put a comma between elements; text that starts with `[` or `{` is read as JSON",
        ),
    };
    Problem {
        line: u32::try_from(line).unwrap_or(u32::MAX),
        column: u32::try_from(error.column().max(1)).unwrap_or(u32::MAX),
        source: text.lines().nth(line - 1).unwrap_or_default().to_owned(),
        value: String::new(),
        message,
        expected: expected.to_owned(),
        hint: hint.to_owned(),
        example: EXAMPLE,
    }
}

fn not_a_list(value: &Value) -> Problem {
    Problem {
        line: 1,
        column: 1,
        source: String::new(),
        value: value.to_string(),
        message: "this is JSON, but not a list of transactions".to_owned(),
        expected: "a JSON array of objects".to_owned(),
        hint: "put the transactions into an array".to_owned(),
        example: EXAMPLE,
    }
}

#[cfg(test)]
mod tests;
