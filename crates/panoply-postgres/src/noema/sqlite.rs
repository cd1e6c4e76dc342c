//! The collection in SQLite that a replica works on.

mod tables;

use std::path::Path;

use panoply_noema::fsrs::Zone;
use panoply_noema::store::{OpenError, SqliteStore, sqlite as noema_sqlite};
use panoply_store::StoreError;
use panoply_store::migrate::Migration;
use panoply_store::mutations;
use rusqlite::Connection;
use rusqlite::types::Value as Cell;

use crate::errors::unreadable;
use crate::working_copy::sqlite::{Column, CopiedPack, Kind, Table};

/// Flashcards of a tenant.
pub(crate) struct Cards {
    /// Time zone of a learner who has set none.
    pub(crate) zone: Zone,
    /// Secret of a new collection; random if there is none.
    pub(crate) secret: Option<Vec<u8>>,
}

impl CopiedPack for Cards {
    const PACK: &'static str = "noema";
    const TABLES: &'static [Table] = tables::TABLES;
    const MIGRATIONS: &'static [Migration] = &[
        Migration { name: "a collection", sql: noema_sqlite::SCHEMA },
        Migration { name: "counts", sql: noema_sqlite::TRIGGERS },
        mutations::MIGRATION,
    ];
    const HEAD: &'static [Column] = &[("secret", Kind::Bytes)];
    /// With the built-in note types.
    const IS_SEEDED: bool = true;

    type Store = SqliteStore;

    fn new_head(&self) -> Result<Vec<Cell>, StoreError> {
        let mut random = [0; 32];
        getrandom::fill(&mut random).map_err(StoreError::NoRandomness)?;
        Ok(vec![Cell::Blob(self.secret.clone().unwrap_or_else(|| random.to_vec()))])
    }

    fn set_head(connection: &Connection, head: &[Cell]) -> rusqlite::Result<()> {
        let sql = "UPDATE meta SET value = ?1 WHERE key = 'secret'";
        connection.execute(sql, rusqlite::params_from_iter(head)).map(drop)
    }

    fn head(connection: &Connection) -> rusqlite::Result<Vec<Cell>> {
        let sql = "SELECT value FROM meta WHERE key = 'secret'";
        connection.query_row(sql, (), |row| Ok(vec![row.get(0)?]))
    }

    fn open(file: &Path) -> Result<SqliteStore, StoreError> {
        SqliteStore::open(file).map_err(|error| match error {
            OpenError::File(error) => error,
            OpenError::Content(error) => unreadable(error),
        })
    }

    fn store(&self, connection: Connection) -> Result<SqliteStore, StoreError> {
        let store = SqliteStore::from_connection(connection).map_err(unreadable)?;
        Ok(store.with_default_zone(self.zone))
    }

    fn derive(
        connection: &Connection,
        table: &Table,
        changed: &[Vec<Cell>],
        removed: &[Vec<Cell>],
    ) -> rusqlite::Result<()> {
        if table.name != "note" {
            return Ok(());
        }
        let [id, tags, deleted] = table.places(["id", "tags", "deleted"]);
        let cell = |row: &Vec<Cell>, place: usize| row.get(place).cloned().unwrap_or(Cell::Null);
        let removed = removed.iter().map(|key| (cell(key, 0), Cell::Null, true));
        let changed = changed
            .iter()
            .map(|row| (cell(row, id), cell(row, tags), cell(row, deleted) != Cell::Null));
        tag(connection, removed.chain(changed))
    }

    fn followed(store: &SqliteStore) {
        store.changed_elsewhere();
    }

    fn is_seed(table: &Table, rows: &[Vec<Cell>]) -> bool {
        let is_built_in = |row: &Vec<Cell>| matches!(row.first(), Some(Cell::Integer(1..=5)));
        rows.is_empty() || (table.name == "note_type" && rows.iter().all(is_built_in))
    }
}

/// Sets the tags of notes, as the store in SQLite does, and counts the change for the text index.
fn tag(
    connection: &Connection,
    notes: impl Iterator<Item = (Cell, Cell, bool)>,
) -> rusqlite::Result<()> {
    let mut delete = connection.prepare_cached("DELETE FROM note_tag WHERE note = ?1")?;
    let mut insert =
        connection.prepare_cached("INSERT OR IGNORE INTO note_tag (tag, note) VALUES (?1, ?2)")?;
    let mut any = false;
    for (note, tags, deleted) in notes {
        any = true;
        delete.execute([&note])?;
        let Cell::Text(tags) = tags else { continue };
        for tag in tags.split(' ').filter(|tag| !tag.is_empty() && !deleted) {
            insert.execute((tag.to_lowercase(), &note))?;
        }
    }
    if any {
        connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'note changes'", ())?;
    }
    Ok(())
}
