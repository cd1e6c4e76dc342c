//! Reports of evaluations: a SQLite file of their own beside the papers.
//!
//! Like the papers, nothing is made before the first run, and a server sees what another process
//! keeps.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use panoply_store::migrate::{self, Migration};
use panoply_store::sqlite::Durability;
use rusqlite::{Connection, OptionalExtension as _, Row, TransactionBehavior, params};

use crate::eval::{Kept, MOST_BYTES, MOST_REPORTS, ReportShelf, ShelfFailed};

/// Never edited once released: a change is a new step.
const STEPS: &[Migration] = &[Migration { name: "reports", sql: include_str!("reports.sql") }];

/// Reports in a file.
#[derive(Debug)]
pub struct SqliteReports {
    file: PathBuf,
    connection: Mutex<Option<Connection>>,
}

impl SqliteReports {
    /// Reports in this file, which need not be there yet.
    pub const fn at(file: PathBuf) -> Self {
        Self { file, connection: Mutex::new(None) }
    }

    fn open(&self) -> Result<MutexGuard<'_, Option<Connection>>, ShelfFailed> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if connection.is_none() {
            let opened = migrate::open(&self.file, Durability::Normal, STEPS);
            *connection = Some(opened.map_err(|error| ShelfFailed(Box::new(error)))?);
        }
        Ok(connection)
    }
}

impl ReportShelf for SqliteReports {
    fn report(&self, id: &str) -> Result<Option<Kept>, ShelfFailed> {
        if !self.file.exists() {
            return Ok(None);
        }
        match self.open()?.as_ref() {
            Some(connection) => find(connection, id),
            None => Ok(None),
        }
    }

    fn keep(
        &self,
        id: &str,
        set: &str,
        make: &dyn Fn(Option<&Kept>) -> Result<Kept, ShelfFailed>,
    ) -> Result<Kept, ShelfFailed> {
        let mut connection = self.open()?;
        let Some(connection) = connection.as_mut() else {
            return Err(broken(rusqlite::Error::InvalidQuery));
        };
        // Another process may keep a report at the same moment: who writes first is the earlier.
        let behavior = TransactionBehavior::Immediate;
        let transaction = connection.transaction_with_behavior(behavior).map_err(broken)?;
        let kept = match find(&transaction, id)? {
            Some(kept) => kept,
            None => make(latest(&transaction, set)?.as_ref())?,
        };
        put(&transaction, &kept)?;
        forget(&transaction)?;
        transaction.commit().map_err(broken)?;
        Ok(kept)
    }
}

fn find(connection: &Connection, id: &str) -> Result<Option<Kept>, ShelfFailed> {
    let mut statement =
        connection.prepare_cached("SELECT * FROM report WHERE id = ?1").map_err(broken)?;
    statement.query_row([id], kept).optional().map_err(broken)
}

fn latest(connection: &Connection, set: &str) -> Result<Option<Kept>, ShelfFailed> {
    let mut statement = connection
        .prepare_cached("SELECT * FROM report WHERE set_name = ?1 ORDER BY ran DESC LIMIT 1")
        .map_err(broken)?;
    statement.query_row([set], kept).optional().map_err(broken)
}

fn put(connection: &Connection, kept: &Kept) -> Result<(), ShelfFailed> {
    let failed = |error: serde_json::Error| ShelfFailed(Box::new(error));
    let summary = serde_json::to_string(&kept.summary).map_err(failed)?;
    let change = serde_json::to_string(&kept.change).map_err(failed)?;
    let mut statement = connection
        .prepare_cached(
            "INSERT INTO report (id, set_name, ran, bytes, json, markdown, summary, change)
             VALUES (?1, ?2, (SELECT coalesce(max(ran), 0) + 1 FROM report), ?7, ?3, ?4, ?5, ?6)
             ON CONFLICT (id) DO UPDATE SET ran = excluded.ran",
        )
        .map_err(broken)?;
    statement
        .execute(params![
            kept.id,
            kept.set,
            kept.json,
            kept.markdown,
            summary,
            change,
            number(kept.bytes())
        ])
        .map_err(broken)?;
    Ok(())
}

/// A caller could fill the disk with sets of their own. The report that was run last stays.
fn forget(connection: &Connection) -> Result<(), ShelfFailed> {
    let mut statement = connection
        .prepare_cached(
            "DELETE FROM report WHERE id IN (
               SELECT id FROM (
                 SELECT id, row_number() OVER latest AS place, sum(bytes) OVER latest AS room
                 FROM report WINDOW latest AS (ORDER BY ran DESC))
               WHERE place > 1 AND (place > ?1 OR room > ?2))",
        )
        .map_err(broken)?;
    statement.execute([number(MOST_REPORTS), number(MOST_BYTES)]).map_err(broken)?;
    Ok(())
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn kept(row: &Row<'_>) -> rusqlite::Result<Kept> {
    let (summary, change): (String, String) = (row.get("summary")?, row.get("change")?);
    Ok(Kept {
        id: row.get("id")?,
        set: row.get("set_name")?,
        json: row.get("json")?,
        markdown: row.get("markdown")?,
        summary: serde_json::from_str(&summary).unwrap_or_default(),
        change: serde_json::from_str(&change).unwrap_or_default(),
    })
}

fn broken(error: rusqlite::Error) -> ShelfFailed {
    ShelfFailed(Box::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::{MemoryReports, Summary};

    fn made(id: &str, earlier: Option<&Kept>) -> Kept {
        let since = earlier.map(|one| one.id.clone()).unwrap_or_default();
        Kept {
            id: id.to_owned(),
            set: "smoke".to_owned(),
            json: format!("{id} after {since}"),
            markdown: String::new(),
            summary: Summary::default(),
            change: None,
        }
    }

    fn run(shelf: &dyn ReportShelf, id: &str) -> String {
        shelf.keep(id, "smoke", &|earlier| Ok(made(id, earlier))).unwrap().json
    }

    #[test]
    fn a_report_stays_as_it_was_first_kept_and_the_next_one_knows_the_latest() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ttm-eval.db");
        let shelves: [&dyn ReportShelf; 2] =
            [&SqliteReports::at(file.clone()), &MemoryReports::default()];
        for shelf in shelves {
            assert_eq!(shelf.report("a").unwrap(), None);
            assert_eq!(run(shelf, "a"), "a after ");
            assert_eq!(run(shelf, "b"), "b after a");
            assert_eq!(run(shelf, "a"), "a after ", "the same bytes as the first time");
            assert_eq!(run(shelf, "c"), "c after a", "which was run last");
        }
        // Another process, later.
        let again = SqliteReports::at(file);
        assert_eq!(again.report("b").unwrap().unwrap().json, "b after a");
    }

    #[test]
    fn looking_makes_no_file_and_old_reports_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ttm-eval.db");
        let shelf = SqliteReports::at(file.clone());
        assert_eq!(shelf.report("a").unwrap(), None);
        assert!(!file.exists());
        for number in 0..=MOST_REPORTS {
            run(&shelf, &number.to_string());
        }
        assert_eq!(shelf.report("0").unwrap(), None);
        assert!(shelf.report("1").unwrap().is_some());
    }

    #[test]
    fn large_reports_make_room_for_the_last_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = SqliteReports::at(folder.path().join("ttm-eval.db"));
        let shelves: [&dyn ReportShelf; 2] = [&file, &MemoryReports::default()];
        for shelf in shelves {
            for id in ["a", "b", "c"] {
                let large = |earlier: Option<&Kept>| {
                    Ok(Kept { json: "x".repeat(MOST_BYTES / 2), ..made(id, earlier) })
                };
                shelf.keep(id, "smoke", &large).unwrap();
            }
            let there = ["a", "b", "c"].map(|id| shelf.report(id).unwrap().is_some());
            assert_eq!(there, [false, true, true]);
        }
    }
}
