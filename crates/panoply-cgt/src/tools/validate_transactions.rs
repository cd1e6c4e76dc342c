//! `validate_transactions`: reports errors and suspicious rows without failing.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::ToSpan;
use jiff::tz::TimeZone;
use panoply_contract::prelude::*;

use super::content::{self, Content, Transactions};
use super::portfolios::PortfolioId;
use super::service::CgtService;
use crate::dsl;
use crate::engine::{Options, SameDaySplit, compute};
use crate::transaction::{Kind, Row};

/// Further findings are counted, not listed.
const MAX_LISTED: usize = 100;

const SPEC: ToolSpec = ToolSpec {
    name: "validate_transactions",
    title: "Check transactions",
    description: Description {
        does: "Checks transactions without computing a report: lists every line that cannot be read, everything that cannot be computed, and what looks odd, such as duplicate rows, sales before the first purchase and dates in the future.",
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
    data: &["hmrc-rates", "portfolios", "uk-parameters"],
    examples: &[
        Example {
            shows: "a duplicate row",
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

/// Transactions to check.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// The transactions: lines of text, JSON text, or a JSON array. Required, unless `portfolio_id` is given.
    cgt_content: Option<Content>,
    /// Alias of `cgt_content`.
    #[schemars(extend("x-listed" = false))]
    transactions: Option<Content>,
    /// Stored portfolio, in place of `cgt_content`.
    #[schemars(extend("x-listed" = false))]
    portfolio_id: Option<PortfolioId>,
    /// Match sales exceeding the holding with later purchases instead of rejecting them.
    #[serde(default)]
    allow_short: bool,
    /// Order of a split and trades on the same day; default `refuse`.
    #[serde(default)]
    same_day_split: SameDaySplit,
}

/// Findings.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Whether a report can be computed.
    is_valid: bool,
    /// Number of transactions parsed.
    count: usize,
    /// Errors that prevent a report.
    errors: Vec<Finding>,
    /// Number of errors.
    error_count: usize,
    /// Suspicious rows.
    warnings: Vec<Finding>,
    /// Number of warnings.
    warning_count: usize,
}

/// An error or warning.
#[derive(Debug, Serialize, JsonSchema)]
struct Finding {
    /// Line or element number; null for findings about the whole input.
    line: Option<u32>,
    /// Message.
    message: String,
    /// Suggested correction.
    hint: String,
}

pub(crate) struct ValidateTransactions {
    service: Arc<CgtService>,
}

impl ValidateTransactions {
    pub(super) const fn new(service: Arc<CgtService>) -> Self {
        Self { service }
    }
}

impl Tool for ValidateTransactions {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let (mut errors, mut warnings) = (Vec::new(), Vec::new());
        let (content, alias) = (params.cgt_content.as_ref(), params.transactions.as_ref());
        let given = self.service.transactions_or_none(content, alias, params.portfolio_id.as_ref());
        let mut given = match given {
            Ok(given) => given,
            Err(error) if error.code == "PARSE_ERROR" => {
                errors = problems_of(&error);
                Transactions::default()
            }
            Err(error) => return Err(error),
        };
        warnings.extend(std::mem::take(&mut given.notices).into_iter().map(|message| Finding {
            line: None,
            message,
            hint: "correct it, unless it is intended".to_owned(),
        }));
        let rows = given.rows.as_slice();
        let options = Options {
            allow_short: params.allow_short,
            same_day_split: params.same_day_split,
            ..Options::default()
        };
        if let Err(found) = compute(rows, &self.service.rates, options) {
            let refusal = super::errors::engine_error(&found);
            errors.extend(problems_of(&refusal));
        }
        let today = cx.clock.now().to_zoned(TimeZone::UTC).date();
        warnings.extend(suspicious_rows(rows, today));
        let (error_count, warning_count) = (errors.len(), warnings.len());
        let text = match (error_count, warning_count) {
            (0, 0) => format!("{} transactions are valid.", rows.len()),
            (0, _) => format!("{} transactions are valid; {warning_count} warnings.", rows.len()),
            _ => format!("{error_count} errors and {warning_count} warnings."),
        };
        let table = errors
            .iter()
            .map(|finding| ("error", finding))
            .chain(warnings.iter().map(|finding| ("warning", finding)))
            .take(MAX_LISTED)
            .fold(Table::new(["line", "kind", "what"]), |table, (kind, finding)| {
                let line = finding.line.map_or_else(String::new, |line| line.to_string());
                table.row([line, kind.to_owned(), finding.message.clone()])
            });
        errors.truncate(MAX_LISTED);
        warnings.truncate(MAX_LISTED);
        let echo = content::echo(&given).filter(|_| error_count == 0 && !rows.is_empty());
        let output = Output {
            is_valid: error_count == 0,
            count: rows.len(),
            errors,
            error_count,
            warnings,
            warning_count,
        };
        let evidence =
            Evidence::from(Source::new(SourceClass::UserSupplied, "the transactions given"));
        let mut reply = Reply::new(output, text, evidence).table(table);
        if let Some(mut arguments) = echo {
            if params.allow_short
                && let Some(arguments) = arguments.as_object_mut()
            {
                arguments.insert("allow_short".to_owned(), true.into());
            }
            reply = reply.next(NextAction::new(
                "calculate_report",
                arguments,
                "work out gains and losses",
            ));
        }
        Ok(reply)
    }
}

/// Converts the problems of an error to findings.
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

fn suspicious_rows(rows: &[Row], today: jiff::civil::Date) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mut first_in: BTreeMap<&str, jiff::civil::Date> = BTreeMap::new();
    for row in rows {
        let transaction = &row.transaction;
        let acquired = match &transaction.kind {
            Kind::Buy { .. }
            | Kind::SpouseIn { .. }
            | Kind::Opening { .. }
            | Kind::Scrip { .. }
            | Kind::Rights { .. } => Some(&transaction.ticker),
            // Shares of the other holding come from this one.
            kind => kind.into_ticker(),
        };
        if let Some(ticker) = acquired {
            let first = first_in.entry(ticker.as_str()).or_insert(transaction.date);
            *first = (*first).min(transaction.date);
        }
    }
    let last_sale_open = today.checked_sub(30.days()).unwrap_or(today);
    for row in rows {
        let transaction = &row.transaction;
        let mut note = |message: String, hint: &str| {
            found.push(Finding { line: Some(row.location.line), message, hint: hint.to_owned() });
        };
        if let Some(line) = seen.insert(dsl::line(transaction), row.location.line) {
            note(
                format!("duplicate of line {line}"),
                "remove one if it happened once; two fills at one price are valid",
            );
        }
        if transaction.date > today {
            note(
                format!("{} is in the future", transaction.date),
                "correct the date, unless the transaction is planned",
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
                            "the 30-day window after this sale of {} is still open",
                            transaction.ticker
                        ),
                        "compute again after it: a purchase until then changes the gain",
                    );
                }
                Some(_) => {}
            }
        }
        if matches!(transaction.kind, Kind::Buy { price, .. } if price.value().is_zero()) {
            note(
                "the price of this purchase is zero".to_owned(),
                "write the price, unless the shares were free",
            );
        }
    }
    found
}
