//! The active catalog: the synced dataset when there is one, else the bundled one. The file is
//! reloaded when it changes on disk.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use crate::catalog::FundCatalog;
use crate::dataset::DatasetError;

/// Loads the active catalog and caches it until the file changes.
#[derive(Debug)]
pub struct FundStore {
    bundled: Arc<FundCatalog>,
    file: Option<PathBuf>,
    loaded: RwLock<Loaded>,
}

#[derive(Debug)]
struct Loaded {
    version_on_disk: Option<FileVersion>,
    catalog: Arc<FundCatalog>,
    origin: Origin,
    /// Why the file exists but cannot be used.
    load_error: Option<String>,
}

/// Modification time and size.
type FileVersion = (SystemTime, u64);

/// Origin of the active figures.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Origin {
    /// Bundled with the program.
    Bundled,
    /// Fetched by a sync.
    Synced,
}

impl FundStore {
    /// Serves the bundled catalog only.
    pub fn bundled() -> Result<Self, DatasetError> {
        Self::at(None)
    }

    /// Serves `file` when it is valid, else the bundled catalog.
    pub fn at(file: Option<PathBuf>) -> Result<Self, DatasetError> {
        let bundled = Arc::new(FundCatalog::bundled()?);
        let loaded = Loaded {
            version_on_disk: None,
            catalog: Arc::clone(&bundled),
            origin: Origin::Bundled,
            load_error: None,
        };
        Ok(Self { bundled, file, loaded: RwLock::new(loaded) })
    }

    /// Returns the active catalog.
    pub fn catalog(&self) -> Arc<FundCatalog> {
        self.current().0
    }

    /// Returns the active catalog and its origin.
    pub fn current(&self) -> (Arc<FundCatalog>, Origin) {
        let version_on_disk = self.version_on_disk();
        {
            let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
            if loaded.version_on_disk == version_on_disk {
                return (Arc::clone(&loaded.catalog), loaded.origin);
            }
        }
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        if loaded.version_on_disk != version_on_disk {
            let bundled = || (Arc::clone(&self.bundled), Origin::Bundled);
            let ((catalog, origin), load_error) = match self.synced() {
                Some(Ok(catalog)) => ((Arc::new(catalog), Origin::Synced), None),
                // The pack refuses calls while `load_error` is set: see `load_error`.
                Some(Err(load_error)) => (bundled(), Some(load_error)),
                None => (bundled(), None),
            };
            *loaded = Loaded { version_on_disk, catalog, origin, load_error };
        }
        (Arc::clone(&loaded.catalog), loaded.origin)
    }

    /// Why the synced file cannot be used. The bundled figures are older, so serving them silently
    /// would be wrong.
    pub fn load_error(&self) -> Option<String> {
        self.current();
        self.loaded.read().unwrap_or_else(PoisonError::into_inner).load_error.clone()
    }

    /// Version number derived from the checksum; changes with the figures.
    pub fn version(&self) -> u64 {
        let catalog = self.catalog();
        let digits = catalog.checksum.get(..16).unwrap_or_default();
        u64::from_str_radix(digits, 16).unwrap_or_default()
    }

    fn version_on_disk(&self) -> Option<FileVersion> {
        let metadata = fs::metadata(self.file.as_ref()?).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    }

    fn synced(&self) -> Option<Result<FundCatalog, String>> {
        match fs::read(self.file.as_ref()?) {
            Ok(bytes) => Some(FundCatalog::read(&bytes).map_err(|error| error.to_string())),
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
        let store = FundStore::at(Some(file.clone())).unwrap();
        assert_eq!((store.catalog().funds().len(), store.current().1), (403, Origin::Bundled));
        let before = store.version();
        fs::write(&file, samples::dataset().packed()).unwrap();
        assert_eq!((store.catalog().funds().len(), store.current().1), (2, Origin::Synced));
        assert_ne!(store.version(), before);
        assert_eq!(store.load_error(), None);
        fs::write(&file, "half a fi").unwrap();
        assert!(store.load_error().is_some());
        fs::remove_file(&file).unwrap();
        assert_eq!((store.catalog().funds().len(), store.version()), (403, before));
        assert_eq!(store.load_error(), None);
    }
}
