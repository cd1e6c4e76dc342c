//! `suspend-cards`: takes up to 500 cards out of study until they are unsuspended.

use super::batch::{BatchAction, BatchSpec, Cards, Output, batch_spec, change_each_card};
use super::service::NoemaService;
use crate::card::Hold;
use crate::collection;
use panoply_contract::prelude::*;

const SPEC: ToolSpec = batch_spec(BatchSpec {
    name: "suspend-cards",
    title: "Suspend cards",
    description: Description {
        does: "Takes up to 500 cards out of study until they are unsuspended.",
        when: "Use this for cards that are wrong, too hard for now, or not needed. Their schedule is kept.",
        returns: "Returns for each card what happened to it, in order, and one action id that takes all of it back.",
        asks: &["Stop showing me this card"],
    },
    permissions: &["cards:update"],
    examples: &[
        Example { shows: "one card", params: r##"{"cardIds": ["card_123"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_123", "outcome": "done"}], "dryRun": true}"##) },
        Example { shows: "a card that is not there", params: r##"{"cardIds": ["card_999"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_999", "outcome": "failed"}], "changed": 0}"##) },
    ],
    tags: &["cards", "scheduling"],
})
.checked();

/// See the module.
pub(super) struct SuspendCards {
    pub(super) service: NoemaService,
}

impl Tool for SuspendCards {
    type Params = Cards;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Cards, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let action = BatchAction { tool: SPEC.name, done: "suspended" };
        change_each_card(&self.service, cx, &action, &params.card_ids, |writer, id, now| {
            collection::set_hold(writer, id, Hold::Suspended, now)
        })
    }
}
