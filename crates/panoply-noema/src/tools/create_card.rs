//! `create-card`: creates a note and its cards.

use std::collections::BTreeMap;

use panoply_contract::prelude::*;
use serde_json::json;

use super::interfering;
use super::notes::{
    AnchorParam, CreatedNote, FormParam, NoteInput, QualityView, duplicate_warning, duplicates_of,
    pluralize, quality, quality_warning,
};
use super::service::{
    APPROVE, Change, NoemaService, exact_evidence, now, require_permission, with_next,
};
use super::specs::MUTATION;
use super::wire::{CardId, DeckId};
use crate::collection;
use crate::store::StoreWriter;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "create-card",
    title: "Create a card",
    description: Description {
        does: "Creates a note and its cards: basic, reversed, cloze, typed or multiple choice. Cards are drafts until approved, unless `draft` is false.",
        when: "Use this to add one fact; keep one fact per card. For more than three use `create-cards`.",
        returns: "Returns the ids of the created cards, duplicates, and an action id that undoes it.",
        asks: &["Make a card: capital of Thailand is Bangkok", "Add this sentence as a cloze"],
    },
    permissions: &["cards:create"],
    data: &["cards", "decks"],
    examples: &[
        Example { shows: "a basic card", params: r##"{"deckId": "deck_456", "front": "What is 9 × 7?", "back": "63", "draft": false}"##, expect: Expect::Data(r##"{"note": {"fields": ["What is 9 × 7?", "63"]}}"##) },
        Example { shows: "a cloze with two gaps", params: r##"{"deckId": "deck_456", "form": "cloze", "front": "{{c1::2}} + {{c2::2}} = 4"}"##, expect: Expect::Data(r##"{"duplicates": []}"##) },
        Example { shows: "a note of a type with named fields", params: r##"{"deckId": "deck_456", "noteType": "Basic", "fields": {"Front": "8 × 8", "Back": "64"}}"##, expect: Expect::Data(r##"{"note": {"fields": ["8 × 8", "64"]}}"##) },
        Example { shows: "an empty front", params: r##"{"deckId": "deck_456", "front": " ", "back": "x"}"##, expect: Expect::Error("NO_CARDS") },
    ],
    tags: &["cards", "content"],
    listing: Listing::Core,
    ..MUTATION
}
.checked();

/// The object to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Deck of the cards.
    deck_id: DeckId,
    /// Form of the note, which determines its cards.
    #[serde(default)]
    form: FormParam,
    /// Note type by id or name, instead of a form; `list-note-types` has them. Give its content in `fields`.
    #[schemars(length(min = 1, max = 100))]
    #[schemars(extend("x-listed" = false))]
    note_type: Option<String>,
    /// Content by field name, for a card with `noteType`.
    #[schemars(length(max = 50), extend("additionalProperties" = super::wire::field_value()))]
    #[serde(default)]
    #[schemars(extend("x-listed" = false))]
    fields: BTreeMap<String, String>,
    /// Question; for a cloze the text with deletions such as `{{c1::Bangkok}}` or `{{c1::Bangkok::a city}}`.
    #[schemars(length(max = 20000))]
    #[serde(default)]
    front: String,
    /// Answer; for multiple choice the correct one of `choices`.
    #[schemars(length(max = 20000))]
    #[serde(default)]
    back: String,
    /// Options of a multiple-choice card, 2 or more; they are shuffled for every review.
    #[schemars(length(max = 26), inner(length(max = 20000)))]
    #[serde(default)]
    #[schemars(extend("x-listed" = false))]
    choices: Vec<String>,
    /// Additional text shown with the answer of a cloze or multiple-choice card.
    #[schemars(length(max = 20000))]
    #[serde(default)]
    #[schemars(extend("x-listed" = false))]
    extra: String,
    /// Tags such as `geo::capital`.
    #[schemars(length(max = 100), inner(length(max = 200)))]
    #[serde(default)]
    tags: Vec<String>,
    /// Origin: a URL, a book or the trace id of a tool call.
    #[schemars(length(max = 500))]
    #[schemars(extend("x-listed" = false))]
    source: Option<String>,
    /// Place in a document, instead of `source`.
    #[schemars(extend("x-listed" = false))]
    anchor: Option<AnchorParam>,
    /// Whether the card needs approval before it is studied.
    #[serde(default = "default_true")]
    draft: bool,
}

const fn default_true() -> bool {
    true
}

/// The created notes and cards.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The note and its cards.
    note: CreatedNote,
    /// Cards whose first field is equal.
    duplicates: Vec<CardId>,
    /// Faults of wording that make the card hard to remember.
    quality: Vec<QualityView>,
    /// Dry-run flag and undo id.
    #[serde(flatten)]
    change: Change,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let deck = params.deck_id.domain();
    let Params {
        deck_id: _,
        form,
        note_type,
        fields,
        front,
        back,
        choices,
        extra,
        tags,
        source,
        anchor,
        draft,
    } = params;
    if !draft {
        require_permission(cx, APPROVE, "creating a card that is not a draft")?;
    }
    let input =
        NoteInput { form, note_type, fields, front, back, choices, extra, tags, source, anchor };
    let new = service.read(|reader| input.into_new(reader, deck, draft))?;
    let (duplicates, name, faults) = service.read(|reader| {
        let first = new.fields.first().map_or("", String::as_str);
        let name = collection::deck(reader, deck)?.name;
        let mut faults = quality(reader, &new)?;
        faults.extend(interfering::existing(reader, &new, now(cx))?);
        Ok((duplicates_of(reader, first)?, name, faults))
    })?;
    let summary = format!("created a note in `{name}`");
    let add = |writer: &mut dyn StoreWriter, now| collection::add_note(writer, new, now);
    service.change(cx, SPEC.name, &summary, add, |(note, cards), change| {
        let made = CreatedNote::of(&note, &cards);
        let verb = if cx.dry_run { "Would create" } else { "Created" };
        let text = format!("{verb} {} in `{name}`.", pluralize(cards.len(), "card"));
        let approve = (!cx.dry_run && draft).then(|| {
            NextAction::new(
                "approve-drafts",
                json!({"cardIds": made.card_ids}),
                "ask the learner to approve it for study",
            )
        });
        let mut reply = Reply::new(
            Output { note: made, duplicates: duplicates.clone(), quality: faults.clone(), change },
            text,
            exact_evidence("the new note"),
        );
        if !duplicates.is_empty() {
            reply = reply.warn(duplicate_warning(&duplicates));
        }
        if let Some(warning) = quality_warning(&faults.iter().collect::<Vec<_>>()) {
            reply = reply.warn(warning);
        }
        Ok(with_next(reply, approve))
    })
}
