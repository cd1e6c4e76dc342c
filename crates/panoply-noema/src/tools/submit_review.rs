//! `submit-review`: records the rating of a revealed card and schedules it; resubmission is
//! idempotent.

use panoply_contract::calculus::risk;
use panoply_contract::evidence::Benefit;
use panoply_contract::hints::{ActionCategory, Level, RiskKind};
use panoply_contract::prelude::*;
use panoply_contract::spec::Widget;
use serde_json::json;

use super::notes::pluralize;
use super::service::{Change, NoemaService, now, with_next};
use super::specs::MUTATION;
use super::wire::{CardId, CardState, DeckId, RatingParam, SessionId, timestamp};
use crate::fsrs::Micros;
use crate::numbers::{round_to, to_f64};
use crate::review::{self, RecordedReview, ReviewSubmission};

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "submit-review",
    title: "Submit a review",
    description: Description {
        does: "Records the rating of a revealed card and schedules it. Repeating the call is idempotent.",
        when: "Use this after `reveal-answer`, with its token and the learner's own rating. Ask for the next card afterwards.",
        returns: "Returns the next due time, the memory state, whether the card became a leech, the buried siblings, and an action id that undoes it.",
        asks: &["I knew it", "I got it wrong"],
    },
    aliases: &["review-card", "record-attempt"],
    permissions: &["reviews:create"],
    response_time: ResponseTime::Fast,
    data: &["cards", "decks", "schedule", "reviews", "sessions"],
    examples: &[
        Example { shows: "the sample card was recalled", params: r##"{"token": "back.123.0.1794744000000000.0ddd65d6a106a34153a8b2d0", "rating": "good"}"##, expect: Expect::Data(r##"{"cardId": "card_123", "rating": "good", "replayed": false}"##) },
        Example { shows: "a card that was not revealed", params: r##"{"token": "front.123.0.1794744000000000.500321b824622031ce0835cb", "rating": "good"}"##, expect: Expect::Error("ANSWER_NOT_REVEALED") },
        Example { shows: "a foreign token", params: r##"{"token": "back.123.0.0.beef", "rating": "good"}"##, expect: Expect::Error("BAD_TOKEN") },
    ],
    tags: &["learning", "scheduling"],
    listing: Listing::Core,
    widget: Some(Widget {
        resource_uri: "ui://panoply/noema-review-v1.html",
        invoking: "Recording the review…",
        invoked: "Review recorded",
    }),
    ..MUTATION
}
.checked();

/// A review.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Token from `reveal-answer`.
    #[schemars(length(min = 1, max = 200), regex(pattern = r"^[0-9A-Za-z._-]+$"))]
    token: String,
    /// How well the card was recalled.
    rating: RatingParam,
    /// Answer time in milliseconds; measured from `get-next-card` if omitted.
    #[schemars(range(min = 0, max = 3600000))]
    #[schemars(extend("x-listed" = false))]
    taken_ms: Option<i64>,
    /// Confidence the learner reported before the reveal, from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-listed" = false))]
    felt_confidence: Option<f64>,
    /// The session, if any.
    session_id: Option<SessionId>,
}

/// The outcome of the call.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Card.
    card_id: CardId,
    /// Rating on record.
    rating: RatingParam,
    /// State before the review.
    from_state: CardState,
    /// State after the review.
    to_state: CardState,
    /// Next due time.
    due: String,
    /// Interval in days; 0 in learning steps.
    interval_days: u32,
    /// Stability: days until retrievability falls to 90 %.
    stability_days: f64,
    /// Difficulty from 1 (easy) to 10.
    difficulty: f64,
    /// Predicted probability of recall; absent for a new card.
    #[serde(skip_serializing_if = "Option::is_none")]
    predicted_recall: Option<f64>,
    /// Number of lapses.
    lapses: u32,
    /// Whether the card just became a leech.
    leech: bool,
    /// Siblings buried until tomorrow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    buried: Vec<CardId>,
    /// True if this submission was recorded before.
    replayed: bool,
    /// Dry-run flag and undo id.
    #[serde(flatten)]
    change: Change,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let submission = ReviewSubmission {
        token: &params.token,
        rating: params.rating.domain(),
        taken_ms: params.taken_ms,
        felt: params.felt_confidence,
        session: params.session_id.as_ref().map(SessionId::domain),
    };
    let mut committed = None;
    let reply = service.change(
        cx,
        SPEC.name,
        "recorded an answer",
        |writer, now| {
            let version = writer.version()?;
            Ok((review::submit(writer, &submission, now)?, version))
        },
        |(recorded, version), change| {
            committed = Some((version, recorded.outcome.clone()));
            Ok(shape(recorded, change, &params, now(cx)))
        },
    )?;
    // Update the cached queues after the commit only.
    if let Some((version, outcome)) = committed.filter(|_| !cx.dry_run) {
        service.queue_cache.apply_answer(version, &outcome);
    }
    Ok(reply)
}

fn shape(recorded: RecordedReview, change: Change, params: &Params, now: Micros) -> Reply<Output> {
    let RecordedReview { outcome, replayed, options } = recorded;
    let due = timestamp(outcome.due);
    let wait = match outcome.interval_days {
        0 => format!("{} minutes", ((outcome.due - now) / 60_000_000).max(1)),
        days => pluralize(days as usize, "day"),
    };
    let text = format!("{}: the card is due in {wait}, on {due}.", outcome.rating.as_str());
    let mut next_arguments = json!({"deckId": DeckId::of(outcome.deck).as_str()});
    if let Some(session) = &params.session_id {
        next_arguments = json!({"sessionId": session.as_str()});
    }
    let next = NextAction::new("get-next-card", next_arguments, "ask the next card")
        .priority(Level::High)
        .category(ActionCategory::Learning);
    let inspect_leech = outcome.leech.then(|| {
        NextAction::new(
            "get-card",
            json!({"cardId": CardId::of(outcome.card).as_str()}),
            "read this leech: it may contain too much",
        )
        .category(ActionCategory::Correction)
    });
    // Benefit of the review: the increase of the probability of recall in 30 days.
    let parameters = options.parameters.unwrap_or_default();
    let lift = parameters.retrievability(30.0, outcome.stability.max(0.001))
        * (1.0 - outcome.predicted.unwrap_or(0.0));
    let evidence = Evidence::from(Source::new(SourceClass::Exact, "the recorded answer"))
        .changes(NextChange::WithNextAction)
        .benefits(Benefit {
            value: lift,
            metrics: vec!["recall in 30 days".to_owned()],
            human_seconds: to_f64(outcome.taken_ms) / 1000.0,
        });
    let threshold = f64::from(options.leech_threshold.max(1));
    let leech_risk = risk(
        RiskKind::UserExperience,
        "the card is forgotten repeatedly",
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
    let mut reply = Reply::new(output, text, evidence).risk(leech_risk);
    if params.taken_ms.is_none() {
        reply = reply.assuming("the time taken is that since the front was shown");
    }
    with_next(reply, std::iter::once(next).chain(inspect_leech))
}
