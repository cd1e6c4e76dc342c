//! The peers in Python, which read documents and questions from files and print their results.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use panoply_ttm::eval::sets::JudgedQuestion;
use panoply_ttm::papers::Record;
use panoply_ttm::search::Engine;
use serde_json::json;

use crate::{Outcome, report};

const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/python/bin/python");
const SCRIPT: &str = include_str!("peers.py");

/// Runs the peers on the documents in memory and these papers.
pub(super) fn run(engine: &Engine, papers: &[Record], questions: &[JudgedQuestion]) -> Outcome {
    let folder = tempfile::tempdir()?;
    let own = PathBuf::from(PYTHON);
    let python = if own.exists() { own } else { PathBuf::from("python3") };
    let asked = folder.path().join("questions.json");
    std::fs::write(&asked, serde_json::to_string(questions)?)?;
    let path = folder.path().join("documents.jsonl");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path)?);
    for document in engine.memory_documents() {
        let texts: Vec<&str> =
            document.passages.iter().map(|passage| passage.text.as_str()).collect();
        writeln!(file, "{}", json!({"id": document.id, "text": texts.join("\n")}))?;
    }
    for paper in papers {
        let text = format!("{}\n{}", paper.title, paper.abstract_text);
        writeln!(file, "{}", json!({"id": paper.pmid, "text": text}))?;
    }
    file.into_inner()?;
    let all = engine.memory_documents().len() + papers.len();
    report::heading("Peers", &format!("the same {all} documents and questions"));
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
    Ok(())
}
