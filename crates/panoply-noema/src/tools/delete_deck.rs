//! `delete-deck`: deletes a deck with its subdecks and cards; restorable for 30 days.

use super::service::{Change, NoemaService, exact_evidence, now};
use super::specs::MUTATION;
use super::wire::{DeckId, timestamp};
use crate::collection;
use panoply_contract::prelude::*;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "delete-deck",
    title: "Delete a deck",
    description: Description {
        does: "Deletes a deck with its subdecks and all their cards; they can be restored for 30 days.",
        when: "Use this only when the learner asks for it. To stop studying a deck without losing it, suspend its cards with `suspend-cards`.",
        returns: "Returns the number of deleted decks and cards, and an action id that undoes it.",
        asks: &["Delete my old French deck"],
    },
    permissions: &["decks:delete"],
    data: &["decks", "cards", "schedule"],
    examples: &[
        Example { shows: "a deck and its cards", params: r##"{"deckId": "deck_457"}"##, expect: Expect::Data(r##"{"decks": 1}"##) },
        Example { shows: "a deck that does not exist", params: r##"{"deckId": "deck_1"}"##, expect: Expect::Error("DECK_NOT_FOUND") },
    ],
    tags: &["decks", "content"],
    annotations: Annotations { destructive: true, open_world: false },
    ..MUTATION
}
.checked();

/// The deck to use.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The deck.
    deck_id: DeckId,
}

/// The deleted objects.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Number of decks, including subdecks.
    decks: usize,
    /// Number of cards.
    cards: usize,
    /// End of the period in which they can be restored.
    restorable_until: String,
    /// Dry-run flag and undo id.
    #[serde(flatten)]
    change: Change,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let id = params.deck_id.domain();
    let name = service.read(|reader| Ok(collection::deck(reader, id)?.name))?;
    let summary = format!("deleted the deck `{name}`");
    service.change(
        cx,
        SPEC.name,
        &summary,
        |writer, now| collection::delete_deck(writer, id, now),
        |(decks, cards), change| {
            let text = format!(
                "{} `{name}`: {decks} decks, {cards} cards.",
                if cx.dry_run { "Would delete" } else { "Deleted" }
            );
            let output = Output {
                decks,
                cards,
                restorable_until: timestamp(now(cx) + collection::DELETED_RETENTION),
                change,
            };
            Ok(Reply::new(output, text, exact_evidence("the deleted deck")))
        },
    )
}
