//! `tag-cards`: adds tags to the notes of up to 500 cards.

use super::batch::{BatchAction, Output, TaggedCards, change_each_card};
use super::service::NoemaService;
use super::specs::BATCH;
use crate::collection;
use panoply_contract::prelude::*;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "tag-cards",
    title: "Tag cards",
    description: Description {
        does: "Adds tags to the notes of up to 500 cards; a tag may have parents, such as `geo::capital`.",
        when: "Use this to group cards across decks.",
        returns: "Returns the outcome of each card, in order, and one action id that undoes all changes.",
        asks: &["Tag these as exam material"],
    },
    permissions: &["cards:update"],
    examples: &[
        Example { shows: "a new tag", params: r##"{"cardIds": ["card_123"], "tags": ["exam::june"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_123", "outcome": "done"}]}"##) },
        Example { shows: "a tag it has", params: r##"{"cardIds": ["card_123"], "tags": ["arithmetic"]}"##, expect: Expect::Data(r##"{"items": [{"outcome": "unchanged"}]}"##) },
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
    let action = BatchAction { tool: SPEC.name, done: "tagged" };
    change_each_card(service, cx, &action, &params.card_ids, |writer, id, now| {
        collection::retag(writer, id, &params.tags, &[], now)
    })
}
