//! `approve-drafts`: lets up to 500 drafts into study after a person has looked at them.

use super::batch::{BatchAction, BatchSpec, Cards, Output, batch_spec, change_each_card};
use super::service::NoemaService;
use crate::collection;
use panoply_contract::prelude::*;

const SPEC: ToolSpec = batch_spec(BatchSpec {
    name: "approve-drafts",
    title: "Approve drafts",
    description: Description {
        does: "Lets up to 500 drafts into study after a person has looked at them.",
        when: "Use this only after the learner has seen the cards and agreed. Other cards are left as they are.",
        returns: "Returns for each card what happened to it, in order, and one action id that takes all of it back.",
        asks: &["Yes, those cards are good"],
    },
    permissions: &[APPROVE],
    examples: &[
        Example { shows: "a draft", params: r##"{"cardIds": ["card_127"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_127", "outcome": "done"}]}"##) },
        Example { shows: "a card that is no draft", params: r##"{"cardIds": ["card_123"]}"##, expect: Expect::Data(r##"{"items": [{"outcome": "unchanged"}]}"##) },
    ],
    tags: &["cards", "content"],
})
.checked();

/// Agents lack the permission. Where their client can ask the person, they may call all the same.
const CONSENT: ConsentRule = ConsentRule {
    permission: APPROVE,
    needs: &["cards:update"],
    other_ways: "let a person approve them: in a client that supports elicitation, in the console of the server as the owner, with `panoply call approve-drafts`, or by a call with an owner's key",
};

/// See the module.
pub(super) struct ApproveDrafts {
    pub(super) service: NoemaService,
}

impl Tool for ApproveDrafts {
    type Params = Cards;
    type Output = Output;

    const CONSENT: Option<&'static ConsentRule> = Some(&CONSENT);

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Cards, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let action = BatchAction { tool: SPEC.name, done: "approved" };
        change_each_card(&self.service, cx, &action, &params.card_ids, |writer, id, now| {
            collection::approve_draft(writer, id, now)
        })
    }

    fn question(&self, params: &Cards, _: &CallContext) -> Result<Question, ToolError> {
        self.desk.read(|records| Shown::of(records, &params.card_ids))?.question()
    }
}
