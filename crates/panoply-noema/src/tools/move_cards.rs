//! `move-cards`: moves up to 500 cards to another deck.

use super::batch::{BatchAction, CardIds, Output, change_each_card};
use super::service::NoemaService;
use super::specs::BATCH;
use super::wire::DeckId;
use crate::collection;
use panoply_contract::prelude::*;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "move-cards",
    title: "Move cards",
    description: Description {
        does: "Moves up to 500 cards into another deck.",
        when: "Use this to organise cards. A filtered deck contains no cards, so nothing can be moved there.",
        returns: "Returns the outcome of each card, in order, and one action id that undoes all changes.",
        asks: &["Move all my capitals into the geography deck"],
    },
    permissions: &["cards:update"],
    examples: &[
        Example { shows: "into another deck", params: r##"{"cardIds": ["card_123"], "deckId": "deck_457"}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_123", "outcome": "done"}]}"##) },
        Example { shows: "to where it is", params: r##"{"cardIds": ["card_123"], "deckId": "deck_456"}"##, expect: Expect::Data(r##"{"items": [{"outcome": "unchanged"}]}"##) },
        Example { shows: "to a deck that does not exist", params: r##"{"cardIds": ["card_123"], "deckId": "deck_1"}"##, expect: Expect::Error("DECK_NOT_FOUND") },
    ],
    tags: &["cards", "content"],
    ..BATCH
}
.checked();

/// The cards to change.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The cards.
    card_ids: CardIds,
    /// Deck of the cards.
    deck_id: DeckId,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let target =
        service.read(|reader| collection::regular_deck(reader, params.deck_id.domain()))?.id;
    let action = BatchAction { tool: SPEC.name, done: "moved" };
    change_each_card(service, cx, &action, &params.card_ids, |writer, id, now| {
        collection::move_card(writer, id, target, now)
    })
}
