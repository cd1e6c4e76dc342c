//! What can go wrong with a log.

use crate::event::Guid;
use crate::run::Status;

/// Why a log could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// Stored bytes are not what this program writes.
    #[error("the stored run is damaged: {0}")]
    Damaged(&'static str),
    /// The store said no.
    #[error("the store failed: {0}")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Nobody knows this run.
    #[error("there is no run `{0}`")]
    UnknownRun(Guid),
    /// The run is in another part of its life.
    #[error("run `{run}` is {}", status.as_str())]
    WrongStatus {
        /// The run.
        run: Guid,
        /// What it is.
        status: Status,
    },
    /// A run of more than four thousand million events.
    #[error("a run holds at most {} events", u32::MAX)]
    TooManyEvents,
    /// Someone else put a batch where ours was to go. Nothing was overwritten; begin again from
    /// what is acknowledged.
    #[error("another process is writing to this run")]
    ConcurrentWriter,
    /// Whoever asked does not wait any more.
    #[error("the work was stopped")]
    Cancelled,
    /// A source of events could not be read.
    #[error("the events could not be read: {0}")]
    Source(#[from] std::io::Error),
}

impl LogError {
    /// An error of a store.
    pub fn store(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Store(error.into())
    }
}

/// Asked now and then by long loops: true when nobody waits for the answer any more.
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// An error once `stop` says so.
pub fn check_stop(stop: Stop<'_>) -> Result<(), LogError> {
    if stop() { Err(LogError::Cancelled) } else { Ok(()) }
}
