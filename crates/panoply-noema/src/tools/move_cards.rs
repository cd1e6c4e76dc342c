//! `move-cards`: moves up to 500 cards into another deck.

use super::batch::{BatchAction, BatchSpec, CardIds, Output, batch_spec, change_each_card};
use super::service::NoemaService;
use super::wire::DeckId;
use crate::collection;
use panoply_contract::prelude::*;

const SPEC: ToolSpec = batch_spec(BatchSpec {
    name: "move-cards",
    title: "Move cards",
    description: Description {
        does: "Moves up to 500 cards into another deck.",
        when: "Use this to sort cards. A filtered deck holds no cards, so nothing can be moved there.",
        returns: "Returns for each card what happened to it, in order, and one action id that takes all of it back.",
        asks: &["Move all my capitals into the geography deck"],
    },
    permissions: &["cards:update"],
    examples: &[
        Example { shows: "into another deck", params: r##"{"cardIds": ["card_123"], "deckId": "deck_457"}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_123", "outcome": "done"}], "dryRun": true}"##) },
        Example { shows: "to where it is", params: r##"{"cardIds": ["card_123"], "deckId": "deck_456"}"##, expect: Expect::Data(r##"{"items": [{"outcome": "unchanged"}]}"##) },
        Example { shows: "to a deck that is not there", params: r##"{"cardIds": ["card_123"], "deckId": "deck_1"}"##, expect: Expect::Error("DECK_NOT_FOUND") },
    ],
    tags: &["cards", "content"],
})
.checked();

/// Which cards.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The cards.
    card_ids: CardIds,
    /// The deck they go into.
    deck_id: DeckId,
}

/// See the module.
pub(super) struct MoveCards {
    pub(super) service: NoemaService,
}

impl Tool for MoveCards {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let target = self
            .service
            .read(|reader| collection::regular_deck(reader, params.deck_id.domain()))?
            .id;
        let action = BatchAction { tool: SPEC.name, done: "moved" };
        change_each_card(&self.service, cx, &action, &params.card_ids, |writer, id, now| {
            collection::move_card(writer, id, target, now)
        })
    }
}
