//! `preview-review`: shows what each of the four ratings would do to a card now, exactly: the preview is what will happen.

use panoply_contract::prelude::*;
use serde_json::json;

use super::preview::{Preview, previews};
use super::service::{NoemaService, changes_at, exact_evidence, now};
use super::wire::{CardId, DeckId, ScheduleView};
use crate::collection;

const SPEC: ToolSpec = ToolSpec {
    name: "preview-review",
    title: "Preview a review",
    description: Description {
        does: "Shows what each of the four ratings would do to a card now, exactly: the preview is what will happen.",
        when: "Use this to explain the schedule or to help the learner choose a rating. It shows no answer.",
        returns: "Returns for again, hard, good and easy when the card would come back and how well it would be remembered.",
        asks: &["When will I see this card again if I press good?"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["reviews:read"],
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["cards", "schedule"],
    examples: &[
        Example { shows: "the sample card", params: r##"{"cardId": "card_123"}"##, expect: Expect::Data(r##"{"cardId": "card_123", "previews": [{"rating": "again"}, {"rating": "hard"}, {"rating": "good"}, {"rating": "easy"}]}"##) },
        Example { shows: "a card that is not there", params: r##"{"cardId": "card_999"}"##, expect: Expect::Error("CARD_NOT_FOUND") },
    ],
    tags: &["scheduling", "learning"],
    rate_limit: Some(RateLimit { max_calls: 600, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// Which card.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The card.
    card_id: CardId,
}

/// The four futures.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The card.
    card_id: CardId,
    /// Where it stands now.
    schedule: ScheduleView,
    /// What each rating would do.
    previews: Vec<Preview>,
}

/// See the module.
pub(super) struct PreviewReview {
    pub(super) service: NoemaService,
}

impl Tool for PreviewReview {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let now = now(cx);
        let (card, scheduler) = self.service.read(|reader| {
            let card = collection::card(reader, params.card_id.domain())?;
            let scheduler = collection::options_of(reader, card.deck)?.scheduler();
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
}
