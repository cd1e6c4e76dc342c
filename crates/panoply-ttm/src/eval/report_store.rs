//! Storage of evaluation reports, so that a report URI stays valid after a restart.

use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

use super::compare::{Change, Summary};
use super::markdown::markdown;
use super::run::Report;

/// Maximum number of reports; the least recently run is evicted first.
pub const MAX_REPORTS: usize = 200;

/// Maximum total size of all reports in bytes.
pub const MAX_TOTAL_BYTES: usize = 64 * 1024 * 1024;

/// A stored report.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredReport {
    /// Content hash: the same set, seed and data have the same id.
    pub id: String,
    /// Name of the set.
    pub set: String,
    /// Report as JSON.
    pub json: String,
    /// Report as Markdown.
    pub markdown: String,
    /// Summary for later comparisons.
    pub summary: Summary,
    /// Difference from the previous run.
    pub change: Option<Change>,
}

impl StoredReport {
    /// Returns the size in bytes.
    pub const fn bytes(&self) -> usize {
        self.json.len() + self.markdown.len()
    }
}

/// The report store could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot access the stored reports: {0}")]
pub struct ReportStoreError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// Stores evaluation reports.
pub trait ReportStore: Debug + Send + Sync + 'static {
    /// Returns the report of an id.
    fn report(&self, id: &str) -> Result<Option<StoredReport>, ReportStoreError>;

    /// Stores the report of `id` and returns it. If the id exists, the stored report is returned
    /// and becomes the latest of its set. `make` receives the latest report of the set and is
    /// called at most once.
    fn save(
        &self,
        id: &str,
        set: &str,
        make: &dyn Fn(Option<&StoredReport>) -> Result<StoredReport, ReportStoreError>,
    ) -> Result<StoredReport, ReportStoreError>;
}

/// Returns the URI of a report.
pub fn address(id: &str) -> String {
    format!("{ADDRESS}{id}")
}

/// URI prefix of reports.
pub const ADDRESS: &str = "ttm://eval/";

/// Stores a report and compares it with the latest one of its set.
pub fn save(store: &dyn ReportStore, report: &Report) -> Result<StoredReport, ReportStoreError> {
    let failed = |error: serde_json::Error| ReportStoreError(Box::new(error));
    let content = serde_json::to_vec(report).map_err(failed)?;
    let mut id = format!("{:x}", Sha256::digest(content));
    id.truncate(ID_LETTERS);
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

/// Length of a report id: a collision-resistant prefix of SHA-256.
const ID_LETTERS: usize = 32;

/// JSON document of a report.
#[derive(serde::Serialize)]
struct Document<'r> {
    id: &'r str,
    #[serde(flatten)]
    report: &'r Report,
    change: Option<&'r Change>,
}

/// Stores reports in memory.
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
