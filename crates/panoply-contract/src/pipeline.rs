//! The one way to a handler. [`call`] shows the order of every step; read it top to bottom.
//! Authorisation stands before the cache, so that a cached reply can never reach someone who may
//! not see it.

mod cache;
mod consent;
mod execute;
mod finish;
mod lanes;
mod limits;
mod mutate;
mod reading;
mod validate;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

pub use self::cache::ReplyCache;
pub(crate) use self::execute::{guarded, within};
pub(crate) use self::lanes::{Lane, Lanes};
use self::limits::Authority;
pub use self::limits::Throttle;
pub(crate) use self::reading::{Reading, recorded};
use crate::audit::{Audit, AuditEntry, Fingerprint};
use crate::context::CallContext;
use crate::dialect::{Envelope, Fault};
use crate::error::ToolError;
use crate::ids::CallId;
use crate::json::Json;
use crate::kernel::{Kernel, Scope};
use crate::meters::CacheUse;
use crate::mutation::Claim;
use crate::observe::CallStarted;
use crate::registry::{ToolEntry, ToolIndex};
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
    let Some(shared) = kernel.shared() else {
        return finish::refuse_unreadable(ToolError::system("the kernel is being dropped"));
    };
    let Some(entry) = kernel.resolve(request.tool, request.scope) else {
        return unknown_tool(kernel, &request, &cx);
    };
    let (fingerprint, input_bytes) = match Fingerprint::of(&request.input) {
        Ok(measured) => measured,
        Err(error) => return finish::refuse_unreadable(error),
    };
    let now = kernel.world.clock.now();
    let mut call = Call {
        tool: entry.index,
        kernel: shared,
        scope: request.scope.clone(),
        input: request.input,
        corrected_input: None,
        fingerprint,
        input_bytes,
        call_id: kernel.call_id(entry, &cx),
        cx: Arc::new(cx),
        started,
        now,
        now_text: to_the_millisecond(now).to_string(),
        needs_consent: false,
    };
    call.observe_start();
    let admitted = admit(&mut call);
    let call = Arc::new(call);
    let outcome = match admitted {
        Ok(claim) => answer(&call, claim).await,
        Err(error) => Err(Arc::new(error)),
    };
    finish::finish(&call, outcome).await
}

/// Finer than that nobody reads, and every reply says it three times.
fn to_the_millisecond(now: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}

/// The gates before the handler, in the order that is the contract.
fn admit(call: &mut Call) -> Result<Option<Claim>, ToolError> {
    limits::size_cap(call)?;
    limits::not_removed(call)?;
    call.needs_consent = limits::authorise(call)? == Authority::NeedsConsent;
    limits::rate_limit(call)?;
    if let Cow::Owned(corrected) = validate::validate(call)? {
        call.corrected_input = Some(corrected);
    }
    if call.entry().spec.category.mutates() { mutate::admit(call) } else { Ok(None) }
}

/// The verified answer: where the handler may block, in a lane; always within its deadline.
async fn answer(call: &Arc<Call>, claim: Option<Claim>) -> Result<Outcome, Arc<ToolError>> {
    let (call, claim) = if call.needs_consent {
        // Boxed, as is the lane below: a call carries the size of its largest branch.
        match Box::pin(consent::obtain(call, claim)).await? {
            consent::Obtained::Replay(outcome) => return Ok(outcome),
            consent::Obtained::Consent(call, claim) => (call, claim),
        }
    } else {
        (Arc::clone(call), claim)
    };
    let spec = call.entry().spec;
    let Some(lane) = call.kernel.lane(call.entry()) else {
        return within(&call.cx, spec.name, spec.deadline(), cache::remembered(&call)).await;
    };
    let work = Box::pin(work(Arc::clone(&call), claim));
    let in_lane = Box::pin(async { lane.run(work).await? });
    within(&call.cx, spec.name, spec.deadline(), in_lane).await
}

/// What a lane runs: a mutation once for its key, a query through the cache.
async fn work(call: Arc<Call>, claim: Option<Claim>) -> Result<Outcome, Arc<ToolError>> {
    if call.entry().spec.category.mutates() {
        mutate::once(&call, claim).await
    } else {
        cache::remembered(&call).await
    }
}

/// One call on its way. It is shared with the thread of its handler, which may outlive the caller.
#[derive(Clone)]
struct Call {
    kernel: Arc<Kernel>,
    tool: ToolIndex,
    scope: Scope,
    input: Value,
    /// The input without what a lenient reading leaves out, where that differs.
    corrected_input: Option<Value>,
    fingerprint: Fingerprint,
    input_bytes: usize,
    /// For mutations.
    call_id: Option<CallId>,
    cx: Arc<CallContext>,
    started: Duration,
    now: Timestamp,
    /// Written in several places of a reply, and not cheap to write.
    now_text: String,
    /// The caller lacks a permission that a person's consent can stand in for.
    needs_consent: bool,
}

impl Call {
    fn entry(&self) -> &ToolEntry {
        self.kernel.registry.at(self.tool)
    }

    /// The arguments as the handler gets them.
    fn arguments(&self) -> &Value {
        self.corrected_input.as_ref().unwrap_or(&self.input)
    }

    fn observe_start(&self) {
        let started = CallStarted {
            tool: self.entry().spec.name,
            pack: self.entry().pack,
            cx: &self.cx,
            input: &self.input,
        };
        self.kernel.world.observers.iter().for_each(|observer| observer.started(&started));
    }

    fn audit_entry(&self, audit: Audit, error: Option<&ToolError>, mutation: bool) -> AuditEntry {
        let spec = self.entry().spec;
        AuditEntry {
            call_id: self.call_id.filter(|_| mutation),
            at: self.now,
            tool: spec.name.to_owned(),
            tool_version: spec.version.to_owned(),
            partition: self.cx.caller.partition.clone(),
            agent_id: self.cx.agent_id.clone(),
            trace_id: self.cx.trace_id.to_string(),
            provenance: self.cx.caller.provenance.clone(),
            count: 1,
            audit,
            error_code: error.map(|error| error.code.to_string()),
            mutation,
        }
    }
}

/// A verified answer.
struct Outcome {
    reply: Arc<CachedReply>,
    cache: CacheUse,
    replayed: bool,
    /// The audit of a mutation, whose row is in the log already.
    recorded: Option<Audit>,
}

impl Outcome {
    fn computed(reply: CachedReply, cache: CacheUse) -> Self {
        Self::shared(Arc::new(reply), cache)
    }

    const fn shared(reply: Arc<CachedReply>, cache: CacheUse) -> Self {
        Self { reply, cache, replayed: false, recorded: None }
    }
}

/// What of an answer can be served again.
pub(crate) struct CachedReply {
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
