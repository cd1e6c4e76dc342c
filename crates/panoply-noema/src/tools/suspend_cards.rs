//! `suspend-cards`: takes up to 500 cards out of study until they are unsuspended.

use super::batch::{Cards, Doing, Output, Own, batch_spec, change_each};
use super::desk::Desk;
use crate::card::Hold;
use crate::library;
use panoply_contract::prelude::*;

const SPEC: ToolSpec = batch_spec(Own {
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
    pub(super) desk: Desk,
}

impl Tool for SuspendCards {
    type Params = Cards;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Cards, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let doing = Doing { tool: SPEC.name, done: "suspended" };
        change_each(&self.desk, cx, &doing, &params.card_ids, |ledger, id, now| {
            library::hold_card(ledger, id, Hold::Suspended, now)
        })
    }
}
