//! `untag-cards`: removes tags and their descendants from the notes of up to 500 cards.

use super::batch::{BatchAction, Output, TaggedCards, change_each_card};
use super::service::NoemaService;
use super::specs::BATCH;
use crate::collection;
use panoply_contract::prelude::*;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "untag-cards",
    title: "Untag cards",
    description: Description {
        does: "Removes tags and their descendants from the notes of up to 500 cards.",
        when: "Use this to clean up tags.",
        returns: "Returns the outcome of each card, in order, and one action id that undoes all changes.",
        asks: &["Take the leech tag off this card"],
    },
    permissions: &["cards:update"],
    examples: &[
        Example { shows: "a tag it has", params: r##"{"cardIds": ["card_123"], "tags": ["arithmetic"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_123", "outcome": "done"}]}"##) },
        Example { shows: "a tag it has not", params: r##"{"cardIds": ["card_123"], "tags": ["nothing"]}"##, expect: Expect::Data(r##"{"items": [{"outcome": "unchanged"}]}"##) },
    ],
    tags: &["cards", "content"],
    ..BATCH
}
.checked();

pub(super) fn call(
    service: &NoemaService,
    params: TaggedCards,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let action = BatchAction { tool: SPEC.name, done: "untagged" };
    change_each_card(service, cx, &action, &params.card_ids, |writer, id, now| {
        collection::retag(writer, id, &[], &params.tags, now)
    })
}
