//! Opens a SQLite file the one way we do.
//!
//! Write-ahead log, so that readers never wait for a writer; foreign keys; nothing that a
//! hostile schema could run; pages checked as they are read. In this mode a commit survives the
//! death of the process in any case. [`Durability`] says whether it survives loss of power too.
//!
//! A file that is deleted or replaced while it is open takes no more commits: they would go to an
//! inode that nobody finds again. Each commit compares device and inode first ([`FileIdentity`]).

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior, ffi};

use crate::error::StoreError;
use crate::pages;

/// How long a writer waits for another process.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a commit survives beside the death of the process.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Durability {
    /// Loss of power: for what a user wrote.
    Full,
    /// Loss of power may take the last commits: for what can be made again.
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

/// Opens a file for reading and writing; makes it, and its folder, for this user alone.
pub fn open(file: &Path, durability: Durability) -> Result<Connection, StoreError> {
    let unopenable = |source| StoreError::Unopenable { file: file.to_owned(), source };
    create_private(file).map_err(unopenable)?;
    let is_empty = fs::metadata(file).map_err(unopenable)?.len() == 0;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let identity = FileIdentity::of(file).map_err(unopenable)?;
    pages::require(file)?;
    let set_up = || {
        let mut connection = Connection::open_with_flags_and_vfs(file, flags, pages::VFS)?;
        harden(&connection)?;
        let place = file.to_owned();
        connection.commit_hook(Some(move || !identity.is_at(&place)))?;
        if is_empty {
            // There is nothing to lose yet. SQLite would wait for the disk half a dozen times.
            connection.pragma_update(None, "synchronous", "OFF")?;
        }
        connection.pragma_update(None, "journal_mode", "WAL")?;
        set_durability(&connection, durability)?;
        Ok(connection)
    };
    let connection = set_up().map_err(StoreError::about(file))?;
    if is_empty {
        // From here on there is: after a loss of power, a log beside an empty file is thrown away.
        sync_with_folder(file).map_err(unopenable)?;
    }
    Ok(connection)
}

/// Opens an existing file to look and not touch.
pub fn open_read_only(file: &Path) -> Result<Connection, StoreError> {
    // SQLite says only "unable to open" for a file that is not there.
    fs::metadata(file)
        .map_err(|source| StoreError::Unopenable { file: file.to_owned(), source })?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    pages::refuse_damaged_header(file)?;
    let set_up = || {
        let connection = Connection::open_with_flags_and_vfs(file, flags, pages::VFS)?;
        harden(&connection)?;
        Ok(connection)
    };
    set_up().map_err(StoreError::about(file))
}

/// Opens an existing file to look at whatever is in it, page checksums aside: for evidence of
/// what was done to it.
pub fn open_unverified(file: &Path) -> Result<Connection, StoreError> {
    fs::metadata(file)
        .map_err(|source| StoreError::Unopenable { file: file.to_owned(), source })?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let set_up = || {
        let connection = Connection::open_with_flags(file, flags)?;
        harden(&connection)?;
        Ok(connection)
    };
    set_up().map_err(StoreError::about(file))
}

/// Whether another connection has the file open. A file that cannot be asked is said to be free.
pub fn is_in_use(file: &Path) -> bool {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let ask = || {
        let connection = Connection::open_with_flags_and_vfs(file, flags, pages::VFS)?;
        connection.busy_timeout(Duration::ZERO)?;
        // With a write-ahead log every connection shares a lock on the file as long as it is open.
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK")
    };
    ask().is_err_and(|error: rusqlite::Error| {
        let busy = [rusqlite::ErrorCode::DatabaseBusy, rusqlite::ErrorCode::DatabaseLocked];
        error.sqlite_error_code().is_some_and(|code| busy.contains(&code))
    })
}

/// An error when SQLite could only open the file for reading, which it does without a word where
/// a disk is mounted so. Such a connection stays so when the disk can be written again.
pub fn require_writable(connection: &Connection, file: &Path) -> Result<(), StoreError> {
    match connection.is_readonly("main") {
        Ok(false) => Ok(()),
        Ok(true) => {
            let source = ffi::Error::new(ffi::SQLITE_READONLY);
            Err(StoreError::of(file, rusqlite::Error::SqliteFailure(source, None)))
        }
        Err(source) => Err(StoreError::of(file, source)),
    }
}

/// Which file was opened: a path may name another one later.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    /// The file that is at `path` now.
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
        // Elsewhere an open file can be neither deleted nor replaced.
        #[cfg(not(unix))]
        let (device, inode) = (0, u64::from(found.is_dir()));
        Ok(Self { device, inode })
    }

    /// Whether `path` still names this file.
    pub fn is_at(self, path: &Path) -> bool {
        Self::of(path).is_ok_and(|found| found == self)
    }

    /// An error when `path` names another file by now, or none.
    pub fn verify(self, path: &Path) -> Result<(), StoreError> {
        if self.is_at(path) { Ok(()) } else { Err(StoreError::Replaced { file: path.to_owned() }) }
    }
}

/// Runs `work` in a transaction that has the write lock from its beginning.
pub fn transact<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = work(&transaction)?;
    transaction.commit()?;
    Ok(done)
}

/// Changes what commits from now on survive.
pub fn set_durability(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    connection.pragma_update(None, "synchronous", durability.pragma())
}

fn harden(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)
}

/// Makes the folder and an empty file before SQLite does, which would let others read them.
/// The log files beside it get the permissions of the file.
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
        // SQLite has a better word for a file that cannot be made here.
        Err(error) => Err(error),
    }
}

/// Waits until the file and its name are on disk.
fn sync_with_folder(file: &Path) -> io::Result<()> {
    fs::File::open(file)?.sync_all()?;
    match file.parent() {
        // Other systems cannot open a folder, and do not need to.
        Some(folder) if cfg!(unix) => {
            let here = folder.as_os_str().is_empty();
            fs::File::open(if here { Path::new(".") } else { folder })?.sync_all()
        }
        Some(_) | None => Ok(()),
    }
}

/// Makes a folder that only this user may enter; leaves an existing one as it is.
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
    fn a_file_that_is_something_else_is_named_as_such_and_left_alone() {
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
    fn no_commit_goes_to_a_file_that_was_deleted_or_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.db");
        let connection = open(&file, Durability::Full).unwrap();
        connection.execute_batch("CREATE TABLE t (x INTEGER) STRICT").unwrap();
        let insert = || {
            let done = connection.execute("INSERT INTO t VALUES (1)", ());
            done.map_err(StoreError::about(&file))
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
    fn looking_at_a_file_that_is_not_there_does_not_make_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("none.db");
        assert!(matches!(open_read_only(&file), Err(StoreError::Unopenable { .. })));
        assert!(!file.exists());
    }
}
