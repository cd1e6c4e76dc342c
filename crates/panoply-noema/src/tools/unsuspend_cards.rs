//! `unsuspend-cards`: unsuspends or unburies up to 500 cards.

use super::batch::{BatchAction, Cards, Output, change_each_card};
use super::service::NoemaService;
use super::specs::BATCH;
use crate::card::Hold;
use crate::collection;
use panoply_contract::prelude::*;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "unsuspend-cards",
    title: "Unsuspend cards",
    description: Description {
        does: "Returns up to 500 suspended or buried cards to study.",
        when: "Use this when a card was corrected, or when the learner wants to study it again.",
        returns: "Returns the outcome of each card, in order, and one action id that undoes all changes.",
        asks: &["Show me that card again"],
    },
    permissions: &["cards:update"],
    examples: &[
        Example { shows: "a card that is suspended", params: r##"{"cardIds": ["card_126"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_126", "outcome": "done"}]}"##) },
        Example { shows: "a card that is not", params: r##"{"cardIds": ["card_123"]}"##, expect: Expect::Data(r##"{"items": [{"outcome": "unchanged"}]}"##) },
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
    let action = BatchAction { tool: SPEC.name, done: "unsuspended" };
    change_each_card(service, cx, &action, &params.card_ids, |writer, id, now| {
        collection::set_hold(writer, id, Hold::None, now)
    })
}
