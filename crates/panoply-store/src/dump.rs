//! Dump of a database as JSON objects, for the export of a person's data.
//!
//! Every table is dumped except virtual tables and their shadow tables, which are search indexes
//! over the others. A BLOB is written as `{"base64": "…"}`.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde_json::{Map, Value, json};

use crate::error::StoreError;
use crate::sqlite;

/// Whether a file is a SQLite database, by its first bytes.
pub fn is_database(start: &[u8]) -> bool {
    start.starts_with(b"SQLite format 3\0")
}

/// Why a dump stopped.
#[derive(Debug, thiserror::Error)]
pub enum DumpError<E> {
    /// The database cannot be read.
    #[error(transparent)]
    Store(StoreError),
    /// The receiver of the rows failed.
    #[error("{0}")]
    Receiver(E),
}

/// Passes every row of every table to `receive`, as name of the table and row, in one read
/// transaction.
pub fn dump<E>(
    file: &Path,
    mut receive: impl FnMut(&str, &Value) -> Result<(), E>,
) -> Result<(), DumpError<E>> {
    let failed = |error| DumpError::Store(sqlite::store_error(file, error));
    let mut connection = sqlite::open_read_only(file).map_err(DumpError::Store)?;
    let snapshot = connection.transaction().map_err(failed)?;
    for table in tables(&snapshot).map_err(failed)? {
        let sql = format!("SELECT * FROM \"{}\"", table.replace('"', "\"\""));
        let mut statement = snapshot.prepare(&sql).map_err(failed)?;
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query(()).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let mut members = Map::new();
            for (number, column) in columns.iter().enumerate() {
                members.insert(column.clone(), json_of(row.get_ref(number).map_err(failed)?));
            }
            receive(&table, &Value::Object(members)).map_err(DumpError::Receiver)?;
        }
    }
    Ok(())
}

fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT name FROM pragma_table_list \
               WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
               ORDER BY name";
    connection.prepare(sql)?.query_map((), |row| row.get(0))?.collect()
}

fn json_of(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => json!(number),
        ValueRef::Real(number) => json!(number),
        ValueRef::Text(text) => json!(String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => json!({"base64": STANDARD.encode(bytes)}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::Durability;

    #[test]
    fn every_table_is_dumped_except_search_indexes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.db");
        let connection = sqlite::open(&file, Durability::Normal).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE \"a \"\" b\" (id INTEGER PRIMARY KEY, text TEXT, bytes BLOB, none);
                 INSERT INTO \"a \"\" b\" VALUES (1, 'x', x'00ff', NULL), (2, 'y', NULL, 0.5);
                 CREATE VIRTUAL TABLE words USING fts5 (text); INSERT INTO words VALUES ('z');
                 CREATE VIEW seen AS SELECT 1;",
            )
            .unwrap();
        assert!(is_database(&std::fs::read(&file).unwrap()));
        let mut rows = Vec::new();
        dump(&file, |table, row| {
            rows.push((table.to_owned(), row.clone()));
            Ok::<_, ()>(())
        })
        .unwrap();
        let table = "a \" b".to_owned();
        let first = json!({"id": 1, "text": "x", "bytes": {"base64": "AP8="}, "none": null});
        let second = json!({"id": 2, "text": "y", "bytes": null, "none": 0.5});
        assert_eq!(rows, [(table.clone(), first), (table, second)]);
        assert!(matches!(dump(&file, |_, _| Err("full")), Err(DumpError::Receiver("full"))));
    }
}
