//! `validate_transactions`: every error and every oddity, without failing.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::ToSpan;
use jiff::tz::TimeZone;
use panoply_contract::prelude::*;
use serde_json::json;

use super::content::{self, Content};
use super::desk::Desk;
use super::options::{SameDaySplitParam, options};
use crate::dsl;
use crate::engine::compute;
use crate::transaction::{Kind, Row};

/// More than this are counted, not listed.
const MOST_LISTED: usize = 100;

const SPEC: ToolSpec = ToolSpec {
    name: "validate_transactions",
    title: "Check transactions",
    description: Description {
        does: "Checks transactions without computing a report: lists every line that cannot be read, everything that cannot be computed, and what looks odd, such as rows that stand twice, sales before the first purchase and dates in the future.",
        when: "Use this when the user wants to know whether their records are complete and correct, or when another tool refused them. It never fails because of what is in them.",
        returns: "Returns is_valid, errors and warnings, each with its line.",
        asks: &["Is anything wrong with my trades?", "Are there duplicates in this file?"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["cgt:read"],
    category: Category::Analysis,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["hmrc-rates", "uk-parameters"],
    examples: &[
        Example {
            shows: "a row that stands twice",
            params: r#"{"cgt_content": "2024-01-15 BUY A 1 @ 1\n2024-01-15 BUY A 1 @ 1"}"#,
            expect: Expect::Data(r#"{"is_valid": true, "errors": [], "warning_count": 1}"#),
        },
        Example {
            shows: "a sale of nothing",
            params: r#"{"cgt_content": "2024-01-15 SELL A 1 @ 1"}"#,
            expect: Expect::Data(r#"{"is_valid": false, "error_count": 1}"#),
        },
    ],
    tags: &["tax", "uk", "shares", "validation"],
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// What to check.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// The transactions: lines of text, JSON text, or a JSON array. Required, here or as `transactions`.
    cgt_content: Option<Content>,
    /// Another name for `cgt_content`.
    transactions: Option<Content>,
    /// Match sales of more than was held with later purchases instead of refusing them.
    #[serde(default)]
    allow_short: bool,
    /// What to do with a split on a day with trades; `refuse` unless given.
    #[serde(default)]
    same_day_split: SameDaySplitParam,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Whether a report can be computed.
    is_valid: bool,
    /// How many transactions were read.
    count: usize,
    /// What stands in the way.
    errors: Vec<Finding>,
    /// How many errors there are in all.
    error_count: usize,
    /// What looks odd.
    warnings: Vec<Finding>,
    /// How many warnings there are in all.
    warning_count: usize,
}

/// Something that was found.
#[derive(Debug, Serialize, JsonSchema)]
struct Finding {
    /// The line, or the element's number; null when it is about the whole.
    line: Option<u32>,
    /// What it is.
    message: String,
    /// What to do about it.
    hint: String,
}

/// See the module.
pub(crate) struct ValidateTransactions {
    desk: Arc<Desk>,
}

impl ValidateTransactions {
    pub(super) const fn new(desk: Arc<Desk>) -> Self {
        Self { desk }
    }
}

impl Tool for ValidateTransactions {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let (mut errors, mut warnings, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        match Content::read(params.cgt_content.as_ref(), params.transactions.as_ref()) {
            Ok(parsed) => {
                rows = parsed.rows;
                warnings.extend(parsed.notices.into_iter().map(|message| Finding {
                    line: None,
                    message,
                    hint: "correct the name or leave it out".to_owned(),
                }));
            }
            Err(error) if error.code == "PARSE_ERROR" => errors = problems_of(&error),
            Err(error) => return Err(error),
        }
        let options = options(params.allow_short, params.same_day_split);
        if let Err(found) = compute(&rows, &self.desk.rates, options) {
            let refusal = super::errors::uncomputable(&found);
            errors.extend(problems_of(&refusal));
        }
        let today = cx.clock.now().to_zoned(TimeZone::UTC).date();
        warnings.extend(oddities(&rows, today));
        let (error_count, warning_count) = (errors.len(), warnings.len());
        let text = match (error_count, warning_count) {
            (0, 0) => format!("{} transactions, nothing wrong with them.", rows.len()),
            (0, _) => format!(
                "{} transactions can be computed; {warning_count} things look odd.",
                rows.len()
            ),
            _ => format!("{error_count} errors and {warning_count} warnings."),
        };
        let table = errors
            .iter()
            .map(|finding| ("error", finding))
            .chain(warnings.iter().map(|finding| ("warning", finding)))
            .take(MOST_LISTED)
            .fold(Table::new(["line", "kind", "what"]), |table, (kind, finding)| {
                let line = finding.line.map_or_else(String::new, |line| line.to_string());
                table.row([line, kind.to_owned(), finding.message.clone()])
            });
        errors.truncate(MOST_LISTED);
        warnings.truncate(MOST_LISTED);
        let parsed = crate::json::Parsed { rows, notices: Vec::new() };
        let echo = content::echo(&parsed).filter(|_| error_count == 0 && !parsed.rows.is_empty());
        let output = Output {
            is_valid: error_count == 0,
            count: parsed.rows.len(),
            errors,
            error_count,
            warnings,
            warning_count,
        };
        let evidence =
            Evidence::from(Source::new(SourceClass::UserSupplied, "the transactions given"));
        let mut reply = Reply::new(output, text, evidence).table(table);
        if let Some(text) = echo {
            let arguments = json!({"cgt_content": text, "allow_short": params.allow_short});
            reply = reply.next(NextAction::new(
                "calculate_report",
                arguments,
                "work out gains and losses",
            ));
        }
        Ok(reply)
    }
}

/// The problems of an error, as findings.
fn problems_of(error: &ToolError) -> Vec<Finding> {
    let problems = error.details.get("problems").and_then(|problems| problems.as_array());
    let text = |problem: &serde_json::Value, name: &str| {
        problem.get(name).and_then(|text| text.as_str()).unwrap_or_default().to_owned()
    };
    let finding = |problem: &serde_json::Value| Finding {
        line: problem
            .get("line")
            .and_then(|line| line.as_u64())
            .and_then(|line| u32::try_from(line).ok()),
        message: text(problem, "message"),
        hint: text(problem, "hint"),
    };
    problems.into_iter().flatten().map(finding).collect()
}

fn oddities(rows: &[Row], today: jiff::civil::Date) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mut first_in: BTreeMap<&str, jiff::civil::Date> = BTreeMap::new();
    for row in rows {
        let transaction = &row.transaction;
        if matches!(
            transaction.kind,
            Kind::Buy { .. } | Kind::SpouseIn { .. } | Kind::Opening { .. }
        ) {
            let first = first_in.entry(transaction.ticker.as_str()).or_insert(transaction.date);
            *first = (*first).min(transaction.date);
        }
    }
    let last_sale_open = today.checked_sub(30.days()).unwrap_or(today);
    for row in rows {
        let transaction = &row.transaction;
        let mut note = |message: String, hint: &str| {
            found.push(Finding { line: Some(row.place.line), message, hint: hint.to_owned() });
        };
        if let Some(line) = seen.insert(dsl::line(transaction), row.place.line) {
            note(
                format!("the same transaction stands on line {line}"),
                "leave one out if it happened once; two fills at one price are fine",
            );
        }
        if transaction.date > today {
            note(
                format!("{} is in the future", transaction.date),
                "correct the date, unless this is a plan",
            );
        }
        if matches!(transaction.kind, Kind::Sell { .. }) {
            match first_in.get(transaction.ticker.as_str()) {
                None => note(
                    format!("{} was sold but never bought", transaction.ticker),
                    "add its purchases, or OPENING with the pool",
                ),
                Some(first) if *first > transaction.date => {
                    note(
                        format!(
                            "{} was sold before its first purchase on {first}",
                            transaction.ticker
                        ),
                        "add the purchases before it, or OPENING with the pool",
                    );
                }
                Some(_) if transaction.date > last_sale_open && transaction.date <= today => {
                    note(
                        format!(
                            "the 30 days after this sale of {} are not over",
                            transaction.ticker
                        ),
                        "compute again when they are: a purchase until then changes its gain",
                    );
                }
                Some(_) => {}
            }
        }
        if matches!(transaction.kind, Kind::Buy { price, .. } if price.value().is_zero()) {
            note(
                "these shares were bought for nothing".to_owned(),
                "write the price, unless they were free",
            );
        }
    }
    found
}
