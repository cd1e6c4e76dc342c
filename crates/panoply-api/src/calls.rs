//! Calls into the kernel on behalf of one HTTP or gRPC request.

use std::sync::Arc;

use http::{Extensions, HeaderMap};
use panoply_contract::audit::{Audit, AuditEntry, Fingerprint, Status};
use panoply_contract::context::{CallContext, Caller, Lang};
use panoply_contract::dialect::{AUDIT_KEY, ERROR_KEY, Envelope, Fault, plain_error};
use panoply_contract::error::{ErrorKind, ToolError};
use panoply_contract::ids::TraceId;
use panoply_contract::kernel::{Kernel, Scope};
use panoply_contract::pipeline::{self, Request};
use panoply_contract::resource::ResourceBody;
use serde_json::{Map, Value, json};
use uuid::Uuid;

/// Longest client name that goes into logs and audit rows.
const MAX_AGENT_NAME_CHARS: usize = 100;

/// The caller of a request and the context that its calls share.
#[derive(Clone)]
pub(crate) struct RequestContext {
    kernel: Arc<Kernel>,
    caller: Caller,
    trace_id: TraceId,
    agent: String,
    lang: Lang,
    lang_is_default: bool,
    surface: &'static str,
}

/// A document of the contract and the audit of the call.
pub(crate) struct DocumentReply {
    /// The document without its `audit` member.
    pub(crate) document: Value,
    pub(crate) audit: Value,
}

/// A failed call.
#[derive(Debug)]
pub(crate) struct CallFailure {
    /// The error code of the contract.
    pub(crate) code: String,
    pub(crate) message: String,
    /// The contract's error object with its audit.
    pub(crate) body: Value,
}

/// The request has no [`Caller`]: the authentication middleware is missing.
#[derive(Debug)]
pub(crate) struct MissingCaller;

impl RequestContext {
    /// Reads the caller, trace id, agent and language from a request.
    pub(crate) fn of(
        kernel: &Arc<Kernel>,
        headers: &HeaderMap,
        extensions: &Extensions,
        surface: &'static str,
    ) -> Result<Self, MissingCaller> {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let caller = extensions.get::<Caller>().cloned().ok_or(MissingCaller)?;
        let trace_id = header("traceparent")
            .and_then(TraceId::from_traceparent)
            .unwrap_or_else(|| TraceId::new(Uuid::new_v4()));
        let agent =
            header("user-agent").unwrap_or("unknown").chars().take(MAX_AGENT_NAME_CHARS).collect();
        let locale = header("accept-language");
        let lang = locale.map_or(kernel.settings().lang, Lang::of_locale);
        let lang_is_default = locale.is_none();
        Ok(Self {
            kernel: Arc::clone(kernel),
            caller,
            trace_id,
            agent,
            lang,
            lang_is_default,
            surface,
        })
    }

    /// The rate-limit partition of the caller.
    pub(crate) fn partition(&self) -> &str {
        &self.caller.partition
    }

    /// Records a query that was rejected before any read. The pipeline records each read itself.
    pub(crate) async fn record_refusal(&self, body: &[u8], code: &str) {
        let clock = self.kernel.clock();
        let input = serde_json::from_slice(body).unwrap_or(Value::Null);
        let fingerprints = (Fingerprint::of(&input), Fingerprint::of(&Value::Null));
        let (Ok((input, _)), Ok((output, _))) = fingerprints else { return };
        let audit = Audit {
            in_hash: input.hex(),
            out_hash: output.hex(),
            latency_ms: 0,
            seed: input.seed(),
            status: Status::Error,
        };
        let entry = AuditEntry {
            call_id: None,
            at: clock.now(),
            tool: self.surface.into(),
            tool_version: self.kernel.settings().service_version.into(),
            partition: self.caller.partition.clone(),
            agent_id: self.agent.clone(),
            trace_id: self.trace_id.to_string(),
            provenance: self.caller.provenance.clone(),
            count: 1,
            audit,
            error_code: Some(code.to_owned()),
            mutation: false,
        };
        // A failing audit log makes the server report not ready; it does not accept the query.
        let _unrecorded = self.kernel.audit().append(entry).await;
    }

    fn context(&self) -> CallContext {
        let mut cx = CallContext::local(Arc::clone(self.kernel.clock()), self.trace_id);
        cx.caller = self.caller.clone();
        cx.agent_id.clone_from(&self.agent);
        cx.lang = self.lang;
        cx.lang_is_default = self.lang_is_default;
        cx.metadata.insert("transport".to_owned(), self.surface.into());
        cx
    }

    /// Calls a tool through the pipeline.
    pub(crate) async fn tool(
        &self,
        tool: &str,
        input: Value,
    ) -> Result<DocumentReply, CallFailure> {
        let request = Request { tool, input, scope: &Scope::All };
        match pipeline::call(&self.kernel, request, self.context()).await {
            Envelope::Result { structured: Some(document), is_error: false, .. } => {
                let mut document = document.value();
                let audit =
                    document.as_object_mut().and_then(|members| members.shift_remove("audit"));
                Ok(DocumentReply { document, audit: audit.unwrap_or_default() })
            }
            Envelope::Result { meta, text, .. } => {
                let body = meta.value(ERROR_KEY);
                let member = |name: &str| {
                    body.pointer(&format!("/error/{name}"))
                        .and_then(Value::as_str)
                        .map(str::to_owned)
                };
                Err(CallFailure {
                    code: member("code").unwrap_or_else(|| "INTERNAL_ERROR".to_owned()),
                    message: member("message").unwrap_or(text),
                    body,
                })
            }
            Envelope::Refusal { fault, message, data } => {
                let code = data.get("code").and_then(Value::as_str).map(str::to_owned);
                let otherwise = match fault {
                    Fault::Input => "INVALID_ARG",
                    Fault::Server => "INTERNAL_ERROR",
                };
                Err(CallFailure {
                    code: code.unwrap_or_else(|| otherwise.to_owned()),
                    body: json!({"error": {"message": message, "data": data}}),
                    message,
                })
            }
        }
    }

    /// Reads a resource through the kernel.
    pub(crate) async fn resource(
        &self,
        start: &str,
        id: &str,
    ) -> Result<DocumentReply, CallFailure> {
        let uri = format!("{start}{id}");
        let found = self.kernel.read_resource(&Scope::All, &uri, &self.context()).await;
        let found = found.map_err(|error| failed(&error))?;
        let document = match &found.body {
            ResourceBody::Text(text) => serde_json::from_str(text).ok(),
            ResourceBody::Bytes(_) => None,
        };
        let document = document
            .ok_or_else(|| failed(&ToolError::system("a document of the graph is not JSON")))?;
        let audit = found.meta.get(AUDIT_KEY).cloned().unwrap_or_default();
        Ok(DocumentReply { document, audit })
    }
}

fn failed(error: &ToolError) -> CallFailure {
    let hint = error.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
    let code = match error.kind {
        ErrorKind::Validation => "INVALID_ARG".to_owned(),
        _ => error.code.to_string(),
    };
    CallFailure {
        message: format!("{}{hint}", error.message),
        body: json!({"error": plain_error(error)}),
        code,
    }
}

/// Inserts only given arguments, so that the input hash equals that of the same MCP call.
pub(crate) fn insert(input: &mut Map<String, Value>, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        input.insert(name.to_owned(), value.into());
    }
}
