//! `create-card`: creates a note and its cards.

use panoply_contract::prelude::*;
use serde_json::json;

use super::notes::{
    CreatedNote, FormParam, NoteInput, duplicate_warning, duplicates_of, pluralize,
};
use super::service::{
    APPROVE, Change, NoemaService, exact_evidence, require_permission, with_next,
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
        Example { shows: "a basic card", params: r##"{"deckId": "deck_456", "front": "What is 9 × 7?", "back": "63", "draft": false}"##, expect: Expect::Data(r##"{"note": {"fields": ["What is 9 × 7?", "63"]}, "dryRun": true}"##) },
        Example { shows: "a cloze with two gaps", params: r##"{"deckId": "deck_456", "form": "cloze", "front": "{{c1::2}} + {{c2::2}} = 4"}"##, expect: Expect::Data(r##"{"dryRun": true}"##) },
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
    /// Question; for a cloze the text with deletions such as `{{c1::Bangkok}}` or `{{c1::Bangkok::a city}}`.
    #[schemars(length(max = 20000))]
    front: String,
    /// Answer; for multiple choice the correct one.
    #[schemars(length(max = 20000))]
    #[serde(default)]
    back: String,
    /// Options of a multiple-choice card.
    #[schemars(length(max = 26))]
    #[serde(default)]
    choices: Vec<String>,
    /// Additional text shown with the answer of a cloze or multiple-choice card.
    #[schemars(length(max = 20000))]
    #[serde(default)]
    extra: String,
    /// Tags such as `geo::capital`.
    #[schemars(length(max = 100))]
    #[serde(default)]
    tags: Vec<String>,
    /// Origin: a URL, a book or the trace id of a tool call.
    #[schemars(length(max = 500))]
    source: Option<String>,
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
    let Params { form, front, back, choices, extra, tags, source, draft, .. } = params;
    if !draft {
        require_permission(cx, APPROVE, "creating a card that is not a draft")?;
    }
    let new = NoteInput { form, front, back, choices, extra, tags, source }.into_new(deck, draft);
    let (duplicates, name) = service.read(|reader| {
        let first = new.fields.first().map_or("", String::as_str);
        Ok((duplicates_of(reader, first)?, collection::deck(reader, deck)?.name))
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
        let undo = change.undo();
        let mut reply = Reply::new(
            Output { note: made, duplicates: duplicates.clone(), change },
            text,
            exact_evidence("the new note"),
        );
        if !duplicates.is_empty() {
            reply = reply.warn(duplicate_warning(&duplicates));
        }
        Ok(with_next(reply, approve.into_iter().chain(undo)))
    })
}
