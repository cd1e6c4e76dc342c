//! SQLite implementation of the store.
//!
//! One connection behind a mutex. An action is one transaction, durable before it is acknowledged.
//! For undo, each action stores before-images of the rows it changes; bulk-imported rows carry
//! their action id instead.

#[cfg(feature = "tools")]
mod file;
mod functions;
mod read;
mod search;
#[cfg(feature = "tools")]
mod shared;
mod text_index;
mod undo;
mod write;

#[cfg(feature = "tools")]
pub use self::file::OpenError;

use std::rc::Rc;
#[cfg(feature = "tools")]
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(feature = "tools")]
use panoply_contract::mutation::MutationLog;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, TransactionBehavior};

use super::{ExistingIds, NewAction, Store, StoreReader, StoreWriter};
use crate::error::{NoemaError, Result, StoreFailure};
use crate::fsrs::Zone;
use crate::ids::ActionId;
#[cfg(feature = "tools")]
use crate::ids::DeckId;
use crate::note::Form;

/// Tables and indexes.
pub const SCHEMA: &str = concat!(
    include_str!("schema.sql"),
    include_str!("actors.sql"),
    include_str!("learner.sql"),
    include_str!("media.sql"),
    include_str!("note_types.sql")
);
/// Triggers that maintain the counts; dropped during bulk imports.
pub const TRIGGERS: &str = include_str!("counts.sql");

/// A collection in a SQLite database.
pub struct SqliteStore {
    connection: Mutex<Connection>,
    own_changes: AtomicU64,
    text_index: text_index::TextIndex,
    /// Constant while the file is open.
    secret: Vec<u8>,
    /// Time zone of a learner who has set none.
    default_zone: Zone,
    #[cfg(feature = "tools")]
    mutations: panoply_store::mutations::MutationTable,
}

/// A read or write transaction.
struct Transaction<'a> {
    connection: &'a Connection,
    touched: Vec<undo::TouchedRow>,
    /// Id of the running action; 0 for reads.
    action: i64,
    bulk: bool,
    changed: u64,
    last_id: i64,
    /// Number of commits by this store.
    own_changes: u64,
    /// Text index as of the last commit.
    text_index: Option<&'a text_index::TextIndex>,
    secret: Option<&'a [u8]>,
    default_zone: Zone,
    changed_notes: text_index::ChangedNotes,
    /// Ids that existed before a bulk import.
    known: Option<Rc<ExistingIds>>,
    /// Audit records of calls; set in write transactions.
    #[cfg(feature = "tools")]
    mutations: Option<&'a panoply_store::mutations::MutationTable>,
}

impl SqliteStore {
    /// Wraps a connection whose database has [`SCHEMA`] and [`TRIGGERS`].
    pub fn from_connection(connection: Connection) -> Result<Self> {
        Self::over(connection, None)
    }

    /// Wraps a connection; `secret` replaces the stored one.
    fn over(connection: Connection, secret: Option<Vec<u8>>) -> Result<Self> {
        let text_index = text_index::TextIndex::default();
        functions::register(&connection, &text_index.id_lists)?;
        connection.set_prepared_statement_cache_capacity(128);
        // Without QPSG, SQLite checks bound values against partial indexes and re-prepares cached
        // statements whenever a value changes.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        // In KiB: the working set of a large collection.
        connection.pragma_update(None, "cache_size", -65_536)?;
        let secret = match secret {
            Some(secret) => secret,
            None => Transaction::new(&connection, 0, 0).stored_secret()?,
        };
        let store = Self {
            connection: Mutex::new(connection),
            own_changes: AtomicU64::new(0),
            text_index,
            secret,
            default_zone: Zone::UTC,
            #[cfg(feature = "tools")]
            mutations: panoply_store::mutations::MutationTable::default(),
        };
        store.provide_forms()?;
        Ok(store)
    }

    /// A collection in memory.
    pub fn in_memory() -> Result<Self> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(SCHEMA)?;
        connection.execute_batch(TRIGGERS)?;
        #[cfg(feature = "tools")]
        connection.execute_batch(panoply_store::mutations::MIGRATION.sql)?;
        Self::from_connection(connection)
    }

    /// Sets the token secret, for sample collections.
    pub fn with_secret(mut self, secret: &[u8]) -> Result<Self> {
        self.secret = secret.to_vec();
        self.lock().execute("UPDATE meta SET value = ?1 WHERE key = 'secret'", [secret])?;
        Ok(self)
    }

    /// Sets the time zone of a learner who has set none: that of the machine.
    #[must_use]
    pub const fn with_default_zone(mut self, zone: Zone) -> Self {
        self.default_zone = zone;
        self
    }

    /// Changes the data version: another process changed the rows, on this connection's behalf.
    #[cfg(feature = "tools")]
    pub fn changed_elsewhere(&self) {
        self.own_changes.fetch_add(1 << 32, Ordering::SeqCst);
    }

    /// Adds the built-in note types to a new collection, all or none: a crash leaves no collection
    /// with some of them.
    fn provide_forms(&self) -> Result<()> {
        let mut connection = self.lock();
        let are_there = |connection: &Connection| {
            let sql = "SELECT EXISTS (SELECT 1 FROM note_type WHERE id <= 5)";
            connection.query_row(sql, (), |row| row.get::<_, bool>(0))
        };
        if are_there(&connection)? {
            return Ok(());
        }
        let all = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have added them while this one waited for the lock.
        if !are_there(&all)? {
            let mut writer = Transaction::new(&all, 0, 0);
            for form in Form::ALL {
                writer.put_note_type(&form.note_type())?;
            }
        }
        Ok(all.commit()?)
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> Transaction<'a> {
    const fn new(connection: &'a Connection, action: i64, own_changes: u64) -> Self {
        Self {
            connection,
            touched: Vec::new(),
            action,
            bulk: false,
            changed: 0,
            last_id: 0,
            own_changes,
            text_index: None,
            secret: None,
            default_zone: Zone::UTC,
            changed_notes: text_index::ChangedNotes::None,
            known: None,
            #[cfg(feature = "tools")]
            mutations: None,
        }
    }
}

/// A transaction with cached BEGIN and COMMIT statements; rolls back on drop.
struct TransactionGuard<'a>(&'a Connection);

impl<'a> TransactionGuard<'a> {
    fn begin(connection: &'a Connection, how: &str) -> rusqlite::Result<Self> {
        connection.prepare_cached(how)?.execute(())?;
        Ok(Self(connection))
    }

    fn end(self, how: &str) -> rusqlite::Result<()> {
        self.0.prepare_cached(how)?.execute(()).map(|_| ())
    }
}

impl Drop for TransactionGuard<'_> {
    fn drop(&mut self) {
        if !self.0.is_autocommit() {
            // If the rollback fails, SQLite rolls back when the file is next opened.
            let _ = self.0.execute_batch("ROLLBACK");
        }
    }
}

impl Store for SqliteStore {
    fn with_reader(&self, read: &mut dyn FnMut(&dyn StoreReader) -> Result<()>) -> Result<()> {
        let connection = self.lock();
        // One transaction for a consistent snapshot.
        let transaction_guard = TransactionGuard::begin(&connection, "BEGIN")?;
        let own_changes = self.own_changes.load(Ordering::SeqCst);
        read(&Transaction {
            text_index: Some(&self.text_index),
            secret: Some(&self.secret),
            default_zone: self.default_zone,
            ..Transaction::new(&connection, 0, own_changes)
        })?;
        Ok(transaction_guard.end("COMMIT")?)
    }

    fn with_writer(
        &self,
        action: &NewAction<'_>,
        commit: bool,
        write: &mut dyn FnMut(&mut dyn StoreWriter, ActionId) -> Result<()>,
    ) -> Result<ActionId> {
        let connection = self.lock();
        let transaction_guard = TransactionGuard::begin(&connection, "BEGIN IMMEDIATE")?;
        let last: i64 = Transaction::new(&connection, 0, 0)
            .query_one("SELECT ifnull(max(id), 0) FROM action", (), |row| row.get(0))?
            .unwrap_or(0);
        let id = ActionId(last.max((action.at / 1000) - 1) + 1);
        let own_changes = self.own_changes.load(Ordering::SeqCst);
        let mut transaction = Transaction {
            text_index: Some(&self.text_index),
            secret: Some(&self.secret),
            default_zone: self.default_zone,
            #[cfg(feature = "tools")]
            mutations: Some(&self.mutations),
            ..Transaction::new(&connection, id.0, own_changes)
        };
        write(&mut transaction, id)?;
        transaction.record(action)?;
        let changed_notes = std::mem::take(&mut transaction.changed_notes);
        if commit {
            transaction_guard.end("COMMIT")?;
            self.own_changes.fetch_add(1, Ordering::SeqCst);
            self.text_index.apply_changes(&Transaction::new(&connection, 0, 0), changed_notes)?;
        } else {
            transaction_guard.end("ROLLBACK")?;
        }
        Ok(id)
    }

    fn version(&self) -> u64 {
        let connection = self.lock();
        let own_changes = self.own_changes.load(Ordering::SeqCst);
        Transaction::new(&connection, 0, own_changes).version().unwrap_or(own_changes)
    }

    #[cfg(feature = "tools")]
    fn shared(&self, decks: &[DeckId]) -> Result<Arc<dyn Store>> {
        Ok(Arc::new(self.view(decks)?))
    }

    #[cfg(feature = "tools")]
    fn mutation_log(self: Arc<Self>) -> Arc<dyn MutationLog> {
        Arc::new(panoply_store::mutations::SqliteMutationLog(self))
    }
}

impl From<rusqlite::Error> for NoemaError {
    fn from(error: rusqlite::Error) -> Self {
        let message = error.to_string();
        #[cfg(feature = "tools")]
        let cause = file::store_error(error).map(Arc::new);
        Self::Store(StoreFailure {
            message,
            #[cfg(feature = "tools")]
            cause,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::CardId;

    #[test]
    fn unknown_hold_and_phase_codes_are_errors() {
        for (column, code) in [("hold", 9), ("phase", 7)] {
            let store = SqliteStore::in_memory().unwrap();
            let insert = "INSERT INTO card VALUES (1, 1, 0, 1, 0, 0, 0, NULL, NULL, NULL, 0, 0, 0,
                0, 0, 0, 0, NULL, 0, 0, 0, NULL, NULL, '')";
            store.lock().execute(insert, ()).unwrap();
            let card =
                |store: &SqliteStore| (store as &dyn Store).read(|reader| reader.card(CardId(1)));
            assert!(card(&store).unwrap().is_some(), "{column}");
            let update = format!("UPDATE card SET {column} = ?1 WHERE id = 1");
            store.lock().execute(&update, [code]).unwrap();
            assert!(card(&store).is_err(), "{column} {code} must not be read as a valid card");
        }
    }
}
