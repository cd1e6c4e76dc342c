//! Common parts of the tools that apply one change to many cards.

use panoply_contract::prelude::*;

use super::service::{Change, NoemaService, exact_evidence};
use super::wire::CardId;
use crate::error::{NoemaError, Result};
use crate::fsrs::Micros;
use crate::ids;
use crate::numbers::len_to_u64;
use crate::store::StoreWriter;

/// The outcome for one card.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Item {
    /// Card.
    pub(crate) card_id: CardId,
    /// Outcome of the change.
    pub(crate) outcome: ItemOutcome,
    /// Reason of the failure; null otherwise.
    pub(crate) message: Option<String>,
}

/// The outcome for one card.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ItemOutcome {
    /// The change was applied.
    Done,
    /// The card already had this state.
    Unchanged,
    /// The change failed; see the message.
    Failed,
}

/// Up to 500 card ids.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct CardIds(#[schemars(length(min = 1, max = 500))] pub(crate) Vec<CardId>);

/// The cards to change.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Cards {
    /// The cards.
    pub(crate) card_ids: CardIds,
}

/// The cards and tags.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct TaggedCards {
    /// The cards.
    pub(crate) card_ids: CardIds,
    /// Tags without spaces.
    #[schemars(length(min = 1, max = 50), inner(length(max = 200)))]
    pub(crate) tags: Vec<String>,
}

/// Message.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Outcome of each card, in input order.
    items: Vec<Item>,
    /// Number of changed cards.
    changed: usize,
    /// Dry-run flag and undo id.
    #[serde(flatten)]
    change: Change,
}

/// Tool name and past participle, as in "suspended 3 cards".
pub(crate) struct BatchAction {
    pub(crate) tool: &'static str,
    pub(crate) done: &'static str,
}

/// Applies a change to each card in one action and reports an outcome per card.
pub(crate) fn change_each_card(
    service: &NoemaService,
    cx: &CallContext,
    action: &BatchAction,
    ids: &CardIds,
    change: impl FnMut(&mut dyn StoreWriter, ids::CardId, Micros) -> Result<bool>,
) -> Result<Reply<Output>, ToolError> {
    change_each_card_if(service, cx, action, ids, |_| Ok(()), change)
}

/// [`change_each_card`] with a precondition that is checked inside the transaction.
pub(crate) fn change_each_card_if(
    service: &NoemaService,
    cx: &CallContext,
    action: &BatchAction,
    ids: &CardIds,
    condition: impl FnOnce(&dyn StoreWriter) -> Result<()>,
    mut change: impl FnMut(&mut dyn StoreWriter, ids::CardId, Micros) -> Result<bool>,
) -> Result<Reply<Output>, ToolError> {
    let BatchAction { tool, done } = action;
    let by = if cx.consent.is_some() { ", confirmed by a person through elicitation" } else { "" };
    let summary = format!("{done} {} cards{by}", ids.0.len());
    service.change(
        cx,
        tool,
        &summary,
        |writer, now| {
            condition(writer)?;
            let mut items = Vec::with_capacity(ids.0.len());
            for id in &ids.0 {
                let (outcome, message) = match change(writer, id.domain(), now) {
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
            let prefix = if cx.dry_run { "Dry run:" } else { "Done:" };
            let text = format!("{prefix} {done} {changed} of {} cards.", items.len());
            let total = len_to_u64(items.len());
            let succeeded = len_to_u64(items.len() - failed);
            let evidence = exact_evidence("the changed cards").complete(succeeded, total);
            Ok(Reply::new(Output { items, changed, change }, text, evidence))
        },
    )
}
