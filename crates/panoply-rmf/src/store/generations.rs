//! Previous generations of the synced dataset, for history, diff and rollback.
//!
//! Each swap first keeps a copy of the file it replaces, under the number of the swap; only then is
//! the new file renamed into place. A crash in between leaves a copy that is equal to the active
//! file, and nothing else.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::files::replace;
use crate::catalog::BUNDLED;
use crate::dataset::{Dataset, DatasetError};

/// Generations to keep. The oldest is deleted when there are more.
const KEPT: usize = 20;

/// The active file of a synced dataset and its previous generations.
#[derive(Clone, Debug)]
pub struct Generations {
    file: PathBuf,
    folder: PathBuf,
}

/// A previous generation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Generation {
    /// Number, ascending with time.
    pub number: u32,
    path: PathBuf,
}

/// Why a generation cannot be read or restored.
#[derive(Debug, thiserror::Error)]
pub enum GenerationError {
    /// There is no such generation.
    #[error("there is no generation {number}")]
    Unknown {
        /// The requested number.
        number: u32,
    },
    /// There is no previous generation.
    #[error("there is no previous generation")]
    None,
    /// The file cannot be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file is damaged.
    #[error("generation {number} cannot be used: {error}")]
    Damaged {
        /// The generation.
        number: u32,
        /// Description.
        error: DatasetError,
    },
}

impl Generations {
    /// Generations of `packs/rmf.tsv` in `packs/rmf-history`.
    pub fn of(packs: &Path) -> Self {
        Self { file: packs.join("rmf.tsv"), folder: packs.join("rmf-history") }
    }

    /// The active file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Replaces the active dataset and keeps the previous one.
    pub fn swap(&self, dataset: &Dataset) -> io::Result<()> {
        self.swap_text(&dataset.packed())
    }

    /// Previous generations, oldest first.
    pub fn list(&self) -> io::Result<Vec<Generation>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut found = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let number = path
                .file_name()
                .and_then(|name| name.to_str())
                .and_then(|name| name.strip_suffix(".tsv").and_then(|number| number.parse().ok()));
            found.extend(number.map(|number| Generation { number, path }));
        }
        found.sort_by_key(|generation| generation.number);
        Ok(found)
    }

    /// Reads a previous generation.
    pub fn read(&self, generation: &Generation) -> Result<Dataset, GenerationError> {
        let bytes = fs::read(&generation.path)?;
        Dataset::read(&bytes)
            .map_err(|error| GenerationError::Damaged { number: generation.number, error })
    }

    /// Finds a generation by number; without one, the latest.
    pub fn find(&self, number: Option<u32>) -> Result<Generation, GenerationError> {
        let all = self.list()?;
        match number {
            None => all.into_iter().next_back().ok_or(GenerationError::None),
            Some(number) => all
                .into_iter()
                .find(|generation| generation.number == number)
                .ok_or(GenerationError::Unknown { number }),
        }
    }

    /// Makes a previous generation the active one, byte for byte. The replaced one is kept as a new
    /// generation, so that a rollback can be undone.
    pub fn rollback(&self, number: Option<u32>) -> Result<Generation, GenerationError> {
        let generation = self.find(number)?;
        // A damaged generation must not replace a valid file.
        self.read(&generation)?;
        self.swap_text(&fs::read_to_string(&generation.path)?)?;
        Ok(generation)
    }

    fn swap_text(&self, text: &str) -> io::Result<()> {
        match fs::read_to_string(&self.file) {
            Ok(current) if current == text => return Ok(()),
            Ok(current) => self.keep(&current)?,
            // Before the first swap the bundled dataset is active.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.keep(std::str::from_utf8(BUNDLED).map_err(io::Error::other)?)?;
            }
            // A file that is not even text is damaged beyond use; it is not worth keeping.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {}
            Err(error) => return Err(error),
        }
        replace(&self.file, text)
    }

    fn keep(&self, text: &str) -> io::Result<()> {
        let all = self.list()?;
        let last = all.last();
        // A swap that was interrupted after this copy: do not keep it twice.
        if let Some(last) = last
            && fs::read_to_string(&last.path).is_ok_and(|kept| kept == text)
        {
            return Ok(());
        }
        let number = last.map_or(1, |generation| generation.number + 1);
        replace(&self.folder.join(format!("{number:06}.tsv")), text)?;
        for old in all.iter().take((all.len() + 1).saturating_sub(KEPT)) {
            fs::remove_file(&old.path)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Provenance;
    use crate::samples;

    fn dataset(code: &str) -> Dataset {
        Dataset::new(Provenance::default(), vec![samples::fund(code, 1)])
    }

    #[test]
    fn swap_keeps_the_previous_file_and_rollback_restores_it_exactly() {
        let folder = tempfile::tempdir().unwrap();
        let generations = Generations::of(folder.path());
        assert!(matches!(generations.rollback(None), Err(GenerationError::None)));
        for code in ["A", "B", "C"] {
            generations.swap(&dataset(code)).unwrap();
        }
        let numbers: Vec<u32> = generations.list().unwrap().iter().map(|at| at.number).collect();
        assert_eq!(numbers, [1, 2, 3]);
        generations.rollback(Some(2)).unwrap();
        assert_eq!(fs::read_to_string(generations.file()).unwrap(), dataset("A").packed());
        // The replaced one is generation 4: a rollback can be undone.
        generations.rollback(None).unwrap();
        assert_eq!(fs::read_to_string(generations.file()).unwrap(), dataset("C").packed());
        generations.rollback(Some(1)).unwrap();
        assert_eq!(fs::read(generations.file()).unwrap(), BUNDLED, "before the first sync");
        assert!(matches!(generations.find(Some(9)), Err(GenerationError::Unknown { number: 9 })));
    }

    #[test]
    fn damaged_generation_is_not_restored() {
        let folder = tempfile::tempdir().unwrap();
        let generations = Generations::of(folder.path());
        generations.swap(&dataset("A")).unwrap();
        generations.swap(&dataset("B")).unwrap();
        fs::write(folder.path().join("rmf-history/000002.tsv"), "half a fi").unwrap();
        assert!(matches!(generations.rollback(None), Err(GenerationError::Damaged { .. })));
        assert_eq!(fs::read_to_string(generations.file()).unwrap(), dataset("B").packed());
    }

    #[test]
    fn generations_are_limited_and_an_equal_file_is_not_a_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let generations = Generations::of(folder.path());
        for number in 0..KEPT + 5 {
            generations.swap(&dataset(&format!("F{number}"))).unwrap();
            generations.swap(&dataset(&format!("F{number}"))).unwrap();
        }
        let all = generations.list().unwrap();
        assert_eq!((all.len(), all[0].number), (KEPT, 6));
    }
}
