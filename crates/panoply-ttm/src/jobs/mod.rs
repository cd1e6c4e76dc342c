//! Ingest jobs: serial, visible to every process, atomic.
//!
//! A job is a row in the store. The process that runs it has a lock on a file while it is alive. A
//! running job without its lock is orphaned and gets marked as interrupted; nothing of it was
//! added, because all changes are made in one final transaction.

mod lock;
mod record;
pub mod run;
mod service;
mod store;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::record::PendingRecord;
pub use self::service::{HOW_TO_ALLOW, JobError, JobService, Settings};
pub use self::store::{JobLock, JobStore};
use crate::ingest::reader::{FileKind, OcrProvider};

/// Job status of the contract.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Status {
    /// Waiting for another job.
    Queued,
    /// Running.
    Running,
    /// Finished.
    Done,
    /// Failed; nothing was added.
    Error,
}

impl Status {
    /// Returns the contract's identifier.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Error => "error",
        }
    }

    /// Parses the contract's identifier.
    pub fn parse(word: &str) -> Option<Self> {
        let all = [Self::Queued, Self::Running, Self::Done, Self::Error];
        all.into_iter().find(|one| one.as_str() == word)
    }

    /// Returns whether the status is final.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Error)
    }
}

/// Details beyond the four contract statuses.
pub mod detail {
    /// Cancelled by a caller.
    pub const CANCELLED: &str = "cancelled";
    /// Changes were removed, or rejected because they would degrade the search.
    pub const ROLLED_BACK: &str = "rolled_back";
    /// The process died.
    pub const INTERRUPTED: &str = "interrupted";
    /// All documents existed already.
    pub const UNCHANGED: &str = "unchanged";
}

/// Parameters of a job.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Request {
    /// Only plan; add nothing.
    pub dry_run: bool,
    /// Files.
    pub batch: Vec<Item>,
    /// Text source.
    pub ocr: OcrProvider,
    /// OCR resolution.
    pub dpi: Option<u16>,
    /// Plan hash of the dry run.
    pub plan_hash: Option<String>,
}

/// A file of a job.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Item {
    /// URI, `file:///…`.
    pub uri: String,
    /// Language; detected if absent.
    pub lang: Option<String>,
    /// File type.
    pub kind: FileKind,
}

/// A job.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Job id.
    pub id: String,
    /// Status.
    pub status: Status,
    /// Additional state: see [`mod@detail`].
    pub detail: Option<String>,
    /// Parameters.
    pub request: Request,
    /// Number of pages read.
    pub done_pages: u32,
    /// Total number of pages, as far as known.
    pub all_pages: u32,
    /// Planned or applied changes.
    pub report: Option<Value>,
    /// Error with code, message and hint.
    pub error: Option<Value>,
    /// Creation time.
    pub created: String,
    /// Start time.
    pub started: Option<String>,
    /// End time.
    pub ended: Option<String>,
}

/// URI prefix of jobs.
pub const JOB_URI: &str = "ttm-job://";

/// Returns the URI of a job.
pub fn job_uri(id: &str) -> String {
    format!("{JOB_URI}{id}")
}

/// Returns the URI of a job log.
pub fn log_uri(id: &str) -> String {
    format!("{JOB_URI}{id}/log")
}
