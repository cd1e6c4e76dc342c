//! Rows between SQLite and PostgreSQL: one array for each column, so that one statement writes any
//! number of rows.

use panoply_store::StoreError;
use rusqlite::Connection as Sqlite;
use rusqlite::types::Value as Cell;
use tokio_postgres::Row;

use super::tables::Table;
use crate::keys::get;
use crate::server::Value;
use crate::values;

/// Type of a column; all may be NULL here, the tables decide.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Integer,
    Real,
    Text,
    Bytes,
}

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
            Self::Text => get::<Option<String>>(row, column)?.map_or(Cell::Null, Cell::Text),
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
            (Self::Texts(column), Cell::Text(text)) => column.push(Some(text)),
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

/// Rows of a statement: the message stays below what a server takes at once.
const ROWS_PER_STATEMENT: usize = 20_000;

fn names(table: &Table) -> String {
    let quoted: Vec<String> = table.columns.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    quoted.join(", ")
}

/// Query for the rows that were written after a version: `$1` is the tenant, `$2` the version.
pub(super) fn select(table: &Table) -> String {
    let (columns, name) = (names(table), table.name);
    format!("SELECT {columns} FROM noema.{name} WHERE tenant = $1 AND row_version > $2 ORDER BY id")
}

/// Statements that write the rows with these ids as they are in SQLite, and delete those that are
/// not there.
pub(super) fn write(
    sqlite: &Sqlite,
    table: &Table,
    ids: &[i64],
    tenant: &str,
    version: i64,
) -> rusqlite::Result<Vec<(String, Vec<Value>)>> {
    let mut statements = Vec::new();
    let mut removed = Vec::new();
    let select = format!("SELECT {} FROM {} WHERE id = ?1", names(table), table.name);
    let mut select = sqlite.prepare_cached(&select)?;
    for ids in ids.chunks(ROWS_PER_STATEMENT) {
        let mut columns: Vec<Column> =
            table.columns.iter().map(|(_, kind)| Column::of(*kind)).collect();
        let mut any = false;
        for id in ids {
            let mut rows = select.query([id])?;
            let Some(row) = rows.next()? else {
                removed.push(*id);
                continue;
            };
            any = true;
            for (place, column) in columns.iter_mut().enumerate() {
                column.push(row.get(place)?);
            }
        }
        if any {
            let mut values = values![tenant.to_owned(), version];
            values.extend(columns.into_iter().map(Column::value));
            statements.push((upsert(table), values));
        }
    }
    if !removed.is_empty() {
        let sql = format!("DELETE FROM noema.{} WHERE tenant = $1 AND id = ANY ($2)", table.name);
        statements.push((sql, values![tenant.to_owned(), removed.clone()]));
        let sql = "INSERT INTO noema.removed (tenant, row_version, of_table, id) \
                   SELECT $1, $2, $3, unnest($4::bigint[])";
        let values = values![tenant.to_owned(), version, table.name, removed];
        statements.push((sql.to_owned(), values));
    }
    Ok(statements)
}

fn upsert(table: &Table) -> String {
    let (names, name) = (names(table), table.name);
    let arrays: Vec<String> = (3..)
        .zip(table.columns)
        .map(|(place, (_, kind))| format!("${place}::{}", kind.array()))
        .collect();
    let changed: Vec<String> = table
        .columns
        .iter()
        .skip(1)
        .map(|(column, _)| format!("\"{column}\" = excluded.\"{column}\""))
        .collect();
    format!(
        "INSERT INTO noema.{name} (tenant, row_version, {names}) \
         SELECT $1, $2, * FROM unnest({}) ON CONFLICT (tenant, id) DO UPDATE \
         SET row_version = excluded.row_version, {}",
        arrays.join(", "),
        changed.join(", ")
    )
}

/// Rows read from PostgreSQL, as cells of SQLite.
pub(super) fn cells(table: &Table, rows: &[Row]) -> Result<Vec<Vec<Cell>>, StoreError> {
    let read = |row| {
        let columns = table.columns.iter().enumerate();
        columns.map(|(place, (_, kind))| kind.cell(row, place)).collect()
    };
    rows.iter().map(read).collect()
}

/// Inserts rows into SQLite.
pub(super) fn insert(sqlite: &Sqlite, table: &Table, rows: &[Vec<Cell>]) -> rusqlite::Result<()> {
    let places: Vec<String> = (1..=table.columns.len()).map(|place| format!("?{place}")).collect();
    let sql =
        format!("INSERT INTO {} ({}) VALUES ({})", table.name, names(table), places.join(", "));
    let mut insert = sqlite.prepare_cached(&sql)?;
    for row in rows {
        insert.execute(rusqlite::params_from_iter(row))?;
    }
    Ok(())
}
