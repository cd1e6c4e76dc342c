//! SQLite implementation of the user store: papers and documents in a file of the home directory.
//!
//! The file is created by the first import. Until then the store is empty; a running server notices
//! imports of other processes.

mod documents;
mod indexer;
mod jobs;
mod reports;
mod term_counts;
mod user_index;
#[cfg(test)]
mod user_index_tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use panoply_store::StoreError;
use panoply_store::migrate::{self, Migration};
use panoply_store::mutations::{self, HasMutations, MutationTable};
use panoply_store::sqlite::{Durability, store_error};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, TransactionBehavior, params};
use serde::de::DeserializeOwned;

pub use self::reports::SqliteReportStore;
use self::user_index::SqliteUserIndex;
use crate::papers::{Imported, PaperStore, Record, UserStoreError};
use crate::search::{PaperImport, RecordSource, TextModel, UserIndex, UserStore};

/// Released migrations are never edited; append a new one.
pub const MIGRATIONS: &[Migration] = &[
    Migration { name: "papers", sql: include_str!("schema.sql") },
    Migration { name: "documents", sql: include_str!("documents.sql") },
    Migration { name: "search", sql: include_str!("search.sql") },
    mutations::MIGRATION,
];

/// User store in a SQLite file.
#[derive(Debug)]
pub struct SqliteUserStore {
    file: PathBuf,
    connection: Mutex<Option<Connection>>,
    mutations: MutationTable,
}

impl SqliteUserStore {
    /// Creates a store for a file, which need not exist.
    pub fn at(file: PathBuf) -> Self {
        Self { file, connection: Mutex::new(None), mutations: MutationTable::default() }
    }

    /// Wraps a connection to a file that has [`MIGRATIONS`].
    pub fn from_connection(file: PathBuf, connection: Connection) -> Self {
        Self { connection: Mutex::new(Some(connection)), ..Self::at(file) }
    }

    fn open(&self) -> Result<MutexGuard<'_, Option<Connection>>, UserStoreError> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if connection.is_none() && self.file.exists() {
            *connection = Some(self.connect()?);
        }
        Ok(connection)
    }

    /// Opens the file and creates it if necessary.
    fn make(&self) -> Result<MutexGuard<'_, Option<Connection>>, UserStoreError> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if connection.is_none() {
            *connection = Some(self.connect()?);
        }
        Ok(connection)
    }

    fn connect(&self) -> Result<Connection, UserStoreError> {
        migrate::open(&self.file, Durability::Full, MIGRATIONS)
            .map_err(|error| UserStoreError(Box::new(error)))
    }
}

impl HasMutations for SqliteUserStore {
    fn mutations(&self) -> &MutationTable {
        &self.mutations
    }

    fn with_connection<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut guard = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match &mut *guard {
            Some(connection) => connection,
            none => none.insert(migrate::open(&self.file, Durability::Full, MIGRATIONS)?),
        };
        work(connection)
    }

    fn has_database(&self) -> bool {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        connection.is_some() || self.file.exists()
    }
}

impl UserStore for SqliteUserStore {
    fn user_index(
        &self,
        text_model: &TextModel,
    ) -> Result<Option<Arc<dyn UserIndex>>, UserStoreError> {
        if !self.file.exists() {
            return Ok(None);
        }
        self.update_index(text_model, &mut |_, _| {})?;
        let user_index = SqliteUserIndex::open(&self.file, text_model)?;
        Ok((!user_index.table().is_empty()).then(|| Arc::new(user_index) as Arc<dyn UserIndex>))
    }
}

impl PaperImport for SqliteUserStore {
    fn import_papers(&self, source: &mut RecordSource<'_>) -> Result<Imported, UserStoreError> {
        let mut connection = self.make()?;
        let Some(connection) = connection.as_mut() else {
            return Err(rusqlite::Error::InvalidQuery.into());
        };
        // A deferred transaction would fail with SQLITE_BUSY when it upgrades from read to write
        // after another import.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut imported = Imported::default();
        source(&mut |record| {
            let known = find(&transaction, &record.pmid)?;
            match known {
                Some(known) if known == record => {
                    imported.unchanged += 1;
                    return Ok(());
                }
                Some(_) => imported.changed += 1,
                None => imported.added += 1,
            }
            put(&transaction, &record)
        })?;
        if imported.added + imported.changed > 0 {
            changed(&transaction)?;
        }
        transaction.commit()?;
        Ok(imported)
    }

    fn update_index(
        &self,
        text_model: &TextModel,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), UserStoreError> {
        if !self.file.exists() {
            return Ok(());
        }
        // Uses a separate connection: indexing may take long and must not block readers.
        indexer::update(&mut self.connect()?, text_model, progress)
    }
}

impl PaperStore for SqliteUserStore {
    fn paper(&self, pmid: &str) -> Result<Option<Record>, UserStoreError> {
        match self.open()?.as_ref() {
            Some(connection) => find(connection, pmid),
            None => Ok(None),
        }
    }

    fn papers(&self) -> Result<Vec<Record>, UserStoreError> {
        let connection = self.open()?;
        let Some(connection) = connection.as_ref() else { return Ok(Vec::new()) };
        let mut statement =
            connection.prepare_cached("SELECT * FROM paper ORDER BY CAST(pmid AS INTEGER)")?;
        let rows = statement.query_map([], record)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn version(&self) -> u64 {
        let Ok(connection) = self.open() else { return 0 };
        let read = |connection: &Connection| {
            let mut statement = connection.prepare_cached("SELECT version FROM shelf")?;
            statement.query_row([], |row| row.get::<_, i64>(0))
        };
        let version = connection.as_ref().and_then(|connection| read(connection).ok());
        version.and_then(|version| u64::try_from(version).ok()).unwrap_or(0)
    }
}

/// Increments the version, which other processes and caches observe.
fn changed(connection: &Connection) -> Result<(), UserStoreError> {
    connection.execute("UPDATE shelf SET version = version + 1", [])?;
    Ok(())
}

fn find(connection: &Connection, pmid: &str) -> Result<Option<Record>, UserStoreError> {
    let mut statement = connection.prepare_cached("SELECT * FROM paper WHERE pmid = ?1")?;
    Ok(statement.query_row([pmid], record).optional()?)
}

fn put(connection: &Connection, record: &Record) -> Result<(), UserStoreError> {
    let mut statement = connection
        .prepare_cached(
            "INSERT INTO paper (pmid, title, abstract, authors, journal, year, mesh, publication_types, doi, languages)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
             ON CONFLICT (pmid) DO UPDATE SET
               title = excluded.title, abstract = excluded.abstract, authors = excluded.authors,
               journal = excluded.journal, year = excluded.year, mesh = excluded.mesh,
               publication_types = excluded.publication_types, doi = excluded.doi,
               languages = excluded.languages",
        )?;
    statement.execute(params![
        record.pmid,
        record.title,
        record.abstract_text,
        json_list(&record.authors),
        record.journal,
        record.year,
        json_list(&record.mesh),
        json_list(&record.publication_types),
        record.doi,
        json_list(&record.languages),
    ])?;
    Ok(())
}

fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    Ok(Record {
        pmid: row.get("pmid")?,
        title: row.get("title")?,
        abstract_text: row.get("abstract")?,
        authors: json_column(row, "authors")?,
        journal: row.get("journal")?,
        year: row.get("year")?,
        mesh: json_column(row, "mesh")?,
        publication_types: json_column(row, "publication_types")?,
        doi: row.get("doi")?,
        languages: json_column(row, "languages")?,
    })
}

/// Reads a column that contains JSON. A damaged value is an error, not an empty one.
fn json_column<T: DeserializeOwned>(row: &Row<'_>, name: &str) -> rusqlite::Result<T> {
    let text: Option<String> = row.get(name)?;
    serde_json::from_str(text.as_deref().unwrap_or("null")).map_err(|error| {
        let column = row.as_ref().column_index(name).unwrap_or_default();
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    })
}

fn json_list(list: &[String]) -> String {
    serde_json::to_string(list).unwrap_or_else(|_| "[]".to_owned())
}

impl From<rusqlite::Error> for UserStoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self(Box::new(store_error(Path::new("ttm.db"), error)))
    }
}

impl From<serde_json::Error> for UserStoreError {
    fn from(error: serde_json::Error) -> Self {
        Self(Box::new(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(pmid: &str, title: &str) -> Record {
        Record {
            pmid: pmid.to_owned(),
            title: title.to_owned(),
            authors: vec!["สมชาย ใจดี".to_owned()],
            year: Some(2020),
            ..Record::default()
        }
    }

    fn import(store: &SqliteUserStore, records: Vec<Record>) -> Result<Imported, UserStoreError> {
        let mut records = records.into_iter();
        store.import_papers(&mut |take| records.try_for_each(take))
    }

    #[test]
    fn paper_import_round_trips_and_is_idempotent() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteUserStore::at(folder.path().join("ttm.db"));
        assert_eq!(store.papers().unwrap(), []);
        assert!(!folder.path().join("ttm.db").exists(), "looking makes no file");
        let records = vec![record("10", "Ten"), record("9", "Nine")];
        let done = import(&store, records.clone()).unwrap();
        assert_eq!(done, Imported { added: 2, ..Imported::default() });
        assert_eq!(store.papers().unwrap(), [records[1].clone(), records[0].clone()]);
        let version = store.version();
        let done = import(&store, records).unwrap();
        assert_eq!(done, Imported { unchanged: 2, ..Imported::default() });
        assert_eq!(store.version(), version);
        let done = import(&store, vec![record("9", "Nine, corrected")]).unwrap();
        assert_eq!(done, Imported { changed: 1, ..Imported::default() });
        assert_ne!(store.version(), version);
        assert_eq!(store.paper("9").unwrap().unwrap().title, "Nine, corrected");
    }

    #[test]
    fn damaged_list_column_is_an_error_not_an_empty_list() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ttm.db");
        let store = SqliteUserStore::at(file.clone());
        import(&store, vec![record("9", "Nine")]).unwrap();
        let connection = Connection::open(file).unwrap();
        connection.execute("UPDATE paper SET authors = '[\"cut'", []).unwrap();
        assert!(store.paper("9").is_err());
        assert!(store.papers().is_err());
    }

    #[test]
    fn failed_import_is_rolled_back() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteUserStore::at(folder.path().join("ttm.db"));
        let failed = store.import_papers(&mut |take| {
            take(record("1", "One"))?;
            Err(UserStoreError("the file ended".into()))
        });
        assert!(failed.is_err());
        assert_eq!(store.papers().unwrap(), []);
    }

    #[test]
    fn import_is_visible_to_another_process() {
        let folder = tempfile::tempdir().unwrap();
        let server = SqliteUserStore::at(folder.path().join("ttm.db"));
        assert_eq!(server.version(), 0);
        import(&SqliteUserStore::at(folder.path().join("ttm.db")), vec![record("1", "One")])
            .unwrap();
        assert_ne!(server.version(), 0);
        assert_eq!(server.paper("1").unwrap().unwrap().title, "One");
    }
}
