//! Portfolios in a SQLite file, one for each tenant. SQL on portfolios is in this folder only.
//!
//! The file is created by the first change. Change, idempotency record and audit entry are one
//! transaction. Every change of transactions can be undone: [`Writer`] records what was before.

mod read;
mod write;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use panoply_store::StoreError;
use panoply_store::migrate::{self, Migration};
use panoply_store::mutations::{self, HasMutations, MutationTable};
use panoply_store::sqlite::Durability;
use rusqlite::{Connection, TransactionBehavior};

pub use self::read::{Change, Portfolio, Summary};
pub use self::write::{Undone, Writer};
use crate::portfolio::Wrapper;

/// Released migrations are never edited; append a new one.
const STEPS: &[Migration] =
    &[Migration { name: "portfolios", sql: include_str!("schema.sql") }, mutations::MIGRATION];

/// Why a portfolio cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum PortfolioError {
    /// No portfolio of this tenant has the id.
    #[error("the portfolio `{0}` does not exist")]
    NotFound(String),
    /// Another portfolio has the name.
    #[error("a portfolio named `{0}` exists already")]
    NameTaken(String),
    /// No such transaction.
    #[error("the portfolio has no transaction {0}")]
    NoEntry(i64),
    /// No such account.
    #[error("the portfolio has no account `{0}`")]
    NoAccount(String),
    /// The account exists with another wrapper.
    #[error("the account `{name}` is of the wrapper `{}`, not `{}`", known.as_str(), given.as_str())]
    OtherWrapper {
        /// Account.
        name: String,
        /// Its wrapper.
        known: Wrapper,
        /// Wrapper in the call.
        given: Wrapper,
    },
    /// No such change.
    #[error("the portfolio has no change {0}")]
    NoChange(i64),
    /// No change is left to undo.
    #[error("no change is left to undo")]
    NothingToUndo,
    /// The change is undone.
    #[error("change {0} is undone already")]
    AlreadyUndone(i64),
    /// A later change touched the same transaction.
    #[error("transaction {entry} was changed after change {change}")]
    ChangedSince {
        /// The change to undo.
        change: i64,
        /// The transaction.
        entry: i64,
    },
    /// The file cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<rusqlite::Error> for PortfolioError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(StoreError::of(Path::new("cgt.db"), error))
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

    /// Runs `work` in one transaction, and commits it if `keep` is set.
    pub fn change<T, E: From<PortfolioError>>(
        &self,
        keep: bool,
        work: impl FnOnce(&Writer<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut guard = self.lock();
        let is_missing = self.file.as_ref().is_some_and(|file| !file.exists());
        let mut rehearsal = None;
        let connection = match &mut *guard {
            Some(connection) => connection,
            // A dry run makes no file.
            _ if is_missing && !keep => rehearsal.insert(blank().map_err(PortfolioError::from)?),
            none => none.insert(self.connect().map_err(PortfolioError::from)?),
        };
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(PortfolioError::from)?;
        let done = work(&Writer { connection: &transaction, mutations: &self.mutations })?;
        if keep {
            transaction
                .execute("UPDATE version SET number = number + 1", ())
                .and_then(|_| transaction.commit())
                .map_err(PortfolioError::from)?;
        }
        Ok(done)
    }
}

/// An empty database in memory.
fn blank() -> Result<Connection, StoreError> {
    let place = Path::new(":memory:");
    let mut connection = Connection::open_in_memory().map_err(StoreError::about(place))?;
    connection.pragma_update(None, "foreign_keys", true).map_err(StoreError::about(place))?;
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
