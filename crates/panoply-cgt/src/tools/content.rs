//! The `cgt_content` argument: transactions as text or as a JSON array.

use std::borrow::Cow;
use std::fmt;

use panoply_contract::error::ToolError;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::errors;
use super::portfolios::PortfolioId;
use super::schema::{self, TransactionObject};
use super::service::CgtService;
use crate::engine::SameDaySplit;
use crate::import::Broker;
use crate::json::{self, Parsed};
use crate::tax_year::TaxYear;
use crate::transaction::Row;
use crate::{content, dsl};

/// Suggested calls repeat the transactions only up to this size.
const MAX_ECHO_BYTES: usize = 4_000;

/// Limits of the argument; the server's limit on the size of a call is usually lower.
const MAX_CONTENT_CHARS: u32 = 100_000_000;
const MAX_CONTENT_ITEMS: u32 = 1_000_000;

/// Maximum number of notices in a reply.
const MAX_NOTICES: usize = 20;

/// Transactions as given.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    /// Text: transaction language or JSON.
    Text(String),
    /// A JSON array.
    Items(Vec<Value>),
}

impl Content {
    /// Parses the argument or its alias; an empty list is allowed.
    pub(super) fn read(content: Option<&Self>, alias: Option<&Self>) -> Result<Parsed, ToolError> {
        if let (Some(content), Some(alias)) = (content, alias)
            && content != alias
        {
            return Err(errors::given_twice());
        }
        let read = match content.or(alias) {
            Some(Self::Text(text)) => match content::read(text) {
                Err(problems) => match Broker::recognise(text) {
                    Some(broker) => return Err(errors::broker_export(broker.as_str())),
                    None => Err(problems),
                },
                parsed => parsed,
            },
            Some(Self::Items(items)) => json::parse_values(items),
            None => return Err(errors::no_transactions()),
        };
        let mut parsed = read.map_err(|problems| errors::parse_error(&problems))?;
        let more = parsed.notices.len().saturating_sub(MAX_NOTICES);
        if more > 0 {
            parsed.notices.truncate(MAX_NOTICES);
            parsed.notices.push(format!("and {more} more"));
        }
        Ok(parsed)
    }

    /// Like [`Content::read`], but rejects an empty list.
    pub(super) fn read_some(
        content: Option<&Self>,
        alias: Option<&Self>,
    ) -> Result<Parsed, ToolError> {
        let parsed = Self::read(content, alias)?;
        if parsed.rows.is_empty() { Err(errors::no_transactions()) } else { Ok(parsed) }
    }
}

/// Transactions of a call, given or stored.
#[derive(Clone, Debug, Default)]
pub(super) struct Transactions {
    pub(super) rows: Vec<Row>,
    /// Ignored or left out input.
    pub(super) notices: Vec<String>,
    /// Portfolio that they were read from.
    portfolio_id: Option<PortfolioId>,
}

impl From<Parsed> for Transactions {
    fn from(parsed: Parsed) -> Self {
        Self { rows: parsed.rows, notices: parsed.notices, portfolio_id: None }
    }
}

impl CgtService {
    /// Transactions of the call or of a stored portfolio; an empty list is allowed.
    pub(super) fn transactions_or_none(
        &self,
        content: Option<&Content>,
        alias: Option<&Content>,
        portfolio_id: Option<&PortfolioId>,
    ) -> Result<Transactions, ToolError> {
        let Some(id) = portfolio_id else {
            return Content::read(content, alias).map(Transactions::from);
        };
        if content.is_some() || alias.is_some() {
            return Err(errors::portfolio_and_content());
        }
        let (rows, notices) = self.taxable(id)?;
        Ok(Transactions { rows, notices, portfolio_id: Some(id.clone()) })
    }

    /// Like [`Self::transactions_or_none`], but rejects an empty list.
    pub(super) fn transactions(
        &self,
        content: Option<&Content>,
        alias: Option<&Content>,
        portfolio_id: Option<&PortfolioId>,
    ) -> Result<Transactions, ToolError> {
        let found = self.transactions_or_none(content, alias, portfolio_id)?;
        match (found.rows.is_empty(), portfolio_id) {
            (false, _) => Ok(found),
            (true, Some(id)) => Err(errors::empty_portfolio(id.as_str())),
            (true, None) => Err(errors::no_transactions()),
        }
    }
}

/// The transactions as arguments of a suggested call: the portfolio's id, or their text; `None` when
/// that is too long.
pub(super) fn echo(transactions: &Transactions) -> Option<Value> {
    if let Some(id) = &transactions.portfolio_id {
        return Some(json!({"portfolio_id": id.as_str()}));
    }
    if transactions.rows.len() > MAX_ECHO_BYTES / 20 {
        return None;
    }
    let text = dsl::print(transactions.rows.iter().map(|row| &row.transaction));
    (text.len() <= MAX_ECHO_BYTES).then(|| json!({"cgt_content": text}))
}

/// Arguments of a suggested call about the same transactions: the transactions, the options, and
/// `more` without its nulls. `None` when the transactions are too long.
pub(super) fn repeat_arguments(
    transactions: &Transactions,
    allow_short: bool,
    same_day_split: SameDaySplit,
    more: Value,
) -> Option<Value> {
    let Value::Object(mut arguments) = echo(transactions)? else { return None };
    if allow_short {
        arguments.insert("allow_short".to_owned(), true.into());
    }
    if same_day_split != SameDaySplit::Refuse {
        arguments.insert("same_day_split".to_owned(), json!(same_day_split));
    }
    if let Value::Object(more) = more {
        arguments.extend(more.into_iter().filter(|(_, value)| !value.is_null()));
    }
    Some(Value::Object(arguments))
}

/// Tax year as an argument; `None` outside the supported range.
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

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let transaction = generator.subschema_for::<TransactionObject>();
        json_schema!({
            "anyOf": [
                {"type": "string", "maxLength": MAX_CONTENT_CHARS, "description": "Lines of the transaction language, or JSON text."},
                {"type": "array", "maxItems": MAX_CONTENT_ITEMS, "description": "Transactions as objects.", "items": transaction},
            ],
            "x-listed": schema::listed(),
        })
    }
}
