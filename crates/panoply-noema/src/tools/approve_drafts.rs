//! `approve-drafts`: lets up to 500 drafts into study after a person has looked at them.

use super::approval::Shown;
use super::batch::{Cards, Doing, Output, Own, batch_spec, change_each_if};
use super::desk::{APPROVE, Desk};
use crate::library;
use crate::problem::Problem;
use crate::store::Ledger;
use panoply_contract::consent::{ConsentRule, Question};
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
    pub(super) desk: Desk,
}

impl Tool for ApproveDrafts {
    type Params = Cards;
    type Output = Output;

    const CONSENT: Option<&'static ConsentRule> = Some(&CONSENT);

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Cards, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let doing = Doing { tool: SPEC.name, done: "approved" };
        let as_shown = |ledger: &dyn Ledger| match &cx.consent {
            None => Ok(()),
            Some(consent) => {
                let shown = Shown::of(ledger, &params.card_ids)?;
                let is_same = shown.subject().is_ok_and(|subject| subject == consent.subject());
                if is_same { Ok(()) } else { Err(Problem::NotAsShown) }
            }
        };
        change_each_if(&self.desk, cx, &doing, &params.card_ids, as_shown, |ledger, id, now| {
            library::approve_draft(ledger, id, now)
        })
    }

    fn question(&self, params: &Cards, _: &CallContext) -> Result<Question, ToolError> {
        self.desk.read(|records| Shown::of(records, &params.card_ids))?.question()
    }
}
