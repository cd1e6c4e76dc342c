//! A collection in a file of the program's home, made and brought up to date on the way.

use std::path::Path;

use panoply_store::StoreError;
use panoply_store::migrate::{self, Migration};
use panoply_store::mutations::{self, HasMutations, MutationTable};
use panoply_store::sqlite::Durability;

use rusqlite::Connection;

use super::SqliteStore;
use crate::problem::{Problem, StoreFailure};

/// Never edited once released: a change is a new step.
const STEPS: &[Migration] = &[
    Migration {
        name: "a collection",
        sql: concat!(include_str!("schema.sql"), include_str!("triggers.sql")),
    },
    Migration { name: "actors", sql: include_str!("actors.sql") },
    mutations::MIGRATION,
];

/// Why a collection could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum NotOpened {
    /// The file.
    #[error(transparent)]
    File(#[from] StoreError),
    /// What is in it.
    #[error(transparent)]
    Content(#[from] Problem),
}

impl NotOpened {
    /// The error of the file, where SQLite said one.
    pub fn into_store_error(self, file: &Path) -> Option<StoreError> {
        match self {
            Self::File(error) => Some(error),
            Self::Content(Problem::Store(StoreFailure { code: Some(code), message })) => {
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
    pub fn open(file: &Path) -> Result<Self, NotOpened> {
        Ok(Self::over(migrate::open(file, Durability::Full, STEPS)?)?)
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
