//! `preview-review`: returns the exact effect of each rating on a card.

use panoply_contract::prelude::*;
use serde_json::json;

use super::preview::{Preview, previews};
use super::service::{NoemaService, changes_at, exact_evidence, now};
use super::specs::QUERY;
use super::wire::{CardId, DeckId, ScheduleView};
use crate::collection;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "preview-review",
    title: "Preview a review",
    description: Description {
        does: "Returns the exact effect of each of the four ratings on a card at this time.",
        when: "Use this to explain the schedule or to help the learner choose a rating. It does not contain the answer.",
        returns: "Returns the next due time and stability for again, hard, good and easy.",
        asks: &["When will I see this card again if I press good?"],
    },
    permissions: &["reviews:read"],
    data: &["cards", "schedule"],
    examples: &[
        Example { shows: "the sample card", params: r##"{"cardId": "card_123"}"##, expect: Expect::Data(r##"{"cardId": "card_123", "previews": [{"rating": "again"}, {"rating": "hard"}, {"rating": "good"}, {"rating": "easy"}]}"##) },
        Example { shows: "a card that does not exist", params: r##"{"cardId": "card_999"}"##, expect: Expect::Error("CARD_NOT_FOUND") },
    ],
    tags: &["scheduling", "learning"],
    ..QUERY
}
.checked();

/// The card to use.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Card.
    card_id: CardId,
}

/// The effect of each rating.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Card.
    card_id: CardId,
    /// Current schedule.
    schedule: ScheduleView,
    /// Effect of each rating.
    previews: Vec<Preview>,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let now = now(cx);
    let (card, scheduler) = service.read(|reader| {
        let card = collection::card(reader, params.card_id.domain())?;
        let scheduler =
            collection::options_of(reader, card.deck)?.scheduler(reader.learner_zone()?);
        Ok((card, scheduler))
    })?;
    let previews = previews(&scheduler, &card, now);
    let text = previews
        .iter()
        .map(|preview| format!("{}: {}", preview.rating.domain().as_str(), preview.due))
        .collect::<Vec<_>>()
        .join(", ");
    let evidence = exact_evidence("the card's schedule")
        .changes(changes_at(scheduler.calendar.next_start(now)));
    let next = NextAction::new(
        "get-next-card",
        json!({"deckId": DeckId::of(card.deck).as_str()}),
        "study its deck",
    );
    Ok(Reply::new(
        Output { card_id: params.card_id, schedule: ScheduleView::of(&card, now), previews },
        text,
        evidence,
    )
    .next(next))
}
