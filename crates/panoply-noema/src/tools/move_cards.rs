//! `move-cards`: moves up to 500 cards into another deck.

use super::batch::{CardIds, Doing, Output, Own, batch_spec, change_each};
use super::desk::Desk;
use super::wire::DeckId;
use crate::library;
use panoply_contract::prelude::*;

const SPEC: ToolSpec = batch_spec(Own {
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
    pub(super) desk: Desk,
}

impl Tool for MoveCards {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let target =
            self.desk.read(|records| library::holding_deck(records, params.deck_id.domain()))?.id;
        let doing = Doing { tool: SPEC.name, done: "moved" };
        change_each(&self.desk, cx, &doing, &params.card_ids, |ledger, id, now| {
            library::move_card(ledger, id, target, now)
        })
    }
}
