//! Calls on behalf of a request: who asks, what came back, what went wrong.

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
use serde_json::{Value, json};
use uuid::Uuid;

/// A client's name goes into logs and audit rows.
const LONGEST_NAME: usize = 100;

/// Who asks.
#[derive(Clone)]
pub(crate) struct Asker {
    kernel: Arc<Kernel>,
    caller: Caller,
    trace_id: TraceId,
    agent: String,
    lang: Lang,
    surface: &'static str,
}

/// What came back: the document of the contract, and its audit.
pub(crate) struct Answer {
    /// Without the audit.
    pub(crate) document: Value,
    /// The audit.
    pub(crate) audit: Value,
}

/// What went wrong.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The contract's code.
    pub(crate) code: String,
    /// For people.
    pub(crate) message: String,
    /// The contract's error with its audit.
    pub(crate) body: Value,
}

/// A request that came past the server's authentication without a caller. It cannot happen.
#[derive(Debug)]
pub(crate) struct NoCaller;

impl Asker {
    /// Reads who asks from a request.
    pub(crate) fn of(
        kernel: &Arc<Kernel>,
        headers: &HeaderMap,
        extensions: &Extensions,
        surface: &'static str,
    ) -> Result<Self, NoCaller> {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let caller = extensions.get::<Caller>().cloned().ok_or(NoCaller)?;
        let trace_id = header("traceparent")
            .and_then(TraceId::from_traceparent)
            .unwrap_or_else(|| TraceId::new(Uuid::new_v4()));
        let agent = header("user-agent").unwrap_or("unknown").chars().take(LONGEST_NAME).collect();
        let lang = header("accept-language").map_or(kernel.settings().lang, Lang::of_locale);
        Ok(Self { kernel: Arc::clone(kernel), caller, trace_id, agent, lang, surface })
    }

    /// Whose budget a request uses.
    pub(crate) fn partition(&self) -> &str {
        &self.caller.partition
    }

    /// Records a query that was refused before it read anything. What is read is recorded by the
    /// pipeline, read by read.
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
            tool: self.surface.to_owned(),
            tool_version: self.kernel.settings().service_version.to_owned(),
            partition: self.caller.partition.clone(),
            agent_id: self.agent.clone(),
            trace_id: self.trace_id.to_string(),
            provenance: self.caller.provenance.clone(),
            count: 1,
            audit,
            error_code: Some(code.to_owned()),
            mutation: false,
        };
        // A log that takes nothing makes the server not ready; it does not make the query good.
        let _unrecorded = self.kernel.audit().append(entry).await;
    }

    fn context(&self) -> CallContext {
        let mut cx = CallContext::local(Arc::clone(self.kernel.clock()), self.trace_id);
        cx.caller = self.caller.clone();
        cx.agent_id.clone_from(&self.agent);
        cx.lang = self.lang;
        cx.metadata.insert("transport".to_owned(), self.surface.into());
        cx
    }

    /// Calls a tool.
    pub(crate) async fn tool(&self, tool: &str, input: Value) -> Result<Answer, Failure> {
        let request = Request { tool, input, scope: &Scope::All };
        match pipeline::call(&self.kernel, request, self.context()).await {
            Envelope::Result { structured: Some(document), is_error: false, .. } => {
                let mut document = document.value();
                let audit =
                    document.as_object_mut().and_then(|members| members.shift_remove("audit"));
                Ok(Answer { document, audit: audit.unwrap_or_default() })
            }
            Envelope::Result { meta, text, .. } => {
                let body = meta.value(ERROR_KEY);
                let member = |name: &str| {
                    body.pointer(&format!("/error/{name}"))
                        .and_then(Value::as_str)
                        .map(str::to_owned)
                };
                Err(Failure {
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
                Err(Failure {
                    code: code.unwrap_or_else(|| otherwise.to_owned()),
                    body: json!({"error": {"message": message, "data": data}}),
                    message,
                })
            }
        }
    }

    /// Reads a document.
    pub(crate) async fn document(&self, start: &str, id: &str) -> Result<Answer, Failure> {
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
        Ok(Answer { document, audit })
    }
}

fn failed(error: &ToolError) -> Failure {
    let hint = error.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
    let code = match error.kind {
        ErrorKind::Validation => "INVALID_ARG".to_owned(),
        _ => error.code.to_string(),
    };
    Failure {
        message: format!("{}{hint}", error.message),
        body: json!({"error": plain_error(error)}),
        code,
    }
}
