//! The packs of all tenants: one pack over the files of each, opened on first use.

use std::path::PathBuf;
use std::sync::Arc;

use panoply_contract::error::{ErrorKind, ToolError};
use panoply_contract::pack::Pack;
use panoply_contract::sharing::{self, ShareStore, SharedItems};
use panoply_contract::supervise::Supervisor;
use panoply_contract::tenant::TenantId;
use panoply_store::{Home, TenantStores};

use crate::failure::Failure;
use crate::supervisor::{FileSupervisor, Open, Watched};

/// Builds the pack over the files of a tenant.
pub(crate) type OpenTenant = Box<dyn Fn(&TenantId, &Home) -> Open + Send + Sync>;

/// Supervises a pack with one set of files per tenant.
pub(crate) struct TenantSupervisor {
    files: TenantFiles,
    open: OpenTenant,
    local: FileSupervisor,
    others: TenantStores<FileSupervisor>,
    shares: Arc<dyn ShareStore>,
}

/// The files of a pack, which each tenant has in a home of its own.
pub(crate) struct TenantFiles {
    /// Name of the pack.
    pub(crate) name: &'static str,
    /// Home of the local tenant.
    pub(crate) home: Home,
    /// Names of the files.
    pub(crate) files: &'static [&'static str],
    /// File that names the data pack in use, for all tenants.
    pub(crate) figures: PathBuf,
}

impl TenantFiles {
    fn paths(&self, home: &Home) -> Vec<PathBuf> {
        self.files.iter().map(|name| home.packs().join(name)).collect()
    }
}

impl TenantSupervisor {
    /// Opens the pack of the local tenant. If that fails, `shape` supplies the declarations of its
    /// tools. At most `capacity` other tenants are kept open.
    pub(crate) fn start(
        files: TenantFiles,
        open: OpenTenant,
        capacity: usize,
        shares: Arc<dyn ShareStore>,
        shape: impl FnOnce() -> Result<Pack, Failure>,
    ) -> Result<(Pack, Arc<dyn Supervisor>), Failure> {
        let local = TenantId::local();
        let home = &files.home;
        let watched = Watched { files: files.paths(home), figures: files.figures.clone() };
        let local = FileSupervisor::start(files.name, watched, open(&local, home))?;
        let shape = match local.opened() {
            Some(pack) => pack,
            None => Arc::new(shape()?),
        };
        let others = TenantStores::new(capacity);
        let supervisor: Arc<dyn Supervisor> = Arc::new(Self { files, open, local, others, shares });
        Ok((Pack::supervised(&shape, Arc::clone(&supervisor)), supervisor))
    }

    fn other(&self, tenant: &TenantId) -> Result<Arc<FileSupervisor>, ToolError> {
        self.others.get(tenant, || {
            if self.files.home.is_erased(tenant) {
                return Err(erased());
            }
            let home = self.files.home.tenant(tenant);
            let open = (self.open)(tenant, &home);
            let figures = self.files.figures.clone();
            let watched = Watched { files: self.files.paths(&home), figures };
            let started = FileSupervisor::start(self.files.name, watched, open);
            started.map(Arc::new).map_err(|failure| {
                ToolError::system("the settings of a pack are invalid").cause(failure.message())
            })
        })
    }
}

impl Supervisor for TenantSupervisor {
    fn pack(&self, tenant: &TenantId) -> Result<Arc<Pack>, ToolError> {
        match tenant.is_local() {
            true => self.local.pack(),
            false => self.other(tenant)?.pack(),
        }
    }

    fn examine(&self, tenant: &TenantId) -> Result<(), ToolError> {
        match tenant.is_local() {
            true => self.local.examine(),
            false => self.other(tenant)?.examine(),
        }
    }

    fn received(&self, recipient: &TenantId) -> Vec<SharedItems> {
        match self.shares.received_by(recipient) {
            Ok(shares) => sharing::by_owner(shares, self.files.name),
            Err(error) => {
                let cause = error.cause_chain();
                tracing::warn!(pack = self.files.name, cause, "the shares cannot be read");
                Vec::new()
            }
        }
    }

    fn tenants(&self) -> Vec<TenantId> {
        let has_files = |tenant: &TenantId| {
            self.files.paths(&self.files.home.tenant(tenant)).iter().any(|file| file.exists())
        };
        self.files.home.tenants().into_iter().filter(has_files).collect()
    }

    fn close_erased(&self) {
        for tenant in self.others.tenants() {
            if self.files.home.is_erased(&tenant) {
                // While a call uses the files, a later attempt closes them.
                let _in_use = self.others.close(&tenant);
            }
        }
    }
}

fn erased() -> ToolError {
    ToolError::new(ErrorKind::Forbidden, "TENANT_ERASED", "the data of this user were erased")
        .hint("ask the operator for a new user")
}
