//! What can go wrong with a file, in words that say what to do about it.
//!
//! The operator reads [`StoreError`]; an agent gets the [`ToolError`] made of it, which has a
//! stable code and no path, SQL or cause in it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use panoply_contract::error::{ErrorKind, ToolError};
use rusqlite::{ErrorCode, ffi};

/// A file that could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No room for what was to be written.
    #[error("the disk that holds `{}` is full: free some space; what was acknowledged is safe", file.display())]
    DiskFull {
        /// The file.
        file: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The file or its folder cannot be written.
    #[error("`{}` cannot be written: give this user write permission on it and on its folder", file.display())]
    ReadOnly {
        /// The file.
        file: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// Someone else kept it locked for too long.
    #[error("`{}` is locked by another program: close that program, or wait and try again", file.display())]
    Locked {
        /// The file.
        file: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The path names another file than the one that was opened, or none.
    #[error("`{}` was deleted or replaced while it was open: put the file back, or restart this program to open the new one", file.display())]
    Replaced {
        /// The file.
        file: PathBuf,
    },
    /// The bytes are not SQLite's.
    #[error("`{}` is not a SQLite database: move it away, or set another home", file.display())]
    NotADatabase {
        /// The file.
        file: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// It was a database once.
    #[error("`{}` is damaged: run `panoply doctor --deep`, then restore it from a backup", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        source: rusqlite::Error,
    },
    /// A row holds what this program never writes.
    #[error("row {row} of `{}` cannot be read ({what}): it was changed by another program", file.display())]
    BadRow {
        /// The file.
        file: PathBuf,
        /// Which row.
        row: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A database with tables that are not ours.
    #[error("`{}` belongs to another program: move it away, or set another home", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
    },
    /// A later version of this program wrote it.
    #[error("`{}` was written by a newer version of this program (its schema is {found}, this one knows {known}): upgrade this program, or restore the backup made before the upgrade", file.display())]
    NewerSchema {
        /// The file.
        file: PathBuf,
        /// The version in the file.
        found: u32,
        /// The newest version this program knows.
        known: u32,
    },
    /// A migration failed and was undone.
    #[error("`{}` could not be brought to schema {to} ({name}) and is as it was", file.display())]
    Migration {
        /// The file.
        file: PathBuf,
        /// The version that was to be reached.
        to: u32,
        /// The migration that failed.
        name: &'static str,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The operating system said no.
    #[error("`{}` cannot be opened: {source}", file.display())]
    Unopenable {
        /// The file or folder.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The operating system gave no random bytes.
    #[error("the operating system gave no random bytes: {0}")]
    NoRandomness(getrandom::Error),
    /// The thread that writes has ended.
    #[error("the writer of `{}` has ended: restart this program", file.display())]
    WriterGone {
        /// The file.
        file: PathBuf,
    },
    /// Anything else that SQLite said.
    #[error("`{}`: {source}", file.display())]
    Sql {
        /// The file.
        file: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// Sorts an error of SQLite by what is to be done about it.
    pub fn of(file: &Path, source: rusqlite::Error) -> Self {
        let file = file.to_owned();
        match source.sqlite_extended_error_code() {
            Some(ffi::SQLITE_CONSTRAINT_COMMITHOOK) => return Self::Replaced { file },
            Some(ffi::SQLITE_IOERR_DATA) => return Self::Damaged { file, source },
            // The index of the write-ahead log could not grow.
            Some(ffi::SQLITE_IOERR_SHMSIZE) => return Self::DiskFull { file, source },
            Some(_) | None => {}
        }
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull { file, source },
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::ReadOnly { file, source }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Locked { file, source }
            }
            Some(ErrorCode::NotADatabase) => Self::NotADatabase { file, source },
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged { file, source },
            _ => Self::Sql { file, source },
        }
    }

    /// For `map_err`: errors of this file.
    pub fn about(file: &Path) -> impl Fn(rusqlite::Error) -> Self + '_ {
        move |source| Self::of(file, source)
    }

    /// The error as a caller sees it.
    pub fn tool_error(&self) -> ToolError {
        let told = |kind, (code, message, hint): (&'static str, &str, &str)| {
            ToolError::new(kind, code, message).hint(hint).cause(self.chain())
        };
        match self.trouble() {
            Trouble::Full => told(
                ErrorKind::Storage,
                (
                    "DISK_FULL",
                    "the server's disk is full, so nothing can be changed",
                    "ask the operator to free some space, then try again",
                ),
            ),
            Trouble::ReadOnly => told(
                ErrorKind::Storage,
                (
                    "STORE_READ_ONLY",
                    "the server cannot write its data, so nothing can be changed",
                    "ask the operator to run `panoply doctor`, then try again",
                ),
            ),
            Trouble::Replaced => told(
                ErrorKind::Storage,
                (
                    "STORE_REPLACED",
                    "a file of the server was deleted or replaced while it was open, so nothing can be changed",
                    "ask the operator to put the file back or to restart the server",
                ),
            ),
            Trouble::Damaged => told(
                ErrorKind::Storage,
                (
                    "STORE_DAMAGED",
                    "the server's data are damaged",
                    "ask the operator to run `panoply doctor --deep` and `panoply restore`",
                ),
            ),
            Trouble::Busy => told(
                ErrorKind::System,
                (
                    "STORE_BUSY",
                    "the server's data are locked by another program",
                    "try again in a moment",
                ),
            )
            .retry_after(Duration::from_secs(1)),
            Trouble::Other => told(
                ErrorKind::System,
                (
                    "DATABASE_ERROR",
                    "the server's data cannot be read or written",
                    "ask the operator to run `panoply doctor`, then try again",
                ),
            ),
        }
    }

    /// The error as a caller of a pack sees it: damage is told of the pack by name.
    pub fn pack_error(&self, pack: &str) -> ToolError {
        let error = self.tool_error();
        match self.trouble() {
            Trouble::Damaged => ToolError {
                code: "PACK_DAMAGED".into(),
                message: format!("the data of the pack `{pack}` are damaged; other packs serve on"),
                ..error
            }
            .detail("pack", pack),
            Trouble::Full
            | Trouble::ReadOnly
            | Trouble::Replaced
            | Trouble::Busy
            | Trouble::Other => error.detail("pack", pack),
        }
    }

    /// What is to be done about it decides how it is told.
    fn trouble(&self) -> Trouble {
        match self {
            Self::DiskFull { .. } => Trouble::Full,
            Self::ReadOnly { .. } => Trouble::ReadOnly,
            Self::Replaced { .. } => Trouble::Replaced,
            Self::Locked { .. } => Trouble::Busy,
            Self::NotADatabase { .. }
            | Self::Damaged { .. }
            | Self::BadRow { .. }
            | Self::Foreign { .. }
            | Self::NewerSchema { .. }
            | Self::Migration { .. } => Trouble::Damaged,
            Self::Unopenable { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Trouble::Full,
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    Trouble::ReadOnly
                }
                _ => Trouble::Other,
            },
            Self::NoRandomness(_) | Self::WriterGone { .. } | Self::Sql { .. } => Trouble::Other,
        }
    }

    /// The error and its causes in one line, for the log.
    pub fn chain(&self) -> String {
        let mut chain = self.to_string();
        let mut next = std::error::Error::source(self);
        while let Some(cause) = next {
            chain = format!("{chain}: {cause}");
            next = cause.source();
        }
        chain
    }
}

/// The kinds of trouble with storage that callers tell apart.
enum Trouble {
    Full,
    ReadOnly,
    Replaced,
    Damaged,
    Busy,
    Other,
}

/// An error of SQLite that lost its type on the way, by its extended code.
pub fn pack_error_of_code(pack: &str, extended_code: i32, message: String) -> ToolError {
    let source = rusqlite::Error::SqliteFailure(ffi::Error::new(extended_code), Some(message));
    StoreError::of(Path::new(pack), source).pack_error(pack)
}

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        error.tool_error()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_learns_what_to_do_and_not_where_the_file_is() {
        let file = Path::new("/home/ann/panoply/audit.db");
        let cases = [
            (rusqlite::ffi::SQLITE_FULL, "DISK_FULL"),
            (rusqlite::ffi::SQLITE_READONLY, "STORE_READ_ONLY"),
            (rusqlite::ffi::SQLITE_CANTOPEN, "STORE_READ_ONLY"),
            (rusqlite::ffi::SQLITE_BUSY, "STORE_BUSY"),
            (rusqlite::ffi::SQLITE_NOTADB, "STORE_DAMAGED"),
            (rusqlite::ffi::SQLITE_CORRUPT, "STORE_DAMAGED"),
            (rusqlite::ffi::SQLITE_IOERR_DATA, "STORE_DAMAGED"),
            (rusqlite::ffi::SQLITE_CONSTRAINT_COMMITHOOK, "STORE_REPLACED"),
            (rusqlite::ffi::SQLITE_IOERR, "DATABASE_ERROR"),
        ];
        for (code, expected) in cases {
            let source = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
            let error = StoreError::of(file, source);
            assert!(error.to_string().contains("audit.db"), "the operator sees the file: {error}");
            let told = error.tool_error();
            assert_eq!(told.code, expected, "code: {code}");
            let helps = matches!(expected, "STORE_BUSY" | "DATABASE_ERROR");
            assert_eq!(told.kind.retryable(), helps, "code: {code}");
            assert!(!format!("{} {:?}", told.message, told.hint).contains("/home"), "code: {code}");
        }
    }
}
