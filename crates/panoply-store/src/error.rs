//! Errors of file access, with messages that say how to fix the cause.
//!
//! The operator reads [`StoreError`]. Agents receive the [`ToolError`] converted from it, which has
//! a stable code and contains no path, SQL or cause.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use panoply_contract::error::{ErrorKind, ToolError};

/// The error of a storage backend, for the log. It has no type here, so that another backend can
/// have its own.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// A file could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The disk or quota is full.
    #[error("the disk that holds `{}` is full: free some space; what was acknowledged is safe", file.display())]
    DiskFull {
        /// The file.
        file: PathBuf,
        /// The cause.
        source: Cause,
    },
    /// The file or its folder cannot be written.
    #[error("`{}` cannot be written: give this user write permission on it and on its folder", file.display())]
    ReadOnly {
        /// The file.
        file: PathBuf,
        /// The cause.
        source: Cause,
    },
    /// Another process held the lock for longer than the busy timeout.
    #[error("`{}` is locked by another program: close that program, or wait and try again", file.display())]
    Locked {
        /// The file.
        file: PathBuf,
        /// The cause.
        source: Cause,
    },
    /// The path no longer names the file that was opened.
    #[error("`{}` was deleted or replaced while it was open: put the file back, or restart this program to open the new one", file.display())]
    Replaced {
        /// The file.
        file: PathBuf,
    },
    /// The file is not a SQLite database.
    #[error("`{}` is not a SQLite database: move it away, or set another home", file.display())]
    NotADatabase {
        /// The file.
        file: PathBuf,
        /// The cause.
        source: Cause,
    },
    /// The database is corrupt.
    #[error("`{}` is damaged: run `panoply doctor --deep`, then restore it from a backup", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The fault.
        source: Cause,
    },
    /// Transactions in the write-ahead log cannot be read.
    #[error("`{}` is damaged at frame {frame}, and committed changes are in it: keep a copy of it, then restore a backup, or delete it to go on without these changes (`panoply audit show` lists them)", file.display())]
    DamagedLog {
        /// The write-ahead log.
        file: PathBuf,
        /// The first damaged frame; 0 is the header.
        frame: usize,
    },
    /// A row contains a value that this program never writes.
    #[error("row {row} of `{}` cannot be read ({what}): it was changed by another program", file.display())]
    BadRow {
        /// The file.
        file: PathBuf,
        /// Which row.
        row: u64,
        /// The fault.
        what: &'static str,
    },
    /// The database contains tables of another program.
    #[error("`{}` belongs to another program: move it away, or set another home", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
    },
    /// A newer version of this program wrote the file.
    #[error("`{}` was written by a newer version of this program (its schema is {found}, this one supports {known}): upgrade this program, or restore the backup made before the upgrade", file.display())]
    NewerSchema {
        /// The file.
        file: PathBuf,
        /// The version in the file.
        found: u32,
        /// The newest version this program supports.
        known: u32,
    },
    /// A migration failed and was rolled back.
    #[error("`{}` could not be migrated to schema {to} ({name}) and was not changed", file.display())]
    Migration {
        /// The file.
        file: PathBuf,
        /// The target version.
        to: u32,
        /// The migration that failed.
        name: &'static str,
        /// The cause.
        source: Cause,
    },
    /// An I/O error.
    #[error("`{}` cannot be opened: {source}", file.display())]
    Unopenable {
        /// The file or folder.
        file: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The operating system gave no random bytes.
    #[error("the operating system gave no random bytes: {0}")]
    NoRandomness(getrandom::Error),
    /// The writer thread has ended.
    #[error("the writer of `{}` has ended: restart this program", file.display())]
    WriterGone {
        /// The file.
        file: PathBuf,
    },
    /// A database server has no free connection, cannot be reached or gave up waiting for a lock.
    #[error("the database server {what}: {source}")]
    ServerBusy {
        /// What is the matter, such as "cannot be reached".
        what: &'static str,
        /// When to try again.
        retry: Duration,
        /// The cause.
        source: Cause,
    },
    /// The connection was lost during a commit, and the server does not know the transaction.
    #[error(
        "the database server was lost during a commit, and whether the change was made is unknown: {source}"
    )]
    OutcomeUnknown {
        /// The cause.
        source: Cause,
    },
    /// The database is not set up for this program.
    #[error("{0}")]
    NotSetUp(String),
    /// Any other error of a database server.
    #[error("the database server refused a statement: {source}")]
    Server {
        /// The cause.
        source: Cause,
    },
    /// Any other error of the database.
    #[error("`{}`: {source}", file.display())]
    Sql {
        /// The file.
        file: PathBuf,
        /// The cause.
        source: Cause,
    },
}

impl StoreError {
    /// Converts to the error that callers receive.
    pub fn tool_error(&self) -> ToolError {
        match self {
            Self::ServerBusy { retry, .. } => {
                return ToolError::new(
                    ErrorKind::System,
                    "STORE_BUSY",
                    "the database server is busy or being restarted",
                )
                .hint("try again in a few seconds")
                .retry_after(*retry)
                .cause(self.chain());
            }
            Self::OutcomeUnknown { .. } => {
                return ToolError::new(
                    ErrorKind::System,
                    "OUTCOME_UNKNOWN",
                    "the database server was lost during the change; whether it was made is unknown",
                )
                .hint("read the data, or call again with the same idempotency key")
                .cause(self.chain());
            }
            _ => {}
        }
        self.file_error()
    }

    fn file_error(&self) -> ToolError {
        let tool_error = |kind, (code, message, hint): (&'static str, &str, &str)| {
            ToolError::new(kind, code, message).hint(hint).cause(self.chain())
        };
        match self.failure_kind() {
            FailureKind::Full => tool_error(
                ErrorKind::Storage,
                (
                    "DISK_FULL",
                    "the server's disk is full, so nothing can be changed",
                    "ask the operator to free some space, then try again",
                ),
            ),
            FailureKind::ReadOnly => tool_error(
                ErrorKind::Storage,
                (
                    "STORE_READ_ONLY",
                    "the server cannot write its data, so nothing can be changed",
                    "ask the operator to run `panoply doctor`, then try again",
                ),
            ),
            FailureKind::Replaced => tool_error(
                ErrorKind::Storage,
                (
                    "STORE_REPLACED",
                    "a file of the server was deleted or replaced while it was open, so nothing can be changed",
                    "ask the operator to put the file back or to restart the server",
                ),
            ),
            FailureKind::Damaged => tool_error(
                ErrorKind::Storage,
                (
                    "STORE_DAMAGED",
                    "the server's data are damaged",
                    "ask the operator to run `panoply doctor --deep` and `panoply restore`",
                ),
            ),
            FailureKind::Busy => tool_error(
                ErrorKind::System,
                (
                    "STORE_BUSY",
                    "the server's data are locked by another program",
                    "try again in a few seconds",
                ),
            )
            .retry_after(Duration::from_secs(1)),
            FailureKind::Other => tool_error(
                ErrorKind::System,
                (
                    "DATABASE_ERROR",
                    "the server's data cannot be read or written",
                    "ask the operator to run `panoply doctor`, then try again",
                ),
            ),
        }
    }

    /// Converts to the error that callers of a pack receive; damage names the pack.
    pub fn pack_error(&self, pack: &str) -> ToolError {
        let error = self.tool_error();
        match self.failure_kind() {
            FailureKind::Damaged => ToolError {
                code: "PACK_DAMAGED".into(),
                message: format!(
                    "the data of the pack `{pack}` are damaged; other packs are available"
                ),
                ..error
            }
            .detail("pack", pack),
            FailureKind::Full
            | FailureKind::ReadOnly
            | FailureKind::Replaced
            | FailureKind::Busy
            | FailureKind::Other => error.detail("pack", pack),
        }
    }

    fn failure_kind(&self) -> FailureKind {
        match self {
            Self::DiskFull { .. } => FailureKind::Full,
            Self::ReadOnly { .. } => FailureKind::ReadOnly,
            Self::Replaced { .. } => FailureKind::Replaced,
            Self::Locked { .. } => FailureKind::Busy,
            Self::NotADatabase { .. }
            | Self::Damaged { .. }
            | Self::DamagedLog { .. }
            | Self::BadRow { .. }
            | Self::Foreign { .. }
            | Self::NewerSchema { .. }
            | Self::Migration { .. } => FailureKind::Damaged,
            Self::Unopenable { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => FailureKind::Full,
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    FailureKind::ReadOnly
                }
                _ => FailureKind::Other,
            },
            Self::ServerBusy { .. } => FailureKind::Busy,
            Self::NoRandomness(_)
            | Self::WriterGone { .. }
            | Self::OutcomeUnknown { .. }
            | Self::NotSetUp(_)
            | Self::Server { .. }
            | Self::Sql { .. } => FailureKind::Other,
        }
    }

    /// The error and its causes in one line.
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

/// Storage failures that callers can distinguish.
enum FailureKind {
    Full,
    ReadOnly,
    Replaced,
    Damaged,
    Busy,
    Other,
}

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        error.tool_error()
    }
}
