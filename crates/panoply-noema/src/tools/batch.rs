//! What tools have in common that do one thing to several cards.

use panoply_contract::prelude::*;

use super::service::{Change, NoemaService, exact_evidence, with_next};
use super::wire::CardId;
use crate::error::NoemaError;
use crate::fsrs::Micros;
use crate::ids;
use crate::store::StoreWriter;

/// What happened to one of several things.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Item {
    /// The card.
    pub(crate) card_id: CardId,
    /// What happened to it.
    pub(crate) outcome: ItemOutcome,
    /// Why it failed; null unless it did.
    pub(crate) message: Option<String>,
}

/// What happened to one of several things.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ItemOutcome {
    /// It was done.
    Done,
    /// It was so already.
    Unchanged,
    /// It could not be done; see the message.
    Failed,
}

/// Up to 500 cards.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct CardIds(#[schemars(length(min = 1, max = 500))] pub(crate) Vec<CardId>);

/// Which cards.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Cards {
    /// The cards.
    pub(crate) card_ids: CardIds,
}

/// Which cards, and which tags.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct TaggedCards {
    /// The cards.
    pub(crate) card_ids: CardIds,
    /// The tags, without blanks.
    #[schemars(length(min = 1, max = 50))]
    pub(crate) tags: Vec<String>,
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

/// What the spec of such a tool says for itself.
pub(super) struct BatchSpec {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: Description,
    pub(super) permissions: &'static [&'static str],
    pub(super) examples: &'static [Example],
    pub(super) tags: &'static [&'static str],
}

/// The spec of such a tool: what is the same for all of them stands here.
pub(super) const fn batch_spec(own: BatchSpec) -> ToolSpec {
    ToolSpec {
        name: own.name,
        title: own.title,
        description: own.description,
        version: "1.0.0",
        aliases: &[],
        permissions: own.permissions,
        category: Category::Mutation,
        response_time: ResponseTime::Medium,
        cache: CachePolicy::Never,
        idempotent: false,
        data: &["cards", "decks", "schedule"],
        examples: own.examples,
        tags: own.tags,
        rate_limit: Some(RateLimit { max_calls: 300, window: Duration::from_secs(60) }),
        deprecated: None,
        annotations: Annotations::CLOSED,
        listing: Listing::Extra,
        widget: None,
    }
}

/// What a tool does, as in "suspended 3 cards".
pub(crate) struct BatchAction {
    pub(crate) tool: &'static str,
    pub(crate) done: &'static str,
}

/// Does something to each of several cards, as one change, and says of each what happened.
pub(crate) fn change_each_card(
    service: &NoemaService,
    cx: &CallContext,
    action: &BatchAction,
    ids: &CardIds,
    mut act: impl FnMut(&mut dyn StoreWriter, ids::CardId, Micros) -> Result<bool, NoemaError>,
) -> Result<Reply<Output>, ToolError> {
    let BatchAction { tool, done } = action;
    let summary = format!("{done} {} cards", ids.0.len());
    service.change(
        cx,
        tool,
        &summary,
        |writer, now| {
            let mut items = Vec::with_capacity(ids.0.len());
            for id in &ids.0 {
                let (outcome, message) = match act(writer, id.domain(), now) {
                    Ok(true) => (ItemOutcome::Done, None),
                    Ok(false) => (ItemOutcome::Unchanged, None),
                    Err(NoemaError::Store(cause)) => return Err(NoemaError::Store(cause)),
                    Err(problem) => (ItemOutcome::Failed, Some(problem.to_string())),
                };
                items.push(Item { card_id: id.clone(), outcome, message });
            }
            Ok(items)
        },
        |items, change| {
            let count = |wanted| items.iter().filter(|item| item.outcome == wanted).count();
            let (changed, failed) = (count(ItemOutcome::Done), count(ItemOutcome::Failed));
            let told = if cx.dry_run { "Dry run:" } else { "Have" };
            let text = format!("{told} {done} {changed} of {} cards.", items.len());
            let whole = u64::try_from(items.len()).unwrap_or(u64::MAX);
            let fine = u64::try_from(items.len() - failed).unwrap_or(u64::MAX);
            let evidence = exact_evidence("the changed cards").complete(fine, whole);
            let undo = change.undo();
            Ok(with_next(Reply::new(Output { items, changed, change }, text, evidence), undo))
        },
    )
}
