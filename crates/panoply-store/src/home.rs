//! What lies where in the home of the program. The binary decides where the home is.

use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::sqlite;

/// The folder with everything this program keeps.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Home(PathBuf);

impl Home {
    /// A home at this place. Nothing is made there until something is kept.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// The folder itself.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Makes the folder, for this user alone.
    pub fn create(&self) -> Result<(), StoreError> {
        sqlite::create_private_folder(&self.0)
            .map_err(|source| StoreError::Unopenable { file: self.0.clone(), source })
    }

    /// The audit log.
    pub fn audit_log(&self) -> PathBuf {
        self.0.join("audit.db")
    }

    /// What the kernel itself remembers: idempotency keys.
    pub fn kernel(&self) -> PathBuf {
        self.0.join("kernel.db")
    }

    /// The API keys.
    pub fn keys(&self) -> PathBuf {
        self.0.join("keys.db")
    }

    /// The folder with what packs keep.
    pub fn packs(&self) -> PathBuf {
        self.0.join("packs")
    }

    /// What a pack keeps. The name is a pack's, so it is a plain word.
    pub fn pack(&self, pack: &str) -> PathBuf {
        self.packs().join(format!("{pack}.db"))
    }

    /// The kernel's own files, for `panoply doctor`: what each is for, and where it is.
    pub fn kernel_files(&self) -> [(&'static str, PathBuf); 3] {
        [
            ("audit log", self.audit_log()),
            ("idempotency keys", self.kernel()),
            ("API keys", self.keys()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_has_its_place_below_the_home() {
        let home = Home::at("/srv/panoply");
        assert_eq!(home.audit_log(), Path::new("/srv/panoply/audit.db"));
        assert_eq!(home.pack("noema"), Path::new("/srv/panoply/packs/noema.db"));
        let files = home.kernel_files();
        assert!(files.iter().all(|(_, file)| file.starts_with(home.folder())));
    }
}
