//! Media of a card in a reply: their descriptions, and the small ones as content.

use panoply_contract::prelude::*;
use panoply_contract::reply::Attachment;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::error::Result;
use crate::html;
use crate::media::{MediaFile, MediaKind};
use crate::occlusion::{Occlusion, Region};
use crate::store::StoreReader;

/// Most files that a reply describes.
const MAX_DESCRIBED: usize = 20;
/// Most files that a reply contains.
const MAX_ATTACHED: usize = 4;
/// Largest file that a reply contains, in bytes.
const MAX_ATTACHED_BYTES: u64 = 1 << 20;

/// Address of a media file as a resource.
pub(crate) const URI_PREFIX: &str = "noema://media/";

/// A media file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MediaView {
    /// Name, as `<img src=\"name\">` or `[sound:name]` reference it.
    pub(crate) name: String,
    /// What it is shown as; null if it is stored for export only.
    pub(crate) kind: Option<KindView>,
    /// MIME type; null if it is stored for export only.
    pub(crate) mime_type: Option<String>,
    /// Size in bytes.
    pub(crate) bytes: u64,
    /// Resource that returns its content; null if it is not shown.
    pub(crate) uri: Option<String>,
}

/// What a file is shown as.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KindView {
    /// Picture.
    Image,
    /// Sound.
    Audio,
    /// Video.
    Video,
}

impl From<&MediaFile> for MediaView {
    fn from(file: &MediaFile) -> Self {
        let kind = file.format.map(|format| match format.kind {
            MediaKind::Image => KindView::Image,
            MediaKind::Audio => KindView::Audio,
            MediaKind::Video => KindView::Video,
        });
        let encoded = utf8_percent_encode(&file.name, NON_ALPHANUMERIC);
        Self {
            name: file.name.clone(),
            kind,
            mime_type: file.format.map(|format| format.mime.to_owned()),
            bytes: file.size,
            uri: file.format.map(|_| format!("{URI_PREFIX}{encoded}")),
        }
    }
}

/// The media that HTML references and that are stored, except those in `shown`.
pub(crate) fn referenced(
    reader: &dyn StoreReader,
    html: &str,
    shown: &str,
) -> Result<(Vec<MediaView>, Vec<Attachment>)> {
    let before = html::media_names(shown);
    let (mut views, mut attachments) = (Vec::new(), Vec::new());
    let names = html::media_names(html);
    for name in names.iter().filter(|name| !before.contains(name)).take(MAX_DESCRIBED) {
        let Some(file) = reader.media_file(name)? else { continue };
        let small = file.size <= MAX_ATTACHED_BYTES && attachments.len() < MAX_ATTACHED;
        if small && let Some(bytes) = reader.media(name)? {
            attachments.extend(attachment(&file, bytes));
        }
        views.push(MediaView::from(&file));
    }
    Ok((views, attachments))
}

/// The file as MCP content; `None` for videos and files that are not shown.
pub(crate) fn attachment(file: &MediaFile, bytes: Vec<u8>) -> Option<Attachment> {
    let format = file.format?;
    match format.kind {
        MediaKind::Image => Some(Attachment::Image { bytes, mime_type: format.mime }),
        MediaKind::Audio => Some(Attachment::Audio { bytes, mime_type: format.mime }),
        MediaKind::Video => None,
    }
}

/// A text to speak.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SpeechView {
    /// Language, such as `th_TH`.
    language: String,
    /// Text.
    text: String,
}

/// The texts that a side speaks.
pub(crate) fn speech(html: &str) -> Vec<SpeechView> {
    let texts = html::speech(html).into_iter();
    texts.map(|(language, text)| SpeechView { language, text }).take(20).collect()
}

/// An image occlusion card.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct OcclusionView {
    /// Name of the picture.
    image: Option<String>,
    /// Regions.
    regions: Vec<RegionView>,
}

/// A region, as shares of the picture.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct RegionView {
    /// Shape: `rect`, `ellipse` or `polygon`.
    shape: &'static str,
    /// Left edge.
    left: f64,
    /// Top edge.
    top: f64,
    /// Width.
    width: f64,
    /// Height.
    height: f64,
    /// Corners of a polygon.
    points: Vec<(f64, f64)>,
    /// Whether the card asks for it.
    asked: bool,
    /// Whether the question hides it.
    hidden: bool,
}

impl OcclusionView {
    pub(crate) fn of(occlusion: &Occlusion) -> Self {
        let region = |region: &Region| RegionView {
            shape: region.shape.as_str(),
            left: region.left,
            top: region.top,
            width: region.width,
            height: region.height,
            points: region.points.clone(),
            asked: region.asked,
            hidden: region.hidden,
        };
        let regions = occlusion.regions.iter().take(200).map(region).collect();
        Self { image: occlusion.image_name(), regions }
    }
}

/// Adds attachments to a reply.
pub(crate) fn attach<T: Serialize>(reply: Reply<T>, attachments: Vec<Attachment>) -> Reply<T> {
    attachments.into_iter().fold(reply, Reply::attach)
}
