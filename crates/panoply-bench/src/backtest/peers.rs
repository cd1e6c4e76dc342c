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

/// The environment that is made if that of `./test` does not exist.
const OWN_PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/bench-python");
/// The versions of `./test`.
const REQUIREMENTS: &str = include_str!("../../../../tests/outside/requirements.txt");

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
    let output = Command::new(python()?)
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
            return Err(format!("{name} is not installed: {missing}").into());
        }
        report::heading(
            &format!("Beside {name}"),
            "milliseconds of processor time of a query, theirs and ours; ours go through the whole pipeline",
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
            let of = |value: &Value, name: &str| pointer(value, name).as_f64().unwrap_or(f64::NAN);
            report::ahead(what, of(own, "/processor"), of(theirs, "/cpuMs"), "ms");
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

/// The Python with DuckDB and polars: that of `./test`, or one that is made here.
fn python() -> Outcome<PathBuf> {
    let made = PathBuf::from(OWN_PYTHON);
    for python in [PathBuf::from(PYTHON), made.join("bin/python")] {
        let has_peers = Command::new(&python).args(["-c", "import duckdb, polars"]).output();
        if has_peers.is_ok_and(|done| done.status.success()) {
            return Ok(python);
        }
    }
    let run = |program: &Path, arguments: &[&str]| -> Outcome {
        let status = Command::new(program).args(arguments).stdout(Stdio::null()).status()?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("`{}` failed", program.display()).into())
        }
    };
    run(Path::new("python3"), &["-m", "venv", OWN_PYTHON])?;
    let python = made.join("bin/python");
    let mut install = vec!["-m", "pip", "install", "--quiet"];
    let wanted: Vec<&str> = REQUIREMENTS
        .lines()
        .filter(|line| line.starts_with("duckdb==") || line.starts_with("polars=="))
        .collect();
    install.extend(wanted);
    run(&python, &install)?;
    Ok(python)
}
