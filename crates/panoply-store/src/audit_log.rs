//! The audit log: every call of every tool, append-only, each row chained to the one before.
//!
//! One thread writes, many rows in one transaction. A row of a query costs the caller a lock
//! and a push; it is on disk 20 ms later. A row of a mutation is committed,
//! and safe from loss of power, before its future completes.
//!
//! - When rows come faster than the disk takes them, callers wait: nothing is dropped.
//! - When the disk takes nothing, [`ready`](AuditLog::ready) says so and mutations are refused;
//!   queries go on, and the newest [`KEPT_ROWS`] of their rows at most wait for the disk to come
//!   back. What does not fit is counted ([`SqliteAuditLog::lost_rows`]) and logged.
//! - Several processes may write to one file: the place in the chain is taken under the lock.
//!
//! [`mod@verify`] walks the chain. What it can and cannot find is said there.

mod checkpoint;
mod export;
mod late;
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
pub use self::export::export;
pub use self::late::LateAuditLog;
use self::queue::Queue;
pub use self::row::ChainHash;
pub use self::seal::{ROWS_PER_SEGMENT, SealError, prune, seal};
pub use self::segment::{
    Segment, SegmentLock, files_of as segment_files, folder_of as segment_folder,
};
pub use self::verify::{Fault, FaultKind, Head, Verification, verify, verify_against, verify_tail};
pub use self::writer::KEPT_ROWS;
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

/// The audit log in a SQLite file. Dropping it writes what is waiting; so does
/// [`close`](Self::close), which a short program should call before it ends.
pub struct SqliteAuditLog {
    file: PathBuf,
    queue: Arc<Queue>,
    reader: Arc<Mutex<Connection>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl SqliteAuditLog {
    /// Opens the log, making it if need be, and starts its writer.
    pub fn open(file: &Path) -> Result<Self, StoreError> {
        let connection = migrate::open(file, Durability::Full, MIGRATIONS)?;
        // A file that can be read but not written is better found now than at the first change.
        sqlite::require_writable(&connection, file)?;
        connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK").map_err(StoreError::about(file))?;
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

    /// Where it is.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Waits until all that was appended before is on disk, or has been tried.
    pub async fn flush(&self) {
        self.queue.flush().await;
    }

    /// Rows of queries that were never written because the disk took nothing for too long.
    pub fn lost_rows(&self) -> u64 {
        self.queue.lost()
    }

    /// Queues a row that waited for the log to be opened; counts it as lost when there is no room.
    fn push_held(&self, entry: AuditEntry) {
        if self.queue.try_push(entry).is_some() {
            self.queue.lose(1);
        }
    }

    /// Writes what is waiting and ends the writer. Later appends are refused.
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
            // So that a caller finds the calls it has just made.
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
