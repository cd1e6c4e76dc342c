//! The copy of a collection in a SQLite file of this replica, and how it follows the database.
//!
//! The file is a cache: it is made at the first use, removed with its store, and thrown away
//! whenever it could differ from the database.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use panoply_noema::fsrs::Zone;
use panoply_noema::store::{SqliteStore, sqlite as noema_sqlite};
use panoply_store::StoreError;
use panoply_store::migrate::{self, Migration};
use panoply_store::mutations::{self, HasMutations as _};
use panoply_store::sqlite::{Durability, about};
use rusqlite::types::Value as Cell;
use tokio_postgres::Row;

use super::rows;
use super::tables::TABLES;
use crate::errors::unreadable;
use crate::keys::get;
use crate::server::Value;
use crate::values;

/// The tables of the file. It never has an older version, because it is rebuilt.
const MIGRATIONS: &[Migration] = &[
    Migration { name: "a collection", sql: noema_sqlite::SCHEMA },
    Migration { name: "counts", sql: noema_sqlite::TRIGGERS },
    mutations::MIGRATION,
];

/// Rows that an action changed: ids by table.
#[derive(Debug, Default)]
struct Touched(BTreeMap<String, Vec<i64>>);

/// A copy of a collection.
pub(in crate::noema) struct Copy {
    pub(in crate::noema) store: Arc<SqliteStore>,
    /// The version of the collection that the copy has.
    pub(in crate::noema) version: i64,
    touched: Arc<Mutex<Touched>>,
    file: PathBuf,
}

/// What was read from the database: the changed rows of each table, and the removed rows.
pub(in crate::noema) struct Changes {
    rows: Vec<Vec<Vec<Cell>>>,
    removed: Vec<(String, i64)>,
}

impl Changes {
    /// Queries for the changes after a version.
    pub(in crate::noema) fn queries(tenant: &str, after: i64) -> Vec<(String, Vec<Value>)> {
        let values = || values![tenant.to_owned(), after];
        let mut queries: Vec<_> =
            TABLES.iter().map(|table| (rows::select(table), values())).collect();
        let sql = "SELECT of_table, id FROM noema.removed WHERE tenant = $1 AND row_version > $2";
        queries.push((sql.to_owned(), values()));
        queries
    }

    /// The answers to [`queries`](Self::queries).
    pub(in crate::noema) fn of(mut answers: Vec<Vec<Row>>) -> Result<Self, StoreError> {
        let removed = answers.pop().unwrap_or_default();
        let removed = removed
            .iter()
            .map(|row| Ok((get(row, 0)?, get(row, 1)?)))
            .collect::<Result<_, StoreError>>()?;
        let rows = TABLES
            .iter()
            .zip(&answers)
            .map(|(table, rows)| rows::cells(table, rows))
            .collect::<Result<_, _>>()?;
        Ok(Self { rows, removed })
    }
}

impl Copy {
    /// Makes a copy in a new file of this folder.
    pub(in crate::noema) fn make(
        folder: &Path,
        tenant: &str,
        secret: &[u8],
        zone: Zone,
        version: i64,
        changes: Changes,
    ) -> Result<Self, StoreError> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(StoreError::NoRandomness)?;
        let number = u64::from_ne_bytes(random);
        let file = folder.join(format!("noema-{tenant}-{number:016x}.db"));
        let mut connection = migrate::open(&file, Durability::Normal, MIGRATIONS)?;
        let touched = Arc::new(Mutex::new(Touched::default()));
        let seen = Arc::clone(&touched);
        let prepare = || {
            // What the power takes away is read from the database again.
            connection.pragma_update(None, "synchronous", "OFF")?;
            connection.execute("UPDATE meta SET value = ?1 WHERE key = 'secret'", [secret])?;
            panoply_store::sqlite::transact(&mut connection, |new| apply(new, &changes))?;
            connection.update_hook(Some(
                move |_: rusqlite::hooks::Action, _: &str, table: &str, id: i64| {
                    lock(&seen).0.entry(table.to_owned()).or_default().push(id);
                },
            ))?;
            Ok(())
        };
        prepare().map_err(about(&file))?;
        // A new collection gets the built-in note types here, which are written to the database.
        let store = SqliteStore::from_connection(connection).map_err(unreadable)?;
        let store = Arc::new(store.with_default_zone(zone));
        Ok(Self { store, version, touched, file })
    }

    /// Brings the copy to a version.
    pub(in crate::noema) fn follow(
        &mut self,
        version: i64,
        changes: &Changes,
    ) -> Result<(), StoreError> {
        let file = self.file.clone();
        self.store.with_connection(|connection| {
            panoply_store::sqlite::transact(connection, |connection| apply(connection, changes))
                .map_err(about(&file))
        })?;
        self.store.changed_elsewhere();
        lock(&self.touched).0.clear();
        self.version = version;
        Ok(())
    }

    /// The file, which tells this copy from another one.
    pub(in crate::noema) fn file(&self) -> &Path {
        &self.file
    }

    /// Forgets what was touched, before an action.
    pub(in crate::noema) fn begin(&self) {
        lock(&self.touched).0.clear();
    }

    /// Statements that write what an action changed, as this version of the collection.
    pub(in crate::noema) fn changes(
        &self,
        tenant: &str,
        version: i64,
    ) -> Result<Vec<(String, Vec<Value>)>, StoreError> {
        let touched = std::mem::take(&mut lock(&self.touched).0);
        let file = self.file.clone();
        self.store.with_connection(|connection| {
            let collect = || {
                let mut statements = Vec::new();
                for table in &TABLES {
                    let Some(ids) = touched.get(table.name) else { continue };
                    let mut ids = ids.clone();
                    ids.sort_unstable();
                    ids.dedup();
                    statements.extend(rows::write(connection, table, &ids, tenant, version)?);
                }
                statements.extend(records(connection, tenant)?);
                Ok(statements)
            };
            collect().map_err(about(&file))
        })
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm"] {
            let mut name = self.file.clone().into_os_string();
            name.push(suffix);
            // A file that stays is removed at the next start.
            let _ = std::fs::remove_file(name);
        }
    }
}

/// Statements that move the records of calls into the mutation log of the database.
fn records(
    connection: &rusqlite::Connection,
    tenant: &str,
) -> rusqlite::Result<Vec<(String, Vec<Value>)>> {
    let sql = "SELECT call_id, at, partition, tool, key, entry, reply_data, reply_text \
               FROM mutation ORDER BY id";
    let mut select = connection.prepare_cached(sql)?;
    let mut found = select.query(())?;
    let mut statements = Vec::new();
    while let Some(row) = found.next()? {
        let at: i64 = row.get(1)?;
        let life = i64::try_from(panoply_contract::mutation::KEY_LIFETIME.as_micros());
        let expired = at.saturating_sub(life.unwrap_or(i64::MAX));
        let sql = "DELETE FROM kernel.mutation WHERE tenant = $1 AND audited AND at <= $2";
        statements.push((sql.to_owned(), values![tenant.to_owned(), expired]));
        let sql = "INSERT INTO kernel.mutation (tenant, pack, call_id, at, partition, tool, key, \
                   entry, reply_data, reply_text) \
                   VALUES ($1, 'noema', $2, $3, $4, $5, $6, $7, $8, $9)";
        let values = values![
            tenant.to_owned(),
            row.get::<_, Vec<u8>>(0)?,
            at,
            row.get::<_, String>(2)?,
            row.get::<_, String>(3)?,
            row.get::<_, Option<String>>(4)?,
            row.get::<_, String>(5)?,
            row.get::<_, Option<String>>(6)?,
            row.get::<_, Option<String>>(7)?,
        ];
        statements.push((sql.to_owned(), values));
    }
    connection.execute("DELETE FROM mutation", ())?;
    Ok(statements)
}

/// Applies changes. Triggers keep the counts; all old rows go first, because a name may have moved
/// from one row to another.
fn apply(connection: &rusqlite::Connection, changes: &Changes) -> rusqlite::Result<()> {
    for (table, rows) in TABLES.iter().zip(&changes.rows) {
        let mut delete =
            connection.prepare_cached(&format!("DELETE FROM {} WHERE id = ?1", table.name))?;
        let removed = changes.removed.iter().filter(|(name, _)| name == table.name);
        for (_, id) in removed {
            delete.execute([id])?;
        }
        for row in rows {
            delete.execute(rusqlite::params_from_iter(row.first()))?;
        }
        rows::insert(connection, table, rows)?;
        if table.name == "note" {
            let removed = changes.removed.iter().filter(|(name, _)| name == "note");
            let removed = removed.map(|(_, id)| (Cell::Integer(*id), "", true));
            let places = ["id", "tags", "deleted"].map(|name| {
                table.columns.iter().position(|(column, _)| *column == name).unwrap_or_default()
            });
            let changed = rows.iter().map(|row| {
                let cell = |place: usize| row.get(place).unwrap_or(&Cell::Null);
                let tags = match cell(places[1]) {
                    Cell::Text(tags) => tags.as_str(),
                    _ => "",
                };
                (cell(places[0]).clone(), tags, *cell(places[2]) != Cell::Null)
            });
            tag(connection, removed.chain(changed))?;
        }
    }
    Ok(())
}

/// Sets the tags of notes, as the store in SQLite does, and counts the change for the text index.
fn tag<'a>(
    connection: &rusqlite::Connection,
    notes: impl Iterator<Item = (Cell, &'a str, bool)>,
) -> rusqlite::Result<()> {
    let mut delete = connection.prepare_cached("DELETE FROM note_tag WHERE note = ?1")?;
    let mut insert =
        connection.prepare_cached("INSERT OR IGNORE INTO note_tag (tag, note) VALUES (?1, ?2)")?;
    let mut any = false;
    for (note, tags, deleted) in notes {
        any = true;
        delete.execute([&note])?;
        for tag in tags.split(' ').filter(|tag| !tag.is_empty() && !deleted) {
            insert.execute((tag.to_lowercase(), &note))?;
        }
    }
    if any {
        connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'note changes'", ())?;
    }
    Ok(())
}

fn lock(touched: &Mutex<Touched>) -> MutexGuard<'_, Touched> {
    touched.lock().unwrap_or_else(PoisonError::into_inner)
}
