//! What a pack says about its data: its tables, and how its store is made over a connection.

use std::path::Path;

use panoply_store::StoreError;
use panoply_store::migrate::Migration;
use panoply_store::mutations::HasMutations;
use rusqlite::Connection;
use rusqlite::types::Value as Cell;

/// Type of a column; all may be NULL here, the tables decide.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Integer,
    Real,
    Text,
    Bytes,
}

/// A column: its name and type.
pub(crate) type Column = (&'static str, Kind);

/// A table that PostgreSQL and the copy have in common. Its first columns are its key.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// Number of columns of the key.
    pub(crate) key: usize,
    pub(crate) columns: &'static [Column],
}

impl Table {
    /// Columns of the key.
    pub(crate) fn key_columns(&self) -> &'static [Column] {
        self.columns.get(..self.key).unwrap_or(self.columns)
    }

    /// Places of columns in a row, by name.
    pub(crate) fn places<const N: usize>(&self, names: [&str; N]) -> [usize; N] {
        names.map(|name| {
            self.columns.iter().position(|(column, _)| *column == name).unwrap_or_default()
        })
    }
}

/// A pack whose rows are in PostgreSQL, and whose store works on a copy of them in SQLite.
///
/// Its schema in PostgreSQL has the name of the pack, the tables of [`TABLES`](Self::TABLES) with
/// `tenant` and `row_version` before their columns, `collection` (`tenant`, `version` and the
/// columns of [`HEAD`](Self::HEAD)) and `removed`.
pub(crate) trait CopiedPack: Send + Sync + 'static {
    /// Name of the pack and of its schema.
    const PACK: &'static str;
    /// All tables, in the order in which rows are inserted.
    const TABLES: &'static [Table];
    /// The tables in SQLite. A copy never has an older version, because it is rebuilt.
    const MIGRATIONS: &'static [Migration];
    /// Columns that a collection has once.
    const HEAD: &'static [Column];
    /// Whether a new collection has rows, so that its first read creates it.
    const IS_SEEDED: bool;

    /// The store of the pack over SQLite.
    type Store: HasMutations;

    /// Values of [`HEAD`](Self::HEAD) for a new collection.
    fn new_head(&self) -> Result<Vec<Cell>, StoreError>;

    /// Sets the values of [`HEAD`](Self::HEAD) in a file.
    fn set_head(connection: &Connection, head: &[Cell]) -> rusqlite::Result<()>;

    /// The values of [`HEAD`](Self::HEAD) in a file.
    fn head(connection: &Connection) -> rusqlite::Result<Vec<Cell>>;

    /// Opens the file of a tenant's home, which may be of an older version or missing.
    fn open(file: &Path) -> Result<Self::Store, StoreError>;

    /// Makes the store over a connection. It may add the first rows of a new collection.
    fn store(&self, connection: Connection) -> Result<Self::Store, StoreError>;

    /// Updates what follows from the rows of a table and is not kept by triggers.
    fn derive(
        _: &Connection,
        _: &Table,
        _changed: &[Vec<Cell>],
        _removed: &[Vec<Cell>],
    ) -> rusqlite::Result<()> {
        Ok(())
    }

    /// Tells the store that rows were changed on its connection.
    fn followed(_: &Self::Store) {}

    /// Whether rows of a table are those that every new collection has.
    fn is_seed(_: &Table, rows: &[Vec<Cell>]) -> bool {
        rows.is_empty()
    }
}

/// Fails when a table of the SQLite store is neither listed with all its columns and its key, nor
/// derived from the others, which is told by how its name begins.
#[cfg(test)]
pub(crate) fn assert_columns_are_listed<P: CopiedPack>(derived: &[&str]) {
    let connection = Connection::open_in_memory().unwrap();
    for migration in P::MIGRATIONS {
        connection.execute_batch(migration.sql).unwrap();
    }
    let texts = |sql: &str| -> Vec<String> {
        let mut statement = connection.prepare(sql).unwrap();
        statement.query_map((), |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let tables = texts("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
    let is_derived = |name: &String| derived.iter().any(|start| name.starts_with(start));
    for table in tables.iter().filter(|name| !is_derived(name)) {
        let listed = P::TABLES
            .iter()
            .find(|one| one.name == table)
            .unwrap_or_else(|| panic!("the table `{table}` is not stored in PostgreSQL"));
        let names = |columns: &[Column]| -> Vec<String> {
            columns.iter().map(|(name, _)| (*name).to_owned()).collect()
        };
        let columns = texts(&format!("SELECT name FROM pragma_table_info('{table}')"));
        assert_eq!(names(listed.columns), columns, "{table}");
        let key = texts(&format!(
            "SELECT name FROM pragma_table_info('{table}') WHERE pk > 0 ORDER BY pk"
        ));
        // A table of one row has no key.
        assert!(key.is_empty() || names(listed.key_columns()) == key, "key of {table}: {key:?}");
    }
}
