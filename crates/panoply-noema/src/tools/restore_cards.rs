//! `restore-cards`: restores up to 500 cards deleted in the last 30 days, with their notes and
//! decks.

use super::batch::{BatchAction, Cards, Output, change_each_card};
use super::service::NoemaService;
use super::specs::BATCH;
use crate::collection;
use panoply_contract::prelude::*;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "restore-cards",
    title: "Restore cards",
    description: Description {
        does: "Restores up to 500 cards deleted in the last 30 days, with their notes and decks.",
        when: "Use this when something was deleted by mistake and `undo-action` is no longer possible.",
        returns: "Returns the outcome of each card, in order, and one action id that undoes all changes.",
        asks: &["Restore the card I deleted yesterday"],
    },
    permissions: &["cards:update"],
    examples: &[
        Example { shows: "a card that is not deleted", params: r##"{"cardIds": ["card_123"]}"##, expect: Expect::Data(r##"{"items": [{"outcome": "unchanged"}], "changed": 0}"##) },
        Example { shows: "a card that does not exist", params: r##"{"cardIds": ["card_999"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_999", "outcome": "failed"}], "changed": 0}"##) },
    ],
    tags: &["cards", "content"],
    ..BATCH
}
.checked();

pub(super) fn call(
    service: &NoemaService,
    params: Cards,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let action = BatchAction { tool: SPEC.name, done: "restored" };
    change_each_card(service, cx, &action, &params.card_ids, collection::restore_card)
}
