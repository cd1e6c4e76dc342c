//! The audit log: every call of every tool, append-only, each row chained to the one before.
//!
//! One writer thread commits rows in batches. Appending a query's row costs the caller a lock and
//! a push; the row is committed within 20 ms. The future of a mutation's row completes when the
//! row is durable, including against loss of power.
//!
//! - Backpressure: when rows arrive faster than the disk writes them, callers wait. No row is
//!   dropped.
//! - When the disk rejects writes, [`ready`](AuditLog::ready) fails and mutations are refused.
//!   Queries continue; at most [`MAX_BUFFERED_ROWS`] of their rows are buffered. Rows over that
//!   limit are counted ([`SqliteAuditLog::lost_rows`]) and logged.
//! - Several processes may write to one file: the sequence number is assigned under SQLite's write
//!   lock.
//!
//! [`mod@verify`] verifies the chain and documents what it can detect.

mod checkpoint;
mod deferred;
mod export;
mod queue;
mod read;
mod row;
mod seal;
mod segment;
mod verify;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use futures::future::BoxFuture;
use panoply_contract::audit::{AuditEntry, AuditFilter, AuditLog, AuditRow};
use panoply_contract::error::ToolError;
use rusqlite::Connection;

pub use self::checkpoint::{
    BadCheckpoint, BadKey, Checkpoint, PublicKey, SigningKey, append as append_checkpoint, head,
    read_checkpoints,
};
pub use self::deferred::DeferredAuditLog;
pub use self::export::export;
pub use self::queue::{Batch, PendingRow, Queue, WriteResult};
pub use self::row::{ChainHash, ChainedRow, StoredRow};
pub use self::seal::{ROWS_PER_SEGMENT, SealError, prune, seal};
pub use self::segment::{
    Segment, SegmentLock, files_of as segment_files, folder_of as segment_folder,
};
pub use self::verify::{
    Chain, Fault, FaultKind, Head, Verification, verify, verify_against, verify_tail,
};
pub use self::writer::MAX_BUFFERED_ROWS;
use crate::error::StoreError;
use crate::migrate::{self, Migration};
use crate::sqlite::{self, Durability};

const MIGRATIONS: &[Migration] = &[
    Migration { name: "the chain and its head", sql: include_str!("audit_log/schema.sql") },
    Migration {
        name: "calls that are recorded",
        sql: "CREATE TABLE recorded_call (call_id BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;",
    },
    Migration {
        name: "address, credential and count; format of the hash",
        sql: "ALTER TABLE audit ADD COLUMN address TEXT;
              ALTER TABLE audit ADD COLUMN credential TEXT;
              ALTER TABLE audit ADD COLUMN count INTEGER NOT NULL DEFAULT 1;
              ALTER TABLE audit ADD COLUMN format INTEGER NOT NULL DEFAULT 1;",
    },
    Migration { name: "sealed segments", sql: include_str!("audit_log/segments.sql") },
];

/// The audit log in a SQLite file. Dropping it flushes the queue, as does [`close`](Self::close),
/// which a short-lived program should call before it exits.
pub struct SqliteAuditLog {
    file: PathBuf,
    queue: Arc<Queue>,
    reader: Arc<Mutex<Connection>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl SqliteAuditLog {
    /// Opens the log, creates it if it does not exist, and starts the writer thread.
    pub fn open(file: &Path) -> Result<Self, StoreError> {
        let connection = migrate::open(file, Durability::Full, MIGRATIONS)?;
        // Fail now rather than at the first mutation.
        sqlite::require_writable(&connection, file)?;
        connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK").map_err(sqlite::about(file))?;
        let reader = sqlite::open_read_only(file)?;
        let queue = Arc::new(Queue::new());
        let thread = writer::start(file, connection, Arc::clone(&queue))?;
        Ok(Self {
            file: file.to_owned(),
            queue,
            reader: Arc::new(Mutex::new(reader)),
            thread: Mutex::new(Some(thread)),
        })
    }

    /// The path of the SQLite file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Waits until every row appended before has been committed or has failed.
    pub async fn flush(&self) {
        self.queue.flush().await;
    }

    /// Number of query rows dropped because the disk rejected writes for too long.
    pub fn lost_rows(&self) -> u64 {
        self.queue.lost()
    }

    /// Queues a row buffered before the log was opened; counts it as lost when the queue is full.
    fn push_buffered(&self, entry: AuditEntry) {
        if self.queue.try_push(entry).is_some() {
            self.queue.count_lost(1);
        }
    }

    /// Flushes the queue and stops the writer. Later appends are refused.
    pub fn close(&self) {
        self.queue.close();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread
            && thread.join().is_err()
        {
            tracing::error!(file = %self.file.display(), "the writer of the audit log panicked");
        }
    }
}

impl Drop for SqliteAuditLog {
    fn drop(&mut self) {
        self.close();
    }
}

impl AuditLog for SqliteAuditLog {
    fn close(&self) {
        Self::close(self);
    }

    fn ready(&self) -> Result<(), ToolError> {
        self.queue.health().map_err(|error| error.tool_error())
    }

    fn append(&self, entry: AuditEntry) -> BoxFuture<'static, Result<(), ToolError>> {
        if entry.mutation {
            let queue = Arc::clone(&self.queue);
            return Box::pin(async move {
                queue.push_and_wait(entry).await.map_err(|error| error.tool_error())
            });
        }
        match self.queue.try_push(entry) {
            None => Box::pin(std::future::ready(Ok(()))),
            Some(entry) => {
                let queue = Arc::clone(&self.queue);
                Box::pin(async move {
                    queue.push(entry).await;
                    Ok(())
                })
            }
        }
    }

    fn read(&self, filter: AuditFilter) -> BoxFuture<'static, Result<Vec<AuditRow>, ToolError>> {
        let queue = Arc::clone(&self.queue);
        let (reader, file) = (Arc::clone(&self.reader), self.file.clone());
        Box::pin(async move {
            // Callers can read the calls they have just made.
            queue.flush().await;
            let read = move || {
                let connection = reader.lock().unwrap_or_else(PoisonError::into_inner);
                read::read(&connection, &file, &filter)
            };
            match tokio::task::spawn_blocking(read).await {
                Ok(rows) => Ok(rows?),
                Err(error) => Err(ToolError::system("reading the audit log failed").cause(error)),
            }
        })
    }
}

#[cfg(test)]
mod tests;
