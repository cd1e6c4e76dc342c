//! `add_transactions`: adds transactions or broker files to a stored portfolio.

use std::collections::BTreeSet;
use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::content::Content;
use super::errors;
use super::import_transactions::{FileParam, Skipped, import};
use super::portfolios::{MUTATION, PortfolioId, now, stored_evidence};
use super::service::CgtService;
use crate::dsl;
use crate::import::{Imported, RateChoice};
use crate::portfolio::{Entry, Provenance, Wrapper};
use crate::store::PortfolioWriter;

/// Account of transactions that name none.
const DEFAULT_ACCOUNT: &str = "General";
/// Further warnings and duplicates are counted, not listed.
const MAX_LISTED: usize = 100;

const SPEC: ToolSpec = ToolSpec {
    name: "add_transactions",
    title: "Add transactions to a portfolio",
    description: Description {
        does: "Adds transactions, or a broker's files as `import_transactions` reads them, to a stored portfolio, each with its provenance.",
        when: "Use this when the user gives trades or files to keep. Files may overlap with those added before: rows with the same broker's number, or the same time and figures in one account, count once and are reported. Name the `account`, and its `wrapper` when it is not a general one.",
        returns: "Returns how many transactions were added and how many there are now, rows that were not understood, duplicates, and a `change_id` that `undo_portfolio_change` takes.",
        asks: &["Add this year's Trading 212 export to my portfolio", "Store these trades in my ISA"],
    },
    permissions: &["portfolios:import"],
    examples: &[
        Example {
            shows: "a purchase in a general account",
            params: r#"{"portfolio_id": "pf_sample", "cgt_content": "2024-03-01 BUY VOD 1000 @ 0.70", "account": "Broker"}"#,
            expect: Expect::Data(r#"{"added": 1, "total": 5, "warnings": [], "duplicate_count": 0}"#),
        },
        Example {
            shows: "a line with a mistake",
            params: r#"{"portfolio_id": "pf_sample", "cgt_content": "2024-02-28 SELL AAPL x"}"#,
            expect: Expect::Error("PARSE_ERROR"),
        },
    ],
    listing: Listing::Core,
    ..MUTATION
}
.checked();

/// What to add.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// Portfolio.
    portfolio_id: PortfolioId,
    /// The transactions: lines of text, JSON text, or a JSON array. Required, unless `files` are given.
    cgt_content: Option<Content>,
    /// Alias of `cgt_content`.
    #[schemars(extend("x-listed" = false))]
    transactions: Option<Content>,
    /// A broker's files, as for `import_transactions`.
    #[schemars(length(max = 20), extend("x-listed" = false))]
    #[serde(default)]
    files: Vec<FileParam>,
    /// Exchange rates of foreign trades in `files`: `broker` (default) or `hmrc`.
    #[serde(default)]
    #[schemars(extend("x-listed" = false))]
    rates: RateChoice,
    /// Account; a new name makes an account. By default the one that a file names, else `General`.
    #[schemars(length(min = 1, max = 100))]
    account: Option<String>,
    /// Wrapper of a new account; `gia` by default.
    wrapper: Option<Wrapper>,
}

/// Result of an addition.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Portfolio.
    portfolio_id: String,
    /// Number of transactions added.
    added: usize,
    /// Number of transactions in the portfolio.
    total: usize,
    /// Pass it to `undo_portfolio_change` to take them out again; null when nothing was added.
    change_id: Option<i64>,
    /// Accounts that were created.
    new_accounts: Vec<String>,
    /// Rows that were not understood or need review, with file and line.
    warnings: Vec<String>,
    /// Number of warnings.
    warning_count: usize,
    /// Rows that are stored already or stand in two files; they count once.
    duplicates: Vec<String>,
    /// Number of duplicates.
    duplicate_count: usize,
    /// Skipped rows that are not about shares, by type.
    skipped: Vec<Skipped>,
}

pub(crate) struct AddTransactions {
    service: Arc<CgtService>,
}

impl AddTransactions {
    pub(super) const fn new(service: Arc<CgtService>) -> Self {
        Self { service }
    }
}

/// Transactions to add, and what the reader of the files says.
#[derive(Default)]
struct Batch {
    entries: Vec<Entry>,
    imported: Imported,
}

impl Tool for AddTransactions {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let id = params.portfolio_id.as_str();
        let given = params.cgt_content.is_some() || params.transactions.is_some();
        if given != params.files.is_empty() {
            return Err(match given {
                true => ToolError::validation(
                    "INVALID_INPUT",
                    "both transactions and `files` are given",
                )
                .hint("give `cgt_content` or `files`, one call each"),
                false => errors::no_transactions(),
            });
        }
        self.service.change(
            cx,
            |writer| {
                writer.require(id)?;
                let batch = match given {
                    true => given_entries(&params)?,
                    false => imported_entries(&params, writer)?,
                };
                store(writer, &params, batch, now(cx))
            },
            reply,
        )
    }
}

/// Entries of transactions in the call.
fn given_entries(params: &Params) -> Result<Batch, ToolError> {
    let parsed = Content::read_some(params.cgt_content.as_ref(), params.transactions.as_ref())?;
    let account = params.account.as_deref().unwrap_or(DEFAULT_ACCOUNT);
    let entries = parsed
        .rows
        .iter()
        .map(|row| Entry {
            id: 0,
            account: account.to_owned(),
            line: dsl::line(&row.transaction),
            provenance: Provenance { line: row.location.line, ..Provenance::default() },
        })
        .collect();
    let imported = Imported { warnings: parsed.notices, ..Imported::default() };
    Ok(Batch { entries, imported })
}

/// Entries of the files, without rows that the portfolio has.
fn imported_entries(params: &Params, writer: &dyn PortfolioWriter) -> Result<Batch, ToolError> {
    let known = writer.known_rows(params.portfolio_id.as_str())?;
    let account = params.account.as_deref();
    let mut imported = import(&params.files, account, params.rates, known)?;
    let rows = std::mem::take(&mut imported.rows);
    let origins = std::mem::take(&mut imported.origins);
    let keys = std::mem::take(&mut imported.keys);
    let entry = |((row, origin), key): ((crate::transaction::Row, _), crate::import::RowKey)| {
        let crate::import::Origin { id, account, isin, .. } = origin;
        let account = key.account.clone().or(account);
        Entry {
            id: 0,
            account: account.unwrap_or_else(|| DEFAULT_ACCOUNT.to_owned()),
            line: dsl::line(&row.transaction),
            provenance: Provenance {
                file: row.location.file.as_deref().map(str::to_owned),
                line: row.location.line,
                broker: Some(key.broker.as_str().to_owned()),
                broker_id: id,
                isin,
                key: Some(key.text),
            },
        }
    };
    let entries = rows.into_iter().zip(origins).zip(keys).map(entry).collect();
    Ok(Batch { entries, imported })
}

/// Stores a batch as one change.
fn store(
    writer: &dyn PortfolioWriter,
    params: &Params,
    batch: Batch,
    now: i64,
) -> Result<Output, ToolError> {
    let id = params.portfolio_id.as_str();
    let names: BTreeSet<&str> = batch.entries.iter().map(|entry| entry.account.as_str()).collect();
    let mut new_accounts = Vec::new();
    for name in names {
        if writer.ensure_account(id, name, params.wrapper)? {
            new_accounts.push(name.to_owned());
        }
    }
    let added = batch.entries.len();
    let mut change_id = None;
    if added > 0 {
        let files: Vec<&str> =
            params.files.iter().filter_map(|file| file.name.as_deref()).collect();
        let from =
            if files.is_empty() { String::new() } else { format!(" from {}", files.join(", ")) };
        let change = writer.begin(id, now, &format!("added {added} transactions{from}"))?;
        for entry in batch.entries {
            writer.add(id, change, entry)?;
        }
        change_id = Some(change);
    }
    let Imported { mut warnings, mut duplicates, skipped, .. } = batch.imported;
    let (warning_count, duplicate_count) = (warnings.len(), duplicates.len());
    warnings.truncate(MAX_LISTED);
    duplicates.truncate(MAX_LISTED);
    Ok(Output {
        portfolio_id: id.to_owned(),
        added,
        total: writer.count(id)?,
        change_id,
        new_accounts,
        warnings,
        warning_count,
        duplicates,
        duplicate_count,
        skipped: skipped.into_iter().map(|(what, count)| Skipped { what, count }).collect(),
    })
}

fn reply(output: Output) -> Reply<Output> {
    let Output { added, total, warning_count, duplicate_count, .. } = output;
    let text = format!(
        "{added} transactions were added, {total} are stored; {warning_count} rows need review, {duplicate_count} were there already."
    );
    let table = output
        .warnings
        .iter()
        .fold(Table::new(["to review"]), |table, warning| table.row([warning]));
    let id = output.portfolio_id.clone();
    let reply = Reply::new(output, text, stored_evidence()).table(table);
    match total {
        0 => reply,
        _ => reply.next(NextAction::new(
            "validate_transactions",
            json!({"portfolio_id": id}),
            "check that the records are complete",
        )),
    }
}
