//! `reschedule-cards`: changes the due dates of up to 500 cards.

use super::batch::{BatchAction, CardIds, Output, change_each_card};
use super::service::NoemaService;
use super::specs::BATCH;
use crate::collection::{self, Reschedule};
use panoply_contract::prelude::*;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "reschedule-cards",
    title: "Reschedule cards",
    description: Description {
        does: "Reschedules up to 500 cards: due in a number of days, by memory state for the desired retention, or reset to new.",
        when: "Use this before an exam, after a change of retention, or to start a card over. The review log is preserved.",
        returns: "Returns the outcome of each card, in order, and one action id that undoes all changes.",
        asks: &["Show me these again tomorrow", "Reset this card"],
    },
    permissions: &["schedule:update"],
    examples: &[
        Example { shows: "in three days", params: r##"{"cardIds": ["card_123"], "how": "in-days", "days": 3}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_123", "outcome": "done"}]}"##) },
        Example { shows: "from the beginning", params: r##"{"cardIds": ["card_125"], "how": "forget"}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_125", "outcome": "done"}]}"##) },
        Example { shows: "days are missing", params: r##"{"cardIds": ["card_123"], "how": "in-days"}"##, expect: Expect::Error("DAYS_MISSING") },
    ],
    tags: &["scheduling", "cards"],
    ..BATCH
}
.checked();

/// The cards to change.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The cards.
    card_ids: CardIds,
    /// How to reschedule.
    how: How,
    /// Days until due, for `in-days`.
    #[schemars(range(min = 0, max = 36500))]
    days: Option<u32>,
}

/// How to reschedule cards.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum How {
    /// Due in a number of days.
    InDays,
    /// Due when the probability of recall falls to the desired retention.
    ByMemory,
    /// Reset to new.
    Forget,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let how = match (params.how, params.days) {
        (How::InDays, Some(days)) => Reschedule::InDays(days),
        (How::InDays, None) => {
            return Err(ToolError::validation("DAYS_MISSING", "`in-days` needs `days`")
                .hint("add `days`, such as 3"));
        }
        (How::ByMemory, _) => Reschedule::ByMemory,
        (How::Forget, _) => Reschedule::Forget,
    };
    let action = BatchAction { tool: SPEC.name, done: "rescheduled" };
    change_each_card(service, cx, &action, &params.card_ids, |writer, id, now| {
        collection::reschedule(writer, id, how, now)
    })
}
