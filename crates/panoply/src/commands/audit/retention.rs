//! `panoply audit seal`, `prune` and `export`.

use std::io::{self, Write as _};
use std::process::ExitCode;

use jiff::Timestamp;
use panoply_contract::audit::AuditView;
use panoply_contract::clock::Clock as _;
use panoply_store::SystemClock;
use panoply_store::audit_log::{self, ROWS_PER_SEGMENT, SealError, Segment};
use serde_json::{Value, json};

use super::required_log;
use crate::config::{Config, Span};
use crate::failure::Failure;
use crate::out::{BOLD, FAINT, Out, notice};

/// Runs `panoply audit seal`.
pub(super) fn seal(
    config: &Config,
    before: Option<Timestamp>,
    json: bool,
) -> Result<ExitCode, Failure> {
    let log = required_log(config)?;
    let now = SystemClock::new().now();
    let sealed =
        audit_log::seal(&log, before, ROWS_PER_SEGMENT, now).map_err(|error| failed(&error))?;
    print(&sealed, "Sealed", json)
}

/// Runs `panoply audit prune`.
pub(super) fn prune(
    config: &Config,
    keep: Option<Span>,
    before: Option<Timestamp>,
    json: bool,
) -> Result<ExitCode, Failure> {
    let log = required_log(config)?;
    let now = SystemClock::new().now();
    let Some(before) = before.or_else(|| keep.map(|Span(age)| now - age)) else {
        return Err(Failure::usage("no retention limit").hint("add --keep 400d or --before DATE"));
    };
    let pruned = audit_log::prune(&log, before, now).map_err(|error| failed(&error))?;
    print(&pruned, "Pruned", json)
}

/// Runs `panoply audit export`.
pub(super) fn export(config: &Config) -> Result<ExitCode, Failure> {
    let log = required_log(config)?;
    let mut output = io::BufWriter::new(io::stdout().lock());
    let exported = audit_log::export(&log, &AuditView::All, &mut output);
    let flushed = output.flush();
    let is_unread = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    match (exported, flushed) {
        (Err(SealError::Io { source, .. }), _) | (Ok(_), Err(source)) if is_unread(&source) => {
            Ok(ExitCode::SUCCESS)
        }
        (Err(error), _) => Err(failed(&error)),
        (Ok(_), Err(error)) => {
            Err(Failure::work(format!("cannot write to standard output: {error}")))
        }
        (Ok(pruned), Ok(())) => {
            for segment in pruned {
                notice(format_args!("rows {} to {} were pruned", segment.first, segment.last));
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn print(segments: &[Segment], done: &str, json: bool) -> Result<ExitCode, Failure> {
    let mut out = Out::new();
    if json {
        out.json(&segments.iter().map(as_json).collect::<Vec<_>>())?;
    } else if segments.is_empty() {
        out.line(format_args!("{done} nothing: no row is old enough."))?;
    } else {
        for segment in segments {
            let Segment { first, last, file, .. } = segment;
            out.line(format_args!(
                "{BOLD}{done}{BOLD:#} rows {first} to {last}  {FAINT}{file}{FAINT:#}"
            ))?;
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// A segment as JSON.
pub(super) fn as_json(segment: &Segment) -> Value {
    json!({
        "first": segment.first,
        "last": segment.last,
        "rows": segment.rows,
        "newest": segment.newest,
        "file": segment.file,
        "sha256": segment.sha256,
        "hash": segment.hash,
        "sealedAt": segment.sealed_at,
        "prunedAt": segment.pruned_at,
    })
}

fn failed(error: &SealError) -> Failure {
    let hint = match error {
        SealError::Broken(_) => "keep the log as evidence, and run `panoply audit verify`",
        SealError::Store(_) | SealError::Io { .. } | SealError::Row(_) => {
            "see that the disk has room and `panoply doctor`"
        }
    };
    Failure::work(error.to_string()).hint(hint)
}
