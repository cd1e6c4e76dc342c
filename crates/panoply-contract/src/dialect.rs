//! The shape a pack's answers have over the wire. The pipeline is one; the specs are several.
//!
//! A dialect knows nothing of MCP: an [`Envelope`] says what to send, and each surface
//! (MCP, command line, GraphQL, gRPC) sends it in its own way.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::audit::Audit;
use crate::error::ToolError;
use crate::hints::AgentHints;
use crate::json::Json;
use crate::parts;
use crate::reply::{Attachment, Notes};
use crate::spec::ToolSpec;
use crate::table::LONGEST_TABLE;

/// The result's `_meta` key for hints, where the pack's own shape has no place for them.
pub const HINTS_KEY: &str = "panoply/agentHints";
/// The result's `_meta` key for metadata.
pub const METADATA_KEY: &str = "panoply/metadata";
/// The result's `_meta` key for the audit.
pub const AUDIT_KEY: &str = "panoply/audit";
/// The result's `_meta` key for an error.
pub const ERROR_KEY: &str = "panoply/error";

/// How a pack's answers look.
pub trait Dialect: Send + Sync + 'static {
    /// The output schema to publish for a tool whose data have this schema.
    fn output_schema(&self, data: Value) -> Value {
        data
    }

    /// Dresses an answer.
    fn success(&self, answer: &Answered<'_>) -> Envelope;

    /// Dresses an error.
    fn failure(&self, failed: &Failed<'_>) -> Envelope;

    /// What the `out_hash` of a failed call is taken of.
    fn error_body(&self, error: &ToolError) -> Value {
        json!({"error": plain_error(error)})
    }
}

/// A call that was answered.
#[derive(Debug)]
pub struct Answered<'a> {
    /// The tool.
    pub spec: &'static ToolSpec,
    /// Its answer.
    pub data: &'a Json,
    /// Text, table, attachments and the pack's own meta.
    pub notes: &'a Notes,
    /// What was computed from the evidence.
    pub hints: &'a AgentHints,
    /// Version, times and ids.
    pub metadata: &'a Metadata,
    /// Hashes and latency.
    pub audit: &'a Audit,
}

/// A call that failed.
#[derive(Debug)]
pub struct Failed<'a> {
    /// Why.
    pub error: &'a ToolError,
    /// What could be done about it.
    pub hints: &'a AgentHints,
    /// Version, times and ids.
    pub metadata: &'a Metadata,
    /// Hashes and latency.
    pub audit: &'a Audit,
}

/// The contract's metadata of a result.
#[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// Version of the tool's own contract.
    pub tool_version: String,
    /// When it ran; ISO 8601, UTC.
    pub timestamp: String,
    /// How long it took, in milliseconds.
    pub execution_time: f64,
    /// Version of this program.
    pub service_version: String,
    /// The trace, as a UUID.
    pub trace_id: String,
    /// Links related requests.
    pub correlation_id: String,
    /// Whether the reply was kept from an earlier call.
    pub cached: bool,
    /// Set when nothing was changed because only a preview was asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// Set when a repeated idempotency key brought back the first result.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
}

/// What to send.
#[derive(Clone, Debug)]
pub enum Envelope {
    /// An ordinary result, good or bad.
    Result {
        /// For people and for clients that read text only.
        text: String,
        /// Pictures, sounds and documents.
        attachments: Vec<Attachment>,
        /// For programs; absent on errors.
        structured: Option<Json>,
        /// Beside both.
        meta: Map<String, Value>,
        /// Whether it is an error.
        is_error: bool,
    },
    /// An error of the protocol itself, for packs whose spec demands that.
    Refusal {
        /// Whose fault it was.
        fault: Fault,
        /// For people.
        message: String,
        /// For programs.
        data: Value,
    },
}

/// Whose fault an error is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// The caller's input.
    Input,
    /// Ours.
    Server,
}

/// `{data, agentHints, metadata}`: the contract's own ToolResult, spoken by noema and the kernel.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unified;

impl Dialect for Unified {
    fn output_schema(&self, data: Value) -> Value {
        json!({
            "type": "object",
            "properties": {
                "data": data,
                "agentHints": crate::schema::of::<AgentHints>(),
                "metadata": crate::schema::of::<Metadata>(),
            },
            "required": ["data", "agentHints", "metadata"],
        })
    }

    fn success(&self, answer: &Answered<'_>) -> Envelope {
        let mut meta = answer.notes.meta.clone();
        meta.insert(AUDIT_KEY.to_owned(), parts::audit(answer.audit));
        Envelope::Result {
            text: text_of(answer.notes),
            attachments: answer.notes.attachments.clone(),
            structured: Some(Json::object([
                ("data", answer.data.text()),
                ("agentHints", &parts::hints(answer.hints).to_string()),
                ("metadata", &parts::metadata(answer.metadata).to_string()),
            ])),
            meta,
            is_error: false,
        }
    }

    fn failure(&self, failed: &Failed<'_>) -> Envelope {
        let body = json!({
            "error": plain_error(failed.error),
            "agentHints": parts::hints(failed.hints),
            "metadata": parts::metadata(failed.metadata),
        });
        error_result(body, failed, false)
    }
}

/// The pack's own shape at the top, the contract's parts in `_meta`. What the pack's errors
/// look like is its own affair.
#[derive(Clone, Copy, Debug)]
pub struct Published {
    /// Makes the error object of the pack's spec.
    pub error_body: fn(&ToolError) -> Value,
}

impl Default for Published {
    fn default() -> Self {
        Self { error_body: |error| json!({"error": plain_error(error)}) }
    }
}

impl Dialect for Published {
    fn success(&self, answer: &Answered<'_>) -> Envelope {
        let mut meta = answer.notes.meta.clone();
        insert_contract_parts(&mut meta, answer.hints, answer.metadata, answer.audit);
        Envelope::Result {
            text: text_of(answer.notes),
            attachments: answer.notes.attachments.clone(),
            structured: Some(answer.data.clone()),
            meta,
            is_error: false,
        }
    }

    fn failure(&self, failed: &Failed<'_>) -> Envelope {
        error_result(self.error_body(failed.error), failed, true)
    }

    fn error_body(&self, error: &ToolError) -> Value {
        (self.error_body)(error)
    }
}

/// A result that says `isError`: the body as JSON text and in `_meta`, no structured content,
/// because a widely used client drops an error whose structured content breaks the schema.
pub fn error_result(body: Value, failed: &Failed<'_>, parts_in_meta: bool) -> Envelope {
    let mut meta = Map::new();
    if parts_in_meta {
        insert_contract_parts(&mut meta, failed.hints, failed.metadata, failed.audit);
    } else {
        meta.insert(AUDIT_KEY.to_owned(), parts::audit(failed.audit));
    }
    let text = body.to_string();
    meta.insert(ERROR_KEY.to_owned(), body);
    Envelope::Result { text, attachments: Vec::new(), structured: None, meta, is_error: true }
}

/// Puts hints, metadata and audit into a result's `_meta`.
pub fn insert_contract_parts(
    meta: &mut Map<String, Value>,
    hints: &AgentHints,
    metadata: &Metadata,
    audit: &Audit,
) {
    meta.insert(HINTS_KEY.to_owned(), parts::hints_beside_metadata(hints));
    meta.insert(METADATA_KEY.to_owned(), parts::metadata_without_repetition(metadata));
    meta.insert(AUDIT_KEY.to_owned(), parts::audit(audit));
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

/// The sentence, and under it the table.
pub fn text_of(notes: &Notes) -> String {
    match &notes.table {
        Some(table) if !table.rows.is_empty() => {
            format!("{}\n\n{}", notes.text, table.render(LONGEST_TABLE))
        }
        _ => notes.text.clone(),
    }
}
