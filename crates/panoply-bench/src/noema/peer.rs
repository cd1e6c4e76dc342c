//! Anki's own backend (PyPI `anki`), in a Python of its own, on the collection that we exported.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::stopwatch::Elapsed;
use crate::Outcome;

const SCRIPT: &str = include_str!("anki_peer.py");
/// Where `./test` installs it.
const PYTHON: &str = "target/tools/python/bin/python";

/// What the peer measured of itself.
pub(super) struct Peer {
    pub(super) version: String,
    pub(super) cards: u64,
    report: Value,
}

impl Peer {
    /// Lets Anki import the package and time the same things, answers on the disk as well.
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

    /// What it took for something, if it does that.
    pub(super) fn time_work(&self, name: &str) -> Option<Elapsed> {
        let time_work = self.report.get("spent")?.get(name)?;
        Some(Elapsed { cpu: time_work.get(0)?.as_f64()?, wall: time_work.get(1)?.as_f64()? })
    }
}
