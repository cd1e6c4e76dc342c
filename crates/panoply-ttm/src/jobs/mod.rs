//! Jobs that take documents in: one at a time, each seen by every process, each all or nothing.
//!
//! A job is a row in the store. Who runs it holds a lock on a file as long as it lives, so
//! whoever finds a running job without its lock knows that its process is gone: nothing of the
//! job was added, because that happens in one transaction at its end, and the job says so.

mod lock;
mod record;
pub mod run;
mod service;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::record::PendingRecord;
pub use self::service::{HOW_TO_ALLOW, JobError, JobService, Settings};
use crate::ingest::reader::{FileKind, OcrProvider};

/// How far a job is; the contract's words.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Status {
    /// Another job is before it.
    Queued,
    /// It runs.
    Running,
    /// It did what it was told.
    Done,
    /// It did not, and nothing of it was added.
    Error,
}

impl Status {
    /// The contract's word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Error => "error",
        }
    }

    /// The status of this word.
    pub fn parse(word: &str) -> Option<Self> {
        let all = [Self::Queued, Self::Running, Self::Done, Self::Error];
        all.into_iter().find(|one| one.as_str() == word)
    }

    /// Whether nothing more will happen by itself.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Error)
    }
}

/// What became of a job beyond the contract's four words.
pub mod detail {
    /// Somebody stopped it.
    pub const CANCELLED: &str = "cancelled";
    /// What it added was taken away again, or would have made the search worse.
    pub const ROLLED_BACK: &str = "rolled_back";
    /// Its process ended before it did.
    pub const INTERRUPTED: &str = "interrupted";
    /// All its documents were there already.
    pub const UNCHANGED: &str = "unchanged";
}

/// What a job is to do.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Request {
    /// Show what would be added, and add nothing.
    pub dry_run: bool,
    /// The files.
    pub batch: Vec<Item>,
    /// What pages are read with.
    pub ocr: OcrProvider,
    /// Dots per inch for OCR.
    pub dpi: Option<u16>,
    /// The hash of the plan that a dry run showed.
    pub plan_hash: Option<String>,
}

/// One file of a job.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Item {
    /// Where it is: `file:///…`.
    pub uri: String,
    /// Its language, or what its letters say.
    pub lang: Option<String>,
    /// What it is.
    pub kind: FileKind,
}

/// A job.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its id.
    pub id: String,
    /// How far it is.
    pub status: Status,
    /// More than the status says, where there is more: see [`mod@detail`].
    pub detail: Option<String>,
    /// What it is to do.
    pub request: Request,
    /// Pages that were read.
    pub done_pages: u32,
    /// Pages that it has to read, as far as they are counted.
    pub all_pages: u32,
    /// What it added or would add.
    pub report: Option<Value>,
    /// What went wrong: code, message and hint.
    pub error: Option<Value>,
    /// When it was asked for.
    pub created: String,
    /// When it began.
    pub started: Option<String>,
    /// When it ended.
    pub ended: Option<String>,
}

/// The beginning of the addresses of jobs.
pub const JOB_URI: &str = "ttm-job://";

/// Where a job can be looked at.
pub fn job_uri(id: &str) -> String {
    format!("{JOB_URI}{id}")
}

/// Where its log can be read.
pub fn log_uri(id: &str) -> String {
    format!("{JOB_URI}{id}/log")
}
