//! Benchmarks of the backtest pack: import, queries, and a hundred concurrent clients, compared
//! with SQLite, DuckDB and polars on the same events and queries.
//!
//! `panoply-bench backtest` uses a log of a million events; `panoply-bench backtest 10000000` one
//! of ten million, which needs 12 GB on disk. Above a million events only the peers named after
//! the number are measured, because loading SQLite takes most of an hour:
//! `panoply-bench backtest 10000000 DuckDB polars`.

mod clients;
mod generate;
mod grouped;
mod import;
mod peers;
pub(crate) mod queries;
pub(crate) mod sweep;
mod workload;

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use self::generate::Facts;
use crate::{Outcome, child, report};

/// Default number of events.
const EVENTS: u64 = 1_000_000;
/// Above this number only named peers are measured.
const MAX_EVENTS_FOR_ALL_PEERS: u64 = 1_000_000;
/// Events of the runs that are sealed during the load test.
const OTHER_EVENTS: u64 = 1_000_000;
const GOAL_PAGE_MILLIS: f64 = 5.0;
const GOAL_LAST_TO_FIRST: f64 = 2.0;
const GOAL_SNAPSHOT_MILLIS: f64 = 2.0;
const GOAL_QUERY_MEGABYTES: f64 = 200.0;

pub(crate) fn run(words: &[&str]) -> Outcome {
    let (events, named) = match words {
        [] => (EVENTS, words),
        [number, named @ ..] => {
            (number.parse().map_err(|_| format!("`{number}` is no number of events"))?, named)
        }
    };
    let peers = peers::selected(named, events <= MAX_EVENTS_FOR_ALL_PEERS)?;
    // Goals are doubled for ten times the events.
    let slack = if events > EVENTS { 2.0 } else { 1.0 };
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("home");
    report::heading("The backtest pack", &format!("{events} events of a made-up strategy"));
    let (log, facts) = log(folder.path(), "run", 42, events)?;
    report::remark(&format!("{} MB of JSONL", facts.bytes >> 20));
    import::run(&home, &log, &facts)?;
    let measured = query(folder.path(), &home, &facts)?;
    print(&measured, slack);
    let answered = workload::pointer(&measured, "/answered").as_array().ok_or("no answers")?;
    peers::run(&peers, &log, answered, folder.path(), &facts)?;
    std::fs::remove_file(&log)?;
    let others = [
        self::log(folder.path(), "other", 43, OTHER_EVENTS)?,
        self::log(folder.path(), "third", 44, OTHER_EVENTS)?,
    ];
    let others: Vec<(&Path, &Facts)> =
        others.iter().map(|(file, facts)| (file.as_path(), facts)).collect();
    clients::run(&home, &facts, &others, slack)
}

/// Runs in the child process of [`query`].
pub(crate) fn measure_questions(home: &str, queries: &str) -> Outcome {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let measured = runtime.block_on(queries::measure(Path::new(home), Path::new(queries)))?;
    std::io::stdout().lock().write_all(&serde_json::to_vec(&measured)?)?;
    Ok(())
}

fn log(folder: &Path, name: &str, seed: u64, events: u64) -> Outcome<(PathBuf, Facts)> {
    let file = folder.join(format!("{name}.jsonl"));
    let mut out = BufWriter::with_capacity(1 << 20, File::create_new(&file)?);
    let facts = generate::write(&mut out, seed, events)?;
    out.flush()?;
    Ok((file, facts))
}

/// Measures queries in a child process.
fn query(folder: &Path, home: &Path, facts: &Facts) -> Outcome<Value> {
    let file = folder.join("asked.json");
    std::fs::write(&file, serde_json::to_vec(&workload::all(facts))?)?;
    let path = |path: &Path| path.to_string_lossy().into_owned();
    let mut child = child::spawn(&["backtest", &path(home), &path(&file)])?;
    let mut said = Vec::new();
    BufReader::new(child.stdout.take().ok_or("no output")?).read_to_end(&mut said)?;
    if !child.wait()?.success() {
        return Err("asking the run failed".into());
    }
    Ok(serde_json::from_slice(&said)?)
}

fn print(measured: &Value, slack: f64) {
    report::heading(
        "Asking the sealed run",
        "medians, through the whole pipeline and encoded; no reply is cached",
    );
    let number =
        |pointer: &str| measured.pointer(pointer).and_then(Value::as_f64).unwrap_or(f64::NAN);
    let answered =
        workload::pointer(measured, "/answered").as_array().map(Vec::as_slice).unwrap_or_default();
    let median = |own: &Value| workload::pointer(own, "/median").as_f64().unwrap_or(f64::NAN);
    for own in answered {
        let question = workload::pointer(own, "/question");
        let goal = workload::pointer(question, "/goal").as_f64().map(|goal| goal * slack);
        report::figure(workload::text(question, "name"), median(own), "ms", goal);
        // A search is cached for its next page, so the first call shows its cost.
        if workload::text(question, "kind") == "incomplete" {
            let first = workload::pointer(own, "/first").as_f64().unwrap_or(f64::NAN);
            report::figure("… first call", first, "ms", goal);
        }
    }
    for pair in answered.windows(2) {
        let [first, last] = pair else { continue };
        let (a, b) = (workload::pointer(first, "/question"), workload::pointer(last, "/question"));
        if let Some(what) = workload::text(b, "name").strip_suffix(", last page")
            && workload::text(a, "name").ends_with("first page")
        {
            let name = format!("{what}, last page / first page");
            report::figure(&name, median(last) / median(first), "×", Some(GOAL_LAST_TO_FIRST));
        }
    }
    report::figure("2000 pages by chance, median", number("/pages/median"), "ms", None);
    report::figure(
        "… 99 of 100 within",
        number("/pages/p99"),
        "ms",
        Some(GOAL_PAGE_MILLIS * slack),
    );
    report::figure("… processor time each", number("/pages/processor"), "ms", None);
    report::figure("500 snapshots by chance, median", number("/moments/median"), "ms", None);
    report::figure(
        "… 99 of 100 within",
        number("/moments/p99"),
        "ms",
        Some(GOAL_SNAPSHOT_MILLIS * slack),
    );
    report::figure(
        "resident memory while asking, at most",
        number("/megabytes"),
        "MB",
        Some(GOAL_QUERY_MEGABYTES),
    );
}
