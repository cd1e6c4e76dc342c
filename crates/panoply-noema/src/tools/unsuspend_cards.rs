//! `unsuspend-cards`: puts up to 500 cards that were suspended or buried back into study.

use super::batch::{BatchAction, BatchSpec, Cards, Output, batch_spec, change_each_card};
use super::service::NoemaService;
use crate::card::Hold;
use crate::collection;
use panoply_contract::prelude::*;

const SPEC: ToolSpec = batch_spec(BatchSpec {
    name: "unsuspend-cards",
    title: "Unsuspend cards",
    description: Description {
        does: "Puts up to 500 cards that were suspended or buried back into study.",
        when: "Use this when a card was mended, or when the learner wants it back.",
        returns: "Returns for each card what happened to it, in order, and one action id that takes all of it back.",
        asks: &["Show me that card again"],
    },
    permissions: &["cards:update"],
    examples: &[
        Example { shows: "a card that is suspended", params: r##"{"cardIds": ["card_126"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_126", "outcome": "done"}]}"##) },
        Example { shows: "a card that is not", params: r##"{"cardIds": ["card_123"]}"##, expect: Expect::Data(r##"{"items": [{"outcome": "unchanged"}]}"##) },
    ],
    tags: &["cards", "scheduling"],
})
.checked();

/// See the module.
pub(super) struct UnsuspendCards {
    pub(super) service: NoemaService,
}

impl Tool for UnsuspendCards {
    type Params = Cards;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Cards, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let action = BatchAction { tool: SPEC.name, done: "unsuspended" };
        change_each_card(&self.service, cx, &action, &params.card_ids, |writer, id, now| {
            collection::set_hold(writer, id, Hold::None, now)
        })
    }
}
