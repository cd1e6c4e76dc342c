//! Maps domain errors to tool errors with code, location and hint.

use panoply_contract::error::ToolError;
use serde_json::{Value, json};

use super::dialect::EXAMPLE_KEY;
use crate::engine::EngineError;
use crate::fx::FxError;
use crate::json::EXAMPLE;
use crate::problem::Problem;

/// Maximum number of problems listed in an error.
const MAX_LISTED: usize = 20;
/// Example when no more specific one is known.
const LINES: &str =
    "2024-01-15 BUY AAPL 100 @ 150 USD FEES 10 USD\n2024-06-20 SELL AAPL 50 @ 180 USD FEES 5 USD";

/// Error for input that cannot be parsed.
pub(super) fn parse_error(problems: &[Problem]) -> ToolError {
    let Some(first) = problems.first() else {
        return ToolError::system("parse problems are empty");
    };
    let shown: Vec<String> = problems.iter().take(MAX_LISTED).map(problem_text).collect();
    let more = problems.len().saturating_sub(MAX_LISTED);
    let mut message = match problems {
        [_] => shown.join("\n"),
        _ => format!("{} problems:\n{}", problems.len(), shown.join("\n")),
    };
    if more > 0 {
        message += &format!("\nand {more} more");
    }
    let list: Vec<Value> = problems.iter().take(MAX_LISTED).map(problem_json).collect();
    ToolError::validation("PARSE_ERROR", message)
        .hint(first.hint.clone())
        .detail("line", first.line)
        .detail("column", first.column)
        .detail("value", first.value.clone())
        .detail("expected", first.expected.clone())
        .detail(EXAMPLE_KEY, first.example)
        .detail("problem_count", problems.len())
        .detail("problems", list)
}

fn problem_text(problem: &Problem) -> String {
    let located = format!("line {}, column {}: {}", problem.line, problem.column, problem.message);
    match problem.excerpt() {
        excerpt if excerpt.is_empty() => located,
        excerpt => format!("{located}\n{excerpt}"),
    }
}

fn problem_json(problem: &Problem) -> Value {
    json!({
        "line": problem.line,
        "column": problem.column,
        "message": problem.message,
        "value": problem.value,
        "expected": problem.expected,
        "hint": problem.hint,
        "example": problem.example,
        "pointed": problem.excerpt(),
    })
}

/// Error for transactions that cannot be computed.
pub(super) fn engine_error(errors: &[EngineError]) -> ToolError {
    let Some(first) = errors.first() else {
        return ToolError::system("engine errors are empty");
    };
    let lines: Vec<String> = errors
        .iter()
        .take(MAX_LISTED)
        .map(|error| format!("{}: {error}", error.location()))
        .collect();
    let list: Vec<Value> = errors
        .iter()
        .take(MAX_LISTED)
        .map(|error| {
            json!({
                "line": error.location().line,
                "file": error.location().file.as_deref(),
                "code": code_of(error),
                "message": error.to_string(),
                "hint": hint_of(error),
            })
        })
        .collect();
    ToolError::validation(code_of(first), lines.join("\n"))
        .hint(hint_of(first))
        .detail("line", first.location().line)
        .detail("value", value_of(first))
        .detail(EXAMPLE_KEY, example_of(first))
        .detail("problem_count", errors.len())
        .detail("problems", list)
}

const fn code_of(error: &EngineError) -> &'static str {
    match error {
        EngineError::ExceedsHolding { .. } => "EXCEEDS_HOLDING",
        EngineError::NeverCovered { .. } => "NEVER_COVERED",
        EngineError::AmbiguousSplit { .. } => "AMBIGUOUS_SPLIT",
        EngineError::AccumulationWithoutHolding { .. } => "ACCUMULATION_WITHOUT_HOLDING",
        EngineError::CapitalReturnExceedsCost { .. } => "CAPITAL_RETURN_EXCEEDS_COST",
        EngineError::ValueRequired { .. } => "VALUE_REQUIRED",
        EngineError::EventWithoutHolding { .. } => "EVENT_WITHOUT_HOLDING",
        EngineError::CircularExchange { .. } => "CIRCULAR_EXCHANGE",
        EngineError::BeforeApril2008 { .. } => "BEFORE_APRIL_2008",
        EngineError::MissingRate { .. } => "FX_RATE_NOT_FOUND",
        EngineError::TooLarge { .. } => "NUMBER_TOO_LARGE",
    }
}

fn hint_of(error: &EngineError) -> String {
    match error {
        EngineError::ExceedsHolding { .. } => {
            "add the purchases that are missing, or start the holding with OPENING; set `allow_short` to true if shares were really sold before they were bought".to_owned()
        }
        EngineError::NeverCovered { .. } => {
            "add the purchase that covers the short sale, or leave the sale out until there is one".to_owned()
        }
        EngineError::AmbiguousSplit { .. } => {
            "set `same_day_split` to `before_trades` if the trades are in new shares, or to `after_trades` if they are in old ones".to_owned()
        }
        EngineError::AccumulationWithoutHolding { .. } => {
            "correct the date or the ticker, or add the purchases that are missing".to_owned()
        }
        EngineError::CapitalReturnExceedsCost { .. } => {
            "correct the amount; if it is right, add VALUE, what the shares were worth just after it: the excess is then a gain (TCGA 1992 s.122(4))".to_owned()
        }
        EngineError::ValueRequired { .. } => {
            "add VALUE, what the remaining shares (or in a takeover the shares received) were worth: above 5 % it is a part disposal (TCGA 1992 s.122); write EQUALISATION for the equalisation of a fund".to_owned()
        }
        EngineError::EventWithoutHolding { .. } => {
            "correct the date or the ticker, or add the purchases that are missing; rights that were bought in the market are a BUY".to_owned()
        }
        EngineError::CircularExchange { .. } => {
            "correct the tickers, or give the events their own dates".to_owned()
        }
        EngineError::BeforeApril2008 { .. } => {
            "remove the disposals before 6 April 2008 and the shares they used, or replace the rows before that day by OPENING with the pool on it".to_owned()
        }
        EngineError::MissingRate { error, .. } => rate_hint(error),
        EngineError::TooLarge { .. } => {
            "correct the number: amounts go up to a trillion pounds, and quantity times price up to 38 digits".to_owned()
        }
    }
}

fn value_of(error: &EngineError) -> String {
    match error {
        EngineError::ExceedsHolding { sold, .. } => sold.to_string(),
        EngineError::NeverCovered { open, .. } => open.to_string(),
        EngineError::CapitalReturnExceedsCost { returned, .. } => returned.to_string(),
        EngineError::MissingRate { error, .. } => match error {
            FxError::NoSuchCurrency { currency } => currency.to_string(),
            FxError::NoRate { currency, month, .. } => format!("{currency} {month}"),
        },
        EngineError::ValueRequired { amount, .. } => amount.to_string(),
        EngineError::EventWithoutHolding { event, .. } => (*event).to_owned(),
        EngineError::AmbiguousSplit { date, .. }
        | EngineError::CircularExchange { date, .. }
        | EngineError::BeforeApril2008 { date, .. }
        | EngineError::AccumulationWithoutHolding { date, .. }
        | EngineError::TooLarge { date, .. } => date.to_string(),
    }
}

const fn example_of(error: &EngineError) -> &'static str {
    match error {
        EngineError::ExceedsHolding { .. } | EngineError::BeforeApril2008 { .. } => {
            "2020-04-06 OPENING VOD 1000 COST 1250"
        }
        EngineError::ValueRequired { .. } | EngineError::CapitalReturnExceedsCost { .. } => {
            "2024-03-01 CAPRETURN VOD 500 TOTAL 9000 VALUE 21000"
        }
        EngineError::MissingRate { .. } => "2010-01-15 BUY AAPL 10 @ 200 USD RATE 1.6",
        EngineError::NeverCovered { .. }
        | EngineError::AmbiguousSplit { .. }
        | EngineError::AccumulationWithoutHolding { .. }
        | EngineError::EventWithoutHolding { .. }
        | EngineError::CircularExchange { .. }
        | EngineError::TooLarge { .. } => LINES,
    }
}

fn rate_hint(error: &FxError) -> String {
    match error {
        FxError::NoRate { first, last, .. } => format!(
            "write the rate beside the amount (`150 USD RATE 1.6`), or use a month from {first} to {last}"
        ),
        FxError::NoSuchCurrency { .. } => {
            "write the rate beside the amount (`150 USD RATE 1.6`): so many units a pound"
                .to_owned()
        }
    }
}

impl From<FxError> for ToolError {
    fn from(error: FxError) -> Self {
        let hint = match &error {
            FxError::NoRate { first, last, .. } => {
                format!("ask for a month from {first} to {last}")
            }
            FxError::NoSuchCurrency { .. } => {
                "ask for a currency that HMRC publishes, such as USD or EUR".to_owned()
            }
        };
        Self::not_found("FX_RATE_NOT_FOUND", error.to_string())
            .hint(hint)
            .detail(EXAMPLE_KEY, json!({"currency": "USD", "year": 2024, "month": 3}))
    }
}

/// Error for transactions given twice.
pub(super) fn given_twice() -> ToolError {
    ToolError::validation(
        "INVALID_INPUT",
        "both `cgt_content` and `transactions` are given, and they differ",
    )
    .hint("leave out one of them: `transactions` is an alias of `cgt_content`")
    .detail(EXAMPLE_KEY, LINES)
}

/// Error for a broker's export where transactions are expected.
pub(super) fn broker_export(broker: &str) -> ToolError {
    ToolError::validation(
        "BROKER_EXPORT",
        format!("this is an export of `{broker}`, not a list of transactions"),
    )
    .hint("convert it with `import_transactions`, and give its `cgt_content` here")
    .detail("value", broker)
    .detail(EXAMPLE_KEY, LINES)
}

/// Error for a portfolio and transactions in one call.
pub(super) fn portfolio_and_content() -> ToolError {
    ToolError::validation("INVALID_INPUT", "both `portfolio_id` and transactions are given")
        .hint("give one of them; `add_transactions` adds transactions to a portfolio")
        .detail(EXAMPLE_KEY, LINES)
}

/// Error for a portfolio without taxable transactions.
pub(super) fn empty_portfolio(id: &str) -> ToolError {
    ToolError::validation(
        "NO_TRANSACTIONS",
        format!("the portfolio `{id}` has no transactions in a taxable account"),
    )
    .hint("add some with `add_transactions`; only accounts of the wrapper `gia` count for tax")
    .detail("value", id)
}

/// Error for missing transactions.
pub(super) fn no_transactions() -> ToolError {
    ToolError::validation("NO_TRANSACTIONS", "there are no transactions in `cgt_content`")
        .hint("give the whole history of each holding, one transaction a line or as a JSON array")
        .detail(EXAMPLE_KEY, LINES)
        .detail("json_example", EXAMPLE)
}
