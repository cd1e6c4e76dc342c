//! Opens SQLite files with the settings common to all stores.
//!
//! WAL mode, so that readers never wait for a writer; foreign keys; defensive mode against hostile
//! schemas; page checksums. In WAL mode a commit always survives a crash of the process.
//! [`Durability`] decides whether it also survives loss of power.
//!
//! A file deleted or replaced while open accepts no more commits: they would go to an unlinked
//! inode. Each commit compares device and inode first ([`FileIdentity`]).

mod errors;
pub(crate) mod keys;
mod users;

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior, ffi};

pub use self::errors::{about, store_error};
pub use self::keys::SqliteApiKeys;
pub use self::users::SqliteUsers;
use crate::error::StoreError;
use crate::{page_checksums, write_ahead_log};

/// How long a writer waits for the lock of another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Whether a commit survives loss of power.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Durability {
    /// Synced at each commit: for user data.
    Full,
    /// Loss of power may lose the last commits: for data that can be recreated.
    Normal,
}

impl Durability {
    const fn pragma(self) -> &'static str {
        match self {
            Self::Full => "FULL",
            Self::Normal => "NORMAL",
        }
    }
}

/// Opens a file for reading and writing; creates it and its folder for this user only.
pub fn open(file: &Path, durability: Durability) -> Result<Connection, StoreError> {
    let unopenable = |source| StoreError::Unopenable { file: file.to_owned(), source };
    create_private(file).map_err(unopenable)?;
    let is_empty = fs::metadata(file).map_err(unopenable)?.len() == 0;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let identity = FileIdentity::of(file).map_err(unopenable)?;
    write_ahead_log::verify(file)?;
    page_checksums::require(file)?;
    let set_up = || {
        let mut connection = Connection::open_with_flags_and_vfs(file, flags, page_checksums::VFS)?;
        harden(&connection)?;
        let place = file.to_owned();
        connection.commit_hook(Some(move || !identity.is_at(&place)))?;
        if is_empty {
            // A new file has nothing to lose yet; SQLite would sync about six times.
            connection.pragma_update(None, "synchronous", "OFF")?;
        }
        connection.pragma_update(None, "journal_mode", "WAL")?;
        set_durability(&connection, durability)?;
        Ok(connection)
    };
    let connection = set_up().map_err(about(file))?;
    if is_empty {
        // Sync now: after a loss of power SQLite discards a WAL next to an empty file.
        sync_with_folder(file).map_err(unopenable)?;
    }
    Ok(connection)
}

/// Opens an existing file read-only.
pub fn open_read_only(file: &Path) -> Result<Connection, StoreError> {
    // For a missing file SQLite reports only "unable to open".
    fs::metadata(file)
        .map_err(|source| StoreError::Unopenable { file: file.to_owned(), source })?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    write_ahead_log::verify(file)?;
    page_checksums::refuse_damaged_header(file)?;
    let set_up = || {
        let connection = Connection::open_with_flags_and_vfs(file, flags, page_checksums::VFS)?;
        harden(&connection)?;
        Ok(connection)
    };
    set_up().map_err(about(file))
}

/// Opens an existing file read-only without verifying page checksums, to examine tampered files.
pub fn open_unverified(file: &Path) -> Result<Connection, StoreError> {
    fs::metadata(file)
        .map_err(|source| StoreError::Unopenable { file: file.to_owned(), source })?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let set_up = || {
        let connection = Connection::open_with_flags(file, flags)?;
        harden(&connection)?;
        Ok(connection)
    };
    set_up().map_err(about(file))
}

/// Whether another connection has the file open. `false` for a file that cannot be opened.
pub fn is_in_use(file: &Path) -> bool {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let ask = || {
        let connection = Connection::open_with_flags_and_vfs(file, flags, page_checksums::VFS)?;
        connection.busy_timeout(Duration::ZERO)?;
        // In WAL mode every open connection holds a shared lock on the file.
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK")
    };
    ask().is_err_and(|error: rusqlite::Error| {
        let busy = [rusqlite::ErrorCode::DatabaseBusy, rusqlite::ErrorCode::DatabaseLocked];
        error.sqlite_error_code().is_some_and(|code| busy.contains(&code))
    })
}

/// Fails when SQLite silently opened the file read-only, as on a read-only mount. Such a connection
/// stays read-only even after the disk becomes writable.
pub fn require_writable(connection: &Connection, file: &Path) -> Result<(), StoreError> {
    match connection.is_readonly("main") {
        Ok(false) => Ok(()),
        Ok(true) => {
            let source = ffi::Error::new(ffi::SQLITE_READONLY);
            Err(store_error(file, rusqlite::Error::SqliteFailure(source, None)))
        }
        Err(source) => Err(store_error(file, source)),
    }
}

/// Identity of an open file: a path may name another file later.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    /// Identity of the file currently at `path`.
    pub fn of(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        if !found.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        #[cfg(unix)]
        let (device, inode) = {
            use std::os::unix::fs::MetadataExt as _;
            (found.dev(), found.ino())
        };
        // Other systems do not allow deleting or replacing an open file.
        #[cfg(not(unix))]
        let (device, inode) = (0, u64::from(found.is_dir()));
        Ok(Self { device, inode })
    }

    /// Whether `path` still names this file.
    pub fn is_at(self, path: &Path) -> bool {
        Self::of(path).is_ok_and(|found| found == self)
    }

    /// Fails when `path` no longer names this file.
    pub fn verify(self, path: &Path) -> Result<(), StoreError> {
        if self.is_at(path) { Ok(()) } else { Err(StoreError::Replaced { file: path.to_owned() }) }
    }
}

/// Runs `work` in an immediate transaction, which takes the write lock at its start.
pub fn transact<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = work(&transaction)?;
    transaction.commit()?;
    Ok(done)
}

/// Sets the durability of subsequent commits.
pub fn set_durability(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    connection.pragma_update(None, "synchronous", durability.pragma())
}

fn harden(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)
}

/// Creates the folder and an empty file with private permissions before SQLite does. SQLite gives
/// the WAL files the permissions of the database.
pub(crate) fn create_private(file: &Path) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        create_private_folder(folder)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(file) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        // Let SQLite report the error: its message is more specific.
        Err(error) => Err(error),
    }
}

/// Syncs the file and its directory entry.
fn sync_with_folder(file: &Path) -> io::Result<()> {
    fs::File::open(file)?.sync_all()?;
    match file.parent() {
        // Other systems cannot open a folder and do not need to sync it.
        Some(folder) if cfg!(unix) => {
            let here = folder.as_os_str().is_empty();
            fs::File::open(if here { Path::new(".") } else { folder })?.sync_all()
        }
        Some(_) | None => Ok(()),
    }
}

/// Creates a folder accessible by this user only; does not change an existing one.
pub(crate) fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pragma(connection: &Connection, name: &str) -> String {
        connection
            .pragma_query_value(None, name, |row| {
                let value: rusqlite::types::Value = row.get(0)?;
                Ok(match value {
                    rusqlite::types::Value::Text(text) => text,
                    other => format!("{other:?}"),
                })
            })
            .unwrap()
    }

    #[test]
    fn every_connection_has_the_same_settings() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.db");
        let cases = [(Durability::Full, "Integer(2)"), (Durability::Normal, "Integer(1)")];
        for (durability, synchronous) in cases {
            let connection = open(&file, durability).unwrap();
            let expected = [
                ("journal_mode", "wal"),
                ("synchronous", synchronous),
                ("busy_timeout", "Integer(5000)"),
                ("foreign_keys", "Integer(1)"),
                ("trusted_schema", "Integer(0)"),
                ("cell_size_check", "Integer(1)"),
            ];
            for (name, value) in expected {
                assert_eq!(pragma(&connection, name), value, "{name} of {durability:?}");
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn other_users_can_read_neither_the_folder_nor_any_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("deep/home");
        let connection = open(&home.join("a.db"), Durability::Full).unwrap();
        connection.execute_batch("CREATE TABLE t (x) STRICT;").unwrap_err();
        connection.execute_batch("CREATE TABLE t (x INTEGER) STRICT;").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&home), 0o700);
        for name in ["a.db", "a.db-wal", "a.db-shm"] {
            assert_eq!(mode(&home.join(name)), 0o600, "{name}");
        }
    }

    #[test]
    fn a_file_of_another_format_is_refused_and_not_changed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("notes.txt");
        fs::write(&file, "my notes, which are longer than a header of a database".repeat(40))
            .unwrap();
        let before = fs::read(&file).unwrap();
        let error = open(&file, Durability::Full).unwrap_err();
        assert!(matches!(error, StoreError::NotADatabase { .. }), "{error:?}");
        assert_eq!(fs::read(&file).unwrap(), before);
    }

    #[cfg(unix)]
    #[test]
    fn commits_to_a_deleted_or_replaced_file_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.db");
        let connection = open(&file, Durability::Full).unwrap();
        connection.execute_batch("CREATE TABLE t (x INTEGER) STRICT").unwrap();
        let insert = || {
            let done = connection.execute("INSERT INTO t VALUES (1)", ());
            done.map_err(about(&file))
        };
        insert().unwrap();
        let away = folder.path().join("away.db");
        fs::rename(&file, &away).unwrap();
        assert!(matches!(insert(), Err(StoreError::Replaced { .. })), "deleted");
        fs::write(&file, "another").unwrap();
        assert!(matches!(insert(), Err(StoreError::Replaced { .. })), "replaced");
        fs::rename(&away, &file).unwrap();
        insert().unwrap();
        let rows: i64 =
            connection.query_row("SELECT count(*) FROM t", (), |row| row.get(0)).unwrap();
        assert_eq!(rows, 2, "what was refused is not there");
    }

    #[test]
    fn opening_a_missing_file_read_only_does_not_create_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("none.db");
        assert!(matches!(open_read_only(&file), Err(StoreError::Unopenable { .. })));
        assert!(!file.exists());
    }
}
