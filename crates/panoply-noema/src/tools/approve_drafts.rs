//! `approve-drafts`: releases up to 500 drafts for study after a person has reviewed them.

use super::batch::{BatchAction, Cards, Output, change_each_card};
use super::service::NoemaService;
use super::specs::BATCH;
use crate::collection;
use panoply_contract::prelude::*;

const SPEC: ToolSpec = ToolSpec {
    name: "approve-drafts",
    title: "Approve drafts",
    description: Description {
        does: "Releases up to 500 drafts for study after a person has reviewed them.",
        when: "Use this only after the learner has seen the cards and agreed. Other cards stay unchanged.",
        returns: "Returns the outcome of each card, in order, and one action id that undoes all changes.",
        asks: &["Yes, those cards are good"],
    },
    permissions: &[APPROVE],
    examples: &[
        Example { shows: "a draft", params: r##"{"cardIds": ["card_127"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_127", "outcome": "done"}]}"##) },
        Example { shows: "a card that is not a draft", params: r##"{"cardIds": ["card_123"]}"##, expect: Expect::Data(r##"{"items": [{"outcome": "unchanged"}]}"##) },
    ],
    tags: &["cards", "content"],
    ..BATCH
}
.checked();

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
        change_each_card(&self.service, cx, &action, &params.card_ids, collection::approve_draft)
    }

    fn question(&self, params: &Cards, _: &CallContext) -> Result<Question, ToolError> {
        self.desk.read(|records| Shown::of(records, &params.card_ids))?.question()
    }
}
