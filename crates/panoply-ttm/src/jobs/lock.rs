//! Locks that end with the process that holds them.

use std::fs::{File, OpenOptions};
use std::path::Path;

/// Held as long as this is.
#[derive(Debug)]
pub(super) struct Lock(#[expect(dead_code, reason = "the lock is the open file")] File);

impl Lock {
    /// The lock of a file, which is made where it is not there; `None` when another holds it.
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
    fn a_lock_is_held_once_and_free_when_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("jobs/one.lock");
        let held = Lock::take(&file).unwrap();
        assert!(held.is_some());
        assert!(Lock::take(&file).unwrap().is_none());
        drop(held);
        assert!(Lock::take(&file).unwrap().is_some());
    }
}
