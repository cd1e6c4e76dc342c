//! Read-only integrity checks of a SQLite file.

use std::path::Path;

use rusqlite::{Connection, ffi};

use crate::error::StoreError;
use crate::sqlite;

/// How thoroughly a file is checked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CheckDepth {
    /// Header, length and structure of every table (`quick_check`). Files larger than
    /// [`MAX_QUICK_CHECK_BYTES`]: header and length only.
    Quick,
    /// Every page and row: `integrity_check`, which compares indexes with their tables, and
    /// foreign keys.
    Deep,
}

/// Largest file for which a quick check runs `quick_check`.
pub const MAX_QUICK_CHECK_BYTES: u64 = 256 << 20;

/// Result of a check.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CheckReport {
    /// Schema version (`user_version`).
    pub schema: u32,
    /// One line for each fault.
    pub faults: Vec<String>,
}

/// Maximum number of faults reported.
const MAX_FAULTS: usize = 10;

/// Checks the file. An error means that the file could not be opened or read to its end.
pub fn check(file: &Path, depth: CheckDepth) -> Result<CheckReport, StoreError> {
    let connection = sqlite::open_read_only(file)?;
    let look = || {
        let schema: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let length = std::fs::metadata(file).map_or(0, |found| found.len());
        let mut faults = Vec::new();
        match depth {
            CheckDepth::Quick if length > MAX_QUICK_CHECK_BYTES => {
                connection.query_row("SELECT count(*) FROM sqlite_schema", (), |_| Ok(()))?;
            }
            CheckDepth::Quick => faults = pragma_lines(&connection, "PRAGMA quick_check(10)")?,
            CheckDepth::Deep => {
                faults = pragma_lines(&connection, "PRAGMA integrity_check(10)")?;
                faults.extend(foreign_key_violations(&connection)?);
            }
        }
        faults.truncate(MAX_FAULTS);
        Ok(CheckReport { schema, faults })
    };
    look().map_err(sqlite::about(file))
}

/// The error that makes a file unusable, if any. A lock or a lack of file handles does not count.
pub fn damage(file: &Path, depth: CheckDepth) -> Option<StoreError> {
    match check(file, depth) {
        Ok(checked) => checked.faults.into_iter().next().map(|fault| {
            let code = ffi::Error::new(ffi::SQLITE_CORRUPT);
            sqlite::store_error(file, rusqlite::Error::SqliteFailure(code, Some(fault)))
        }),
        Err(
            error @ (StoreError::Damaged { .. }
            | StoreError::DamagedLog { .. }
            | StoreError::NotADatabase { .. }
            | StoreError::BadRow { .. }
            | StoreError::Foreign { .. }),
        ) => Some(error),
        Err(_) => None,
    }
}

/// Output lines of a check pragma, without `ok`.
fn pragma_lines(connection: &Connection, pragma: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(pragma)?;
    let rows = statement.query_map((), |row| row.get::<_, String>(0))?;
    let all: Vec<String> = rows.collect::<rusqlite::Result<_>>()?;
    Ok(all.into_iter().filter(|line| line != "ok").collect())
}

/// Rows that violate a foreign key.
fn foreign_key_violations(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
    let rows = statement.query_map((), |row| {
        let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
        let id: Option<i64> = row.get(1)?;
        let id = id.map_or_else(|| "?".to_owned(), |id| id.to_string());
        Ok(format!("row {id} of `{table}` names a row of `{parent}` that does not exist"))
    })?;
    rows.take(MAX_FAULTS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::Durability;

    fn filled(folder: &tempfile::TempDir) -> std::path::PathBuf {
        let file = folder.path().join("a.db");
        let connection = sqlite::open(&file, Durability::Full).unwrap();
        connection
            .execute_batch(
                "PRAGMA user_version = 3;
                 CREATE TABLE deck (id INTEGER PRIMARY KEY, name TEXT) STRICT;
                 CREATE TABLE card (id INTEGER PRIMARY KEY, deck INTEGER REFERENCES deck(id)) STRICT;
                 INSERT INTO deck VALUES (1, 'a');
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
                 INSERT INTO card SELECT i, 1 FROM n;",
            )
            .unwrap();
        file
    }

    #[test]
    fn an_intact_file_has_no_faults() {
        let folder = tempfile::tempdir().unwrap();
        let file = filled(&folder);
        for depth in [CheckDepth::Quick, CheckDepth::Deep] {
            let checked = check(&file, depth).unwrap();
            assert_eq!(checked, CheckReport { schema: 3, faults: Vec::new() }, "{depth:?}");
        }
    }

    #[test]
    fn a_truncated_file_is_reported_at_either_depth() {
        let folder = tempfile::tempdir().unwrap();
        let file = filled(&folder);
        let bytes = std::fs::read(&file).unwrap();
        std::fs::write(&file, bytes.get(..bytes.len() / 2).unwrap()).unwrap();
        for depth in [CheckDepth::Quick, CheckDepth::Deep] {
            let found = check(&file, depth).map_or(true, |checked| !checked.faults.is_empty());
            assert!(found, "{depth:?}");
        }
    }

    #[test]
    fn the_deep_check_reports_foreign_key_violations() {
        let folder = tempfile::tempdir().unwrap();
        let file = filled(&folder);
        let connection = sqlite::open(&file, Durability::Full).unwrap();
        connection.execute_batch("PRAGMA foreign_keys = OFF; DELETE FROM deck;").unwrap();
        assert_eq!(check(&file, CheckDepth::Quick).unwrap().faults, Vec::<String>::new());
        let faults = check(&file, CheckDepth::Deep).unwrap().faults;
        assert_eq!(faults.len(), MAX_FAULTS);
        assert_eq!(faults[0], "row 1 of `card` names a row of `deck` that does not exist");
    }
}
