//! What can be done with decks, notes and cards, apart from studying them.

use std::collections::{BTreeMap, BTreeSet};

use crate::card::{Card, Hold};
use crate::deck::{Deck, DeckName, DeckOptions, Filter};
use crate::fsrs::{DAY, Micros, Phase, Schedule};
use crate::ids::{CardId, DeckId, NoteId, NoteTypeId};
use crate::note::{self, Form, Note, NoteType, PastContent};
use crate::problem::Problem;
use crate::search;
use crate::store::{Ledger, Records};
use crate::text::TextNote;

/// How long what was deleted can be brought back.
pub const KEPT_DELETED: Micros = 30 * DAY;

/// A deck that is not deleted.
pub fn deck(records: &dyn Records, id: DeckId) -> Result<Deck, Problem> {
    records
        .deck(id)?
        .filter(|deck| deck.deleted.is_none())
        .ok_or_else(|| Problem::NoDeck(id.to_string()))
}

/// A deck by its name, whatever the case.
pub fn deck_named(records: &dyn Records, name: &DeckName) -> Result<Option<Deck>, Problem> {
    records.deck_named(&name.folded())
}

/// A card that is not deleted.
pub fn card(records: &dyn Records, id: CardId) -> Result<Card, Problem> {
    records.card(id)?.filter(|card| card.deleted.is_none()).ok_or(Problem::NoCard(id))
}

/// A note with its type.
pub fn note_and_type(records: &dyn Records, id: NoteId) -> Result<(Note, NoteType), Problem> {
    let note = records.note(id)?.ok_or(Problem::NoNote(id))?;
    let note_type = records.note_type(note.note_type)?.ok_or(Problem::NoNote(id))?;
    Ok((note, note_type))
}

/// The options that hold in a deck: its own, or those of the nearest deck above it.
pub fn options_of(records: &dyn Records, id: DeckId) -> Result<DeckOptions, Problem> {
    Ok(options_along(lineage(records, id)?))
}

/// A deck and those above it, the nearest first; nothing of a deck that is gone.
pub fn lineage(records: &dyn Records, id: DeckId) -> Result<Vec<Deck>, Problem> {
    let Some(deck) = records.deck(id)? else { return Ok(Vec::new()) };
    let parents: Vec<DeckName> = deck.name.parents().collect();
    let mut decks = vec![deck];
    for parent in parents.iter().rev() {
        decks.extend(deck_named(records, parent)?);
    }
    Ok(decks)
}

/// As [`options_of`], of a [`lineage`].
pub fn options_along(lineage: Vec<Deck>) -> DeckOptions {
    lineage.into_iter().find_map(|deck| deck.options).unwrap_or_default()
}

/// As [`options_of`], when the decks are at hand.
pub fn options_among(deck: &Deck, decks: &[Deck]) -> DeckOptions {
    if let Some(options) = &deck.options {
        return options.clone();
    }
    let with_options = decks.iter().filter(|other| other.options.is_some());
    let above = with_options.filter(|other| deck.name.is_within(&other.name));
    let nearest = above.max_by_key(|other| other.name.as_str().len());
    nearest.and_then(|other| other.options.clone()).unwrap_or_default()
}

/// What a deck is to become.
#[derive(Clone, Debug, Default)]
pub struct DeckChanges {
    /// Its name; decks under it move along.
    pub name: Option<DeckName>,
    /// What it is for.
    pub description: Option<String>,
    /// Its options.
    pub options: Option<DeckOptions>,
    /// Its search, for a filtered deck.
    pub filter: Option<Filter>,
}

/// Makes a deck, and the decks above it that are missing.
pub fn create_deck(
    ledger: &mut dyn Ledger,
    name: &DeckName,
    changes: DeckChanges,
    now: Micros,
) -> Result<Deck, Problem> {
    if deck_named(ledger, name)?.is_some() {
        return Err(Problem::DeckExists(name.to_string()));
    }
    if let Some(filter) = &changes.filter {
        search::parse(&filter.search)?;
    }
    let parents: Vec<DeckName> = name.parents().collect();
    for parent in parents {
        match deck_named(ledger, &parent)? {
            Some(deck) if deck.filter.is_some() => return Err(Problem::FilteredDeck(deck.id)),
            Some(_) => {}
            None => {
                let empty = DeckChanges::default();
                let parent = new_deck(ledger, parent, empty, now)?;
                ledger.put_deck(&parent)?;
            }
        }
    }
    let deck = new_deck(ledger, name.clone(), changes, now)?;
    ledger.put_deck(&deck)?;
    Ok(deck)
}

fn new_deck(
    ledger: &mut dyn Ledger,
    name: DeckName,
    changes: DeckChanges,
    now: Micros,
) -> Result<Deck, Problem> {
    Ok(Deck {
        id: DeckId(ledger.fresh_id(now)?),
        name,
        description: changes.description.unwrap_or_default(),
        options: changes.options,
        filter: changes.filter,
        created: now,
        modified: now,
        version: 1,
        deleted: None,
    })
}

/// Changes a deck.
pub fn update_deck(
    ledger: &mut dyn Ledger,
    id: DeckId,
    changes: DeckChanges,
    now: Micros,
) -> Result<Deck, Problem> {
    let mut deck = deck(ledger, id)?;
    if let Some(filter) = changes.filter {
        search::parse(&filter.search)?;
        deck.filter = Some(filter);
    }
    if let Some(name) = changes.name.filter(|name| *name != deck.name) {
        rename(ledger, &deck, &name, now)?;
        deck.name = name;
    }
    deck.description = changes.description.unwrap_or(deck.description);
    deck.options = changes.options.or(deck.options);
    deck.modified = now;
    deck.version += 1;
    ledger.put_deck(&deck)?;
    Ok(deck)
}

fn rename(
    ledger: &mut dyn Ledger,
    deck: &Deck,
    name: &DeckName,
    now: Micros,
) -> Result<(), Problem> {
    if let Some(other) = deck_named(ledger, name)?.filter(|other| other.id != deck.id) {
        return Err(Problem::DeckExists(other.name.to_string()));
    }
    for mut below in below(ledger, deck)? {
        below.name = DeckName::parse(below.name.moved(&deck.name, name).as_str())?;
        below.modified = now;
        below.version += 1;
        ledger.put_deck(&below)?;
    }
    Ok(())
}

/// The decks under a deck.
pub fn below(records: &dyn Records, deck: &Deck) -> Result<Vec<Deck>, Problem> {
    let decks = records.decks()?;
    Ok(decks
        .into_iter()
        .filter(|other| other.id != deck.id && other.name.is_within(&deck.name))
        .collect())
}

/// Deletes a deck with all decks and cards in it; gives back how many of each.
pub fn delete_deck(
    ledger: &mut dyn Ledger,
    id: DeckId,
    now: Micros,
) -> Result<(usize, usize), Problem> {
    let deck = deck(ledger, id)?;
    let mut decks = below(ledger, &deck)?;
    decks.push(deck);
    let mut cards = 0;
    for deck in &mut decks {
        for card in ledger.cards_in(deck.id)? {
            cards += usize::from(delete_card(ledger, card.id, now)?);
        }
        deck.deleted = Some(now);
        deck.version += 1;
        ledger.put_deck(deck)?;
    }
    Ok((decks.len(), cards))
}

/// A note to be made.
#[derive(Clone, Debug)]
pub struct NewNote {
    /// Its type.
    pub note_type: NoteTypeId,
    /// Its fields, in the order of the type.
    pub fields: Vec<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Where its cards go.
    pub deck: DeckId,
    /// Whether somebody has to approve it first.
    pub draft: bool,
    /// Where it comes from.
    pub source: Option<String>,
}

/// Makes a note and its cards.
pub fn add_note(
    ledger: &mut dyn Ledger,
    new: NewNote,
    now: Micros,
) -> Result<(Note, Vec<Card>), Problem> {
    let deck = deck(ledger, new.deck)?;
    if deck.filter.is_some() {
        return Err(Problem::FilteredDeck(deck.id));
    }
    let note_type =
        ledger.note_type(new.note_type)?.ok_or(Problem::NoCards("its note type does not exist"))?;
    let mut fields = new.fields;
    fields.resize(note_type.fields.len(), String::new());
    let ordinals = note_type.ordinals(&fields);
    if ordinals.is_empty() {
        return Err(Problem::NoCards(if note_type.cloze {
            "a cloze needs a gap such as `{{c1::Bangkok}}`"
        } else {
            "its front is empty"
        }));
    }
    let id = NoteId(ledger.fresh_id(now)?);
    let note = Note {
        id,
        guid: guid(id),
        note_type: note_type.id,
        fields,
        tags: note::tidy_tags(new.tags.iter().map(String::as_str)),
        source: new.source,
        created: now,
        modified: now,
        version: 1,
        deleted: None,
    };
    ledger.put_note(&note)?;
    let mut cards = Vec::new();
    for ordinal in ordinals {
        let card = new_card(ledger, note.id, ordinal, new.deck, new.draft, now)?;
        ledger.put_card(&card)?;
        cards.push(card);
    }
    Ok((note, cards))
}

/// Ten characters from the id, each of 91, as Anki makes them from chance.
fn guid(id: NoteId) -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&()*+,-./:;<=>?@[]^_`{|}~";
    let mut rest = id.0.unsigned_abs().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1;
    let mut text = String::new();
    for _ in 0..10 {
        let place = usize::try_from(rest % 91).unwrap_or_default();
        text.push(LETTERS.get(place).map_or('a', |letter| char::from(*letter)));
        rest /= 91;
    }
    text
}

fn new_card(
    ledger: &mut dyn Ledger,
    note: NoteId,
    ordinal: u32,
    deck: DeckId,
    draft: bool,
    now: Micros,
) -> Result<Card, Problem> {
    let id = ledger.fresh_id(now)?;
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

/// What a note is to become.
#[derive(Clone, Debug, Default)]
pub struct NoteChanges {
    /// New texts, by the names of the fields.
    pub fields: BTreeMap<String, String>,
    /// All its tags.
    pub tags: Option<Vec<String>>,
    /// The version that was seen; any without it.
    pub version: Option<i64>,
    /// Where this card goes.
    pub deck: Option<DeckId>,
    /// The card's flag.
    pub flag: Option<u8>,
}

/// Changes a card and the note it is of. Cards that the note now makes are made, and those it
/// no longer makes are deleted.
pub fn update_card(
    ledger: &mut dyn Ledger,
    id: CardId,
    changes: NoteChanges,
    now: Micros,
) -> Result<(Note, Card), Problem> {
    let mut card = card(ledger, id)?;
    let (mut note, note_type) = note_and_type(ledger, card.note)?;
    if let Some(given) = changes.version.filter(|given| *given != note.version) {
        return Err(Problem::StaleVersion { card: id, current: note.version, given });
    }
    let past = PastContent {
        version: note.version,
        fields: note.fields.clone(),
        tags: note.tags.clone(),
        replaced: now,
    };
    for (name, text) in changes.fields {
        let place = note_type.fields.iter().position(|field| field.eq_ignore_ascii_case(&name));
        let field = place.and_then(|place| note.fields.get_mut(place));
        *field.ok_or(Problem::NoCards("it has no such field"))? = text;
    }
    if let Some(tags) = changes.tags {
        note.tags = note::tidy_tags(tags.iter().map(String::as_str));
    }
    if (&note.fields, &note.tags) != (&past.fields, &past.tags) {
        remake_cards(ledger, &note, &note_type, &card, now)?;
        note.version += 1;
        note.modified = now;
        ledger.put_note(&note)?;
        ledger.put_past_content(note.id, &past)?;
    }
    if let Some(target) = changes.deck {
        card.deck = holding_deck(ledger, target)?.id;
    }
    card.flag = changes.flag.unwrap_or(card.flag);
    card.modified = now;
    ledger.put_card(&card)?;
    Ok((note, card))
}

fn remake_cards(
    ledger: &mut dyn Ledger,
    note: &Note,
    note_type: &NoteType,
    like: &Card,
    now: Micros,
) -> Result<(), Problem> {
    let wanted = note_type.ordinals(&note.fields);
    if wanted.is_empty() {
        return Err(Problem::NoCards("its front would be empty"));
    }
    let cards = ledger.cards_of(note.id)?;
    for card in &cards {
        if !wanted.contains(&card.ordinal) && card.id != like.id {
            delete_card(ledger, card.id, now)?;
        }
    }
    for ordinal in wanted {
        if cards.iter().all(|card| card.ordinal != ordinal) {
            let card =
                new_card(ledger, note.id, ordinal, like.deck, like.hold == Hold::Draft, now)?;
            ledger.put_card(&card)?;
        }
    }
    Ok(())
}

/// A deck that can hold cards.
pub fn holding_deck(records: &dyn Records, id: DeckId) -> Result<Deck, Problem> {
    let deck = deck(records, id)?;
    if deck.filter.is_some() { Err(Problem::FilteredDeck(id)) } else { Ok(deck) }
}

/// Deletes a card, and its note with the last of its cards. False if it was deleted before.
pub fn delete_card(ledger: &mut dyn Ledger, id: CardId, now: Micros) -> Result<bool, Problem> {
    let mut card = ledger.card(id)?.ok_or(Problem::NoCard(id))?;
    if card.deleted.is_some() {
        return Ok(false);
    }
    card.deleted = Some(now);
    card.sequence += 1;
    ledger.put_card(&card)?;
    if ledger.cards_of(card.note)?.is_empty()
        && let Some(mut note) = ledger.note(card.note)?
    {
        note.deleted = Some(now);
        ledger.put_note(&note)?;
    }
    Ok(true)
}

/// Brings a card back, with its note and its deck. False if it was not deleted.
pub fn restore_card(ledger: &mut dyn Ledger, id: CardId, now: Micros) -> Result<bool, Problem> {
    let mut card = ledger.card(id)?.ok_or(Problem::NoCard(id))?;
    let Some(deleted) = card.deleted else { return Ok(false) };
    if deleted < now - KEPT_DELETED {
        return Err(Problem::NoCard(id));
    }
    if let Some(mut note) = ledger.note(card.note)?.filter(|note| note.deleted.is_some()) {
        note.deleted = None;
        ledger.put_note(&note)?;
    }
    if let Some(mut deck) = ledger.deck(card.deck)?.filter(|deck| deck.deleted.is_some()) {
        if let Some(other) = deck_named(ledger, &deck.name)? {
            card.deck = other.id;
        } else {
            deck.deleted = None;
            deck.version += 1;
            ledger.put_deck(&deck)?;
        }
    }
    card.deleted = None;
    card.modified = now;
    ledger.put_card(&card)?;
    Ok(true)
}

/// Moves a card. False if it is there already.
pub fn move_card(
    ledger: &mut dyn Ledger,
    id: CardId,
    target: DeckId,
    now: Micros,
) -> Result<bool, Problem> {
    let mut card = card(ledger, id)?;
    if card.deck == target {
        return Ok(false);
    }
    card.deck = target;
    card.modified = now;
    ledger.put_card(&card)?;
    Ok(true)
}

/// Suspends a card, or lets it go. False if it is so already. A draft is let go by approval only.
pub fn hold_card(
    ledger: &mut dyn Ledger,
    id: CardId,
    hold: Hold,
    now: Micros,
) -> Result<bool, Problem> {
    let card = card(ledger, id)?;
    if card.hold == Hold::Draft {
        return Err(Problem::Held { card: id, state: "a draft" });
    }
    hold_until(ledger, card, hold, None, now)
}

/// Keeps a card back until the next day begins in its deck. False if it is so already.
pub fn bury_card(ledger: &mut dyn Ledger, id: CardId, now: Micros) -> Result<bool, Problem> {
    let card = card(ledger, id)?;
    crate::review::refuse_held(&card, now)?;
    let tomorrow = options_of(ledger, card.deck)?.calendar().next_start(now);
    hold_until(ledger, card, Hold::BuriedByHand, Some(tomorrow), now)
}

/// Lets a draft be studied. False if it is none.
pub fn approve_draft(ledger: &mut dyn Ledger, id: CardId, now: Micros) -> Result<bool, Problem> {
    let card = card(ledger, id)?;
    if card.hold != Hold::Draft {
        return Ok(false);
    }
    hold_until(ledger, card, Hold::None, None, now)
}

fn hold_until(
    ledger: &mut dyn Ledger,
    mut card: Card,
    hold: Hold,
    until: Option<Micros>,
    now: Micros,
) -> Result<bool, Problem> {
    if card.held(now) == hold {
        return Ok(false);
    }
    card.hold = hold;
    card.held_until = until;
    card.sequence += 1;
    card.modified = now;
    ledger.put_card(&card)?;
    Ok(true)
}

/// Adds tags to a card's note and takes others away. False if that changes nothing.
pub fn retag(
    ledger: &mut dyn Ledger,
    id: CardId,
    add: &[String],
    remove: &[String],
    now: Micros,
) -> Result<bool, Problem> {
    let card = card(ledger, id)?;
    let mut note = ledger.note(card.note)?.ok_or(Problem::NoNote(card.note))?;
    let gone = |tag: &String| {
        let tag = tag.to_lowercase();
        remove
            .iter()
            .map(|gone| gone.to_lowercase())
            .any(|gone| tag == gone || tag.starts_with(&format!("{gone}::")))
    };
    let kept = note.tags.iter().filter(|tag| !gone(tag));
    let tags = note::tidy_tags(kept.chain(add).map(String::as_str));
    if tags == note.tags {
        return Ok(false);
    }
    let past = PastContent {
        version: note.version,
        fields: note.fields.clone(),
        tags: note.tags,
        replaced: now,
    };
    note.tags = tags;
    note.version += 1;
    note.modified = now;
    ledger.put_note(&note)?;
    ledger.put_past_content(note.id, &past)?;
    Ok(true)
}

/// How a card is to be rescheduled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reschedule {
    /// As if it had never been answered.
    Forget,
    /// To come back so many days from now.
    InDays(u32),
    /// To where its memory says, for the retention its deck wants now.
    ByMemory,
}

/// Changes when a card comes back. False if that changes nothing.
pub fn reschedule(
    ledger: &mut dyn Ledger,
    id: CardId,
    how: Reschedule,
    now: Micros,
) -> Result<bool, Problem> {
    let mut card = card(ledger, id)?;
    let scheduler = options_of(ledger, card.deck)?.scheduler();
    let before = card.schedule;
    card.schedule = match (how, before.memory, before.last_review) {
        (Reschedule::Forget, ..) => Schedule { due: card.position, ..Schedule::default() },
        (Reschedule::InDays(days), memory, _) => Schedule {
            phase: Phase::Review,
            step: 0,
            memory: Some(memory.unwrap_or_else(|| {
                crate::fsrs::Memory::first(&scheduler.parameters, crate::fsrs::Rating::Good)
            })),
            last_review: Some(before.last_review.unwrap_or(now)),
            due: scheduler.calendar.due(now, days),
            interval_days: days.max(1),
        },
        (Reschedule::ByMemory, Some(memory), Some(last)) if before.phase == Phase::Review => {
            let days = crate::numbers::count(scheduler.raw_interval(memory.stability))
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
    ledger.put_card(&card)?;
    Ok(true)
}

/// The fields of a form, in its order, from what an author gives.
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
            let lettered: Vec<String> = ('A'..='Z')
                .zip(choices)
                .map(|(letter, choice)| format!("{letter}) {choice}"))
                .collect();
            vec![front, lettered.join("<br>"), back, extra]
        }
    }
}

/// The notes of decks as text, in the order of their cards.
pub fn as_text(records: &dyn Records, decks: &[DeckId]) -> Result<Vec<TextNote>, Problem> {
    let mut seen = BTreeSet::new();
    let mut notes = Vec::new();
    for deck in decks {
        for card in records.cards_in(*deck)? {
            if !seen.insert(card.note) {
                continue;
            }
            let (note, note_type) = note_and_type(records, card.note)?;
            let mut fields = note.fields.into_iter();
            let front = fields.next().unwrap_or_default();
            let (back, rest) =
                (fields.next().unwrap_or_default(), fields.collect::<Vec<_>>().join("<br>"));
            let form = Form::ALL.into_iter().find(|form| form.note_type().id == note_type.id);
            // Basic and cloze are what a reader takes it for anyway.
            let form = form.filter(|form| !matches!(form, Form::Basic | Form::Cloze));
            notes.push(TextNote { front, back, extra: rest, tags: note.tags, form });
        }
    }
    Ok(notes)
}
