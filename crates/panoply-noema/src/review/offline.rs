//! Reviews made on a device without a connection, recorded when it is back.
//!
//! A device takes cards along, each with a token of its back, and sends its reviews later. They are
//! recorded at the time they were made. If the card was reviewed elsewhere after that time, its
//! schedule is computed again in order of time, so that the result does not depend on which device
//! was back first. Where that is not possible, because the card was reset or its history is not
//! ours, the review is logged and the schedule stays.

use super::{
    MAX_ANSWER_MS, ReviewOutcome, ReviewSubmission, ReviewToken, Side, apply, count_towards_limits,
    log_entry, record, replayed_outcome,
};
use crate::card::{Card, Hold, Review};
use crate::collection;
use crate::error::{NoemaError, Result};
use crate::fsrs::{Micros, Phase, Rating};
use crate::ids::{CardId, ReviewId};
use crate::store::StoreWriter;

/// A review made on a device.
#[derive(Clone, Debug)]
pub struct OfflineReview<'a> {
    /// Token of the back.
    pub token: &'a str,
    /// How well the card was recalled.
    pub rating: Rating,
    /// When, by the clock of the device. With the token it identifies the review.
    pub device_time: Micros,
    /// When, by the clock of the server.
    pub at: Micros,
    /// Answer time in milliseconds.
    pub taken_ms: Option<i64>,
}

/// What became of a review.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Recorded {
    /// It was the last review of the card and scheduled it.
    Scheduled,
    /// The card was reviewed elsewhere later: its schedule was computed again in order of time.
    Merged,
    /// It is in the log; a later change decides the schedule.
    Logged,
    /// It was recorded before.
    Repeated,
}

/// Records a review exactly once. Reviews of one device must come in order of time.
pub fn record_offline(
    writer: &mut dyn StoreWriter,
    review: &OfflineReview<'_>,
    now: Micros,
) -> Result<(CardId, Recorded)> {
    let token = ReviewToken::verify(review.token, &writer.secret()?)?;
    let card = collection::card(writer, token.card)?;
    if token.side == Side::Front {
        return Err(NoemaError::AnswerNotRevealed(card.id));
    }
    let key = format!("{}@{}", review.token, review.device_time);
    // With the token alone it was sent as a review with a connection, whose reply was lost.
    for sent in [key.as_str(), review.token] {
        if let Some(before) = writer.review_with_token(card.id, sent)? {
            replayed_outcome(&before, review.rating)?;
            return Ok((card.id, Recorded::Repeated));
        }
    }
    if card.hold == Hold::Draft {
        return Err(NoemaError::CardHeld { card: card.id, state: "a draft" });
    }
    // A card cannot have been reviewed before the device had it, or after now.
    let at = review.at.max(token.shown).min(now);
    let answer = ReviewSubmission {
        token: &key,
        rating: review.rating,
        taken_ms: Some(review.taken_ms.unwrap_or(0)),
        felt: None,
        session: None,
    };
    let recorded = merge(writer, card, &answer, &token, at)?;
    Ok((token.card, recorded))
}

/// A review of the log with its outcome.
struct Logged {
    review: Review,
    outcome: ReviewOutcome,
}

impl Logged {
    /// `None` for a review that this program did not schedule.
    fn of(review: Review) -> Option<Self> {
        let outcome: ReviewOutcome =
            serde_json::from_str(&review.stored_outcome.as_ref()?.outcome).ok()?;
        outcome.before.is_some().then_some(Self { review, outcome })
    }
}

fn merge(
    writer: &mut dyn StoreWriter,
    card: Card,
    answer: &ReviewSubmission<'_>,
    token: &ReviewToken,
    at: Micros,
) -> Result<Recorded> {
    let id = free_review_id(writer, at)?;
    let (earlier, later): (Vec<Review>, Vec<Review>) =
        writer.reviews_of(card.id)?.into_iter().partition(|review| review.id < id);
    let later: Option<Vec<Logged>> = later.into_iter().map(Logged::of).collect();
    let then = later.as_deref().map(|later| as_before(&card, later));
    // A card that is new in spite of its reviews was reset.
    let is_reset = |then: &Card| {
        then.schedule.phase == Phase::New
            && earlier.iter().any(|review| review.stored_outcome.is_some())
    };
    let (Some(later), Some(then)) = (later, then.filter(|then| !is_reset(then))) else {
        log_only(writer, card, answer, id, at)?;
        return Ok(Recorded::Logged);
    };
    record(writer, then, answer, token, id, at)?;
    if later.is_empty() {
        return Ok(Recorded::Scheduled);
    }
    replay(writer, card.id, &later)?;
    Ok(Recorded::Merged)
}

/// The card as it was before its last reviews.
fn as_before(card: &Card, later: &[Logged]) -> Card {
    let mut card = card.clone();
    if let Some(before) = later.first().and_then(|first| first.outcome.before) {
        let lapses = later.iter().filter(|logged| logged.outcome.lapsed()).count();
        card.schedule = before;
        card.reps = card.reps.saturating_sub(u32::try_from(later.len()).unwrap_or(u32::MAX));
        card.lapses = card.lapses.saturating_sub(u32::try_from(lapses).unwrap_or(u32::MAX));
    }
    card
}

/// Schedules the card by its later reviews again. They were counted when they were recorded.
fn replay(writer: &mut dyn StoreWriter, id: CardId, later: &[Logged]) -> Result<()> {
    let mut card = collection::card(writer, id)?;
    let scheduler = collection::options_of(writer, card.deck)?.scheduler(writer.learner_zone()?);
    for Logged { review, outcome: old } in later {
        let at = review.id.0.saturating_mul(1000);
        let new = apply(&mut card, &scheduler, old.rating, at);
        let outcome = ReviewOutcome {
            review: review.id,
            taken_ms: old.taken_ms,
            leech: old.leech,
            suspended: old.suspended,
            buried: old.buried.clone(),
            ..new
        };
        let answer = ReviewSubmission {
            token: review.stored_outcome.as_ref().map_or("", |stored| &stored.token),
            rating: old.rating,
            taken_ms: None,
            felt: review.felt,
            session: None,
        };
        writer.replace_review(&log_entry(&outcome, &answer, at)?)?;
    }
    writer.put_card(&card)
}

/// Logs and counts the review without a change of the card.
fn log_only(
    writer: &mut dyn StoreWriter,
    mut card: Card,
    answer: &ReviewSubmission<'_>,
    id: ReviewId,
    at: Micros,
) -> Result<()> {
    let decks = collection::lineage(writer, card.deck)?;
    let ids: Vec<_> = decks.iter().map(|deck| deck.id).collect();
    let options = collection::options_of_lineage(decks);
    let scheduler = options.scheduler(writer.learner_zone()?);
    let outcome = apply(&mut card, &scheduler, answer.rating, at);
    count_towards_limits(writer, &ids, outcome.from, &options, at)?;
    let taken_ms = answer.taken_ms.unwrap_or(0).clamp(0, MAX_ANSWER_MS);
    // It did not schedule the card, so nothing can be computed again from here.
    let outcome = ReviewOutcome { review: id, taken_ms, before: None, ..outcome };
    writer.put_review(&log_entry(&outcome, answer, at)?)
}

/// The millisecond of the review, or the next one that is free.
fn free_review_id(writer: &dyn StoreWriter, at: Micros) -> Result<ReviewId> {
    let mut id = at.div_euclid(1000);
    while !writer.reviews_between(id * 1000, (id + 1) * 1000)?.is_empty() {
        id += 1;
    }
    Ok(ReviewId(id))
}
