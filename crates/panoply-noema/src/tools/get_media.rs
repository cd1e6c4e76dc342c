//! `get-media`: returns a picture or sound as content.

use panoply_contract::prelude::*;

use super::media_view::{MediaView, attach, attachment};
use super::service::{NoemaService, exact_evidence};
use super::specs::QUERY;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "get-media",
    title: "Get a media file",
    description: Description {
        does: "Returns a picture or sound of the collection as MCP image or audio content, and describes any other media file.",
        when: "Use this to see or hear a file that a card references and that its reply did not contain.",
        returns: "Returns the description and, up to 4 MB, the content. Larger files and videos are read as the resource `uri`.",
        asks: &["Show me the picture heart.png"],
    },
    permissions: &["media:read"],
    data: &["media"],
    examples: &[
        Example { shows: "the picture of the sample", params: r##"{"name": "dot.gif"}"##, expect: Expect::Data(r##"{"media": {"name": "dot.gif", "kind": "image"}}"##) },
        Example { shows: "a file that does not exist", params: r##"{"name": "none.png"}"##, expect: Expect::Error("MEDIA_NOT_FOUND") },
    ],
    tags: &["cards", "content", "media"],
    ..QUERY
}
.checked();

/// Largest file that a reply contains, in bytes.
const MAX_BYTES: u64 = 4 << 20;

/// The file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Name of the file.
    #[schemars(length(min = 1, max = 255))]
    name: String,
}

/// The file.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The file.
    media: MediaView,
    /// Whether the reply contains it.
    attached: bool,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    _: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let found = service.read(|reader| {
        let Some(file) = reader.media_file(&params.name)? else { return Ok(None) };
        let small = file.size <= MAX_BYTES;
        let bytes = if small { reader.media(&params.name)? } else { None };
        let content = bytes.and_then(|bytes| attachment(&file, bytes));
        Ok(Some((file, content)))
    })?;
    let (file, content) = found.ok_or_else(|| {
        let message = format!("there is no media file `{}`", params.name);
        ToolError::not_found("MEDIA_NOT_FOUND", message).hint("find media files with `list-media`")
    })?;
    let text = format!("`{}` has {} bytes.", file.name, file.size);
    let output = Output { media: MediaView::from(&file), attached: content.is_some() };
    let reply = Reply::new(output, text, exact_evidence("the stored file"));
    Ok(attach(reply, content.into_iter().collect()))
}
