//! Transactions as JSON: an array of objects such as
//! `{"date": "2024-01-15", "action": "BUY", "ticker": "VOD", "quantity": "100", "price": "1.20"}`.
//!
//! Names of actions, tickers and members may be in any case. An amount is a text or number in
//! pounds, or `{"amount": …, "currency": …}`; an object without a currency is refused, because
//! nobody can tell what it means.

mod object;
pub(crate) mod places;

use std::sync::Arc;

use serde_json::Value;

use crate::problem::{Problem, shortened};
use crate::transaction::{Place, Row};
use object::Object;
use places::Places;

/// What was read, and what was noticed on the way.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Parsed {
    /// The transactions.
    pub rows: Vec<Row>,
    /// What was passed over, such as a member nobody reads.
    pub notices: Vec<String>,
}

/// An object that works, for errors.
pub const EXAMPLE: &str = r#"{"date": "2024-01-15", "action": "BUY", "ticker": "AAPL", "quantity": "100", "price": {"amount": "150", "currency": "USD"}, "fees": {"amount": "10", "currency": "USD"}}"#;

/// Reads JSON text: an array of transactions, or `{"transactions": [...]}`.
pub fn parse(text: &str) -> Result<Parsed, Vec<Problem>> {
    let value: Value = serde_json::from_str(text).map_err(|error| vec![broken(text, &error)])?;
    let places = Places::of(text);
    match &value {
        Value::Array(items) => read(items, &places),
        Value::Object(object) => match object.get("transactions") {
            Some(Value::Array(items)) => read(items, &Places::of_member(text, "transactions")),
            _ => read(std::slice::from_ref(&value), &Places::none()),
        },
        other => Err(vec![not_a_list(other).in_short()]),
    }
}

/// Reads an array that is no text any more; places are the numbers of its elements.
pub fn parse_values(items: &[Value]) -> Result<Parsed, Vec<Problem>> {
    read(items, &Places::none())
}

fn read(items: &[Value], places: &Places<'_>) -> Result<Parsed, Vec<Problem>> {
    let mut parsed = Parsed::default();
    let mut problems = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let mut object = Object::new(item, places.element(index));
        match object.transaction() {
            Some(transaction) => {
                let place = Place { file: None::<Arc<str>>, line: object.line() };
                parsed.rows.push(Row { transaction, place });
            }
            None => problems.extend(object.problems.drain(..).map(Problem::in_short)),
        }
        parsed.notices.extend(object.notices.drain(..).map(shortened));
    }
    if problems.is_empty() { Ok(parsed) } else { Err(problems) }
}

fn broken(text: &str, error: &serde_json::Error) -> Problem {
    let line = error.line().max(1);
    Problem {
        line: u32::try_from(line).unwrap_or(u32::MAX),
        column: u32::try_from(error.column().max(1)).unwrap_or(u32::MAX),
        source: text.lines().nth(line - 1).unwrap_or_default().to_owned(),
        value: String::new(),
        message: format!("this is not JSON: {error}"),
        expected: "a JSON array of transactions".to_owned(),
        hint: "close every bracket and quote, and put a comma between elements; text that starts with `[` or `{` is read as JSON".to_owned(),
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
