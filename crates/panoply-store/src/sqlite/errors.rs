//! Converts SQLite errors to [`StoreError`].

use std::path::Path;

use rusqlite::{ErrorCode, ffi};

use crate::error::{Cause, StoreError};

/// Classifies a SQLite error by its remedy.
pub fn store_error(file: &Path, source: rusqlite::Error) -> StoreError {
    let file = file.to_owned();
    let (extended, code) = (source.sqlite_extended_error_code(), source.sqlite_error_code());
    let source: Cause = Box::new(source);
    match extended {
        Some(ffi::SQLITE_CONSTRAINT_COMMITHOOK) => return StoreError::Replaced { file },
        Some(ffi::SQLITE_IOERR_DATA) => return StoreError::Damaged { file, source },
        // The WAL index could not grow.
        Some(ffi::SQLITE_IOERR_SHMSIZE) => return StoreError::DiskFull { file, source },
        Some(_) | None => {}
    }
    match code {
        Some(ErrorCode::DiskFull) => StoreError::DiskFull { file, source },
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            StoreError::ReadOnly { file, source }
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StoreError::Locked { file, source }
        }
        Some(ErrorCode::NotADatabase) => StoreError::NotADatabase { file, source },
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged { file, source },
        _ => StoreError::Sql { file, source },
    }
}

/// [`store_error`] for `map_err`.
pub fn about(file: &Path) -> impl Fn(rusqlite::Error) -> StoreError + '_ {
    move |source| store_error(file, source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_errors_have_stable_codes_and_contain_no_path() {
        let file = Path::new("/home/ann/panoply/audit.db");
        let cases = [
            (ffi::SQLITE_FULL, "DISK_FULL"),
            (ffi::SQLITE_READONLY, "STORE_READ_ONLY"),
            (ffi::SQLITE_CANTOPEN, "STORE_READ_ONLY"),
            (ffi::SQLITE_BUSY, "STORE_BUSY"),
            (ffi::SQLITE_NOTADB, "STORE_DAMAGED"),
            (ffi::SQLITE_CORRUPT, "STORE_DAMAGED"),
            (ffi::SQLITE_IOERR_DATA, "STORE_DAMAGED"),
            (ffi::SQLITE_CONSTRAINT_COMMITHOOK, "STORE_REPLACED"),
            (ffi::SQLITE_IOERR, "DATABASE_ERROR"),
        ];
        for (code, expected) in cases {
            let source = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let error = store_error(file, source);
            assert!(error.to_string().contains("audit.db"), "the operator sees the file: {error}");
            let tool_error = error.tool_error();
            assert_eq!(tool_error.code, expected, "code: {code}");
            let helps = matches!(expected, "STORE_BUSY" | "DATABASE_ERROR");
            assert_eq!(tool_error.kind.retryable(), helps, "code: {code}");
            assert!(
                !format!("{} {:?}", tool_error.message, tool_error.hint).contains("/home"),
                "code: {code}"
            );
        }
    }
}
