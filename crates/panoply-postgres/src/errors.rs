//! Errors of the server, by what callers can do about them.

use std::path::PathBuf;
use std::time::Duration;

use deadpool_postgres::{PoolError, TimeoutType};
use panoply_store::StoreError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// When to try again while the server restarts or another one takes over.
const RESTART_RETRY: Duration = Duration::from_secs(2);
/// When to try again while all connections are taken or a row is locked.
const BUSY_RETRY: Duration = Duration::from_secs(1);

/// Error of a statement.
pub(crate) fn statement(error: Error) -> StoreError {
    let Some(code) = error.code().cloned() else {
        return busy("cannot be reached", RESTART_RETRY, error);
    };
    if code == SqlState::LOCK_NOT_AVAILABLE
        || code == SqlState::QUERY_CANCELED
        || code == SqlState::T_R_SERIALIZATION_FAILURE
        || code == SqlState::T_R_DEADLOCK_DETECTED
    {
        return busy("gave up waiting for a lock", BUSY_RETRY, error);
    }
    if code == SqlState::TOO_MANY_CONNECTIONS {
        return busy("has no free connection", BUSY_RETRY, error);
    }
    if is_lost(&code) {
        return busy("is being restarted", RESTART_RETRY, error);
    }
    if code == SqlState::DISK_FULL {
        return StoreError::DiskFull { file: PathBuf::from("PostgreSQL"), source: error.into() };
    }
    if code == SqlState::READ_ONLY_SQL_TRANSACTION {
        return StoreError::ReadOnly { file: PathBuf::from("PostgreSQL"), source: error.into() };
    }
    if code == SqlState::UNDEFINED_TABLE || code == SqlState::INVALID_SCHEMA_NAME {
        let message = "the database has no tables of this program: run `panoply db init`, or `panoply db migrate` after an upgrade";
        return StoreError::NotSetUp(format!("{message} ({error})"));
    }
    StoreError::Server { source: error.into() }
}

/// Whether the server ended the connection, so that the outcome of a commit is not known from it.
pub(crate) fn is_lost(code: &SqlState) -> bool {
    // Connection exceptions, operator intervention, and errors of the system.
    ["08", "57P", "58", "XX"].iter().any(|class| code.code().starts_with(class))
}

/// Error of taking a connection from the pool.
pub(crate) fn pool(error: PoolError) -> StoreError {
    match error {
        PoolError::Timeout(TimeoutType::Wait) => busy("has no free connection", BUSY_RETRY, error),
        PoolError::Backend(error) => match error.code() {
            Some(code)
                if *code == SqlState::INVALID_PASSWORD
                    || *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION
                    || *code == SqlState::INVALID_CATALOG_NAME =>
            {
                StoreError::NotSetUp(format!(
                    "the database server refuses the login: {}",
                    chain(&error)
                ))
            }
            _ => statement(error),
        },
        other => busy("cannot be reached", RESTART_RETRY, other),
    }
}

pub(crate) fn busy(
    what: &'static str,
    retry: Duration,
    source: impl Into<panoply_store::error::Cause>,
) -> StoreError {
    StoreError::ServerBusy { what, retry, source: source.into() }
}

/// A value that this program never writes.
pub(crate) fn unreadable(what: impl std::fmt::Display) -> StoreError {
    StoreError::Server { source: format!("a stored value cannot be read: {what}").into() }
}

fn chain(error: &Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
