//! Deleting, restoring, holding, tagging and rescheduling cards.

use super::{card, deck_by_name, options_of};
use crate::card::{Card, Hold};
use crate::error::{NoemaError, Result};
use crate::fsrs::{DAY, Memory, Micros, Phase, Rating, Schedule};
use crate::ids::{CardId, DeckId};
use crate::note;
use crate::numbers::round_to_u32;
use crate::review;
use crate::store::StoreWriter;

/// How long deleted cards, notes and decks stay restorable.
pub const DELETED_RETENTION: Micros = 30 * DAY;

/// Deletes a card, and its note with the last card. Returns false if it is already deleted.
pub fn delete_card(writer: &mut dyn StoreWriter, id: CardId, now: Micros) -> Result<bool> {
    let mut card = writer.card(id)?.ok_or(NoemaError::CardNotFound(id))?;
    if card.deleted.is_some() {
        return Ok(false);
    }
    card.deleted = Some(now);
    card.sequence += 1;
    writer.put_card(&card)?;
    if writer.cards_of(card.note)?.is_empty()
        && let Some(mut note) = writer.note(card.note)?
    {
        note.deleted = Some(now);
        writer.put_note(&note)?;
    }
    Ok(true)
}

/// Restores a card with its note and deck. Returns false if it is not deleted.
pub fn restore_card(writer: &mut dyn StoreWriter, id: CardId, now: Micros) -> Result<bool> {
    let mut card = writer.card(id)?.ok_or(NoemaError::CardNotFound(id))?;
    let Some(deleted) = card.deleted else { return Ok(false) };
    if deleted < now - DELETED_RETENTION {
        return Err(NoemaError::CardNotFound(id));
    }
    if let Some(mut note) = writer.note(card.note)?.filter(|note| note.deleted.is_some()) {
        note.deleted = None;
        writer.put_note(&note)?;
    }
    if let Some(mut deck) = writer.deck(card.deck)?.filter(|deck| deck.deleted.is_some()) {
        if let Some(other) = deck_by_name(writer, &deck.name)? {
            card.deck = other.id;
        } else {
            deck.deleted = None;
            deck.version += 1;
            writer.put_deck(&deck)?;
        }
    }
    card.deleted = None;
    card.modified = now;
    writer.put_card(&card)?;
    Ok(true)
}

/// Moves a card. Returns false if it is already in the deck.
pub fn move_card(
    writer: &mut dyn StoreWriter,
    id: CardId,
    target: DeckId,
    now: Micros,
) -> Result<bool> {
    let mut card = card(writer, id)?;
    if card.deck == target {
        return Ok(false);
    }
    card.deck = target;
    card.modified = now;
    writer.put_card(&card)?;
    Ok(true)
}

/// Suspends or unsuspends a card. Returns false if nothing changes. Drafts are refused: only
/// [`approve_draft`] releases them.
pub fn set_hold(writer: &mut dyn StoreWriter, id: CardId, hold: Hold, now: Micros) -> Result<bool> {
    let card = card(writer, id)?;
    if card.hold == Hold::Draft {
        return Err(NoemaError::CardHeld { card: id, state: "a draft" });
    }
    hold_until(writer, card, hold, None, now)
}

/// Buries a card until the next rollover of its deck. Returns false if it is already buried.
pub fn bury_card(writer: &mut dyn StoreWriter, id: CardId, now: Micros) -> Result<bool> {
    let card = card(writer, id)?;
    review::ensure_reviewable(&card, now)?;
    let tomorrow = options_of(writer, card.deck)?.calendar(writer.learner_zone()?).next_start(now);
    hold_until(writer, card, Hold::BuriedByHand, Some(tomorrow), now)
}

/// Releases a draft for study. Returns false if the card is not a draft.
pub fn approve_draft(writer: &mut dyn StoreWriter, id: CardId, now: Micros) -> Result<bool> {
    let card = card(writer, id)?;
    if card.hold != Hold::Draft {
        return Ok(false);
    }
    hold_until(writer, card, Hold::None, None, now)
}

fn hold_until(
    writer: &mut dyn StoreWriter,
    mut card: Card,
    hold: Hold,
    until: Option<Micros>,
    now: Micros,
) -> Result<bool> {
    if card.active_hold(now) == hold {
        return Ok(false);
    }
    card.hold = hold;
    card.held_until = until;
    card.sequence += 1;
    card.modified = now;
    writer.put_card(&card)?;
    Ok(true)
}

/// Adds and removes tags of a card's note. Returns false if nothing changes.
pub fn retag(
    writer: &mut dyn StoreWriter,
    id: CardId,
    add: &[String],
    remove: &[String],
    now: Micros,
) -> Result<bool> {
    let card = card(writer, id)?;
    let mut note = writer.note(card.note)?.ok_or(NoemaError::NoteNotFound(card.note))?;
    let is_removed = |tag: &String| {
        let tag = tag.to_lowercase();
        remove
            .iter()
            .map(|removed| removed.to_lowercase())
            .any(|removed| tag == removed || tag.starts_with(&format!("{removed}::")))
    };
    let remaining = note.tags.iter().filter(|tag| !is_removed(tag));
    let tags = note::normalize_tags(remaining.chain(add).map(String::as_str));
    if tags == note.tags {
        return Ok(false);
    }
    let past = note.snapshot(now);
    note.tags = tags;
    note.version += 1;
    note.modified = now;
    writer.put_note(&note)?;
    writer.put_past_content(note.id, &past)?;
    Ok(true)
}

/// How to reschedule a card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reschedule {
    /// Reset to new.
    Forget,
    /// Due in this many days.
    InDays(u32),
    /// Due when retrievability falls to the deck's desired retention.
    ByMemory,
}

/// Reschedules a card. Returns false if nothing changes.
pub fn reschedule(
    writer: &mut dyn StoreWriter,
    id: CardId,
    how: Reschedule,
    now: Micros,
) -> Result<bool> {
    let mut card = card(writer, id)?;
    let scheduler = options_of(writer, card.deck)?.scheduler(writer.learner_zone()?);
    let before = card.schedule;
    card.schedule = match (how, before.memory, before.last_review) {
        (Reschedule::Forget, ..) => Schedule { due: card.position, ..Schedule::default() },
        (Reschedule::InDays(days), memory, _) => Schedule {
            phase: Phase::Review,
            step: 0,
            memory: Some(
                memory.unwrap_or_else(|| Memory::first(&scheduler.parameters, Rating::Good)),
            ),
            last_review: Some(before.last_review.unwrap_or(now)),
            due: scheduler.calendar.due(now, days),
            interval_days: days.max(1),
        },
        (Reschedule::ByMemory, Some(memory), Some(last)) if before.phase == Phase::Review => {
            let days = round_to_u32(scheduler.raw_interval(memory.stability))
                .clamp(1, scheduler.maximum_interval);
            Schedule { due: scheduler.calendar.due(last, days), interval_days: days, ..before }
        }
        (Reschedule::ByMemory, ..) => return Ok(false),
    };
    if card.schedule == before {
        return Ok(false);
    }
    card.sequence += 1;
    card.modified = now;
    writer.put_card(&card)?;
    Ok(true)
}
