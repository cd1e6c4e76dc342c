//! `panoply backtest`: imports, exports, lists, completes and deletes runs.

pub(super) mod http_routes;
mod import;
mod priority;
mod report;
mod verify;

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use panoply_backtest::columns;
use panoply_backtest::error::LogError;
use panoply_backtest::event::Guid;
use panoply_backtest::ingest::{OpenRun, SealReport};
use panoply_backtest::query::cache::Cache;
use panoply_backtest::query::reader::SealedRun;
use panoply_backtest::run::{RunHeader, RunRecord, Status};
use panoply_backtest::sample;
use panoply_backtest::store::Store;
use panoply_backtest::timestamp::Timestamp;
use panoply_contract::operation::OperationSpec;
use panoply_contract::table::Table;
use panoply_contract::tenant::TenantId;
use panoply_store::Home;
use serde_json::{Value, json};

use super::{Session, operation};
use crate::cli::Backtest;
use crate::failure::Failure;
use crate::out::{Out, notice};
use crate::progress_bar::ProgressBar;
use crate::stores;

/// Operation of this command.
const fn change(name: &'static str, permissions: &'static [&'static str]) -> OperationSpec {
    OperationSpec { name, pack: "backtest", permissions, data: &["backtests"] }
}

const IMPORT: OperationSpec = change("backtest/import", &["backtests:import"]);
const SEAL: OperationSpec = change("backtest/seal", &["backtests:import"]);
const DELETE: OperationSpec = change("backtest/delete", &["backtests:delete"]);

pub(super) fn run(command: &Backtest, session: &Session) -> Result<ExitCode, Failure> {
    let store = store(session)?;
    match command {
        Backtest::Import(arguments) => {
            priority::lower();
            let files: Vec<String> =
                arguments.files.iter().map(|file| file.display().to_string()).collect();
            operation::run(session, &IMPORT, &json!({"files": files}), || {
                import::run(arguments, store).map(|done| ((), done))
            })?;
        }
        Backtest::Export { run, out: _, parquet: Some(folder) } => {
            export_parquet(run, folder, store.as_ref())?;
        }
        Backtest::Export { run, out, parquet: None } => {
            export(run, out.as_deref(), store.as_ref())?;
        }
        Backtest::Report(arguments) => report::run(arguments, store.as_ref())?,
        Backtest::List { json } => list(store.as_ref(), *json)?,
        Backtest::Seal { run } => {
            priority::lower();
            let id = known(run, store.as_ref())?;
            operation::run(session, &SEAL, &json!({"runId": id.to_string()}), || {
                seal(id, store).map(|report| ((), json!({"report": report})))
            })?;
        }
        Backtest::Verify { runs } => verify::run(runs, store.as_ref())?,
        Backtest::Delete { run } => {
            let id = known(run, store.as_ref())?;
            let named = json!({"runId": id.to_string()});
            operation::run(session, &DELETE, &named, || {
                store.delete(id).map_err(failed)?;
                Ok(((), json!({"deleted": true})))
            })?;
            notice(format_args!("deleted run {id}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn store(session: &Session) -> Result<Arc<dyn Store>, Failure> {
    let folder = session.home().folder.ok_or_else(|| {
        Failure::usage("there is no folder to keep runs in").hint("name one with --home")
    })?;
    Ok(stores::runs(&Home::at(folder), &TenantId::local())?.store)
}

fn print_run(out: &mut Out, id: Guid, report: &SealReport) -> Result<(), Failure> {
    out.line(format_args!(
        "run {id}: {} events, {} came twice, {} lines without an event, {} events with errors, {} with warnings",
        report.events, report.repeated, report.rejected, report.errors, report.warnings
    ))?;
    for rejection in report.rejected_lines.iter().take(20) {
        out.line(format_args!("  line {}: {}", rejection.line, rejection.reason))?;
    }
    Ok(())
}

fn export(run: &str, file: Option<&Path>, store: &dyn Store) -> Result<(), Failure> {
    let (id, store) = found(run, store)?;
    require_complete(id, store)?;
    let blobs = store.sealed(id).map_err(failed)?;
    let sealed = SealedRun::open_for_export(id, blobs, Cache::new(64 << 20)).map_err(failed)?;
    match file {
        None => {
            let mut out = Out::new();
            let mut broken = None;
            let done = sealed.export(|line| {
                out.line(line).map_err(|failure| {
                    broken = Some(failure);
                    LogError::Cancelled
                })
            });
            match (done, broken) {
                (_, Some(failure)) => Err(failure),
                (Err(error), None) => Err(failed(error)),
                (Ok(()), None) => out.finish(),
            }
        }
        Some(path) => {
            let file = File::create_new(path).map_err(|error| unread(path, &error))?;
            let mut out = BufWriter::new(file);
            sealed
                .export(|line| writeln!(out, "{line}").map_err(LogError::Source))
                .and_then(|()| out.flush().map_err(LogError::Source))
                .map_err(failed)
        }
    }
}

fn export_parquet(run: &str, folder: &Path, store: &dyn Store) -> Result<(), Failure> {
    let (id, store) = found(run, store)?;
    let sealed = sealed(id, store)?;
    let files = columns::write(&sealed, folder, &|| false)
        .map_err(|error| Failure::work(format!("`{}`: {error}", folder.display())))?;
    for file in files {
        notice(format_args!("wrote {}", file.display()));
    }
    Ok(())
}

fn list(store: &dyn Store, as_json: bool) -> Result<(), Failure> {
    let mut runs = store.runs().map_err(failed)?;
    // The bundled run can be queried like any other.
    let bundled = sample::store().runs().map_err(failed)?;
    let is_new = |own: &RunRecord| runs.iter().all(|run| run.id != own.id);
    let bundled: Vec<RunRecord> = bundled.into_iter().filter(is_new).collect();
    runs.extend(bundled);
    let mut out = Out::new();
    if as_json {
        let rows: Vec<Value> = runs
            .iter()
            .map(|run| {
                let (first, last) = span(run);
                json!({
                    "runId": run.id.to_string(), "status": run.status.as_str(),
                    "events": run.events, "startTime": first, "endTime": last,
                    "header": run.header,
                })
            })
            .collect();
        out.json(&rows)?;
        return out.finish();
    }
    let names = ["run", "status", "events", "from", "to", "strategy"];
    let table = runs.iter().fold(Table::new(names), |table, run| {
        let (first, last) = span(run);
        table.row([
            run.id.to_string(),
            run.status.as_str().to_owned(),
            run.events.to_string(),
            first.unwrap_or_default(),
            last.unwrap_or_default(),
            run.header.strategy_name.clone().unwrap_or_default(),
        ])
    });
    out.line(table.render(usize::MAX))?;
    out.finish()
}

/// Times of the first and last event; of an open run, the declared period.
fn span(run: &RunRecord) -> (Option<String>, Option<String>) {
    let (first, last) = run.span.unzip();
    let of = |time: Option<Timestamp>, declared: &Option<String>| {
        time.map(|time| time.to_string()).or_else(|| declared.clone())
    };
    (of(first, &run.header.start_time), of(last, &run.header.end_time))
}

fn seal(id: Guid, store: Arc<dyn Store>) -> Result<SealReport, Failure> {
    let open =
        OpenRun::open(store, id, RunHeader::default(), Timestamp::from_nanos(0)).map_err(failed)?;
    let mut bar = ProgressBar::new("sealing");
    let report = open.seal(&mut |done, total| bar.show(done, total), &|| false).map_err(failed)?;
    bar.clear();
    let mut out = Out::new();
    print_run(&mut out, id, &report)?;
    out.finish()?;
    Ok(report)
}

/// Opens a completed run.
fn sealed(id: Guid, store: &dyn Store) -> Result<SealedRun, Failure> {
    require_complete(id, store)?;
    let run = store.sealed(id).and_then(|blobs| SealedRun::open(id, blobs, Cache::new(64 << 20)));
    run.map_err(failed)
}

fn require_complete(id: Guid, store: &dyn Store) -> Result<(), Failure> {
    if store.run(id).map_err(failed)?.is_some_and(|record| record.status == Status::Running) {
        return Err(Failure::usage(format!("run `{id}` is still open"))
            .hint(format!("complete it with `panoply backtest seal {id}`")));
    }
    Ok(())
}

/// Finds a run in the user's store, else in the sample.
fn found<'a>(run: &str, store: &'a dyn Store) -> Result<(Guid, &'a dyn Store), Failure> {
    match Guid::parse(run) {
        Some(sample::ID) if store.run(sample::ID).map_err(failed)?.is_none() => {
            Ok((sample::ID, sample::store()))
        }
        _ => known(run, store).map(|id| (id, store)),
    }
}

fn known(run: &str, store: &dyn Store) -> Result<Guid, Failure> {
    let found = match Guid::parse(run) {
        Some(id) => store.run(id).map_err(failed)?.map(|record| record.id),
        None => None,
    };
    found.ok_or_else(|| {
        Failure::usage(format!("there is no run `{run}`")).hint("see `panoply backtest list`")
    })
}

fn failed(error: LogError) -> Failure {
    let failure = Failure::work(error.to_string());
    match error {
        LogError::WrongStatus { .. } => {
            failure.hint("delete it with `panoply backtest delete`, or import under another id")
        }
        LogError::OtherFormat { .. } => failure.hint(
            "save its lines with `panoply backtest export RUN --out FILE`, delete it with `panoply backtest delete RUN`, and import the file again",
        ),
        LogError::Damaged(_) | LogError::Checksum(_) | LogError::MissingBlob(_) => {
            failure.hint("restore a backup, or delete the run and import its source again")
        }
        _ => failure,
    }
}

fn unread(file: &Path, error: &io::Error) -> Failure {
    Failure::usage(format!("`{}`: {error}", file.display()))
}
