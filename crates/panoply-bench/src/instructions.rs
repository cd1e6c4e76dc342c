//! Instructions per call, counted by callgrind, which does not depend on the machine's load.
//!
//! Each kind of call is counted with two numbers of calls. The difference excludes the start of
//! the program.

use std::process::{Command, Stdio};

use crate::{Outcome, report};

const FEWER: u64 = 200;
const MORE: u64 = 600;

/// What is counted, its name, and its goal in instructions.
const KINDS: [(&str, &str, Option<f64>); 4] = [
    ("pipeline", "pipeline, no audit log, no log", Some(40_000.0)),
    ("audited", "pipeline, audit log (its thread included)", None),
    ("logged", "pipeline, log (its thread included)", None),
    ("hit", "cache hit, no audit log, no log", Some(20_000.0)),
];

/// Panoply over a transport against bare rmcp over the same one.
const GOAL_RATIO: f64 = 1.0;

pub(crate) fn run() -> Outcome {
    if Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_err() {
        return Err("valgrind is not installed, so instructions cannot be counted".into());
    }
    report::heading(
        "Instructions a call",
        "callgrind; client, server and both ends of the pipe in one process",
    );
    for (kind, name, goal) in KINDS {
        report::figure(name, instructions(kind)?, "instructions", goal);
    }
    for (transport, name) in [("lines", "lines"), ("http", "HTTP")] {
        let ours = instructions(&format!("{transport}-panoply"))?;
        let bare = instructions(&format!("{transport}-bare"))?;
        report::figure(&format!("{name}, Panoply"), ours, "instructions", None);
        report::figure(&format!("{name}, bare rmcp"), bare, "instructions", None);
        report::figure(&format!("{name}, ratio"), ours / bare, "×", Some(GOAL_RATIO));
    }
    Ok(())
}

fn instructions(kind: &str) -> Outcome<f64> {
    let difference = total(kind, MORE)? - total(kind, FEWER)?;
    Ok(difference / f64::from(u32::try_from(MORE - FEWER)?))
}

fn total(kind: &str, calls: u64) -> Outcome<f64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe()?)
        .args(["child", "count", kind, &calls.to_string()])
        .stdin(Stdio::null())
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    // `==123== Collected : 123456`, between log lines.
    let collected = said.lines().find_map(|line| line.split_once("Collected : "));
    match collected {
        Some((_, number)) if output.status.success() => Ok(number.trim().parse()?),
        _ => Err(format!("callgrind failed on `{kind}`: {said}").into()),
    }
}
