//! Runs in SQLite: a catalog, and one file a run. Deleting a run deletes its file.
//!
//! `NAME.open` takes events, `NAME.sealing` is what a seal is writing, `NAME.run` is a sealed run.
//! A seal ends with one rename, so a crash leaves either the open run or the sealed one. An open
//! run beside its sealed one is cleared when the store is opened; what a killed seal had written
//! is cleared by the next seal, because until then nobody knows whether it still goes on.
//! `NAME.lock` keeps a seal and other processes apart: whoever seals holds it alone, whoever puts a
//! batch shares it, and the system lets go of it when a process dies.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use panoply_store::error::StoreError;
use panoply_store::migrate::{self, Migration};
use panoply_store::mutations::{self, HasMutations, MutationTable};
use panoply_store::sqlite::{self, Durability};
use rusqlite::{Connection, OptionalExtension, params};

use super::{BlobKey, BlobKind, Blobs, Store};
use crate::error::LogError;
use crate::event::Guid;
use crate::run::{RunHeader, RunRecord, Status};
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
          INSERT INTO version VALUES (0);",
    },
    mutations::MIGRATION,
];
const RUN_MIGRATIONS: &[Migration] = &[Migration {
    name: "blobs",
    sql: "CREATE TABLE blob (key INTEGER PRIMARY KEY, value BLOB NOT NULL) STRICT;",
}];

/// Runs in a folder.
pub struct SqliteStore {
    catalog_file: PathBuf,
    folder: PathBuf,
    catalog: Mutex<Connection>,
    /// The locks of the runs that are being sealed by us.
    seals: Mutex<HashMap<Guid, fs::File>>,
    mutations: MutationTable,
}

impl SqliteStore {
    /// Opens the catalog at `catalog` and the folder of runs beside it, named as the catalog is
    /// without its ending. Finishes or clears what a crash left.
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
                // The rename had happened, the catalog had not heard of it.
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

    /// What a sealed file says of itself, for a catalog that missed it.
    fn sealed_record(&self, record: &RunRecord) -> Result<RunRecord, LogError> {
        let blobs = self.sealed(record.id)?;
        let head = blobs.get(BlobKey::new(BlobKind::Head, 0, 0))?;
        let head: crate::sealed::head::Head = head
            .and_then(|json| serde_json::from_slice(&json).ok())
            .ok_or(LogError::Damaged("a sealed run has no head"))?;
        let span = (Timestamp::from_nanos(head.first), Timestamp::from_nanos(head.last));
        Ok(RunRecord {
            status: Status::Completed,
            events: u64::from(head.events),
            span: (head.events > 0).then_some(span),
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
        |source| LogError::store(StoreError::of(&self.catalog_file, source))
    }

    fn save_and_bump_version(&self, record: &RunRecord) -> Result<(), LogError> {
        self.save(record)?;
        self.catalog()
            .execute("UPDATE version SET number = number + 1", ())
            .map(|_| ())
            .map_err(self.catalog_error())
    }

    /// How many bytes a run takes on disk.
    pub fn size_of(&self, id: Guid) -> u64 {
        let size = |extension| fs::metadata(self.file(id, extension)).map_or(0, |file| file.len());
        size("run") + size("open") + size("open-wal")
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
                "SELECT id, status, header, created_at, events, first, last FROM run
                 ORDER BY created_at DESC, id",
            )?;
            statement.query_map((), read_record)?.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(self.catalog_error())
    }

    fn run(&self, id: Guid) -> Result<Option<RunRecord>, LogError> {
        self.catalog()
            .query_row(
                "SELECT id, status, header, created_at, events, first, last FROM run WHERE id = ?1",
                [id.to_string()],
                read_record,
            )
            .optional()
            .map_err(self.catalog_error())
    }

    fn save(&self, record: &RunRecord) -> Result<(), LogError> {
        let header = serde_json::to_string(&record.header).map_err(LogError::store)?;
        let (first, last) = record.span.unzip();
        self.catalog()
            .execute(
                "INSERT OR REPLACE INTO run (id, status, header, created_at, events, first, last)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    record.id.to_string(),
                    record.status.as_str(),
                    header,
                    record.created_at.nanos(),
                    record.events.cast_signed(),
                    first.map(Timestamp::nanos),
                    last.map(Timestamp::nanos),
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
        // In this mode commits are written when they are made and safe from loss of power once
        // the log is synced, which a checkpoint does.
        let file = self.file(id, "open");
        let connection = sqlite::open(&file, Durability::Full).map_err(LogError::store)?;
        connection
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(()))
            .map_err(|source| LogError::store(StoreError::of(&file, source)))
    }

    fn begin_seal(&self, id: Guid) -> Result<Arc<dyn Blobs>, LogError> {
        let open = self.file(id, "open");
        let lock = lock_file(&open)?;
        lock_outcome(lock.try_lock())?;
        // Another process has sealed it in the meantime.
        if !open.exists() {
            return Err(LogError::ConcurrentWriter);
        }
        self.seals().insert(id, lock);
        let file = self.file(id, "sealing");
        remove(&file)?;
        let connection =
            migrate::open(&file, Durability::Normal, RUN_MIGRATIONS).map_err(LogError::store)?;
        disable_journal(&connection)
            .map_err(|source| LogError::store(StoreError::of(&file, source)))?;
        Ok(Arc::new(SqliteBlobs::of(file, Access::Sealing, connection)))
    }

    fn abandon_seal(&self, id: Guid) -> Result<(), LogError> {
        // What another process is writing is not ours to throw away.
        match self.seals().remove(&id) {
            Some(_lock) => remove(&self.file(id, "sealing")),
            None => Ok(()),
        }
    }

    fn finish_seal(&self, record: &RunRecord) -> Result<(), LogError> {
        let _lock = self.seals().remove(&record.id);
        let (sealing, run) = (self.file(record.id, "sealing"), self.file(record.id, "run"));
        // One file without a log beside it, everything in it and on the disk, before it is named.
        let connection = sqlite::open(&sealing, Durability::Full).map_err(LogError::store)?;
        connection
            .pragma_update(None, "journal_mode", "DELETE")
            .map_err(|source| LogError::store(StoreError::of(&sealing, source)))?;
        drop(connection);
        fsync(&sealing)?;
        fs::rename(&sealing, &run).map_err(LogError::store)?;
        fsync(&self.folder)?;
        self.save_and_bump_version(record)?;
        // The open run goes first: who gets the lock after us finds that there is none any more.
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

    fn version(&self) -> u64 {
        // Asked by every question, so it is prepared once.
        let catalog = self.catalog();
        let number = catalog
            .prepare_cached("SELECT number FROM version")
            .and_then(|mut statement| statement.query_row((), |row| row.get::<_, i64>(0)));
        number.map_or(0, i64::cast_unsigned)
    }
}

fn read_record(row: &rusqlite::Row<'_>) -> rusqlite::Result<RunRecord> {
    let (id, status, header): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let timestamp = |column: usize| {
        row.get::<_, Option<i64>>(column).map(|nanos| nanos.map(Timestamp::from_nanos))
    };
    Ok(RunRecord {
        id: Guid::parse(&id).unwrap_or(Guid::new(0)),
        status: if status == Status::Completed.as_str() {
            Status::Completed
        } else {
            Status::Running
        },
        header: serde_json::from_str::<RunHeader>(&header).unwrap_or_default(),
        created_at: timestamp(3)?.unwrap_or(Timestamp::from_nanos(0)),
        events: row.get::<_, i64>(4)?.cast_unsigned(),
        span: timestamp(5)?.zip(timestamp(6)?),
    })
}

/// Deletes a file and the logs beside it, if they are there.
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

/// The file that keeps the writers of a run apart.
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

/// The blobs of one file. Each thread that asks gets a connection; they are kept for the next.
struct SqliteBlobs {
    file: PathBuf,
    access: Access,
    idle: Mutex<Vec<Connection>>,
}

/// What a file is opened for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Access {
    /// To take batches, each safe when it was taken.
    Open,
    /// To be written once. If that fails the file is thrown away, so nothing in it has to be safe
    /// before the whole is.
    Sealing,
    /// To be read.
    Sealed,
}

/// Writes go to the file itself, and to the disk when the file is complete.
fn disable_journal(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "OFF")?;
    connection.pragma_update(None, "synchronous", "OFF")
}

/// Connections of a file that wait for the next question.
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
                .map_err(|source| LogError::store(StoreError::of(&self.file, source)))?;
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
            match StoreError::of(&self.file, source) {
                // Only a batch is inserted where one may be already; see `put`.
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
            // A seal removes the open run, and what went into it now would be lost.
            if !self.file.exists() {
                return Err(LogError::ConcurrentWriter);
            }
        }
        self.with_connection(|connection| {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            {
                // Only a head is ever written again: two writers of one run must not take each
                // other's batch for their own.
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
}
