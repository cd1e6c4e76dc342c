//! `panoply audit`: shows the audit log, verifies its hash chain, and applies retention.

mod evidence;
mod retention;
mod server_log;

use std::path::PathBuf;
use std::process::ExitCode;

use panoply_contract::audit::{AuditEntry, AuditFilter, AuditRow, AuditView};
use panoply_contract::table::Table;
use panoply_store::Home;
use serde_json::{Value, json};

use super::{LogReader, Session, block_on, start_log};
use crate::cli::Audit;
use crate::config::Config;
use crate::failure::Failure;
use crate::out::Out;
use crate::stores;

pub(super) fn run(audit: &Audit, session: &Session) -> Result<ExitCode, Failure> {
    let config = session.config()?;
    match audit {
        Audit::Verify { noted, checkpoints, public_key, json } => {
            let claims = evidence::Claims::read(
                noted.as_deref(),
                checkpoints.as_deref(),
                public_key.as_deref(),
            )?;
            match stores::database::audit_server() {
                Some(server) => server_log::verify(&server, noted.as_deref(), *json),
                None => evidence::verify(&config, &claims, *json),
            }
        }
        Audit::Show { tool, errors, trace, limit, json } => {
            let filter = AuditFilter {
                tool: tool.clone(),
                trace_id: trace.clone(),
                view: AuditView::All,
                errors_only: *errors,
                before: None,
                limit: usize::from(*limit),
            };
            let _log = start_log(&config, LogReader::Person)?;
            show(&config, filter, *json)
        }
        Audit::Seal { before, json } => retention::seal(&config, *before, *json),
        Audit::Prune { keep, before, json } => retention::prune(&config, *keep, *before, *json),
        Audit::Export => retention::export(&config),
        Audit::Checkpoint { to, json } => evidence::checkpoint(&config, to.as_deref(), *json),
        Audit::PublicKey => evidence::public_key(&config),
    }
}

fn show(config: &Config, filter: AuditFilter, json: bool) -> Result<ExitCode, Failure> {
    let is_there = stores::is_server() || log_file(config).is_some();
    let rows = match is_there {
        true => {
            let log = stores::audit_log(&config.home.required()?);
            let log = log.map_err(|error| Failure::work(error.chain()))?;
            block_on(log.read(filter))?.map_err(|error| Failure::work(error.message))?
        }
        false => Vec::new(),
    };
    let mut out = Out::new();
    if json {
        out.json(&rows.iter().map(as_json).collect::<Vec<_>>())?;
    } else if rows.is_empty() {
        out.line("No matching call was recorded.")?;
    } else {
        let headings =
            Table::new(["#", "at", "tool", "status", "n", "ms", "caller", "address", "agent"]);
        let table = rows.iter().fold(headings, |table, AuditRow { sequence, entry }| {
            table.row([
                sequence.to_string(),
                entry.at.strftime("%Y-%m-%d %H:%M:%S").to_string(),
                entry.tool.to_string(),
                entry.error_code.clone().unwrap_or_else(|| "ok".to_owned()),
                entry.count.to_string(),
                entry.audit.latency_ms.to_string(),
                caller(entry),
                entry.provenance.address.map(|address| address.to_string()).unwrap_or_default(),
                entry.agent_id.clone(),
            ])
        });
        out.line(table.render(usize::MAX))?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Path of the log, if it exists: reading must not create it.
fn log_file(config: &Config) -> Option<PathBuf> {
    let file = Home::at(config.home.folder.as_ref()?).audit_log();
    // An inaccessible file counts as existing: opening it reports the error.
    (!matches!(file.try_exists(), Ok(false))).then_some(file)
}

/// Opens the log; fails if it does not exist.
fn required_log(config: &Config) -> Result<PathBuf, Failure> {
    log_file(config).ok_or_else(|| {
        Failure::work("there is no audit log yet: no call was recorded here")
            .hint("name another home with --home")
    })
}

/// Name of the caller, or of its key.
fn caller(entry: &AuditEntry) -> String {
    entry.provenance.credential.as_deref().unwrap_or(&entry.partition).to_owned()
}

pub(super) fn as_json(AuditRow { sequence, entry }: &AuditRow) -> Value {
    json!({
        "sequence": sequence,
        "at": entry.at.to_string(),
        "tool": entry.tool,
        "toolVersion": entry.tool_version,
        "caller": entry.partition,
        "agentId": entry.agent_id,
        "traceId": entry.trace_id,
        "address": entry.provenance.address,
        "credential": entry.provenance.credential.as_deref(),
        "count": entry.count,
        "errorCode": entry.error_code,
        "mutation": entry.mutation,
        "audit": entry.audit,
    })
}
