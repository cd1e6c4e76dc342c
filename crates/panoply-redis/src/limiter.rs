//! [`SharedLimiter`]: GCRA over all replicas.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Weak};
use std::time::Duration;

use panoply_contract::clock::Clock;
use panoply_contract::pipeline::{LimitCheck, LimitScope, Limiter};
use panoply_contract::spec::RateLimit;
use redis::Script;
use uuid::Uuid;

use crate::accounts::Accounts;
use crate::connection::{Cache, CallError, Connection, Settings, SettingsError};

/// Interval of heartbeats, and of attempts to reach a server that is gone.
const HEARTBEAT: Duration = Duration::from_millis(500);
/// A replica without a heartbeat for this time does not count.
const LIFE: Duration = Duration::from_secs(5);
/// The replicas that are alive.
const REPLICAS: &str = "panoply:replicas";

static CHARGE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("gcra.lua")));
static BEAT: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("heartbeat.lua")));

/// Limits that all replicas share. Needs a Tokio runtime.
pub struct SharedLimiter(Arc<Shared>);

/// How a limiter does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Status {
    /// Whether the server answers.
    pub up: bool,
    /// The number of replicas between which limits are divided without it.
    pub replicas: u32,
    /// Calls decided by the server.
    pub shared: u64,
    /// Calls decided by this replica on its own.
    pub alone: u64,
}

struct Shared {
    cache: Cache,
    accounts: Accounts,
    clock: Arc<dyn Clock>,
    /// Of this process, so that replicas of one name count as two.
    id: String,
    deployed: u32,
    counted: AtomicU32,
    by_server: AtomicU64,
    alone: AtomicU64,
}

impl SharedLimiter {
    /// Connects, or goes on without if the server does not answer at once; from then on a task keeps
    /// the connection.
    pub async fn start(settings: &Settings, clock: Arc<dyn Clock>) -> Result<Self, SettingsError> {
        let shared = Arc::new(Shared {
            cache: Cache::new(settings)?,
            accounts: Accounts::default(),
            clock,
            id: Uuid::new_v4().to_string(),
            deployed: settings.replicas,
            counted: AtomicU32::new(1),
            by_server: AtomicU64::new(0),
            alone: AtomicU64::new(0),
        });
        if let Err(error) = shared.beat().await {
            tracing::warn!(%error, "the cache is unavailable: limits are shares of each replica");
        }
        tokio::spawn(keep_alive(Arc::downgrade(&shared)));
        Ok(Self(shared))
    }

    /// How it does now.
    pub fn status(&self) -> Status {
        Status {
            up: self.0.cache.connection().is_some(),
            replicas: self.0.replicas(),
            shared: self.0.by_server.load(Ordering::Relaxed),
            alone: self.0.alone.load(Ordering::Relaxed),
        }
    }

    /// Takes this replica off the list, so that the others divide limits without it.
    pub async fn leave(&self) {
        let mut script = BEAT.key(REPLICAS);
        script.arg(&self.0.id).arg(0);
        if let Some(connection) = self.0.cache.connection() {
            // The list forgets it by itself too.
            let _ = self.0.cache.call::<u32>(connection, &script).await;
        }
    }
}

impl Limiter for SharedLimiter {
    fn check(&self, tool: &'static str, limit: RateLimit, scope: LimitScope<'_>) -> LimitCheck {
        if limit.max_calls == 0 || limit.window.is_zero() {
            return LimitCheck::Decided(Ok(()));
        }
        let key = format!("panoply:limit:{tool}:{}", scope.key());
        let Some(connection) = self.0.cache.connection() else {
            return LimitCheck::Decided(self.0.check_share(&key, limit));
        };
        let shared = Arc::clone(&self.0);
        LimitCheck::Asking(Box::pin(async move { shared.ask(connection, &key, limit).await }))
    }
}

impl Shared {
    fn replicas(&self) -> u32 {
        self.counted.load(Ordering::Relaxed).max(self.deployed)
    }

    fn check_share(&self, key: &str, limit: RateLimit) -> Result<(), Duration> {
        self.alone.fetch_add(1, Ordering::Relaxed);
        self.accounts.check_share(key, limit, self.clock.monotonic(), self.replicas())
    }

    async fn ask(
        &self,
        connection: Connection,
        key: &str,
        limit: RateLimit,
    ) -> Result<(), Duration> {
        let (sent, replicas) = (self.clock.monotonic(), self.replicas());
        let report = self.accounts.take_report(key, sent, replicas);
        let mut script = CHARGE.key(key);
        script.arg(micros(limit.window / limit.max_calls)).arg(micros(limit.window));
        script.arg(micros(report.known)).arg(micros(report.owed));
        match self.cache.call::<(u64, u64)>(connection, &script).await {
            Ok((wait, debt)) => {
                self.by_server.fetch_add(1, Ordering::Relaxed);
                self.accounts.settle(key, sent, Duration::from_micros(debt));
                if wait == 0 { Ok(()) } else { Err(Duration::from_micros(wait)) }
            }
            Err(_) => {
                self.accounts.put_back(key, report, self.clock.monotonic(), replicas);
                self.check_share(key, limit)
            }
        }
    }

    async fn beat(&self) -> Result<(), CallError> {
        let mut script = BEAT.key(REPLICAS);
        script.arg(&self.id).arg(micros(LIFE));
        let was_down = self.cache.connection().is_none();
        let alive: u32 = self.cache.restore(&script).await?;
        self.counted.store(alive, Ordering::Relaxed);
        if was_down {
            tracing::info!(replicas = self.replicas(), "the cache answers: limits are shared");
        }
        Ok(())
    }
}

/// Sends heartbeats until the limiter is dropped.
async fn keep_alive(shared: Weak<Shared>) {
    loop {
        tokio::time::sleep(HEARTBEAT).await;
        let Some(shared) = shared.upgrade() else { return };
        // A failure was logged when the circuit was opened.
        let _ = shared.beat().await;
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
