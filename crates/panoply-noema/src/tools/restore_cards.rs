//! `restore-cards`: brings back up to 500 cards that were deleted in the last 30 days, with their notes and decks.

use super::desk::{Change, Desk, with_next};
use super::wire::{CardIds, Item, batch_evidence, done, each};
use crate::library;
use panoply_contract::prelude::*;

const SPEC: ToolSpec = ToolSpec {
    name: "restore-cards",
    title: "Restore cards",
    description: Description {
        does: "Brings back up to 500 cards that were deleted in the last 30 days, with their notes and decks.",
        when: "Use this when something was deleted by mistake and `undo-action` is no longer possible.",
        returns: "Returns for each card what happened to it, in order, and one action id that takes all of it back.",
        asks: &["Bring back the card I deleted yesterday"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["cards:update"],
    category: Category::Mutation,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: false,
    data: &["cards", "decks", "schedule"],
    examples: &[
        Example { shows: "a card that is not deleted", params: r##"{"cardIds": ["card_123"]}"##, expect: Expect::Data(r##"{"items": [{"outcome": "unchanged"}], "changed": 0}"##) },
        Example { shows: "a card that is not there", params: r##"{"cardIds": ["card_999"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_999", "outcome": "failed"}], "changed": 0}"##) },
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
pub(super) struct RestoreCards {
    pub(super) desk: Desk,
}

impl Tool for RestoreCards {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let summary = format!("restored {} cards", params.card_ids.0.len());
        let (items, change) = self.desk.change(cx, SPEC.name, &summary, |ledger, now| {
            each(&params.card_ids, |id| library::restore_card(ledger, id, now))
        })?;
        let changed = done(&items);
        let text = format!(
            "{} {changed} of {} cards.",
            if cx.dry_run { "Dry run: restored" } else { "Have restored" },
            items.len()
        );
        let evidence = batch_evidence(&items);
        let undo = change.undo();
        Ok(with_next(Reply::new(Output { items, changed, change }, text, evidence), undo))
    }
}
