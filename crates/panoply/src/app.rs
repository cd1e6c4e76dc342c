//! Builds the kernel and what it stands on: clock, audit log, mutation log, observers.
//!
//! A home that cannot be written must not silence a server whose tools only read: then calls are
//! recorded in memory, nothing can be changed, and `/readyz` and the log say so. It is tried again
//! until it can be written.

use std::sync::Arc;

use panoply_contract::audit::{AuditLog, MemoryAuditLog};
use panoply_contract::clock::Clock;
use panoply_contract::kernel::{Kernel, Settings, World};
use panoply_contract::mutation::MemoryMutationLog;
use panoply_contract::observe::Observer;
use panoply_contract::pack::Pack;
use panoply_mcp::observe::CallLog;
use panoply_store::{DeferredAuditLog, Home, KernelDb, SqliteAuditLog, StoreError, SystemClock};
use uuid::Uuid;

use crate::audit_maintenance::{AuditHealth, AuditMaintenance};
use crate::config::Config;
use crate::failure::Failure;
use crate::health::Health;
use crate::packs::{self, PackData};

/// The kernel, and where its records go.
pub struct App {
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// Where its records go.
    pub storage: Storage,
    /// What keeps it from its work.
    pub health: Arc<Health>,
    audit: Audit,
    maintenance: Option<AuditMaintenance>,
}

/// Where records go.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Storage {
    /// Into the home.
    Home,
    /// Into the home as soon as it can be written; says why it cannot yet.
    Waiting(String),
    /// Nowhere that lasts; says why.
    Memory(String),
}

/// The audit log, to be closed at the end.
enum Audit {
    Memory,
    File(Arc<SqliteAuditLog>),
    Late(DeferredAuditLog),
}

impl App {
    /// A kernel that keeps its records in the home. What cannot be opened now is tried again; until
    /// then nothing can be changed, and what only reads goes on.
    pub fn open(config: &Config) -> Result<Self, Failure> {
        let Some(folder) = &config.home.folder else {
            let why = "the platform has no data folder; set PANOPLY_HOME";
            tracing::warn!(why, "{STORAGE_UNAVAILABLE}");
            let observers: Vec<Arc<dyn Observer>> = vec![Arc::new(CallLog)];
            return Self::without_home(
                config,
                why.to_owned(),
                observers,
                true,
                &PackData::Ephemeral,
            );
        };
        let home = Home::at(folder);
        let (audit, storage) = match open_audit(&home) {
            Ok(log) => (Audit::File(Arc::new(log)), Storage::Home),
            Err(error) => {
                let why = error.chain();
                tracing::warn!(why, "{STORAGE_UNAVAILABLE}");
                (
                    Audit::Late(DeferredAuditLog::new(&home.audit_log(), error, clock())),
                    Storage::Waiting(why),
                )
            }
        };
        let log: Arc<dyn AuditLog> = match &audit {
            Audit::File(log) => Arc::clone(log) as Arc<dyn AuditLog>,
            Audit::Late(log) => Arc::new(log.clone()),
            Audit::Memory => Arc::new(MemoryAuditLog::default()),
        };
        let mutations = KernelDb::open(&home.kernel())
            .unwrap_or_else(|_| KernelDb::open_lazily(&home.kernel()));
        let made = packs::build(config, &PackData::Persistent(home.packs()))?;
        let audit_health = Arc::new(AuditHealth::default());
        audit_health.check_chain(&home);
        let health = Health::new(home, Arc::clone(&log), made.supervisors, audit_health);
        let world = World {
            clock: clock(),
            audit: log,
            mutations: Arc::new(mutations),
            incarnation: Uuid::new_v4(),
            observers: vec![Arc::new(CallLog)],
        };
        let kernel = kernel(made.packs, world, settings(config, config.read_only))?;
        recover(&kernel);
        Ok(Self { kernel, storage, health: Arc::new(health), audit, maintenance: None })
    }

    /// A kernel to look at and to try, over the data of the examples. It leaves no trace: not in
    /// the audit log, nowhere.
    pub fn in_memory(config: &Config) -> Result<Self, Failure> {
        Self::without_home(
            config,
            "nothing was to be kept".to_owned(),
            Vec::new(),
            config.read_only,
            &PackData::Sample,
        )
    }

    fn without_home(
        config: &Config,
        why: String,
        observers: Vec<Arc<dyn Observer>>,
        read_only: bool,
        data: &PackData,
    ) -> Result<Self, Failure> {
        let made = packs::build(config, data)?;
        let audit: Arc<dyn AuditLog> = Arc::new(MemoryAuditLog::default());
        let world = World {
            clock: clock(),
            audit: Arc::clone(&audit),
            mutations: Arc::new(MemoryMutationLog::default()),
            incarnation: Uuid::new_v4(),
            observers,
        };
        let kernel = kernel(made.packs, world, settings(config, read_only))?;
        let health = Arc::new(Health::without_home(&why));
        let (storage, audit) = (Storage::Memory(why), Audit::Memory);
        Ok(Self { kernel, storage, health, audit, maintenance: None })
    }

    /// Starts what a server does for its audit log while it runs.
    pub fn start_audit_maintenance(&mut self, config: &Config) {
        let folder = config.home.folder.as_ref().filter(|_| !matches!(self.audit, Audit::Memory));
        if let Some(folder) = folder {
            let health = Arc::clone(self.health.audit());
            self.maintenance = AuditMaintenance::start(config, &Home::at(folder), health);
        }
    }

    /// Writes what is still on its way to the disk. Every command that called a tool ends so.
    pub fn close(self) {
        match self.audit {
            Audit::Memory => {}
            Audit::File(log) => log.close(),
            Audit::Late(log) => log.close(),
        }
        self.maintenance.into_iter().for_each(AuditMaintenance::end);
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

const STORAGE_UNAVAILABLE: &str = "nothing can be kept now: calls are recorded in memory, and nothing can be changed; see `panoply doctor`";

fn open_audit(home: &Home) -> Result<SqliteAuditLog, StoreError> {
    home.create()?;
    SqliteAuditLog::open(&home.audit_log())
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
        consent_time: config.consent_time,
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
