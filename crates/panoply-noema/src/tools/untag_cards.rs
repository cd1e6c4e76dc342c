//! `untag-cards`: takes tags, and all tags under them, off the notes of up to 500 cards.

use super::batch::{BatchAction, BatchSpec, Output, TaggedCards, batch_spec, change_each_card};
use super::service::NoemaService;
use crate::collection;
use panoply_contract::prelude::*;

const SPEC: ToolSpec = batch_spec(BatchSpec {
    name: "untag-cards",
    title: "Untag cards",
    description: Description {
        does: "Takes tags, and all tags under them, off the notes of up to 500 cards.",
        when: "Use this to clean up tags.",
        returns: "Returns for each card what happened to it, in order, and one action id that takes all of it back.",
        asks: &["Take the leech tag off this card"],
    },
    permissions: &["cards:update"],
    examples: &[
        Example { shows: "a tag it has", params: r##"{"cardIds": ["card_123"], "tags": ["arithmetic"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_123", "outcome": "done"}], "dryRun": true}"##) },
        Example { shows: "a tag it has not", params: r##"{"cardIds": ["card_123"], "tags": ["nothing"]}"##, expect: Expect::Data(r##"{"items": [{"outcome": "unchanged"}]}"##) },
    ],
    tags: &["cards", "content"],
})
.checked();

/// See the module.
pub(super) struct UntagCards {
    pub(super) service: NoemaService,
}

impl Tool for UntagCards {
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
        let action = BatchAction { tool: SPEC.name, done: "untagged" };
        change_each_card(&self.service, cx, &action, &params.card_ids, |writer, id, now| {
            collection::retag(writer, id, &[], &params.tags, now)
        })
    }
}
