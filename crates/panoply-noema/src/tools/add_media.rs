//! `add-media`: stores a picture, sound or video for cards.

use panoply_contract::prelude::*;

use super::import_export::{decode_base64, read_file};
use super::media_view::MediaView;
use super::service::{Change, NoemaService, exact_evidence};
use super::specs::{MUTATION, per_minute};
use crate::error::NoemaError;
use crate::media::{self, InvalidMedia, MediaKind};

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "add-media",
    title: "Add a media file",
    description: Description {
        does: "Stores a picture, sound or video under a name, for the fields of cards. The content decides the format; scripts and other files are refused.",
        when: "Use this before `create-card` or `update-card`, and put `reference` of the reply into a field.",
        returns: "Returns the file, the text that shows it in a field, and an action id that undoes it. Adding the same file twice changes nothing.",
        asks: &["Put this picture on the card", "Add the pronunciation to this word"],
    },
    permissions: &["media:create"],
    data: &["media"],
    examples: &[
        Example { shows: "a small picture", params: r##"{"name": "dot.gif", "contentBase64": "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"}"##, expect: Expect::Data(r##"{"media": {"name": "dot.gif", "kind": "image", "mimeType": "image/gif", "bytes": 42}, "reference": "<img src=\"dot.gif\">"}"##) },
        Example { shows: "a page in place of a picture", params: r##"{"name": "a.png", "contentBase64": "PGh0bWw+"}"##, expect: Expect::Error("BAD_MEDIA") },
    ],
    tags: &["cards", "content", "media"],
    rate_limit: per_minute(120),
    ..MUTATION
}
.checked();

/// The file to add.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// File name with its extension, such as `heart.png`.
    #[schemars(length(min = 1, max = 120))]
    name: String,
    /// The content as base64, up to about 3 MB.
    #[schemars(length(min = 1, max = 4200000))]
    content_base64: Option<String>,
    /// Path of the file on this machine; owner only.
    #[schemars(length(min = 1, max = 1000))]
    path: Option<String>,
}

/// The stored file.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The file.
    media: MediaView,
    /// Text that shows it in a field.
    reference: String,
    /// Dry-run flag and undo id.
    #[serde(flatten)]
    change: Change,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let bytes = match (&params.content_base64, &params.path) {
        (Some(text), None) => decode_base64(text)?,
        (None, Some(path)) => read_file(&service.roots, path)?,
        _ => {
            let message = "expected either `contentBase64` or `path`";
            return Err(ToolError::validation("ONE_SOURCE", message)
                .hint("send the file as `contentBase64`, or name it with `path`"));
        }
    };
    let name = params.name;
    let format = media::check(&name, &bytes).map_err(NoemaError::from)?;
    let reference = match format.kind {
        MediaKind::Image => format!("<img src=\"{}\">", name.replace('"', "&quot;")),
        MediaKind::Audio | MediaKind::Video => format!("[sound:{name}]"),
    };
    service.change(
        cx,
        SPEC.name,
        &format!("added the media file `{name}`"),
        |writer, now| match writer.media_file(&name)? {
            None => writer.put_media(&name, &bytes, now),
            Some(known) if writer.media(&name)?.as_deref() == Some(bytes.as_slice()) => Ok(known),
            Some(_) => Err(InvalidMedia::NameTaken(name.clone()).into()),
        },
        |file, change| {
            let verb = if cx.dry_run { "Would store" } else { "Stored" };
            let text = format!("{verb} `{}` with {} bytes.", file.name, file.size);
            let media = MediaView::from(&file);
            let output = Output { media, reference: reference.clone(), change };
            Ok(Reply::new(output, text, exact_evidence("the stored file")))
        },
    )
}
