//! `delete-cards`: deletes up to 500 cards; a note goes with the last of its cards. They can be restored for 30 days.

use super::batch::{BatchAction, BatchSpec, Cards, Output, batch_spec, change_each_card};
use super::service::NoemaService;
use crate::collection;
use panoply_contract::prelude::*;

const SPEC: ToolSpec = ToolSpec {
    annotations: Annotations { destructive: true, open_world: false },
    ..batch_spec(BatchSpec {
        name: "delete-cards",
        title: "Delete cards",
        description: Description {
            does: "Deletes up to 500 cards; a note goes with the last of its cards. They can be restored for 30 days.",
            when: "Use this only when the learner asks for it. To stop studying cards use `suspend-cards`.",
            returns: "Returns for each card what happened to it, in order, and one action id that takes all of it back.",
            asks: &["Delete these three cards"],
        },
        permissions: &["cards:delete"],
        examples: &[
            Example { shows: "one card", params: r##"{"cardIds": ["card_123"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_123", "outcome": "done"}], "dryRun": true}"##) },
            Example { shows: "a card that is not there", params: r##"{"cardIds": ["card_999"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_999", "outcome": "failed"}], "changed": 0}"##) },
        ],
        tags: &["cards", "content"],
    })
}
.checked();

/// See the module.
pub(super) struct DeleteCards {
    pub(super) service: NoemaService,
}

impl Tool for DeleteCards {
    type Params = Cards;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Cards, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let action = BatchAction { tool: SPEC.name, done: "deleted" };
        change_each_card(&self.service, cx, &action, &params.card_ids, |writer, id, now| {
            collection::delete_card(writer, id, now)
        })
    }
}
