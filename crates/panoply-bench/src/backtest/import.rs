//! Cost of `panoply backtest import`, from a file to a sealed run.
//!
//! CPU time is reported instead of wall-clock time, which depends on the machine's load.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use panoply_contract::clock::Clock;
use panoply_store::SystemClock;

use super::generate::Facts;
use crate::{Outcome, report, startup};

const GOAL_EVENTS_PER_SECOND: f64 = 150_000.0;
const GOAL_SHARE: f64 = 0.25;
const GOAL_MEGABYTES: f64 = 1536.0;
/// Polling interval for the child's memory.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Resolution of CPU times in proc(5).
const CLOCK_TICKS_PER_SECOND: f64 = 100.0;

/// Imports and seals a log, and prints the cost.
pub(crate) fn run(home: &Path, log: &Path, facts: &Facts) -> Outcome {
    let clock = SystemClock::new();
    let (start, before) = (clock.monotonic(), children_cpu_seconds()?);
    let mut child = import(home, log)?;
    let mut peak: f64 = 0.0;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        peak = peak.max(peak_megabytes(child.id()).unwrap_or_default());
        std::thread::sleep(POLL_INTERVAL);
    };
    if !status.success() {
        return Err("the import failed".into());
    }
    let passed = clock.monotonic().saturating_sub(start).as_secs_f64();
    let seconds = children_cpu_seconds()? - before;
    let events = facts.events as f64;
    report::at_least(
        "import and seal, per CPU second",
        events / seconds,
        "events",
        GOAL_EVENTS_PER_SECOND,
    );
    report::figure("import and seal, by the clock", passed, "s", None);
    let size = std::fs::metadata(sealed_file(home, facts))?.len() as f64;
    report::figure("sealed run / JSONL", size / facts.bytes as f64, "×", Some(GOAL_SHARE));
    report::figure("resident memory while sealing, at most", peak, "MB", Some(GOAL_MEGABYTES));
    Ok(())
}

pub(crate) fn import(home: &Path, log: &Path) -> Outcome<Child> {
    Ok(Command::new(startup::program()?)
        .args(["backtest", "import"])
        .arg(log)
        .env("PANOPLY_HOME", home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?)
}

/// Path of the catalog in a home directory.
pub(crate) fn catalog(home: &Path) -> PathBuf {
    panoply_store::Home::at(home.to_owned()).packs().join("backtest.db")
}

fn sealed_file(home: &Path, facts: &Facts) -> PathBuf {
    catalog(home).with_extension("").join(format!("{}.run", facts.run))
}

/// User and system time of terminated children: fields 16 and 17 of `stat` in proc(5).
pub(crate) fn children_cpu_seconds() -> Outcome<f64> {
    stat_seconds("self", 13, 14)
}

/// User and system time of this process: fields 14 and 15.
pub(crate) fn cpu_seconds() -> Outcome<f64> {
    stat_seconds("self", 11, 12)
}

/// User and system time of a running process.
pub(crate) fn cpu_seconds_of(process: u32) -> Outcome<f64> {
    stat_seconds(&process.to_string(), 11, 12)
}

/// Fields are counted after the process name, which may contain spaces and ends with `)`.
fn stat_seconds(process: &str, user: usize, system: usize) -> Outcome<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    let (_, rest) = stat.rsplit_once(") ").ok_or("no name in stat")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let ticks =
        |place: usize| -> Outcome<f64> { Ok(fields.get(place).ok_or("no time in stat")?.parse()?) };
    Ok((ticks(user)? + ticks(system)?) / CLOCK_TICKS_PER_SECOND)
}

/// Peak resident memory of a process.
pub(crate) fn peak_megabytes(process: u32) -> Outcome<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: f64 =
        line.and_then(|line| line.split_whitespace().next()).ok_or("no VmHWM")?.parse()?;
    Ok(kilobytes / 1024.0)
}
