//! The peers, in Python: they get documents and questions as files and print their own lines.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use panoply_ttm::eval::sets::Judged;
use panoply_ttm::search::Engine;
use serde_json::json;

use crate::{Outcome, report};

const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/python/bin/python");
const SCRIPT: &str = include_str!("peers.py");

pub(super) fn run(bundled: &Engine, large: &Engine, questions: &[Judged]) -> Outcome {
    let folder = tempfile::tempdir()?;
    let own = PathBuf::from(PYTHON);
    let python = if own.exists() { own } else { PathBuf::from("python3") };
    let asked = folder.path().join("questions.json");
    std::fs::write(&asked, serde_json::to_string(questions)?)?;
    for engine in [bundled, large] {
        let path = folder.path().join("documents.jsonl");
        let mut file = std::io::BufWriter::new(std::fs::File::create(&path)?);
        for document in (0..engine.len()).filter_map(|place| engine.document(place)) {
            let texts: Vec<&str> =
                document.passages.iter().map(|passage| passage.text.as_str()).collect();
            writeln!(file, "{}", json!({"id": document.id, "text": texts.join("\n")}))?;
        }
        file.into_inner()?;
        report::heading("Peers", &format!("the same {} documents and questions", engine.len()));
        let output = Command::new(&python).arg("-c").arg(SCRIPT).arg(&path).arg(&asked).output()?;
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            report::remark(line);
        }
        if !output.status.success() {
            report::remark(&format!(
                "the peers did not run ({}): `./test` installs them",
                String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default()
            ));
        }
    }
    Ok(())
}
