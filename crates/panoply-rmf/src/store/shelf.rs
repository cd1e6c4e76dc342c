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
    /// What is wrong with the file, when it is there and cannot be read.
    damage: Option<String>,
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
        let kept =
            Kept { stamp: None, book: Arc::clone(&bundled), origin: Origin::Bundled, damage: None };
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
            let bundled = || (Arc::clone(&self.bundled), Origin::Bundled);
            let ((book, origin), damage) = match self.synced() {
                Some(Ok(book)) => ((Arc::new(book), Origin::Synced), None),
                // Whoever serves these figures asks for the damage first: see `damage`.
                Some(Err(damage)) => (bundled(), Some(damage)),
                None => (bundled(), None),
            };
            *kept = Kept { stamp, book, origin, damage };
        }
        (Arc::clone(&kept.book), kept.origin)
    }

    /// What is wrong with the file, when it is there and cannot be read. The bundled figures are
    /// older than those it held, so they are no answer to who asked for these.
    pub fn damage(&self) -> Option<String> {
        self.current();
        self.kept.read().unwrap_or_else(PoisonError::into_inner).damage.clone()
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

    fn synced(&self) -> Option<Result<Book, String>> {
        match fs::read(self.file.as_ref()?) {
            Ok(bytes) => Some(Book::read(&bytes).map_err(|error| error.to_string())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => Some(Err(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn changed_file_is_reloaded_and_a_damaged_one_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rmf.tsv");
        let shelf = Shelf::at(Some(file.clone())).unwrap();
        assert_eq!((shelf.book().funds().len(), shelf.current().1), (403, Origin::Bundled));
        let before = shelf.version();
        fs::write(&file, samples::dataset().packed()).unwrap();
        assert_eq!((shelf.book().funds().len(), shelf.current().1), (2, Origin::Synced));
        assert_ne!(shelf.version(), before);
        assert_eq!(shelf.damage(), None);
        fs::write(&file, "half a fi").unwrap();
        assert!(shelf.damage().is_some());
        fs::remove_file(&file).unwrap();
        assert_eq!((shelf.book().funds().len(), shelf.version()), (403, before));
        assert_eq!(shelf.damage(), None);
    }
}
