//! Writes what a sync brought: the journal while it runs, the new figures at its end.
//!
//! A file is written beside its place and then moved there, so that a reader sees the old one or
//! the new one and never half of either, whenever the program is stopped.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::dataset::Dataset;
use crate::sync::Journal;

/// Puts new figures in the place of the old ones, all at once.
pub fn swap_in(place: &Path, dataset: &Dataset) -> io::Result<()> {
    replace(place, &dataset.packed())
}

/// A journal that is a folder: one file a name.
#[derive(Debug)]
pub struct JournalFolder(PathBuf);

impl JournalFolder {
    /// The journal in this folder, which need not be there yet.
    pub const fn at(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// Ids of funds are letters, digits and underscores; whatever else there is is left out.
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

fn replace(place: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = place.parent() {
        fs::create_dir_all(folder)?;
    }
    let beside = place.with_extension(format!("new{}", std::process::id()));
    let mut file = File::create(&beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn replacing_the_dataset_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("deep/rmf.tsv");
        for _ in 0..2 {
            swap_in(&place, &samples::dataset()).unwrap();
        }
        assert_eq!(Dataset::read(&fs::read(&place).unwrap()), Ok(samples::dataset()));
        assert_eq!(fs::read_dir(place.parent().unwrap()).unwrap().count(), 1);
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
