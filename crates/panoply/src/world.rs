//! Builds the kernel and what it stands on: clock, audit log, mutation log, observers.
//!
//! A home that cannot be written must not silence a server whose tools only read: then calls are
//! recorded in memory, every tool that changes data is hidden, and we say so.

use std::sync::Arc;

use panoply_contract::audit::{AuditLog, MemoryAuditLog};
use panoply_contract::clock::Clock;
use panoply_contract::kernel::{Kernel, Settings, World};
use panoply_contract::mutation::{MemoryMutationLog, MutationLog};
use panoply_contract::observe::Observer;
use panoply_contract::pack::Pack;
use panoply_mcp::observe::CallLog;
use panoply_store::{Home, KernelDb, SqliteAuditLog, StoreError, SystemClock};
use uuid::Uuid;

use crate::config::Config;
use crate::failure::Failure;
use crate::packs::{self, Data};

/// The kernel, and where its records go.
pub struct House {
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// Where its records go.
    pub storage: Storage,
    audit: Option<Arc<SqliteAuditLog>>,
}

/// Where records go.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Storage {
    /// Into the home.
    Home,
    /// Nowhere that lasts; says why.
    Memory(String),
}

impl House {
    /// A kernel that keeps its records in the home, or says that it cannot.
    pub fn open(config: &Config) -> Result<Self, Failure> {
        match Stores::open(config) {
            Ok(stores) => {
                let packs = packs::make(config, &Data::Kept(stores.home.packs()))?;
                let settings = settings(config, config.read_only);
                let world = World {
                    clock: clock(),
                    audit: Arc::clone(&stores.audit) as Arc<dyn AuditLog>,
                    mutations: stores.mutations,
                    incarnation: Uuid::new_v4(),
                    observers: vec![Arc::new(CallLog)],
                };
                let kernel = kernel(packs, world, settings)?;
                recover(&kernel);
                Ok(Self { kernel, storage: Storage::Home, audit: Some(stores.audit) })
            }
            Err(why) => {
                tracing::warn!(
                    why,
                    "nothing can be kept: calls are recorded in memory only, and tools that change data are off; see `panoply doctor`"
                );
                Self::without_home(config, why, vec![Arc::new(CallLog)], true, &Data::Forgotten)
            }
        }
    }

    /// A kernel to look at and to try, over the data of the examples. It leaves no trace: not in
    /// the audit log, nowhere.
    pub fn in_memory(config: &Config) -> Result<Self, Failure> {
        Self::without_home(
            config,
            "nothing was to be kept".to_owned(),
            Vec::new(),
            config.read_only,
            &Data::Sample,
        )
    }

    fn without_home(
        config: &Config,
        why: String,
        observers: Vec<Arc<dyn Observer>>,
        read_only: bool,
        data: &Data,
    ) -> Result<Self, Failure> {
        let packs = packs::make(config, data)?;
        let world = World {
            clock: clock(),
            audit: Arc::new(MemoryAuditLog::default()),
            mutations: Arc::new(MemoryMutationLog::default()),
            incarnation: Uuid::new_v4(),
            observers,
        };
        let kernel = kernel(packs, world, settings(config, read_only))?;
        Ok(Self { kernel, storage: Storage::Memory(why), audit: None })
    }

    /// Writes what is still on its way to the disk. Every command that called a tool ends so.
    pub fn close(self) {
        if let Some(audit) = self.audit {
            audit.close();
        }
    }
}

/// Appends the audit entries of changes that were committed just before a crash.
fn recover(kernel: &Kernel) {
    match futures::executor::block_on(kernel.recover_audit()) {
        Ok(0) => {}
        Ok(entries) => tracing::info!(entries, "audit entries of the last run were recovered"),
        Err(error) => {
            let cause = error.cause_chain();
            tracing::error!(cause, "audit entries of the last run could not be recovered");
        }
    }
}

struct Stores {
    home: Home,
    audit: Arc<SqliteAuditLog>,
    mutations: Arc<dyn MutationLog>,
}

impl Stores {
    fn open(config: &Config) -> Result<Self, String> {
        let Some(folder) = &config.home.folder else {
            return Err(
                "this system does not say where a user's data go; set PANOPLY_HOME".to_owned()
            );
        };
        Self::open_at(Home::at(folder)).map_err(|error| error.chain())
    }

    fn open_at(home: Home) -> Result<Self, StoreError> {
        home.create()?;
        let audit = Arc::new(SqliteAuditLog::open(&home.audit_log())?);
        let mutations = Arc::new(KernelDb::open(&home.kernel())?);
        Ok(Self { home, audit, mutations })
    }
}

/// The time of this machine.
pub fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock::new())
}

fn settings(config: &Config, read_only: bool) -> Settings {
    Settings {
        service_version: env!("CARGO_PKG_VERSION"),
        offer: config.offer,
        read_only,
        lang: config.lang,
        ..Settings::default()
    }
}

fn kernel(packs: Vec<Pack>, world: World, settings: Settings) -> Result<Arc<Kernel>, Failure> {
    Kernel::new(packs, world, settings).map_err(|violations| {
        let lines: Vec<String> = violations.iter().map(|line| format!("  {line}")).collect();
        Failure::work(format!("the packs break the contract:\n{}", lines.join("\n")))
            .hint("report it: this build should not have been made")
    })
}
