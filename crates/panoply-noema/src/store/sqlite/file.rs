//! Opens and migrates the collection file.

use std::path::Path;

use panoply_store::StoreError;
use panoply_store::migrate::{self, Migration};
use panoply_store::mutations::{self, HasMutations, MutationTable};
use panoply_store::sqlite::Durability;

use rusqlite::Connection;

use super::SqliteStore;
use crate::error::{NoemaError, StoreFailure};

/// Released migrations are never edited; a change is a new migration.
const MIGRATIONS: &[Migration] = &[
    Migration {
        name: "a collection",
        sql: concat!(include_str!("schema.sql"), include_str!("triggers.sql")),
    },
    Migration { name: "actors", sql: include_str!("actors.sql") },
    mutations::MIGRATION,
    Migration { name: "learner", sql: include_str!("learner.sql") },
    Migration { name: "media files", sql: include_str!("media.sql") },
    Migration { name: "note types", sql: include_str!("note_types.sql") },
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
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        work(&mut self.lock())
    }
}
