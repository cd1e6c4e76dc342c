//! `untag-cards`: takes tags, and all tags under them, off the notes of up to 500 cards.

use super::desk::{Change, Desk, with_next};
use super::wire::{CardIds, Item, batch_evidence, done, each};
use crate::library;
use panoply_contract::prelude::*;

const SPEC: ToolSpec = ToolSpec {
    name: "untag-cards",
    title: "Untag cards",
    description: Description {
        does: "Takes tags, and all tags under them, off the notes of up to 500 cards.",
        when: "Use this to clean up tags.",
        returns: "Returns for each card what happened to it, in order, and one action id that takes all of it back.",
        asks: &["Take the leech tag off this card"],
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
        Example { shows: "a tag it has", params: r##"{"cardIds": ["card_123"], "tags": ["arithmetic"]}"##, expect: Expect::Data(r##"{"items": [{"cardId": "card_123", "outcome": "done"}], "dryRun": true}"##) },
        Example { shows: "a tag it has not", params: r##"{"cardIds": ["card_123"], "tags": ["nothing"]}"##, expect: Expect::Data(r##"{"items": [{"outcome": "unchanged"}]}"##) },
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
    /// The tags.
    #[schemars(length(min = 1, max = 50))]
    tags: Vec<String>,
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
pub(super) struct UntagCards {
    pub(super) desk: Desk,
}

impl Tool for UntagCards {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let summary = format!("untagged {} cards", params.card_ids.0.len());
        let (items, change) = self.desk.change(cx, SPEC.name, &summary, |ledger, now| {
            each(&params.card_ids, |id| library::retag(ledger, id, &[], &params.tags, now))
        })?;
        let changed = done(&items);
        let text = format!(
            "{} {changed} of {} cards.",
            if cx.dry_run { "Dry run: untagged" } else { "Have untagged" },
            items.len()
        );
        let evidence = batch_evidence(&items);
        let undo = change.undo();
        Ok(with_next(Reply::new(Output { items, changed, change }, text, evidence), undo))
    }
}
