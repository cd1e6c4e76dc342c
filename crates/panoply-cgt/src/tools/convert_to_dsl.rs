//! `convert_to_dsl`: prints transactions in the transaction language.

use std::sync::Arc;

use panoply_contract::prelude::*;

use super::content::{self, Content};
use super::pagination::{self, PageInfo, paginate};
use super::portfolios::PortfolioId;
use super::service::CgtService;
use crate::dsl;

/// The lines are sent twice, as data and as text.
const BYTE_BUDGET: usize = pagination::BYTE_BUDGET / 2;

const SPEC: ToolSpec = ToolSpec {
    name: "convert_to_dsl",
    title: "Write transactions as lines",
    description: Description {
        does: "Writes transactions, given as JSON or text, as lines of the transaction language, in one normal form with every currency written out.",
        when: "Use this when the user wants a file for the command line, or to turn JSON into something a person can read and correct.",
        returns: "Returns the text, a line each: `YYYY-MM-DD BUY TICKER QUANTITY @ PRICE CURRENCY [FEES AMOUNT CURRENCY]`; fees of zero pounds are omitted.",
        asks: &["Turn this JSON into a transaction file", "Write my trades in the text format"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["cgt:read"],
    category: Category::Analysis,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["portfolios"],
    examples: &[
        Example {
            shows: "JSON into a line",
            params: r#"{"cgt_content": [{"date": "2024-01-15", "ticker": "aapl", "action": "buy", "quantity": "100", "price": {"amount": "150.00", "currency": "USD"}, "fees": {"amount": "10", "currency": "USD"}}]}"#,
            expect: Expect::Data(r#"{"dsl": "2024-01-15 BUY AAPL 100 @ 150.00 USD FEES 10 USD"}"#),
        },
        Example {
            shows: "an amount without a currency",
            params: r#"{"cgt_content": [{"date": "2024-01-15", "ticker": "A", "action": "BUY", "quantity": "5", "price": {"amount": "11"}}]}"#,
            expect: Expect::Error("PARSE_ERROR"),
        },
    ],
    tags: &["tax", "uk", "shares", "parsing"],
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// Transactions to print.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// The transactions: a JSON array, JSON text, or lines of text. Required, unless `portfolio_id` is given.
    cgt_content: Option<Content>,
    /// Alias of `cgt_content`.
    #[schemars(extend("x-listed" = false))]
    transactions: Option<Content>,
    /// Stored portfolio, in place of `cgt_content`.
    #[schemars(extend("x-listed" = false))]
    portfolio_id: Option<PortfolioId>,
    /// Number of transactions to skip.
    #[schemars(range(min = 0, max = 10_000_000))]
    #[serde(default)]
    offset: usize,
}

/// Printed transactions.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// One transaction per line, without a trailing newline.
    dsl: String,
    /// Page of the transactions shown.
    page: PageInfo,
    /// Ignored input.
    warnings: Vec<String>,
}

pub(crate) struct ConvertToDsl {
    service: Arc<CgtService>,
}

impl ConvertToDsl {
    pub(super) const fn new(service: Arc<CgtService>) -> Self {
        Self { service }
    }
}

impl Tool for ConvertToDsl {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, _cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let parsed = self.service.transactions_or_none(
            params.cgt_content.as_ref(),
            params.transactions.as_ref(),
            params.portfolio_id.as_ref(),
        )?;
        let all = parsed.rows.iter().map(|row| dsl::line(&row.transaction));
        let (lines, page) = paginate(all, params.offset, None, BYTE_BUDGET);
        let dsl = lines.join("\n");
        // The text is the bare result, so that it can be copied.
        let text =
            if dsl.is_empty() { "The input has no transactions.".to_owned() } else { dsl.clone() };
        let evidence = Evidence::from(Source::new(SourceClass::Exact, "the transactions given"));
        let suggestion = content::echo(&parsed).filter(|_| !parsed.rows.is_empty());
        let mut reply = Reply::new(Output { dsl, page, warnings: parsed.notices }, text, evidence);
        if let Some(arguments) = suggestion {
            reply = reply.next(NextAction::new(
                "validate_transactions",
                arguments,
                "check that the records are complete",
            ));
        }
        Ok(reply)
    }
}
