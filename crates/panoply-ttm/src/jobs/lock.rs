//! Advisory file locks, released when the process exits.

use std::fs::{File, OpenOptions};
use std::path::Path;

/// An acquired lock; released on drop.
#[derive(Debug)]
pub(super) struct Lock(#[expect(dead_code, reason = "the lock is the open file")] File);

impl Lock {
    /// Tries to lock a file, creating it if necessary; `None` if another process has the lock.
    pub(super) fn take(file: &Path) -> std::io::Result<Option<Self>> {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(file)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            Err(std::fs::TryLockError::Error(error)) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_lock_is_exclusive_and_released_on_drop() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("jobs/one.lock");
        let first = Lock::take(&file).unwrap();
        assert!(first.is_some());
        assert!(Lock::take(&file).unwrap().is_none());
        drop(first);
        assert!(Lock::take(&file).unwrap().is_some());
    }
}
