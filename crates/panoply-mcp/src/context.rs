//! What a request says about itself, as the contract's [`CallContext`].
//!
//! Who calls is decided by the transport alone; nothing in `_meta` can change it. The rest
//! (trace, language, dry run, idempotency key) is the client's to say.

use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;
use panoply_contract::context::{CallContext, Caller, Lang};
use panoply_contract::ids::TraceId;
use rmcp::model::ErrorData;
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::logging::SessionLevel;
use crate::server::Inner;

/// Where requests come from.
pub(crate) enum Surface {
    /// Lines from the process that started us, which acts as the local owner.
    Lines(Session),
    /// HTTP, where each request brings its caller along.
    Http,
}

/// What is known of a session of lines.
#[derive(Clone, Default)]
pub(crate) struct Session {
    /// How much of the log the client wants to hear.
    pub(crate) level: SessionLevel,
    /// Cancelled when the session ends. rmcp then sends replies and nothing else.
    pub(crate) ending: CancellationToken,
}

/// Longer keys are not keys.
const LONGEST_KEY: usize = 255;
/// A client's name goes into logs and audit rows.
const LONGEST_NAME: usize = 100;

/// Who sent a request.
pub(crate) fn caller(
    server: &Inner,
    request: &RequestContext<RoleServer>,
) -> Result<Caller, ErrorData> {
    match &server.surface {
        Surface::Lines(_) => Ok(Caller::local_owner()),
        Surface::Http => parts(request)
            .and_then(|parts| parts.extensions.get::<Caller>())
            .cloned()
            .ok_or_else(|| {
                // The authentication layer stands before every route, so this cannot happen.
                tracing::error!("an HTTP request came without its caller");
                ErrorData::internal_error("the server failed to answer this request", None)
            }),
    }
}

/// The context of one call.
pub(crate) fn of_call(
    server: &Inner,
    request: &RequestContext<RoleServer>,
) -> Result<CallContext, ErrorData> {
    let meta = |key: &str| request.meta.get(key).and_then(Value::as_str);
    let header = |name: &str| {
        parts(request)
            .and_then(|parts| parts.headers.get(name))
            .and_then(|value| value.to_str().ok())
    };
    let trace_id = meta("traceparent")
        .and_then(TraceId::from_traceparent)
        .or_else(|| header("traceparent").and_then(TraceId::from_traceparent))
        .unwrap_or_else(|| TraceId::new(Uuid::new_v4()));
    let mut cx = CallContext::local(Arc::clone(server.kernel.clock()), trace_id);
    cx.caller = caller(server, request)?;
    cx.correlation_id = meta("panoply/correlationId")
        .or_else(|| header("x-correlation-id"))
        .and_then(TraceId::parse)
        .unwrap_or(trace_id);
    if let Some(client) = request.client_info() {
        cx.agent_id = shortened(client.name);
        cx.agent_version = shortened(client.version);
    }
    cx.lang = meta("openai/locale").map_or(server.kernel.settings().lang, Lang::of_locale);
    cx.dry_run = request.meta.get("panoply/dryRun") == Some(&Value::Bool(true));
    cx.idempotency_key = idempotency_key(request.meta.get("panoply/idempotencyKey"))?;
    cx.cancel = request.ct.child_token();
    let transport = match server.surface {
        Surface::Lines(_) => "stdio",
        Surface::Http => "http",
    };
    cx.metadata.insert("transport".to_owned(), transport.into());
    if let Some(version) = request.protocol_version() {
        cx.metadata.insert("protocolVersion".to_owned(), version.as_str().into());
    }
    Ok(cx)
}

impl Surface {
    /// Waits for something to be sent beside a reply, but no longer than makes sense.
    pub(crate) async fn deliver(&self, patience: Duration, sending: impl Future<Output = ()>) {
        let ending = match self {
            Self::Lines(session) => session.ending.clone(),
            Self::Http => CancellationToken::new(),
        };
        tokio::select! {
            biased;
            () = sending => {}
            () = ending.cancelled() => {}
            () = tokio::time::sleep(patience) => {}
        }
    }
}

/// The head of the HTTP request, with what the layers before us left in it.
pub(crate) fn parts(request: &RequestContext<RoleServer>) -> Option<&Parts> {
    request.extensions.get::<Parts>()
}

/// A key that we did not understand must not be ignored: the mutation would happen twice.
fn idempotency_key(value: Option<&Value>) -> Result<Option<String>, ErrorData> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(key)) if (1..=LONGEST_KEY).contains(&key.len()) => Ok(Some(key.clone())),
        Some(_) => {
            let message = format!(
                "`_meta[\"panoply/idempotencyKey\"]` must be a string of 1 to {LONGEST_KEY} bytes"
            );
            Err(ErrorData::invalid_params(message, None))
        }
    }
}

fn shortened(name: String) -> String {
    if name.len() <= LONGEST_NAME { name } else { name.chars().take(LONGEST_NAME).collect() }
}
