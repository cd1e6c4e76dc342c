//! `edit_transactions`: corrects, moves and removes stored transactions, and sets wrappers.

use std::sync::Arc;

use panoply_contract::error::ErrorKind;
use panoply_contract::prelude::*;

use super::content::Content;
use super::portfolios::{AccountArgument, MUTATION, PortfolioId, now, stored_evidence};
use super::service::CgtService;
use crate::dsl;
use crate::store::PortfolioWriter;

/// Permission to remove transactions, which an agent's key lacks.
const REMOVE: &str = "portfolios:delete";

const SPEC: ToolSpec = ToolSpec {
    name: "edit_transactions",
    title: "Correct stored transactions",
    description: Description {
        does: "Corrects, moves to another account, or removes transactions of a stored portfolio by their numbers, and sets the wrappers of accounts.",
        when: "Use this when a stored transaction is wrong, such as a price in pence, or an account turns out to be an ISA. `list_portfolio_transactions` has the numbers. All edits of a call are one change.",
        returns: "Returns how many transactions were changed and removed, and a `change_id` that `undo_portfolio_change` takes. Wrappers are not part of it: set them back instead.",
        asks: &["The third trade was 100 shares, not 10", "My Vanguard account is an ISA"],
    },
    permissions: &["portfolios:update"],
    examples: &[
        Example {
            shows: "a corrected quantity",
            params: r#"{"portfolio_id": "pf_sample", "edits": [{"id": 1, "cgt_content": "2024-01-15 BUY AAPL 110 @ 150 USD FEES 10 USD"}]}"#,
            expect: Expect::Data(r#"{"changed": 1, "removed": 0, "total": 4}"#),
        },
        Example {
            shows: "a number that is not there",
            params: r#"{"portfolio_id": "pf_sample", "edits": [{"id": 99, "remove": true}]}"#,
            expect: Expect::Error("TRANSACTION_NOT_FOUND"),
        },
    ],
    annotations: Annotations { destructive: true, open_world: false },
    ..MUTATION
}
.checked();

/// Edits of a portfolio.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// Portfolio.
    portfolio_id: PortfolioId,
    /// Edits of transactions.
    #[schemars(length(max = 500))]
    #[serde(default)]
    edits: Vec<EditParam>,
    /// Accounts whose wrapper to set.
    #[schemars(length(max = 50))]
    #[serde(default)]
    accounts: Vec<AccountArgument>,
}

/// Edit of one transaction.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EditParam {
    /// Number of the transaction.
    #[schemars(range(min = 1, max = 1_000_000_000_i64))]
    id: i64,
    /// The corrected transaction: one line of text, or a JSON array of one object.
    cgt_content: Option<Content>,
    /// Existing account to move it to.
    #[schemars(length(min = 1, max = 100))]
    account: Option<String>,
    /// Removes it.
    #[serde(default)]
    remove: bool,
}

/// Result of the edits.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Portfolio.
    portfolio_id: String,
    /// Number of transactions changed.
    changed: usize,
    /// Number of transactions removed.
    removed: usize,
    /// Number of transactions in the portfolio.
    total: usize,
    /// Accounts of the portfolio.
    accounts: Vec<AccountArgument>,
    /// Pass it to `undo_portfolio_change`; null when no transaction was edited.
    change_id: Option<i64>,
}

pub(crate) struct EditTransactions {
    service: Arc<CgtService>,
}

impl EditTransactions {
    pub(super) const fn new(service: Arc<CgtService>) -> Self {
        Self { service }
    }
}

impl Tool for EditTransactions {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        if params.edits.is_empty() && params.accounts.is_empty() {
            return Err(ToolError::validation("NO_EDITS", "there is nothing to change")
                .hint("give `edits` of transactions, or `accounts` with their wrappers"));
        }
        let removes = params.edits.iter().any(|edit| edit.remove);
        if removes && !cx.caller.grants.allow(REMOVE) {
            return Err(ToolError::new(
                ErrorKind::Forbidden,
                "FORBIDDEN",
                format!("`remove` needs the permission `{REMOVE}`"),
            )
            .hint("correct the transaction instead, or let the owner remove it"));
        }
        self.service.change(
            cx,
            |writer| edit(writer, &params, now(cx)),
            |output| {
                let text = format!(
                    "{} transactions were changed and {} removed; {} are stored.",
                    output.changed, output.removed, output.total
                );
                Reply::new(output, text, stored_evidence())
            },
        )
    }
}

fn edit(writer: &dyn PortfolioWriter, params: &Params, now: i64) -> Result<Output, ToolError> {
    let id = params.portfolio_id.as_str();
    writer.require(id)?;
    for account in &params.accounts {
        writer.set_wrapper(id, &account.name, account.wrapper)?;
    }
    let removed = params.edits.iter().filter(|edit| edit.remove).count();
    let changed = params.edits.len() - removed;
    let mut change_id = None;
    if !params.edits.is_empty() {
        let summary = format!("changed {changed} transactions, removed {removed}");
        let change = writer.begin(id, now, &summary)?;
        for edit in &params.edits {
            apply(writer, id, change, edit)?;
        }
        change_id = Some(change);
    }
    Ok(Output {
        portfolio_id: id.to_owned(),
        changed,
        removed,
        total: writer.count(id)?,
        accounts: writer.accounts(id)?.iter().map(AccountArgument::from).collect(),
        change_id,
    })
}

fn apply(
    writer: &dyn PortfolioWriter,
    id: &str,
    change: i64,
    edit: &EditParam,
) -> Result<(), ToolError> {
    if edit.remove {
        return Ok(writer.remove(id, change, edit.id)?);
    }
    let line = match &edit.cgt_content {
        None => None,
        Some(content) => {
            let parsed = Content::read_some(Some(content), None)?;
            let [row] = parsed.rows.as_slice() else {
                return Err(ToolError::validation(
                    "ONE_TRANSACTION",
                    format!("transaction {} would become {}", edit.id, parsed.rows.len()),
                )
                .hint("give one transaction; add others with `add_transactions`"));
            };
            Some(dsl::line(&row.transaction))
        }
    };
    if let Some(account) = &edit.account
        && !writer.accounts(id)?.iter().any(|known| known.name == *account)
    {
        return Err(crate::store::PortfolioError::NoAccount(account.clone()).into());
    }
    writer.edit(id, change, edit.id, &|entry| {
        if let Some(line) = &line {
            entry.line.clone_from(line);
        }
        if let Some(account) = &edit.account {
            entry.account.clone_from(account);
        }
    })?;
    Ok(())
}
