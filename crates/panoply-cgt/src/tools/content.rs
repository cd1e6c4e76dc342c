//! The argument that every tool takes: the transactions, as text or as a JSON array.

use std::borrow::Cow;
use std::fmt;

use panoply_contract::error::ToolError;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::errors;
use super::options::SameDaySplitParam;
use crate::json::{self, Parsed};
use crate::tax_year::TaxYear;
use crate::{content, dsl};

/// A suggestion repeats the transactions only while they are short.
const LONGEST_ECHO: usize = 4_000;

/// More than this and the reader has stopped reading.
const MOST_NOTICES: usize = 20;

/// Transactions as they were given.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// Lines of the transaction language, or JSON.
    Text(String),
    /// A JSON array.
    Items(Vec<Value>),
}

impl Content {
    /// What was given under either name, read; an empty list is fine.
    pub(super) fn read(content: Option<&Self>, alias: Option<&Self>) -> Result<Parsed, ToolError> {
        let read = match content.or(alias) {
            Some(Self::Text(text)) => content::read(text),
            Some(Self::Items(items)) => json::parse_values(items),
            None => return Err(errors::nothing_given()),
        };
        let mut parsed = read.map_err(|problems| errors::unreadable(&problems))?;
        let more = parsed.notices.len().saturating_sub(MOST_NOTICES);
        if more > 0 {
            parsed.notices.truncate(MOST_NOTICES);
            parsed.notices.push(format!("and {more} more of the kind"));
        }
        Ok(parsed)
    }

    /// The same where nothing to compute with is an error.
    pub(super) fn read_some(
        content: Option<&Self>,
        alias: Option<&Self>,
    ) -> Result<Parsed, ToolError> {
        let parsed = Self::read(content, alias)?;
        if parsed.rows.is_empty() { Err(errors::nothing_given()) } else { Ok(parsed) }
    }
}

/// The transactions as lines, to be repeated in a suggestion; `None` when they are long.
pub(super) fn echo(parsed: &Parsed) -> Option<String> {
    if parsed.rows.len() > LONGEST_ECHO / 20 {
        return None;
    }
    let text = dsl::print(parsed.rows.iter().map(|row| &row.transaction));
    (text.len() <= LONGEST_ECHO).then_some(text)
}

/// The arguments of a suggested call about the same transactions: them, what the computation was
/// told, and `more` without its nulls. `None` when the transactions are long.
pub(super) fn again(
    parsed: &Parsed,
    allow_short: bool,
    same_day_split: SameDaySplitParam,
    more: Value,
) -> Option<Value> {
    let mut arguments = serde_json::Map::new();
    arguments.insert("cgt_content".to_owned(), echo(parsed)?.into());
    if allow_short {
        arguments.insert("allow_short".to_owned(), true.into());
    }
    if same_day_split != SameDaySplitParam::Refuse {
        arguments.insert("same_day_split".to_owned(), json!(same_day_split));
    }
    if let Value::Object(more) = more {
        arguments.extend(more.into_iter().filter(|(_, value)| !value.is_null()));
    }
    Some(Value::Object(arguments))
}

/// A tax year as a suggested call may name it; `None` outside the years that arguments take.
pub(super) fn year_argument(year: TaxYear) -> Option<i64> {
    let start = i64::from(year.start());
    TaxYear::starting(start).is_ok().then_some(start)
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("transactions as text or as a JSON array")
            }

            fn visit_str<E>(self, text: &str) -> Result<Content, E> {
                Ok(Content::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Content, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    list.push(item);
                }
                Ok(Content::Items(list))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for Content {
    fn schema_name() -> Cow<'static, str> {
        "Content".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                {"type": "string", "description": "Lines of the transaction language, or JSON text."},
                {
                    "type": "array",
                    "description": "Transactions as objects with action, ticker, date and what the action needs: quantity, price, fees, total, tax, ratio.",
                    "items": {"type": "object"},
                },
            ],
        })
    }
}
