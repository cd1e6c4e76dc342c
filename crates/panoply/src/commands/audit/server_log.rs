//! `panoply audit verify` for the log in a database server: all chains, and the checkpoints.

use std::process::ExitCode;

use panoply_store::audit_log::{ChainHash, Head};
use serde_json::json;

use crate::failure::Failure;
use crate::out::Out;
use crate::stores::database::AuditServer;

/// Verifies the log. `noted` is `NUMBER:HASH` of a checkpoint.
pub(super) fn verify(
    server: &AuditServer,
    noted: Option<&str>,
    json: bool,
) -> Result<ExitCode, Failure> {
    let noted = noted.map(parse).transpose()?;
    let found = server.verify(noted).map_err(|error| Failure::work(error.chain()))?;
    let mut out = Out::new();
    let last = found.last.map(|head| format!("{}:{}", head.sequence, head.hash));
    if json {
        let fault = found.fault.as_ref().map(|(place, fault)| {
            json!({"place": place.to_string(), "row": fault.sequence, "kind": fault.kind.as_str()})
        });
        out.json(&json!({
            "intact": found.fault.is_none(), "rows": found.rows, "chains": found.chains,
            "checkpoints": found.checkpoints, "checkpoint": last, "fault": fault,
        }))?;
    } else {
        out.line(format_args!(
            "{} rows in {} chains, {} checkpoints",
            found.rows, found.chains, found.checkpoints
        ))?;
        match &found.fault {
            Some((place, fault)) => out.line(format_args!("{place}: {fault}"))?,
            None => out.line("The log is intact. Note the next line on another machine:")?,
        }
        if let (Some(last), None) = (&last, &found.fault) {
            out.line(last)?;
        }
    }
    out.finish()?;
    Ok(if found.fault.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn parse(text: &str) -> Result<Head, Failure> {
    let parts = text.split_once(':');
    let head = parts.and_then(|(number, hash)| {
        Some(Head { sequence: number.parse().ok()?, hash: ChainHash::parse(hash)? })
    });
    head.ok_or_else(|| {
        Failure::usage(format!("`{text}` is not a checkpoint"))
            .hint("use the last line of an earlier `panoply audit verify`, such as 7:1f2e…")
    })
}
