//! `reschedule-cards`: changes when up to 500 cards come back: in so many days, by their memory for the retention wanted now, or as if never answered.

use super::batch::{BatchAction, BatchSpec, CardIds, Output, batch_spec, change_each_card};
use super::service::NoemaService;
use crate::collection::{self, Reschedule};
use panoply_contract::prelude::*;

const SPEC: ToolSpec = batch_spec(BatchSpec {
    name: "reschedule-cards",
    title: "Reschedule cards",
    description: Description {
        does: "Changes when up to 500 cards come back: in so many days, by their memory for the retention wanted now, or as if never answered.",
        when: "Use this before an exam, after a change of retention, or to start a card over. The log of answers is kept.",
        returns: "Returns for each card what happened to it, in order, and one action id that takes all of it back.",
        asks: &["Show me these again tomorrow", "Reset this card"],
    },
    permissions: &["schedule:update"],
    examples: &[
        Example { shows: "in three days", params: r##"{"cardIds": ["card_123"], "how": "in-days", "days": 3}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_123", "outcome": "done"}], "dryRun": true}"##) },
        Example { shows: "from the beginning", params: r##"{"cardIds": ["card_125"], "how": "forget"}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_125", "outcome": "done"}]}"##) },
        Example { shows: "days are missing", params: r##"{"cardIds": ["card_123"], "how": "in-days"}"##, expect: Expect::Error("DAYS_MISSING") },
    ],
    tags: &["scheduling", "cards"],
})
.checked();

/// Which cards.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The cards.
    card_ids: CardIds,
    /// What to do with them.
    how: How,
    /// In how many days they come back, for `in-days`.
    #[schemars(range(min = 0, max = 36500))]
    days: Option<u32>,
}

/// What to do with cards.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum How {
    /// They come back in so many days.
    InDays,
    /// They come back when their memory says, for the retention wanted now.
    ByMemory,
    /// As if they had never been answered.
    Forget,
}

/// See the module.
pub(super) struct RescheduleCards {
    pub(super) service: NoemaService,
}

impl Tool for RescheduleCards {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
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
        change_each_card(&self.service, cx, &action, &params.card_ids, |writer, id, now| {
            collection::reschedule(writer, id, how, now)
        })
    }
}
