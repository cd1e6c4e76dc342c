//! What can go wrong with a file, in words that say what to do about it.
//!
//! The operator reads [`StoreError`]; an agent gets the [`ToolError`] made of it, which has a
//! stable code and no path, SQL or cause in it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use panoply_contract::error::{ErrorKind, ToolError};
use rusqlite::ErrorCode;

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
    /// The bytes are not SQLite's.
    #[error("`{}` is not a SQLite database: move it away, or set another home", file.display())]
    NotADatabase {
        /// The file.
        file: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// It was a database once.
    #[error("`{}` is damaged: restore it from a backup (a `.bak` beside it is one)", file.display())]
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
        let system = |code, message, hint| {
            ToolError::new(ErrorKind::System, code, message).hint(hint).cause(self.chain())
        };
        match self {
            Self::DiskFull { .. } => system(
                "DISK_FULL",
                "the server's disk is full, so nothing can be changed",
                "ask the operator to free some space, then try again",
            ),
            Self::ReadOnly { .. } => system(
                "STORE_READ_ONLY",
                "the server cannot write its data, so nothing can be changed",
                "ask the operator to run `panoply doctor`, then try again",
            ),
            Self::Locked { .. } => system(
                "STORE_BUSY",
                "the server's data are locked by another program",
                "try again in a moment",
            )
            .retry_after(Duration::from_secs(1)),
            Self::NotADatabase { .. }
            | Self::Damaged { .. }
            | Self::BadRow { .. }
            | Self::Foreign { .. }
            | Self::NewerSchema { .. }
            | Self::Migration { .. }
            | Self::Unopenable { .. }
            | Self::NoRandomness(_)
            | Self::WriterGone { .. }
            | Self::Sql { .. } => system(
                "DATABASE_ERROR",
                "the server's data cannot be read or written",
                "ask the operator to run `panoply doctor`, then try again",
            ),
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
            (rusqlite::ffi::SQLITE_NOTADB, "DATABASE_ERROR"),
            (rusqlite::ffi::SQLITE_CORRUPT, "DATABASE_ERROR"),
            (rusqlite::ffi::SQLITE_IOERR, "DATABASE_ERROR"),
        ];
        for (code, expected) in cases {
            let source = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
            let error = StoreError::of(file, source);
            assert!(error.to_string().contains("audit.db"), "the operator sees the file: {error}");
            let told = error.tool_error();
            assert_eq!(told.code, expected, "code: {code}");
            assert!(!format!("{} {:?}", told.message, told.hint).contains("/home"), "code: {code}");
        }
    }
}
