//! `approve-drafts`: releases up to 500 drafts for study after a person has reviewed them.

use std::sync::Arc;

use super::approval::ApprovalSubject;
use super::batch::{BatchAction, Cards, Output, change_each_card_if};
use super::service::{APPROVE, NoemaService};
use super::specs::BATCH;
use crate::collection;
use crate::error::NoemaError;
use crate::store::StoreWriter;
use panoply_contract::consent::{ConsentRule, Question};
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
    listing: Listing::Core,
    ..BATCH
}
.checked();

/// Agents lack the permission. If their client supports elicitation, the person decides.
const CONSENT: ConsentRule = ConsentRule {
    permission: APPROVE,
    needs: &["cards:update"],
    other_ways: "let a person approve them: in a client that supports elicitation, in the console of the server as the owner, with `panoply call approve-drafts`, or by a call with an owner's key",
};

pub(super) struct ApproveDrafts {
    pub(super) service: Arc<NoemaService>,
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
        let unchanged_since_shown = |writer: &dyn StoreWriter| match &cx.consent {
            None => Ok(()),
            Some(consent) => {
                let subject = ApprovalSubject::of(writer, &params.card_ids)?;
                let is_same = subject.fingerprint().is_ok_and(|hash| hash == consent.subject());
                if is_same { Ok(()) } else { Err(NoemaError::ApprovalStale) }
            }
        };
        change_each_card_if(
            &self.service,
            cx,
            &action,
            &params.card_ids,
            unchanged_since_shown,
            collection::approve_draft,
        )
    }

    fn question(&self, params: &Cards, _: &CallContext) -> Result<Question, ToolError> {
        self.service.read(|reader| ApprovalSubject::of(reader, &params.card_ids))?.question()
    }
}
