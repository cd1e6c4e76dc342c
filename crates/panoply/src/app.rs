//! Composition root: builds the kernel with clock, audit log, mutation log and observers.
//!
//! An unwritable home must not stop a server whose tools only read: calls are then recorded in
//! memory, mutations are refused, and `/readyz` and the log report it. The home is retried until it
//! is writable.

use std::sync::Arc;

use panoply_contract::audit::AuditLog;
use panoply_contract::clock::Clock;
use panoply_contract::compliance::EXAMPLE_TIME;
use panoply_contract::kernel::{Kernel, Settings, World};
use panoply_contract::observe::Observer;
use panoply_contract::pack::Pack;
use panoply_contract::pipeline::LocalLimiter;
use panoply_contract::preferences::PreferenceStore;
use panoply_contract::sharing::{MemoryShareStore, ShareStore};
use panoply_mcp::observe::CallLog;
use panoply_store::{Home, SystemClock};
use uuid::Uuid;

use crate::audit_maintenance::{AuditHealth, AuditMaintenance};
use crate::config::Config;
use crate::failure::Failure;
use crate::fleet::Fleet;
use crate::health::Health;
use crate::packs::{self, PackData};
use crate::stores;

/// The kernel and its storage.
pub struct App {
    /// The kernel with its packs.
    pub kernel: Arc<Kernel>,
    /// Storage of its records.
    pub storage: Storage,
    pub(crate) health: Arc<Health>,
    /// The audit log, closed on shutdown; `None` in memory.
    audit: Option<Arc<dyn AuditLog>>,
    maintenance: Option<AuditMaintenance>,
}

/// Storage of audit and mutation records.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Storage {
    /// The home.
    Home,
    /// The home is unwritable, for this reason; retried.
    Waiting(String),
    /// Memory only, for this reason.
    Memory(String),
}

impl App {
    /// Opens the kernel with its records in the home. Stores that cannot be opened are retried;
    /// until then mutations are refused and reads work.
    pub fn open(config: &Config) -> Result<Self, Failure> {
        Self::open_in(config, None)
    }

    /// As [`open`](Self::open), as one of several replicas.
    pub(crate) fn open_in(config: &Config, fleet: Option<&Arc<Fleet>>) -> Result<Self, Failure> {
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
        let (log, storage) = match home.create().and_then(|()| stores::audit_log(&home)) {
            Ok(log) => (log, Storage::Home),
            Err(error) => {
                let why = error.chain();
                tracing::warn!(why, "{STORAGE_UNAVAILABLE}");
                (stores::deferred_audit_log(&home, error), Storage::Waiting(why))
            }
        };
        let kernel_store = stores::kernel_or_retry(&home);
        let shares = Arc::clone(&kernel_store) as Arc<dyn ShareStore>;
        let preferences = Arc::clone(&kernel_store) as Arc<dyn PreferenceStore>;
        let made = packs::build(config, &PackData::Persistent(home.clone()), &shares)?;
        let audit_health = Arc::new(AuditHealth::default());
        if !stores::is_server() {
            audit_health.check_chain(&home);
        }
        let health = Health::new(home, Arc::clone(&log), made.supervisors, audit_health)
            .in_fleet(fleet.cloned());
        let limiter = fleet.and_then(|fleet| fleet.limiter());
        let world = World {
            audit: Arc::clone(&log),
            mutations: kernel_store.mutation_log(),
            shares,
            preferences,
            incarnation: Uuid::new_v4(),
            observers: vec![Arc::new(CallLog)],
            limiter: limiter.unwrap_or_else(|| Arc::new(LocalLimiter::new(&clock()))),
            ..World::in_memory(clock())
        };
        let kernel = kernel(made.packs, world, settings(config, config.read_only))?;
        recover(&kernel);
        let (health, audit) = (Arc::new(health), Some(log));
        Ok(Self { kernel, storage, health, audit, maintenance: None })
    }

    /// Builds a kernel over the sample data, for inspection and checks. It writes nothing, not even
    /// audit rows, and its clock starts at the time for which examples are written.
    pub fn in_memory(config: &Config) -> Result<Self, Failure> {
        Self::without_home(
            config,
            "in-memory home".to_owned(),
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
        let shares: Arc<dyn ShareStore> = Arc::new(MemoryShareStore::default());
        let made = packs::build(config, data, &shares)?;
        let clock = match data {
            PackData::Sample => Arc::new(SystemClock::starting_at(EXAMPLE_TIME)),
            PackData::Persistent(_) | PackData::Ephemeral => clock(),
        };
        let incarnation = Uuid::new_v4();
        let world = World { shares, incarnation, observers, ..World::in_memory(clock) };
        let kernel = kernel(made.packs, world, settings(config, read_only))?;
        let health = Arc::new(Health::without_home(&why));
        let (storage, audit) = (Storage::Memory(why), None);
        Ok(Self { kernel, storage, health, audit, maintenance: None })
    }

    /// Starts the maintenance thread of the audit log, in a server.
    pub fn start_audit_maintenance(&mut self, config: &Config) {
        let folder = config.home.folder.as_ref();
        let folder = folder.filter(|_| self.audit.is_some() && !stores::is_server());
        if let Some(folder) = folder {
            let health = Arc::clone(self.health.audit());
            self.maintenance = AuditMaintenance::start(config, &Home::at(folder), health);
        }
    }

    /// Flushes the audit log. Every command that calls a tool must end with it.
    pub fn close(self) {
        if let Some(log) = self.audit {
            log.close();
        }
        self.maintenance.into_iter().for_each(AuditMaintenance::end);
    }
}

/// Appends the audit entries of mutations that were committed just before a crash.
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

const STORAGE_UNAVAILABLE: &str = "the home is unavailable: calls are recorded in memory only and mutations are refused; see `panoply doctor`";

/// The system clock.
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
            .hint("report a bug: the build is invalid")
    })
}
