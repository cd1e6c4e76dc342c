//! File layout of the home folder. The binary decides where the home is.

use std::path::{Path, PathBuf};

use panoply_contract::tenant::TenantId;

use crate::error::StoreError;
use crate::sqlite;

/// The folder with all persistent files of this program.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Home(PathBuf);

impl Home {
    /// Refers to a folder without creating it.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// The folder itself.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Creates the folder with permissions for this user only.
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

    /// State of the last checkpoint, for `panoply doctor`.
    pub fn checkpoint_state(&self) -> PathBuf {
        self.0.join("audit-checkpoint.json")
    }

    /// The kernel's database, see [`KernelDb`](crate::KernelDb).
    pub fn kernel(&self) -> PathBuf {
        self.0.join("kernel.db")
    }

    /// The API keys.
    pub fn keys(&self) -> PathBuf {
        self.0.join("keys.db")
    }

    /// Marker file created with the first key: servers then require one, even if `keys.db` is lost.
    pub fn keys_required(&self) -> PathBuf {
        self.0.join("keys.required")
    }

    /// The folder with the homes of all tenants but the local one.
    pub fn tenants_folder(&self) -> PathBuf {
        self.0.join("tenants")
    }

    /// The home of a tenant. That of the local tenant is this one.
    #[must_use]
    pub fn tenant(&self, tenant: &TenantId) -> Self {
        match tenant.is_local() {
            true => self.clone(),
            false => Self(self.tenants_folder().join(tenant.as_str())),
        }
    }

    /// Marker of an erased tenant: its folder must not be created again by a call that was admitted
    /// before.
    pub fn erased_marker(&self, tenant: &TenantId) -> PathBuf {
        self.tenants_folder().join(format!("{tenant}.erased"))
    }

    /// Whether the tenant was erased. An inaccessible home counts as yes.
    pub fn is_erased(&self, tenant: &TenantId) -> bool {
        !tenant.is_local() && !matches!(self.erased_marker(tenant).try_exists(), Ok(false))
    }

    /// All tenants with a folder, the local one first.
    pub fn tenants(&self) -> Vec<TenantId> {
        let entries = std::fs::read_dir(self.tenants_folder()).into_iter().flatten();
        let mut others: Vec<TenantId> = entries
            .filter_map(|entry| TenantId::parse(entry.ok()?.file_name().to_str()?))
            .filter(|tenant| !tenant.is_local())
            .collect();
        others.sort();
        std::iter::once(TenantId::local()).chain(others).collect()
    }

    /// [`pack_files`](Self::pack_files) of all tenants; the purpose names the tenant.
    pub fn all_pack_files(&self) -> Vec<(String, PathBuf)> {
        let of = |tenant: TenantId| {
            let files = self.tenant(&tenant).pack_files();
            files.into_iter().map(move |(what, file)| match tenant.is_local() {
                true => (what, file),
                false => (format!("{tenant}: {what}"), file),
            })
        };
        self.tenants().into_iter().flat_map(of).collect()
    }

    /// The folder with the packs' databases.
    pub fn packs(&self) -> PathBuf {
        self.0.join("packs")
    }

    /// The database of a pack. Pack names are plain words, so they are safe in a path.
    pub fn pack(&self, pack: &str) -> PathBuf {
        self.packs().join(format!("{pack}.db"))
    }

    /// Existing files of packs: purpose and path, in a fixed order. Runs of the backtest pack are
    /// listed one by one.
    pub fn pack_files(&self) -> Vec<(String, PathBuf)> {
        let known = [
            ("noema: cards", "noema.db"),
            ("cgt: portfolios", "cgt.db"),
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

    /// The kernel's files, for `panoply doctor`: purpose and path.
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
    fn file_paths_are_inside_the_home() {
        let home = Home::at("/srv/panoply");
        assert_eq!(home.audit_log(), Path::new("/srv/panoply/audit.db"));
        assert_eq!(home.pack("noema"), Path::new("/srv/panoply/packs/noema.db"));
        let files = home.kernel_files();
        assert!(files.iter().all(|(_, file)| file.starts_with(home.folder())));
    }
}
