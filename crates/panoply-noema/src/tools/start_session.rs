//! `start-session`: starts a study session and estimates its duration.

use panoply_contract::evidence::{Benefit, Sample};
use panoply_contract::hints::{ActionCategory, Level};
use panoply_contract::prelude::*;
use serde_json::json;

use super::notes::pluralize;
use super::service::{Change, NoemaService, now, with_next};
use super::specs::MUTATION;
use super::wire::{DeckId, SessionId};
use crate::fsrs::DAY;
use crate::ids;
use crate::numbers::{len_to_f64, round_to};
use crate::queue::DayQueue;
use crate::statistics;
use crate::store::Session;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "start-session",
    title: "Start a session",
    description: Description {
        does: "Starts a study session over a deck or the whole collection, with the queue size and an estimate of the duration.",
        when: "Use this when the learner wants to study. Then call `get-next-card`, and finish with `end-session`.",
        returns: "Returns the session id, the queue counts (learning, reviews, new) and an estimate in minutes.",
        asks: &["Let's study for ten minutes", "Quiz me on maths"],
    },
    permissions: &["sessions:create"],
    data: &["sessions"],
    examples: &[
        Example { shows: "a deck", params: r##"{"deckId": "deck_456"}"##, expect: Expect::Data(r##"{"deckId": "deck_456"}"##) },
        Example { shows: "everything, at most ten cards", params: r##"{"cardLimit": 10}"##, expect: Expect::Data(r##"{"cardLimit": 10}"##) },
        Example { shows: "a deck that does not exist", params: r##"{"deckId": "deck_1"}"##, expect: Expect::Error("DECK_NOT_FOUND") },
    ],
    tags: &["learning", "scheduling"],
    ..MUTATION
}
.checked();

/// The deck and the limit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this deck and its subdecks.
    deck_id: Option<DeckId>,
    /// Maximum number of cards.
    #[schemars(range(min = 1, max = 9999))]
    card_limit: Option<u32>,
}

/// The session.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Pass it to `get-next-card` and `submit-review`.
    session_id: SessionId,
    /// Deck of the session; null for the whole collection.
    deck_id: Option<DeckId>,
    /// Maximum number of cards; null for no limit.
    card_limit: Option<u32>,
    /// Due learning cards.
    learning: usize,
    /// Reviews today.
    reviews: usize,
    /// New cards today.
    new: usize,
    /// Estimated duration in minutes, from the learner's log.
    estimated_minutes: f64,
    /// Dry-run flag and undo id.
    #[serde(flatten)]
    change: Change,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let deck = params.deck_id.as_ref().map(DeckId::domain);
    let at = now(cx);
    let (day, pace) = service.read(|reader| {
        let (_, options) = statistics::scope(reader, deck)?;
        Ok((
            service.queue_cache.day(reader, deck, at, DayQueue::clone)?,
            statistics::study_stats(
                reader,
                None,
                options.calendar(reader.learner_zone()?),
                (at - 30 * DAY, at),
                at,
            )?,
        ))
    })?;
    let queue = day.at(at);
    service.change(
        cx,
        SPEC.name,
        "started a session",
        |writer, now| {
            let session = Session {
                id: ids::SessionId(writer.next_id(now)?),
                deck,
                started: now,
                ended: None,
                card_limit: params.card_limit,
                answered: 0,
                passed: 0,
                taken_ms: 0,
            };
            writer.put_session(&session)?;
            Ok(session)
        },
        |session, change| {
            let id = SessionId::of(session.id);
            let waiting =
                queue.len().min(params.card_limit.map_or(usize::MAX, |limit| limit as usize));
            let seconds = len_to_f64(waiting) * pace.seconds_per_answer();
            let text = format!(
                "{} queued: {} learning, {} reviews, {} new; about {:.0} minutes.",
                pluralize(waiting, "card"),
                queue.learning.len(),
                queue.reviews,
                queue.new,
                (seconds / 60.0).ceil()
            );
            let next = (!cx.dry_run && waiting > 0).then(|| {
                NextAction::new(
                    "get-next-card",
                    json!({"sessionId": id.as_str()}),
                    "ask the first card",
                )
                .priority(Level::High)
                .category(ActionCategory::Learning)
            });
            let evidence = Evidence::from(Source::new(SourceClass::Exact, "the queue"))
                .changes(NextChange::WithNextAction)
                .sampled(Sample::Mean { n: pace.reviews, variation: 0.5 })
                .benefits(Benefit {
                    value: (len_to_f64(waiting) / 50.0).min(1.0),
                    metrics: vec!["retention".to_owned()],
                    human_seconds: seconds,
                });
            let output = Output {
                session_id: id,
                deck_id: params.deck_id,
                card_limit: params.card_limit,
                learning: queue.learning.len(),
                reviews: queue.reviews,
                new: queue.new,
                estimated_minutes: round_to(seconds / 60.0, 1),
                change,
            };
            Ok(with_next(Reply::new(output, text, evidence), next))
        },
    )
}
