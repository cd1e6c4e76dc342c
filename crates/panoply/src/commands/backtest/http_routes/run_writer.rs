//! Write access to runs over HTTP: one writer per run, audit records, and refusals.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use panoply_backtest::error::LogError;
use panoply_backtest::event::Guid;
use panoply_backtest::store::Store;
use panoply_backtest::store::memory::MemoryStore;
use panoply_backtest::timestamp::Timestamp;
use panoply_contract::context::{CallContext, Caller};
use panoply_contract::error::{ErrorKind, ToolError};
use panoply_contract::ids::TraceId;
use panoply_contract::kernel::Kernel;
use panoply_contract::operation::{Operation, OperationSpec};
use panoply_contract::pack::Growth;
use panoply_contract::tenant::TenantId;
use panoply_store::tenants::TenantStore;
use panoply_store::{Home, TenantStores};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::super::priority;
use crate::stores;

/// Concurrent streams; each may hold a batch of 8 MiB and a line of 4 MiB.
const MAX_STREAMS: usize = 32;
/// Concurrent streams of a tenant other than the local one, so that one cannot keep the others out.
const MAX_STREAMS_PER_TENANT: usize = 8;

/// Shared state of the routes that write runs.
pub(crate) struct RunWriter {
    pub(crate) stores: Arc<RunStores>,
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) stop: CancellationToken,
    pub(crate) writing: Arc<Mutex<BTreeSet<(TenantId, Guid)>>>,
}

/// The runs of each workspace, opened on first use.
pub(crate) struct RunStores {
    home: Option<Home>,
    open: TenantStores<OpenStore>,
    /// Runs of a server without a home, where nothing can be written.
    none: Arc<MemoryStore>,
}

struct OpenStore(Arc<dyn Store>);

impl TenantStore for OpenStore {
    fn in_use(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}

impl RunStores {
    pub(crate) fn new(home: Option<Home>, capacity: usize) -> Self {
        Self { home, open: TenantStores::new(capacity), none: Arc::default() }
    }

    /// Closes the runs of erased tenants.
    pub(crate) fn close_erased(&self) {
        let Some(home) = &self.home else { return };
        for tenant in self.open.tenants().iter().filter(|tenant| home.is_erased(tenant)) {
            // While a request uses them, a later attempt closes them.
            let _in_use = self.open.close(tenant);
        }
    }

    /// The runs of a caller's workspace. Blocks on the store.
    fn of(&self, caller: &Caller) -> Result<Arc<dyn Store>, Refusal> {
        let Some(home) = &self.home else { return Ok(Arc::clone(&self.none) as Arc<dyn Store>) };
        let tenant = &caller.tenants.workspace;
        let opened = self.open.get(tenant, || {
            if home.is_erased(tenant) {
                return Err(());
            }
            let runs = stores::runs(&home.tenant(tenant), tenant);
            // The pack reports the error in detail.
            runs.map(|runs| Arc::new(OpenStore(runs.store))).map_err(|_| ())
        });
        opened.map(|store| Arc::clone(&store.0)).map_err(|()| {
            let why = "the runs of this server cannot be opened; see `/readyz`".to_owned();
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "PACK_DAMAGED", why)
        })
    }
}

/// Exclusive write access to a run, released on drop.
pub(crate) struct WriteLease {
    run: (TenantId, Guid),
    writing: Arc<Mutex<BTreeSet<(TenantId, Guid)>>>,
}

impl Drop for WriteLease {
    fn drop(&mut self) {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.run);
    }
}

impl RunWriter {
    /// Begins an audited operation: checks permission and read-only mode, and records an intent
    /// that survives a crash. Returns it with the runs of the caller's workspace. An operation with
    /// a `growth` adds data to the run and needs room in the quota.
    pub(super) async fn begin(
        self: &Arc<Self>,
        spec: &'static OperationSpec,
        caller: Caller,
        (id, input): (Guid, Value),
        growth: Option<Growth>,
    ) -> Result<(Operation, Arc<dyn Store>), Refusal> {
        let own = Arc::clone(self);
        let begun = tokio::task::spawn_blocking(move || {
            let trace = TraceId::new(uuid::Uuid::new_v4());
            let mut cx = CallContext::local(Arc::clone(own.kernel.clock()), trace);
            cx.caller = caller;
            cx.agent_id = "http".to_owned();
            let store = own.stores.of(&cx.caller)?;
            if let Some(growth) = growth {
                let exists = growth == Growth::Item && store.run(id)?.is_some();
                let growth = if exists { Growth::Bytes } else { growth };
                own.kernel.check_quota("backtest", &cx.caller, growth).map_err(Refusal::of_gate)?;
            }
            let input = json!({"runId": id.to_string(), "input": input});
            let operation = own.kernel.begin(spec, &cx, &input).map_err(Refusal::of_gate)?;
            Ok((operation, store))
        });
        match begun.await {
            Ok(begun) => begun,
            Err(error) => {
                tracing::error!(%error, "an operation could not begin");
                Err(Refusal::broken())
            }
        }
    }

    /// Refuses when the quota of the caller's workspace has no room.
    pub(super) async fn check_quota(
        self: &Arc<Self>,
        caller: &Caller,
        growth: Growth,
    ) -> Result<(), Refusal> {
        let (own, caller) = (Arc::clone(self), caller.clone());
        let checked = tokio::task::spawn_blocking(move || {
            own.kernel.check_quota("backtest", &caller, growth)
        });
        checked.await.map_or_else(|_| Err(Refusal::broken()), |room| room.map_err(Refusal::of_gate))
    }

    /// The runs of the caller's workspace.
    pub(super) async fn store(self: &Arc<Self>, caller: Caller) -> Result<Arc<dyn Store>, Refusal> {
        let own = Arc::clone(self);
        let opened = tokio::task::spawn_blocking(move || own.stores.of(&caller));
        opened.await.unwrap_or_else(|error| {
            tracing::error!(%error, "the runs of a workspace could not be opened");
            Err(Refusal::broken())
        })
    }

    /// Checks the permission and parses the run id.
    pub(super) fn authorize(
        &self,
        caller: &Caller,
        permission: &str,
        id: &str,
    ) -> Result<Guid, Refusal> {
        if !caller.grants.allow(permission) {
            let said = format!("this needs the permission `{permission}`");
            return Err(Refusal::new(StatusCode::FORBIDDEN, "FORBIDDEN", said));
        }
        Guid::parse(id).ok_or_else(|| {
            let shown: String = id.chars().take(60).collect();
            Refusal::invalid(format!("`{shown}` is not a GUID"))
        })
    }

    /// Acquires the write lease of a run.
    pub(super) fn lease(&self, workspace: &TenantId, id: Guid) -> Result<WriteLease, Refusal> {
        let run = (workspace.clone(), id);
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if writing.len() >= MAX_STREAMS {
            let said = format!("{MAX_STREAMS} runs are being written already");
            return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "BUSY", said).later());
        }
        let of_tenant = writing.iter().filter(|(tenant, _)| tenant == workspace).count();
        if of_tenant >= MAX_STREAMS_PER_TENANT && !workspace.is_local() {
            let said = format!("{MAX_STREAMS_PER_TENANT} runs of yours are being written already");
            return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, "BUSY", said).later());
        }
        if !writing.insert(run.clone()) {
            return Err(Refusal::other_writer());
        }
        Ok(WriteLease { run, writing: Arc::clone(&self.writing) })
    }

    pub(super) fn now(&self) -> Timestamp {
        let nanos = self.kernel.clock().now().as_nanosecond();
        Timestamp::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX))
    }
}

/// Ends an operation. The reply must be sent only afterwards.
pub(super) async fn finish(
    operation: Operation,
    output: &Value,
    error_code: Option<&str>,
) -> Result<(), Refusal> {
    operation.finish(output, error_code).await.map_err(|error| {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "AUDIT_FAILED", error.message)
    })
}

/// Runs the work in its own task, so that a disconnect cannot interrupt it before it is recorded.
pub(super) async fn run_detached(
    work: impl Future<Output = Result<Response, Refusal>> + Send + 'static,
) -> Response {
    match tokio::spawn(work).await {
        Ok(done) => done.unwrap_or_else(Refusal::into_response),
        Err(error) => {
            tracing::error!(%error, "work on a run failed");
            Refusal::broken().into_response()
        }
    }
}

/// Runs store work on the blocking pool.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, LogError> + Send + 'static,
) -> Result<T, Refusal> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(Refusal::from),
        Err(error) => {
            tracing::error!(%error, "work on a run failed");
            Err(Refusal::broken())
        }
    }
}

/// Runs long store work on a low-priority thread.
pub(super) async fn blocking_low_priority<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, LogError> + Send + 'static,
) -> Result<T, Refusal> {
    let broken = |error: &dyn std::fmt::Display| {
        tracing::error!(%error, "work on a run failed");
        Refusal::broken()
    };
    let done = priority::spawn_low(work).map_err(|error| broken(&error))?;
    done.await.map_err(|error| broken(&error))?.map_err(Refusal::from)
}

/// HTTP error of a refused request.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    code: &'static str,
    message: String,
    hint: Option<&'static str>,
    later: bool,
}

impl Refusal {
    pub(super) const fn new(status: StatusCode, code: &'static str, message: String) -> Self {
        Self { status, code, message, hint: None, later: false }
    }

    /// Maps the kernel's refusal of an operation.
    fn of_gate(error: ToolError) -> Self {
        if error.kind == ErrorKind::Forbidden {
            let code = if error.code == "READ_ONLY" { "READ_ONLY" } else { "FORBIDDEN" };
            return Self::new(StatusCode::FORBIDDEN, code, error.message);
        }
        if error.code == "QUOTA_EXCEEDED" {
            return Self::new(StatusCode::FORBIDDEN, "QUOTA_EXCEEDED", error.message)
                .hint("delete runs with DELETE /backtest/runs/{id}, or ask the operator for a larger quota");
        }
        tracing::error!(cause = error.cause_chain(), "an operation could not begin");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "NOT_READY", error.message).later()
    }

    /// The stream has no start position, or skips lines.
    pub(super) fn out_of_sequence(message: String) -> Self {
        Self::new(StatusCode::CONFLICT, "OUT_OF_SEQUENCE", message)
            .hint("GET the run and send from the line after `lastSequence`, with ?sequence=LINE")
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "INVALID_PARAMETER", message.into())
    }

    pub(super) fn not_found(id: Guid) -> Self {
        Self::new(StatusCode::NOT_FOUND, "RUN_NOT_FOUND", format!("there is no run `{id}`"))
            .hint("create it with PUT /backtest/runs/{id}")
    }

    pub(super) fn coding(coding: &str) -> Self {
        let shown: String = coding.chars().take(40).collect();
        let said = format!("content encoding is not supported: `{shown}`");
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "INVALID_PARAMETER", said)
    }

    pub(super) fn stopping() -> Self {
        let said = "the server is shutting down".to_owned();
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "STOPPING", said)
            .hint("resend unacknowledged lines to the next server")
            .later()
    }

    pub(super) fn unauthorized() -> Self {
        let said = "the key or token of this stream is no longer valid".to_owned();
        Self::new(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", said)
            .hint("send the lines after `lastSequence` with a valid key")
    }

    fn broken() -> Self {
        let said = "the work on this run failed".to_owned();
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "DATABASE_ERROR", said)
    }

    fn other_writer() -> Self {
        let said = "another request is writing this run".to_owned();
        Self::new(StatusCode::CONFLICT, "RUN_BUSY", said)
            .hint("wait until it has ended; a run has one writer at a time")
            .later()
    }

    const fn hint(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }

    const fn later(mut self) -> Self {
        self.later = true;
        self
    }

    pub(super) const fn code(&self) -> &'static str {
        self.code
    }

    /// Encodes the published error shape with additional details.
    pub(super) fn json(&self, mut details: Value) -> Value {
        if let (Some(hint), Some(details)) = (self.hint, details.as_object_mut()) {
            details.insert("hint".to_owned(), hint.into());
        }
        json!({"error": {"code": self.code, "message": self.message, "details": details}})
    }

    pub(super) fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.json(json!({})))).into_response();
        if self.later {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

impl From<LogError> for Refusal {
    fn from(error: LogError) -> Self {
        match &error {
            LogError::UnknownRun(id) => Self::not_found(*id),
            LogError::WrongStatus { .. } => {
                Self::new(StatusCode::CONFLICT, "RUN_COMPLETED", error.to_string())
                    .hint("a completed run accepts no events; use another id")
            }
            LogError::ConcurrentWriter => Self::other_writer(),
            LogError::Cancelled => Self::stopping(),
            LogError::TooManyEvents => Self::invalid(error.to_string()),
            LogError::Damaged(_)
            | LogError::Checksum(_)
            | LogError::MissingBlob(_)
            | LogError::OtherFormat { .. }
            | LogError::Store(_)
            | LogError::Source(_) => {
                tracing::error!(error = %error, "a run could not be written");
                let said = "the run could not be written".to_owned();
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "DATABASE_ERROR", said)
                    .hint("resend unacknowledged lines")
            }
        }
    }
}
