//! Portfolios in PostgreSQL, with a working copy in SQLite ([`working_copy`](crate::working_copy)).

mod sqlite;

use std::path::PathBuf;
use std::sync::Arc;

use panoply_cgt::store::{
    Change, Portfolio, PortfolioError, PortfolioStore, PortfolioWriter, Summary,
};
use panoply_contract::mutation::MutationLog;
use panoply_contract::tenant::TenantId;

pub(crate) use self::sqlite::Portfolios;
use crate::server::Postgres;
use crate::working_copy::Collection;

/// The portfolios of a tenant.
#[derive(Clone)]
pub struct PostgresPortfolios(Arc<Collection<Portfolios>>);

impl PostgresPortfolios {
    /// The portfolios of a tenant, with copies in this folder.
    pub fn new(server: Arc<Postgres>, tenant: TenantId, folder: PathBuf) -> Self {
        Self(Arc::new(Collection::new(Portfolios, server, tenant, folder)))
    }
}

impl std::fmt::Debug for PostgresPortfolios {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresPortfolios").finish_non_exhaustive()
    }
}

impl PortfolioStore for PostgresPortfolios {
    fn list(&self) -> Result<Vec<Summary>, PortfolioError> {
        self.0.read(|copy| copy.store.list())?
    }

    fn load(&self, id: &str) -> Result<Portfolio, PortfolioError> {
        self.0.read(|copy| copy.store.load(id))?
    }

    fn changes(&self, id: &str, limit: usize) -> Result<Vec<Change>, PortfolioError> {
        self.0.read(|copy| copy.store.changes(id, limit))?
    }

    fn version(&self) -> u64 {
        self.0.data_version()
    }

    fn with_writer(
        &self,
        commit: bool,
        write: &mut dyn FnMut(&dyn PortfolioWriter) -> bool,
    ) -> Result<(), PortfolioError> {
        let running = self.0.act()?;
        let mut is_done = false;
        let written = running.store()?.with_writer(commit, &mut |writer| {
            is_done = write(writer);
            is_done
        });
        let ended = match written.is_ok() && is_done && commit {
            true => running.commit(),
            false => running.roll_back(),
        };
        ended.map_err(PortfolioError::from).and(written)
    }

    fn mutation_log(self: Arc<Self>) -> Arc<dyn MutationLog> {
        self.0.mutation_log()
    }
}
