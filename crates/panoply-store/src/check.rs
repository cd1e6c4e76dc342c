//! Reads a SQLite file to find out whether it is whole. Nothing is changed.

use std::path::Path;

use rusqlite::{Connection, ffi};

use crate::error::StoreError;
use crate::sqlite;

/// How much of a file is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Depth {
    /// The header, the length and the structure of every table (`quick_check`); of a file of more
    /// than [`LARGEST_QUICK`] bytes only header and length.
    Quick,
    /// Every page and row: `integrity_check`, which compares indexes with their tables, and
    /// foreign keys.
    Deep,
}

/// The largest file whose structure a quick check walks.
pub const LARGEST_QUICK: u64 = 256 << 20;

/// What was found in a file that could be opened.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Checked {
    /// The version of its schema.
    pub schema: u32,
    /// What is wrong with it, a line each; empty when nothing is.
    pub faults: Vec<String>,
}

/// Faults that are named; more are seldom of use.
const MOST_FAULTS: usize = 10;

/// Reads the file. An error means that it cannot be read at all, or that reading stopped.
pub fn check(file: &Path, depth: Depth) -> Result<Checked, StoreError> {
    let connection = sqlite::open_read_only(file)?;
    let look = || {
        let schema: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let length = std::fs::metadata(file).map_or(0, |found| found.len());
        let mut faults = Vec::new();
        match depth {
            Depth::Quick if length > LARGEST_QUICK => {
                connection.query_row("SELECT count(*) FROM sqlite_schema", (), |_| Ok(()))?;
            }
            Depth::Quick => faults = lines(&connection, "PRAGMA quick_check(10)")?,
            Depth::Deep => {
                faults = lines(&connection, "PRAGMA integrity_check(10)")?;
                faults.extend(orphans(&connection)?);
            }
        }
        faults.truncate(MOST_FAULTS);
        Ok(Checked { schema, faults })
    };
    look().map_err(StoreError::about(file))
}

/// What makes the content of a file unusable, if anything does. A lock or a lack of handles does
/// not.
pub fn damage(file: &Path, depth: Depth) -> Option<StoreError> {
    match check(file, depth) {
        Ok(checked) => checked.faults.into_iter().next().map(|fault| {
            let code = ffi::Error::new(ffi::SQLITE_CORRUPT);
            StoreError::of(file, rusqlite::Error::SqliteFailure(code, Some(fault)))
        }),
        Err(
            error @ (StoreError::Damaged { .. }
            | StoreError::NotADatabase { .. }
            | StoreError::BadRow { .. }
            | StoreError::Foreign { .. }),
        ) => Some(error),
        Err(_) => None,
    }
}

/// What a pragma of checking says, without its `ok`.
fn lines(connection: &Connection, pragma: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(pragma)?;
    let rows = statement.query_map((), |row| row.get::<_, String>(0))?;
    let all: Vec<String> = rows.collect::<rusqlite::Result<_>>()?;
    Ok(all.into_iter().filter(|line| line != "ok").collect())
}

/// Rows that name a row which is not there.
fn orphans(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
    let rows = statement.query_map((), |row| {
        let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
        let id: Option<i64> = row.get(1)?;
        let id = id.map_or_else(|| "?".to_owned(), |id| id.to_string());
        Ok(format!("row {id} of `{table}` names a row of `{parent}` that does not exist"))
    })?;
    rows.take(MOST_FAULTS).collect()
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
    fn a_file_that_is_whole_has_no_faults() {
        let folder = tempfile::tempdir().unwrap();
        let file = filled(&folder);
        for depth in [Depth::Quick, Depth::Deep] {
            let checked = check(&file, depth).unwrap();
            assert_eq!(checked, Checked { schema: 3, faults: Vec::new() }, "{depth:?}");
        }
    }

    #[test]
    fn a_file_cut_in_half_is_found_by_either_depth() {
        let folder = tempfile::tempdir().unwrap();
        let file = filled(&folder);
        let bytes = std::fs::read(&file).unwrap();
        std::fs::write(&file, bytes.get(..bytes.len() / 2).unwrap()).unwrap();
        for depth in [Depth::Quick, Depth::Deep] {
            let found = check(&file, depth).map_or(true, |checked| !checked.faults.is_empty());
            assert!(found, "{depth:?}");
        }
    }

    #[test]
    fn a_row_that_names_a_missing_row_is_found_by_the_deep_check() {
        let folder = tempfile::tempdir().unwrap();
        let file = filled(&folder);
        let connection = sqlite::open(&file, Durability::Full).unwrap();
        connection.execute_batch("PRAGMA foreign_keys = OFF; DELETE FROM deck;").unwrap();
        assert_eq!(check(&file, Depth::Quick).unwrap().faults, Vec::<String>::new());
        let faults = check(&file, Depth::Deep).unwrap().faults;
        assert_eq!(faults.len(), MOST_FAULTS);
        assert_eq!(faults[0], "row 1 of `card` names a row of `deck` that does not exist");
    }
}
