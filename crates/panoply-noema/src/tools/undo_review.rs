//! `undo-review`: takes back the last answer that was recorded: the card, its log and the limits of the day are as before.

use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{Change, NoemaService, exact_evidence, now};
use super::undo_action::is_own;
use super::wire::{CardId, DeckId, ScheduleView};
use crate::collection;
use crate::error::NoemaError;
use crate::fsrs::{DAY, Micros};

const SPEC: ToolSpec = ToolSpec {
    name: "undo-review",
    title: "Undo a review",
    description: Description {
        does: "Takes back the last answer that was recorded: the card, its log and the limits of the day are as before.",
        when: "Use this when the learner or the agent rated by mistake. Any other change is taken back with `undo-action`.",
        returns: "Returns which card it was and where it stands again.",
        asks: &["Oops, I meant hard", "Take my last answer back"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["reviews:create"],
    category: Category::Mutation,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: false,
    data: &["cards", "decks", "schedule", "reviews", "sessions"],
    examples: &[
        Example { shows: "the last answer", params: r##"{}"##, expect: Expect::Data(r##"{"cardId": "card_125", "dryRun": true}"##) },
        Example { shows: "of a card that was never answered", params: r##"{"cardId": "card_123"}"##, expect: Expect::Error("NOTHING_TO_UNDO") },
    ],
    tags: &["learning", "scheduling"],
    rate_limit: Some(RateLimit { max_calls: 300, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// Which answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only if the last answer was to this card.
    card_id: Option<CardId>,
}

/// The card as it was.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The card.
    card_id: CardId,
    /// When it comes back again.
    schedule: ScheduleView,
    /// Whether something was changed, and how to take it back.
    #[serde(flatten)]
    change: Change,
}

/// See the module.
pub(super) struct UndoReview {
    pub(super) service: NoemaService,
}

impl Tool for UndoReview {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let at = now(cx);
        let (action, card) = self.service.read(|reader| {
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
        self.service.change(
            cx,
            SPEC.name,
            "took an answer back",
            |writer, now| {
                writer.undo(action, now)?;
                collection::card(writer, card)
            },
            |card, change| {
                let id = CardId::of(card.id);
                let text = format!(
                    "{} the answer to card `{id}`.",
                    if cx.dry_run { "Would take back" } else { "Took back" }
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
}
