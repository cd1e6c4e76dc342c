//! Opens and migrates the collection file.

use std::path::Path;
use std::sync::Arc;

use panoply_store::StoreError;
use panoply_store::migrate::{self, Migration};
use panoply_store::mutations::{self, HasMutations, MutationTable};
use panoply_store::sqlite::{self, Durability};

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
    // The same triggers, with named columns.
    Migration {
        name: "counts",
        sql: concat!(include_str!("drop_triggers.sql"), include_str!("counts.sql")),
    },
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
    pub fn into_store_error(self) -> Option<Arc<StoreError>> {
        match self {
            Self::File(error) => Some(Arc::new(error)),
            Self::Content(NoemaError::Store(failure)) => failure.cause,
            Self::Content(_) => None,
        }
    }
}

impl From<OpenError> for NoemaError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::File(error) => {
                let message = error.to_string();
                Self::Store(StoreFailure { message, cause: Some(Arc::new(error)) })
            }
            OpenError::Content(error) => error,
        }
    }
}

/// The store error of an error that SQLite reported; `None` for a value of the wrong type.
pub(super) fn store_error(error: rusqlite::Error) -> Option<StoreError> {
    error.sqlite_extended_error_code()?;
    Some(sqlite::store_error(Path::new("noema.db"), error))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_file_gets_triggers_with_named_columns() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("noema.db");
        let (_, older) = MIGRATIONS.split_last().unwrap();
        drop(migrate::open(&file, Durability::Full, older).unwrap());
        let migrated = migrate::open(&file, Durability::Full, MIGRATIONS).unwrap();
        let mut statement =
            migrated.prepare("SELECT sql FROM sqlite_master WHERE type = 'trigger'").unwrap();
        let triggers = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let triggers: Vec<String> = triggers.map(Result::unwrap).collect();
        assert_eq!(triggers.len(), super::super::TRIGGERS.matches("CREATE TRIGGER").count());
        let positional = triggers.iter().find(|sql| sql.contains("_count VALUES"));
        assert_eq!(positional, None);
    }

    #[test]
    fn collection_has_all_built_in_note_types_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("noema.db");
        let connection = migrate::open(&file, Durability::Full, MIGRATIONS).unwrap();
        let fails = "CREATE TRIGGER full_disk BEFORE INSERT ON note_type WHEN NEW.id = 3
                     BEGIN SELECT RAISE(ABORT, 'full disk'); END";
        connection.execute_batch(fails).unwrap();
        assert!(SqliteStore::from_connection(connection).is_err());
        let connection = migrate::open(&file, Durability::Full, MIGRATIONS).unwrap();
        connection.execute_batch("DROP TRIGGER full_disk").unwrap();
        let store = SqliteStore::from_connection(connection).unwrap();
        let count = "SELECT count(*) FROM note_type WHERE id <= 5";
        let forms: i64 = store.lock().query_row(count, (), |row| row.get(0)).unwrap();
        assert_eq!(usize::try_from(forms), Ok(crate::note::Form::ALL.len()));
    }
}
