//! Operations on decks, notes and cards, apart from studying them.
//!
//! The read helpers are here; [`decks`], [`notes`] and [`cards`] hold the mutations. Each
//! mutation runs in the caller's write transaction.

mod cards;
mod decks;
pub mod note_types;
mod notes;

pub use self::cards::{
    DELETED_RETENTION, Reschedule, approve_draft, bury_card, delete_card, move_card, reschedule,
    restore_card, retag, set_hold,
};
pub use self::decks::{DeckChanges, create_deck, delete_deck, update_deck};
pub use self::notes::{NewNote, NoteChanges, add_note, fields_of, notes_as_text, update_card};

use crate::card::Card;
use crate::deck::{Deck, DeckName, DeckOptions};
use crate::error::{NoemaError, Result};
use crate::fsrs::Calendar;
use crate::ids::{CardId, DeckId, NoteId};
use crate::note::{Note, NoteType};
use crate::store::StoreReader;

/// Returns a deck that is not deleted.
pub fn deck(reader: &dyn StoreReader, id: DeckId) -> Result<Deck> {
    reader
        .deck(id)?
        .filter(|deck| deck.deleted.is_none())
        .ok_or_else(|| NoemaError::DeckNotFound(id.to_string()))
}

/// Returns a deck by name, ignoring case.
pub fn deck_by_name(reader: &dyn StoreReader, name: &DeckName) -> Result<Option<Deck>> {
    reader.deck_by_name(&name.folded())
}

/// Returns a card that is not deleted.
pub fn card(reader: &dyn StoreReader, id: CardId) -> Result<Card> {
    reader.card(id)?.filter(|card| card.deleted.is_none()).ok_or(NoemaError::CardNotFound(id))
}

/// Returns a note with its type.
pub fn note_and_type(reader: &dyn StoreReader, id: NoteId) -> Result<(Note, NoteType)> {
    let note = reader.note(id)?.ok_or(NoemaError::NoteNotFound(id))?;
    let note_type = reader.note_type(note.note_type)?.ok_or(NoemaError::NoteNotFound(id))?;
    Ok((note, note_type))
}

/// The effective options of a deck: its own, or those of the nearest ancestor that has some.
pub fn options_of(reader: &dyn StoreReader, id: DeckId) -> Result<DeckOptions> {
    Ok(options_of_lineage(lineage(reader, id)?))
}

/// The calendar of the learner's days, for what belongs to no deck.
pub fn calendar(reader: &dyn StoreReader) -> Result<Calendar> {
    Ok(DeckOptions::default().calendar(reader.learner_zone()?))
}

/// A deck and its ancestors, nearest first; empty if the deck does not exist.
pub fn lineage(reader: &dyn StoreReader, id: DeckId) -> Result<Vec<Deck>> {
    let Some(deck) = reader.deck(id)? else { return Ok(Vec::new()) };
    let parents: Vec<DeckName> = deck.name.parents().collect();
    let mut decks = vec![deck];
    for parent in parents.iter().rev() {
        decks.extend(deck_by_name(reader, parent)?);
    }
    Ok(decks)
}

/// [`options_of`] for a loaded [`lineage`].
pub fn options_of_lineage(lineage: Vec<Deck>) -> DeckOptions {
    lineage.into_iter().find_map(|deck| deck.options).unwrap_or_default()
}

/// [`options_of`] for loaded decks.
pub fn options_among(deck: &Deck, decks: &[Deck]) -> DeckOptions {
    if let Some(options) = &deck.options {
        return options.clone();
    }
    let with_options = decks.iter().filter(|other| other.options.is_some());
    let above = with_options.filter(|other| deck.name.is_within(&other.name));
    let nearest = above.max_by_key(|other| other.name.as_str().len());
    nearest.and_then(|other| other.options.clone()).unwrap_or_default()
}

/// The descendants of a deck.
pub fn subdecks(reader: &dyn StoreReader, deck: &Deck) -> Result<Vec<Deck>> {
    let decks = reader.decks()?;
    Ok(decks
        .into_iter()
        .filter(|other| other.id != deck.id && other.name.is_within(&deck.name))
        .collect())
}

/// Returns a deck that can contain cards, that is, not a filtered deck.
pub fn regular_deck(reader: &dyn StoreReader, id: DeckId) -> Result<Deck> {
    let deck = deck(reader, id)?;
    if deck.filter.is_some() { Err(NoemaError::FilteredDeck(id)) } else { Ok(deck) }
}
