//! SQLite backend: a catalog, and one file per run. Deleting a run deletes its file.
//!
//! `ID.open` holds batches, `ID.sealing` is the output of a seal in progress, `ID.run` is a sealed
//! run. A seal ends with one rename, so a crash leaves either the open or the sealed run. Opening
//! the store deletes the open file of a sealed run. The output of a killed seal is deleted by the
//! next seal, because only then is it certain that no other process is still writing it.
//! `ID.lock` is an advisory file lock: a seal takes it exclusively, storing a batch shares it, and
//! the system releases it when a process dies.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use panoply_store::check::{self, CheckDepth};
use panoply_store::error::StoreError;
use panoply_store::migrate::{self, Migration};
use panoply_store::mutations::{self, HasMutations, MutationTable};
use panoply_store::sqlite::{self, Durability, store_error};
use rusqlite::{Connection, OptionalExtension, params};

use super::{BlobKey, BlobKind, Blobs, Store};
use crate::error::LogError;
use crate::event::Guid;
use crate::run::{RunRecord, Status};
use crate::sealed::head::Head;
use crate::timestamp::Timestamp;

const CATALOG_MIGRATIONS: &[Migration] = &[
    Migration {
        name: "the catalog of runs",
        sql: "CREATE TABLE run (
            id TEXT PRIMARY KEY, status TEXT NOT NULL, header TEXT NOT NULL,
            created_at INTEGER NOT NULL, events INTEGER NOT NULL,
            first INTEGER, last INTEGER
          ) STRICT;
          CREATE TABLE version (number INTEGER NOT NULL) STRICT;
          INSERT INTO version (number) VALUES (0);",
    },
    mutations::MIGRATION,
    Migration { name: "the key figures of a run", sql: "ALTER TABLE run ADD COLUMN summary TEXT;" },
];
const RUN_MIGRATIONS: &[Migration] = &[Migration {
    name: "blobs",
    sql: "CREATE TABLE blob (key INTEGER PRIMARY KEY, value BLOB NOT NULL) STRICT;",
}];

/// Runs in a directory.
pub struct SqliteStore {
    catalog_file: PathBuf,
    folder: PathBuf,
    catalog: Mutex<Connection>,
    /// Locks of the seals in progress in this process.
    seals: Mutex<HashMap<Guid, fs::File>>,
    mutations: MutationTable,
}

impl SqliteStore {
    /// Opens the catalog and the directory of runs next to it, whose name is the catalog's without
    /// its extension. Completes or discards operations that a crash interrupted.
    pub fn open(catalog: &Path) -> Result<Self, LogError> {
        let connection = migrate::open(catalog, Durability::Full, CATALOG_MIGRATIONS)
            .map_err(LogError::store)?;
        let folder = catalog.with_extension("");
        let store = Self {
            catalog_file: catalog.to_owned(),
            folder,
            catalog: Mutex::new(connection),
            seals: Mutex::default(),
            mutations: MutationTable::default(),
        };
        store.recover()?;
        Ok(store)
    }

    fn recover(&self) -> Result<(), LogError> {
        for record in self.runs()? {
            let (open, run) = (self.file(record.id, "open"), self.file(record.id, "run"));
            match record.status {
                // The crash was between the rename and the update of the catalog.
                Status::Running if run.exists() => {
                    let sealed = self.sealed_record(&record)?;
                    self.save_and_bump_version(&sealed)?;
                    remove(&open)?;
                }
                Status::Running => {}
                Status::Completed => remove(&open)?,
            }
        }
        Ok(())
    }

    /// The catalog entry derived from a sealed file.
    fn sealed_record(&self, record: &RunRecord) -> Result<RunRecord, LogError> {
        let blobs = self.sealed(record.id)?;
        let head = Head::open(&blobs)?;
        let span = (Timestamp::from_nanos(head.first), Timestamp::from_nanos(head.last));
        Ok(RunRecord {
            status: Status::Completed,
            events: u64::from(head.events),
            span: (head.events > 0).then_some(span),
            summary: Some(head.summary),
            ..record.clone()
        })
    }

    fn file(&self, id: Guid, extension: &str) -> PathBuf {
        self.folder.join(format!("{id}.{extension}"))
    }

    fn seals(&self) -> MutexGuard<'_, HashMap<Guid, fs::File>> {
        self.seals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn catalog(&self) -> MutexGuard<'_, Connection> {
        self.catalog.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn catalog_error(&self) -> impl Fn(rusqlite::Error) -> LogError + '_ {
        |source| LogError::store(store_error(&self.catalog_file, source))
    }

    fn save_and_bump_version(&self, record: &RunRecord) -> Result<(), LogError> {
        self.save(record)?;
        self.catalog()
            .execute("UPDATE version SET number = number + 1", ())
            .map(|_| ())
            .map_err(self.catalog_error())
    }
}

impl HasMutations for SqliteStore {
    fn mutations(&self) -> &MutationTable {
        &self.mutations
    }

    fn with_connection<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        work(&mut self.catalog())
    }
}

impl Store for SqliteStore {
    fn runs(&self) -> Result<Vec<RunRecord>, LogError> {
        let catalog = self.catalog();
        let read = || {
            let mut statement = catalog.prepare_cached(
                "SELECT id, status, header, created_at, events, first, last, summary FROM run
                 ORDER BY created_at DESC, id",
            )?;
            statement.query_map((), read_record)?.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(self.catalog_error())
    }

    fn run(&self, id: Guid) -> Result<Option<RunRecord>, LogError> {
        self.catalog()
            .query_row(
                "SELECT id, status, header, created_at, events, first, last, summary FROM run
                 WHERE id = ?1",
                [id.to_string()],
                read_record,
            )
            .optional()
            .map_err(self.catalog_error())
    }

    fn save(&self, record: &RunRecord) -> Result<(), LogError> {
        let header = serde_json::to_string(&record.header).map_err(LogError::store)?;
        let summary = record.summary.as_ref().map(serde_json::to_string).transpose();
        let summary = summary.map_err(LogError::store)?;
        let (first, last) = record.span.unzip();
        self.catalog()
            .execute(
                "INSERT OR REPLACE INTO run
                 (id, status, header, created_at, events, first, last, summary)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![
                    record.id.to_string(),
                    record.status.as_str(),
                    header,
                    record.created_at.nanos(),
                    record.events.cast_signed(),
                    first.map(Timestamp::nanos),
                    last.map(Timestamp::nanos),
                    summary,
                ],
            )
            .map(|_| ())
            .map_err(self.catalog_error())
    }

    fn delete(&self, id: Guid) -> Result<(), LogError> {
        {
            let catalog = self.catalog();
            let delete_rows = || {
                catalog.execute("DELETE FROM run WHERE id = ?1", [id.to_string()])?;
                catalog.execute("UPDATE version SET number = number + 1", ())
            };
            delete_rows().map_err(self.catalog_error())?;
        }
        for extension in ["run", "sealing", "open", "lock"] {
            remove(&self.file(id, extension))?;
        }
        Ok(())
    }

    fn open_run(&self, id: Guid) -> Result<Arc<dyn Blobs>, LogError> {
        let file = self.file(id, "open");
        let connection =
            migrate::open(&file, Durability::Normal, RUN_MIGRATIONS).map_err(LogError::store)?;
        Ok(Arc::new(SqliteBlobs::of(file, Access::Open, connection)))
    }

    fn make_durable(&self, id: Guid) -> Result<(), LogError> {
        // With `synchronous=NORMAL` a commit is durable once the write-ahead log is synced, which a
        // checkpoint does.
        let file = self.file(id, "open");
        let connection = sqlite::open(&file, Durability::Full).map_err(LogError::store)?;
        connection
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(()))
            .map_err(|source| LogError::store(store_error(&file, source)))
    }

    fn begin_seal(&self, id: Guid) -> Result<Arc<dyn Blobs>, LogError> {
        let open = self.file(id, "open");
        let lock = lock_file(&open)?;
        lock_outcome(lock.try_lock())?;
        // Another process sealed the run meanwhile.
        if !open.exists() {
            return Err(LogError::ConcurrentWriter);
        }
        self.seals().insert(id, lock);
        sealing_blobs(self.file(id, "sealing"))
    }

    fn abandon_seal(&self, id: Guid) -> Result<(), LogError> {
        // Only the process that started the seal may delete its output.
        match self.seals().remove(&id) {
            Some(_lock) => remove(&self.file(id, "sealing")),
            None => Ok(()),
        }
    }

    fn finish_seal(&self, record: &RunRecord) -> Result<(), LogError> {
        let _lock = self.seals().remove(&record.id);
        let (sealing, run) = (self.file(record.id, "sealing"), self.file(record.id, "run"));
        publish_sealed(&sealing, &run, &self.folder)?;
        self.save_and_bump_version(record)?;
        // The open file is deleted before the lock: the next process that takes the lock must not
        // find it.
        remove(&self.file(record.id, "open"))?;
        remove(&self.file(record.id, "lock"))
    }

    fn sealed(&self, id: Guid) -> Result<Arc<dyn Blobs>, LogError> {
        let file = self.file(id, "run");
        if !file.exists() {
            return Err(LogError::UnknownRun(id));
        }
        Ok(Arc::new(SqliteBlobs { file, access: Access::Sealed, idle: Mutex::default() }))
    }

    fn verify(&self) -> Result<(), LogError> {
        let open = self.runs()?.into_iter().filter(|run| run.status == Status::Running);
        let open = open.map(|run| self.file(run.id, "open")).filter(|file| file.exists());
        for file in std::iter::once(self.catalog_file.clone()).chain(open) {
            if let Some(error) = check::damage(&file, CheckDepth::Deep) {
                return Err(LogError::store(error));
            }
        }
        Ok(())
    }

    fn version(&self) -> u64 {
        // Queried on every call, so the statement is cached. An unreadable version is 0: the run is
        // then looked up again, which reports the error.
        let catalog = self.catalog();
        let number = catalog
            .prepare_cached("SELECT number FROM version")
            .and_then(|mut statement| statement.query_row((), |row| row.get::<_, i64>(0)));
        number.map_or(0, i64::cast_unsigned)
    }
}

/// Sealed runs as files of a folder, for a backend that has only the catalog and open runs.
#[derive(Debug)]
pub struct SealedFiles {
    folder: PathBuf,
}

impl SealedFiles {
    /// The files of a folder, which need not exist.
    pub const fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn file(&self, id: Guid, extension: &str) -> PathBuf {
        self.folder.join(format!("{id}.{extension}"))
    }

    /// Creates an empty place for the blobs of a seal. `seal` tells it from a seal of another
    /// process; what earlier seals left is deleted.
    pub fn create(&self, id: Guid, seal: &str) -> Result<Arc<dyn Blobs>, LogError> {
        let is_left = |path: &PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            name.starts_with(&format!("{id}.")) && name.ends_with(".sealing")
        };
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(is_left).try_for_each(|path| remove(&path))?;
        sealing_blobs(self.file(id, &format!("{seal}.sealing")))
    }

    /// Syncs the output of a seal and makes it the run.
    pub fn publish(&self, id: Guid, seal: &str) -> Result<(), LogError> {
        let sealing = self.file(id, &format!("{seal}.sealing"));
        publish_sealed(&sealing, &self.file(id, "run"), &self.folder)
    }

    /// Deletes the output of a seal.
    pub fn discard(&self, id: Guid, seal: &str) -> Result<(), LogError> {
        remove(&self.file(id, &format!("{seal}.sealing")))
    }

    /// The blobs of a sealed run; `None` if its file is missing.
    pub fn open(&self, id: Guid) -> Option<Arc<dyn Blobs>> {
        let file = self.file(id, "run");
        let blobs = SqliteBlobs { file, access: Access::Sealed, idle: Mutex::default() };
        blobs.file.exists().then(|| Arc::new(blobs) as Arc<dyn Blobs>)
    }

    /// Deletes a sealed run.
    pub fn remove(&self, id: Guid) -> Result<(), LogError> {
        remove(&self.file(id, "run"))
    }
}

/// An empty file for the output of a seal.
fn sealing_blobs(file: PathBuf) -> Result<Arc<dyn Blobs>, LogError> {
    remove(&file)?;
    let connection =
        migrate::open(&file, Durability::Normal, RUN_MIGRATIONS).map_err(LogError::store)?;
    disable_journal(&connection).map_err(|source| LogError::store(store_error(&file, source)))?;
    Ok(Arc::new(SqliteBlobs::of(file, Access::Sealing, connection)))
}

/// Leaves WAL mode so that the run is one file, which is complete and synced before the rename.
fn publish_sealed(sealing: &Path, run: &Path, folder: &Path) -> Result<(), LogError> {
    let connection = sqlite::open(sealing, Durability::Full).map_err(LogError::store)?;
    connection
        .pragma_update(None, "journal_mode", "DELETE")
        .map_err(|source| LogError::store(store_error(sealing, source)))?;
    drop(connection);
    fsync(sealing)?;
    fs::rename(sealing, run).map_err(LogError::store)?;
    fsync(folder)
}

fn read_record(row: &rusqlite::Row<'_>) -> rusqlite::Result<RunRecord> {
    let (id, status, header): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let timestamp = |column: usize| {
        row.get::<_, Option<i64>>(column).map(|nanos| nanos.map(Timestamp::from_nanos))
    };
    let damaged = |column, error: Box<dyn std::error::Error + Send + Sync>| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, error)
    };
    Ok(RunRecord {
        id: Guid::parse(&id).ok_or_else(|| damaged(0, "not a GUID".into()))?,
        status: Status::parse(&status).ok_or_else(|| damaged(1, "unknown status".into()))?,
        header: serde_json::from_str(&header).map_err(|error| damaged(2, error.into()))?,
        created_at: timestamp(3)?.unwrap_or(Timestamp::from_nanos(0)),
        events: row.get::<_, i64>(4)?.cast_unsigned(),
        span: timestamp(5)?.zip(timestamp(6)?),
        summary: match row.get::<_, Option<String>>(7)? {
            None => None,
            Some(json) => serde_json::from_str(&json).map_err(|error| damaged(7, error.into()))?,
        },
    })
}

/// Deletes a database file and its journals, if they exist.
fn remove(file: &Path) -> Result<(), LogError> {
    for extension in ["", "-wal", "-shm", "-journal"] {
        let mut name = file.as_os_str().to_owned();
        name.push(extension);
        match fs::remove_file(PathBuf::from(name)) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(LogError::store(error)),
        }
    }
    Ok(())
}

/// The lock file of a run.
fn lock_file(open: &Path) -> Result<fs::File, LogError> {
    let lock = open.with_extension("lock");
    fs::File::options().create(true).truncate(false).write(true).open(lock).map_err(LogError::store)
}

fn lock_outcome(outcome: Result<(), fs::TryLockError>) -> Result<(), LogError> {
    outcome.map_err(|error| match error {
        fs::TryLockError::WouldBlock => LogError::ConcurrentWriter,
        fs::TryLockError::Error(error) => LogError::store(error),
    })
}

fn fsync(path: &Path) -> Result<(), LogError> {
    fs::File::open(path).and_then(|file| file.sync_all()).map_err(LogError::store)
}

/// Blobs of one file, with a pool of connections: one per concurrent thread.
struct SqliteBlobs {
    file: PathBuf,
    access: Access,
    idle: Mutex<Vec<Connection>>,
}

/// The purpose of a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Access {
    /// Batches of an open run, each durable once stored.
    Open,
    /// Output of a seal, written once. A failed seal deletes the file, so single writes need no
    /// durability.
    Sealing,
    /// Read only.
    Sealed,
}

/// Disables journal and sync: `finish_seal` syncs the complete file.
fn disable_journal(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "OFF")?;
    connection.pragma_update(None, "synchronous", "OFF")
}

/// Idle connections per file.
const MAX_IDLE_CONNECTIONS: usize = 8;

impl SqliteBlobs {
    fn of(file: PathBuf, access: Access, connection: Connection) -> Self {
        Self { file, access, idle: Mutex::new(vec![connection]) }
    }

    fn connect(&self) -> Result<Connection, LogError> {
        let opened = match self.access {
            Access::Sealed => sqlite::open_read_only(&self.file),
            Access::Open | Access::Sealing => sqlite::open(&self.file, Durability::Normal),
        };
        let connection = opened.map_err(LogError::store)?;
        if self.access == Access::Sealing {
            disable_journal(&connection)
                .map_err(|source| LogError::store(store_error(&self.file, source)))?;
        }
        Ok(connection)
    }

    fn with_connection<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, LogError> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let reused = idle().pop();
        let mut connection = match reused {
            Some(connection) => connection,
            None => self.connect()?,
        };
        let done = work(&mut connection);
        let mut idle = idle();
        if idle.len() < MAX_IDLE_CONNECTIONS {
            idle.push(connection);
        }
        done.map_err(|source| {
            let constraint =
                source.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation);
            match store_error(&self.file, source) {
                // Only batches are inserted without replacing; see `put`.
                StoreError::Sql { .. } if constraint => LogError::ConcurrentWriter,
                error => LogError::store(error),
            }
        })
    }
}

impl Blobs for SqliteBlobs {
    fn get(&self, key: BlobKey) -> Result<Option<Vec<u8>>, LogError> {
        self.with_connection(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT value FROM blob WHERE key = ?1")?;
            statement.query_row([key.to_i64()], |row| row.get(0)).optional()
        })
    }

    fn put(&self, blobs: Vec<(BlobKey, Vec<u8>)>) -> Result<(), LogError> {
        let lock = match self.access {
            Access::Open => Some(lock_file(&self.file)?),
            Access::Sealing | Access::Sealed => None,
        };
        if let Some(lock) = &lock {
            lock_outcome(lock.try_lock_shared())?;
            // A finished seal has deleted the open file; a batch stored now would be lost.
            if !self.file.exists() {
                return Err(LogError::ConcurrentWriter);
            }
        }
        self.with_connection(|connection| {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            {
                // Only heads may be replaced. A batch that already exists belongs to another writer.
                let mut insert =
                    transaction.prepare_cached("INSERT INTO blob (key, value) VALUES (?1, ?2)")?;
                let mut replace = transaction
                    .prepare_cached("INSERT OR REPLACE INTO blob (key, value) VALUES (?1, ?2)")?;
                for (key, blob) in &blobs {
                    let statement =
                        if key.kind == BlobKind::Head { &mut replace } else { &mut insert };
                    statement.execute(params![key.to_i64(), blob])?;
                }
            }
            transaction.commit()
        })
    }

    fn keys(&self) -> Result<Vec<BlobKey>, LogError> {
        let stored = self.with_connection(|connection| {
            let mut statement = connection.prepare("SELECT key FROM blob ORDER BY key")?;
            statement.query_map((), |row| row.get(0))?.collect::<rusqlite::Result<Vec<i64>>>()
        })?;
        let unknown = LogError::Damaged("a blob has a key of no known kind");
        stored.into_iter().map(BlobKey::of_i64).collect::<Option<_>>().ok_or(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_catalog_row_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("backtest.db")).unwrap();
        let record = RunRecord {
            id: Guid::new(1),
            status: Status::Running,
            header: crate::run::RunHeader::default(),
            created_at: Timestamp::from_nanos(0),
            events: 0,
            span: None,
            summary: None,
        };
        for column in ["id", "status", "header"] {
            store.save(&record).unwrap();
            assert!(store.runs().is_ok());
            store.catalog().execute(&format!("UPDATE run SET {column} = '?'"), ()).unwrap();
            assert!(store.runs().is_err(), "{column}");
            store.catalog().execute("DELETE FROM run", ()).unwrap();
        }
    }
}
