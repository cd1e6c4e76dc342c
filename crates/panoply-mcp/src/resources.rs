//! `resources/list`, `resources/templates/list` and `resources/read`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use panoply_contract::context::{CallContext, Caller};
use panoply_contract::dialect::plain_error;
use panoply_contract::error::{ErrorKind, ToolError};
use panoply_contract::resource::{Resource, ResourceBody, ResourceContent, ResourceTemplate};
use rmcp::model::{
    CacheScope, ErrorData, ListResourceTemplatesResult, ListResourcesResult, MetaObject,
    PaginatedRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
};

use crate::pagination::{ListPage, PAGE_SIZE, page};
use crate::server::Inner;
use crate::tools::LIST_TTL_MS;
use crate::widgets;

/// Lists the resources that this caller may read.
pub(crate) fn list(
    server: &Inner,
    request: Option<PaginatedRequestParams>,
    caller: &Caller,
) -> Result<ListResourcesResult, ErrorData> {
    let mut resources = server.kernel.resources(&server.scope, caller);
    resources.extend(widgets::list(&server.kernel, &server.scope, caller));
    let ListPage { items, next } = page(resources, request, PAGE_SIZE)?;
    let mut result = ListResourcesResult::with_all_items(items.into_iter().map(listed).collect())
        .with_ttl_ms(LIST_TTL_MS)
        .with_cache_scope(CacheScope::Private);
    result.next_cursor = next;
    Ok(result)
}

/// Lists the resource templates that this caller may read.
pub(crate) fn templates(
    server: &Inner,
    request: Option<PaginatedRequestParams>,
    caller: &Caller,
) -> Result<ListResourceTemplatesResult, ErrorData> {
    let ListPage { items, next } =
        page(server.kernel.resource_templates(&server.scope, caller), request, PAGE_SIZE)?;
    let mut result = ListResourceTemplatesResult::with_all_items(
        items.into_iter().map(listed_template).collect(),
    )
    .with_ttl_ms(LIST_TTL_MS)
    .with_cache_scope(CacheScope::Private);
    result.next_cursor = next;
    Ok(result)
}

/// Reads a resource.
pub(crate) async fn read(
    server: &Inner,
    uri: &str,
    cx: CallContext,
) -> Result<ReadResourceResponse, ErrorData> {
    if let Some(page) = widgets::read(&server.kernel, &server.scope, &cx.caller, uri) {
        return Ok(ReadResourceResult::new(vec![contents(page)]).into());
    }
    match server.kernel.read_resource(&server.scope, uri, &cx).await {
        Ok(found) => Ok(ReadResourceResult::new(vec![contents(found)]).into()),
        Err(error) => Err(refused(&error, &cx)),
    }
}

/// Results of reads and completions cannot carry a tool error, so every error becomes a
/// JSON-RPC error.
pub(crate) fn refused(error: &ToolError, cx: &CallContext) -> ErrorData {
    let data = Some(plain_error(error));
    let message = error.message.clone();
    match error.kind {
        ErrorKind::NotFound => ErrorData::resource_not_found(message, data),
        ErrorKind::System | ErrorKind::Storage | ErrorKind::Timeout => {
            tracing::error!(trace_id = %cx.trace_id, cause = error.cause_chain(), "a resource or a completion could not be read");
            ErrorData::internal_error(message, data)
        }
        ErrorKind::Validation
        | ErrorKind::Business
        | ErrorKind::Conflict
        | ErrorKind::Forbidden
        | ErrorKind::RateLimited
        | ErrorKind::Removed
        | ErrorKind::Cancelled => ErrorData::invalid_params(message, data),
    }
}

fn contents(found: ResourceContent) -> ResourceContents {
    let contents = match found.body {
        ResourceBody::Text(text) => ResourceContents::text(text, found.uri),
        ResourceBody::Bytes(bytes) => ResourceContents::blob(STANDARD.encode(bytes), found.uri),
    };
    let contents = contents.with_mime_type(found.mime_type);
    if found.meta.is_empty() { contents } else { contents.with_meta(MetaObject(found.meta)) }
}

fn listed(resource: Resource) -> rmcp::model::Resource {
    let listed = rmcp::model::Resource::new(resource.uri, resource.name)
        .with_title(resource.title)
        .with_description(resource.description)
        .with_mime_type(resource.mime_type);
    match resource.size {
        Some(size) => listed.with_size(size),
        None => listed,
    }
}

fn listed_template(template: ResourceTemplate) -> rmcp::model::ResourceTemplate {
    rmcp::model::ResourceTemplate::new(template.uri_template, template.name)
        .with_title(template.title)
        .with_description(template.description)
        .with_mime_type(template.mime_type)
}
