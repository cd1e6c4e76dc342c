//! Papers, documents and jobs in SQLite that a replica works on, with its search tables.

use std::path::Path;

use panoply_store::StoreError;
use panoply_store::migrate::Migration;
use panoply_ttm::store::SqliteUserStore;
use panoply_ttm::store::sqlite::MIGRATIONS;
use rusqlite::Connection;
use rusqlite::types::Value as Cell;

use crate::working_copy::sqlite::{Column, CopiedPack, Kind, Table};

/// Papers, documents and jobs of a tenant.
#[derive(Debug)]
pub(crate) struct Documents;

impl CopiedPack for Documents {
    const PACK: &'static str = "ttm";
    const TABLES: &'static [Table] = TABLES;
    const MIGRATIONS: &'static [Migration] = MIGRATIONS;
    const HEAD: &'static [Column] = &[];
    const IS_SEEDED: bool = false;

    type Store = SqliteUserStore;

    fn new_head(&self) -> Result<Vec<Cell>, StoreError> {
        Ok(Vec::new())
    }

    fn set_head(_: &Connection, _: &[Cell]) -> rusqlite::Result<()> {
        Ok(())
    }

    fn head(_: &Connection) -> rusqlite::Result<Vec<Cell>> {
        Ok(Vec::new())
    }

    fn open(file: &Path) -> Result<SqliteUserStore, StoreError> {
        Ok(SqliteUserStore::at(file.to_owned()))
    }

    fn store(&self, connection: Connection) -> Result<SqliteUserStore, StoreError> {
        let file = connection.path().map(Into::into).unwrap_or_default();
        Ok(SqliteUserStore::from_connection(file, connection))
    }

    fn derive(
        connection: &Connection,
        table: &Table,
        changed: &[Vec<Cell>],
        _removed: &[Vec<Cell>],
    ) -> rusqlite::Result<()> {
        // A new file has a version already.
        if let ("shelf", Some(row)) = (table.name, changed.last()) {
            let sql = "DELETE FROM shelf WHERE version <> ?1";
            connection.execute(sql, rusqlite::params_from_iter(row))?;
        }
        Ok(())
    }

    fn is_seed(table: &Table, rows: &[Vec<Cell>]) -> bool {
        let is_first = |row: &Vec<Cell>| row.first() == Some(&Cell::Integer(0));
        rows.is_empty() || (table.name == "shelf" && rows.iter().all(is_first))
    }
}

const TABLES: &[Table] = &[
    Table {
        name: "paper",
        key: 1,
        columns: &[
            ("pmid", Kind::Text),
            ("title", Kind::Text),
            ("abstract", Kind::Text),
            ("authors", Kind::Text),
            ("journal", Kind::Text),
            ("year", Kind::Integer),
            ("mesh", Kind::Text),
            ("publication_types", Kind::Text),
            ("doi", Kind::Text),
            ("languages", Kind::Text),
        ],
    },
    Table { name: "shelf", key: 1, columns: &[("version", Kind::Integer)] },
    Table {
        name: "ingest_job",
        key: 1,
        columns: &[
            ("id", Kind::Text),
            ("status", Kind::Text),
            ("detail", Kind::Text),
            ("dry_run", Kind::Integer),
            ("request", Kind::Text),
            ("done_pages", Kind::Integer),
            ("all_pages", Kind::Integer),
            ("report", Kind::Text),
            ("error", Kind::Text),
            ("cancel", Kind::Integer),
            ("created", Kind::Text),
            ("started", Kind::Text),
            ("ended", Kind::Text),
        ],
    },
    Table {
        name: "ingest_log",
        key: 2,
        columns: &[
            ("job", Kind::Text),
            ("number", Kind::Integer),
            ("at", Kind::Text),
            ("line", Kind::Text),
        ],
    },
    Table {
        name: "ingest_document",
        key: 1,
        columns: &[
            ("id", Kind::Text),
            ("sha256", Kind::Text),
            ("name", Kind::Text),
            ("title", Kind::Text),
            ("lang", Kind::Text),
            ("pages", Kind::Integer),
            ("job", Kind::Text),
        ],
    },
    Table {
        name: "ingest_chunk",
        key: 2,
        columns: &[
            ("document", Kind::Text),
            ("number", Kind::Integer),
            ("page", Kind::Integer),
            ("start", Kind::Integer),
            ("end", Kind::Integer),
            ("lang", Kind::Text),
            ("reader", Kind::Text),
            ("text", Kind::Text),
            ("about", Kind::Text),
        ],
    },
    Table {
        name: "ingest_fact",
        key: 2,
        columns: &[("document", Kind::Text), ("number", Kind::Integer), ("fact", Kind::Text)],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::working_copy::sqlite::assert_columns_are_listed;

    #[test]
    fn every_column_of_the_sqlite_tables_is_listed() {
        assert_columns_are_listed::<Documents>(&["search_", "sqlite_", "mutation"]);
    }
}
