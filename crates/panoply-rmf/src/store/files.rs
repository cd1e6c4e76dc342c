//! Files written by a sync: the journal while it runs, the dataset at its end.
//!
//! Each file is written to a temporary name and renamed, so that a reader sees the old or the new
//! file, never a partial one, even after a crash.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::dataset::Dataset;
use crate::sync::Journal;

/// Replaces the dataset atomically.
pub fn replace_dataset(path: &Path, dataset: &Dataset) -> io::Result<()> {
    replace(path, &dataset.packed())
}

/// Journal in a directory, one file per entry.
#[derive(Debug)]
pub struct JournalFolder(PathBuf);

impl JournalFolder {
    /// Uses this directory, which is created on the first save.
    pub const fn at(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// Fund ids are letters, digits and underscores; other characters are dropped, so that an id
    /// cannot leave the directory.
    fn file(&self, name: &str) -> PathBuf {
        let plain: String =
            name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        self.0.join(format!("{plain}.part"))
    }
}

impl Journal for JournalFolder {
    fn load(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.file(name)).ok()
    }

    fn save(&mut self, name: &str, text: &str) -> io::Result<()> {
        fs::create_dir_all(&self.0)?;
        replace(&self.file(name), text)
    }

    fn clear(&mut self) -> io::Result<()> {
        match fs::remove_dir_all(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// Lock of a running sync, released when it is dropped or the process ends.
#[derive(Debug)]
pub struct SyncLock(File);

impl SyncLock {
    /// Takes the lock; `None` when another sync has it.
    pub fn take(folder: &Path) -> io::Result<Option<Self>> {
        fs::create_dir_all(folder)?;
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(folder.join("rmf-sync.lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Drop for SyncLock {
    fn drop(&mut self) {
        // Closing the file releases the lock too.
        let _ = self.0.unlock();
    }
}

/// Writes `path` atomically.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let temporary = path.with_extension(format!("new{}", std::process::id()));
    let mut file = File::create(&temporary)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&temporary, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn replacing_the_dataset_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/rmf.tsv");
        for _ in 0..2 {
            replace_dataset(&path, &samples::dataset()).unwrap();
        }
        assert_eq!(Dataset::read(&fs::read(&path).unwrap()), Ok(samples::dataset()));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn journal_persists_entries_until_cleared() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = JournalFolder::at(folder.path().join("sync"));
        assert_eq!(journal.load("M1_2554"), None);
        journal.save("M1_2554", "text").unwrap();
        assert_eq!(journal.load("M1_2554").as_deref(), Some("text"));
        journal.clear().unwrap();
        journal.clear().unwrap();
        assert_eq!(journal.load("M1_2554"), None);
        journal.save("../../evil", "text").unwrap();
        assert!(folder.path().join("sync/evil.part").exists());
    }
}
