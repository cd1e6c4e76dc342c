//! The copy of a collection in a SQLite file of this replica, and how it follows the database.
//!
//! The file is a cache: it is made at the first use, removed with its store, and thrown away
//! whenever it could differ from the database. Temporary triggers record the keys of the rows that
//! an action changes, of tables with any key and also where a foreign key cascades; SQLite's
//! update hook sees neither tables without a row id nor such deletes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use panoply_store::StoreError;
use panoply_store::migrate;
use panoply_store::mutations::HasMutations as _;
use panoply_store::sqlite::{Durability, about, transact};
use rusqlite::Connection;
use rusqlite::types::Value as Cell;
use tokio_postgres::Row;

use super::pack::{CopiedPack, Table};
use super::rows;
use crate::keys::get;
use crate::nul;
use crate::server::{Statements, Value};
use crate::values;

/// A copy of a collection.
pub(crate) struct Copy<P: CopiedPack> {
    pub(crate) store: Arc<P::Store>,
    /// The version of the collection that the copy has.
    pub(crate) version: i64,
    /// Tells copies of this process apart.
    pub(crate) number: u64,
    file: PathBuf,
}

static COPIES: AtomicU64 = AtomicU64::new(1);

/// What was read from the database: the changed rows of each table, and the keys of removed rows.
#[derive(Default)]
pub(crate) struct Changes {
    pub(crate) rows: Vec<Vec<Vec<Cell>>>,
    removed: BTreeMap<String, Vec<Vec<Cell>>>,
}

impl Changes {
    /// Rows of all tables, and no removed ones.
    pub(crate) const fn rows(rows: Vec<Vec<Vec<Cell>>>) -> Self {
        Self { rows, removed: BTreeMap::new() }
    }

    /// Queries for the changes after a version.
    pub(crate) fn queries<P: CopiedPack>(tenant: &str, after: i64) -> Vec<(String, Vec<Value>)> {
        let values = || values![tenant.to_owned(), after];
        let mut queries: Vec<_> =
            P::TABLES.iter().map(|table| (rows::select(P::PACK, table), values())).collect();
        let sql = format!(
            "SELECT of_table, key FROM {}.removed WHERE tenant = $1 AND row_version > $2",
            P::PACK
        );
        queries.push((sql, values()));
        queries
    }

    /// The answers to [`queries`](Self::queries).
    pub(crate) fn of<P: CopiedPack>(mut answers: Vec<Vec<Row>>) -> Result<Self, StoreError> {
        let mut removed = BTreeMap::<String, Vec<Vec<Cell>>>::new();
        for row in answers.pop().unwrap_or_default() {
            let key: String = get(&row, 1)?;
            removed.entry(get(&row, 0)?).or_default().push(rows::key_of(&key)?);
        }
        let rows = P::TABLES
            .iter()
            .zip(&answers)
            .map(|(table, rows)| rows::cells(table.columns, rows))
            .collect::<Result<_, _>>()?;
        Ok(Self { rows, removed })
    }
}

impl<P: CopiedPack> Copy<P> {
    /// Makes a copy in a new file of this folder.
    pub(crate) fn make(
        pack: &P,
        folder: &Path,
        tenant: &str,
        head: &[Cell],
        version: i64,
        changes: &Changes,
    ) -> Result<Self, StoreError> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(StoreError::NoRandomness)?;
        let name = u64::from_ne_bytes(random);
        let file = folder.join(format!("{}-{tenant}-{name:016x}.db", P::PACK));
        let mut connection = migrate::open(&file, Durability::Normal, P::MIGRATIONS)?;
        let mut prepare = || {
            // What the power takes away is read from the database again.
            connection.pragma_update(None, "synchronous", "OFF")?;
            connection.pragma_update(None, "temp_store", "MEMORY")?;
            P::set_head(&connection, head)?;
            transact(&mut connection, |new| apply::<P>(new, changes))?;
            record_keys(&connection, P::TABLES)
        };
        prepare().map_err(about(&file))?;
        // A new collection gets its first rows here, which are written to the database.
        let store = Arc::new(pack.store(connection)?);
        let number = COPIES.fetch_add(1, Ordering::Relaxed);
        Ok(Self { store, version, number, file })
    }

    /// Brings the copy to a version.
    pub(crate) fn follow(&mut self, version: i64, changes: &Changes) -> Result<(), StoreError> {
        let file = self.file.clone();
        self.store.with_connection(|connection| {
            let mut follow = || {
                // A changed row is deleted and inserted again, which must not cascade.
                connection.pragma_update(None, "foreign_keys", false)?;
                transact(connection, |connection| apply::<P>(connection, changes))?;
                connection.pragma_update(None, "foreign_keys", true)?;
                forget_keys(connection, P::TABLES)
            };
            follow().map_err(about(&file))
        })?;
        P::followed(&self.store);
        self.version = version;
        Ok(())
    }

    /// The file, which tells this copy from another one.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Statements that write what an action changed, as this version of the collection.
    pub(crate) fn changes(&self, tenant: &str, version: i64) -> Result<Statements, StoreError> {
        let file = self.file.clone();
        self.store.with_connection(|connection| {
            let mut statements = Vec::new();
            for table in P::TABLES {
                let changed = changed(connection, table).map_err(about(&file))?;
                statements.extend(rows::write(P::PACK, table, changed, tenant, version)?);
            }
            statements.extend(records(connection, P::PACK, tenant).map_err(about(&file))?);
            forget_keys(connection, P::TABLES).map_err(about(&file))?;
            Ok(statements)
        })
    }
}

impl<P: CopiedPack> Drop for Copy<P> {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm"] {
            let mut name = self.file.clone().into_os_string();
            name.push(suffix);
            // A file that stays is removed at the next start.
            let _ = std::fs::remove_file(name);
        }
    }
}

/// Creates the triggers that record keys. A rollback of an action forgets its keys, too.
fn record_keys(connection: &Connection, tables: &[Table]) -> rusqlite::Result<()> {
    for table in tables {
        let (name, key) = (table.name, table.key_columns());
        let (names, new, old) =
            (rows::list(key, ""), rows::list(key, "new."), rows::list(key, "old."));
        connection.execute_batch(&format!(
            "CREATE TEMP TABLE \"touched {name}\" ({names});
             CREATE TEMP TRIGGER \"insert {name}\" AFTER INSERT ON main.\"{name}\" BEGIN
                 INSERT INTO \"touched {name}\" ({names}) VALUES ({new}); END;
             CREATE TEMP TRIGGER \"update {name}\" AFTER UPDATE ON main.\"{name}\" BEGIN
                 INSERT INTO \"touched {name}\" ({names}) VALUES ({old}), ({new}); END;
             CREATE TEMP TRIGGER \"delete {name}\" AFTER DELETE ON main.\"{name}\" BEGIN
                 INSERT INTO \"touched {name}\" ({names}) VALUES ({old}); END;"
        ))?;
    }
    Ok(())
}

fn forget_keys(connection: &Connection, tables: &[Table]) -> rusqlite::Result<()> {
    for table in tables {
        let sql = format!("DELETE FROM \"touched {}\"", table.name);
        connection.prepare_cached(&sql)?.execute(())?;
    }
    Ok(())
}

/// Rows as they are now, and keys of removed rows, of what an action touched.
#[expect(clippy::type_complexity, reason = "rows and keys are lists of lists of cells")]
fn changed(
    connection: &Connection,
    table: &Table,
) -> rusqlite::Result<(Vec<Vec<Cell>>, Vec<Vec<Cell>>)> {
    let (name, key) = (table.name, table.key_columns());
    let (names, same) = (rows::list(key, ""), rows::equal(key, "one", "touched"));
    // CROSS JOIN: the touched keys are the outer loop, however many rows the table has.
    let rows = format!(
        "SELECT {} FROM (SELECT DISTINCT {names} FROM \"touched {name}\") AS touched \
         CROSS JOIN main.\"{name}\" AS one WHERE {same}",
        rows::list(table.columns, "one.")
    );
    let removed = format!(
        "SELECT DISTINCT {names} FROM \"touched {name}\" AS touched \
         WHERE NOT EXISTS (SELECT 1 FROM main.\"{name}\" AS one WHERE {same})"
    );
    Ok((
        rows::query(connection, &rows, table.columns.len())?,
        rows::query(connection, &removed, key.len())?,
    ))
}

/// Statements that move the records of calls into the mutation log of the database.
fn records(
    connection: &Connection,
    pack: &'static str,
    tenant: &str,
) -> rusqlite::Result<Statements> {
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
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
        let values = values![
            tenant.to_owned(),
            pack,
            row.get::<_, Vec<u8>>(0)?,
            at,
            row.get::<_, String>(2)?,
            row.get::<_, String>(3)?,
            row.get::<_, Option<String>>(4)?,
            row.get::<_, String>(5)?,
            row.get::<_, Option<String>>(6)?,
            row.get::<_, Option<String>>(7)?.map(nul::escape),
        ];
        statements.push((sql.to_owned(), values));
    }
    connection.execute("DELETE FROM mutation", ())?;
    Ok(statements)
}

/// Applies changes. Triggers keep the counts; all old rows go first, because a name may have moved
/// from one row to another.
fn apply<P: CopiedPack>(connection: &Connection, changes: &Changes) -> rusqlite::Result<()> {
    for (table, changed) in P::TABLES.iter().zip(&changes.rows) {
        let none = Vec::new();
        let removed = changes.removed.get(table.name).unwrap_or(&none);
        rows::delete(connection, table, removed.iter().chain(changed))?;
        rows::insert(connection, table, changed)?;
        P::derive(connection, table, changed, removed)?;
    }
    Ok(())
}

/// Replaces all rows of a file by these.
pub(super) fn overwrite<P: CopiedPack>(
    connection: &mut Connection,
    head: &[Cell],
    changes: &Changes,
) -> rusqlite::Result<()> {
    connection.pragma_update(None, "foreign_keys", false)?;
    transact(connection, |connection| {
        P::set_head(connection, head)?;
        for table in P::TABLES {
            let before = rows::all(connection, table)?;
            rows::delete(connection, table, before.iter())?;
            P::derive(connection, table, &[], &before)?;
        }
        apply::<P>(connection, changes)
    })?;
    connection.pragma_update(None, "foreign_keys", true)
}
