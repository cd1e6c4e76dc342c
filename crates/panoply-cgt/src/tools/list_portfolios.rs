//! `list_portfolios`: stored portfolios with their accounts.

use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::portfolios::{AccountArgument, QUERY, stored_evidence, time_text};
use super::service::CgtService;

const SPEC: ToolSpec = ToolSpec {
    name: "list_portfolios",
    title: "List portfolios",
    description: Description {
        does: "Lists the stored portfolios with their ids, accounts and numbers of transactions.",
        when: "Use this when the user speaks of trades that were stored before, to find the `portfolio_id` that the other tools take.",
        returns: "Returns id, name, accounts with wrappers and the number of transactions of each portfolio.",
        asks: &["Which portfolios do I have?", "Work out the tax on my stored trades"],
    },
    permissions: &["portfolios:read"],
    examples: &[Example {
        shows: "all portfolios",
        params: "{}",
        expect: Expect::Data(r#"{"portfolios": [{"name": "Sample", "transactions": 4}]}"#),
    }],
    listing: Listing::Core,
    ..QUERY
}
.checked();

/// No parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {}

/// Stored portfolios.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Portfolios, by name.
    portfolios: Vec<PortfolioOut>,
}

/// A stored portfolio.
#[derive(Debug, Serialize, JsonSchema)]
struct PortfolioOut {
    /// Id, for the other tools.
    portfolio_id: String,
    /// Name.
    name: String,
    /// When it was created.
    created: String,
    /// Accounts.
    accounts: Vec<AccountArgument>,
    /// Number of transactions.
    transactions: usize,
}

pub(crate) struct ListPortfolios {
    service: Arc<CgtService>,
}

impl ListPortfolios {
    pub(super) const fn new(service: Arc<CgtService>) -> Self {
        Self { service }
    }
}

impl Tool for ListPortfolios {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, _: Params, _: &CallContext) -> Result<Reply<Output>, ToolError> {
        let found = self.service.portfolios.list()?;
        let portfolios: Vec<PortfolioOut> = found
            .iter()
            .map(|portfolio| PortfolioOut {
                portfolio_id: portfolio.id.clone(),
                name: portfolio.name.clone(),
                created: time_text(portfolio.created),
                accounts: portfolio.accounts.iter().map(AccountArgument::from).collect(),
                transactions: portfolio.entries,
            })
            .collect();
        let text = match portfolios.len() {
            0 => "No portfolio is stored; `create_portfolio` makes one.".to_owned(),
            1 => "1 portfolio is stored.".to_owned(),
            count => format!("{count} portfolios are stored."),
        };
        let table =
            portfolios.iter().fold(Table::new(["id", "name", "transactions"]), |table, one| {
                let count = one.transactions.to_string();
                table.row([one.portfolio_id.clone(), one.name.clone(), count])
            });
        let first = found.iter().find(|portfolio| portfolio.entries > 0);
        let next = first.map(|portfolio| {
            NextAction::new(
                "list_portfolio_transactions",
                json!({"portfolio_id": portfolio.id}),
                "see its transactions",
            )
        });
        let reply = Reply::new(Output { portfolios }, text, stored_evidence()).table(table);
        Ok(match next {
            Some(next) => reply.next(next),
            None => reply,
        })
    }
}
