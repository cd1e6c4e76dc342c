//! Quotas of tenants. They are checked before each change that may add data and after each batch of
//! a stream, so one change or batch may exceed a quota; the next is refused. Deleting is always
//! possible. The local tenant has none.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use panoply_contract::clock::Clock;
use panoply_contract::error::ToolError;
use panoply_contract::pack::Growth;
use panoply_contract::tenant::TenantId;
use panoply_store::Home;
use serde::Deserialize;

use crate::app;

/// `[tenants.quota]`: the most that a tenant may have.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Quotas {
    /// Size of all files.
    pub megabytes: u64,
    /// Cards of `noema`.
    pub cards: u64,
    /// Runs of `backtest`.
    pub runs: u64,
    /// Documents of `ttm`.
    pub documents: u64,
    /// Stored transactions of `cgt`.
    pub transactions: u64,
}

impl Default for Quotas {
    fn default() -> Self {
        Self {
            megabytes: 2048,
            cards: 200_000,
            runs: 10_000,
            documents: 100_000,
            transactions: 1_000_000,
        }
    }
}

/// Measuring a folder is repeated after this time.
const SIZE_TTL: Duration = Duration::from_secs(2);

/// The quota of a tenant for one pack: bytes of the tenant, and a count of the pack.
pub(crate) struct PackQuota<C> {
    home: Home,
    max_bytes: u64,
    what: &'static str,
    most: u64,
    count: C,
    measured: Mutex<Option<(Duration, u64)>>,
    clock: std::sync::Arc<dyn Clock>,
}

impl<C: Fn() -> Result<u64, ToolError>> PackQuota<C> {
    /// The quota over `count` things called `what`; `None` for the local tenant.
    pub(crate) fn of(
        tenant: &TenantId,
        home: &Home,
        megabytes: u64,
        (what, most): (&'static str, u64),
        count: C,
    ) -> Option<Self> {
        (!tenant.is_local()).then(|| Self {
            home: home.clone(),
            max_bytes: megabytes.saturating_mul(1 << 20),
            what,
            most,
            count,
            measured: Mutex::default(),
            clock: app::clock(),
        })
    }

    /// Refuses when a quota is used up.
    pub(crate) fn check(&self, growth: Growth) -> Result<(), ToolError> {
        let ttl = if growth == Growth::Batch { Duration::ZERO } else { SIZE_TTL };
        let bytes = self.bytes(ttl);
        if bytes >= self.max_bytes {
            return Err(used_up("bytes", self.max_bytes, bytes));
        }
        // The number from which on the change is refused.
        let limit = match growth {
            Growth::Bytes | Growth::Batch => return Ok(()),
            Growth::Item => self.most,
            Growth::Update => self.most.saturating_add(1),
        };
        let count = (self.count)()?;
        if count >= limit { Err(used_up(self.what, self.most, count)) } else { Ok(()) }
    }

    fn bytes(&self, ttl: Duration) -> u64 {
        let mut measured = self.measured.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.monotonic();
        match *measured {
            Some((at, bytes)) if now.saturating_sub(at) < ttl => bytes,
            Some(_) | None => {
                let bytes = size(self.home.folder());
                *measured = Some((now, bytes));
                bytes
            }
        }
    }
}

fn used_up(what: &str, most: u64, used: u64) -> ToolError {
    ToolError::business(
        "QUOTA_EXCEEDED",
        format!("the quota of {most} {what} is used up: there are {used}"),
    )
    .hint("delete what you no longer need, or ask the operator for a larger quota")
    .detail("quota", what)
    .detail("most", most)
    .detail("used", used)
}

/// Bytes of all files below a folder. Links are not followed.
fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(about) if about.is_dir() => size(&entry.path()),
            Ok(about) => about.len(),
            Err(_) => 0,
        })
        .sum()
}
