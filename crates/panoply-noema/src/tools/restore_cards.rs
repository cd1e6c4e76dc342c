//! `restore-cards`: brings back up to 500 cards that were deleted in the last 30 days, with their notes and decks.

use super::batch::{Cards, Doing, Output, Own, batch_spec, change_each};
use super::desk::Desk;
use crate::library;
use panoply_contract::prelude::*;

const SPEC: ToolSpec = batch_spec(Own {
    name: "restore-cards",
    title: "Restore cards",
    description: Description {
        does: "Brings back up to 500 cards that were deleted in the last 30 days, with their notes and decks.",
        when: "Use this when something was deleted by mistake and `undo-action` is no longer possible.",
        returns: "Returns for each card what happened to it, in order, and one action id that takes all of it back.",
        asks: &["Bring back the card I deleted yesterday"],
    },
    permissions: &["cards:update"],
    examples: &[
        Example { shows: "a card that is not deleted", params: r##"{"cardIds": ["card_123"]}"##, expect: Expect::Data(r##"{"items": [{"outcome": "unchanged"}], "changed": 0}"##) },
        Example { shows: "a card that is not there", params: r##"{"cardIds": ["card_999"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_999", "outcome": "failed"}], "changed": 0}"##) },
    ],
    tags: &["cards", "content"],
})
.checked();

/// See the module.
pub(super) struct RestoreCards {
    pub(super) desk: Desk,
}

impl Tool for RestoreCards {
    type Params = Cards;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Cards, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let doing = Doing { tool: SPEC.name, done: "restored" };
        change_each(&self.desk, cx, &doing, &params.card_ids, |ledger, id, now| {
            library::restore_card(ledger, id, now)
        })
    }
}
