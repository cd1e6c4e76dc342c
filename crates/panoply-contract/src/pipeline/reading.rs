//! Records the reading of a document like a call: hashes of address and content, and a row in
//! the audit log.

use std::time::Duration;

use serde_json::{Value, json};

use crate::audit::{Audit, AuditEntry, Fingerprint, Status};
use crate::context::CallContext;
use crate::dialect::{AUDIT_KEY, plain_error};
use crate::error::ToolError;
use crate::kernel::Kernel;
use crate::resource::{ResourceBody, ResourceContent};

/// A read that is recorded.
pub(crate) struct Reading<'a> {
    /// Its name in the log.
    pub(crate) name: &'static str,
    /// The address.
    pub(crate) uri: &'a str,
    /// When it began, on the monotonic clock.
    pub(crate) started: Duration,
    /// Who reads.
    pub(crate) cx: &'a CallContext,
}

/// Writes the row and gives the document back with its audit in `_meta`.
pub(crate) async fn recorded(
    kernel: &Kernel,
    reading: &Reading<'_>,
    found: Result<ResourceContent, ToolError>,
) -> Result<ResourceContent, ToolError> {
    let (output, status) = match &found {
        Ok(content) => (output_of(content), Status::Ok),
        Err(error) => (json!({"error": plain_error(error)}), Status::Error),
    };
    let (input, _) = Fingerprint::of(&json!({"uri": reading.uri}))?;
    let (output, _) = Fingerprint::of(&output)?;
    let elapsed = kernel.world.clock.monotonic().saturating_sub(reading.started);
    let audit = Audit {
        in_hash: input.hex(),
        out_hash: output.hex(),
        latency_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        seed: input.seed(),
        status,
    };
    let entry = AuditEntry {
        call_id: None,
        at: reading.cx.timestamp,
        tool: reading.name.to_owned(),
        tool_version: kernel.settings.service_version.to_owned(),
        partition: reading.cx.caller.partition.clone(),
        agent_id: reading.cx.agent_id.clone(),
        trace_id: reading.cx.trace_id.to_string(),
        provenance: reading.cx.caller.provenance.clone(),
        count: 1,
        audit: audit.clone(),
        error_code: found.as_ref().err().map(|error| error.code.to_string()),
        mutation: false,
    };
    kernel.world.audit.append(entry).await?;
    found.map(|mut content| {
        content.meta.insert(AUDIT_KEY.to_owned(), json!(audit));
        content
    })
}

/// JSON is hashed as the value it is, other text as a string, bytes as a list of numbers.
fn output_of(content: &ResourceContent) -> Value {
    match &content.body {
        ResourceBody::Text(text) if content.mime_type == "application/json" => {
            serde_json::from_str(text).unwrap_or_else(|_| text.clone().into())
        }
        ResourceBody::Text(text) => text.clone().into(),
        ResourceBody::Bytes(bytes) => json!(bytes),
    }
}
