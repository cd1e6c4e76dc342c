//! `panoply audit verify`, `checkpoint` and `public-key`.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use panoply_store::Home;
use panoply_store::audit_log::{self, ChainHash, Head, PublicKey, Verification};
use serde_json::{Value, json};

use super::{log_file, required_log, retention};
use crate::checkpoints::{self, Checkpointer, Sink};
use crate::config::Config;
use crate::failure::Failure;
use crate::out::{BAD, FAINT, GOOD, Out};

/// Attempts to send a checkpoint.
const ATTEMPTS: u32 = 4;

/// External evidence about the log.
#[derive(Default)]
pub(super) struct Claims {
    heads: Vec<Head>,
    checkpoints: usize,
    /// Failure of the checkpoints.
    fault: Option<String>,
}

impl Claims {
    /// Reads a noted head and a file of checkpoints.
    pub(super) fn read(
        noted: Option<&str>,
        checkpoints: Option<&Path>,
        public_key: Option<&str>,
    ) -> Result<Self, Failure> {
        let mut claims = Self::default();
        claims.heads.extend(noted.map(head).transpose()?);
        let (Some(file), Some(key)) = (checkpoints, public_key) else { return Ok(claims) };
        let key = PublicKey::parse(key).map_err(|error| {
            Failure::usage(error.to_string())
                .hint("give the line that `panoply audit public-key` printed")
        })?;
        let notes = fs::read_to_string(file)
            .map_err(|error| Failure::work(format!("cannot read `{}`: {error}", file.display())))?;
        match audit_log::read_checkpoints(&notes, &key) {
            Ok(read) if read.is_empty() => {
                claims.fault = Some(format!("`{}` holds no checkpoint", file.display()));
            }
            Ok(read) => {
                claims.checkpoints = read.len();
                claims.heads.extend(read.into_iter().map(|checkpoint| checkpoint.head));
            }
            Err(bad) => claims.fault = Some(bad.to_string()),
        }
        Ok(claims)
    }

    fn latest(&self) -> Option<u64> {
        self.heads.iter().map(|head| head.sequence).max()
    }
}

/// Runs `panoply audit verify`.
pub(super) fn verify(config: &Config, claims: &Claims, json: bool) -> Result<ExitCode, Failure> {
    if let Some(fault) = &claims.fault {
        return broken_without_rows("checkpoint", fault, json);
    }
    let Some(file) = log_file(config) else {
        if let Some(row) = claims.latest() {
            // A noted head without a log means that the log was removed.
            let what = format!("row {row} was removed: the whole log is gone");
            return broken_without_rows("missing", &what, json);
        }
        let mut out = Out::new();
        if json {
            out.json(&json!({"intact": true, "rows": 0, "head": null, "fault": null}))?;
        } else {
            out.line("There is no audit log yet: no call was recorded here.")?;
        }
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    };
    let found = audit_log::verify_against(&file, &claims.heads)
        .map_err(|error| Failure::work(error.chain()))?;
    let mut out = Out::new();
    if json {
        out.json(&as_json(&found, claims))?;
    } else {
        print(&found, claims, &mut out)?;
    }
    out.finish()?;
    Ok(if found.is_intact() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn broken_without_rows(kind: &str, what: &str, json: bool) -> Result<ExitCode, Failure> {
    let mut out = Out::new();
    if json {
        let fault = json!({"row": 1, "kind": kind, "message": what});
        out.json(&json!({"intact": false, "rows": 0, "head": null, "fault": fault}))?;
    } else {
        out.line(format_args!("{BAD}broken{BAD:#}  {what}"))?;
    }
    out.finish()?;
    Ok(ExitCode::FAILURE)
}

fn as_json(found: &Verification, claims: &Claims) -> Value {
    let fault = found.fault.map(|fault| {
        json!({
            "row": fault.sequence,
            "kind": fault.kind.as_str(),
            "file": found.fault_file,
            "message": fault.to_string(),
        })
    });
    json!({
        "intact": found.is_intact(),
        "rows": found.rows,
        "head": found.head.map(|head| format!("{}:{}", head.sequence, head.hash)),
        "fault": fault,
        "segments": found.segments.iter().map(retention::as_json).collect::<Vec<_>>(),
        "checkpoints": claims.checkpoints,
        "inPrunedSegments": found.unchecked,
    })
}

fn print(found: &Verification, claims: &Claims, out: &mut Out) -> Result<(), Failure> {
    if let Some(fault) = found.fault {
        out.line(format_args!("{BAD}broken{BAD:#}  {fault}"))?;
        if let Some(file) = &found.fault_file {
            out.line(format_args!("        in {file}"))?;
        }
        out.line(format_args!("        {} rows before it are unchanged", found.rows))?;
        return Ok(());
    }
    out.line(format_args!("{GOOD}intact{GOOD:#}  {} rows are unchanged", found.rows))?;
    for segment in found.segments.iter().filter(|segment| segment.pruned_at.is_some()) {
        let (first, last) = (segment.first, segment.last);
        let when = segment.pruned_at.as_deref().unwrap_or_default();
        out.line(format_args!("        rows {first} to {last} were pruned on {when}"))?;
    }
    if claims.checkpoints > 0 {
        let (all, unchecked) = (claims.checkpoints, found.unchecked);
        out.line(format_args!(
            "        {all} checkpoints are signed and agree; {unchecked} of them are of pruned rows"
        ))?;
    }
    if let Some(Head { sequence, hash }) = found.head {
        out.line(format_args!("        {sequence}:{hash}"))?;
        out.line(format_args!(
            "{FAINT}Store this line elsewhere and pass it to the next `audit verify --noted`, which then\n\
             detects a rewrite of earlier rows.{FAINT:#}"
        ))?;
    }
    Ok(())
}

/// Runs `panoply audit checkpoint`.
pub(super) fn checkpoint(
    config: &Config,
    to: Option<&str>,
    json: bool,
) -> Result<ExitCode, Failure> {
    let home = config.home.required()?;
    required_log(config)?;
    let sink = match (to, &config.audit.checkpoint_to) {
        // A path argument is relative to the working directory.
        (Some(to), _) => {
            let here = std::path::absolute(".").unwrap_or_default();
            Sink::parse(to, &here)
        }
        (None, Some(to)) => Sink::parse(to, home.folder()),
        (None, None) => {
            return Err(Failure::usage("no destination for the checkpoint")
                .hint("add --to FILE or --to URL, or set `checkpoint_to` in `[audit]`"));
        }
    };
    let key = signing_key(config, &home)?;
    let mut checkpointer = Checkpointer::new(home, key, sink);
    let Some(head) = checkpointer.head().map_err(Failure::work)? else {
        return Err(Failure::work("the audit log is empty: there is nothing to sign"));
    };
    checkpointer.send(head, ATTEMPTS).map_err(Failure::work)?;
    let mut out = Out::new();
    if json {
        out.json(&json!({"sequence": head.sequence, "hash": head.hash}))?;
    } else {
        out.line(format_args!("Signed row {}: {}", head.sequence, head.hash))?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Runs `panoply audit public-key`.
pub(super) fn public_key(config: &Config) -> Result<ExitCode, Failure> {
    let key = signing_key(config, &config.home.required()?)?;
    let mut out = Out::new();
    out.line(key.public())?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn signing_key(config: &Config, home: &Home) -> Result<audit_log::SigningKey, Failure> {
    checkpoints::signing_key(home, &config.audit).map_err(|error| {
        Failure::work(format!("the signing key cannot be used: {error}"))
            .hint("see `signing_key` in `[audit]` of the settings, or restore the key")
    })
}

/// Parses `12:0a1b…`, as `verify` prints it.
fn head(text: &str) -> Result<Head, Failure> {
    let parsed = text.trim().split_once(':').and_then(|(sequence, hash)| {
        Some(Head { sequence: sequence.parse().ok()?, hash: ChainHash::parse(hash)? })
    });
    parsed.ok_or_else(|| {
        Failure::usage(format!("`{text}` is not a noted head"))
            .hint("give the line that `panoply audit verify` printed, such as 12:9f86d081…")
    })
}
