//! Reviewing a card without seeing its answer first.
//!
//! A token is good for one token of one card: it carries the card, how often its schedule has
//! changed, and when it was shown, signed with the collection's secret. `get-next-card` gives
//! one for the front; turning the card gives the second, and only that one can be rated. Once
//! the card is answered its schedule has changed and both are spent; but the same answer sent
//! again gets the same result again, and counts once.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::card::{Card, Hold, Review, ReviewKind, StoredOutcome};
use crate::collection;
use crate::deck::{DeckOptions, LeechAction};
use crate::error::NoemaError;
use crate::fsrs::{DAY, Memory, Micros, Phase, Rating, Schedule, Seed};
use crate::ids::{CardId, DeckId, ReviewId, SessionId};
use crate::numbers::{round_to_i64, to_f64};
use crate::store::{StoreReader, StoreWriter};

/// The tag of a card that is forgotten too often.
pub const LEECH_TAG: &str = "leech";
/// Longer than this nobody thinks about a card.
const MAX_ANSWER_MS: i64 = 60_000;

/// Which side of a card was shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Side {
    /// The question.
    Front,
    /// The answer.
    Back,
}

/// One token of one card.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReviewToken {
    /// What was shown.
    pub side: Side,
    /// The card.
    pub card: CardId,
    /// Its count of changes.
    pub sequence: i64,
    /// When its front was shown.
    pub shown: Micros,
}

impl ReviewToken {
    /// The token for it.
    pub fn sign(&self, secret: &[u8]) -> String {
        let text = self.text();
        format!("{text}.{}", signature(secret, &text))
    }

    /// What a token is for, if we made it.
    pub fn verify(token: &str, secret: &[u8]) -> Result<Self, NoemaError> {
        let parsed = token.rsplit_once('.').and_then(|(text, signed)| {
            // Every byte is compared, so that time tells nothing.
            let expected = signature(secret, text);
            let differs = expected
                .bytes()
                .zip(signed.bytes())
                .fold(expected.len() ^ signed.len(), |sum, (a, b)| sum | usize::from(a ^ b));
            (differs == 0).then(|| Self::parse(text)).flatten()
        });
        parsed.ok_or(NoemaError::InvalidToken)
    }

    fn text(&self) -> String {
        let side = match self.side {
            Side::Front => "front",
            Side::Back => "back",
        };
        format!("{side}.{}.{}.{}", self.card.0, self.sequence, self.shown)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let side = match parts.next()? {
            "front" => Side::Front,
            "back" => Side::Back,
            _ => return None,
        };
        let mut number = || parts.next()?.parse::<i64>().ok();
        Some(Self { side, card: CardId(number()?), sequence: number()?, shown: number()? })
    }
}

/// HMAC-SHA-256, of which 96 bits are enough.
fn signature(secret: &[u8], text: &str) -> String {
    let pad = |byte: u8| -> Vec<u8> {
        (0..64).map(|place| secret.get(place).copied().unwrap_or(0) ^ byte).collect()
    };
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(text).finalize();
    let outer = Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize();
    let digits = outer.iter().take(12).flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
}

/// The card that a token is for, if the token is still good.
pub fn verify_token(
    reader: &dyn StoreReader,
    token: &str,
) -> Result<(ReviewToken, Card), NoemaError> {
    let token = ReviewToken::verify(token, &reader.secret()?)?;
    Ok((token, unspent_card(reader, &token)?))
}

fn unspent_card(reader: &dyn StoreReader, token: &ReviewToken) -> Result<Card, NoemaError> {
    let card = collection::card(reader, token.card)?;
    if card.sequence == token.sequence { Ok(card) } else { Err(NoemaError::TokenSpent(card.id)) }
}

/// An answer to be recorded.
#[derive(Clone, Debug)]
pub struct ReviewSubmission<'a> {
    /// The token of the back.
    pub token: &'a str,
    /// How well it was recalled.
    pub rating: Rating,
    /// Milliseconds it took, if the agent measured it.
    pub taken_ms: Option<i64>,
    /// How sure the learner felt before the card was turned, from 0 to 1.
    pub felt: Option<f64>,
    /// The session it belongs to.
    pub session: Option<SessionId>,
}

/// What came of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReviewOutcome {
    /// The entry in the log.
    pub review: ReviewId,
    /// The card.
    pub card: CardId,
    /// Its deck.
    pub deck: DeckId,
    /// How well it was recalled.
    pub rating: Rating,
    /// Where the card was in its life.
    pub from: Phase,
    /// Where it is now.
    pub to: Phase,
    /// When it comes back.
    pub due: Micros,
    /// In how many days; 0 while in steps.
    pub interval_days: u32,
    /// Days until recall falls to nine in ten.
    pub stability: f64,
    /// From 1 to 10.
    pub difficulty: f64,
    /// What chance of recall was expected.
    pub predicted: Option<f64>,
    /// How often it has been forgotten.
    pub lapses: u32,
    /// Whether it has just become a leech.
    pub leech: bool,
    /// Whether that suspended it.
    pub suspended: bool,
    /// Cards of the same note that now wait until tomorrow.
    pub buried: Vec<CardId>,
    /// Milliseconds it took.
    pub taken_ms: i64,
}

/// An answer that is in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// What came of it.
    pub outcome: ReviewOutcome,
    /// Whether it had been recorded before.
    pub replayed: bool,
    /// What holds in the card's deck.
    pub options: DeckOptions,
}

/// Records an answer, once.
pub fn submit(
    writer: &mut dyn StoreWriter,
    answer: &ReviewSubmission<'_>,
    now: Micros,
) -> Result<Recorded, NoemaError> {
    let token = ReviewToken::verify(answer.token, &writer.secret()?)?;
    let card = match unspent_card(writer, &token) {
        Ok(card) => card,
        // Perhaps it was spent on this very answer.
        Err(problem) => {
            let before = writer.review_with_token(token.card, answer.token)?.ok_or(problem)?;
            let outcome = replayed_outcome(&before, answer.rating)?;
            let options = collection::options_of(writer, outcome.deck)?;
            return Ok(Recorded { outcome, replayed: true, options });
        }
    };
    if token.side == Side::Front {
        return Err(NoemaError::AnswerNotRevealed(card.id));
    }
    ensure_reviewable(&card, now)?;
    let decks = collection::lineage(writer, card.deck)?;
    let ids: Vec<DeckId> = decks.iter().map(|deck| deck.id).collect();
    let options = collection::options_of_lineage(decks);
    let outcome = record(writer, card, &ids, &options, answer, &token, now)?;
    Ok(Recorded { outcome, replayed: false, options })
}

fn replayed_outcome(before: &Review, rating: Rating) -> Result<ReviewOutcome, NoemaError> {
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

/// A card that something holds back is not answered.
pub fn ensure_reviewable(card: &Card, now: Micros) -> Result<(), NoemaError> {
    let state = match card.active_hold(now) {
        Hold::None | Hold::BuriedByHand | Hold::BuriedAsSibling => return Ok(()),
        Hold::Suspended => "suspended",
        Hold::Draft => "a draft",
    };
    Err(NoemaError::CardHeld { card: card.id, state })
}

/// The seed of a card's next answer.
pub const fn seed(card: &Card) -> Seed {
    Seed { card: card.id.0, repetition: card.reps }
}

fn record(
    writer: &mut dyn StoreWriter,
    mut card: Card,
    decks: &[DeckId],
    options: &DeckOptions,
    answer: &ReviewSubmission<'_>,
    token: &ReviewToken,
    now: Micros,
) -> Result<ReviewOutcome, NoemaError> {
    let scheduler = options.scheduler();
    let before = schedule_with_memory(&card);
    let predicted = scheduler.retrievability(&before, now);
    card.schedule = scheduler.answer(&before, answer.rating, now, seed(&card));
    card.reps += 1;
    let lapsed = before.phase == Phase::Review && answer.rating == Rating::Again;
    card.lapses += u32::from(lapsed);
    card.hold = Hold::None;
    card.held_until = None;
    card.sequence += 1;
    card.modified = now;
    let leech = lapsed && is_leech(card.lapses, options.leech_threshold);
    let suspended = leech && options.leech_action == LeechAction::Suspend;
    if suspended {
        card.hold = Hold::Suspended;
    }
    writer.put_card(&card)?;
    if leech {
        collection::retag(writer, card.id, &[LEECH_TAG.to_owned()], &[], now)?;
    }
    let buried = if options.bury_siblings {
        bury_siblings(writer, &card, options, now)?
    } else {
        Vec::new()
    };
    count_towards_limits(writer, decks, before.phase, options, now)?;
    let measured = answer.taken_ms.unwrap_or((now - token.shown) / 1000);
    let taken_ms = measured.clamp(0, MAX_ANSWER_MS);
    let outcome = ReviewOutcome {
        review: next_review_id(writer, now)?,
        card: card.id,
        deck: card.deck,
        rating: answer.rating,
        from: before.phase,
        to: card.schedule.phase,
        due: card.schedule.due,
        interval_days: card.schedule.interval_days,
        stability: card.schedule.memory.map_or(0.0, |memory| memory.stability),
        difficulty: card.schedule.memory.map_or(0.0, |memory| memory.difficulty),
        predicted,
        lapses: card.lapses,
        leech,
        suspended,
        buried,
        taken_ms,
    };
    append_review(writer, &outcome, &before, answer, now)?;
    if let Some(id) = answer.session {
        let mut session = writer
            .session(id)?
            .filter(|session| session.ended.is_none())
            .ok_or(NoemaError::SessionNotFound(id))?;
        session.answered += 1;
        session.passed += u32::from(answer.rating.passed());
        session.taken_ms += taken_ms;
        writer.put_session(&session)?;
    }
    Ok(outcome)
}

/// The schedule of a card, with a memory in its place if it comes from a scheduler that had
/// none: an interval is about what it takes for recall to fall to nine in ten.
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

/// At the threshold, and then after every half of it.
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
) -> Result<Vec<CardId>, NoemaError> {
    let tomorrow = options.calendar().next_start(now);
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

/// Uses up the day's limits of the deck and of those above it.
fn count_towards_limits(
    writer: &mut dyn StoreWriter,
    decks: &[DeckId],
    from: Phase,
    options: &DeckOptions,
    now: Micros,
) -> Result<(), NoemaError> {
    if !matches!(from, Phase::New | Phase::Review) {
        return Ok(());
    }
    let day = options.calendar().day(now);
    for deck in decks {
        let mut tally = writer.tally(*deck, day)?;
        tally.new += u32::from(from == Phase::New);
        tally.reviews += 1;
        writer.put_tally(*deck, day, tally)?;
    }
    Ok(())
}

/// The moment in milliseconds, or the next that is free: also when the clock went back.
fn next_review_id(writer: &dyn StoreWriter, now: Micros) -> Result<ReviewId, NoemaError> {
    let last = writer.last_review_time()?.unwrap_or(0) / 1000;
    let here = now.div_euclid(1000);
    Ok(ReviewId(if here > last { here } else { last + 1 }))
}

fn append_review(
    writer: &mut dyn StoreWriter,
    outcome: &ReviewOutcome,
    before: &Schedule,
    answer: &ReviewSubmission<'_>,
    now: Micros,
) -> Result<(), NoemaError> {
    let kind = match before.phase {
        Phase::New | Phase::Learning => ReviewKind::Learning,
        Phase::Review if before.due > now => ReviewKind::Early,
        Phase::Review => ReviewKind::Review,
        Phase::Relearning => ReviewKind::Relearning,
    };
    let interval = match outcome.interval_days {
        0 => -((outcome.due - now) / 1_000_000),
        days => i64::from(days),
    };
    let json =
        serde_json::to_string(outcome).map_err(|error| NoemaError::store(error.to_string()))?;
    writer.put_review(&Review {
        id: outcome.review,
        card: outcome.card,
        rating: outcome.rating.ordinal(),
        kind,
        interval,
        last_interval: i64::from(before.interval_days),
        // Where Anki keeps the ease it keeps the difficulty of FSRS, from 100 to 1100.
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

    const TOKEN: ReviewToken =
        ReviewToken { side: Side::Back, card: CardId(123), sequence: 4, shown: 99 };

    #[test]
    fn forged_and_malformed_tokens_are_rejected() {
        let token = TOKEN.sign(b"secret");
        assert_eq!(ReviewToken::verify(&token, b"secret"), Ok(TOKEN));
        let forged = token.replace("back", "front");
        for bad in [forged.as_str(), "", "back.123.4.99.", "back.123.4.99", "a.b"] {
            assert_eq!(
                ReviewToken::verify(bad, b"secret"),
                Err(NoemaError::InvalidToken),
                "token: {bad:?}"
            );
        }
        assert_eq!(ReviewToken::verify(&token, b"other"), Err(NoemaError::InvalidToken));
    }

    #[test]
    fn token_signature_matches_rfc_4231() {
        // RFC 4231, test case 2, first 12 bytes.
        assert_eq!(signature(b"Jefe", "what do ya want for nothing?"), "5bdcc146bf60754e6a042426");
    }

    #[test]
    fn leech_triggers_at_the_threshold_and_every_half_threshold_after() {
        let found: Vec<u32> = (0..20).filter(|lapses| is_leech(*lapses, 8)).collect();
        assert_eq!(found, [8, 12, 16]);
        assert!(!is_leech(5, 0));
    }
}
