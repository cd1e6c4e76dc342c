//! `create-occlusion`: creates cards that each hide a region of a picture.

use panoply_contract::prelude::*;
use serde_json::json;

use super::notes::{CreatedNote, pluralize};
use super::service::{
    APPROVE, Change, NoemaService, exact_evidence, require_permission, with_next,
};
use super::specs::MUTATION;
use super::wire::DeckId;
use crate::collection::{self, NewNote, note_types};
use crate::error::NoemaError;
use crate::media::{InvalidMedia, MediaKind};
use crate::occlusion::{self, Shape};

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "create-occlusion",
    title: "Create image occlusion cards",
    description: Description {
        does: "Creates a card for each region of a picture: the question hides the region, the answer shows it. The notes are Anki's image occlusions.",
        when: "Use this for anatomy, maps and diagrams, after `add-media` stored the picture.",
        returns: "Returns the ids of the created cards and an action id that undoes it.",
        asks: &["Hide the labels of this picture and ask me for them"],
    },
    permissions: &["cards:create"],
    data: &["cards", "decks", "templates"],
    examples: &[
        Example { shows: "two regions of a picture", params: r##"{"deckId": "deck_456", "image": "dot.gif", "regions": [{"left": 0.1, "top": 0.1, "width": 0.3, "height": 0.2}, {"left": 0.6, "top": 0.1, "width": 0.3, "height": 0.2, "shape": "ellipse"}]}"##, expect: Expect::Data("{}") },
        Example { shows: "a picture that is not stored", params: r##"{"deckId": "deck_456", "image": "none.png", "regions": [{"left": 0, "top": 0, "width": 1, "height": 1}]}"##, expect: Expect::Error("BAD_MEDIA") },
    ],
    tags: &["cards", "content", "media"],
    ..MUTATION
}
.checked();

/// The cards to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Deck of the cards.
    deck_id: DeckId,
    /// Name of the stored picture.
    #[schemars(length(min = 1, max = 255))]
    image: String,
    /// Regions, one card each.
    #[schemars(length(min = 1, max = 100))]
    regions: Vec<RegionParam>,
    /// Whether the question hides all regions and not only the one it asks for.
    #[serde(default)]
    hide_all: bool,
    /// Shown above the picture.
    #[schemars(length(max = 20000))]
    #[serde(default)]
    header: String,
    /// Shown with the answer.
    #[schemars(length(max = 20000))]
    #[serde(default)]
    extra: String,
    /// Tags such as `anatomy::heart`.
    #[schemars(length(max = 100), inner(length(max = 200)))]
    #[serde(default)]
    tags: Vec<String>,
    /// Origin: a URL, a book or the trace id of a tool call.
    #[schemars(length(max = 500))]
    source: Option<String>,
    /// Whether the cards need approval before they are studied.
    #[serde(default = "default_true")]
    draft: bool,
}

/// A region, as shares of the picture.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RegionParam {
    /// Left edge.
    #[schemars(range(min = 0.0, max = 1.0))]
    left: f64,
    /// Top edge.
    #[schemars(range(min = 0.0, max = 1.0))]
    top: f64,
    /// Width.
    #[schemars(range(min = 0.005, max = 1.0))]
    width: f64,
    /// Height.
    #[schemars(range(min = 0.005, max = 1.0))]
    height: f64,
    /// Shape.
    #[serde(default)]
    shape: ShapeParam,
}

/// Shape of a region.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ShapeParam {
    /// Rectangle.
    #[default]
    Rectangle,
    /// Ellipse in the rectangle.
    Ellipse,
}

const fn default_true() -> bool {
    true
}

/// The created cards.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The note and its cards.
    note: CreatedNote,
    /// Dry-run flag and undo id.
    #[serde(flatten)]
    change: Change,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let Params { deck_id, image, regions, hide_all, header, extra, tags, source, draft } = params;
    if !draft {
        require_permission(cx, APPROVE, "creating cards that are not drafts")?;
    }
    let deck = deck_id.domain();
    let regions: Vec<(Shape, [f64; 4])> = regions
        .iter()
        .map(|region| {
            let shape = match region.shape {
                ShapeParam::Rectangle => Shape::Rectangle,
                ShapeParam::Ellipse => Shape::Ellipse,
            };
            (shape, [region.left, region.top, region.width, region.height])
        })
        .collect();
    service.change(
        cx,
        SPEC.name,
        &format!("created {} image occlusion cards", regions.len()),
        |writer, now| {
            let is_picture = writer
                .media_file(&image)?
                .and_then(|file| file.format)
                .is_some_and(|format| format.kind == MediaKind::Image);
            if !is_picture {
                return Err(NoemaError::Media(InvalidMedia::UnknownFormat(image.clone())));
            }
            let note_type = match note_types::find(writer, occlusion::TYPE_NAME) {
                Ok(known) if occlusion::is_occlusion(&known) => known,
                _ => note_types::create(writer, occlusion::note_type(), now)?,
            };
            let picture = format!("<img src=\"{}\">", image.replace('"', "&quot;"));
            let fields = vec![occlusion::field(&regions, hide_all), picture, header, extra];
            let new = NewNote { note_type: note_type.id, fields, tags, deck, draft, source };
            collection::add_note(writer, new, now)
        },
        |(note, cards), change| {
            let made = CreatedNote::of(&note, &cards);
            let verb = if cx.dry_run { "Would create" } else { "Created" };
            let text = format!("{verb} {} of `{image}`.", pluralize(cards.len(), "card"));
            let approve = (!cx.dry_run && draft).then(|| {
                NextAction::new(
                    "approve-drafts",
                    json!({"cardIds": made.card_ids}),
                    "ask the learner to approve them for study",
                )
            });
            let reply =
                Reply::new(Output { note: made, change }, text, exact_evidence("the new note"));
            Ok(with_next(reply, approve))
        },
    )
}
