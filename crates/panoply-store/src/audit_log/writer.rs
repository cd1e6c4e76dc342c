//! The writer thread of the audit log.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use panoply_contract::audit::AuditEntry;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use super::queue::{Batch, PendingRow, Queue, WriteResult};
use super::row::{COLUMNS, ChainHash, StoredRow};
use crate::error::StoreError;
use crate::sqlite::{self, Durability};

/// Maximum number of rows buffered while writes fail. Rows over the limit are counted as lost.
pub const MAX_BUFFERED_ROWS: usize = 4096;

/// Starts the writer.
pub(super) fn start(
    file: &Path,
    connection: Connection,
    queue: Arc<Queue>,
) -> Result<JoinHandle<()>, StoreError> {
    let writer = Writer {
        file: file.to_owned(),
        connection,
        durability: Durability::Full,
        buffered: Vec::new(),
        end: EndGuard { file: file.to_owned(), queue },
    };
    thread::Builder::new()
        .name("audit-log".to_owned())
        .spawn(move || writer.run())
        .map_err(|source| StoreError::Unopenable { file: file.to_owned(), source })
}

struct Writer {
    file: PathBuf,
    connection: Connection,
    /// The connection's current setting.
    durability: Durability,
    /// Rows of failed writes, oldest first.
    buffered: Vec<AuditEntry>,
    end: EndGuard,
}

/// Drop guard: reports the end of the writer to callers, also after a panic.
struct EndGuard {
    file: PathBuf,
    queue: Arc<Queue>,
}

impl Drop for EndGuard {
    fn drop(&mut self) {
        self.queue.end(StoreError::WriterGone { file: self.file.clone() });
    }
}

impl Writer {
    fn run(mut self) {
        loop {
            let batch = self.end.queue.next(!self.buffered.is_empty());
            let last = batch.last;
            self.process(batch);
            if last {
                break;
            }
        }
        if !self.buffered.is_empty() {
            let (file, rows) = (self.file.display(), self.buffered.len());
            tracing::error!(%file, rows, "rows of the audit log could not be written and are lost");
        }
    }

    fn process(&mut self, batch: Batch) {
        #[cfg(test)]
        for tampering in batch.tampering {
            tampering(&self.connection);
        }
        let taken = batch.rows.len();
        let mut waiting = Vec::new();
        let mut entries = std::mem::take(&mut self.buffered);
        for PendingRow { entry, done } in batch.rows {
            waiting.extend(done);
            entries.push(entry);
        }
        let outcome = self.write(&entries);
        if let Err(error) = &outcome {
            tracing::error!(cause = error.chain(), "the audit log cannot be written");
            self.buffer(entries);
        }
        // Publish the state before notifying: a notified caller must see the failure in `ready`.
        self.end.queue.report_outcome(outcome.clone(), taken);
        for done in waiting {
            let _ = done.send(outcome.clone());
        }
        for flush in batch.flushes {
            let _ = flush.send(());
        }
    }

    /// Buffers rows of a failed write. A mutation's row is buffered too: its change was committed
    /// and must be recorded later, although its caller received the error.
    fn buffer(&mut self, mut entries: Vec<AuditEntry>) {
        let lost = entries.len().saturating_sub(MAX_BUFFERED_ROWS);
        entries.truncate(MAX_BUFFERED_ROWS);
        self.buffered = entries;
        if lost > 0 {
            self.end.queue.count_lost(lost as u64);
        }
    }

    fn write(&mut self, entries: &[AuditEntry]) -> WriteResult {
        if entries.is_empty() {
            return self.end.queue.health();
        }
        // A loss of power may lose recent query rows. Syncing the WAL for a mutation also makes
        // every earlier commit durable.
        let any_mutation = entries.iter().any(|entry| entry.mutation);
        let durability = if any_mutation { Durability::Full } else { Durability::Normal };
        self.commit(entries, durability).map_err(|source| {
            // SQLite rolls back by itself after most errors, but not all.
            if !self.connection.is_autocommit() {
                let _ = self.connection.execute_batch("ROLLBACK");
            }
            Arc::new(sqlite::store_error(&self.file, source))
        })
    }

    fn commit(&mut self, entries: &[AuditEntry], durability: Durability) -> rusqlite::Result<()> {
        if self.durability != durability {
            sqlite::set_durability(&self.connection, durability)?;
            self.durability = durability;
        }
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        append(&transaction, entries)?;
        transaction.commit()
    }
}

/// Appends rows to the end of the chain and updates the head record.
pub(super) fn append(transaction: &Connection, entries: &[AuditEntry]) -> rusqlite::Result<()> {
    let (mut sequence, mut previous) = end_of_chain(transaction)?;
    let before = sequence;
    let mut insert = transaction.prepare_cached(&format!(
        "INSERT INTO audit ({COLUMNS}) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, \
         ?19, ?20)"
    ))?;
    for entry in entries {
        if is_recorded(transaction, entry)? {
            continue;
        }
        sequence += 1;
        let row = StoredRow::new(sequence, entry);
        let Some(hash) = row.hash(previous) else {
            return Err(rusqlite::Error::InvalidQuery);
        };
        insert.execute(rusqlite::params![
            row.sequence,
            row.at,
            row.tool,
            row.tool_version,
            row.partition,
            row.agent_id,
            row.trace_id,
            row.in_hash,
            row.out_hash,
            row.latency_ms,
            row.seed,
            row.status,
            row.error_code,
            row.mutation,
            row.address,
            row.credential,
            row.count,
            row.format,
            previous.0,
            hash.0,
        ])?;
        previous = hash;
    }
    if sequence == before {
        return Ok(());
    }
    transaction
        .prepare_cached(
            "INSERT INTO head (one, sequence, hash) VALUES (1, ?1, ?2) \
             ON CONFLICT (one) DO UPDATE SET sequence = excluded.sequence, hash = excluded.hash",
        )?
        .execute(rusqlite::params![sequence, previous.0])?;
    Ok(())
}

/// Whether the row of this mutation is already in the log; marks it as recorded if not.
fn is_recorded(transaction: &Connection, entry: &AuditEntry) -> rusqlite::Result<bool> {
    let Some(call_id) = entry.call_id else { return Ok(false) };
    transaction
        .prepare_cached("INSERT OR IGNORE INTO recorded_call (call_id) VALUES (?1)")?
        .execute([call_id.as_bytes()])
        .map(|inserted| inserted == 0)
}

/// Sequence and hash that the next row follows. The head record decides, not the last row: if rows
/// were truncated, the gap remains for [`verify`](super::verify()) to detect; if rows were added or
/// the head was removed, the link stays broken.
fn end_of_chain(transaction: &Connection) -> rusqlite::Result<(i64, ChainHash)> {
    let head = transaction
        .prepare_cached("SELECT sequence, hash FROM head")?
        .query_row((), |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)))
        .optional()?;
    let last: i64 = transaction
        .prepare_cached("SELECT coalesce(max(sequence), 0) FROM audit")?
        .query_row((), |row| row.get(0))?;
    Ok(match head {
        Some((sequence, hash)) => (sequence.max(last), ChainHash(hash)),
        None => (last, ChainHash::GENESIS),
    })
}
