//! Submitting reviews: token checks, scheduling, leeches, sibling burial and the review log.
//!
//! `get-next-card` issues a [`ReviewToken`] for the front; `reveal-answer` exchanges it for a
//! token of the back, and only that one can be rated. A review advances the card's `sequence`,
//! which spends both tokens. Resubmitting the same token with the same rating returns the stored
//! outcome and counts once.

pub mod offline;
mod token;

pub use self::token::{ReviewToken, Side};

use serde::{Deserialize, Serialize};

use crate::card::{Card, Hold, Review, ReviewKind, StoredOutcome};
use crate::collection;
use crate::deck::{DeckOptions, LeechAction};
use crate::error::{NoemaError, Result};
use crate::fsrs::{DAY, Memory, Micros, Phase, Rating, Schedule, Scheduler, Seed};
use crate::ids::{CardId, DeckId, ReviewId, SessionId};
use crate::numbers::{round_to_i64, to_f64};
use crate::store::{StoreReader, StoreWriter};

/// Tag of leeches.
pub const LEECH_TAG: &str = "leech";
/// Cap on the recorded answer time, as in Anki.
const MAX_ANSWER_MS: i64 = 60_000;

/// Verifies a token and returns its card, if the token is unspent.
pub fn verify_token(reader: &dyn StoreReader, token: &str) -> Result<(ReviewToken, Card)> {
    let token = ReviewToken::verify(token, &reader.secret()?)?;
    Ok((token, unspent_card(reader, &token)?))
}

fn unspent_card(reader: &dyn StoreReader, token: &ReviewToken) -> Result<Card> {
    let card = collection::card(reader, token.card)?;
    if card.sequence == token.sequence { Ok(card) } else { Err(NoemaError::TokenSpent(card.id)) }
}

/// A review to record.
#[derive(Clone, Debug)]
pub struct ReviewSubmission<'a> {
    /// Token of the back.
    pub token: &'a str,
    /// How well the card was recalled.
    pub rating: Rating,
    /// Answer time in milliseconds, if the client measured it.
    pub taken_ms: Option<i64>,
    /// Confidence the learner reported before the reveal, from 0 to 1.
    pub felt: Option<f64>,
    /// Session of the review.
    pub session: Option<SessionId>,
}

/// The outcome of a review.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReviewOutcome {
    /// Log entry.
    pub review: ReviewId,
    /// Card.
    pub card: CardId,
    /// Deck.
    pub deck: DeckId,
    /// How well the card was recalled.
    pub rating: Rating,
    /// Phase before the review.
    pub from: Phase,
    /// Phase after the review.
    pub to: Phase,
    /// Next due time.
    pub due: Micros,
    /// Interval in days; 0 in learning steps.
    pub interval_days: u32,
    /// Stability in days: the time until retrievability falls to 90 %.
    pub stability: f64,
    /// Difficulty from 1 to 10.
    pub difficulty: f64,
    /// Predicted probability of recall.
    pub predicted: Option<f64>,
    /// Number of lapses.
    pub lapses: u32,
    /// Whether the card just became a leech.
    pub leech: bool,
    /// Whether the card was suspended as a leech.
    pub suspended: bool,
    /// Siblings buried until tomorrow.
    pub buried: Vec<CardId>,
    /// Answer time in milliseconds.
    pub taken_ms: i64,
    /// Schedule before the review, to merge one that was made earlier and arrives later; absent in
    /// outcomes of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Schedule>,
}

/// A recorded review.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedReview {
    /// Outcome.
    pub outcome: ReviewOutcome,
    /// Whether this submission was recorded before.
    pub replayed: bool,
    /// Effective options of the deck.
    pub options: DeckOptions,
}

/// Records a review exactly once.
pub fn submit(
    writer: &mut dyn StoreWriter,
    answer: &ReviewSubmission<'_>,
    now: Micros,
) -> Result<RecordedReview> {
    let token = ReviewToken::verify(answer.token, &writer.secret()?)?;
    let card = match unspent_card(writer, &token) {
        Ok(card) => card,
        // The token may have been spent by this same submission.
        Err(problem) => {
            let before = writer.review_with_token(token.card, answer.token)?.ok_or(problem)?;
            let outcome = replayed_outcome(&before, answer.rating)?;
            let options = collection::options_of(writer, outcome.deck)?;
            return Ok(RecordedReview { outcome, replayed: true, options });
        }
    };
    if token.side == Side::Front {
        return Err(NoemaError::AnswerNotRevealed(card.id));
    }
    ensure_reviewable(&card, now)?;
    let id = next_review_id(writer, now)?;
    let (outcome, options) = record(writer, card, answer, &token, id, now)?;
    Ok(RecordedReview { outcome, replayed: false, options })
}

fn replayed_outcome(before: &Review, rating: Rating) -> Result<ReviewOutcome> {
    let json = before.stored_outcome.as_ref().map_or("", |stored_outcome| &stored_outcome.outcome);
    let outcome: ReviewOutcome =
        serde_json::from_str(json).map_err(|error| NoemaError::store(error.to_string()))?;
    if outcome.rating != rating {
        return Err(NoemaError::AlreadyRated {
            first: outcome.rating.as_str(),
            second: rating.as_str(),
        });
    }
    Ok(outcome)
}

/// Refuses suspended cards and drafts.
pub fn ensure_reviewable(card: &Card, now: Micros) -> Result<()> {
    let state = match card.active_hold(now) {
        Hold::None | Hold::BuriedByHand | Hold::BuriedAsSibling => return Ok(()),
        Hold::Suspended => "suspended",
        Hold::Draft => "a draft",
    };
    Err(NoemaError::CardHeld { card: card.id, state })
}

/// The fuzz seed of the card's next review.
pub const fn seed(card: &Card) -> Seed {
    Seed { card: card.id.0, repetition: card.reps }
}

/// Schedules the card, writes the log entry `id` and counts the review.
fn record(
    writer: &mut dyn StoreWriter,
    mut card: Card,
    answer: &ReviewSubmission<'_>,
    token: &ReviewToken,
    id: ReviewId,
    now: Micros,
) -> Result<(ReviewOutcome, DeckOptions)> {
    let decks = collection::lineage(writer, card.deck)?;
    let ids: Vec<DeckId> = decks.iter().map(|deck| deck.id).collect();
    let options = collection::options_of_lineage(decks);
    let scheduler = options.scheduler(writer.learner_zone()?);
    let mut outcome = apply(&mut card, &scheduler, answer.rating, now);
    if card.hold.is_burial() {
        card.hold = Hold::None;
        card.held_until = None;
    }
    card.sequence += 1;
    card.modified = card.modified.max(now);
    outcome.leech = outcome.lapsed() && is_leech(card.lapses, options.leech_threshold);
    outcome.suspended = outcome.leech && options.leech_action == LeechAction::Suspend;
    if outcome.suspended {
        card.hold = Hold::Suspended;
    }
    writer.put_card(&card)?;
    if outcome.leech {
        collection::retag(writer, card.id, &[LEECH_TAG.to_owned()], &[], now)?;
    }
    if options.bury_siblings {
        outcome.buried = bury_siblings(writer, &card, &options, now)?;
    }
    count_towards_limits(writer, &ids, outcome.from, &options, now)?;
    let measured = answer.taken_ms.unwrap_or((now - token.shown) / 1000);
    outcome.taken_ms = measured.clamp(0, MAX_ANSWER_MS);
    outcome.review = id;
    writer.put_review(&log_entry(&outcome, answer, now)?)?;
    if let Some(id) = answer.session {
        let mut session = writer
            .session(id)?
            .filter(|session| session.ended.is_none())
            .ok_or(NoemaError::SessionNotFound(id))?;
        session.answered += 1;
        session.passed += u32::from(answer.rating.passed());
        session.taken_ms += outcome.taken_ms;
        writer.put_session(&session)?;
    }
    Ok((outcome, options))
}

/// Schedules the card after a rating at `at`, and counts it. The outcome has no log entry yet.
fn apply(card: &mut Card, scheduler: &Scheduler, rating: Rating, at: Micros) -> ReviewOutcome {
    let before = schedule_with_memory(card);
    card.schedule = scheduler.answer(&before, rating, at, seed(card));
    card.reps += 1;
    card.lapses += u32::from(before.phase == Phase::Review && rating == Rating::Again);
    ReviewOutcome {
        review: ReviewId(0),
        card: card.id,
        deck: card.deck,
        rating,
        from: before.phase,
        to: card.schedule.phase,
        due: card.schedule.due,
        interval_days: card.schedule.interval_days,
        stability: card.schedule.memory.map_or(0.0, |memory| memory.stability),
        difficulty: card.schedule.memory.map_or(0.0, |memory| memory.difficulty),
        predicted: scheduler.retrievability(&before, at),
        lapses: card.lapses,
        leech: false,
        suspended: false,
        buried: Vec::new(),
        taken_ms: 0,
        before: Some(before),
    }
}

impl ReviewOutcome {
    /// Whether a card in review was forgotten.
    fn lapsed(&self) -> bool {
        self.from == Phase::Review && self.rating == Rating::Again
    }
}

/// The schedule with an estimated memory state if another scheduler produced it: an interval
/// approximates the time until retrievability falls to 90 %.
fn schedule_with_memory(card: &Card) -> Schedule {
    let mut schedule = card.schedule;
    if schedule.memory.is_none() && schedule.phase != Phase::New {
        let stability = f64::from(schedule.interval_days.max(1));
        let difficulty = if card.ease > 0 {
            (11.0 - 2.4 * to_f64(card.ease) / 1000.0).clamp(1.0, 10.0)
        } else {
            5.0
        };
        schedule.memory = Some(Memory { stability, difficulty });
        let interval = i64::from(schedule.interval_days) * DAY;
        schedule.last_review = schedule.last_review.or(Some(schedule.due - interval));
    }
    schedule
}

/// A leech triggers at the threshold and every half threshold after.
const fn is_leech(lapses: u32, threshold: u32) -> bool {
    if threshold == 0 || lapses < threshold {
        return false;
    }
    let half = threshold.div_ceil(2);
    (lapses - threshold).is_multiple_of(half)
}

fn bury_siblings(
    writer: &mut dyn StoreWriter,
    card: &Card,
    options: &DeckOptions,
    now: Micros,
) -> Result<Vec<CardId>> {
    let tomorrow = options.calendar(writer.learner_zone()?).next_start(now);
    let mut buried = Vec::new();
    for mut sibling in writer.cards_of(card.note)? {
        let waits = match sibling.schedule.phase {
            Phase::New => true,
            Phase::Review => sibling.schedule.due < tomorrow,
            Phase::Learning | Phase::Relearning => false,
        };
        if sibling.id == card.id || !waits || sibling.active_hold(now) != Hold::None {
            continue;
        }
        sibling.hold = Hold::BuriedAsSibling;
        sibling.held_until = Some(tomorrow);
        writer.put_card(&sibling)?;
        buried.push(sibling.id);
    }
    Ok(buried)
}

/// Counts the review against the daily limits of the deck and its ancestors.
fn count_towards_limits(
    writer: &mut dyn StoreWriter,
    decks: &[DeckId],
    from: Phase,
    options: &DeckOptions,
    now: Micros,
) -> Result<()> {
    if !matches!(from, Phase::New | Phase::Review) {
        return Ok(());
    }
    let day = options.calendar(writer.learner_zone()?).day(now);
    for deck in decks {
        let mut tally = writer.tally(*deck, day)?;
        tally.new += u32::from(from == Phase::New);
        tally.reviews += 1;
        writer.put_tally(*deck, day, tally)?;
    }
    Ok(())
}

/// The current millisecond, or the next free one, also if the clock moved back.
fn next_review_id(writer: &dyn StoreWriter, now: Micros) -> Result<ReviewId> {
    let last = writer.last_review_time()?.unwrap_or(0) / 1000;
    let here = now.div_euclid(1000);
    Ok(ReviewId(if here > last { here } else { last + 1 }))
}

/// The entry of the log for an outcome at `at`.
fn log_entry(outcome: &ReviewOutcome, answer: &ReviewSubmission<'_>, at: Micros) -> Result<Review> {
    let before = outcome.before.unwrap_or_default();
    let kind = match outcome.from {
        Phase::New | Phase::Learning => ReviewKind::Learning,
        Phase::Review if before.due > at => ReviewKind::Early,
        Phase::Review => ReviewKind::Review,
        Phase::Relearning => ReviewKind::Relearning,
    };
    let interval = match outcome.interval_days {
        0 => -((outcome.due - at) / 1_000_000),
        days => i64::from(days),
    };
    let json =
        serde_json::to_string(outcome).map_err(|error| NoemaError::store(error.to_string()))?;
    Ok(Review {
        id: outcome.review,
        card: outcome.card,
        rating: outcome.rating.ordinal(),
        kind,
        interval,
        last_interval: i64::from(before.interval_days),
        // Anki stores the FSRS difficulty in the ease column, scaled from 100 to 1100.
        factor: round_to_i64((outcome.difficulty - 1.0) / 9.0 * to_f64(1000)) + 100,
        taken_ms: outcome.taken_ms,
        predicted: outcome.predicted,
        felt: answer.felt,
        stored_outcome: Some(StoredOutcome { token: answer.token.to_owned(), outcome: json }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leech_triggers_at_the_threshold_and_every_half_threshold_after() {
        let found: Vec<u32> = (0..20).filter(|lapses| is_leech(*lapses, 8)).collect();
        assert_eq!(found, [8, 12, 16]);
        assert!(!is_leech(5, 0));
    }
}
