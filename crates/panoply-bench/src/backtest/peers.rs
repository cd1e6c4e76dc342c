//! The same queries on SQLite, DuckDB and polars (`peers/backtest.py`). Their answers must equal
//! ours; their times are the comparison.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::generate::Facts;
use super::workload::{self, pointer, text};
use crate::{Outcome, report};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/backtest.py");
/// The Python environment of `./test`.
const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/python/bin/python");

const PEERS: [&str; 3] = ["SQLite", "DuckDB", "polars"];

/// The named peers; without names all or none, depending on `all`.
pub(crate) fn selected(named: &[&str], all: bool) -> Outcome<Vec<&'static str>> {
    let known = |name: &&str| {
        let found = PEERS.iter().find(|peer| peer.eq_ignore_ascii_case(name));
        found.copied().ok_or_else(|| format!("`{name}` is none of {}", PEERS.join(", ")))
    };
    match named {
        [] if all => Ok(PEERS.to_vec()),
        ["none"] => Ok(Vec::new()),
        named => Ok(named.iter().map(known).collect::<Result<_, _>>()?),
    }
}

/// Measures the peers and prints the comparison. Fails if answers differ.
pub(crate) fn run(
    selected: &[&str],
    log: &Path,
    answered: &[Value],
    folder: &Path,
    facts: &Facts,
) -> Outcome {
    for peer in PEERS.iter().filter(|peer| !selected.contains(peer)) {
        report::remark(&format!("{peer} was not measured: name it after the number of events"));
    }
    if selected.is_empty() {
        return Ok(());
    }
    let queries: Vec<&Value> = answered.iter().map(|own| pointer(own, "/question")).collect();
    let file = folder.join("questions.json");
    std::fs::write(&file, serde_json::to_vec(&queries)?)?;
    let output = Command::new(python())
        .args([Path::new(SCRIPT), log, &file, folder])
        .args(selected)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err("the peers' script failed".into());
    }
    let peers: Value = serde_json::from_slice(&output.stdout)?;
    let mut differences = Vec::new();
    for (name, peer) in peers.as_object().ok_or("no peers")? {
        if let Some(missing) = pointer(peer, "/missing").as_str() {
            report::remark(&format!("{name} was not measured: {missing} ({HOW})"));
            continue;
        }
        report::heading(
            &format!("Beside {name}"),
            "milliseconds of theirs and ours, medians; ours go through the whole pipeline",
        );
        let loaded = pointer(peer, "/loaded");
        let rate =
            facts.events as f64 / pointer(loaded, "/cpuSeconds").as_f64().unwrap_or(f64::NAN);
        report::figure("load, per CPU second", rate, "events", None);
        let share = pointer(loaded, "/bytes").as_f64().unwrap_or(f64::NAN) / facts.bytes as f64;
        report::figure("size / JSONL", share, "×", None);
        for (own, theirs) in
            answered.iter().zip(pointer(peer, "/answers").as_array().ok_or("no answers")?)
        {
            let what = text(pointer(own, "/question"), "name");
            let (ours, their) = (pointer(own, "/median").as_f64(), pointer(theirs, "/ms").as_f64());
            if let (Some(ours), Some(their)) = (ours, their) {
                report::compared(what, ours, their, "ms");
            }
            if let Some(found) =
                workload::difference(pointer(own, "/answer"), pointer(theirs, "/answer"))
            {
                differences.push(format!("{name}, {what}: {found}"));
            }
        }
    }
    if differences.is_empty() {
        let names = selected.join(", ");
        report::remark(&format!("{names} give the same answers to all {} queries", queries.len()));
        Ok(())
    } else {
        Err(format!("answers differ (ours and theirs): {}", differences.join("; ")).into())
    }
}

const HOW: &str = "target/tools/python/bin/pip install duckdb polars";

/// The Python of `./test` if it exists; SQLite works with any Python.
fn python() -> PathBuf {
    let own = PathBuf::from(PYTHON);
    if own.exists() { own } else { PathBuf::from("python3") }
}
