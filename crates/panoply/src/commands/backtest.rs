//! `panoply backtest`: brings event logs in, gives them back, lists, completes and deletes runs.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use panoply_backtest::error::LogError;
use panoply_backtest::event::Guid;
use panoply_backtest::import::{Import, native};
use panoply_backtest::ingest::{OpenRun, SealReport};
use panoply_backtest::query::cache::Cache;
use panoply_backtest::query::reader::SealedRun;
use panoply_backtest::run::RunHeader;
use panoply_backtest::store::Store;
use panoply_backtest::timestamp::Timestamp;
use panoply_contract::table::Table;
use panoply_store::Home;
use serde_json::{Value, json};

use super::Session;
use crate::cli::{Backtest, BacktestImport};
use crate::failure::Failure;
use crate::out::{Out, say};
use crate::{packs, world};

/// Runs it.
pub(super) fn run(command: &Backtest, session: &Session) -> Result<ExitCode, Failure> {
    let store = store(session)?;
    match command {
        Backtest::Import(import) => bring(import, store)?,
        Backtest::Export { run, out } => export(run, out.as_deref(), store.as_ref())?,
        Backtest::List { json } => list(store.as_ref(), *json)?,
        Backtest::Seal { run } => seal(run, store)?,
        Backtest::Delete { run } => {
            let id = known(run, store.as_ref())?;
            store.delete(id).map_err(failed)?;
            say(format_args!("deleted run {id}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn store(session: &Session) -> Result<Arc<dyn Store>, Failure> {
    let folder = session.home().folder.ok_or_else(|| {
        Failure::usage("there is no folder to keep runs in").hint("name one with --home")
    })?;
    packs::backtest_store(Some(Home::at(folder).packs().join("backtest.db")))
}

fn bring(arguments: &BacktestImport, store: Arc<dyn Store>) -> Result<(), Failure> {
    let described: Option<Value> = match &arguments.run {
        None => None,
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| unread(file, &error))?;
            let json = serde_json::from_str(&text);
            Some(json.map_err(|error| {
                Failure::usage(format!("`{}` is not JSON: {error}", file.display()))
            })?)
        }
    };
    let run = match described.as_ref().and_then(|json| json.get("runId")).and_then(Value::as_str) {
        None => None,
        Some(id) => Some(
            Guid::parse(id)
                .ok_or_else(|| Failure::usage(format!("`runId` is `{id}`, not a GUID")))?,
        ),
    };
    let header: RunHeader = match described {
        None => RunHeader::default(),
        Some(json) => serde_json::from_value(json)
            .map_err(|error| Failure::usage(format!("the description of the run: {error}")))?,
    };
    let clock = world::clock();
    let now = i64::try_from(clock.now().as_nanosecond()).unwrap_or(i64::MAX);
    let monotonic = Arc::new(move || clock.monotonic());
    let mut import =
        Import::new(Arc::clone(&store), run, header, Timestamp::from_nanos(now), monotonic);
    for file in &arguments.files {
        let source = File::open(file).map_err(|error| unread(file, &error))?;
        let size = source.metadata().map_or(0, |metadata| metadata.len());
        let mut bar = Bar::new("reading");
        native::read(
            BufReader::with_capacity(1 << 20, source),
            &mut import,
            &mut |bytes| bar.show(bytes, size),
            &|| false,
        )
        .map_err(failed)?;
        bar.clear();
    }
    let acknowledged = import.acknowledge().map_err(failed)?;
    for (line, reason) in import.homeless() {
        say(format_args!("line {line}: {reason}"));
    }
    if arguments.open {
        for (id, events) in acknowledged {
            say(format_args!("run {id} is open with {events} events"));
        }
        return Ok(());
    }
    let mut bar = Bar::new("sealing");
    let sealed =
        import.seal(&mut |done, total| bar.show(done, total), &|| false).map_err(failed)?;
    bar.clear();
    let mut out = Out::new();
    for (id, report) in &sealed {
        if arguments.json {
            out.json(&json!({"runId": id.to_string(), "report": report}))?;
        } else {
            tell(&mut out, *id, report)?;
        }
    }
    out.finish()
}

fn tell(out: &mut Out, id: Guid, report: &SealReport) -> Result<(), Failure> {
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
    let id = known(run, store)?;
    let sealed =
        store.sealed(id).and_then(|blobs| SealedRun::open(id, blobs, Cache::new(64 << 20)));
    let sealed = sealed.map_err(failed)?;
    match file {
        None => {
            let mut out = Out::new();
            let mut broken = None;
            let done = sealed.export(|line| {
                out.line(line).map_err(|failure| {
                    broken = Some(failure);
                    LogError::Stopped
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

fn list(store: &dyn Store, as_json: bool) -> Result<(), Failure> {
    let runs = store.runs().map_err(failed)?;
    let mut out = Out::new();
    if as_json {
        let rows: Vec<Value> = runs
            .iter()
            .map(|run| json!({"runId": run.id.to_string(), "status": run.status.as_str(), "events": run.events, "header": run.header}))
            .collect();
        out.json(&rows)?;
        return out.finish();
    }
    if runs.is_empty() {
        out.line("There are no runs yet; bring one in with `panoply backtest import FILE`.")?;
        return out.finish();
    }
    let table =
        runs.iter().fold(Table::new(["run", "status", "events", "strategy"]), |table, run| {
            table.row([
                run.id.to_string(),
                run.status.as_str().to_owned(),
                run.events.to_string(),
                run.header.strategy_name.clone().unwrap_or_default(),
            ])
        });
    out.line(table.render(usize::MAX))?;
    out.finish()
}

fn seal(run: &str, store: Arc<dyn Store>) -> Result<(), Failure> {
    let id = known(run, store.as_ref())?;
    let open =
        OpenRun::open(store, id, RunHeader::default(), Timestamp::from_nanos(0)).map_err(failed)?;
    let mut bar = Bar::new("sealing");
    let report = open.seal(&mut |done, total| bar.show(done, total), &|| false).map_err(failed)?;
    bar.clear();
    let mut out = Out::new();
    tell(&mut out, id, &report)?;
    out.finish()
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
    Failure::work(error.to_string())
}

fn unread(file: &Path, error: &io::Error) -> Failure {
    Failure::usage(format!("`{}`: {error}", file.display()))
}

/// How far the work is, on a terminal.
struct Bar {
    what: &'static str,
    shown: bool,
    last: u64,
}

impl Bar {
    fn new(what: &'static str) -> Self {
        Self { what, shown: io::stderr().is_terminal(), last: u64::MAX }
    }

    fn show(&mut self, done: u64, total: u64) {
        let percent = (done * 100).checked_div(total).unwrap_or(100).min(100);
        if self.shown && percent != self.last {
            self.last = percent;
            let full = usize::try_from(percent / 5).unwrap_or_default();
            let _ = write!(io::stderr(), "\r{} [{:<20}] {percent} %", self.what, "=".repeat(full));
        }
    }

    fn clear(&self) {
        if self.shown {
            let _ = write!(io::stderr(), "\r{:60}\r", "");
        }
    }
}
