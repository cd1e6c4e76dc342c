//! `unsuspend-cards`: puts up to 500 cards that were suspended or buried back into study.

use super::desk::{Change, Desk, with_next};
use super::wire::{CardIds, Item, batch_evidence, done, each};
use crate::card::Hold;
use crate::library;
use panoply_contract::prelude::*;

const SPEC: ToolSpec = ToolSpec {
    name: "unsuspend-cards",
    title: "Unsuspend cards",
    description: Description {
        does: "Puts up to 500 cards that were suspended or buried back into study.",
        when: "Use this when a card was mended, or when the learner wants it back.",
        returns: "Returns for each card what happened to it, in order, and one action id that takes all of it back.",
        asks: &["Show me that card again"],
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
        Example { shows: "a card that is suspended", params: r##"{"cardIds": ["card_126"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_126", "outcome": "done"}]}"##) },
        Example { shows: "a card that is not", params: r##"{"cardIds": ["card_123"]}"##, expect: Expect::Data(r##"{"items": [{"outcome": "unchanged"}]}"##) },
    ],
    tags: &["cards", "scheduling"],
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
pub(super) struct UnsuspendCards {
    pub(super) desk: Desk,
}

impl Tool for UnsuspendCards {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let summary = format!("unsuspended {} cards", params.card_ids.0.len());
        let (items, change) = self.desk.change(cx, SPEC.name, &summary, |ledger, now| {
            each(&params.card_ids, |id| library::hold_card(ledger, id, Hold::None, None, now))
        })?;
        let changed = done(&items);
        let text = format!(
            "{} {changed} of {} cards.",
            if cx.dry_run { "Dry run: unsuspended" } else { "Have unsuspended" },
            items.len()
        );
        let evidence = batch_evidence(&items);
        let undo = change.undo();
        Ok(with_next(Reply::new(Output { items, changed, change }, text, evidence), undo))
    }
}
