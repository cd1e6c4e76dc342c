//! The mutation log in SQLite: one table that every pack's own database has, so that a change,
//! its idempotency record and its audit entry are one transaction (a transactional outbox).
//!
//! A pack calls [`MutationTable::insert`] before it commits, and hands its store to the kernel as
//! a [`SqliteMutationLog`]. The unique index on the key keeps a second process out: its
//! transaction fails, and it replays the reply of the first.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use panoply_contract::error::ToolError;
use panoply_contract::ids::CallId;
use panoply_contract::json::Json;
use panoply_contract::mutation::{
    IdempotencyKey, KEY_LIFETIME, MutationLog, MutationRecord, StoredReply,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::error::StoreError;
use crate::migrate::Migration;
use crate::sqlite::{self, transact};

/// Migration that creates the table.
pub const MIGRATION: Migration = Migration {
    name: "mutations",
    sql: "
        -- `at` is in microseconds since 1970, `entry` the audit entry as JSON; a record without a
        -- key goes once its entry is in the audit log.
        CREATE TABLE mutation (
            id         INTEGER PRIMARY KEY,
            call_id    BLOB NOT NULL,
            at         INTEGER NOT NULL,
            partition  TEXT NOT NULL,
            tool       TEXT NOT NULL,
            key        TEXT,
            entry      TEXT NOT NULL,
            reply_data TEXT,
            reply_text TEXT,
            audited    INTEGER NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX mutation_by_key ON mutation (partition, tool, key) WHERE key IS NOT NULL;
        CREATE INDEX mutation_unaudited ON mutation (call_id) WHERE audited = 0;
    ",
};

const COLUMNS: &str = "partition, tool, key, entry, reply_data, reply_text";

/// The table of one database, with the ids of records that are audited but not yet marked.
#[derive(Debug, Default)]
pub struct MutationTable {
    audited: Mutex<Vec<CallId>>,
}

impl MutationTable {
    /// Inserts a record in the open transaction of `connection`. Fails when the key exists; the
    /// caller must then roll back.
    pub fn insert(&self, connection: &Connection, record: &MutationRecord) -> rusqlite::Result<()> {
        self.mark_audited(connection)?;
        let MutationRecord { key, entry, reply } = record;
        let expired = (entry.at - KEY_LIFETIME).as_microsecond();
        remove_expired(connection, key.as_ref(), expired)?;
        let json = serde_json::to_string(entry)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        connection
            .prepare_cached(
                "INSERT INTO mutation \
                 (call_id, at, partition, tool, key, entry, reply_data, reply_text, audited) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0)",
            )?
            .execute(params![
                entry.call_id.map(|id| *id.as_bytes()),
                entry.at.as_microsecond(),
                entry.partition,
                entry.tool,
                key.as_ref().map(|key| &key.key),
                json,
                reply.as_ref().map(|reply| reply.data.text()),
                reply.as_ref().map(|reply| &reply.text),
            ])
            .map(drop)
    }

    /// Marks lost by a rollback or a crash are harmless: the next recovery resends the entries, and
    /// the audit log deduplicates them by call id.
    fn mark_audited(&self, connection: &Connection) -> rusqlite::Result<()> {
        let audited = std::mem::take(&mut *self.waiting());
        for call_id in audited {
            let id = call_id.as_bytes();
            connection
                .prepare_cached(
                    "DELETE FROM mutation WHERE call_id = ?1 AND audited = 0 AND key IS NULL",
                )?
                .execute([id])?;
            connection
                .prepare_cached(
                    "UPDATE mutation SET audited = 1 WHERE call_id = ?1 AND audited = 0",
                )?
                .execute([id])?;
        }
        Ok(())
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Vec<CallId>> {
        self.audited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Deletes the expired record of this key and a few of the oldest, so that the table holds about
/// one day of records.
fn remove_expired(
    connection: &Connection,
    key: Option<&IdempotencyKey>,
    expired: i64,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "DELETE FROM mutation WHERE audited = 1 AND at <= ?1 AND id IN \
             (SELECT id FROM mutation ORDER BY id LIMIT 8)",
        )?
        .execute([expired])?;
    let Some(key) = key else { return Ok(()) };
    connection
        .prepare_cached(
            "DELETE FROM mutation \
             WHERE partition = ?1 AND tool = ?2 AND key = ?3 AND audited = 1 AND at <= ?4",
        )?
        .execute(params![key.partition, key.tool, key.key, expired])
        .map(drop)
}

/// A store whose database has the mutation table.
pub trait HasMutations: Send + Sync + 'static {
    /// Its mutation table.
    fn mutations(&self) -> &MutationTable;

    /// Runs `work` on the locked connection; opens or creates the database if necessary.
    fn with_connection<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError>;

    /// Whether the database exists. A store that creates its file with the first mutation returns
    /// `false` before.
    fn has_database(&self) -> bool {
        true
    }
}

/// Runs `work` on the database of a store; `None` when it does not exist yet.
fn read<S: HasMutations, T>(
    store: &S,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> Result<Option<T>, StoreError> {
    if !store.has_database() {
        return Ok(None);
    }
    store.with_connection(|connection| work(connection).map_err(about(connection)).map(Some))
}

/// Runs `work` in a transaction; creates the database if necessary.
fn write<S: HasMutations, T>(
    store: &S,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> Result<T, StoreError> {
    store.with_connection(|connection| transact(connection, work).map_err(about(connection)))
}

fn about(connection: &Connection) -> impl Fn(rusqlite::Error) -> StoreError {
    let file = connection.path().unwrap_or_default().to_owned();
    move |source| sqlite::store_error(Path::new(&file), source)
}

/// The mutation log of a store.
#[derive(Debug)]
pub struct SqliteMutationLog<S>(pub Arc<S>);

impl<S: HasMutations> MutationLog for SqliteMutationLog<S> {
    fn find(
        &self,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<MutationRecord>, ToolError> {
        let oldest = (now - KEY_LIFETIME).as_microsecond();
        let found = read(self.0.as_ref(), |connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM mutation \
                 WHERE partition = ?1 AND tool = ?2 AND key = ?3 AND at > ?4"
            );
            connection
                .prepare_cached(&sql)?
                .query_row(params![key.partition, key.tool, key.key, oldest], record)
                .optional()
        })?;
        Ok(found.flatten())
    }

    fn find_call(&self, call_id: CallId) -> Result<Option<MutationRecord>, ToolError> {
        let found = read(self.0.as_ref(), |connection| {
            let sql = format!("SELECT {COLUMNS} FROM mutation WHERE call_id = ?1 AND audited = 0");
            connection.prepare_cached(&sql)?.query_row([call_id.as_bytes()], record).optional()
        })?;
        Ok(found.flatten())
    }

    fn commit(&self, record: &MutationRecord) -> Result<(), ToolError> {
        let table = self.0.mutations();
        Ok(write(self.0.as_ref(), |connection| table.insert(connection, record))?)
    }

    fn unaudited(&self) -> Result<Vec<MutationRecord>, ToolError> {
        let found = read(self.0.as_ref(), |connection| {
            let sql = format!("SELECT {COLUMNS} FROM mutation WHERE audited = 0 ORDER BY id");
            connection.prepare_cached(&sql)?.query_map((), record)?.collect()
        })?;
        Ok(found.unwrap_or_default())
    }

    fn audited(&self, call_id: CallId) {
        self.0.mutations().waiting().push(call_id);
    }
}

fn record(row: &Row<'_>) -> rusqlite::Result<MutationRecord> {
    let unreadable = |column: usize| {
        move |error: serde_json::Error| {
            let text = rusqlite::types::Type::Text;
            rusqlite::Error::FromSqlConversionFailure(column, text, Box::new(error))
        }
    };
    let (partition, tool) = (row.get(0)?, row.get(1)?);
    let key: Option<String> = row.get(2)?;
    let entry: String = row.get(3)?;
    let data: Option<String> = row.get(4)?;
    let data = data.map(|text| Json::parse(text).map_err(unreadable(4))).transpose()?;
    let text: Option<String> = row.get(5)?;
    Ok(MutationRecord {
        key: key.map(|key| IdempotencyKey { partition, tool, key }),
        entry: serde_json::from_str(&entry).map_err(unreadable(3))?,
        reply: data.map(|data| StoredReply { data, text: text.unwrap_or_default() }),
    })
}

#[cfg(test)]
mod tests;
