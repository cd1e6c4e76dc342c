//! Test support for packs and surfaces: a manual clock and an in-memory kernel.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use serde_json::Value;

use crate::clock::Clock;
use crate::compliance::{self, Violation};
use crate::context::CallContext;
use crate::dialect::Envelope;
use crate::ids::TraceId;
use crate::kernel::{Kernel, KernelServices, Scope, Settings};
use crate::pack::Pack;
use crate::pipeline::{self, Request};
use crate::spec::{
    Annotations, CachePolicy, Category, Description, Example, Expect, Listing, ResponseTime,
    ToolSpec,
};

/// A valid spec as a base for variations: `ToolSpec { tags: &[], ..SAMPLE_SPEC }`.
pub const SAMPLE_SPEC: ToolSpec = ToolSpec {
    name: "get-sample",
    title: "Get a sample",
    description: Description {
        does: "Gives back what it was given, so that tests can see what a call does.",
        when: "Use this in tests only.",
        returns: "Returns the text it was given.",
        asks: &["What did I say?"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["samples:read"],
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &[],
    examples: &[Example {
        shows: "a text",
        params: r#"{"text": "hello"}"#,
        expect: Expect::Data(r#"{"text": "hello"}"#),
    }],
    tags: &["testing"],
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
};

/// A clock that advances only by [`advance`](Self::advance).
#[derive(Debug)]
pub struct FixedClock {
    start: Timestamp,
    passed_micros: AtomicU64,
    sleepers: Mutex<Vec<(Duration, tokio::sync::oneshot::Sender<()>)>>,
}

impl FixedClock {
    /// Starts at `now`.
    pub fn at(now: Timestamp) -> Arc<Self> {
        Arc::new(Self { start: now, passed_micros: AtomicU64::new(0), sleepers: Mutex::default() })
    }

    /// Advances time and wakes expired sleepers.
    pub fn advance(&self, by: Duration) {
        let micros = u64::try_from(by.as_micros()).unwrap_or(u64::MAX);
        self.passed_micros.fetch_add(micros, Ordering::SeqCst);
        let now = self.monotonic();
        let mut sleepers = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        let (awake, asleep) =
            std::mem::take(&mut *sleepers).into_iter().partition(|(until, _)| *until <= now);
        *sleepers = asleep;
        let awake: Vec<(Duration, tokio::sync::oneshot::Sender<()>)> = awake;
        for (_, wake) in awake {
            let _ = wake.send(());
        }
    }

    /// Number of pending sleepers.
    pub fn sleeping(&self) -> usize {
        let mut sleepers = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        sleepers.retain(|(_, wake)| !wake.is_closed());
        sleepers.len()
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.start + self.monotonic()
    }

    fn monotonic(&self) -> Duration {
        Duration::from_micros(self.passed_micros.load(Ordering::SeqCst))
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let (wake, woken) = tokio::sync::oneshot::channel();
        let until = self.monotonic() + duration;
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner).push((until, wake));
        Box::pin(async move {
            let _ = woken.await;
        })
    }
}

/// The default time of tests: noon UTC of the day for which examples are written.
pub fn noon() -> Timestamp {
    compliance::EXAMPLE_TIME
}

/// A kernel over these packs with in-memory logs.
pub fn kernel_in_memory(
    packs: Vec<Pack>,
    clock: Arc<dyn Clock>,
    settings: Settings,
) -> Result<Arc<Kernel>, Vec<Violation>> {
    Kernel::new(packs, KernelServices::in_memory(clock), settings)
}

/// All contract violations of a pack. Every pack has a test that calls this.
pub async fn check_pack(pack: Pack) -> Vec<Violation> {
    match kernel_in_memory(vec![pack], FixedClock::at(noon()), Settings::default()) {
        Ok(kernel) => compliance::check(&kernel).await.violations,
        Err(violations) => violations,
    }
}

/// Calls a tool as the local owner.
pub async fn call_as_owner(kernel: &Kernel, tool: &str, input: Value) -> Envelope {
    call_with(kernel, tool, input, |_| {}).await
}

/// Calls a tool as the local owner with a context modified by `change`.
pub async fn call_with(
    kernel: &Kernel,
    tool: &str,
    input: Value,
    change: impl FnOnce(&mut CallContext),
) -> Envelope {
    let trace = TraceId::new(uuid::Uuid::from_u128(0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736));
    let mut cx = CallContext::local(Arc::clone(kernel.clock()), trace);
    change(&mut cx);
    pipeline::call(kernel, Request { tool, input, scope: &Scope::All }, cx).await
}
