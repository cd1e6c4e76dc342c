//! A collection in a SQLite file.
//!
//! One connection behind a lock: an action is one transaction, and a commit is on the disk
//! before anyone hears of it. Every row an action touches is kept as it was and as it became,
//! which is how it is undone; rows that come in bulk carry the number of their action instead.

#[cfg(feature = "tools")]
mod file;
mod functions;
mod read;
mod search;
mod text_index;
mod undo;
mod write;

#[cfg(feature = "tools")]
pub use self::file::OpenError;

use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::{ExistingIds, NewAction, Store, StoreReader, StoreWriter};
use crate::error::NoemaError;
use crate::ids::ActionId;
use crate::note::Form;

/// The tables.
pub const SCHEMA: &str = concat!(include_str!("schema.sql"), include_str!("actors.sql"));
/// What keeps the counts; dropped and made again around a large import.
pub const TRIGGERS: &str = include_str!("triggers.sql");

/// A collection in a SQLite file.
pub struct SqliteStore {
    connection: Mutex<Connection>,
    own_changes: AtomicU64,
    text_index: text_index::TextIndex,
    /// It never changes while a file is open.
    secret: Vec<u8>,
    #[cfg(feature = "tools")]
    mutations: panoply_store::mutations::MutationTable,
}

/// One look or one action.
struct Transaction<'a> {
    connection: &'a Connection,
    touched: Vec<undo::TouchedRow>,
    /// The action that bulk rows belong to, and whether they come in bulk.
    action: i64,
    bulk: bool,
    changed: u64,
    last_id: i64,
    /// How often this store has changed the file.
    own_changes: u64,
    /// The text of all notes, as it was before this transaction.
    text_index: Option<&'a text_index::TextIndex>,
    secret: Option<&'a [u8]>,
    changed_notes: text_index::ChangedNotes,
    /// What there was before rows came in bulk.
    known: Option<Rc<ExistingIds>>,
}

impl SqliteStore {
    /// Takes over a connection to a file that has [`SCHEMA`] and [`TRIGGERS`].
    pub fn from_connection(connection: Connection) -> Result<Self, NoemaError> {
        let text_index = text_index::TextIndex::default();
        functions::register(&connection, &text_index.id_lists)?;
        connection.set_prepared_statement_cache_capacity(128);
        // Otherwise SQLite looks at what is bound while it plans, to see whether a partial index
        // fits, and so plans a kept statement anew whenever something else is bound.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        // In KiB: the pages of a large collection that study and searches touch.
        connection.pragma_update(None, "cache_size", -65_536)?;
        let secret = Transaction::new(&connection, 0, 0).stored_secret()?;
        let store = Self {
            connection: Mutex::new(connection),
            own_changes: AtomicU64::new(0),
            text_index,
            secret,
            #[cfg(feature = "tools")]
            mutations: panoply_store::mutations::MutationTable::default(),
        };
        store.provide_forms()?;
        Ok(store)
    }

    /// A collection that ends with the program.
    pub fn in_memory() -> Result<Self, NoemaError> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(SCHEMA)?;
        connection.execute_batch(TRIGGERS)?;
        #[cfg(feature = "tools")]
        connection.execute_batch(panoply_store::mutations::MIGRATION.sql)?;
        Self::from_connection(connection)
    }

    /// Sets what review tokens are signed with, for collections that are examples.
    pub fn with_secret(mut self, secret: &[u8]) -> Result<Self, NoemaError> {
        self.secret = secret.to_vec();
        self.lock().execute("UPDATE meta SET value = ?1 WHERE key = 'secret'", [secret])?;
        Ok(self)
    }

    fn provide_forms(&self) -> Result<(), NoemaError> {
        let connection = self.lock();
        let known: i64 =
            connection
                .query_row("SELECT count(*) FROM note_type WHERE id <= 5", (), |row| row.get(0))?;
        if known > 0 {
            return Ok(());
        }
        let mut transaction = Transaction::new(&connection, 0, 0);
        for form in Form::ALL {
            transaction.put_note_type(&form.note_type())?;
        }
        Ok(())
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
            changed_notes: text_index::ChangedNotes::None,
            known: None,
        }
    }
}

/// A transaction in words that are parsed once. One that is not ended is taken back.
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
            // What SQLite cannot take back now it takes back when the file is closed.
            let _ = self.0.execute_batch("ROLLBACK");
        }
    }
}

impl Store for SqliteStore {
    fn with_reader(
        &self,
        look: &mut dyn FnMut(&dyn StoreReader) -> Result<(), NoemaError>,
    ) -> Result<(), NoemaError> {
        let connection = self.lock();
        // One transaction, so that everything seen belongs together.
        let transaction_guard = TransactionGuard::begin(&connection, "BEGIN")?;
        let own_changes = self.own_changes.load(Ordering::SeqCst);
        look(&Transaction {
            text_index: Some(&self.text_index),
            secret: Some(&self.secret),
            ..Transaction::new(&connection, 0, own_changes)
        })?;
        Ok(transaction_guard.end("COMMIT")?)
    }

    fn with_writer(
        &self,
        action: &NewAction<'_>,
        commit: bool,
        act: &mut dyn FnMut(&mut dyn StoreWriter, ActionId) -> Result<(), NoemaError>,
    ) -> Result<ActionId, NoemaError> {
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
            ..Transaction::new(&connection, id.0, own_changes)
        };
        act(&mut transaction, id)?;
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
}
