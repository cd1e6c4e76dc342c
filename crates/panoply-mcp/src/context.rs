//! Builds the contract's [`CallContext`] from a request.
//!
//! The transport alone determines the caller; nothing in `_meta` can change it. The client sets
//! the rest: trace, language, dry run, idempotency key.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::request::Parts;
use panoply_contract::consent::Elicitor;
use panoply_contract::context::{CallContext, Caller, Lang};
use panoply_contract::ids::TraceId;
use panoply_contract::mutation::MAX_KEY_BYTES;
use rmcp::model::{
    ErrorData, Implementation, InitializeRequestParams, JsonObject, ProtocolVersion,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::elicit;
use crate::elicit::round_trip::RoundTrip;
use crate::logging::SessionLevel;
use crate::server::Inner;
use crate::transport::tool_call;

/// Transport of a request.
pub(crate) enum Surface {
    /// Newline-delimited JSON; the peer acts as the local caller.
    Lines(Session),
    /// HTTP; each request is authenticated.
    Http,
}

/// State of a stdio session.
#[derive(Clone, Default)]
pub(crate) struct Session {
    /// Log level requested by the client.
    pub(crate) level: SessionLevel,
    /// Cancelled when the session ends. rmcp then sends only replies.
    pub(crate) ending: CancellationToken,
    /// Present only for versions before 2026-07-28.
    handshake: Arc<Mutex<Option<Arc<Handshake>>>>,
}

/// Parts of the handshake that later calls need.
pub(crate) struct Handshake {
    agent: Agent,
    version: ProtocolVersion,
    supports_forms: bool,
}

/// Name and version of the client program.
#[derive(Clone)]
pub(crate) struct Agent {
    name: String,
    version: String,
}

impl From<Implementation> for Agent {
    fn from(client: Implementation) -> Self {
        Self { name: truncated(client.name), version: truncated(client.version) }
    }
}

impl Session {
    /// Records the handshake with the negotiated version.
    pub(crate) fn record_handshake(&self, params: InitializeRequestParams) {
        let supports_forms = elicit::supports_forms(&params.capabilities);
        let (agent, version) = (params.client_info.into(), params.protocol_version);
        *self.handshake.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Arc::new(Handshake { agent, version, supports_forms }));
    }

    pub(crate) fn has_handshake(&self) -> bool {
        self.handshake.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Whether the client announced elicitation.
    pub(crate) fn supports_forms(&self) -> bool {
        let handshake = self.handshake.lock().unwrap_or_else(PoisonError::into_inner);
        handshake.as_ref().is_some_and(|handshake| handshake.supports_forms)
    }

    fn handshake(&self) -> Option<Arc<Handshake>> {
        self.handshake.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Client, protocol version and metadata of one request.
pub(crate) struct RequestInfo<'a> {
    pub(crate) meta: Option<&'a JsonObject>,
    /// Head of the HTTP request, with the extensions of the layers.
    pub(crate) parts: Option<&'a Parts>,
    pub(crate) client: Option<Agent>,
    pub(crate) version: Option<ProtocolVersion>,
    pub(crate) cancel: CancellationToken,
    /// Channel for questions to the user.
    pub(crate) elicitor: Option<Arc<dyn Elicitor>>,
    /// The same for versions with multi-round-trip elicitation.
    pub(crate) round_trip: Option<Arc<RoundTrip>>,
}

impl<'a> RequestInfo<'a> {
    /// Extracts the information from an rmcp request.
    pub(crate) fn of(request: &'a RequestContext<RoleServer>) -> Self {
        let parts = parts(request);
        // For stateless HTTP rmcp inserts itself as the client.
        let client =
            if parts.is_some() { request.meta.client_info() } else { request.client_info() };
        Self {
            meta: Some(&request.meta),
            parts,
            client: client.map(Agent::from),
            version: request.protocol_version(),
            cancel: request.ct.child_token(),
            elicitor: None,
            round_trip: None,
        }
    }

    /// Builds the information for a call on the fast path, from the handshake of a stdio session or
    /// from HTTP headers.
    pub(crate) fn of_call(
        surface: &Surface,
        meta: Option<&'a JsonObject>,
        parts: Option<&'a Parts>,
        cancel: CancellationToken,
        elicitor: Option<Arc<dyn Elicitor>>,
    ) -> Self {
        let (client, version) = match surface {
            Surface::Lines(session) => {
                session.handshake().map(|peer| (peer.agent.clone(), peer.version.clone())).unzip()
            }
            Surface::Http => (None, parts.and_then(tool_call::stated_version)),
        };
        Self { meta, parts, client, version, cancel, elicitor, round_trip: None }
    }

    fn header(&self, name: &str) -> Option<&'a str> {
        self.parts?.headers.get(name)?.to_str().ok()
    }

    /// Returns the client program: as announced, else from `User-Agent`.
    fn agent(&mut self) -> Option<Agent> {
        if let Some(client) = self.client.take() {
            return Some(client);
        }
        let product = self.header("user-agent")?.split_whitespace().next()?;
        let (name, version) = product.split_once('/').unwrap_or((product, ""));
        Some(Agent { name: truncated(name.to_owned()), version: truncated(version.to_owned()) })
    }
}

/// Client names are truncated before they enter logs and audit rows.
const MAX_NAME_CHARS: usize = 100;

/// Returns the caller of a request.
pub(crate) fn caller(server: &Inner, parts: Option<&Parts>) -> Result<Caller, ErrorData> {
    match &server.surface {
        Surface::Lines(_) => Ok(server.local.clone()),
        Surface::Http => {
            parts.and_then(|parts| parts.extensions.get::<Caller>()).cloned().ok_or_else(|| {
                // Unreachable: the authentication layer precedes every route.
                tracing::error!("HTTP request without an authenticated caller");
                ErrorData::internal_error("the server failed to answer this request", None)
            })
        }
    }
}

/// Builds the context of one call.
pub(crate) fn of_call(server: &Inner, mut info: RequestInfo<'_>) -> Result<CallContext, ErrorData> {
    let value = |key: &str| info.meta.and_then(|meta| meta.get(key));
    let meta = |key: &str| value(key).and_then(Value::as_str);
    let trace_id = meta("traceparent")
        .and_then(TraceId::from_traceparent)
        .or_else(|| info.header("traceparent").and_then(TraceId::from_traceparent))
        .unwrap_or_else(|| TraceId::new(Uuid::new_v4()));
    let mut cx = CallContext::local(Arc::clone(server.kernel.clock()), trace_id);
    cx.caller = caller(server, info.parts)?;
    cx.correlation_id = meta("panoply/correlationId")
        .or_else(|| info.header("x-correlation-id"))
        .and_then(TraceId::parse)
        .unwrap_or(trace_id);
    let locale = meta("openai/locale");
    cx.lang = locale.map_or(server.kernel.settings().lang, Lang::of_locale);
    cx.lang_is_default = locale.is_none();
    cx.dry_run = value("panoply/dryRun") == Some(&Value::Bool(true));
    cx.idempotency_key = idempotency_key(value("panoply/idempotencyKey"))?;
    if let Some(Agent { name, version }) = info.agent() {
        cx.agent_id = name;
        cx.agent_version = version;
    }
    let transport = match server.surface {
        Surface::Lines(_) => "stdio",
        Surface::Http => "http",
    };
    cx.metadata.insert("transport".to_owned(), transport.into());
    if let Some(version) = info.version {
        cx.metadata.insert("protocolVersion".to_owned(), version.as_str().into());
    }
    cx.cancel = info.cancel;
    cx.elicitor = info.elicitor;
    Ok(cx)
}

impl Surface {
    /// Sends a notification; stops waiting at the timeout or when the session ends.
    pub(crate) async fn deliver(&self, timeout: Duration, sending: impl Future<Output = ()>) {
        let ending = match self {
            Self::Lines(session) => session.ending.clone(),
            Self::Http => CancellationToken::new(),
        };
        tokio::select! {
            biased;
            () = sending => {}
            () = ending.cancelled() => {}
            () = tokio::time::sleep(timeout) => {}
        }
    }
}

/// Tenant partition of an HTTP request.
pub(crate) fn partition(parts: &Parts) -> Option<String> {
    parts.extensions.get::<Caller>().map(|caller| caller.partition.clone())
}

/// Head of the HTTP request, with the extensions of the layers.
pub(crate) fn parts(request: &RequestContext<RoleServer>) -> Option<&Parts> {
    request.extensions.get::<Parts>()
}

/// An invalid key must not be ignored: a retry would repeat the mutation.
fn idempotency_key(value: Option<&Value>) -> Result<Option<String>, ErrorData> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(key)) if (1..=MAX_KEY_BYTES).contains(&key.len()) => {
            Ok(Some(key.clone()))
        }
        Some(_) => {
            let message = format!(
                "`_meta[\"panoply/idempotencyKey\"]` must be a string of 1 to {MAX_KEY_BYTES} bytes"
            );
            Err(ErrorData::invalid_params(message, None))
        }
    }
}

fn truncated(name: String) -> String {
    if name.len() <= MAX_NAME_CHARS { name } else { name.chars().take(MAX_NAME_CHARS).collect() }
}
