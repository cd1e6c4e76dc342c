//! `undo_portfolio_change`: undoes an addition or edit of a stored portfolio.

use std::sync::Arc;

use panoply_contract::prelude::*;

use super::portfolios::{MUTATION, PortfolioId, now, stored_evidence};
use super::service::CgtService;

const SPEC: ToolSpec = ToolSpec {
    name: "undo_portfolio_change",
    title: "Undo a change of a portfolio",
    description: Description {
        does: "Undoes one change of a stored portfolio: an addition, an import or an edit.",
        when: "Use this when the wrong file was added or an edit was a mistake. Without `change_id` it undoes the last change; undoing an undo is a redo.",
        returns: "Returns the change that was undone, and the number of transactions there are now.",
        asks: &["Take that import out again", "Undo the last change of my trades"],
    },
    permissions: &["portfolios:delete"],
    examples: &[
        Example {
            shows: "the last change",
            params: r#"{"portfolio_id": "pf_sample"}"#,
            expect: Expect::Data(r#"{"undone_change_id": 2, "transactions_changed": 1, "total": 3}"#),
        },
        Example {
            shows: "an unknown change",
            params: r#"{"portfolio_id": "pf_sample", "change_id": 77}"#,
            expect: Expect::Error("CHANGE_NOT_FOUND"),
        },
    ],
    annotations: Annotations { destructive: true, open_world: false },
    ..MUTATION
}
.checked();

/// The change to undo.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// Portfolio.
    portfolio_id: PortfolioId,
    /// Number of the change; the last one by default.
    #[schemars(range(min = 1, max = 1_000_000_000_i64))]
    change_id: Option<i64>,
}

/// Result of the undo.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Portfolio.
    portfolio_id: String,
    /// The change that was undone.
    undone_change_id: i64,
    /// This change; undo it to redo the other.
    change_id: i64,
    /// Number of transactions that were changed back.
    transactions_changed: usize,
    /// Number of transactions in the portfolio.
    total: usize,
}

pub(crate) struct UndoPortfolioChange {
    service: Arc<CgtService>,
}

impl UndoPortfolioChange {
    pub(super) const fn new(service: Arc<CgtService>) -> Self {
        Self { service }
    }
}

impl Tool for UndoPortfolioChange {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let id = params.portfolio_id.as_str();
        self.service.change(
            cx,
            |writer| Ok((writer.undo(id, params.change_id, now(cx))?, writer.count(id)?)),
            |(undone, total)| {
                let text = format!(
                    "Change {} was undone; {total} transactions are stored.",
                    undone.undoes
                );
                let output = Output {
                    portfolio_id: id.to_owned(),
                    undone_change_id: undone.undoes,
                    change_id: undone.change,
                    transactions_changed: undone.entries,
                    total,
                };
                Reply::new(output, text, stored_evidence())
            },
        )
    }
}
