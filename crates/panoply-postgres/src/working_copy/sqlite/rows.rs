//! Rows between SQLite and PostgreSQL: one array for each column, so that one statement writes any
//! number of rows.

use panoply_store::StoreError;
use rusqlite::Connection as Sqlite;
use rusqlite::types::Value as Cell;
use serde_json::{Value as Json, json};
use tokio_postgres::Row;

use super::pack::{Column as Described, Kind, Table};
use crate::errors::unreadable;
use crate::keys::get;
use crate::nul;
use crate::server::{Statements, Value};
use crate::values;

impl Kind {
    const fn array(self) -> &'static str {
        match self {
            Self::Integer => "bigint[]",
            Self::Real => "double precision[]",
            Self::Text => "text[]",
            Self::Bytes => "bytea[]",
        }
    }

    /// Reads a column of PostgreSQL.
    fn cell(self, row: &Row, column: usize) -> Result<Cell, StoreError> {
        Ok(match self {
            Self::Integer => get::<Option<i64>>(row, column)?.map_or(Cell::Null, Cell::Integer),
            Self::Real => get::<Option<f64>>(row, column)?.map_or(Cell::Null, Cell::Real),
            Self::Text => get::<Option<String>>(row, column)?
                .map_or(Cell::Null, |text| Cell::Text(nul::restore(text))),
            Self::Bytes => get::<Option<Vec<u8>>>(row, column)?.map_or(Cell::Null, Cell::Blob),
        })
    }
}

/// Values of one column.
enum Column {
    Integers(Vec<Option<i64>>),
    Reals(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
    Bytes(Vec<Option<Vec<u8>>>),
}

impl Column {
    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Integer => Self::Integers(Vec::new()),
            Kind::Real => Self::Reals(Vec::new()),
            Kind::Text => Self::Texts(Vec::new()),
            Kind::Bytes => Self::Bytes(Vec::new()),
        }
    }

    /// Adds a cell. The tables are STRICT, so a cell has the type of its column or is NULL.
    fn push(&mut self, cell: Cell) {
        match (self, cell) {
            (Self::Integers(column), Cell::Integer(number)) => column.push(Some(number)),
            (Self::Integers(column), _) => column.push(None),
            (Self::Reals(column), Cell::Real(number)) => column.push(Some(number)),
            (Self::Reals(column), _) => column.push(None),
            (Self::Texts(column), Cell::Text(text)) => column.push(Some(nul::escape(text))),
            (Self::Texts(column), _) => column.push(None),
            (Self::Bytes(column), Cell::Blob(bytes)) => column.push(Some(bytes)),
            (Self::Bytes(column), _) => column.push(None),
        }
    }

    fn value(self) -> Value {
        match self {
            Self::Integers(column) => Box::new(column),
            Self::Reals(column) => Box::new(column),
            Self::Texts(column) => Box::new(column),
            Self::Bytes(column) => Box::new(column),
        }
    }
}

/// One value for each column, as PostgreSQL takes it.
pub(crate) fn single_values(columns: &[Described], cells: &[Cell]) -> Vec<Value> {
    let value = |(_, kind): &Described, cell: &Cell| -> Value {
        match (kind, cell.clone()) {
            (Kind::Integer, Cell::Integer(number)) => Box::new(Some(number)),
            (Kind::Integer, _) => Box::new(None::<i64>),
            (Kind::Real, Cell::Real(number)) => Box::new(Some(number)),
            (Kind::Real, _) => Box::new(None::<f64>),
            (Kind::Text, Cell::Text(text)) => Box::new(Some(nul::escape(text))),
            (Kind::Text, _) => Box::new(None::<String>),
            (Kind::Bytes, Cell::Blob(bytes)) => Box::new(Some(bytes)),
            (Kind::Bytes, _) => Box::new(None::<Vec<u8>>),
        }
    };
    columns.iter().zip(cells).map(|(column, cell)| value(column, cell)).collect()
}

/// Arrays with one value of each row, column by column.
fn arrays(columns: &[Described], rows: impl Iterator<Item = Vec<Cell>>) -> Vec<Value> {
    let mut arrays: Vec<Column> = columns.iter().map(|(_, kind)| Column::of(*kind)).collect();
    for row in rows {
        for (array, cell) in arrays.iter_mut().zip(row) {
            array.push(cell);
        }
    }
    arrays.into_iter().map(Column::value).collect()
}

/// Rows of a statement: the message stays below what a server takes at once.
const ROWS_PER_STATEMENT: usize = 20_000;

/// Names of columns, with a prefix each, joined.
pub(super) fn list(columns: &[Described], prefix: &str) -> String {
    let quoted: Vec<String> =
        columns.iter().map(|(name, _)| format!("{prefix}\"{name}\"")).collect();
    quoted.join(", ")
}

/// Compares the columns of two tables.
pub(super) fn equal(columns: &[Described], left: &str, right: &str) -> String {
    let tests: Vec<String> =
        columns.iter().map(|(name, _)| format!("{left}.\"{name}\" = {right}.\"{name}\"")).collect();
    tests.join(" AND ")
}

/// Query for the rows that were written after a version: `$1` is the tenant, `$2` the version.
pub(crate) fn select(schema: &str, table: &Table) -> String {
    let (columns, key, name) = (list(table.columns, ""), list(table.key_columns(), ""), table.name);
    format!(
        "SELECT {columns} FROM {schema}.\"{name}\" WHERE tenant = $1 AND row_version > $2 ORDER BY {key}"
    )
}

/// Statements that write rows and record the keys of removed ones, as this version.
pub(crate) fn write(
    schema: &str,
    table: &Table,
    (changed, removed): (Vec<Vec<Cell>>, Vec<Vec<Cell>>),
    tenant: &str,
    version: i64,
) -> Result<Statements, StoreError> {
    let mut statements = Vec::new();
    let mut changed = changed.into_iter().peekable();
    while changed.peek().is_some() {
        let mut values = values![tenant.to_owned(), version];
        values.extend(arrays(table.columns, changed.by_ref().take(ROWS_PER_STATEMENT)));
        statements.push((upsert(schema, table), values));
    }
    if !removed.is_empty() {
        let keys = removed.iter().map(|key| key_text(key)).collect::<Result<Vec<_>, _>>()?;
        let key = table.key_columns();
        let mut values = values![tenant.to_owned()];
        values.extend(arrays(key, removed.into_iter()));
        let sql = format!(
            "DELETE FROM {schema}.\"{}\" AS one USING unnest({}) AS gone ({}) \
             WHERE one.tenant = $1 AND {}",
            table.name,
            placeholders(key, 2),
            list(key, ""),
            equal(key, "one", "gone")
        );
        statements.push((sql, values));
        let sql = format!(
            "INSERT INTO {schema}.removed (tenant, row_version, of_table, key) \
             SELECT $1, $2, $3, unnest($4::text[])"
        );
        statements.push((sql, values![tenant.to_owned(), version, table.name, keys]));
    }
    Ok(statements)
}

fn placeholders(columns: &[Described], first: usize) -> String {
    let arrays: Vec<String> = (first..)
        .zip(columns)
        .map(|(place, (_, kind))| format!("${place}::{}", kind.array()))
        .collect();
    arrays.join(", ")
}

fn upsert(schema: &str, table: &Table) -> String {
    let (names, name) = (list(table.columns, ""), table.name);
    let changed: Vec<String> = std::iter::once("row_version")
        .chain(table.columns.iter().skip(table.key).map(|(column, _)| *column))
        .map(|column| format!("\"{column}\" = excluded.\"{column}\""))
        .collect();
    format!(
        "INSERT INTO {schema}.\"{name}\" (tenant, row_version, {names}) \
         SELECT $1, $2, * FROM unnest({}) ON CONFLICT (tenant, {}) DO UPDATE SET {}",
        placeholders(table.columns, 3),
        list(table.key_columns(), ""),
        changed.join(", ")
    )
}

/// A key as text: a JSON array, so that tables with any key share one table of removed rows.
fn key_text(key: &[Cell]) -> Result<String, StoreError> {
    let value = |cell: &Cell| match cell {
        Cell::Integer(number) => Ok(json!(number)),
        Cell::Text(text) => Ok(json!(text)),
        other => Err(unreadable(format!("{other:?} in a key"))),
    };
    let values = key.iter().map(value).collect::<Result<Vec<Json>, _>>()?;
    Ok(Json::Array(values).to_string())
}

/// The key that [`key_text`] wrote.
pub(super) fn key_of(text: &str) -> Result<Vec<Cell>, StoreError> {
    let values: Vec<Json> = serde_json::from_str(text).map_err(unreadable)?;
    let cell = |value: Json| match value {
        Json::String(text) => Ok(Cell::Text(text)),
        value => value
            .as_i64()
            .map(Cell::Integer)
            .ok_or_else(|| unreadable(format!("`{text}` is not a key"))),
    };
    values.into_iter().map(cell).collect()
}

/// Rows read from PostgreSQL, as cells of SQLite.
pub(crate) fn cells(columns: &[Described], rows: &[Row]) -> Result<Vec<Vec<Cell>>, StoreError> {
    let read = |row| {
        let columns = columns.iter().enumerate();
        columns.map(|(place, (_, kind))| kind.cell(row, place)).collect()
    };
    rows.iter().map(read).collect()
}

/// Rows of a query to SQLite.
pub(crate) fn query(
    sqlite: &Sqlite,
    sql: &str,
    columns: usize,
) -> rusqlite::Result<Vec<Vec<Cell>>> {
    let mut statement = sqlite.prepare_cached(sql)?;
    let row = |row: &rusqlite::Row<'_>| (0..columns).map(|place| row.get(place)).collect();
    statement.query_map((), row)?.collect()
}

/// All rows of a table in SQLite.
pub(crate) fn all(sqlite: &Sqlite, table: &Table) -> rusqlite::Result<Vec<Vec<Cell>>> {
    let sql = format!("SELECT {} FROM main.\"{}\"", list(table.columns, ""), table.name);
    query(sqlite, &sql, table.columns.len())
}

/// Inserts rows into SQLite.
pub(super) fn insert(sqlite: &Sqlite, table: &Table, rows: &[Vec<Cell>]) -> rusqlite::Result<()> {
    let places: Vec<String> = (1..=table.columns.len()).map(|place| format!("?{place}")).collect();
    let (names, name) = (list(table.columns, ""), table.name);
    let sql = format!("INSERT INTO \"{name}\" ({names}) VALUES ({})", places.join(", "));
    let mut insert = sqlite.prepare_cached(&sql)?;
    for row in rows {
        insert.execute(rusqlite::params_from_iter(row))?;
    }
    Ok(())
}

/// Deletes the rows with these keys from SQLite; more cells than those of the key are ignored.
pub(super) fn delete<'a>(
    sqlite: &Sqlite,
    table: &Table,
    keys: impl Iterator<Item = &'a Vec<Cell>>,
) -> rusqlite::Result<()> {
    let tests: Vec<String> = (1..)
        .zip(table.key_columns())
        .map(|(place, (name, _))| format!("\"{name}\" = ?{place}"))
        .collect();
    let sql = format!("DELETE FROM \"{}\" WHERE {}", table.name, tests.join(" AND "));
    let mut delete = sqlite.prepare_cached(&sql)?;
    for key in keys {
        delete.execute(rusqlite::params_from_iter(key.iter().take(table.key)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_read_back_from_its_text() {
        let keys = [
            vec![Cell::Integer(i64::MIN)],
            vec![Cell::Text("a\"b\0\u{e01}".to_owned()), Cell::Integer(7)],
        ];
        for key in keys {
            let text = key_text(&key).unwrap();
            assert!(!text.contains('\0'), "PostgreSQL takes no NUL: {text}");
            assert_eq!(key_of(&text).unwrap(), key, "{text}");
        }
        assert!(key_text(&[Cell::Null]).is_err());
        assert!(key_of("[null]").is_err());
    }
}
