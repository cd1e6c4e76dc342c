//! The reply cache, with single flight: concurrent identical queries share one execution.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use foldhash::fast::RandomState;
use moka::future::Cache;

use super::limits::Authority;
use super::{CachedReply, Call, Outcome, execute};
use crate::audit::Fingerprint;
use crate::context::Lang;
use crate::error::ToolError;
use crate::meters::CacheUse;
use crate::registry::ToolIndex;
use crate::spec::CachePolicy;

/// Estimated memory of a reply in addition to its data.
const OVERHEAD_BYTES: usize = 1024;
/// Upper bound on the time to live of a cached reply.
const MAX_CACHE_AGE: Duration = Duration::from_secs(24 * 3600);

/// Cache key. Epoch and data version change with the data, which makes outdated replies
/// unreachable.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Key {
    tool: ToolIndex,
    /// Who shares the reply: a caller's partition, a tenant, or empty for all callers.
    sharers: String,
    input: Fingerprint,
    epoch: (u64, u64),
    lang: Lang,
}

/// Hashes the fingerprint's prefix, which is uniformly distributed, and not the partition: callers
/// that ask the same question are few.
impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.input.seed());
        state.write_usize(self.tool.0);
    }
}

/// Size-bounded reply cache.
pub struct ReplyCache {
    replies: Cache<Key, Arc<CachedReply>, RandomState>,
}

impl ReplyCache {
    pub(crate) fn new(max_bytes: u64) -> Self {
        let weigh = |_: &Key, kept: &Arc<CachedReply>| {
            u32::try_from(kept.bytes + OVERHEAD_BYTES).unwrap_or(u32::MAX)
        };
        Self {
            replies: Cache::builder()
                .max_capacity(max_bytes)
                .weigher(weigh)
                .time_to_live(MAX_CACHE_AGE)
                .build_with_hasher(RandomState::default()),
        }
    }
}

/// Returns a fresh cached reply, or computes and caches one.
pub(super) async fn cached_or_computed(call: &Call) -> Result<Outcome, Arc<ToolError>> {
    let ttl = match call.authority {
        // A cached reply may be of the caller's tenant.
        Authority::SharedItems => None,
        Authority::Granted | Authority::NeedsConsent => call.entry().spec.cache.ttl(),
    };
    let Some(ttl) = ttl else {
        return Ok(Outcome::computed(execute::handle(call).await?, CacheUse::None));
    };
    let replies = &call.kernel.cache.replies;
    let key = key_of(call);
    // The kernel's clock decides freshness; moka's expiry only bounds memory.
    let fresh = |reply: &CachedReply| call.started.saturating_sub(reply.computed_at) < ttl;
    if let Some(reply) = replies.get(&key).await {
        if fresh(&reply) {
            return Ok(Outcome::shared(reply, CacheUse::Hit));
        }
        replies.invalidate(&key).await;
    }
    // Boxed: moka's future has thousands of bytes and would enlarge the future of every call.
    Box::pin(compute_once(call, key)).await
}

/// Single flight: concurrent identical queries share one execution.
async fn compute_once(call: &Call, key: Key) -> Result<Outcome, Arc<ToolError>> {
    let ran = AtomicBool::new(false);
    let reply = call
        .kernel
        .cache
        .replies
        .try_get_with(key, async {
            ran.store(true, Ordering::Relaxed);
            match execute::handle(call).await {
                Ok(reply) if reply.is_shared => Err(NotCached::Shared(Arc::new(reply))),
                Ok(reply) => Ok(Arc::new(reply)),
                Err(error) => Err(NotCached::Failed(Arc::new(error))),
            }
        })
        .await;
    let cache = if ran.load(Ordering::Relaxed) { CacheUse::Miss } else { CacheUse::Hit };
    match reply {
        Ok(reply) => Ok(Outcome::shared(reply, cache)),
        Err(not_cached) => match &*not_cached {
            NotCached::Shared(reply) => Ok(Outcome::shared(Arc::clone(reply), CacheUse::None)),
            NotCached::Failed(error) => Err(Arc::clone(error)),
        },
    }
}

/// A result that is not stored.
enum NotCached {
    /// It is from data that another tenant shares, and ends with the share.
    Shared(Arc<CachedReply>),
    Failed(Arc<ToolError>),
}

fn key_of(call: &Call) -> Key {
    let caller = &call.cx.caller;
    let sharers = match call.entry().spec.cache {
        CachePolicy::Shared(_) => String::new(),
        CachePolicy::Tenant(_) => call.tenant().as_str().to_owned(),
        CachePolicy::For(_) | CachePolicy::Never => caller.partition.clone(),
    };
    Key {
        tool: call.tool,
        sharers,
        input: call.fingerprint,
        epoch: call.kernel.epoch(call.entry(), caller),
        lang: call.cx.lang,
    }
}
