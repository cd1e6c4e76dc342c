//! `bury-cards`: buries up to 500 cards until the next day.

use super::batch::{BatchAction, Cards, Output, change_each_card};
use super::service::NoemaService;
use super::specs::BATCH;
use crate::collection;
use panoply_contract::prelude::*;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "bury-cards",
    title: "Bury cards",
    description: Description {
        does: "Buries up to 500 cards until the next study day of their deck.",
        when: "Use this for cards the learner does not want today. They return by themselves; `unsuspend-cards` returns them immediately.",
        returns: "Returns the outcome of each card, in order, and one action id that undoes all changes.",
        asks: &["Not this card today", "Leave these for tomorrow"],
    },
    permissions: &["cards:update"],
    examples: &[
        Example { shows: "one card", params: r##"{"cardIds": ["card_123"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_123", "outcome": "done"}]}"##) },
        Example { shows: "a card that is suspended", params: r##"{"cardIds": ["card_126"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_126", "outcome": "failed"}]}"##) },
        Example { shows: "a card that does not exist", params: r##"{"cardIds": ["card_999"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_999", "outcome": "failed"}], "changed": 0}"##) },
    ],
    tags: &["cards", "scheduling"],
    ..BATCH
}
.checked();

pub(super) fn call(
    service: &NoemaService,
    params: Cards,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let action = BatchAction { tool: SPEC.name, done: "buried" };
    change_each_card(service, cx, &action, &params.card_ids, collection::bury_card)
}
