//! A sweep: importing 500 runs with their parameters, and the table of 1,000.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::queries::{Server, percentile};
use super::{generate, import, workload};
use crate::{Outcome, report, startup};

/// Runs of one import; there are two.
const RUNS: u64 = 500;
/// Events of a run: 72 MB of JSONL in 500 runs.
const EVENTS: u64 = 370;
const REPETITIONS: usize = 101;
const GOAL_IMPORT_SECONDS: f64 = 15.0;
const GOAL_TABLE_MILLIS: f64 = 5.0;

pub(crate) fn run() -> Outcome {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("home");
    report::heading("A sweep", &format!("runs of {EVENTS} events with two parameters"));
    for first in [0, RUNS] {
        let (logs, descriptions) = sweep(folder.path(), first)?;
        let before = import::children_cpu_seconds()?;
        let status = Command::new(startup::program()?)
            .args(["backtest", "import", "--run"])
            .arg(descriptions)
            .args(logs)
            .env("PANOPLY_HOME", &home)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        if !status.success() {
            return Err("the import failed".into());
        }
        let seconds = import::children_cpu_seconds()? - before;
        let name = format!("import and seal {RUNS} runs, CPU time");
        report::figure(&name, seconds, "s", Some(GOAL_IMPORT_SECONDS));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let times = runtime.block_on(table(&home))?;
    report::figure(
        "table of 1,000 runs, median",
        percentile(&times, 0.5),
        "ms",
        Some(GOAL_TABLE_MILLIS),
    );
    report::figure("… 95 of 100 within", percentile(&times, 0.95), "ms", None);
    Ok(())
}

/// The logs of a sweep, and the file that describes its runs.
fn sweep(folder: &Path, first: u64) -> Outcome<(Vec<PathBuf>, PathBuf)> {
    let (mut logs, mut descriptions) = (Vec::new(), Vec::new());
    for number in first..first + RUNS {
        let file = folder.join(format!("{number}.jsonl"));
        let facts = generate::write(&mut BufWriter::new(File::create_new(&file)?), number, EVENTS)?;
        logs.push(file);
        descriptions.push(json!({
            "runId": facts.run.to_string(),
            "strategyName": "sweep",
            "parameters": {"fast": number % 25, "slow": number / 25},
        }));
    }
    let file = folder.join(format!("{first}.json"));
    std::fs::write(&file, serde_json::to_vec(&descriptions)?)?;
    Ok((logs, file))
}

/// Milliseconds of questions that sort and filter all runs; each is another, so that none is cached.
async fn table(home: &Path) -> Outcome<Vec<f64>> {
    let server = Server::open(home)?;
    let mut times = Vec::new();
    for number in 0..REPETITIONS {
        let least = format!("-{number}");
        let question = json!({
            "query": "sweep", "sortBy": "profit", "descending": true,
            "filters": [{"name": "fast", "op": ">=", "value": least}],
        });
        let (reply, millis) = server.query("query_runs", question).await?;
        if workload::pointer(&reply, "/metadata/totalCount") != &Value::from(2 * RUNS) {
            return Err(format!("not all runs: {}", workload::pointer(&reply, "/metadata")).into());
        }
        times.push(millis);
    }
    Ok(times)
}
