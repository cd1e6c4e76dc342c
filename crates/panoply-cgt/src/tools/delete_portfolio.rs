//! `delete_portfolio`: deletes a stored portfolio for good.

use std::sync::Arc;

use panoply_contract::prelude::*;

use super::portfolios::{MUTATION, PortfolioId, stored_evidence};
use super::service::CgtService;

const SPEC: ToolSpec = ToolSpec {
    name: "delete_portfolio",
    title: "Delete a portfolio",
    description: Description {
        does: "Deletes a stored portfolio with its accounts, transactions and changes.",
        when: "Use this when the user wants a portfolio gone; it cannot be undone. To take out single transactions use `edit_transactions` or `undo_portfolio_change`.",
        returns: "Returns the name of the portfolio and how many transactions it had.",
        asks: &["Delete my old portfolio", "Forget all my trades"],
    },
    permissions: &["portfolios:delete"],
    examples: &[
        Example {
            shows: "the sample",
            params: r#"{"portfolio_id": "pf_sample"}"#,
            expect: Expect::Data(r#"{"name": "Sample", "transactions": 4}"#),
        },
        Example {
            shows: "an unknown portfolio",
            params: r#"{"portfolio_id": "pf_0"}"#,
            expect: Expect::Error("PORTFOLIO_NOT_FOUND"),
        },
    ],
    annotations: Annotations { destructive: true, open_world: false },
    ..MUTATION
}
.checked();

/// The portfolio to delete.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// Portfolio.
    portfolio_id: PortfolioId,
}

/// The deleted portfolio.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Its id.
    portfolio_id: String,
    /// Its name.
    name: String,
    /// Number of transactions it had.
    transactions: usize,
}

pub(crate) struct DeletePortfolio {
    service: Arc<CgtService>,
}

impl DeletePortfolio {
    pub(super) const fn new(service: Arc<CgtService>) -> Self {
        Self { service }
    }
}

impl Tool for DeletePortfolio {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let id = params.portfolio_id.as_str();
        self.service.change(
            cx,
            |writer| Ok((writer.require(id)?, writer.delete(id)?)),
            |(name, transactions)| {
                let deleted = if cx.dry_run { "would be deleted" } else { "was deleted" };
                let text = format!("`{name}` with {transactions} transactions {deleted}.");
                let output = Output { portfolio_id: id.to_owned(), name, transactions };
                Reply::new(output, text, stored_evidence())
            },
        )
    }
}
