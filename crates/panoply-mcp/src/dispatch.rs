//! Dispatch of `tools/call`, shared by all transports and protocol versions.
//!
//! Two paths lead here. A call that needs only a reply is answered where it was read, on the fast
//! path ([`crate::transport::tool_call`]). A call that also needs notifications, or that
//! negotiates 2026-07-28, passes through rmcp. Execution and result are the same for both.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use panoply_contract::dialect::{ERROR_KEY, Envelope, Fault};
use panoply_contract::json::Json;
use panoply_contract::meta::Meta;
use panoply_contract::pipeline::{self, Request};
use panoply_contract::reply::Attachment;
use panoply_contract::spec::Widget;
use rmcp::model::{
    AudioContent, CallToolResponse, CallToolResult, ContentBlock, EmbeddedResource, ErrorData,
    ImageContent, InputRequiredResult, JsonObject, MetaObject, RequestId, ResourceContents,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

use crate::context::{self, RequestInfo};
use crate::logging;
use crate::presentation::ClientPresentation;
use crate::progress::Progress;
use crate::server::Inner;
use crate::tools::BRIEF_HINTS;

/// Outcome of a call.
pub(crate) enum Dispatched {
    /// The call has a result.
    Complete(Completed),
    /// The call requires user input. Occurs only on the rmcp path.
    InputRequired(InputRequiredResult),
}

/// Result of a call. Structured content and `_meta` stay JSON text; only rmcp needs a tree.
pub(crate) struct Completed {
    /// Without structured content and `_meta`.
    pub(crate) result: CallToolResult,
    pub(crate) structured: Option<Json>,
    pub(crate) meta: Meta,
}

/// Calls a tool. `notify` is the session for progress and log messages, if there is one.
pub(crate) async fn dispatch(
    server: &Inner,
    tool: &str,
    arguments: Option<JsonObject>,
    info: RequestInfo<'_>,
    notify: Option<&RequestContext<RoleServer>>,
) -> Result<Dispatched, ErrorData> {
    let round_trip = info.round_trip.clone();
    let mut cx = context::of_call(server, info)?;
    let progress = notify.and_then(Progress::requested);
    cx.progress = progress.as_ref().map(Progress::sink);
    let trace_id = cx.trace_id;
    let version = cx.metadata.get("protocolVersion").and_then(Value::as_str);
    let presentation = server.presentation.of_client(&cx.agent_id, version);
    let input = Value::Object(arguments.unwrap_or_default());
    let request = Request { tool, input, scope: &server.scope }.target(&server.kernel);
    let tool = request.tool;
    // Boxed, like the rare branches: this future is moved several times before it runs, and has
    // the size of its largest branch.
    let call = Box::pin(pipeline::call(&server.kernel, request, cx));
    let envelope = match progress {
        Some(progress) => Box::pin(progress.while_running(&server.surface, call)).await,
        None => call.await,
    };
    if let Some(session) = notify
        && let Some(level) = logging::requested_level(&server.surface, session)
    {
        let (surface, peer) = (&server.surface, &session.peer);
        let sent = logging::send_outcome(surface, peer, level, tool, trace_id, &envelope);
        Box::pin(sent).await;
    }
    if let Some(required) = round_trip.and_then(|round_trip| round_trip.take_required()) {
        return Ok(Dispatched::InputRequired(required));
    }
    let widget = server.kernel.resolve(tool, &server.scope).and_then(|entry| entry.spec.widget);
    result(envelope, widget, presentation).map(Dispatched::Complete)
}

fn result(
    envelope: Envelope,
    widget: Option<Widget>,
    presentation: ClientPresentation,
) -> Result<Completed, ErrorData> {
    match envelope {
        Envelope::Result { text, attachments, structured, mut meta, is_error, brief_hints } => {
            let structured = match (structured, brief_hints) {
                (Some(data), Some(hints)) => Some(data.with_member(BRIEF_HINTS, hints.text())),
                (structured, _) => structured,
            };
            let mut content = vec![ContentBlock::text(text)];
            if let Some(structured) = structured.as_ref().filter(|_| presentation.complete_text) {
                content.push(ContentBlock::text(structured.text()));
            }
            content.extend(attachments.into_iter().map(content_block));
            let result = if is_error {
                CallToolResult::error(content)
            } else {
                insert_widget_uri(&mut meta, widget);
                CallToolResult::success(content)
            };
            Ok(Completed { result, structured, meta })
        }
        // An unknown tool stays a protocol error in every version.
        Envelope::Refusal { fault: Fault::Input, message, data }
            if presentation.errors_as_results
                && data.get("code").is_none_or(|code| code != "UNKNOWN_TOOL") =>
        {
            let mut meta = Meta::default();
            meta.insert(ERROR_KEY, &json!({"error": data}));
            let result = CallToolResult::error(vec![ContentBlock::text(message)]);
            Ok(Completed { result, structured: None, meta })
        }
        Envelope::Refusal { fault: Fault::Input, message, data } => {
            Err(ErrorData::invalid_params(message, Some(data)))
        }
        Envelope::Refusal { fault: Fault::Server, message, data } => {
            Err(ErrorData::internal_error(message, Some(data)))
        }
    }
}

/// Adds the widget URI (MCP Apps and ChatGPT), unless the pack has set it.
fn insert_widget_uri(meta: &mut Meta, widget: Option<Widget>) {
    let Some(widget) = widget else { return };
    if meta.get("ui").is_none() {
        meta.insert("ui", &json!({"resourceUri": widget.resource_uri}));
    }
    if meta.get("openai/outputTemplate").is_none() {
        meta.insert("openai/outputTemplate", widget.resource_uri);
    }
}

fn content_block(attachment: Attachment) -> ContentBlock {
    match attachment {
        Attachment::Image { bytes, mime_type } => {
            ContentBlock::Image(ImageContent::new(STANDARD.encode(bytes), mime_type))
        }
        Attachment::Audio { bytes, mime_type } => {
            ContentBlock::Audio(AudioContent::new(STANDARD.encode(bytes), mime_type))
        }
        Attachment::Document { uri, mime_type, text } => ContentBlock::Resource(
            EmbeddedResource::new(ResourceContents::text(text, uri).with_mime_type(mime_type)),
        ),
    }
}

impl Dispatched {
    /// Converts to the rmcp type.
    pub(crate) fn into_response(self) -> CallToolResponse {
        match self {
            Self::Complete(Completed { mut result, structured, meta }) => {
                result.structured_content = structured.map(|structured| structured.value());
                result.meta = (!meta.is_empty()).then(|| MetaObject(meta.to_map()));
                CallToolResponse::Complete(result)
            }
            Self::InputRequired(required) => CallToolResponse::InputRequired(required),
        }
    }

    /// Encodes the JSON-RPC response for the fast path.
    pub(crate) fn to_message(&self, id: &RequestId) -> serde_json::Result<Vec<u8>> {
        match self {
            Self::Complete(completed) => completed.to_message(id),
            Self::InputRequired(required) => {
                serde_json::to_vec(&json!({"jsonrpc": "2.0", "id": id, "result": required}))
            }
        }
    }
}

impl Completed {
    /// Encodes the response as rmcp does for versions with a handshake: without `resultType`.
    /// Structured content is copied as text.
    fn to_message(&self, id: &RequestId) -> serde_json::Result<Vec<u8>> {
        let size = self.structured.as_ref().map_or(0, |json| json.text().len());
        let mut out = Vec::with_capacity(size + 4096);
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        serde_json::to_writer(&mut out, id)?;
        out.extend_from_slice(br#","result":{"content":"#);
        serde_json::to_writer(&mut out, &self.result.content)?;
        if let Some(structured) = &self.structured {
            out.extend_from_slice(br#","structuredContent":"#);
            out.extend_from_slice(structured.text().as_bytes());
        }
        if let Some(is_error) = self.result.is_error {
            out.extend_from_slice(br#","isError":"#);
            serde_json::to_writer(&mut out, &is_error)?;
        }
        if !self.meta.is_empty() {
            out.extend_from_slice(br#","_meta":"#);
            out.extend_from_slice(self.meta.to_json().text().as_bytes());
        }
        out.extend_from_slice(b"}}");
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ServerJsonRpcMessage, ServerResult};

    use super::*;

    #[test]
    fn a_message_is_encoded_as_rmcp_encodes_it_for_versions_with_a_handshake() {
        let mut meta = Meta::default();
        meta.insert("panoply/audit", &json!({"status": "ok"}));
        let content = || vec![ContentBlock::text("one\n\"two\"")];
        let structured = Json::of(&json!({"b": [1.0, null], "a": "ก"})).unwrap();
        let none = Meta::default;
        let cases = [
            (RequestId::Number(7), CallToolResult::success(content()), Some(structured), meta),
            (RequestId::String("q".into()), CallToolResult::success(content()), None, none()),
            (RequestId::Number(-1), CallToolResult::error(content()), None, none()),
        ];
        for (id, result, structured, meta) in cases {
            let ours = Completed {
                result: result.clone(),
                structured: structured.clone(),
                meta: meta.clone(),
            };
            let ours = ours.to_message(&id).unwrap();
            let mut theirs = result;
            theirs.structured_content = structured.map(|structured| structured.value());
            theirs.meta = (!meta.is_empty()).then(|| MetaObject(meta.to_map()));
            let mut theirs = ServerResult::CallToolResult(theirs);
            theirs.strip_result_type_for_legacy_peer();
            let theirs = ServerJsonRpcMessage::response(theirs, id);
            assert_eq!(String::from_utf8(ours).unwrap(), serde_json::to_string(&theirs).unwrap());
        }
    }
}
