//! `approve-drafts`: lets up to 500 drafts into study after a person has looked at them.

use super::desk::{Change, Desk, with_next};
use super::notes::approve;
use super::wire::{CardIds, Item, batch_evidence, done, each};
use panoply_contract::prelude::*;

const SPEC: ToolSpec = ToolSpec {
    name: "approve-drafts",
    title: "Approve drafts",
    description: Description {
        does: "Lets up to 500 drafts into study after a person has looked at them.",
        when: "Use this only after the learner has seen the cards and agreed. Other cards are left as they are.",
        returns: "Returns for each card what happened to it, in order, and one action id that takes all of it back.",
        asks: &["Yes, those cards are good"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["cards:review"],
    category: Category::Mutation,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: false,
    data: &["cards", "decks", "schedule"],
    examples: &[
        Example { shows: "a draft", params: r##"{"cardIds": ["card_127"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_127", "outcome": "done"}]}"##) },
        Example { shows: "a card that is no draft", params: r##"{"cardIds": ["card_123"]}"##, expect: Expect::Data(r##"{"items": [{"outcome": "unchanged"}]}"##) },
    ],
    tags: &["cards", "content"],
    rate_limit: Some(RateLimit { max_calls: 300, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// Which cards.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The cards.
    card_ids: CardIds,
}

/// What happened.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// What happened to each, in order.
    items: Vec<Item>,
    /// How many were changed.
    changed: usize,
    /// Whether something was changed, and how to take it back.
    #[serde(flatten)]
    change: Change,
}

/// See the module.
pub(super) struct ApproveDrafts {
    pub(super) desk: Desk,
}

impl Tool for ApproveDrafts {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let summary = format!("approved {} cards", params.card_ids.0.len());
        let (items, change) = self.desk.change(cx, SPEC.name, &summary, |ledger, now| {
            each(&params.card_ids, |id| approve(ledger, id, now))
        })?;
        let changed = done(&items);
        let text = format!(
            "{} {changed} of {} cards.",
            if cx.dry_run { "Dry run: approved" } else { "Have approved" },
            items.len()
        );
        let evidence = batch_evidence(&items);
        let undo = change.undo();
        Ok(with_next(Reply::new(Output { items, changed, change }, text, evidence), undo))
    }
}
