//! Histories: one JSON object a line, on disk before the client goes on.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// What a client knows of an attempt.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Event {
    /// The request is about to be sent, with this trace id.
    Invoke(String),
    /// The change was acknowledged.
    Ok,
    /// The change was refused for certain.
    Fail(String),
    /// The outcome is unknown: the reply was lost.
    Unknown(String),
}

/// A line of a history.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Line {
    pub(super) tenant: usize,
    /// The text of the card, unique to this operation.
    pub(super) front: String,
    pub(super) event: Event,
}

/// The history of a client.
pub(super) struct History {
    file: File,
    tenant: usize,
}

impl History {
    pub(super) fn create(folder: &Path, client: usize, tenant: usize) -> Self {
        let path = folder.join(format!("client-{client}.jsonl"));
        let file = OpenOptions::new().create_new(true).append(true).open(path).unwrap();
        Self { file, tenant }
    }

    pub(super) fn note(&mut self, front: &str, event: Event) {
        let line = Line { tenant: self.tenant, front: front.to_owned(), event };
        let mut text = serde_json::to_string(&line).unwrap();
        text.push('\n');
        self.file.write_all(text.as_bytes()).unwrap();
        self.file.sync_data().unwrap();
    }
}

/// A change, as the histories tell it.
#[derive(Clone, Debug, Default)]
pub(super) struct Change {
    pub(super) traces: Vec<String>,
    pub(super) acknowledged: bool,
    /// Attempts that were refused for certain.
    refusals: usize,
}

impl Change {
    /// Whether every attempt was refused for certain.
    pub(super) fn is_refused(&self) -> bool {
        !self.acknowledged && self.refusals == self.traces.len()
    }
}

/// The changes of each tenant by the text of their card, and the codes of what was not acknowledged.
pub(super) type Changes = BTreeMap<(usize, String), Change>;

/// Reads all histories of a folder.
pub(super) fn read(folder: &Path) -> (Changes, BTreeMap<String, u64>) {
    let (mut changes, mut codes) = (Changes::new(), BTreeMap::new());
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|kind| kind != "jsonl") {
            continue;
        }
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let line: Line = serde_json::from_str(line).unwrap();
            let change = changes.entry((line.tenant, line.front)).or_default();
            match line.event {
                Event::Invoke(trace) => change.traces.push(trace),
                Event::Ok => change.acknowledged = true,
                Event::Fail(code) => {
                    change.refusals += 1;
                    *codes.entry(code).or_default() += 1;
                }
                Event::Unknown(code) => *codes.entry(code).or_default() += 1,
            }
        }
    }
    (changes, codes)
}
