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

    /// The key that signs checkpoints of the audit log.
    pub fn audit_signing_key(&self) -> PathBuf {
        self.0.join("audit-signing.key")
    }

    /// What became of the last checkpoint, for `panoply doctor`.
    pub fn checkpoint_state(&self) -> PathBuf {
        self.0.join("audit-checkpoint.json")
    }

    /// What the kernel itself remembers: idempotency keys.
    pub fn kernel(&self) -> PathBuf {
        self.0.join("kernel.db")
    }

    /// The API keys.
    pub fn keys(&self) -> PathBuf {
        self.0.join("keys.db")
    }

    /// Exists once a key was made: from then on a server asks for one, even if `keys.db` is gone.
    pub fn keys_required(&self) -> PathBuf {
        self.0.join("keys.required")
    }

    /// The folder with what packs keep.
    pub fn packs(&self) -> PathBuf {
        self.0.join("packs")
    }

    /// What a pack keeps. The name is a pack's, so it is a plain word.
    pub fn pack(&self, pack: &str) -> PathBuf {
        self.packs().join(format!("{pack}.db"))
    }

    /// What packs keep, where it is there: what each file is for, and where it is. Runs of the
    /// backtest pack come one by one, in a fixed order.
    pub fn pack_files(&self) -> Vec<(String, PathBuf)> {
        let known = [
            ("noema: cards", "noema.db"),
            ("backtest: catalog of runs", "backtest.db"),
            ("ttm: papers and documents", "ttm.db"),
            ("ttm: reports of evaluations", "ttm-eval.db"),
            ("rmf: synced figures", "rmf.tsv"),
        ];
        let known = known.map(|(what, name)| (what.to_owned(), self.packs().join(name)));
        let mut runs: Vec<PathBuf> = std::fs::read_dir(self.packs().join("backtest"))
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|end| end == "run" || end == "open"))
            .collect();
        runs.sort();
        let runs = runs.into_iter().map(|path| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            (format!("backtest: {}", name.unwrap_or_default()), path)
        });
        known.into_iter().filter(|(_, path)| path.exists()).chain(runs).collect()
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
