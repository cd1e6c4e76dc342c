//! Where reports are kept, so that an address still leads to one after a restart.

use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

use super::compare::{Change, Summary};
use super::markdown::markdown;
use super::run::{Report, hex};

/// The most reports that are kept; the one that was run longest ago goes first.
pub const MAX_REPORTS: usize = 200;

/// The most bytes that all reports together take.
pub const MAX_TOTAL_BYTES: usize = 64 * 1024 * 1024;

/// A report as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredReport {
    /// Named after what is in it: the same set, seed and data have the same id.
    pub id: String,
    /// The set's name.
    pub set: String,
    /// The report as JSON.
    pub json: String,
    /// The report as Markdown.
    pub markdown: String,
    /// What a later run compares itself with.
    pub summary: Summary,
    /// What changed since the run before.
    pub change: Option<Change>,
}

impl StoredReport {
    /// How much room it takes.
    pub const fn bytes(&self) -> usize {
        self.json.len() + self.markdown.len()
    }
}

/// A shelf could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("the kept reports: {0}")]
pub struct ReportStoreError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// Keeps reports.
pub trait ReportStore: Debug + Send + Sync + 'static {
    /// The report of this id.
    fn report(&self, id: &str) -> Result<Option<StoredReport>, ReportStoreError>;

    /// Keeps the report of `id`, unless one of that id is kept: then that one stays, as the latest
    /// of its set. `make` gets the latest report of the set, and is called at most once. What is
    /// kept comes back.
    fn save(
        &self,
        id: &str,
        set: &str,
        make: &dyn Fn(Option<&StoredReport>) -> Result<StoredReport, ReportStoreError>,
    ) -> Result<StoredReport, ReportStoreError>;
}

/// The address of a report.
pub fn address(id: &str) -> String {
    format!("{ADDRESS}{id}")
}

/// How the addresses of reports begin.
pub const ADDRESS: &str = "ttm://eval/";

/// Keeps a report, and compares it with the latest other one of its set.
pub fn save(store: &dyn ReportStore, report: &Report) -> Result<StoredReport, ReportStoreError> {
    let failed = |error: serde_json::Error| ReportStoreError(Box::new(error));
    let content = serde_json::to_vec(report).map_err(failed)?;
    let id: String = hex(&Sha256::digest(content)).chars().take(ID_LETTERS).collect();
    let summary = Summary::of(report);
    store.save(&id, &report.set, &|earlier| {
        let change = earlier.map(|one| summary.change(&one.summary, &address(&one.id)));
        let document = Document { id: &id, report, change: change.as_ref() };
        Ok(StoredReport {
            id: id.clone(),
            set: report.set.clone(),
            json: serde_json::to_string_pretty(&document).map_err(failed)? + "\n",
            markdown: markdown(report, change.as_ref()),
            summary: summary.clone(),
            change,
        })
    })
}

/// Enough of a SHA-256 that no two reports meet.
const ID_LETTERS: usize = 32;

/// A report with its id, and what changed since the one before.
#[derive(serde::Serialize)]
struct Document<'r> {
    id: &'r str,
    #[serde(flatten)]
    report: &'r Report,
    change: Option<&'r Change>,
}

/// Keeps reports as long as the program runs.
#[derive(Debug, Default)]
pub struct MemoryReportStore(Mutex<Vec<StoredReport>>);

impl ReportStore for MemoryReportStore {
    fn report(&self, id: &str) -> Result<Option<StoredReport>, ReportStoreError> {
        let stored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(stored.iter().find(|one| one.id == id).cloned())
    }

    fn save(
        &self,
        id: &str,
        set: &str,
        make: &dyn Fn(Option<&StoredReport>) -> Result<StoredReport, ReportStoreError>,
    ) -> Result<StoredReport, ReportStoreError> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.iter().position(|one| one.id == id).map(|place| all.remove(place));
        let stored = match known {
            Some(stored) => stored,
            None => make(all.iter().rev().find(|one| one.set == set))?,
        };
        all.push(stored.clone());
        while all.len() > 1
            && (all.len() > MAX_REPORTS
                || all.iter().map(StoredReport::bytes).sum::<usize>() > MAX_TOTAL_BYTES)
        {
            all.remove(0);
        }
        Ok(stored)
    }
}
