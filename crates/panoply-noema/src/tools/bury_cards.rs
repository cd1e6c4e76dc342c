//! `bury-cards`: keeps up to 500 cards back until tomorrow.

use super::batch::{BatchAction, BatchSpec, Cards, Output, batch_spec, change_each_card};
use super::service::NoemaService;
use crate::collection;
use panoply_contract::prelude::*;

const SPEC: ToolSpec = batch_spec(BatchSpec {
    name: "bury-cards",
    title: "Bury cards",
    description: Description {
        does: "Keeps up to 500 cards back until the next day of study begins in their deck.",
        when: "Use this for cards the learner does not want today. They come back by themselves; `unsuspend-cards` brings them back at once.",
        returns: "Returns for each card what happened to it, in order, and one action id that takes all of it back.",
        asks: &["Not this card today", "Leave these for tomorrow"],
    },
    permissions: &["cards:update"],
    examples: &[
        Example { shows: "one card", params: r##"{"cardIds": ["card_123"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_123", "outcome": "done"}], "dryRun": true}"##) },
        Example { shows: "a card that is suspended", params: r##"{"cardIds": ["card_126"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_126", "outcome": "failed"}]}"##) },
        Example { shows: "a card that is not there", params: r##"{"cardIds": ["card_999"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_999", "outcome": "failed"}], "changed": 0}"##) },
    ],
    tags: &["cards", "scheduling"],
})
.checked();

/// See the module.
pub(super) struct BuryCards {
    pub(super) service: NoemaService,
}

impl Tool for BuryCards {
    type Params = Cards;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Cards, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let action = BatchAction { tool: SPEC.name, done: "buried" };
        change_each_card(&self.service, cx, &action, &params.card_ids, |writer, id, now| {
            collection::bury_card(writer, id, now)
        })
    }
}
