//! Portfolios in a SQLite file, one for each tenant. SQL on portfolios is in this folder only.
//!
//! The file is created by the first change. For undo, `Writer` records what was before.

mod read;
mod write;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use panoply_contract::mutation::MutationLog;
use panoply_store::StoreError;
use panoply_store::migrate::{self, Migration};
use panoply_store::mutations::{self, HasMutations, MutationTable, SqliteMutationLog};
use panoply_store::sqlite::{self, Durability};
use rusqlite::{Connection, TransactionBehavior};

use self::write::Writer;
use super::{Change, Portfolio, PortfolioError, PortfolioStore, PortfolioWriter, Summary};

/// Tables and indexes.
pub const SCHEMA: &str = include_str!("schema.sql");

/// Released migrations are never edited; append a new one.
const STEPS: &[Migration] = &[Migration { name: "portfolios", sql: SCHEMA }, mutations::MIGRATION];

impl From<rusqlite::Error> for PortfolioError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(sqlite::store_error(Path::new("cgt.db"), error))
    }
}

/// Portfolios of one tenant.
#[derive(Debug)]
pub struct SqlitePortfolios {
    /// `None` in memory.
    file: Option<PathBuf>,
    connection: Mutex<Option<Connection>>,
    mutations: MutationTable,
}

impl SqlitePortfolios {
    /// Creates a store for a file, which need not exist.
    pub fn at(file: PathBuf) -> Self {
        Self::of(Some(file))
    }

    /// Creates an empty store in memory.
    pub fn in_memory() -> Self {
        Self::of(None)
    }

    /// Wraps a connection whose database has [`SCHEMA`] and the mutation table.
    pub fn from_connection(connection: Connection) -> Self {
        Self { connection: Mutex::new(Some(connection)), ..Self::of(None) }
    }

    fn of(file: Option<PathBuf>) -> Self {
        Self { file, connection: Mutex::new(None), mutations: MutationTable::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Connection>> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connect(&self) -> Result<Connection, StoreError> {
        match &self.file {
            Some(file) => migrate::open(file, Durability::Full, STEPS),
            None => blank(),
        }
    }

    /// Runs `read` on the database, or on an empty one while the file does not exist.
    fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, PortfolioError>,
    ) -> Result<T, PortfolioError> {
        let mut guard = self.lock();
        if guard.is_none() && self.file.as_ref().is_some_and(|file| !file.exists()) {
            return read(&blank()?);
        }
        let connection = match &mut *guard {
            Some(connection) => connection,
            none => none.insert(self.connect()?),
        };
        read(connection)
    }
}

impl PortfolioStore for SqlitePortfolios {
    fn list(&self) -> Result<Vec<Summary>, PortfolioError> {
        self.read(read::list)
    }

    fn load(&self, id: &str) -> Result<Portfolio, PortfolioError> {
        self.read(|connection| read::load(connection, id))
    }

    fn changes(&self, id: &str, limit: usize) -> Result<Vec<Change>, PortfolioError> {
        self.read(|connection| read::changes(connection, id, limit))
    }

    fn version(&self) -> u64 {
        if !self.has_database() {
            return 0;
        }
        // An unreadable version is 0: the read that follows reports the error.
        let version = self.read(read::version);
        version.ok().and_then(|version| u64::try_from(version).ok()).unwrap_or(0)
    }

    fn with_writer(
        &self,
        commit: bool,
        write: &mut dyn FnMut(&dyn PortfolioWriter) -> bool,
    ) -> Result<(), PortfolioError> {
        let mut guard = self.lock();
        let is_missing = self.file.as_ref().is_some_and(|file| !file.exists());
        let mut rehearsal = None;
        let connection = match &mut *guard {
            Some(connection) => connection,
            // A dry run makes no file.
            _ if is_missing && !commit => rehearsal.insert(blank()?),
            none => none.insert(self.connect()?),
        };
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if write(&Writer { connection: &transaction, mutations: &self.mutations }) && commit {
            transaction.execute("UPDATE version SET number = number + 1", ())?;
            transaction.commit()?;
        }
        Ok(())
    }

    fn mutation_log(self: Arc<Self>) -> Arc<dyn MutationLog> {
        Arc::new(SqliteMutationLog(self))
    }
}

/// An empty database in memory.
fn blank() -> Result<Connection, StoreError> {
    let place = Path::new(":memory:");
    let mut connection = Connection::open_in_memory().map_err(sqlite::about(place))?;
    connection.pragma_update(None, "foreign_keys", true).map_err(sqlite::about(place))?;
    migrate::migrate(&mut connection, place, STEPS)?;
    Ok(connection)
}

impl HasMutations for SqlitePortfolios {
    fn mutations(&self) -> &MutationTable {
        &self.mutations
    }

    fn with_connection<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut guard = self.lock();
        let connection = match &mut *guard {
            Some(connection) => connection,
            none => none.insert(self.connect()?),
        };
        work(connection)
    }

    fn has_database(&self) -> bool {
        self.lock().is_some() || self.file.as_ref().is_none_or(|file| file.exists())
    }
}

#[cfg(test)]
mod tests;
