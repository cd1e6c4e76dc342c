//! Portfolios in SQLite that a replica works on.

use std::path::Path;

use panoply_cgt::store::SqlitePortfolios;
use panoply_cgt::store::sqlite::SCHEMA;
use panoply_store::StoreError;
use panoply_store::migrate::Migration;
use panoply_store::mutations;
use rusqlite::Connection;
use rusqlite::types::Value as Cell;

use crate::working_copy::sqlite::{Column, CopiedPack, Kind, Table};

/// Portfolios of a tenant.
#[derive(Debug)]
pub(crate) struct Portfolios;

impl CopiedPack for Portfolios {
    const PACK: &'static str = "cgt";
    const TABLES: &'static [Table] = TABLES;
    const MIGRATIONS: &'static [Migration] =
        &[Migration { name: "portfolios", sql: SCHEMA }, mutations::MIGRATION];
    const HEAD: &'static [Column] = &[];
    const IS_SEEDED: bool = false;

    type Store = SqlitePortfolios;

    fn new_head(&self) -> Result<Vec<Cell>, StoreError> {
        Ok(Vec::new())
    }

    fn set_head(_: &Connection, _: &[Cell]) -> rusqlite::Result<()> {
        Ok(())
    }

    fn head(_: &Connection) -> rusqlite::Result<Vec<Cell>> {
        Ok(Vec::new())
    }

    fn open(file: &Path) -> Result<SqlitePortfolios, StoreError> {
        Ok(SqlitePortfolios::at(file.to_owned()))
    }

    fn store(&self, connection: Connection) -> Result<SqlitePortfolios, StoreError> {
        Ok(SqlitePortfolios::from_connection(connection))
    }
}

const TABLES: &[Table] = &[
    Table {
        name: "portfolio",
        key: 1,
        columns: &[
            ("id", Kind::Text),
            ("name", Kind::Text),
            ("created", Kind::Integer),
            ("next_entry", Kind::Integer),
            ("next_change", Kind::Integer),
        ],
    },
    Table {
        name: "account",
        key: 2,
        columns: &[("portfolio", Kind::Text), ("name", Kind::Text), ("wrapper", Kind::Text)],
    },
    Table {
        name: "entry",
        key: 2,
        columns: &[
            ("portfolio", Kind::Text),
            ("id", Kind::Integer),
            ("account", Kind::Text),
            ("line", Kind::Text),
            ("file", Kind::Text),
            ("file_line", Kind::Integer),
            ("broker", Kind::Text),
            ("broker_id", Kind::Text),
            ("isin", Kind::Text),
            ("key", Kind::Text),
            ("change", Kind::Integer),
        ],
    },
    Table {
        name: "change",
        key: 2,
        columns: &[
            ("portfolio", Kind::Text),
            ("id", Kind::Integer),
            ("at", Kind::Integer),
            ("summary", Kind::Text),
            ("undoes", Kind::Integer),
            ("undone", Kind::Integer),
        ],
    },
    Table {
        name: "image",
        key: 3,
        columns: &[
            ("portfolio", Kind::Text),
            ("change", Kind::Integer),
            ("entry", Kind::Integer),
            ("before", Kind::Text),
            ("before_change", Kind::Integer),
            ("after_change", Kind::Integer),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::working_copy::sqlite::assert_columns_are_listed;

    #[test]
    fn every_column_of_the_sqlite_tables_is_listed() {
        assert_columns_are_listed::<Portfolios>(&["version", "mutation"]);
    }
}
