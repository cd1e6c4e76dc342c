//! `submit-review`: records how well the card that was just turned was recalled, and schedules it. The same call again changes nothing and gets the same reply.

use panoply_contract::calculus::risk;
use panoply_contract::evidence::Benefit;
use panoply_contract::hints::{ActionCategory, Level, RiskKind};
use panoply_contract::prelude::*;
use panoply_contract::spec::Widget;
use serde_json::json;

use super::notes::pluralize;
use super::service::{Change, NoemaService, now, with_next};
use super::wire::{CardId, CardState, DeckId, RatingParam, SessionId, timestamp};
use crate::numbers::{round_to, to_f64};
use crate::review::{self, Recorded, ReviewSubmission};

const SPEC: ToolSpec = ToolSpec {
    name: "submit-review",
    title: "Submit a review",
    description: Description {
        does: "Records how well the card that was just turned was recalled, and schedules it. The same call again changes nothing and gets the same reply.",
        when: "Use this after `reveal-answer`, with its token and the learner's own rating. Ask for the next card afterwards.",
        returns: "Returns when the card comes back and why, whether it became a leech, which cards of the note now wait, and an action id that takes it back.",
        asks: &["I knew it", "I got it wrong"],
    },
    version: "1.0.0",
    aliases: &["review-card", "record-attempt"],
    permissions: &["reviews:create"],
    category: Category::Mutation,
    response_time: ResponseTime::Fast,
    cache: CachePolicy::Never,
    idempotent: false,
    data: &["cards", "decks", "schedule", "reviews", "sessions"],
    examples: &[
        Example { shows: "the sample card was recalled", params: r##"{"token": "back.123.0.1794744000000000.0ddd65d6a106a34153a8b2d0", "rating": "good"}"##, expect: Expect::Data(r##"{"cardId": "card_123", "rating": "good", "replayed": false, "dryRun": true}"##) },
        Example { shows: "a card that was not turned", params: r##"{"token": "front.123.0.1794744000000000.500321b824622031ce0835cb", "rating": "good"}"##, expect: Expect::Error("ANSWER_NOT_REVEALED") },
        Example { shows: "a token that we did not give", params: r##"{"token": "back.123.0.0.beef", "rating": "good"}"##, expect: Expect::Error("BAD_TOKEN") },
    ],
    tags: &["learning", "scheduling"],
    rate_limit: Some(RateLimit { max_calls: 300, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: Some(Widget {
        resource_uri: "ui://panoply/noema-review-v1.html",
        invoking: "Recording the review…",
        invoked: "Review recorded",
    }),
}
.checked();

/// An answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The token from `reveal-answer`.
    #[schemars(length(min = 1, max = 200))]
    token: String,
    /// How well it was recalled.
    rating: RatingParam,
    /// Milliseconds the learner took; measured from `get-next-card` if left out.
    #[schemars(range(min = 0, max = 3600000))]
    taken_ms: Option<i64>,
    /// How sure the learner felt before the card was turned, from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    felt_confidence: Option<f64>,
    /// The session, if there is one.
    session_id: Option<SessionId>,
}

/// What came of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The card.
    card_id: CardId,
    /// The rating that counts.
    rating: RatingParam,
    /// Where the card was.
    from_state: CardState,
    /// Where it is now.
    to_state: CardState,
    /// When it comes back.
    due: String,
    /// In how many days; 0 while in steps.
    interval_days: u32,
    /// Days until the chance of recall falls to nine in ten.
    stability_days: f64,
    /// From 1 (easy) to 10.
    difficulty: f64,
    /// The chance of recall that was expected; null for a new card.
    predicted_recall: Option<f64>,
    /// How often it has been forgotten.
    lapses: u32,
    /// Whether it has just become a leech.
    leech: bool,
    /// Cards of the same note that wait until tomorrow.
    buried: Vec<CardId>,
    /// True when this answer had been recorded before.
    replayed: bool,
    /// Whether something was changed, and how to take it back.
    #[serde(flatten)]
    change: Change,
}

/// See the module.
pub(super) struct SubmitReview {
    pub(super) service: NoemaService,
}

impl Tool for SubmitReview {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let answer = ReviewSubmission {
            token: &params.token,
            rating: params.rating.domain(),
            taken_ms: params.taken_ms,
            felt: params.felt_confidence,
            session: params.session_id.as_ref().map(SessionId::domain),
        };
        let mut answered = None;
        let reply = self.service.change(
            cx,
            SPEC.name,
            "recorded an answer",
            |writer, now| {
                let version = writer.version()?;
                Ok((review::submit(writer, &answer, now)?, version))
            },
            |(Recorded { outcome, replayed, options }, version), change| {
                answered = Some((version, outcome.clone()));
                let due = timestamp(outcome.due);
                let wait = match outcome.interval_days {
                    0 => format!("{} minutes", ((outcome.due - now(cx)) / 60_000_000).max(1)),
                    days => pluralize(days as usize, "day"),
                };
                let text = format!(
                    "{}: the card comes back in {wait}, on {due}.",
                    outcome.rating.as_str()
                );
                let mut next_arguments = json!({"deckId": DeckId::of(outcome.deck).as_str()});
                if let Some(session) = &params.session_id {
                    next_arguments = json!({"sessionId": session.as_str()});
                }
                let next = NextAction::new("get-next-card", next_arguments, "ask the next card")
                    .priority(Level::High)
                    .category(ActionCategory::Learning);
                let mend = outcome.leech.then(|| {
                    NextAction::new(
                        "get-card",
                        json!({"cardId": CardId::of(outcome.card).as_str()}),
                        "look at this leech: it may ask too much at once",
                    )
                    .category(ActionCategory::Correction)
                });
                // What one more recall is worth: how far the review lifted the chance of recall in 30 days.
                let parameters = options.parameters.unwrap_or_default();
                let lift = parameters.retrievability(30.0, outcome.stability.max(0.001))
                    * (1.0 - outcome.predicted.unwrap_or(0.0));
                let evidence =
                    Evidence::from(Source::new(SourceClass::Exact, "the recorded answer"))
                        .changes(NextChange::WithNextAction)
                        .benefits(Benefit {
                            value: lift,
                            metrics: vec!["recall in 30 days".to_owned()],
                            human_seconds: to_f64(outcome.taken_ms) / 1000.0,
                        });
                let threshold = f64::from(options.leech_threshold.max(1));
                let leech_risk = risk(
                    RiskKind::UserExperience,
                    "the card is forgotten again and again",
                    f64::from(outcome.lapses) / threshold,
                    0.5,
                    Some("rewrite it, split it, or suspend it".to_owned()),
                );
                let output = Output {
                    card_id: CardId::of(outcome.card),
                    rating: RatingParam::of(outcome.rating),
                    from_state: CardState::in_phase(outcome.from),
                    to_state: CardState::in_phase(outcome.to),
                    due,
                    interval_days: outcome.interval_days,
                    stability_days: round_to(outcome.stability, 4),
                    difficulty: round_to(outcome.difficulty, 3),
                    predicted_recall: outcome.predicted.map(|recall| round_to(recall, 4)),
                    lapses: outcome.lapses,
                    leech: outcome.leech,
                    buried: outcome.buried.iter().map(|card| CardId::of(*card)).collect(),
                    replayed,
                    change,
                };
                let mut reply = Reply::new(output, text, evidence)
                    .risk(leech_risk)
                    .assuming("the learner answered before the card was turned");
                if params.taken_ms.is_none() {
                    reply = reply.assuming(
                        "the time taken is from showing the front to this call, at most a minute",
                    );
                }
                Ok(with_next(reply, std::iter::once(next).chain(mend)))
            },
        )?;
        // Only now is the answer committed.
        if let Some((version, outcome)) = answered.filter(|_| !cx.dry_run) {
            self.service.queue_cache.apply_answer(version, &outcome);
        }
        Ok(reply)
    }
}
