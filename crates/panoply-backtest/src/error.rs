//! Errors of reading and writing a run, and cancellation of long loops.

use crate::event::Guid;
use crate::run::Status;
use crate::store::BlobKey;

/// An error of reading or writing a run.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// Stored bytes do not match the format.
    #[error("the stored run is damaged: {0}")]
    Damaged(&'static str),
    /// A blob of a sealed run does not match its checksum.
    #[error("the stored run is damaged: checksum mismatch in blob {0}")]
    Checksum(BlobKey),
    /// A blob of a sealed run does not exist.
    #[error("the stored run is damaged: blob {0} is missing")]
    MissingBlob(BlobKey),
    /// The run was sealed in another version of the format.
    #[error("the run was sealed in format {found}, and this version reads format {expected}")]
    OtherFormat {
        /// The version of the stored run.
        found: u32,
        /// The version that is read.
        expected: u32,
    },
    /// The storage backend failed.
    #[error("the store failed: {0}")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The run does not exist.
    #[error("there is no run `{0}`")]
    UnknownRun(Guid),
    /// The run has the wrong status for the operation.
    #[error("run `{run}` is {}", status.as_str())]
    WrongStatus {
        /// The run's id.
        run: Guid,
        /// Its current status.
        status: Status,
    },
    /// More than 2^32 - 2 events.
    #[error("a run holds at most {} events", u32::MAX)]
    TooManyEvents,
    /// Another process stored a batch under this writer's next number. Nothing was overwritten;
    /// reopen the run and continue from the acknowledged events.
    #[error("another process is writing to this run")]
    ConcurrentWriter,
    /// The caller cancelled the operation.
    #[error("the operation was cancelled")]
    Cancelled,
    /// An I/O error of the event source.
    #[error("the events could not be read: {0}")]
    Source(#[from] std::io::Error),
}

impl LogError {
    /// Wraps an error of the storage backend.
    pub fn store(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Store(error.into())
    }
}

/// Cancellation check, polled by long loops; true once the caller has given up.
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// Returns [`LogError::Cancelled`] once `stop` is true.
pub fn check_stop(stop: Stop<'_>) -> Result<(), LogError> {
    if stop() { Err(LogError::Cancelled) } else { Ok(()) }
}
