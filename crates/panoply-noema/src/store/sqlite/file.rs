//! Opens and migrates the collection file.

use std::path::Path;

use panoply_store::StoreError;
use panoply_store::migrate::{self, Migration};
use panoply_store::mutations::{self, HasMutations, MutationTable};
use panoply_store::sqlite::Durability;

use rusqlite::Connection;

use super::{SqliteStore, TransactionGuard};
use crate::error::{NoemaError, StoreFailure};

/// Released migrations are never edited; a change is a new migration.
const MIGRATIONS: &[Migration] = &[
    Migration {
        name: "a collection",
        sql: concat!(include_str!("schema.sql"), include_str!("triggers.sql")),
    },
    Migration { name: "actors", sql: include_str!("actors.sql") },
    mutations::MIGRATION,
];

/// A collection could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file or its schema.
    #[error(transparent)]
    File(#[from] StoreError),
    /// The content of the file.
    #[error(transparent)]
    Content(#[from] NoemaError),
}

impl OpenError {
    /// The store error, if SQLite reported one.
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
    /// Opens or creates a file with full durability: acknowledged writes survive power loss.
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
