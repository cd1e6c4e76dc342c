//! `restore-cards`: brings back up to 500 cards that were deleted in the last 30 days, with their notes and decks.

use super::batch::{BatchAction, BatchSpec, Cards, Output, batch_spec, change_each_card};
use super::service::NoemaService;
use crate::collection;
use panoply_contract::prelude::*;

const SPEC: ToolSpec = batch_spec(BatchSpec {
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
    pub(super) service: NoemaService,
}

impl Tool for RestoreCards {
    type Params = Cards;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Cards, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let action = BatchAction { tool: SPEC.name, done: "restored" };
        change_each_card(&self.service, cx, &action, &params.card_ids, |writer, id, now| {
            collection::restore_card(writer, id, now)
        })
    }
}
