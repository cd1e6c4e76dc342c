//! `tag-cards`: adds tags to the notes of up to 500 cards; a tag may have parents, such as `geo::capital`.

use super::batch::{BatchAction, BatchSpec, Output, TaggedCards, batch_spec, change_each_card};
use super::service::NoemaService;
use crate::collection;
use panoply_contract::prelude::*;

const SPEC: ToolSpec = batch_spec(BatchSpec {
    name: "tag-cards",
    title: "Tag cards",
    description: Description {
        does: "Adds tags to the notes of up to 500 cards; a tag may have parents, such as `geo::capital`.",
        when: "Use this to group cards across decks.",
        returns: "Returns for each card what happened to it, in order, and one action id that takes all of it back.",
        asks: &["Tag these as exam material"],
    },
    permissions: &["cards:update"],
    examples: &[
        Example { shows: "a new tag", params: r##"{"cardIds": ["card_123"], "tags": ["exam::june"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_123", "outcome": "done"}], "dryRun": true}"##) },
        Example { shows: "a tag it has", params: r##"{"cardIds": ["card_123"], "tags": ["arithmetic"]}"##, expect: Expect::Data(r##"{"items": [{"outcome": "unchanged"}]}"##) },
    ],
    tags: &["cards", "content"],
})
.checked();

/// See the module.
pub(super) struct TagCards {
    pub(super) service: NoemaService,
}

impl Tool for TagCards {
    type Params = TaggedCards;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(
        &self,
        params: TaggedCards,
        cx: &CallContext,
    ) -> Result<Reply<Output>, ToolError> {
        let action = BatchAction { tool: SPEC.name, done: "tagged" };
        change_each_card(&self.service, cx, &action, &params.card_ids, |writer, id, now| {
            collection::retag(writer, id, &params.tags, &[], now)
        })
    }
}
