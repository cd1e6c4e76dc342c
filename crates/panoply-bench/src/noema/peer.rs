//! Anki's backend (PyPI `anki`) in a Python process, on the exported collection.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::stopwatch::Elapsed;
use crate::Outcome;

const SCRIPT: &str = include_str!("anki_peer.py");
/// The Python environment of `./test`.
const PYTHON: &str = "target/tools/python/bin/python";

/// Times that the peer measured.
pub(super) struct Peer {
    pub(super) version: String,
    pub(super) cards: u64,
    report: Value,
}

impl Peer {
    /// Lets Anki import the package and measures the same operations, with reviews on disk too.
    pub(super) fn measured(
        package: &Path,
        folder: &Path,
        disk: &Path,
        searches: &[&str],
    ) -> Outcome<Self> {
        let script = folder.join("anki_peer.py");
        std::fs::write(&script, SCRIPT)?;
        let ran = Command::new(PYTHON)
            .arg(script)
            .arg(package)
            .arg(folder.join("anki.anki2"))
            .arg(disk.join("anki.anki2"))
            .arg(serde_json::to_string(searches)?)
            .output()
            .map_err(|error| {
                format!("`{PYTHON}` does not start ({error}); `./test` installs it")
            })?;
        if !ran.status.success() {
            return Err(String::from_utf8_lossy(&ran.stderr).into_owned().into());
        }
        let report: Value = serde_json::from_slice(&ran.stdout)?;
        Ok(Self {
            version: report.get("version").and_then(Value::as_str).unwrap_or("?").to_owned(),
            cards: report.get("cards").and_then(Value::as_u64).unwrap_or_default(),
            report,
        })
    }

    /// The time of an operation, if the peer measured it.
    pub(super) fn time_work(&self, name: &str) -> Option<Elapsed> {
        let time_work = self.report.get("spent")?.get(name)?;
        Some(Elapsed { cpu: time_work.get(0)?.as_f64()?, wall: time_work.get(1)?.as_f64()? })
    }
}
