//! The one way to a handler. [`call`] and [`answer`] show the order of every step; read them
//! top to bottom. Authorisation stands before the cache, so that a kept reply can never reach
//! someone who may not see it.

mod cache;
mod execute;
mod finish;
mod idempotency;
mod limits;
mod reading;
mod turns;
mod validate;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

pub use self::cache::ReplyCache;
pub(crate) use self::execute::guarded;
pub use self::idempotency::{
    Begun, IdempotencyKey, IdempotencyStore, KEY_LIFETIME, MemoryIdempotencyStore, StoredReply,
};
pub use self::limits::Throttle;
pub(crate) use self::reading::{Reading, recorded};
pub(crate) use self::turns::Turns;
use crate::audit::Fingerprint;
use crate::context::CallContext;
use crate::dialect::{Envelope, Fault};
use crate::error::ToolError;
use crate::json::Json;
use crate::kernel::{Kernel, Scope};
use crate::meters::CacheUse;
use crate::observe::CallStarted;
use crate::registry::ToolEntry;
use crate::reply::Notes;

/// What a caller asks for.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// A tool's name or alias.
    pub tool: &'a str,
    /// Its arguments.
    pub input: Value,
    /// Which packs the caller's connection sees.
    pub scope: &'a Scope,
}

/// Calls a tool: the life of every request, whatever surface it came by.
pub async fn call(kernel: &Kernel, request: Request<'_>, cx: CallContext) -> Envelope {
    let started = kernel.world.clock.monotonic();
    let Some(entry) = kernel.resolve(request.tool, request.scope) else {
        return unknown_tool(kernel, &request, &cx);
    };
    let (fingerprint, input_bytes) = match Fingerprint::of(&request.input) {
        Ok(measured) => measured,
        Err(error) => return finish::refuse_unreadable(error),
    };
    let now = kernel.world.clock.now();
    let call = Call {
        kernel,
        entry,
        scope: request.scope,
        input: request.input,
        fingerprint,
        input_bytes,
        cx: Arc::new(cx),
        started,
        now,
        now_text: to_the_millisecond(now).to_string(),
    };
    call.observe_start();
    let outcome = answer(&call).await;
    finish::finish(&call, outcome).await
}

/// Finer than that nobody reads, and every reply says it three times.
fn to_the_millisecond(now: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}

/// From the size cap to the verified answer, in the order that is the contract.
async fn answer(call: &Call<'_>) -> Result<Outcome, Arc<ToolError>> {
    limits::size_cap(call)?;
    limits::not_removed(call)?;
    limits::authorise(call)?;
    limits::rate_limit(call)?;
    let input = validate::validate(call)?;
    if call.entry.spec.category.mutates() {
        idempotency::once(call, execute::handle(call, &input)).await
    } else {
        cache::remembered(call, execute::handle(call, &input)).await
    }
}

/// One call on its way.
struct Call<'a> {
    kernel: &'a Kernel,
    entry: &'a ToolEntry,
    scope: &'a Scope,
    input: Value,
    fingerprint: Fingerprint,
    input_bytes: usize,
    cx: Arc<CallContext>,
    started: Duration,
    now: Timestamp,
    /// Written in several places of a reply, and not cheap to write.
    now_text: String,
}

impl Call<'_> {
    fn observe_start(&self) {
        let started = CallStarted {
            tool: self.entry.spec.name,
            pack: self.entry.pack,
            cx: &self.cx,
            input: &self.input,
        };
        self.kernel.world.observers.iter().for_each(|observer| observer.started(&started));
    }
}

/// A verified answer.
struct Outcome {
    kept: Arc<Kept>,
    cache: CacheUse,
    replayed: bool,
}

/// What of an answer can be served again.
pub(crate) struct Kept {
    data: Json,
    notes: Notes,
    fingerprint: Fingerprint,
    bytes: usize,
    /// On the monotonic clock.
    computed_at: Duration,
}

fn unknown_tool(kernel: &Kernel, request: &Request<'_>, cx: &CallContext) -> Envelope {
    let shown: String = request.tool.chars().take(100).collect();
    let nearest = kernel.registry.nearest(request.tool, &cx.caller);
    let hint = match nearest.first() {
        Some(name) => format!("did you mean `{name}`?"),
        None => "find tools with `search-tools`, or list them with `tools/list`".to_owned(),
    };
    Envelope::Refusal {
        fault: Fault::Input,
        message: format!("unknown tool: `{shown}`"),
        data: serde_json::json!({"code": "UNKNOWN_TOOL", "hint": hint, "nearest": nearest}),
    }
}
