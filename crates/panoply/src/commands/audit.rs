//! `panoply audit`: looks at the log of all calls and proves that nobody has changed it.

use std::path::PathBuf;
use std::process::ExitCode;

use panoply_contract::audit::{AuditFilter, AuditLog as _, AuditRow};
use panoply_contract::table::Table;
use panoply_store::audit_log::{self, ChainHash, Head};
use panoply_store::{Home, SqliteAuditLog};
use serde_json::{Value, json};

use super::{LogReader, Session, block_on, start_log};
use crate::cli::Audit;
use crate::config::Config;
use crate::failure::Failure;
use crate::out::{BAD, FAINT, GOOD, Out};

/// Runs it.
pub(super) fn run(audit: &Audit, session: &Session) -> Result<ExitCode, Failure> {
    let config = session.config()?;
    match audit {
        Audit::Verify { noted, json } => {
            verify(&config, noted.as_deref().map(head).transpose()?, *json)
        }
        Audit::Show { tool, errors, trace, limit, json } => {
            let filter = AuditFilter {
                tool: tool.clone(),
                trace_id: trace.clone(),
                partition: None,
                errors_only: *errors,
                before: None,
                limit: usize::from(*limit),
            };
            let _log = start_log(&config, LogReader::Person)?;
            show(&config, filter, *json)
        }
    }
}

fn verify(config: &Config, noted: Option<Head>, json: bool) -> Result<ExitCode, Failure> {
    let mut out = Out::new();
    let Some(file) = log_file(config) else {
        if let Some(noted) = noted {
            // A head was noted, so there was a log: its removal is what the note is for.
            let what = format!("row {} was removed: the whole log is gone", noted.sequence);
            if json {
                let fault = json!({"row": 1, "kind": "missing", "message": what});
                out.json(&json!({"intact": false, "rows": 0, "head": null, "fault": fault}))?;
            } else {
                out.line(format_args!("{BAD}broken{BAD:#}  {what}"))?;
            }
            out.finish()?;
            return Ok(ExitCode::FAILURE);
        }
        if json {
            out.json(&json!({"intact": true, "rows": 0, "head": null, "fault": null}))?;
        } else {
            out.line("There is no audit log yet: no call was recorded here.")?;
        }
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    };
    let found = audit_log::verify(&file, noted).map_err(|error| Failure::work(error.chain()))?;
    let head = found.head.map(|head| format!("{}:{}", head.sequence, head.hash));
    if json {
        let fault = found.fault.map(|fault| {
            json!({"row": fault.sequence, "kind": fault.kind.as_str(), "message": fault.to_string()})
        });
        out.json(
            &json!({"intact": found.is_intact(), "rows": found.rows, "head": head, "fault": fault}),
        )?;
    } else if let Some(fault) = found.fault {
        out.line(format_args!("{BAD}broken{BAD:#}  {fault}"))?;
        out.line(format_args!("        {} rows before it are as they were written", found.rows))?;
    } else {
        out.line(format_args!(
            "{GOOD}intact{GOOD:#}  {} rows are as they were written",
            found.rows
        ))?;
        if let Some(head) = head {
            out.line(format_args!("        {head}"))?;
            out.line(format_args!(
                "{FAINT}Note this line somewhere else, and give it to the next `audit verify --noted`: then\n\
                 nobody who can write the file can rewrite what came before it unseen.{FAINT:#}"
            ))?;
        }
    }
    out.finish()?;
    Ok(if found.is_intact() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn show(config: &Config, filter: AuditFilter, json: bool) -> Result<ExitCode, Failure> {
    let rows = match log_file(config) {
        Some(file) => {
            let log = SqliteAuditLog::open(&file).map_err(|error| Failure::work(error.chain()))?;
            block_on(log.read(filter))?.map_err(|error| Failure::work(error.message))?
        }
        None => Vec::new(),
    };
    let mut out = Out::new();
    if json {
        out.json(&rows.iter().map(as_json).collect::<Vec<_>>())?;
    } else if rows.is_empty() {
        out.line("No call like that was recorded.")?;
    } else {
        let headings = Table::new(["#", "at", "tool", "status", "ms", "caller", "agent"]);
        let table = rows.iter().fold(headings, |table, AuditRow { sequence, entry }| {
            table.row([
                sequence.to_string(),
                entry.at.strftime("%Y-%m-%d %H:%M:%S").to_string(),
                entry.tool.clone(),
                entry.error_code.clone().unwrap_or_else(|| "ok".to_owned()),
                entry.audit.latency_ms.to_string(),
                entry.partition.clone(),
                entry.agent_id.clone(),
            ])
        });
        out.line(table.render(usize::MAX))?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// The log, if there is one: looking must not create it.
fn log_file(config: &Config) -> Option<PathBuf> {
    let file = Home::at(config.home.folder.as_ref()?).audit_log();
    // A file that may not be looked at counts: opening it says what is wrong.
    (!matches!(file.try_exists(), Ok(false))).then_some(file)
}

/// Reads `12:0a1b…` back, as `verify` prints it.
fn head(text: &str) -> Result<Head, Failure> {
    let parsed = text.trim().split_once(':').and_then(|(sequence, hash)| {
        Some(Head { sequence: sequence.parse().ok()?, hash: ChainHash::parse(hash)? })
    });
    parsed.ok_or_else(|| {
        Failure::usage(format!("`{text}` is not a noted head"))
            .hint("give the line that `panoply audit verify` printed, such as 12:9f86d081…")
    })
}

fn as_json(AuditRow { sequence, entry }: &AuditRow) -> Value {
    json!({
        "sequence": sequence,
        "at": entry.at.to_string(),
        "tool": entry.tool,
        "toolVersion": entry.tool_version,
        "caller": entry.partition,
        "agentId": entry.agent_id,
        "traceId": entry.trace_id,
        "errorCode": entry.error_code,
        "mutation": entry.mutation,
        "audit": entry.audit,
    })
}
