//! A collection in a file of the program's home, made and brought up to date on the way.

use std::path::Path;

use panoply_store::StoreError;
use panoply_store::migrate::{self, Migration};
use panoply_store::mutations::{self, HasMutations, MutationTable};
use panoply_store::sqlite::Durability;

use rusqlite::Connection;

use super::{SqliteStore, TransactionGuard};
use crate::error::{NoemaError, StoreFailure};

/// Never edited once released: a change is a new step.
const MIGRATIONS: &[Migration] = &[
    Migration {
        name: "a collection",
        sql: concat!(include_str!("schema.sql"), include_str!("triggers.sql")),
    },
    Migration { name: "actors", sql: include_str!("actors.sql") },
    mutations::MIGRATION,
];

/// Why a collection could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file.
    #[error(transparent)]
    File(#[from] StoreError),
    /// What is in it.
    #[error(transparent)]
    Content(#[from] NoemaError),
}

impl OpenError {
    /// The error of the file, where SQLite said one.
    pub fn into_store_error(self, file: &Path) -> Option<StoreError> {
        match self {
            Self::File(error) => Some(error),
            Self::Content(NoemaError::Store(StoreFailure { code: Some(code), message })) => {
                let code = rusqlite::ffi::Error::new(code);
                let source = rusqlite::Error::SqliteFailure(code, Some(message));
                Some(StoreError::of(file, source))
            }
            Self::Content(_) => None,
        }
    }
}

impl SqliteStore {
    /// Opens a file, or makes it. What is acknowledged survives loss of power.
    pub fn open(file: &Path) -> Result<Self, OpenError> {
        Ok(Self::from_connection(migrate::open(file, Durability::Full, MIGRATIONS)?)?)
    }
}

impl HasMutations for SqliteStore {
    fn mutations(&self) -> &MutationTable {
        &self.mutations
    }

    fn with_connection<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let connection = self.lock();
        work(&connection).map(Some).map_err(store_error(&connection))
    }

    fn write<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let connection = self.lock();
        let write = || {
            let transaction_guard = TransactionGuard::begin(&connection, "BEGIN IMMEDIATE")?;
            let done = work(&connection)?;
            transaction_guard.end("COMMIT")?;
            Ok(done)
        };
        write().map_err(store_error(&connection))
    }
}

fn store_error(connection: &Connection) -> impl Fn(rusqlite::Error) -> StoreError {
    let file = connection.path().unwrap_or_default().to_owned();
    move |source| StoreError::of(Path::new(&file), source)
}
