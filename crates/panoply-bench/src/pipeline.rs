//! Overhead of the pipeline around an empty handler, in microseconds per call.

use std::io::Write;
use std::time::Duration;

use panoply_contract::clock::Clock;
use panoply_store::SystemClock;
use serde_json::json;

use crate::servers::{self, Instrumentation};
use crate::{Outcome, child, echo, report};

const BATCHES: usize = 400;
const CALLS: usize = 200;
/// Pause between batches, in which the queues of log and audit log drain.
const PAUSE: Duration = Duration::from_millis(5);

/// Configurations of the pipeline, with the goal in microseconds.
const VARIANTS: [(&str, &str, Option<f64>); 6] = [
    ("plain", "pipeline, no audit log, no log", None),
    ("audited", "pipeline, audit log in SQLite, no log", Some(10.0)),
    ("logged", "pipeline, audit log and log (production)", Some(20.0)),
    ("hit", "cache hit, no audit log, no log", None),
    ("hit-audited", "cache hit, audit log in SQLite, no log", Some(5.0)),
    ("hit-logged", "cache hit, audit log and log (production)", None),
];

pub(crate) fn run() -> Outcome {
    report::heading(
        "Pipeline around an empty handler",
        &format!("median of {BATCHES} batches of {CALLS} calls, one at a time"),
    );
    for (variant, name, goal) in VARIANTS {
        let (batches, calls) = (BATCHES.to_string(), CALLS.to_string());
        let output = child::spawn(&["pipeline", variant, &batches, &calls])?.wait_with_output()?;
        let micros: Vec<f64> = serde_json::from_slice(&output.stdout)?;
        report::figure(name, report::median(micros), "µs", goal);
    }
    Ok(())
}

/// In a child process: prints the microseconds per call of each batch.
pub(crate) fn measure(variant: &str, batches: usize, calls: usize) -> Outcome {
    let instrumentation = Instrumentation {
        audit: variant.ends_with("audited") || variant.ends_with("logged"),
        log: variant.ends_with("logged"),
    };
    let tool = if variant.starts_with("hit") { echo::CACHED_NAME } else { echo::NAME };
    let home = tempfile::tempdir()?;
    let (kernel, _log) = servers::kernel(instrumentation, home.path())?;
    let input = json!({"text": "hello"});
    let clock = SystemClock::new();
    let measured = child::on_one_thread(async {
        let mut micros = Vec::with_capacity(batches);
        for _ in 0..batches {
            let start = clock.monotonic();
            for _ in 0..calls {
                child::call(&kernel, tool, &input).await?;
            }
            let passed = clock.monotonic().saturating_sub(start);
            micros.push(passed.as_secs_f64() * 1e6 / count(calls));
            std::thread::sleep(PAUSE);
        }
        Outcome::Ok(micros)
    })??;
    // The first batches warm up caches and allocator.
    let steady = measured.get(batches / 10..).unwrap_or_default();
    std::io::stdout().lock().write_all(&serde_json::to_vec(steady)?)?;
    Ok(())
}

fn count(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::NAN, f64::from)
}
