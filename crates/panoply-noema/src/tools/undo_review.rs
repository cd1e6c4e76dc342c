//! `undo-review`: undoes the last review.

use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{Change, NoemaService, exact_evidence, now};
use super::specs::MUTATION;
use super::undo_action::is_own;
use super::wire::{CardId, DeckId, ScheduleView};
use crate::collection;
use crate::error::NoemaError;
use crate::fsrs::{DAY, Micros};

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "undo-review",
    title: "Undo a review",
    description: Description {
        does: "Undoes the last recorded review: restores the card, its log and the daily limits.",
        when: "Use this when the learner or the agent rated by mistake. Undo other changes with `undo-action`.",
        returns: "Returns the card and its restored schedule.",
        asks: &["Oops, I meant hard", "Take my last answer back"],
    },
    permissions: &["reviews:create"],
    data: &["cards", "decks", "schedule", "reviews", "sessions"],
    examples: &[
        Example { shows: "the last answer", params: r##"{}"##, expect: Expect::Data(r##"{"cardId": "card_125"}"##) },
        Example { shows: "of a card that was never answered", params: r##"{"cardId": "card_123"}"##, expect: Expect::Error("NOTHING_TO_UNDO") },
    ],
    tags: &["learning", "scheduling"],
    listing: Listing::Core,
    ..MUTATION
}
.checked();

/// The review to undo.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only if the last review was of this card.
    card_id: Option<CardId>,
}

/// The card after the undo.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Card.
    card_id: CardId,
    /// Restored schedule.
    schedule: ScheduleView,
    /// Dry-run flag and undo id.
    #[serde(flatten)]
    change: Change,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let at = now(cx);
    let (action, card) = service.read(|reader| {
        let last = reader.actions(200)?.into_iter().find(|action| {
            action.tool == "submit-review" && action.undone.is_none() && is_own(cx, action)
        });
        let last = last.ok_or(NoemaError::NothingToUndo)?;
        let logged = reader.reviews_between(last.at - DAY, Micros::MAX)?;
        let (review, _) = logged
            .into_iter()
            .rfind(|(review, _)| review.stored_outcome.is_some())
            .ok_or(NoemaError::NothingToUndo)?;
        if params.card_id.as_ref().is_some_and(|card| card.domain() != review.card) {
            return Err(NoemaError::NothingToUndo);
        }
        Ok((last.id, review.card))
    })?;
    service.change(
        cx,
        SPEC.name,
        "undid a review",
        |writer, now| {
            writer.undo(action, now)?;
            collection::card(writer, card)
        },
        |card, change| {
            let id = CardId::of(card.id);
            let text = format!(
                "{} the answer to card `{id}`.",
                if cx.dry_run { "Would undo" } else { "Undid" }
            );
            let next = NextAction::new(
                "get-next-card",
                json!({"deckId": DeckId::of(card.deck).as_str()}),
                "ask it again",
            );
            let output = Output { card_id: id, schedule: ScheduleView::of(&card, at), change };
            Ok(Reply::new(output, text, exact_evidence("the card as it was")).next(next))
        },
    )
}
