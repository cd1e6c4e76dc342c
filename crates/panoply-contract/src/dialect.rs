//! Dialects: the wire format of a pack's results. All packs share one pipeline, but their
//! specifications define different result shapes.
//!
//! A dialect is independent of MCP: it produces an [`Envelope`], which each surface (MCP, command
//! line, GraphQL, gRPC) encodes.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

use crate::audit::Audit;
use crate::error::ToolError;
use crate::json::{Json, ObjectWriter};
use crate::kernel_tools::schemas;
use crate::meta::Meta;
use crate::reply::{Attachment, Notes};
use crate::spec::ToolSpec;
use crate::table::MAX_TABLE_BYTES;

/// The result's `_meta` key for hints, for packs whose shape does not include them.
pub const HINTS_KEY: &str = "panoply/agentHints";
/// The result's `_meta` key for metadata.
pub const METADATA_KEY: &str = "panoply/metadata";
/// The result's `_meta` key for the audit.
pub const AUDIT_KEY: &str = "panoply/audit";
/// The result's `_meta` key for an error.
pub const ERROR_KEY: &str = "panoply/error";

/// The shape of a pack's results. By default the pack's data are at the top level and the
/// contract's parts in `_meta`; a pack overrides what its specification defines differently.
pub trait Dialect: Send + Sync + 'static {
    /// The output schema to publish for a tool whose data have this schema.
    fn output_schema(&self, data: Value) -> Value {
        data
    }

    /// The structured content of a successful result.
    fn structured(&self, answer: &CallSuccess<'_>) -> Json {
        answer.data.clone()
    }

    /// The `_meta` of a successful result.
    fn meta(&self, answer: &CallSuccess<'_>) -> Meta {
        contract_meta(answer)
    }

    /// Encodes a successful result.
    fn success(&self, answer: &CallSuccess<'_>) -> Envelope {
        Envelope::Result {
            text: text_of(answer.notes),
            attachments: answer.notes.attachments.clone(),
            structured: Some(self.structured(answer)),
            meta: self.meta(answer),
            is_error: false,
            brief_hints: None,
        }
    }

    /// Encodes an error.
    fn failure(&self, failed: &CallFailure<'_>) -> Envelope {
        error_result(&self.error_body(failed.error), failed, true)
    }

    /// The body of an error; the `out_hash` of a failed call is its hash.
    fn error_body(&self, error: &ToolError) -> Value {
        json!({"error": plain_error(error)})
    }
}

pub use self::{CallFailure as Failed, CallSuccess as Answered};

/// A successful call.
#[derive(Debug)]
pub struct CallSuccess<'a> {
    /// The tool.
    pub spec: &'static ToolSpec,
    /// The data.
    pub data: &'a Json,
    /// Text, table, attachments and the pack's own meta.
    pub notes: &'a Notes,
    /// Serialised [`AgentHints`](crate::hints::AgentHints).
    pub hints: &'a Json,
    /// Version, times and ids.
    pub metadata: &'a Metadata<'a>,
    /// Hashes and latency.
    pub audit: &'a Audit,
}

/// A failed call.
#[derive(Debug)]
pub struct CallFailure<'a> {
    /// The error.
    pub error: &'a ToolError,
    /// Serialised [`AgentHints`](crate::hints::AgentHints) about remedies.
    pub hints: &'a Json,
    /// Version, times and ids.
    pub metadata: &'a Metadata<'a>,
    /// Hashes and latency.
    pub audit: &'a Audit,
}

/// The contract's metadata of a result.
#[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Metadata<'a> {
    /// Version of the tool's own contract.
    pub tool_version: Cow<'a, str>,
    /// When it ran; ISO 8601, UTC.
    pub timestamp: Cow<'a, str>,
    /// Duration in milliseconds.
    pub execution_time: f64,
    /// Version of this program.
    pub service_version: Cow<'a, str>,
    /// The trace, as a UUID.
    pub trace_id: Cow<'a, str>,
    /// Links related requests.
    pub correlation_id: Cow<'a, str>,
    /// Whether the reply came from the cache.
    pub cached: bool,
    /// Set for a dry run, which changes no data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// Set when a repeated idempotency key replayed the first result.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
}

/// A result to send.
#[derive(Clone, Debug)]
pub enum Envelope {
    /// A tool result, successful or not.
    Result {
        /// Text for users and text-only clients.
        text: String,
        /// Images, audio and embedded resources.
        attachments: Vec<Attachment>,
        /// Structured content; absent on errors.
        structured: Option<Json>,
        /// The `_meta` object.
        meta: Meta,
        /// Whether it is an error.
        is_error: bool,
        /// The next step and the main caution, if the complete hints are in `_meta`.
        brief_hints: Option<Json>,
    },
    /// A protocol error, for packs whose specification requires it.
    Refusal {
        /// Whether the caller or the server is at fault.
        fault: Fault,
        /// Message for the user.
        message: String,
        /// Machine-readable data.
        data: Value,
    },
}

impl Envelope {
    /// Adds brief hints to a result whose complete hints are in `_meta`.
    pub(crate) fn with_brief_hints(mut self, hints: Option<Json>) -> Self {
        if let Self::Result { meta, brief_hints, .. } = &mut self
            && meta.get(HINTS_KEY).is_some()
        {
            *brief_hints = hints;
        }
        self
    }
}

/// Whether the caller or the server is at fault.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// The caller's input.
    Input,
    /// The server.
    Server,
}

/// `{data, agentHints, metadata}`: the contract's ToolResult, used by noema and the kernel.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unified;

impl Dialect for Unified {
    fn output_schema(&self, data: Value) -> Value {
        // The full schemas are resources: repeated in each tool they were 40 % of `tools/list`.
        let named = |title: &str, uri: &str| json!({"type": "object", "title": title, "description": format!("Schema: {uri}")});
        json!({
            "type": "object",
            "properties": {
                "data": data,
                "agentHints": named("AgentHints", schemas::HINTS_URI),
                "metadata": named("Metadata", schemas::METADATA_URI),
            },
            "required": ["data", "agentHints", "metadata"],
        })
    }

    fn structured(&self, answer: &CallSuccess<'_>) -> Json {
        Json::object([
            ("data", answer.data.text()),
            ("agentHints", answer.hints.text()),
            ("metadata", answer.metadata.compact_json().text()),
        ])
    }

    fn meta(&self, answer: &CallSuccess<'_>) -> Meta {
        let mut meta = Meta::from(&answer.notes.meta);
        meta.insert_json(AUDIT_KEY, answer.audit.to_json());
        meta
    }

    fn failure(&self, failed: &CallFailure<'_>) -> Envelope {
        let body = json!({
            "error": plain_error(failed.error),
            "agentHints": failed.hints.value(),
            "metadata": failed.metadata,
        });
        error_result(&body, failed, false)
    }
}

/// The pack's own shape at the top level, the contract's parts in `_meta`, and the pack's own error
/// object.
#[derive(Clone, Copy, Debug)]
pub struct Published {
    /// Builds the error object of the pack's specification.
    pub error_body: fn(&ToolError) -> Value,
}

impl Default for Published {
    fn default() -> Self {
        Self { error_body: |error| json!({"error": plain_error(error)}) }
    }
}

impl Dialect for Published {
    fn error_body(&self, error: &ToolError) -> Value {
        (self.error_body)(error)
    }
}

/// A result with `isError`: the body as JSON text and in `_meta`. It has no structured content,
/// because a widely used client drops errors whose structured content violates the schema.
pub fn error_result(body: &Value, failed: &CallFailure<'_>, parts_in_meta: bool) -> Envelope {
    let mut meta = Meta::default();
    if parts_in_meta {
        insert_contract_parts(&mut meta, failed.hints, failed.metadata, failed.audit);
    } else {
        meta.insert_json(AUDIT_KEY, failed.audit.to_json());
    }
    let text = body.to_string();
    meta.insert(ERROR_KEY, body);
    Envelope::Result {
        text,
        attachments: Vec::new(),
        structured: None,
        meta,
        is_error: true,
        brief_hints: None,
    }
}

/// The pack's own members of `_meta`, then hints, metadata and audit.
pub fn contract_meta(answer: &CallSuccess<'_>) -> Meta {
    let mut meta = Meta::from(&answer.notes.meta);
    insert_contract_parts(&mut meta, answer.hints, answer.metadata, answer.audit);
    meta
}

fn insert_contract_parts(meta: &mut Meta, hints: &Json, metadata: &Metadata<'_>, audit: &Audit) {
    meta.insert_json(HINTS_KEY, hints.clone());
    meta.insert_json(METADATA_KEY, metadata.compact_json());
    meta.insert_json(AUDIT_KEY, audit.to_json());
}

impl Metadata<'_> {
    /// JSON for `_meta`: omits a correlation id equal to the trace id.
    fn compact_json(&self) -> Json {
        let mut writer = ObjectWriter::with_capacity(320)
            .ascii("toolVersion", &self.tool_version)
            .ascii("timestamp", &self.timestamp)
            .scalar("executionTime", self.execution_time)
            .ascii("serviceVersion", &self.service_version)
            .ascii("traceId", &self.trace_id);
        if self.correlation_id != self.trace_id {
            writer = writer.ascii("correlationId", &self.correlation_id);
        }
        writer = writer.scalar("cached", self.cached);
        if self.dry_run {
            writer = writer.scalar("dryRun", true);
        }
        if self.replayed {
            writer = writer.scalar("replayed", true);
        }
        writer.finish()
    }
}

/// The kernel's own error object: code, class, message, hint, details.
pub fn plain_error(error: &ToolError) -> Value {
    let mut body = json!({
        "code": error.code,
        "class": error.kind.class(),
        "message": error.message,
    });
    if let Some(object) = body.as_object_mut() {
        if let Some(hint) = &error.hint {
            object.insert("hint".to_owned(), hint.clone().into());
        }
        if let Some(details) = error.wire_details() {
            object.insert("details".to_owned(), details);
        }
        object.insert("retryable".to_owned(), error.kind.retryable().into());
    }
    body
}

/// The text followed by the table.
pub fn text_of(notes: &Notes) -> String {
    match &notes.table {
        Some(table) if !table.rows.is_empty() => {
            format!("{}\n\n{}", notes.text, table.render(MAX_TABLE_BYTES))
        }
        _ => notes.text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compact_metadata_leaves_out_only_a_correlation_id_equal_to_the_trace_id() {
        let metadata = |correlation_id: &str, set| Metadata {
            tool_version: "1.0.0".into(),
            timestamp: "t".into(),
            execution_time: 1.5,
            service_version: "2.0.0".into(),
            trace_id: "x".into(),
            correlation_id: correlation_id.to_owned().into(),
            cached: set,
            dry_run: set,
            replayed: set,
        };
        for set in [false, true] {
            let linked = metadata("y", set);
            assert_eq!(linked.compact_json().value(), json!(linked));
            let alone = metadata("x", set).compact_json().value();
            assert_eq!(alone.get("correlationId"), None);
        }
    }
}
