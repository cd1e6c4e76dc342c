//! `update-card`: changes the note, deck or flag of a card.

use panoply_contract::prelude::*;
use std::collections::BTreeMap;

use super::service::{Change, NoemaService, exact_evidence};
use super::specs::MUTATION;
use super::wire::{CardId, DeckId};
use crate::collection::{self, NoteChanges};
use crate::{html, render};

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "update-card",
    title: "Change a card",
    description: Description {
        does: "Changes the fields or tags of a card's note, or the deck or flag of the card; generates and deletes cards as the note requires.",
        when: "Use this to correct or improve a card. Pass the version from `get-card`, so that concurrent changes are not lost.",
        returns: "Returns the changed note with its new version, and an action id that undoes it.",
        asks: &["Correct the answer of this card", "Make that question shorter"],
    },
    permissions: &["cards:update"],
    data: &["cards", "decks"],
    examples: &[
        Example { shows: "a better answer", params: r##"{"cardId": "card_123", "version": 1, "fields": {"Back": "56 (7 × 8)"}}"##, expect: Expect::Data(r##"{"version": 2}"##) },
        Example { shows: "a version that is out of date", params: r##"{"cardId": "card_123", "version": 7, "fields": {"Back": "x"}}"##, expect: Expect::Error("STALE_VERSION") },
    ],
    tags: &["cards", "content"],
    listing: Listing::Core,
    ..MUTATION
}
.checked();

/// The change to make.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Card.
    card_id: CardId,
    /// Version you read; omit to skip the check.
    #[schemars(range(min = 1, max = 1000000))]
    version: Option<i64>,
    /// New values by field name, such as {"Back": "Bangkok"}.
    #[schemars(length(max = 50), extend("additionalProperties" = super::wire::field_value()))]
    #[serde(default)]
    fields: BTreeMap<String, String>,
    /// Complete list of tags; omit to leave them unchanged.
    #[schemars(length(max = 100), inner(length(max = 200)))]
    tags: Option<Vec<String>>,
    /// New deck of the card.
    deck_id: Option<DeckId>,
    /// Flag from 1 to 7; 0 for none.
    #[schemars(range(min = 0, max = 7))]
    #[schemars(extend("x-listed" = false))]
    flag: Option<u8>,
}

/// The card after the change.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Card.
    card_id: CardId,
    /// New content version.
    version: i64,
    /// Front as plain text.
    front: String,
    /// Back as plain text.
    back: String,
    /// Tags of the note.
    tags: Vec<String>,
    /// Dry-run flag and undo id.
    #[serde(flatten)]
    change: Change,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let id = params.card_id.domain();
    let changes = NoteChanges {
        fields: params.fields,
        tags: params.tags,
        version: params.version,
        deck: params.deck_id.as_ref().map(DeckId::domain),
        flag: params.flag,
    };
    let summary = format!("changed card `{}`", params.card_id);
    service.change(
        cx,
        SPEC.name,
        &summary,
        |writer, now| {
            let (note, card) = collection::update_card(writer, id, changes, now)?;
            let (note, note_type) = collection::note_and_type(writer, note.id)?;
            let sides = render::sides_of(&note_type, &note, &card);
            Ok((note, sides))
        },
        |(note, sides), change| {
            let text = format!(
                "{} card `{}`; its version is {}.",
                if cx.dry_run { "Would change" } else { "Changed" },
                params.card_id,
                note.version
            );
            let output = Output {
                card_id: params.card_id,
                version: note.version,
                front: html::shown(&sides.front),
                back: html::shown(&sides.back),
                tags: note.tags,
                change,
            };
            let mut reply = Reply::new(output, text, exact_evidence("the changed card"));
            if params.version.is_none() {
                reply = reply.assuming(
                    "no version was given, so a concurrent change would have been overwritten",
                );
            }
            Ok(reply)
        },
    )
}
