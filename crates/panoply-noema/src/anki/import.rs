//! A package becomes part of the collection.
//!
//! Notes are recognised by their guid: one that is there is brought up to date if the package
//! has it newer, and its cards keep their schedule. Decks are recognised by name, note types by
//! being the same. Everything new comes in one batch that can be taken back.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::{Package, PackagedCard};
use crate::card::{Card, Hold, Review};
use crate::deck::{Deck, DeckName, DeckOptions, Filter};
use crate::fsrs::{Calendar, Memory, Micros, Phase, SECOND, Schedule};
use crate::ids::{CardId, DeckId, NoteId, NoteTypeId, ReviewId};
use crate::note::{FIELD_SEPARATOR, Note, PastContent};
use crate::numbers::whole;
use crate::problem::Problem;
use crate::store::Ledger;

/// What came of an import.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// Notes that are new.
    pub notes_added: usize,
    /// Notes that were brought up to date.
    pub notes_updated: usize,
    /// Notes that were there as they are.
    pub notes_unchanged: usize,
    /// Cards that are new.
    pub cards: usize,
    /// Entries of the log that are new.
    pub reviews: usize,
    /// Decks that are new.
    pub decks: usize,
    /// Media.
    pub media: usize,
}

/// Takes a package in. `progress` hears of notes done and notes in all, and may stop it.
pub fn import(
    ledger: &mut dyn Ledger,
    package: &Package,
    now: Micros,
    progress: &mut dyn FnMut(usize, usize) -> Result<(), Problem>,
) -> Result<Imported, Problem> {
    ledger.begin_bulk()?;
    let mut imported = Imported::default();
    let decks = decks(ledger, package, now, &mut imported)?;
    let note_types = note_types(ledger, package, now)?;
    let notes = notes(ledger, package, &note_types, now, &mut imported, progress)?;
    let cards = cards(ledger, package, &decks, &notes, now, &mut imported)?;
    reviews(ledger, package, &cards, &mut imported)?;
    for (name, bytes) in &package.media {
        ledger.put_media(name, bytes)?;
        imported.media += 1;
    }
    Ok(imported)
}

fn decks(
    ledger: &mut dyn Ledger,
    package: &Package,
    now: Micros,
    imported: &mut Imported,
) -> Result<BTreeMap<i64, DeckId>, Problem> {
    let mut known: BTreeMap<String, DeckId> =
        ledger.decks()?.into_iter().map(|deck| (deck.name.folded(), deck.id)).collect();
    // Anki brings its empty default deck along everywhere.
    let used: BTreeSet<i64> = package
        .cards
        .iter()
        .map(|card| if card.own_deck != 0 { card.own_deck } else { card.deck })
        .collect();
    let mut ids = BTreeMap::new();
    for packaged in &package.decks {
        if packaged.id == 1 && !used.contains(&1) {
            continue;
        }
        let name = deck_name(&packaged.name);
        let mut path: Vec<DeckName> = name.parents().collect();
        path.push(name.clone());
        for step in path {
            let last = step == name;
            let folded = step.folded();
            if let Some(id) = known.get(&folded) {
                if last {
                    ids.insert(packaged.id, *id);
                }
                continue;
            }
            let free = last && packaged.id > 1 && ledger.deck(DeckId(packaged.id))?.is_none();
            let id = DeckId(if free { packaged.id } else { ledger.fresh_id(now)? });
            let search = packaged.search.as_ref().filter(|_| last);
            ledger.put_deck(&Deck {
                id,
                name: step,
                description: String::new(),
                options: None,
                filter: search.map(|search| Filter { search: search.clone(), limit: 100 }),
                created: now,
                modified: now,
                version: 1,
                deleted: None,
            })?;
            imported.decks += 1;
            known.insert(folded, id);
            if last {
                ids.insert(packaged.id, id);
            }
        }
    }
    Ok(ids)
}

/// A name as we take them: Anki allows a little more.
fn deck_name(name: &str) -> DeckName {
    let parts: Vec<String> = name
        .split("::")
        .map(|part| {
            part.replace('"', "'")
                .chars()
                .filter(|letter| !letter.is_control())
                .take(100)
                .collect::<String>()
        })
        .map(|part| if part.trim().is_empty() { "blank".to_owned() } else { part })
        .collect();
    let joined: String = parts.join("::").chars().take(crate::deck::LONGEST_NAME).collect();
    DeckName::parse(joined.trim_end_matches(':')).unwrap_or_else(|_| DeckName::imported())
}

fn note_types(
    ledger: &mut dyn Ledger,
    package: &Package,
    now: Micros,
) -> Result<BTreeMap<i64, NoteTypeId>, Problem> {
    let known = ledger.note_types()?;
    let used: BTreeSet<i64> = package.notes.iter().map(|note| note.note_type).collect();
    let mut ids = BTreeMap::new();
    for packaged in &package.note_types {
        if !used.contains(&packaged.id.0) {
            continue;
        }
        let same = known.iter().find(|known| {
            known.name == packaged.name
                && known.cloze == packaged.cloze
                && known.fields == packaged.fields
                && known.templates == packaged.templates
        });
        let id = match same {
            Some(same) => same.id,
            None => {
                let free = packaged.id.0 > 5 && ledger.note_type(packaged.id)?.is_none();
                let id = if free { packaged.id } else { NoteTypeId(ledger.fresh_id(now)?) };
                let mut note_type = packaged.clone();
                note_type.id = id;
                ledger.put_note_type(&note_type)?;
                id
            }
        };
        ids.insert(packaged.id.0, id);
    }
    Ok(ids)
}

fn notes(
    ledger: &mut dyn Ledger,
    package: &Package,
    note_types: &BTreeMap<i64, NoteTypeId>,
    now: Micros,
    imported: &mut Imported,
    progress: &mut dyn FnMut(usize, usize) -> Result<(), Problem>,
) -> Result<BTreeMap<i64, NoteId>, Problem> {
    let mut fresh = BTreeMap::new();
    for (place, packaged) in package.notes.iter().enumerate() {
        if place.is_multiple_of(1000) {
            progress(place, package.notes.len())?;
        }
        let Some(note_type) = note_types.get(&packaged.note_type) else { continue };
        let fields: Vec<String> =
            packaged.fields.split(FIELD_SEPARATOR).map(str::to_owned).collect();
        let tags: Vec<String> = packaged.tags.split_whitespace().map(str::to_owned).collect();
        let modified = packaged.modified.saturating_mul(SECOND);
        if let Some(mut known) = ledger.note_by_guid(&packaged.guid)? {
            let differs = known.fields != fields || known.tags != tags;
            if differs && modified > known.modified && known.note_type == *note_type {
                let past = PastContent {
                    version: known.version,
                    fields: std::mem::replace(&mut known.fields, fields),
                    tags: std::mem::replace(&mut known.tags, tags),
                    replaced: now,
                };
                known.version += 1;
                known.modified = modified;
                ledger.put_note(&known)?;
                ledger.put_past_content(known.id, &past)?;
                imported.notes_updated += 1;
            } else {
                imported.notes_unchanged += 1;
            }
            continue;
        }
        let free = packaged.id > 0 && ledger.note(NoteId(packaged.id))?.is_none();
        let id = NoteId(if free { packaged.id } else { ledger.fresh_id(now)? });
        ledger.put_note(&Note {
            id,
            guid: packaged.guid.clone(),
            note_type: *note_type,
            fields,
            tags,
            source: None,
            created: packaged.id.saturating_mul(1000),
            modified,
            version: 1,
            deleted: None,
        })?;
        fresh.insert(packaged.id, id);
        imported.notes_added += 1;
    }
    progress(package.notes.len(), package.notes.len())?;
    Ok(fresh)
}

fn cards(
    ledger: &mut dyn Ledger,
    package: &Package,
    decks: &BTreeMap<i64, DeckId>,
    notes: &BTreeMap<i64, NoteId>,
    now: Micros,
    imported: &mut Imported,
) -> Result<BTreeMap<CardId, CardId>, Problem> {
    let calendar = DeckOptions::default().calendar();
    let first_day = calendar.day(package.created.saturating_mul(SECOND));
    let mut last_answers: BTreeMap<CardId, Micros> = BTreeMap::new();
    for review in package.reviews.iter().filter(|review| review.rating > 0) {
        last_answers.insert(review.card, review.id.0.saturating_mul(1000));
    }
    let mut fresh = BTreeMap::new();
    for packaged in &package.cards {
        let home = if packaged.own_deck != 0 { packaged.own_deck } else { packaged.deck };
        let (Some(note), Some(deck)) = (notes.get(&packaged.note), decks.get(&home)) else {
            continue;
        };
        let free = packaged.id > 0 && ledger.card(CardId(packaged.id))?.is_none();
        let id = CardId(if free { packaged.id } else { ledger.fresh_id(now)? });
        let last_answer = last_answers.get(&CardId(packaged.id)).copied();
        let schedule = schedule(packaged, calendar, first_day, last_answer);
        let hold = match packaged.queue {
            -1 => Hold::Suspended,
            -2 => Hold::BuriedAsSibling,
            -3 => Hold::BuriedByHand,
            _ => Hold::None,
        };
        ledger.put_card(&Card {
            id,
            note: *note,
            ordinal: u32::try_from(packaged.ordinal).unwrap_or_default(),
            deck: *deck,
            position: if packaged.kind == 0 { schedule.due } else { packaged.id },
            schedule,
            reps: u32::try_from(packaged.reps).unwrap_or_default(),
            lapses: u32::try_from(packaged.lapses).unwrap_or_default(),
            ease: packaged.ease,
            flag: u8::try_from(packaged.flags & 7).unwrap_or_default(),
            hold,
            held_until: hold.is_burial().then(|| calendar.next_start(now)),
            sequence: 0,
            created: packaged.id.saturating_mul(1000),
            modified: packaged.modified.saturating_mul(SECOND),
            deleted: None,
        })?;
        fresh.insert(CardId(packaged.id), id);
        imported.cards += 1;
    }
    Ok(fresh)
}

/// What Anki keeps of a memory beside a card.
#[derive(Default, Deserialize)]
struct CardData {
    s: Option<f64>,
    d: Option<f64>,
    lrt: Option<f64>,
}

fn schedule(
    packaged: &PackagedCard,
    calendar: Calendar,
    first_day: i64,
    last_answer: Option<Micros>,
) -> Schedule {
    let data: CardData = serde_json::from_str(&packaged.data).unwrap_or_default();
    let memory = data.s.zip(data.d).filter(|(stability, _)| *stability > 0.0);
    let memory = memory.map(|(stability, difficulty)| Memory { stability, difficulty });
    let due = if packaged.own_deck != 0 && packaged.own_due != 0 {
        packaged.own_due
    } else {
        packaged.due
    };
    let phase = match packaged.kind {
        1 => Phase::Learning,
        2 => Phase::Review,
        3 => Phase::Relearning,
        _ => Phase::New,
    };
    // Steps are due at a moment, unless they take a day or more; a moment is a large number.
    const MOMENT: i64 = 1_000_000_000;
    let due = match phase {
        Phase::New => due,
        Phase::Learning | Phase::Review | Phase::Relearning if due >= MOMENT => {
            due.saturating_mul(SECOND)
        }
        Phase::Learning | Phase::Review | Phase::Relearning => {
            calendar.start((first_day + due).clamp(-100_000, 10_000_000))
        }
    };
    let interval_days = u32::try_from(packaged.interval.max(0)).unwrap_or_default();
    let last_review = data.lrt.map(|seconds| whole(seconds).saturating_mul(SECOND)).or(last_answer);
    let answered = phase != Phase::New;
    Schedule {
        phase,
        step: 0,
        memory: memory.filter(|_| answered),
        last_review: last_review
            .or_else(|| {
                (phase == Phase::Review).then(|| due - i64::from(interval_days) * crate::fsrs::DAY)
            })
            .filter(|_| answered),
        due,
        interval_days,
    }
}

fn reviews(
    ledger: &mut dyn Ledger,
    package: &Package,
    cards: &BTreeMap<CardId, CardId>,
    imported: &mut Imported,
) -> Result<(), Problem> {
    let mut taken: BTreeSet<i64> = ledger
        .reviews_between(0, Micros::MAX)?
        .into_iter()
        .map(|(review, _)| review.id.0)
        .collect();
    for review in &package.reviews {
        let Some(card) = cards.get(&review.card) else { continue };
        let mut id = review.id.0;
        while !taken.insert(id) {
            id += 1;
        }
        ledger.put_review(&Review { id: ReviewId(id), card: *card, ..review.clone() })?;
        imported.reviews += 1;
    }
    Ok(())
}
