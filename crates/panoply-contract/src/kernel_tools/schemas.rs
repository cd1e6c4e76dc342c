//! The JSON schemas of the contract's own types as resources. Output schemas name them by URI.

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::context::CallContext;
use crate::dialect::Metadata;
use crate::error::ToolError;
use crate::hints::AgentHints;
use crate::resource::{ResourceBody, ResourceContent, ResourceProvider, ResourceTemplate};

/// URI of the schema of `agentHints`.
pub(crate) const HINTS_URI: &str = "panoply://schemas/agent-hints";
/// URI of the schema of `metadata`.
pub(crate) const METADATA_URI: &str = "panoply://schemas/metadata";

const MIME_TYPE: &str = "application/schema+json";

/// Serves the schemas.
pub(crate) struct Schemas;

impl ResourceProvider for Schemas {
    // A template, so that the list holds only what users may want to read.
    fn templates(&self) -> Vec<ResourceTemplate> {
        vec![ResourceTemplate {
            uri_template: "panoply://schemas/{type}".to_owned(),
            name: "schemas".to_owned(),
            title: "Schemas of the contract".to_owned(),
            description: "JSON schemas of agent-hints and metadata in replies".to_owned(),
            mime_type: MIME_TYPE.to_owned(),
        }]
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        _cx: &'a CallContext,
    ) -> BoxFuture<'a, Option<Result<ResourceContent, ToolError>>> {
        let content = schema(uri).map(|schema| {
            Ok(ResourceContent {
                uri: uri.to_owned(),
                mime_type: MIME_TYPE.to_owned(),
                body: ResourceBody::Text(schema.to_string()),
                meta: Map::new(),
            })
        });
        Box::pin(std::future::ready(content))
    }
}

fn schema(uri: &str) -> Option<Value> {
    match uri {
        HINTS_URI => Some(crate::schema::of::<AgentHints>()),
        METADATA_URI => Some(crate::schema::of::<Metadata>()),
        _ => None,
    }
}
