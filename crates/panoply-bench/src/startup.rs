//! Time from process start to the first reply, and the memory at that point.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use panoply_contract::clock::Clock;
use panoply_store::SystemClock;

use crate::{Outcome, report};

const RUNS: usize = 30;
const GOAL_MILLIS: f64 = 30.0;
const GOAL_MEGABYTES: f64 = 40.0;
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;

pub(crate) fn run() -> Outcome {
    let program = program()?;
    report::heading(
        "Start of `panoply stdio`",
        &format!("median of {RUNS} runs, to the reply to `initialize`; memory is VmRSS then"),
    );
    let known_home = tempfile::tempdir()?;
    start(&program, known_home.path(), &["stdio"])?;
    let mut known = Vec::new();
    let mut new = Vec::new();
    let mut megabytes = Vec::new();
    for _ in 0..RUNS {
        let new_home = tempfile::tempdir()?;
        new.push(start(&program, new_home.path(), &["stdio"])?.0);
        let (millis, memory) = start(&program, known_home.path(), &["stdio"])?;
        known.push(millis);
        megabytes.push(memory);
    }
    report::figure(
        "first reply, in a home it knows",
        report::median(known),
        "ms",
        Some(GOAL_MILLIS),
    );
    report::figure("first reply, in a new home", report::median(new), "ms", Some(GOAL_MILLIS));
    report::figure(
        "resident memory, all packs",
        report::median(megabytes),
        "MB",
        Some(GOAL_MEGABYTES),
    );
    // The pack with the least data stands for an empty server.
    memory_of(&["cgt"])
}

/// Memory of a server with these packs only.
pub(crate) fn memory_of(packs: &[&str]) -> Outcome {
    let program = program()?;
    let home = tempfile::tempdir()?;
    let arguments: Vec<&str> = std::iter::once("stdio").chain(packs.iter().copied()).collect();
    let megabytes: Outcome<Vec<f64>> =
        (0..RUNS).map(|_| Ok(start(&program, home.path(), &arguments)?.1)).collect();
    let name = format!("resident memory, {} alone", packs.join(" and "));
    report::figure(&name, report::median(megabytes?), "MB", Some(GOAL_MEGABYTES));
    Ok(())
}

/// Median time to the first reply, with an existing home directory.
pub(crate) fn median_start(program: &Path, arguments: &[&str]) -> Outcome<f64> {
    let home = tempfile::tempdir()?;
    start(program, home.path(), arguments)?;
    let millis: Outcome<Vec<f64>> =
        (0..RUNS).map(|_| Ok(start(program, home.path(), arguments)?.0)).collect();
    Ok(report::median(millis?))
}

/// The `panoply` binary next to this one.
pub(crate) fn program() -> Outcome<PathBuf> {
    sibling_program("panoply")
}

/// A binary next to this one.
pub(crate) fn sibling_program(name: &str) -> Outcome<PathBuf> {
    let program = std::env::current_exe()?.with_file_name(name);
    if program.exists() {
        Ok(program)
    } else {
        Err("build the program first: cargo build --release -p panoply".into())
    }
}

/// Milliseconds to the first reply, and resident megabytes at that point.
fn start(program: &Path, home: &Path, arguments: &[&str]) -> Outcome<(f64, f64)> {
    let clock = SystemClock::new();
    let start = clock.monotonic();
    let mut child = Command::new(program)
        .args(arguments)
        .env("PANOPLY_HOME", home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut input = child.stdin.take().ok_or("no input")?;
    input.write_all(format!("{INITIALIZE}\n").as_bytes())?;
    let mut reply = String::new();
    BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut reply)?;
    let passed = clock.monotonic().saturating_sub(start);
    if !reply.contains("protocolVersion") {
        return Err(format!("not a reply: {reply}").into());
    }
    let megabytes = resident_megabytes(child.id())?;
    drop(input);
    child.wait()?;
    Ok((passed.as_secs_f64() * 1e3, megabytes))
}

/// Resident memory of a process.
pub(crate) fn resident_megabytes(process: u32) -> Outcome<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes: f64 =
        line.and_then(|line| line.split_whitespace().next()).ok_or("no VmRSS")?.parse()?;
    Ok(kilobytes / 1024.0)
}
