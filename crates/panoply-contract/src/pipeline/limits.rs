//! Checks before validation: input size, removed tools, permissions, rate limits.

use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures::future::BoxFuture;
use governor::clock::{Clock as GovernorClock, Reference};
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};

use super::Call;
use crate::clock::Clock;
use crate::error::{ErrorKind, ToolError};
use crate::kernel::{forbidden, read_only};
use crate::permission::SHARED_ITEMS;
use crate::spec::RateLimit;
use crate::tenant::TenantId;

/// Number of checks between evictions of idle callers.
const CHECKS_BETWEEN_SWEEPS: u32 = 4096;

pub(super) fn size_cap(call: &Call) -> Result<(), ToolError> {
    let most = call.kernel.settings.largest_input;
    if call.input_bytes <= most {
        return Ok(());
    }
    Err(ToolError::validation(
        "INPUT_TOO_LARGE",
        format!("the input has {} bytes, at most {most} are read", call.input_bytes),
    )
    .hint("send less at once: split the input into several calls"))
}

/// Refuses tools past their removal date and names the replacement.
pub(super) fn not_removed(call: &Call) -> Result<(), ToolError> {
    let spec = call.entry().spec;
    let Some(deprecation) = &spec.deprecated else { return Ok(()) };
    if *call.now_text < *deprecation.removal_date {
        return Ok(());
    }
    let message = format!("`{}` was removed on {}", spec.name, deprecation.removal_date);
    Err(ToolError::new(ErrorKind::Removed, "TOOL_REMOVED", message)
        .hint(format!("call `{}` instead", deprecation.replacement))
        .detail("replacement", deprecation.replacement))
}

/// Basis of an authorisation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Authority {
    /// The caller's permissions.
    Granted,
    /// User consent, which still has to be obtained.
    NeedsConsent,
    /// The permission to read what others share with the caller, and nothing else.
    SharedItems,
}

pub(super) fn authorise(call: &Call) -> Result<Authority, ToolError> {
    let (spec, caller) = (call.entry().spec, &call.cx.caller);
    if call.kernel.settings.read_only && spec.category.mutates() {
        return Err(read_only(spec.name));
    }
    if let Some(pack) = call.kernel.registry.pack_of(call.entry()) {
        pack.serves(caller)?;
    }
    if caller.grants.allow_all(spec.permissions) {
        return Ok(Authority::Granted);
    }
    let can_ask = call.cx.elicitor.is_some() && !call.cx.dry_run;
    if can_ask && call.kernel.takes_consent(call.entry(), &caller.grants) {
        return Ok(Authority::NeedsConsent);
    }
    if reads_shared_items(call) {
        return Ok(Authority::SharedItems);
    }
    let refused = forbidden(caller, spec.permissions);
    Err(match call.entry().handler.consent_rule() {
        Some(rule) => refused.hint(rule.other_ways),
        None => refused,
    })
}

/// Whether a caller without permission for the tool may still use it on shared items: a query of a
/// caller who can receive shares.
fn reads_shared_items(call: &Call) -> bool {
    let (spec, grants) = (call.entry().spec, &call.cx.caller.grants);
    let missing = grants.missing(spec.permissions);
    !spec.category.mutates()
        && !call.tenant().is_local()
        && grants.allow(SHARED_ITEMS)
        && missing.iter().all(|permission| permission.ends_with(":read"))
}

pub(super) async fn rate_limit(call: &Call) -> Result<(), ToolError> {
    let spec = call.entry().spec;
    let Some(limit) = spec.rate_limit else { return Ok(()) };
    let (limiter, name) = (&call.kernel.services.limiter, spec.name);
    let decision = match limiter.check(name, limit, call.cx.caller.limit_scope()) {
        LimitCheck::Decided(decision) => decision,
        LimitCheck::Asking(answer) => answer.await,
    };
    decision.map_err(|wait| {
        ToolError::new(
            ErrorKind::RateLimited,
            "RATE_LIMITED",
            format!("too many calls of `{name}`"),
        )
        .hint(format!("wait {} ms and call again", wait.as_millis()))
        .retry_after(wait)
    })
}

/// Whose calls count against one budget.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LimitScope<'a> {
    /// All credentials of a person together.
    Person(&'a TenantId),
    /// One credential of the local tenant, by its partition: its callers are different people.
    Credential(&'a str),
}

impl LimitScope<'_> {
    /// A text that differs from that of every other scope: partitions of the local tenant do not
    /// begin like the id of a person.
    pub fn key(&self) -> &str {
        match self {
            Self::Person(person) => person.as_str(),
            Self::Credential(partition) => partition,
        }
    }
}

/// Rate limits per person and tool. An implementation over a shared store limits all replicas
/// together.
pub trait Limiter: Send + Sync + 'static {
    /// Admits a call of a tool within a budget, or says how long to wait.
    fn check(&self, tool: &'static str, limit: RateLimit, scope: LimitScope<'_>) -> LimitCheck;
}

/// Decision of a [`Limiter`]: `Ok` admits the call, `Err` is the time to wait.
pub enum LimitCheck {
    /// Decided in this process. Not a future: most calls are decided here, without an allocation.
    Decided(Result<(), Duration>),
    /// A shared store is asked.
    Asking(BoxFuture<'static, Result<(), Duration>>),
}

/// Limits of this process. GCRA: a bucket of `max_calls` that refills evenly.
pub struct LocalLimiter {
    clock: MonotonicClock,
    tools: RwLock<HashMap<&'static str, Option<Arc<Bucket>>>>,
}

struct Bucket {
    states: RateLimiter<
        String,
        DashMapStateStore<String>,
        MonotonicClock,
        governor::middleware::NoOpMiddleware<Duration>,
    >,
    checks: AtomicU32,
}

impl LocalLimiter {
    /// Limits on this clock.
    pub fn new(clock: &Arc<dyn Clock>) -> Self {
        Self { clock: MonotonicClock(Arc::clone(clock)), tools: RwLock::default() }
    }

    fn bucket(&self, tool: &'static str, limit: RateLimit) -> Option<Arc<Bucket>> {
        let known = self.tools.read().unwrap_or_else(PoisonError::into_inner).get(tool).cloned();
        known.unwrap_or_else(|| {
            let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
            let bucket = || Bucket::new(limit, &self.clock).map(Arc::new);
            tools.entry(tool).or_insert_with(bucket).clone()
        })
    }
}

impl Limiter for LocalLimiter {
    fn check(&self, tool: &'static str, limit: RateLimit, scope: LimitScope<'_>) -> LimitCheck {
        let bucket = self.bucket(tool, limit);
        LimitCheck::Decided(bucket.map_or(Ok(()), |it| it.check(scope.key(), &self.clock)))
    }
}

impl Bucket {
    fn new(limit: RateLimit, clock: &MonotonicClock) -> Option<Self> {
        let burst = NonZeroU32::new(limit.max_calls)?;
        let quota = Quota::with_period(limit.window / limit.max_calls)?.allow_burst(burst);
        let states = RateLimiter::dashmap_with_clock(quota, clock.clone());
        Some(Self { states, checks: AtomicU32::new(0) })
    }

    fn check(&self, key: &str, clock: &MonotonicClock) -> Result<(), Duration> {
        if self.checks.fetch_add(1, Ordering::Relaxed) % CHECKS_BETWEEN_SWEEPS
            == CHECKS_BETWEEN_SWEEPS - 1
        {
            self.states.retain_recent();
        }
        let key = key.to_owned();
        self.states.check_key(&key).map_err(|not_until| not_until.wait_time_from(clock.now()))
    }
}

/// Adapter of the kernel's clock for governor.
#[derive(Clone)]
struct MonotonicClock(Arc<dyn Clock>);

impl GovernorClock for MonotonicClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.monotonic()
    }
}

impl fmt::Debug for MonotonicClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MonotonicClock")
    }
}

// Static assertion: governor accepts `Duration` as an instant.
const _: fn() = || {
    fn is_reference<T: Reference>() {}
    is_reference::<Duration>();
};
