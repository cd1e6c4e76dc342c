//! `delete-cards`: deletes up to 500 cards, and notes with their last card; restorable for 30 days.

use super::batch::{BatchAction, Cards, Output, change_each_card};
use super::service::NoemaService;
use super::specs::BATCH;
use crate::collection;
use panoply_contract::prelude::*;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "delete-cards",
    title: "Delete cards",
    description: Description {
        does: "Deletes up to 500 cards, and each note with its last card. They can be restored for 30 days.",
        when: "Use this only when the learner asks for it. To stop studying cards use `suspend-cards`.",
        returns: "Returns the outcome of each card, in order, and one action id that undoes all changes.",
        asks: &["Delete these three cards"],
    },
    permissions: &["cards:delete"],
    examples: &[
        Example { shows: "one card", params: r##"{"cardIds": ["card_123"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_123", "outcome": "done"}]}"##) },
        Example { shows: "a card that does not exist", params: r##"{"cardIds": ["card_999"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_999", "outcome": "failed"}], "changed": 0}"##) },
    ],
    tags: &["cards", "content"],
    annotations: Annotations { destructive: true, open_world: false },
    ..BATCH
}
.checked();

pub(super) fn call(
    service: &NoemaService,
    params: Cards,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let action = BatchAction { tool: SPEC.name, done: "deleted" };
    change_each_card(service, cx, &action, &params.card_ids, collection::delete_card)
}
