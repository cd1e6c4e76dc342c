//! The book in use: the one that ships with the program, or a newer one that a sync has put
//! beside it. A sync may swap the file while the program runs; the next question sees it.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use crate::book::Book;
use crate::dataset::BadDataset;

/// Where the book in use is found.
#[derive(Debug)]
pub struct Shelf {
    bundled: Arc<Book>,
    file: Option<PathBuf>,
    kept: RwLock<Kept>,
}

#[derive(Debug)]
struct Kept {
    stamp: Option<Stamp>,
    book: Arc<Book>,
    origin: Origin,
}

/// Tells one version of a file from the next.
type Stamp = (SystemTime, u64);

/// Where the figures in use come from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Origin {
    /// They ship with the program.
    Bundled,
    /// A sync brought them.
    Synced,
}

impl Shelf {
    /// Only the book that ships with the program.
    pub fn bundled() -> Result<Self, BadDataset> {
        Self::at(None)
    }

    /// The book in `file` where there is one that can be read, else the bundled one.
    pub fn at(file: Option<PathBuf>) -> Result<Self, BadDataset> {
        let bundled = Arc::new(Book::bundled()?);
        let kept = Kept { stamp: None, book: Arc::clone(&bundled), origin: Origin::Bundled };
        Ok(Self { bundled, file, kept: RwLock::new(kept) })
    }

    /// The book in use.
    pub fn book(&self) -> Arc<Book> {
        self.current().0
    }

    /// The book in use and where it comes from.
    pub fn current(&self) -> (Arc<Book>, Origin) {
        let stamp = self.stamp();
        {
            let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
            if kept.stamp == stamp {
                return (Arc::clone(&kept.book), kept.origin);
            }
        }
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        if kept.stamp != stamp {
            // A file that cannot be read is as good as none; what is bundled is always there.
            let (book, origin) = match self.synced() {
                Some(book) => (Arc::new(book), Origin::Synced),
                None => (Arc::clone(&self.bundled), Origin::Bundled),
            };
            *kept = Kept { stamp, book, origin };
        }
        (Arc::clone(&kept.book), kept.origin)
    }

    /// A number that changes with the figures.
    pub fn version(&self) -> u64 {
        let book = self.book();
        let digits = book.checksum.get(..16).unwrap_or_default();
        u64::from_str_radix(digits, 16).unwrap_or_default()
    }

    fn stamp(&self) -> Option<Stamp> {
        let metadata = fs::metadata(self.file.as_ref()?).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    }

    fn synced(&self) -> Option<Book> {
        let bytes = fs::read(self.file.as_ref()?).ok()?;
        Book::read(&bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_newer_file_is_seen_without_a_restart_and_a_broken_one_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rmf.tsv");
        let shelf = Shelf::at(Some(file.clone())).unwrap();
        assert_eq!((shelf.book().funds().len(), shelf.current().1), (403, Origin::Bundled));
        let before = shelf.version();
        fs::write(&file, samples::dataset().packed()).unwrap();
        assert_eq!((shelf.book().funds().len(), shelf.current().1), (2, Origin::Synced));
        assert_ne!(shelf.version(), before);
        fs::write(&file, "half a fi").unwrap();
        assert_eq!((shelf.book().funds().len(), shelf.version()), (403, before));
    }
}
