//! Evaluation reports in a separate SQLite file.
//!
//! The file is created by the first run; a running server notices reports of other processes.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use panoply_store::migrate::{self, Migration};
use panoply_store::sqlite::{Durability, store_error};
use rusqlite::{Connection, OptionalExtension as _, Row, TransactionBehavior, params};

use super::json_column;
use crate::eval::{MAX_REPORTS, MAX_TOTAL_BYTES, ReportStore, ReportStoreError, StoredReport};

/// Released migrations are never edited; append a new one.
const STEPS: &[Migration] = &[Migration { name: "reports", sql: include_str!("reports.sql") }];

/// Report store in a SQLite file.
#[derive(Debug)]
pub struct SqliteReportStore {
    file: PathBuf,
    connection: Mutex<Option<Connection>>,
}

impl SqliteReportStore {
    /// Creates a store for a file, which need not exist.
    pub const fn at(file: PathBuf) -> Self {
        Self { file, connection: Mutex::new(None) }
    }

    fn open(&self) -> Result<MutexGuard<'_, Option<Connection>>, ReportStoreError> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if connection.is_none() {
            let opened = migrate::open(&self.file, Durability::Normal, STEPS);
            *connection = Some(opened.map_err(|error| ReportStoreError(Box::new(error)))?);
        }
        Ok(connection)
    }
}

impl ReportStore for SqliteReportStore {
    fn report(&self, id: &str) -> Result<Option<StoredReport>, ReportStoreError> {
        if !self.file.exists() {
            return Ok(None);
        }
        match self.open()?.as_ref() {
            Some(connection) => find(connection, id),
            None => Ok(None),
        }
    }

    fn save(
        &self,
        id: &str,
        set: &str,
        make: &dyn Fn(Option<&StoredReport>) -> Result<StoredReport, ReportStoreError>,
    ) -> Result<StoredReport, ReportStoreError> {
        let mut connection = self.open()?;
        let Some(connection) = connection.as_mut() else {
            return Err(rusqlite::Error::InvalidQuery.into());
        };
        // Another process may store a report concurrently: serialise writers.
        let behavior = TransactionBehavior::Immediate;
        let transaction = connection.transaction_with_behavior(behavior)?;
        let stored = match find(&transaction, id)? {
            Some(stored) => stored,
            None => make(latest(&transaction, set)?.as_ref())?,
        };
        put(&transaction, &stored)?;
        evict(&transaction)?;
        transaction.commit()?;
        Ok(stored)
    }
}

fn find(connection: &Connection, id: &str) -> Result<Option<StoredReport>, ReportStoreError> {
    let mut statement = connection.prepare_cached("SELECT * FROM report WHERE id = ?1")?;
    Ok(statement.query_row([id], stored).optional()?)
}

fn latest(connection: &Connection, set: &str) -> Result<Option<StoredReport>, ReportStoreError> {
    let mut statement = connection
        .prepare_cached("SELECT * FROM report WHERE set_name = ?1 ORDER BY ran DESC LIMIT 1")?;
    Ok(statement.query_row([set], stored).optional()?)
}

fn put(connection: &Connection, stored: &StoredReport) -> Result<(), ReportStoreError> {
    let failed = |error: serde_json::Error| ReportStoreError(Box::new(error));
    let summary = serde_json::to_string(&stored.summary).map_err(failed)?;
    let change = serde_json::to_string(&stored.change).map_err(failed)?;
    let mut statement = connection.prepare_cached(
        "INSERT INTO report (id, set_name, ran, bytes, json, markdown, summary, change)
             VALUES (?1, ?2, (SELECT coalesce(max(ran), 0) + 1 FROM report), ?7, ?3, ?4, ?5, ?6)
             ON CONFLICT (id) DO UPDATE SET ran = excluded.ran",
    )?;
    statement.execute(params![
        stored.id,
        stored.set,
        stored.json,
        stored.markdown,
        summary,
        change,
        number(stored.bytes())
    ])?;
    Ok(())
}

/// Bounds the disk usage of user-supplied sets. The latest report is never evicted.
fn evict(connection: &Connection) -> Result<(), ReportStoreError> {
    let mut statement = connection.prepare_cached(
        "DELETE FROM report WHERE id IN (
               SELECT id FROM (
                 SELECT id, row_number() OVER latest AS place, sum(bytes) OVER latest AS room
                 FROM report WINDOW latest AS (ORDER BY ran DESC))
               WHERE place > 1 AND (place > ?1 OR room > ?2))",
    )?;
    statement.execute([number(MAX_REPORTS), number(MAX_TOTAL_BYTES)])?;
    Ok(())
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredReport> {
    Ok(StoredReport {
        id: row.get("id")?,
        set: row.get("set_name")?,
        json: row.get("json")?,
        markdown: row.get("markdown")?,
        summary: json_column(row, "summary")?,
        change: json_column(row, "change")?,
    })
}

impl From<rusqlite::Error> for ReportStoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self(Box::new(store_error(Path::new("ttm-eval.db"), error)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::{MemoryReportStore, Summary};

    fn made(id: &str, earlier: Option<&StoredReport>) -> StoredReport {
        let since = earlier.map(|one| one.id.clone()).unwrap_or_default();
        StoredReport {
            id: id.to_owned(),
            set: "smoke".to_owned(),
            json: format!("{id} after {since}"),
            markdown: String::new(),
            summary: Summary::default(),
            change: None,
        }
    }

    fn run(store: &dyn ReportStore, id: &str) -> String {
        store.save(id, "smoke", &|earlier| Ok(made(id, earlier))).unwrap().json
    }

    #[test]
    fn stored_report_is_immutable_and_the_next_run_compares_with_the_latest() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ttm-eval.db");
        let shelves: [&dyn ReportStore; 2] =
            [&SqliteReportStore::at(file.clone()), &MemoryReportStore::default()];
        for store in shelves {
            assert_eq!(store.report("a").unwrap(), None);
            assert_eq!(run(store, "a"), "a after ");
            assert_eq!(run(store, "b"), "b after a");
            assert_eq!(run(store, "a"), "a after ", "the same bytes as the first time");
            assert_eq!(run(store, "c"), "c after a", "which was run last");
        }
        // Another process.
        let again = SqliteReportStore::at(file);
        assert_eq!(again.report("b").unwrap().unwrap().json, "b after a");
    }

    #[test]
    fn reading_creates_no_file_and_old_reports_are_evicted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ttm-eval.db");
        let store = SqliteReportStore::at(file.clone());
        assert_eq!(store.report("a").unwrap(), None);
        assert!(!file.exists());
        for number in 0..=MAX_REPORTS {
            run(&store, &number.to_string());
        }
        assert_eq!(store.report("0").unwrap(), None);
        assert!(store.report("1").unwrap().is_some());
    }

    #[test]
    fn large_reports_are_evicted_but_the_last_one_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = SqliteReportStore::at(folder.path().join("ttm-eval.db"));
        let shelves: [&dyn ReportStore; 2] = [&file, &MemoryReportStore::default()];
        for store in shelves {
            for id in ["a", "b", "c"] {
                let large = |earlier: Option<&StoredReport>| {
                    Ok(StoredReport { json: "x".repeat(MAX_TOTAL_BYTES / 2), ..made(id, earlier) })
                };
                store.save(id, "smoke", &large).unwrap();
            }
            let there = ["a", "b", "c"].map(|id| store.report(id).unwrap().is_some());
            assert_eq!(there, [false, true, true]);
        }
    }
}
