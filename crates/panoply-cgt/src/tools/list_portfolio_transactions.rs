//! `list_portfolio_transactions`: stored transactions with their provenance.

use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::pagination::{self, PageInfo, paginate};
use super::portfolios::{PortfolioId, QUERY, stored_evidence, time_text};
use super::service::CgtService;
use crate::portfolio::{Entry, Wrapper};

/// Changes shown.
const MAX_CHANGES: usize = 20;

const SPEC: ToolSpec = ToolSpec {
    name: "list_portfolio_transactions",
    title: "List stored transactions",
    description: Description {
        does: "Lists the transactions of a stored portfolio with number, account, wrapper, and where each came from: file, line and the broker's number.",
        when: "Use this when the user asks where a figure came from, or before `edit_transactions`, which takes the numbers. Also shows the last changes, for `undo_portfolio_change`.",
        returns: "Returns the transactions by page, and the last changes.",
        asks: &["Which file does this sale come from?", "Show me my stored trades in Apple"],
    },
    permissions: &["portfolios:read"],
    examples: &[
        Example {
            shows: "the transactions of one ticker",
            params: r#"{"portfolio_id": "pf_sample", "ticker": "AAPL"}"#,
            expect: Expect::Data(
                r#"{"transactions": [{"id": 1, "transaction": "2024-01-15 BUY AAPL 100 @ 150 USD FEES 10 USD", "account": "Broker", "wrapper": "gia", "line": 1}, {"id": 3}]}"#,
            ),
        },
        Example {
            shows: "an unknown portfolio",
            params: r#"{"portfolio_id": "pf_0"}"#,
            expect: Expect::Error("PORTFOLIO_NOT_FOUND"),
        },
    ],
    ..QUERY
}
.checked();

/// What to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// Portfolio.
    portfolio_id: PortfolioId,
    /// Only this account.
    #[schemars(length(min = 1, max = 100))]
    account: Option<String>,
    /// Only this ticker.
    #[schemars(length(min = 1, max = 50))]
    ticker: Option<String>,
    /// Number of transactions to skip.
    #[schemars(range(min = 0, max = 10_000_000))]
    #[serde(default)]
    offset: usize,
}

/// Stored transactions.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Transactions, in the order in which they were added.
    transactions: Vec<EntryOut>,
    /// Page of the transactions shown.
    page: PageInfo,
    /// The last changes, newest first.
    changes: Vec<ChangeOut>,
}

/// A stored transaction.
#[derive(Debug, Serialize, JsonSchema)]
struct EntryOut {
    /// Number, for `edit_transactions`.
    id: i64,
    /// Transaction as a line of text.
    transaction: String,
    /// Account.
    account: String,
    /// Wrapper of the account.
    wrapper: Wrapper,
    /// File it was imported from; null when it was given as text.
    file: Option<String>,
    /// Line in the file or text.
    line: u32,
    /// Broker.
    broker: Option<String>,
    /// The broker's own number.
    broker_id: Option<String>,
}

/// A change.
#[derive(Debug, Serialize, JsonSchema)]
struct ChangeOut {
    /// Number, for `undo_portfolio_change`.
    change_id: i64,
    /// When.
    at: String,
    /// What was changed.
    summary: String,
    /// Whether it was undone.
    undone: bool,
}

pub(crate) struct ListPortfolioTransactions {
    service: Arc<CgtService>,
}

impl ListPortfolioTransactions {
    pub(super) const fn new(service: Arc<CgtService>) -> Self {
        Self { service }
    }
}

impl Tool for ListPortfolioTransactions {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, _: &CallContext) -> Result<Reply<Output>, ToolError> {
        let id = params.portfolio_id.as_str();
        let portfolio = self.service.portfolios.load(id)?;
        let ticker = params.ticker.as_deref().map(|ticker| ticker.trim().to_ascii_uppercase());
        let wanted = |entry: &&Entry| {
            params.account.as_ref().is_none_or(|account| *account == entry.account)
                && ticker
                    .as_deref()
                    .is_none_or(|ticker| entry.line.split(' ').nth(2) == Some(ticker))
        };
        let chosen: Vec<&Entry> = portfolio.entries.iter().filter(wanted).collect();
        let out = chosen.iter().map(|entry| EntryOut {
            id: entry.id,
            transaction: entry.line.clone(),
            account: entry.account.clone(),
            wrapper: portfolio.wrapper(&entry.account),
            file: entry.provenance.file.clone(),
            line: entry.provenance.line,
            broker: entry.provenance.broker.clone(),
            broker_id: entry.provenance.broker_id.clone(),
        });
        let (transactions, page) = paginate(out, params.offset, None, pagination::BYTE_BUDGET);
        let changes = self.service.portfolios.changes(id, MAX_CHANGES)?;
        let changes = changes
            .into_iter()
            .map(|change| ChangeOut {
                change_id: change.id,
                at: time_text(change.at),
                summary: change.summary,
                undone: change.undone,
            })
            .collect();
        let text = format!(
            "{} of {} transactions of `{}` are shown.",
            page.shown, page.total, portfolio.summary.name
        );
        let table = transactions.iter().fold(
            Table::new(["id", "transaction", "account", "from"]),
            |table, entry| {
                let from = match &entry.file {
                    Some(file) => format!("{file}, line {}", entry.line),
                    None => format!("line {}", entry.line),
                };
                let (id, line) = (entry.id.to_string(), entry.transaction.clone());
                table.row([id, line, entry.account.clone(), from])
            },
        );
        let output = Output { transactions, page, changes };
        let reply = Reply::new(output, text, stored_evidence()).table(table);
        Ok(match chosen.is_empty() {
            true => reply,
            false => reply.next(NextAction::new(
                "validate_transactions",
                json!({"portfolio_id": id}),
                "check that the records are complete",
            )),
        })
    }
}
