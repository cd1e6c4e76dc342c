//! Media files as MCP resources, `noema://media/{name}`.

use std::sync::Arc;

use futures::future::BoxFuture;
use panoply_contract::context::CallContext;
use panoply_contract::error::ToolError;
use panoply_contract::resource::{
    ResourceBody, ResourceContent, ResourceProvider, ResourceTemplate,
};
use serde_json::{Map, json};

use super::media_view::URI_PREFIX;
use super::service::NoemaService;
use crate::html::percent_decode;

/// Largest file that is read as a resource, in bytes.
const MAX_RESOURCE_BYTES: u64 = 32 << 20;

/// Serves media files.
pub(super) struct MediaResources {
    pub(super) service: Arc<NoemaService>,
}

impl MediaResources {
    fn content(&self, uri: &str, name: &str) -> Result<ResourceContent, ToolError> {
        let found = self.service.read(|reader| {
            let Some(file) = reader.media_file(name)? else { return Ok(None) };
            let small = file.size <= MAX_RESOURCE_BYTES && file.format.is_some();
            Ok(Some((file, if small { reader.media(name)? } else { None })))
        })?;
        let missing = || {
            ToolError::not_found("MEDIA_NOT_FOUND", format!("there is no media file `{name}`"))
                .hint("find media files with `list-media`")
        };
        let (file, bytes) = found.ok_or_else(missing)?;
        let (Some(format), Some(bytes)) = (file.format, bytes) else {
            let message = format!("`{name}` is not a picture, sound or video of at most 32 MB");
            return Err(ToolError::business("MEDIA_NOT_SHOWN", message)
                .hint("export it with `export-package`"));
        };
        let mut meta = Map::new();
        // For those who put it into a page: even an SVG with a script stays a picture.
        meta.insert("contentSecurityPolicy".to_owned(), json!("sandbox; default-src 'none'"));
        Ok(ResourceContent {
            uri: uri.to_owned(),
            mime_type: format.mime.to_owned(),
            body: ResourceBody::Bytes(bytes),
            meta,
        })
    }
}

impl ResourceProvider for MediaResources {
    fn permissions(&self) -> &'static [&'static str] {
        &["media:read"]
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        vec![ResourceTemplate {
            uri_template: format!("{URI_PREFIX}{{name}}"),
            name: "noema-media".to_owned(),
            title: "A media file of a card".to_owned(),
            description: "A picture, sound or video, by its name (percent-encoded).".to_owned(),
            mime_type: "application/octet-stream".to_owned(),
        }]
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        _: &'a CallContext,
    ) -> BoxFuture<'a, Option<Result<ResourceContent, ToolError>>> {
        Box::pin(async move {
            let name = percent_decode(uri.strip_prefix(URI_PREFIX)?);
            Some(self.content(uri, &name))
        })
    }
}
