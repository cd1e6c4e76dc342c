//! `parse_transactions`: parses transactions and returns them in canonical form.

use std::sync::Arc;

use panoply_contract::prelude::*;

use super::content::{self, Content};
use super::pagination::{self, PageInfo, paginate};
use super::portfolios::PortfolioId;
use super::service::CgtService;
use super::wire::{TransactionOut, table_of};

const SPEC: ToolSpec = ToolSpec {
    name: "parse_transactions",
    title: "Read transactions",
    description: Description {
        does: "Reads share transactions from the text form or from JSON and returns them as normalised objects, or lists every mistake with line, column, hint and a working example.",
        when: "Use this when the user gives trades, to check that they are understood before computing. One transaction a line, such as `2024-01-15 BUY AAPL 100 @ 150 USD FEES 10 USD`; actions are BUY, SELL, DIVIDEND, ACCUMULATION, CAPRETURN, SPLIT, UNSPLIT, RESTRUCT, SPOUSE_OUT, SPOUSE_IN, OPENING. In JSON an amount is a plain string in pounds or {\"amount\", \"currency\"}. A broker's own export goes to `import_transactions`.",
        returns: "Returns date, action, ticker, quantity, price, fees and currency of each transaction.",
        asks: &["Can you read these trades?", "Is this transaction file correct?"],
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
            shows: "a purchase in dollars",
            params: r#"{"cgt_content": "2024-01-15 BUY AAPL 100 @ 150 USD FEES 10 USD"}"#,
            expect: Expect::Data(
                r#"{"count": 1, "transactions": [{"date": "2024-01-15", "action": "BUY", "ticker": "AAPL", "quantity": "100", "price": {"amount": "150", "currency": "USD"}, "fees": {"amount": "10", "currency": "USD"}, "currency": "USD"}]}"#,
            ),
        },
        Example {
            shows: "a line with a mistake",
            params: r#"{"cgt_content": "2024-02-28 SELL AAPL x"}"#,
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

/// Transactions to parse.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// The transactions: lines of text, JSON text, or a JSON array. Required, unless `portfolio_id` is given.
    #[schemars(extend("x-listed" = super::schema::listed_in_full()))]
    cgt_content: Option<Content>,
    /// Alias of `cgt_content`.
    #[schemars(extend("x-listed" = false))]
    transactions: Option<Content>,
    /// Stored portfolio, in place of `cgt_content`.
    #[schemars(extend("x-listed" = false))]
    portfolio_id: Option<PortfolioId>,
    /// Maximum number of transactions to return; by default as many as fit.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
    /// Number of transactions to skip.
    #[schemars(range(min = 0, max = 10_000_000))]
    #[serde(default)]
    offset: usize,
}

/// Parsed transactions.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Transactions, in the order given.
    transactions: Vec<TransactionOut>,
    /// Number of transactions.
    count: usize,
    /// Page of the transactions shown.
    page: PageInfo,
    /// Ignored input.
    warnings: Vec<String>,
}

pub(crate) struct ParseTransactions {
    service: Arc<CgtService>,
}

impl ParseTransactions {
    pub(super) const fn new(service: Arc<CgtService>) -> Self {
        Self { service }
    }
}

impl Tool for ParseTransactions {
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
        let all = parsed.rows.iter().map(TransactionOut::of);
        let (transactions, page) =
            paginate(all, params.offset, params.limit, pagination::BYTE_BUDGET);
        let count = parsed.rows.len();
        let text = match count {
            0 => "The input has no transactions.".to_owned(),
            1 => "1 transaction was read.".to_owned(),
            _ => format!("{count} transactions were read."),
        };
        let evidence = Evidence::from(Source::new(SourceClass::Exact, "the transactions given"));
        let table = table_of(&parsed.rows);
        let suggestion = content::echo(&parsed).filter(|_| count > 0);
        let output = Output { transactions, count, page, warnings: parsed.notices };
        let mut reply = Reply::new(output, text, evidence).table(table);
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
