//! The call pipeline: the only way to invoke a handler. [`call`] lists the steps in order.
//! Authorisation precedes the cache, so that a cached reply never reaches an unauthorised caller.

mod cache;
mod consent;
mod execute;
mod finish;
mod lanes;
mod limits;
mod mutate;
mod resource_read;
mod validate;
mod wording;

use std::borrow::Cow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

pub use self::cache::ReplyCache;
pub(crate) use self::execute::{guarded, within};
use self::finish::HintsJson;
pub(crate) use self::lanes::{Lane, Lanes};
use self::limits::Authority;
pub use self::limits::{LimitCheck, LimitScope, Limiter, LocalLimiter};
pub(crate) use self::resource_read::{ResourceRead, recorded};
use crate::audit::{Audit, AuditEntry, Fingerprint};
use crate::context::CallContext;
use crate::dialect::{Envelope, Fault};
use crate::error::ToolError;
use crate::ids::CallId;
use crate::json::Json;
use crate::kernel::{Kernel, Scope};
use crate::kernel_tools;
use crate::meters::CacheUse;
use crate::mutation::Claim;
use crate::observe::CallStarted;
use crate::permission::Grants;
use crate::preferences::{self, PreferredArgument, StoredPreferences};
use crate::registry::{ToolEntry, ToolIndex};
use crate::reply::Notes;
use crate::tenant::{Tenancy, TenantId};

/// A tool call.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// A tool's name or alias.
    pub tool: &'a str,
    /// Its arguments.
    pub input: Value,
    /// Which packs the caller's connection sees.
    pub scope: &'a Scope,
}

impl<'a> Request<'a> {
    /// The call that a call of `call-tool` asks for; any other call unchanged.
    #[must_use]
    pub fn target(self, kernel: &'a Kernel) -> Self {
        kernel_tools::target(kernel, self).0
    }
}

/// Calls a tool, for every surface.
pub async fn call(kernel: &Kernel, request: Request<'_>, mut cx: CallContext) -> Envelope {
    let started = kernel.services.clock.monotonic();
    let Some(shared) = kernel.shared() else {
        return finish::internal_error(ToolError::system("the kernel is being dropped"));
    };
    let (request, entry) = kernel_tools::target(kernel, request);
    let Some(entry) = entry else { return unknown_tool(kernel, &request, &cx) };
    let preferences = kernel.preferences(&cx.caller.tenants.person).await;
    let (input, defaults) = with_preferences(kernel, entry, request.input, &preferences);
    if let Some(language) = preferences.preferences.language.filter(|_| cx.lang_is_default) {
        cx.lang = language.into();
    }
    let (fingerprint, input_bytes) = match Fingerprint::of(&input) {
        Ok(measured) => measured,
        Err(error) => return finish::internal_error(error),
    };
    let now = kernel.services.clock.now();
    cx.call_id = kernel.call_id(entry);
    let mut call = Call {
        tool: entry.index,
        kernel: shared,
        scope: request.scope.clone(),
        input,
        defaults,
        preferences,
        corrected_input: None,
        fingerprint,
        input_bytes,
        call_id: cx.call_id,
        trace_text: cx.trace_id.to_text(),
        cx: Arc::new(cx),
        started,
        now,
        now_text: truncate_to_millisecond(now).to_string(),
        authority: Authority::Granted,
    };
    call.observe_start();
    let admitted = admit(&mut call).await;
    let call = Arc::new(call);
    let outcome = match admitted {
        Ok(claim) => answer(&call, claim).await,
        Err(error) => Err(Arc::new(error)),
    };
    finish::finish(&call, outcome).await
}

/// The input with the preferences of the caller as defaults, and the arguments added.
fn with_preferences(
    kernel: &Kernel,
    entry: &ToolEntry,
    mut input: Value,
    stored: &StoredPreferences,
) -> (Value, Vec<PreferredArgument>) {
    let pack = kernel.registry.pack_of(entry);
    let arguments = pack.map_or(&[] as &[PreferredArgument], |pack| pack.preferred_arguments);
    let defaults = preferences::apply(arguments, entry.spec.name, &stored.preferences, &mut input);
    (input, defaults)
}

/// Timestamps appear three times in each reply; millisecond precision keeps them short.
fn truncate_to_millisecond(now: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}

/// Checks before the handler, in the order of the contract.
async fn admit(call: &mut Call) -> Result<Option<Claim>, ToolError> {
    limits::size_cap(call)?;
    limits::not_removed(call)?;
    call.authority = limits::authorise(call)?;
    limits::rate_limit(call).await?;
    if let Cow::Owned(corrected) = validate::validate(call)? {
        call.corrected_input = Some(corrected);
    }
    if call.entry().spec.category.mutates() { mutate::admit(call) } else { Ok(None) }
}

/// Runs the handler within its deadline, in a lane if it may block, and verifies the result.
async fn answer(call: &Arc<Call>, claim: Option<Claim>) -> Result<Outcome, Arc<ToolError>> {
    let (call, claim) = if call.authority == Authority::NeedsConsent {
        // Boxed, like the lane below: the future of a call has the size of its largest branch.
        match Box::pin(consent::obtain(call, claim)).await? {
            consent::Obtained::Replay(outcome) => return Ok(outcome),
            consent::Obtained::Consent(call, claim) => (call, claim),
        }
    } else {
        (Arc::clone(call), claim)
    };
    let spec = call.entry().spec;
    let Some(lane) = call.kernel.lane(call.entry()) else {
        return within(&call.cx, spec.name, spec.deadline(), cache::cached_or_computed(&call))
            .await;
    };
    let work = Box::pin(work(Arc::clone(&call), claim));
    let in_lane = Box::pin(async { lane.run(work).await? });
    within(&call.cx, spec.name, spec.deadline(), in_lane).await
}

/// Work of a lane: a mutation once per idempotency key, a query through the cache.
async fn work(call: Arc<Call>, claim: Option<Claim>) -> Result<Outcome, Arc<ToolError>> {
    if call.entry().spec.category.mutates() {
        mutate::once(&call, claim).await
    } else {
        cache::cached_or_computed(&call).await
    }
}

/// State of a call, shared with the handler's thread, which may outlive the caller.
#[derive(Clone)]
struct Call {
    kernel: Arc<Kernel>,
    tool: ToolIndex,
    scope: Scope,
    /// The arguments, with defaults from the preferences.
    input: Value,
    defaults: Vec<PreferredArgument>,
    preferences: Arc<StoredPreferences>,
    /// The normalised input, if it differs from `input`.
    corrected_input: Option<Value>,
    fingerprint: Fingerprint,
    input_bytes: usize,
    /// Set for mutations.
    call_id: Option<CallId>,
    cx: Arc<CallContext>,
    /// Formatted once, like `now_text`.
    trace_text: String,
    started: Duration,
    now: Timestamp,
    /// Formatted once: it appears several times in a reply.
    now_text: String,
    /// Why the caller may do it.
    authority: Authority,
}

impl Call {
    fn entry(&self) -> &ToolEntry {
        self.kernel.registry.at(self.tool)
    }

    /// Whose data the tool's pack uses for this call.
    fn tenant(&self) -> TenantId {
        let pack = self.kernel.registry.pack_of(self.entry());
        let tenancy = pack.map_or_else(Tenancy::default, |pack| pack.tenancy);
        tenancy.tenant(&self.cx.caller.tenants)
    }

    /// The normalised arguments.
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
        self.kernel.services.observers.iter().for_each(|observer| observer.started(&started));
    }

    fn audit_entry(&self, audit: Audit, error: Option<&ToolError>, mutation: bool) -> AuditEntry {
        let spec = self.entry().spec;
        AuditEntry {
            call_id: self.call_id.filter(|_| mutation),
            at: self.now,
            tool: spec.name.into(),
            tool_version: spec.version.into(),
            partition: self.cx.caller.partition.clone(),
            agent_id: self.cx.agent_id.clone(),
            trace_id: self.trace_text.clone(),
            provenance: self.cx.caller.provenance.clone(),
            count: 1,
            audit,
            error_code: error.map(|error| error.code.to_string()),
            mutation,
        }
    }
}

/// A verified result.
struct Outcome {
    reply: Arc<CachedReply>,
    cache: CacheUse,
    replayed: bool,
    /// Audit of a mutation whose row is already in the log.
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

/// The cacheable part of a result.
pub(crate) struct CachedReply {
    data: Json,
    notes: Notes,
    /// Hashes for the audit, as text: a cache hit needs both again.
    in_hash: Arc<str>,
    out_hash: Arc<str>,
    bytes: usize,
    /// On the monotonic clock.
    computed_at: Duration,
    hints: Mutex<Option<CachedHints>>,
    /// Whether it is from data that another tenant shares; such a reply is not cached.
    is_shared: bool,
}

/// Serialised hints with what they depend on besides the reply.
struct CachedHints {
    second: i64,
    scope: Scope,
    grants: Grants,
    preferences: Arc<StoredPreferences>,
    json: HintsJson,
}

fn unknown_tool(kernel: &Kernel, request: &Request<'_>, cx: &CallContext) -> Envelope {
    let shown: String = request.tool.chars().take(100).collect();
    let similar = kernel.registry.suggest_similar(request.tool, &cx.caller);
    let hint = match similar.first() {
        Some(name) => format!("did you mean `{name}`?"),
        None => "find tools with `search-tools`, or list them with `tools/list`".to_owned(),
    };
    Envelope::Refusal {
        fault: Fault::Input,
        message: format!("unknown tool: `{shown}`"),
        data: serde_json::json!({"code": "UNKNOWN_TOOL", "hint": hint, "nearest": similar}),
    }
}
