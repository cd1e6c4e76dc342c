//! The pages that hosts show beside a reply, at the `ui://` addresses that tools declare.
//!
//! Until a tool has a page of its own, its address leads to a plain one that shows any reply
//! as a sentence and a table: a host that finds nothing there shows an error instead.

use std::collections::BTreeMap;

use panoply_contract::context::Caller;
use panoply_contract::kernel::{Kernel, Scope};
use panoply_contract::resource::{Resource, ResourceBody, ResourceContent};
use serde_json::{Map, json};

/// What MCP Apps hosts and ChatGPT know a page by.
const MIME_TYPE: &str = "text/html;profile=mcp-app";
const PLAIN: &str = include_str!("widgets/plain.html");

/// The pages of the tools that this caller may call.
pub(crate) fn list(kernel: &Kernel, scope: &Scope, caller: &Caller) -> Vec<Resource> {
    let page = |(uri, title): (&'static str, &'static str)| Resource {
        uri: uri.to_owned(),
        name: uri.rsplit('/').next().unwrap_or(uri).to_owned(),
        title: title.to_owned(),
        description: format!("The page that shows replies of \"{title}\"."),
        mime_type: MIME_TYPE.to_owned(),
        size: u64::try_from(PLAIN.len()).ok(),
    };
    declared(kernel, scope, caller).into_iter().map(page).collect()
}

/// The page at `uri`, if a tool that this caller may call declares it.
pub(crate) fn read(
    kernel: &Kernel,
    scope: &Scope,
    caller: &Caller,
    uri: &str,
) -> Option<ResourceContent> {
    if !uri.starts_with("ui://") || !declared(kernel, scope, caller).contains_key(uri) {
        return None;
    }
    // The page needs no network, and says so to hosts that ask.
    let nothing = json!({"connectDomains": [], "resourceDomains": []});
    let meta = Map::from_iter([("ui".to_owned(), json!({"csp": nothing, "prefersBorder": true}))]);
    Some(ResourceContent {
        uri: uri.to_owned(),
        mime_type: MIME_TYPE.to_owned(),
        body: ResourceBody::Text(PLAIN.to_owned()),
        meta,
    })
}

/// Each address once, with the title of the first tool that declares it.
fn declared(
    kernel: &Kernel,
    scope: &Scope,
    caller: &Caller,
) -> BTreeMap<&'static str, &'static str> {
    let mut pages = BTreeMap::new();
    for entry in kernel.callable(scope, caller) {
        if let Some(widget) = entry.spec.widget {
            pages.entry(widget.resource_uri).or_insert(entry.spec.title);
        }
    }
    pages
}
