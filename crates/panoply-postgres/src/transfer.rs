//! `panoply migrate`: moves the data of a tenant between the files of a home and PostgreSQL.
//!
//! A target that is empty gets the rows of the source, in one transaction for each pack; one that
//! has the same rows is left alone; one that has others is not changed. In the end both sides are
//! read again and compared, so that the result is what is stored and not what was sent.

use std::path::Path;
use std::sync::Arc;

use panoply_contract::error::ToolError;
use panoply_contract::preferences::{PreferenceStore, Preferences};
use panoply_contract::tenant::TenantId;
use panoply_noema::fsrs::Zone;
use panoply_store::transfer::{ComparedTable, Direction, Outcome, Side, Transferred};
use panoply_store::{Home, KernelStore, StoreError};
use sha2::{Digest as _, Sha256};

use crate::cgt::Portfolios;
use crate::errors::unreadable;
use crate::kernel::PostgresKernelStore;
use crate::noema::Cards;
use crate::server::Postgres;
use crate::ttm::Documents;
use crate::working_copy::Collection;
use crate::working_copy::sqlite::{Content, CopiedPack};

/// A tenant in a home, and the same person in the database.
pub struct Move<'a> {
    /// From where to where.
    pub direction: Direction,
    /// The database server.
    pub server: &'a Arc<Postgres>,
    /// The tenant in the database.
    pub tenant: &'a TenantId,
    /// The home with the files.
    pub home: &'a Home,
    /// The tenant in the home.
    pub in_home: &'a TenantId,
    /// The kernel's store of the home.
    pub kernel: &'a dyn KernelStore,
}

impl Move<'_> {
    /// Moves all data that the database serves.
    pub fn run(&self) -> Result<Vec<Transferred>, StoreError> {
        Ok(vec![
            self.preferences()?,
            self.pack(Cards { zone: Zone::UTC, secret: None })?,
            self.pack(Portfolios)?,
            self.pack(Documents)?,
        ])
    }

    fn pack<P: CopiedPack>(&self, pack: P) -> Result<Transferred, StoreError> {
        let file = self.home.tenant(self.in_home).pack(P::PACK);
        // No copy is made, so that the folder is not used.
        let folder = Path::new("").to_owned();
        let stored = Collection::new(pack, Arc::clone(self.server), self.tenant.clone(), folder);
        let in_file = || Content::of_file::<P>(&file);
        let (source, target) = match self.direction {
            Direction::ToServer => (in_file()?, stored.content()?),
            Direction::ToFiles => (stored.content()?, in_file()?),
        };
        let tables = source.compare::<P>(&target);
        let (outcome, tables) = match (are_same(&tables), source.is_new::<P>()) {
            (true, _) => (Outcome::Unchanged, tables),
            // There is nothing to move, and both are what a new collection is.
            (false, true) if target.is_new::<P>() => (Outcome::Unchanged, Vec::new()),
            (false, false) if target.is_new::<P>() => {
                match self.direction {
                    Direction::ToServer => stored.fill(&source)?,
                    Direction::ToFiles => source.write_file::<P>(&file)?,
                }
                let target = match self.direction {
                    Direction::ToServer => stored.content()?,
                    Direction::ToFiles => in_file()?,
                };
                let tables = source.compare::<P>(&target);
                let outcome = if are_same(&tables) { Outcome::Copied } else { Outcome::Differs };
                (outcome, tables)
            }
            (false, _) => (Outcome::Differs, tables),
        };
        Ok(Transferred { pack: P::PACK, outcome, tables })
    }

    fn preferences(&self) -> Result<Transferred, StoreError> {
        let on_server = PostgresKernelStore(Arc::clone(self.server));
        let in_home = (self.kernel as &dyn PreferenceStore, self.in_home);
        let on_server = (&on_server as &dyn PreferenceStore, self.tenant);
        let ((from, source_tenant), (to, target_tenant)) = match self.direction {
            Direction::ToServer => (in_home, on_server),
            Direction::ToFiles => (on_server, in_home),
        };
        let read = |store: &dyn PreferenceStore, tenant: &TenantId| {
            store.get(tenant).map(|stored| stored.preferences).map_err(failed)
        };
        let source = read(from, source_tenant)?;
        let before = read(to, target_tenant)?;
        let mut outcome = match (source == before, before == Preferences::default()) {
            (true, _) => Outcome::Unchanged,
            (false, false) => Outcome::Differs,
            (false, true) => {
                to.set(target_tenant, &source, None).map_err(failed)?;
                Outcome::Copied
            }
        };
        let target = read(to, target_tenant)?;
        if source != target {
            outcome = Outcome::Differs;
        }
        let (source, target) = (side_of(&source)?, side_of(&target)?);
        let tables = vec![ComparedTable { table: "preferences", source, target }];
        Ok(Transferred { pack: "kernel", outcome, tables })
    }
}

fn are_same(tables: &[ComparedTable]) -> bool {
    tables.iter().all(|table| table.source == table.target)
}

fn side_of(preferences: &Preferences) -> Result<Side, StoreError> {
    let members = serde_json::to_string(preferences).map_err(unreadable)?;
    let hash = Sha256::digest(members.as_bytes());
    let sha256 = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Side { rows: usize::from(*preferences != Preferences::default()), sha256 })
}

fn failed(error: ToolError) -> StoreError {
    unreadable(format!("{}: {}", error.message, error.cause_chain()))
}
