//! `approve-drafts`: lets up to 500 drafts into study after a person has looked at them.

use super::batch::{Cards, Doing, Output, Own, batch_spec, change_each};
use super::desk::Desk;
use crate::library;
use panoply_contract::prelude::*;

const SPEC: ToolSpec = batch_spec(Own {
    name: "approve-drafts",
    title: "Approve drafts",
    description: Description {
        does: "Lets up to 500 drafts into study after a person has looked at them.",
        when: "Use this only after the learner has seen the cards and agreed. Other cards are left as they are.",
        returns: "Returns for each card what happened to it, in order, and one action id that takes all of it back.",
        asks: &["Yes, those cards are good"],
    },
    permissions: &["cards:approve"],
    examples: &[
        Example { shows: "a draft", params: r##"{"cardIds": ["card_127"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_127", "outcome": "done"}]}"##) },
        Example { shows: "a card that is no draft", params: r##"{"cardIds": ["card_123"]}"##, expect: Expect::Data(r##"{"items": [{"outcome": "unchanged"}]}"##) },
    ],
    tags: &["cards", "content"],
})
.checked();

/// See the module.
pub(super) struct ApproveDrafts {
    pub(super) desk: Desk,
}

impl Tool for ApproveDrafts {
    type Params = Cards;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Cards, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let doing = Doing { tool: SPEC.name, done: "approved" };
        change_each(&self.desk, cx, &doing, &params.card_ids, |ledger, id, now| {
            library::approve_draft(ledger, id, now)
        })
    }
}
