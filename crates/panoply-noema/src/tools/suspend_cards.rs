//! `suspend-cards`: suspends up to 500 cards.

use super::batch::{BatchAction, Cards, Output, change_each_card};
use super::service::NoemaService;
use super::specs::BATCH;
use crate::card::Hold;
use crate::collection;
use panoply_contract::prelude::*;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "suspend-cards",
    title: "Suspend cards",
    description: Description {
        does: "Suspends up to 500 cards until they are unsuspended.",
        when: "Use this for cards that are wrong, too hard for now, or not needed. Their schedule is preserved.",
        returns: "Returns the outcome of each card, in order, and one action id that undoes all changes.",
        asks: &["Stop showing me this card"],
    },
    permissions: &["cards:update"],
    examples: &[
        Example { shows: "one card", params: r##"{"cardIds": ["card_123"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_123", "outcome": "done"}]}"##) },
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
    let action = BatchAction { tool: SPEC.name, done: "suspended" };
    change_each_card(service, cx, &action, &params.card_ids, |writer, id, now| {
        collection::set_hold(writer, id, Hold::Suspended, now)
    })
}
