//! Audits the read of a resource like a call: hashes of URI and content, and an audit row.

use std::time::Duration;

use serde_json::{Value, json};

use crate::audit::{Audit, AuditEntry, Fingerprint, Status};
use crate::context::CallContext;
use crate::dialect::{AUDIT_KEY, plain_error};
use crate::error::ToolError;
use crate::kernel::Kernel;
use crate::resource::{ResourceBody, ResourceContent};

/// An audited resource read.
pub(crate) struct ResourceRead<'a> {
    /// Tool name in the audit log.
    pub(crate) name: &'static str,
    pub(crate) uri: &'a str,
    /// Start on the monotonic clock.
    pub(crate) started: Duration,
    pub(crate) cx: &'a CallContext,
}

/// Appends the audit row and returns the content with its audit in `_meta`.
pub(crate) async fn recorded(
    kernel: &Kernel,
    read: &ResourceRead<'_>,
    found: Result<ResourceContent, ToolError>,
) -> Result<ResourceContent, ToolError> {
    let (output, status) = match &found {
        Ok(content) => (output_of(content), Status::Ok),
        Err(error) => (json!({"error": plain_error(error)}), Status::Error),
    };
    let (input, _) = Fingerprint::of(&json!({"uri": read.uri}))?;
    let (output, _) = Fingerprint::of(&output)?;
    let elapsed = kernel.services.clock.monotonic().saturating_sub(read.started);
    let audit = Audit {
        in_hash: input.hex(),
        out_hash: output.hex(),
        latency_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        seed: input.seed(),
        status,
    };
    let entry = AuditEntry {
        call_id: None,
        at: read.cx.timestamp,
        tool: read.name.into(),
        tool_version: kernel.settings.service_version.into(),
        partition: read.cx.caller.partition.clone(),
        agent_id: read.cx.agent_id.clone(),
        trace_id: read.cx.trace_id.to_string(),
        provenance: read.cx.caller.provenance.clone(),
        count: 1,
        audit: audit.clone(),
        error_code: found.as_ref().err().map(|error| error.code.to_string()),
        mutation: false,
    };
    kernel.services.audit.append(entry).await?;
    found.map(|mut content| {
        content.meta.insert(AUDIT_KEY.to_owned(), json!(audit));
        content
    })
}

/// The hashed value: JSON is parsed, other text is a string, bytes are a list of numbers.
fn output_of(content: &ResourceContent) -> Value {
    match &content.body {
        ResourceBody::Text(text) if content.mime_type == "application/json" => {
            serde_json::from_str(text).unwrap_or_else(|_| text.clone().into())
        }
        ResourceBody::Text(text) => text.clone().into(),
        ResourceBody::Bytes(bytes) => json!(bytes),
    }
}
