//! `panoply cgt portfolio`: stored portfolios on the command line.
//!
//! Changes go through the tools, so that they are audited and can be undone. `show` reads the store
//! itself and prints every transaction.

use std::io::{BufWriter, ErrorKind, Write as _};
use std::path::Path;
use std::process::ExitCode;

use panoply_cgt::portfolio::Entry;
use panoply_cgt::tools::find_portfolio;
use panoply_contract::tenant::TenantId;
use serde_json::{Map, Value, json};

use super::{Session, call, refused, text_of};
use crate::cli::{CgtAccount, CgtPortfolio, CgtPortfolioAdd, CgtPortfolioImport, CgtReconcile};
use crate::failure::Failure;
use crate::stores;

/// Lines of one change. Longer files become several, below the limit on the size of a call.
const LINES_PER_CHANGE: usize = 20_000;

pub(super) fn run(command: &CgtPortfolio, session: &Session) -> Result<ExitCode, Failure> {
    match command {
        CgtPortfolio::List { json } => call::run_with(session, "list_portfolios", json!({}), *json),
        CgtPortfolio::Create { name, json } => {
            call::run_with(session, "create_portfolio", json!({"name": name}), *json)
        }
        CgtPortfolio::Show { portfolio, json } => show(portfolio, *json, session),
        CgtPortfolio::Add(add) => run_add(add, session),
        CgtPortfolio::Import(import) => run_import(import, session),
        CgtPortfolio::Reconcile(reconcile) => run_reconcile(reconcile, session),
        CgtPortfolio::Undo { portfolio, change, json } => {
            let mut input = Map::new();
            input.insert("portfolio_id".to_owned(), id_of(portfolio, session)?.into());
            if let Some(change) = change {
                input.insert("change_id".to_owned(), (*change).into());
            }
            call::run_with(session, "undo_portfolio_change", input.into(), *json)
        }
        CgtPortfolio::Delete { portfolio, yes: false, .. } => {
            Err(Failure::usage(format!("`{portfolio}` would be deleted with everything in it"))
                .hint("confirm with --yes"))
        }
        CgtPortfolio::Delete { portfolio, json, .. } => {
            let input = json!({"portfolio_id": id_of(portfolio, session)?});
            call::run_with(session, "delete_portfolio", input, *json)
        }
    }
}

/// Id of a portfolio, named by its id or name.
pub(super) fn id_of(portfolio: &str, session: &Session) -> Result<String, Failure> {
    let store = stores::portfolios(&session.required_home()?, &TenantId::local());
    find_portfolio(store.as_ref(), portfolio).map_err(refused)
}

fn show(portfolio: &str, json: bool, session: &Session) -> Result<ExitCode, Failure> {
    let store = stores::portfolios(&session.required_home()?, &TenantId::local());
    let id = find_portfolio(store.as_ref(), portfolio).map_err(refused)?;
    let loaded = store.load(&id).map_err(|error| refused(error.into()))?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let written = loaded.entries.iter().try_for_each(|entry| match json {
        true => writeln!(out, "{}", as_json(entry, loaded.wrapper(&entry.account).as_str())),
        false => writeln!(out, "{}", entry.line),
    });
    match written.and_then(|()| out.flush()) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        // The reader, such as `head`, has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(Failure::work(format!("cannot write: {error}"))),
    }
}

fn as_json(entry: &Entry, wrapper: &str) -> Value {
    json!({
        "id": entry.id,
        "transaction": entry.line,
        "account": entry.account,
        "wrapper": wrapper,
        "file": entry.provenance.file,
        "line": entry.provenance.line,
        "broker": entry.provenance.broker,
        "broker_id": entry.provenance.broker_id,
        "isin": entry.provenance.isin,
    })
}

/// Arguments of `add_transactions`.
fn adding(
    portfolio: &str,
    account: &CgtAccount,
    session: &Session,
) -> Result<Map<String, Value>, Failure> {
    let mut input =
        Map::from_iter([("portfolio_id".to_owned(), id_of(portfolio, session)?.into())]);
    for (name, given) in [("account", &account.account), ("wrapper", &account.wrapper)] {
        if let Some(given) = given {
            input.insert(name.to_owned(), given.clone().into());
        }
    }
    Ok(input)
}

fn run_add(add: &CgtPortfolioAdd, session: &Session) -> Result<ExitCode, Failure> {
    let input = adding(&add.portfolio, &add.account, session)?;
    let mut inputs = Vec::new();
    for path in &add.files {
        inputs.extend(parts(&text_of(path)?).into_iter().map(|part| {
            let mut input = input.clone();
            input.insert("cgt_content".to_owned(), part.into());
            Value::Object(input)
        }));
    }
    let mut status = ExitCode::SUCCESS;
    for reply in call::answers(&session.config()?, "add_transactions", inputs)? {
        status = call::show(&reply, add.json, false)?;
    }
    Ok(status)
}

/// A text of the transaction language in parts; JSON stays whole.
fn parts(text: &str) -> Vec<String> {
    let is_json = text.trim_start().starts_with(['[', '{']);
    let lines: Vec<&str> = text.lines().collect();
    if is_json || lines.len() <= LINES_PER_CHANGE {
        return vec![text.to_owned()];
    }
    lines.chunks(LINES_PER_CHANGE).map(|part| part.join("\n")).collect()
}

fn run_import(import: &CgtPortfolioImport, session: &Session) -> Result<ExitCode, Failure> {
    let mut input = adding(&import.portfolio, &import.account, session)?;
    let mut files = Vec::new();
    for path in &import.files {
        let mut file = Map::new();
        file.insert("name".to_owned(), file_name(path).into());
        file.insert("content".to_owned(), text_of(path)?.into());
        if let Some(broker) = &import.broker {
            file.insert("broker".to_owned(), broker.clone().into());
        }
        files.push(Value::Object(file));
    }
    input.insert("files".to_owned(), files.into());
    let rates = if import.hmrc_rates { "hmrc" } else { "broker" };
    input.insert("rates".to_owned(), rates.into());
    call::run_with(session, "add_transactions", input.into(), import.json)
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into())
}

fn run_reconcile(reconcile: &CgtReconcile, session: &Session) -> Result<ExitCode, Failure> {
    let text = text_of(&reconcile.statement)?;
    let mut stated = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let fields: Vec<&str> =
            line.split(',').map(|field| field.trim().trim_matches('"')).collect();
        let [ticker, shares, ..] = fields.as_slice() else {
            if line.trim().is_empty() {
                continue;
            }
            return Err(Failure::usage(format!("line {number} of the statement is `{line}`"))
                .hint("write ticker and number of shares with a comma: `VOD,1200`"));
        };
        // A first line without a number is the heading.
        let is_number = shares.bytes().any(|byte| byte.is_ascii_digit());
        if is_number || number > 1 {
            stated.push(json!({"ticker": ticker, "quantity": shares}));
        }
    }
    let mut input = Map::new();
    input.insert("portfolio_id".to_owned(), id_of(&reconcile.portfolio, session)?.into());
    input.insert("stated".to_owned(), stated.into());
    for (name, given) in [("date", &reconcile.date), ("account", &reconcile.account)] {
        if let Some(given) = given {
            input.insert(name.to_owned(), given.clone().into());
        }
    }
    call::run_with(session, "reconcile_holdings", input.into(), reconcile.json)
}
