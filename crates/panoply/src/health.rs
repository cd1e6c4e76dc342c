//! Readiness checks of `panoply http`, for `/readyz`.
//!
//! | name | code | status |
//! |---|---|---|
//! | `home` | `DISK_FULL`, `STORE_READ_ONLY`, `STORE_REPLACED`, `NO_HOME` | 503 |
//! | `audit log`, `idempotency keys`, `API keys` | `STORE_REPLACED`, or why it takes nothing | 503 |
//! | `database` | `STORE_BUSY` | 503: without it no key can be read |
//! | `cache` | `CACHE_UNAVAILABLE` | 200, degraded |
//! | `audit chain` | `AUDIT_CHAIN_BROKEN` | 200, degraded |
//! | `audit checkpoints` | `CHECKPOINT_FAILED` | 200, degraded |
//! | `audit retention` | `RETENTION_FAILED` | 200, degraded |
//! | a pack | `PACK_DAMAGED`, `STORE_REPLACED`, … | 200, degraded |

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use panoply_contract::audit::AuditLog;
use panoply_contract::clock::Clock;
use panoply_contract::supervise::Supervisor;
use panoply_contract::tenant::TenantId;
use panoply_mcp::transport::http::{Readiness, ReadinessProblem};
use panoply_store::Home;
use panoply_store::sqlite::FileIdentity;

use crate::app;
use crate::audit_maintenance::AuditHealth;
use crate::fleet::Fleet;
use crate::stores;

/// Results are cached for this time, so that frequent probes cost nothing.
const CACHE_TTL: Duration = Duration::from_millis(500);

/// Readiness of the server.
pub(crate) struct Health {
    home: Option<WatchedHome>,
    without: Option<String>,
    audit: Arc<AuditHealth>,
    fleet: Option<Arc<Fleet>>,
    supervisors: Vec<(&'static str, Arc<dyn Supervisor>)>,
    clock: Arc<dyn Clock>,
    last: Mutex<Option<(Duration, Readiness)>>,
}

/// The home and the identities of its files.
struct WatchedHome {
    home: Home,
    audit: Arc<dyn AuditLog>,
    /// The kernel's files; a file that is created later is added when first seen.
    files: Mutex<Vec<(&'static str, PathBuf, FileIdentity)>>,
}

impl Health {
    /// Checks a home and its packs.
    pub(crate) fn new(
        home: Home,
        audit: Arc<dyn AuditLog>,
        supervisors: Vec<(&'static str, Arc<dyn Supervisor>)>,
        audit_health: Arc<AuditHealth>,
    ) -> Self {
        let watched = WatchedHome { home, audit, files: Mutex::default() };
        watched.replaced_files();
        Self {
            home: Some(watched),
            without: None,
            audit: audit_health,
            fleet: None,
            supervisors,
            clock: app::clock(),
            last: Mutex::default(),
        }
    }

    /// Reports a missing home.
    pub(crate) fn without_home(why: &str) -> Self {
        Self {
            home: None,
            without: Some(why.to_owned()),
            audit: Arc::default(),
            fleet: None,
            supervisors: Vec::new(),
            clock: app::clock(),
            last: Mutex::default(),
        }
    }

    /// Reports the shared parts of replicas too.
    pub(crate) fn in_fleet(self, fleet: Option<Arc<Fleet>>) -> Self {
        Self { fleet, ..self }
    }

    /// Whether the database server answers; `None` for files.
    pub(crate) fn database_is_up(&self) -> Option<bool> {
        let watched = self.home.as_ref().filter(|_| stores::is_server())?;
        Some(watched.audit.ready().is_ok())
    }

    /// Health of the audit log, set by its maintenance thread.
    pub(crate) const fn audit(&self) -> &Arc<AuditHealth> {
        &self.audit
    }

    /// Returns the current readiness.
    pub(crate) fn readiness(&self) -> Readiness {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.monotonic();
        match &*last {
            Some((at, readiness)) if now.saturating_sub(*at) < CACHE_TTL => readiness.clone(),
            Some(_) | None => {
                let readiness = Readiness { problems: self.problems() };
                *last = Some((now, readiness.clone()));
                readiness
            }
        }
    }

    fn problems(&self) -> Vec<ReadinessProblem> {
        let mut problems = Vec::new();
        if let Some(why) = &self.without {
            problems.push(blocking("home", "NO_HOME", why));
        }
        if let Some(watched) = &self.home {
            problems.extend(watched.problems());
        }
        if self.fleet.as_ref().and_then(|fleet| fleet.cache()).is_some_and(|cache| !cache.up) {
            let reason = "the cache does not answer; each replica enforces its share of the limits";
            let problem = blocking("cache", "CACHE_UNAVAILABLE", reason);
            problems.push(ReadinessProblem { blocking: false, ..problem });
        }
        let audit = self.audit.problems();
        let degraded = [
            ("audit chain", "AUDIT_CHAIN_BROKEN", audit.chain),
            ("audit checkpoints", "CHECKPOINT_FAILED", audit.checkpoints),
            ("audit retention", "RETENTION_FAILED", audit.retention),
        ];
        for (name, code, reason) in degraded {
            let problem = reason.map(|reason| blocking(name, code, &reason));
            problems.extend(problem.map(|it| ReadinessProblem { blocking: false, ..it }));
        }
        for (name, supervisor) in &self.supervisors {
            if let Err(error) = supervisor.pack(&TenantId::local()) {
                let problem = blocking(name, &error.code, &error.message);
                problems.push(ReadinessProblem { blocking: false, ..problem });
            }
        }
        problems
    }
}

impl WatchedHome {
    fn problems(&self) -> Vec<ReadinessProblem> {
        let mut problems: Vec<ReadinessProblem> = self.probe_write().err().into_iter().collect();
        problems.extend(self.replaced_files());
        if let Err(error) = self.audit.ready()
            && !problems.iter().any(|problem| *problem.code == *error.code)
        {
            let name = if stores::is_server() { "database" } else { "audit log" };
            problems.push(blocking(name, &error.code, &error.message));
        }
        problems
    }

    /// Writes a page into the home and removes it: a permission check would not detect a full or
    /// read-only disk.
    fn probe_write(&self) -> Result<(), ReadinessProblem> {
        let probe = self.home.folder().join(format!(".ready-{}", std::process::id()));
        let write = || {
            let mut file = std::fs::File::create(&probe)?;
            file.write_all(&[0; 4096])
        };
        let written = write();
        // The file may not exist.
        let _ = std::fs::remove_file(&probe);
        written.map_err(|error| match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                blocking("home", "DISK_FULL", "the disk that holds the home is full")
            }
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                blocking("home", "STORE_REPLACED", "the home folder is gone")
            }
            _ => blocking("home", "STORE_READ_ONLY", "the home folder cannot be written"),
        })
    }

    /// Reports files of the kernel that were deleted or replaced.
    fn replaced_files(&self) -> Vec<ReadinessProblem> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, file) in self.home.kernel_files() {
            if !files.iter().any(|(known, _, _)| *known == name)
                && let Ok(identity) = FileIdentity::of(&file)
            {
                files.push((name, file, identity));
            }
        }
        let gone = files.iter().filter(|(_, file, identity)| !identity.is_at(file));
        gone.map(|(name, _, _)| {
            let reason = format!("the file of the {name} was deleted or replaced");
            blocking(name, "STORE_REPLACED", &reason)
        })
        .collect()
    }
}

fn blocking(name: &str, code: &str, reason: &str) -> ReadinessProblem {
    ReadinessProblem {
        name: name.to_owned(),
        code: code.to_owned(),
        reason: reason.to_owned(),
        blocking: true,
    }
}
