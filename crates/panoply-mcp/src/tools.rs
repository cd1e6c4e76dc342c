//! `tools/list` and `tools/call`: the registry as MCP shows it, and the way into the pipeline.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::request::Parts;
use panoply_contract::context::Caller;
use panoply_contract::dialect::{Envelope, Fault};
use panoply_contract::json::Json;
use panoply_contract::kernel::Kernel;
use panoply_contract::pipeline::{self, Request};
use panoply_contract::registry::{Registry, ToolEntry};
use panoply_contract::reply::Attachment;
use rmcp::model::{
    AudioContent, CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult,
    ContentBlock, EmbeddedResource, ErrorData, ImageContent, JsonObject, ListToolsResult,
    MetaObject, PaginatedRequestParams, ResourceContents, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::context::{Said, Surface};
use crate::page::{Page, page};
use crate::progress::Progress;
use crate::server::Inner;
use crate::transport::http::ScopeChallenge;
use crate::transport::plain_call::{self, PlainCall};
use crate::{context, logging};

/// Clients may keep a list this long. It is fixed while the server runs.
pub(crate) const LIST_TTL_MS: u64 = 5 * 60 * 1000;

/// What `tools/list` says about each tool, made once.
pub(crate) struct Descriptors(HashMap<&'static str, Tool>);

impl Descriptors {
    pub(crate) fn of(kernel: &Kernel) -> Self {
        Self(
            kernel
                .registry()
                .get_all()
                .iter()
                .map(|entry| (entry.spec.name, descriptor(entry)))
                .collect(),
        )
    }

    /// The tool of this name or alias.
    pub(crate) fn get(&self, registry: &Registry, name: &str) -> Option<Tool> {
        self.0.get(registry.get(name)?.spec.name).cloned()
    }
}

/// The tools this caller may call. All on one page: a client in wide use ignores cursors.
pub(crate) fn list(
    server: &Inner,
    request: Option<PaginatedRequestParams>,
    caller: &Caller,
) -> Result<ListToolsResult, ErrorData> {
    let listed = server.kernel.listed(&server.scope, caller);
    let Page { items, next } = page(listed, request, usize::MAX)?;
    let tools =
        items.into_iter().filter_map(|entry| server.descriptors.0.get(entry.spec.name).cloned());
    // What is listed depends on who asks.
    let mut result = ListToolsResult::with_all_items(tools.collect())
        .with_ttl_ms(LIST_TTL_MS)
        .with_cache_scope(CacheScope::Private);
    result.next_cursor = next;
    Ok(result)
}

/// Calls a tool.
pub(crate) async fn call(
    server: &Inner,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let mut cx = context::of_call(server, Said::of(&context))?;
    challenge_for_scopes(server, &request.name, &cx.caller, context::parts(&context));
    let progress = Progress::wanted(&context);
    cx.progress = progress.as_ref().map(Progress::sink);
    let level = logging::wanted(&server.surface, &context);
    let trace_id = cx.trace_id;
    let input = Value::Object(request.arguments.unwrap_or_default());
    // Boxed: it would stand twice in the future of this function, once on each way below.
    let call = Box::pin(pipeline::call(
        &server.kernel,
        Request { tool: &request.name, input, scope: &server.scope },
        cx,
    ));
    let envelope = match progress {
        Some(progress) => progress.while_running(&server.surface, call).await,
        None => call.await,
    };
    if let Some(level) = level {
        logging::tell(&server.surface, &context.peer, level, &request.name, trace_id, &envelope)
            .await;
    }
    let (mut result, structured) = result(envelope)?;
    result.structured_content = structured.map(|structured| structured.value());
    if let Some(entry) = server.kernel.registry().get(&request.name) {
        name_page(&mut result, entry);
    }
    Ok(CallToolResponse::Complete(result))
}

/// Says in a result which page shows it, unless its pack already did in words of its own.
fn name_page(result: &mut CallToolResult, entry: &ToolEntry) {
    let Some(widget) = entry.spec.widget else { return };
    if result.is_error == Some(true) {
        return;
    }
    let meta = &mut result.meta.get_or_insert_default().0;
    meta.entry("ui").or_insert_with(|| json!({"resourceUri": widget.resource_uri}));
    meta.entry("openai/outputTemplate").or_insert_with(|| widget.resource_uri.into());
}

/// Calls a tool for someone who wants nothing but the reply.
pub(crate) async fn call_plainly(
    server: &Inner,
    call: PlainCall,
    parts: Option<&Parts>,
    cancel: CancellationToken,
) -> Result<(CallToolResult, Option<Json>), ErrorData> {
    let PlainCall { id: _, name, arguments, meta } = call;
    let (client, version) = match (&server.surface, parts) {
        (Surface::Lines(session), _) => match session.handshake() {
            Some(peer) => (Some(peer.client_info.clone()), Some(peer.protocol_version.clone())),
            None => (None, None),
        },
        (Surface::Http, parts) => (None, parts.and_then(plain_call::stated_version)),
    };
    let cx =
        context::of_call(server, Said { meta: meta.as_ref(), parts, client, version, cancel })?;
    challenge_for_scopes(server, &name, &cx.caller, parts);
    let input = Value::Object(arguments.unwrap_or_default());
    let request = Request { tool: &name, input, scope: &server.scope };
    result(pipeline::call(&server.kernel, request, cx).await)
}

/// Lets the HTTP layer tell an OAuth client which scopes to ask for. The refusal itself is
/// the pipeline's.
fn challenge_for_scopes(server: &Inner, tool: &str, caller: &Caller, parts: Option<&Parts>) {
    let Some(challenge) = parts.and_then(|parts| parts.extensions.get::<ScopeChallenge>()) else {
        return;
    };
    if let Some(entry) = server.kernel.registry().get(tool) {
        let missing = caller.grants.missing(entry.spec.permissions);
        if !missing.is_empty() {
            challenge.require(missing.into_iter().map(str::to_owned).collect());
        }
    }
}

/// The result, and beside it its structured content, which some need as text and some as a tree.
fn result(envelope: Envelope) -> Result<(CallToolResult, Option<Json>), ErrorData> {
    match envelope {
        Envelope::Result { text, attachments, structured, meta, is_error } => {
            let mut content = vec![ContentBlock::text(text)];
            content.extend(attachments.into_iter().map(attached));
            let mut result = if is_error {
                CallToolResult::error(content)
            } else {
                CallToolResult::success(content)
            };
            result.meta = (!meta.is_empty()).then_some(MetaObject(meta));
            Ok((result, structured))
        }
        Envelope::Refusal { fault: Fault::Input, message, data } => {
            Err(ErrorData::invalid_params(message, Some(data)))
        }
        Envelope::Refusal { fault: Fault::Server, message, data } => {
            Err(ErrorData::internal_error(message, Some(data)))
        }
    }
}

fn attached(attachment: Attachment) -> ContentBlock {
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

fn descriptor(entry: &ToolEntry) -> Tool {
    let spec = entry.spec;
    let annotations = ToolAnnotations::from_raw(
        Some(spec.title.to_owned()),
        Some(!spec.category.mutates()),
        Some(spec.annotations.destructive),
        Some(spec.idempotent),
        Some(spec.annotations.open_world),
    );
    Tool::new(spec.name, entry.description.clone(), object(&entry.input_schema))
        .with_title(spec.title)
        .with_raw_output_schema(object(&entry.output_schema))
        .with_annotations(annotations)
        .with_meta(MetaObject(descriptor_meta(entry)))
}

fn descriptor_meta(entry: &ToolEntry) -> JsonObject {
    let spec = entry.spec;
    let mut meta = JsonObject::new();
    meta.insert("panoply/pack".to_owned(), entry.pack.into());
    meta.insert("panoply/category".to_owned(), spec.category.as_str().into());
    meta.insert("panoply/version".to_owned(), spec.version.into());
    if let Some(deprecation) = &spec.deprecated {
        let notice = json!({"replacement": deprecation.replacement, "removalDate": deprecation.removal_date});
        meta.insert("panoply/deprecated".to_owned(), notice);
    }
    if let Some(widget) = &spec.widget {
        // The first is the MCP Apps standard, the second its older form, the rest is for ChatGPT.
        meta.insert(
            "ui".to_owned(),
            json!({"resourceUri": widget.resource_uri, "visibility": ["model", "app"]}),
        );
        meta.insert("ui/resourceUri".to_owned(), widget.resource_uri.into());
        meta.insert("openai/outputTemplate".to_owned(), widget.resource_uri.into());
        meta.insert("openai/toolInvocation/invoking".to_owned(), widget.invoking.into());
        meta.insert("openai/toolInvocation/invoked".to_owned(), widget.invoked.into());
    }
    if spec.widget.is_some() || !spec.category.mutates() {
        // ChatGPT lets a page call only what says so. Pages read; what changes data they call
        // only where that is what the page is for.
        meta.insert("openai/widgetAccessible".to_owned(), true.into());
    }
    meta
}

/// The registry has checked that every schema is an object.
fn object(schema: &Value) -> Arc<JsonObject> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}
