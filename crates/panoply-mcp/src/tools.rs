//! `tools/list`: the registry as MCP tool descriptors.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use panoply_contract::context::Caller;
use panoply_contract::kernel::Kernel;
use panoply_contract::kernel_tools::CALL_TOOL;
use panoply_contract::listed_schema;
use panoply_contract::registry::{Registry, ToolEntry};
use rmcp::model::{
    CacheScope, ErrorData, JsonObject, ListToolsResult, MetaObject, PaginatedRequestParams, Tool,
    ToolAnnotations,
};
use serde_json::{Value, json};

use crate::pagination::{ListPage, page};
use crate::server::Inner;

/// Member of structured content with the next step and the main caution, in packs whose replies
/// have the complete hints in `_meta`, which hosts do not show to their model.
pub(crate) const BRIEF_HINTS: &str = "hints";

/// Time for which clients may cache the list. It never changes while the server runs.
pub(crate) const LIST_TTL_MS: u64 = 5 * 60 * 1000;

/// Tool descriptors, built on first use: generating all schemas takes longer than the rest of
/// the startup.
pub(crate) struct Descriptors(HashMap<&'static str, OnceLock<Tool>>);

impl Descriptors {
    pub(crate) fn of(kernel: &Kernel) -> Self {
        let entries = kernel.registry().get_all().iter();
        Self(entries.map(|entry| (entry.spec.name, OnceLock::new())).collect())
    }

    /// Returns the tool with this name or alias.
    pub(crate) fn get(&self, registry: &Registry, name: &str) -> Option<Tool> {
        self.of_entry(registry.get(name)?)
    }

    fn of_entry(&self, entry: &ToolEntry) -> Option<Tool> {
        let cell = self.0.get(entry.spec.name)?;
        Some(cell.get_or_init(|| descriptor(entry)).clone())
    }
}

/// Lists the tools that this caller may call, on one page: a widely used client ignores cursors.
pub(crate) fn list(
    server: &Inner,
    request: Option<PaginatedRequestParams>,
    caller: &Caller,
) -> Result<ListToolsResult, ErrorData> {
    let listed = server.kernel.listed(&server.scope, caller);
    let ListPage { items, next } = page(listed, request, usize::MAX)?;
    let tools = items.into_iter().filter_map(|entry| server.descriptors.of_entry(entry));
    // The list depends on the caller.
    let mut result = ListToolsResult::with_all_items(tools.collect())
        .with_ttl_ms(LIST_TTL_MS)
        .with_cache_scope(CacheScope::Private);
    result.next_cursor = next;
    Ok(result)
}

fn descriptor(entry: &ToolEntry) -> Tool {
    let spec = entry.spec;
    // `call-tool` can do what any tool does and returns what any tool returns.
    let any = spec.name == CALL_TOOL;
    let annotations = ToolAnnotations::from_raw(
        Some(spec.title.to_owned()),
        Some(!spec.category.mutates() && !any),
        Some(spec.annotations.destructive || any),
        Some(spec.idempotent),
        Some(spec.annotations.open_world || any),
    );
    let description = entry.listed_text.map_or_else(|| entry.description.clone(), str::to_owned);
    let input_schema = listed_schema::input(entry.input_schema());
    let tool = Tool::new(spec.name, description, object(&input_schema))
        .with_title(spec.title)
        .with_annotations(annotations)
        .with_meta(MetaObject(descriptor_meta(entry)));
    if any {
        return tool;
    }
    let mut output_schema = listed_schema::output(entry.output_schema());
    if let Some(Value::Object(members)) = output_schema.get_mut("properties")
        && !members.contains_key("agentHints")
    {
        members.insert(BRIEF_HINTS.to_owned(), json!({"type": "object"}));
    }
    tool.with_raw_output_schema(object(&output_schema))
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
        // `ui` is the MCP Apps standard, the next key its older form; the rest is for ChatGPT.
        meta.insert(
            "ui".to_owned(),
            json!({"resourceUri": widget.resource_uri, "visibility": ["model", "app"]}),
        );
        meta.insert("ui/resourceUri".to_owned(), widget.resource_uri.into());
        meta.insert("openai/outputTemplate".to_owned(), widget.resource_uri.into());
        meta.insert("openai/toolInvocation/invoking".to_owned(), widget.invoking.into());
        meta.insert("openai/toolInvocation/invoked".to_owned(), widget.invoked.into());
    }
    if spec.widget.is_some() || !(spec.category.mutates() || spec.name == CALL_TOOL) {
        // ChatGPT lets a widget call only tools that allow it. Widgets may call read tools, and
        // mutations only where the widget exists for that mutation.
        meta.insert("openai/widgetAccessible".to_owned(), true.into());
    }
    meta
}

/// The registry guarantees that every schema is an object.
fn object(schema: &Value) -> Arc<JsonObject> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}
