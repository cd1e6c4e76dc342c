//! Creating and changing notes and the cards they generate.

use std::collections::{BTreeMap, BTreeSet};

use super::{card, cards, note_and_type, regular_deck};
use crate::card::{Card, Hold};
use crate::choice;
use crate::error::{NoemaError, Result};
use crate::fsrs::{Micros, Schedule};
use crate::ids::{CardId, DeckId, NoteId, NoteTypeId};
use crate::note::{self, Form, Note, NoteType};
use crate::store::{StoreReader, StoreWriter};
use crate::text_notes::TextNote;

/// A note to create.
#[derive(Clone, Debug)]
pub struct NewNote {
    /// Note type.
    pub note_type: NoteTypeId,
    /// Fields in the order of the note type.
    pub fields: Vec<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// Deck of the generated cards.
    pub deck: DeckId,
    /// Whether the cards are drafts that need approval.
    pub draft: bool,
    /// Source.
    pub source: Option<String>,
}

/// Creates a note and its cards.
pub fn add_note(
    writer: &mut dyn StoreWriter,
    new: NewNote,
    now: Micros,
) -> Result<(Note, Vec<Card>)> {
    regular_deck(writer, new.deck)?;
    let note_type = writer
        .note_type(new.note_type)?
        .ok_or(NoemaError::NoCards("the note type does not exist"))?;
    let mut fields = new.fields;
    fields.resize(note_type.fields.len(), String::new());
    let ordinals = note_type.ordinals(&fields);
    if ordinals.is_empty() {
        return Err(NoemaError::NoCards(if note_type.cloze {
            "a cloze needs a deletion such as `{{c1::Bangkok}}`"
        } else {
            "the front is empty"
        }));
    }
    let id = NoteId(writer.next_id(now)?);
    let note = Note {
        id,
        guid: guid(id),
        note_type: note_type.id,
        fields,
        tags: note::normalize_tags(new.tags.iter().map(String::as_str)),
        source: new.source,
        created: now,
        modified: now,
        version: 1,
        deleted: None,
    };
    writer.put_note(&note)?;
    let mut cards = Vec::new();
    for ordinal in ordinals {
        let card = new_card(writer, note.id, ordinal, new.deck, new.draft, now)?;
        writer.put_card(&card)?;
        cards.push(card);
    }
    Ok((note, cards))
}

/// A ten-character guid in Anki's base-91 alphabet, derived from the id.
fn guid(id: NoteId) -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&()*+,-./:;<=>?@[]^_`{|}~";
    let mut rest = id.0.unsigned_abs().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1;
    let mut text = String::new();
    for _ in 0..10 {
        let index = usize::try_from(rest % 91).unwrap_or_default();
        text.push(LETTERS.get(index).map_or('a', |letter| char::from(*letter)));
        rest /= 91;
    }
    text
}

fn new_card(
    writer: &mut dyn StoreWriter,
    note: NoteId,
    ordinal: u32,
    deck: DeckId,
    draft: bool,
    now: Micros,
) -> Result<Card> {
    let id = writer.next_id(now)?;
    Ok(Card {
        id: CardId(id),
        note,
        ordinal,
        deck,
        position: id,
        schedule: Schedule { due: id, ..Schedule::default() },
        reps: 0,
        lapses: 0,
        ease: 0,
        flag: 0,
        hold: if draft { Hold::Draft } else { Hold::None },
        held_until: None,
        sequence: 0,
        created: now,
        modified: now,
        deleted: None,
        custom: String::new(),
    })
}

/// Changes to a note and one of its cards; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default)]
pub struct NoteChanges {
    /// New values by field name.
    pub fields: BTreeMap<String, String>,
    /// The complete list of tags.
    pub tags: Option<Vec<String>>,
    /// Expected version for optimistic locking; `None` skips the check.
    pub version: Option<i64>,
    /// New deck of the card.
    pub deck: Option<DeckId>,
    /// New flag of the card.
    pub flag: Option<u8>,
}

/// Updates a card and its note. Cards that the note now generates are created, cards that it no
/// longer generates are deleted.
pub fn update_card(
    writer: &mut dyn StoreWriter,
    id: CardId,
    changes: NoteChanges,
    now: Micros,
) -> Result<(Note, Card)> {
    let mut card = card(writer, id)?;
    let (mut note, note_type) = note_and_type(writer, card.note)?;
    if let Some(given) = changes.version.filter(|given| *given != note.version) {
        return Err(NoemaError::StaleVersion { card: id, current: note.version, given });
    }
    let past = note.snapshot(now);
    for (name, text) in changes.fields {
        let index = note_type.fields.iter().position(|field| field.eq_ignore_ascii_case(&name));
        let field = index.and_then(|index| note.fields.get_mut(index));
        *field.ok_or(NoemaError::NoCards("the note type has no such field"))? = text;
    }
    if let Some(tags) = changes.tags {
        note.tags = note::normalize_tags(tags.iter().map(String::as_str));
    }
    if (&note.fields, &note.tags) != (&past.fields, &past.tags) {
        regenerate_cards(writer, &note, &note_type, &card, now)?;
        note.version += 1;
        note.modified = now;
        writer.put_note(&note)?;
        writer.put_past_content(note.id, &past)?;
    }
    if let Some(target) = changes.deck {
        card.deck = regular_deck(writer, target)?.id;
    }
    card.flag = changes.flag.unwrap_or(card.flag);
    card.modified = now;
    writer.put_card(&card)?;
    Ok((note, card))
}

/// Creates a card of a note in the deck of another card, as a draft if that one is.
pub(super) fn add_card(
    writer: &mut dyn StoreWriter,
    note: NoteId,
    ordinal: u32,
    like: &Card,
    now: Micros,
) -> Result<()> {
    let card = new_card(writer, note, ordinal, like.deck, like.hold == Hold::Draft, now)?;
    writer.put_card(&card)
}

fn regenerate_cards(
    writer: &mut dyn StoreWriter,
    note: &Note,
    note_type: &NoteType,
    like: &Card,
    now: Micros,
) -> Result<()> {
    let wanted = note_type.ordinals(&note.fields);
    if wanted.is_empty() {
        return Err(NoemaError::NoCards("the front would be empty"));
    }
    let cards = writer.cards_of(note.id)?;
    for card in &cards {
        if !wanted.contains(&card.ordinal) && card.id != like.id {
            cards::delete_card(writer, card.id, now)?;
        }
    }
    for ordinal in wanted {
        if cards.iter().all(|card| card.ordinal != ordinal) {
            add_card(writer, note.id, ordinal, like, now)?;
        }
    }
    Ok(())
}

/// Arranges the author's input into the fields of a form.
pub fn fields_of(
    form: Form,
    front: String,
    back: String,
    choices: &[String],
    extra: String,
) -> Vec<String> {
    match form {
        Form::Basic | Form::Reversed | Form::Typed => vec![front, back],
        Form::Cloze => vec![front, if extra.is_empty() { back } else { extra }],
        Form::Choice => {
            vec![front, choice::lettered(choices.iter().map(String::as_str)), back, extra]
        }
    }
}

/// Converts the notes of decks to text notes, in card order.
pub fn notes_as_text(reader: &dyn StoreReader, decks: &[DeckId]) -> Result<Vec<TextNote>> {
    let mut seen = BTreeSet::new();
    let mut notes = Vec::new();
    for deck in decks {
        for card in reader.cards_in(*deck)? {
            if !seen.insert(card.note) {
                continue;
            }
            let (note, note_type) = note_and_type(reader, card.note)?;
            let mut fields = note.fields.into_iter();
            let front = fields.next().unwrap_or_default();
            let (back, rest) =
                (fields.next().unwrap_or_default(), fields.collect::<Vec<_>>().join("<br>"));
            let form = Form::ALL.into_iter().find(|form| form.note_type().id == note_type.id);
            // The parser infers basic and cloze, so only other forms are written.
            let form = form.filter(|form| !matches!(form, Form::Basic | Form::Cloze));
            notes.push(TextNote { front, back, extra: rest, tags: note.tags, form });
        }
    }
    Ok(notes)
}
