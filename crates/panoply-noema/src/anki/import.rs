//! Imports a package into the collection.
//!
//! Notes match by guid: an existing note is updated if the package has a newer version, and its
//! cards keep their schedule. Decks match by name, note types by equality. New rows share one
//! batch, so an undo removes all of them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use serde::Deserialize;

use super::{Package, PackagedCard, PackagedDeck};
use crate::card::{Card, Hold, Review};
use crate::collection;
use crate::deck::{Deck, DeckName, DeckOptions, Filter};
use crate::error::Result;
use crate::fsrs::{Calendar, Memory, Micros, Parameters, Phase, Rating, SECOND, Schedule};
use crate::html;
use crate::ids::{CardId, DeckId, NoteId, NoteTypeId, ReviewId};
use crate::media;
use crate::note::{FIELD_SEPARATOR, Note, PastContent};
use crate::numbers::{len_to_u64, round_to_i64};
use crate::store::{ExistingIds, StoreWriter};

/// Number of imported objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportSummary {
    /// New notes.
    pub notes_added: usize,
    /// Updated notes.
    pub notes_updated: usize,
    /// Notes that already exist unchanged.
    pub notes_unchanged: usize,
    /// New cards.
    pub cards: usize,
    /// New review log entries.
    pub reviews: usize,
    /// New decks.
    pub decks: usize,
    /// Number of media files.
    pub media: usize,
}

/// Imports a package. `progress` receives processed and total rows; its error aborts the import.
pub fn import(
    writer: &mut dyn StoreWriter,
    package: &Package,
    now: Micros,
    progress: &mut dyn FnMut(usize, usize) -> Result<()>,
) -> Result<ImportSummary> {
    let rows = package.notes.len() + package.cards.len() + package.reviews.len();
    let existing = writer.begin_bulk(rows)?;
    let mut run =
        ImportRun { existing, now, progress, rows, done: 0, imported: ImportSummary::default() };
    let renamed = media(writer, package, &mut run)?;
    let decks = decks(writer, package, &mut run)?;
    let note_types = note_types(writer, package, now)?;
    let notes = notes(writer, package, &note_types, &renamed, &mut run)?;
    let cards = cards(writer, package, &decks, &notes, &mut run)?;
    reviews(writer, package, &cards, &mut run)?;
    (run.progress)(rows, rows)?;
    Ok(run.imported)
}

/// Stores the media. A file whose name another file has gets another name, as in Anki; returns
/// those by their old name.
fn media(
    writer: &mut dyn StoreWriter,
    package: &Package,
    run: &mut ImportRun<'_>,
) -> Result<BTreeMap<String, String>> {
    let mut renamed = BTreeMap::new();
    package.media.for_each(&mut |name, bytes| {
        let known = writer.media_file(name)?;
        run.imported.media += 1;
        let name = match known {
            None => name.to_owned(),
            Some(known) => {
                let same_size = known.size == len_to_u64(bytes.len());
                if same_size && writer.media(name)?.as_deref() == Some(bytes) {
                    return Ok(());
                }
                let other = media::renamed(name, bytes);
                renamed.insert(name.to_owned(), other.clone());
                if writer.media_file(&other)?.is_some() {
                    return Ok(());
                }
                other
            }
        };
        writer.put_media(&name, bytes, run.now)?;
        (run.progress)(run.done, run.rows)
    })?;
    Ok(renamed)
}

/// The state of one import.
struct ImportRun<'a> {
    /// Ids that existed before the import.
    existing: Rc<ExistingIds>,
    now: Micros,
    progress: &'a mut dyn FnMut(usize, usize) -> Result<()>,
    rows: usize,
    done: usize,
    imported: ImportSummary,
}

impl ImportRun<'_> {
    fn step(&mut self) -> Result<()> {
        if self.done.is_multiple_of(1000) {
            (self.progress)(self.done, self.rows)?;
        }
        self.done += 1;
        Ok(())
    }
}

/// A target deck with the options that imported schedules need.
struct TargetDeck {
    id: DeckId,
    learning_steps: usize,
    relearning_steps: usize,
    parameters: Parameters,
}

fn decks(
    writer: &mut dyn StoreWriter,
    package: &Package,
    run: &mut ImportRun<'_>,
) -> Result<BTreeMap<i64, TargetDeck>> {
    let mut known: BTreeMap<String, DeckId> =
        writer.decks()?.into_iter().map(|deck| (deck.name.folded(), deck.id)).collect();
    // Every package contains Anki's default deck; skip it unless it has cards.
    let used: BTreeSet<i64> = package
        .cards
        .iter()
        .map(|card| if card.own_deck != 0 { card.own_deck } else { card.deck })
        .collect();
    let mut targets = BTreeMap::new();
    let mut by_name: Vec<&PackagedDeck> = package.decks.iter().collect();
    by_name.sort_by_key(|deck| deck.name.to_lowercase());
    for packaged in by_name {
        if packaged.id == 1 && !used.contains(&1) {
            continue;
        }
        let name = deck_name(&packaged.name);
        let mut path: Vec<DeckName> = name.parents().collect();
        path.push(name.clone());
        for step in path {
            let last = step == name;
            let folded = step.folded();
            if known.contains_key(&folded) {
                continue;
            }
            let free = last && packaged.id > 1 && writer.deck(DeckId(packaged.id))?.is_none();
            let id = DeckId(if free { packaged.id } else { writer.next_id(run.now)? });
            let search = packaged.search.as_ref().filter(|_| last);
            writer.put_deck(&Deck {
                id,
                name: step.clone(),
                description: if last { packaged.description.clone() } else { String::new() },
                options: own_options(
                    writer,
                    &step,
                    packaged.options.as_ref().filter(|_| last),
                    package,
                )?,
                filter: search.map(|search| Filter { search: search.clone(), limit: 100 }),
                created: run.now,
                modified: run.now,
                version: 1,
                deleted: None,
            })?;
            run.imported.decks += 1;
            known.insert(folded, id);
        }
        if let Some(id) = known.get(&name.folded()).copied() {
            let options = collection::options_of(writer, id)?;
            let target = TargetDeck {
                id,
                learning_steps: options.learning_steps.len(),
                relearning_steps: options.relearning_steps.len(),
                parameters: options.parameters.unwrap_or_default(),
            };
            targets.insert(packaged.id, target);
        }
    }
    Ok(targets)
}

/// The options of a new deck, if they differ from those it inherits.
fn own_options(
    writer: &dyn StoreWriter,
    name: &DeckName,
    packaged: Option<&DeckOptions>,
    package: &Package,
) -> Result<Option<DeckOptions>> {
    let mut options = packaged.cloned().unwrap_or_default();
    // The zone is the learner's: the package knows the offset of its author only.
    if let Calendar::Rollover { hour, .. } = package.calendar {
        options.rollover_hour = hour;
    }
    let parents: Vec<DeckName> = name.parents().collect();
    let above = match parents.last() {
        Some(parent) => collection::deck_by_name(writer, parent)?,
        None => None,
    };
    let inherited = match above {
        Some(above) => collection::options_of(writer, above.id)?,
        None => DeckOptions::default(),
    };
    Ok((options != inherited).then_some(options))
}

/// Converts an Anki deck name, which allows more characters than [`DeckName`].
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
    let joined: String = parts.join("::").chars().take(crate::deck::MAX_NAME_CHARS).collect();
    DeckName::parse(joined.trim_end_matches(':')).unwrap_or_else(|_| DeckName::imported())
}

fn note_types(
    writer: &mut dyn StoreWriter,
    package: &Package,
    now: Micros,
) -> Result<BTreeMap<i64, NoteTypeId>> {
    let known = writer.note_types()?;
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
                && known.css == packaged.css
        });
        let id = match same {
            Some(same) => same.id,
            None => {
                let free = packaged.id.0 > 5 && writer.note_type(packaged.id)?.is_none();
                let id = if free { packaged.id } else { NoteTypeId(writer.next_id(now)?) };
                let mut note_type = packaged.clone();
                note_type.id = id;
                writer.put_note_type(&note_type)?;
                id
            }
        };
        ids.insert(packaged.id.0, id);
    }
    Ok(ids)
}

fn notes(
    writer: &mut dyn StoreWriter,
    package: &Package,
    note_types: &BTreeMap<i64, NoteTypeId>,
    renamed: &BTreeMap<String, String>,
    run: &mut ImportRun<'_>,
) -> Result<HashMap<i64, NoteId>> {
    let mut fresh = HashMap::with_capacity(package.notes.len());
    // A package may repeat a guid; the first note wins.
    let mut guids: HashSet<&str> = HashSet::new();
    for packaged in &package.notes {
        run.step()?;
        let Some(note_type) = note_types.get(&packaged.note_type) else { continue };
        let fields: Vec<String> = html::rename_media(&packaged.fields, renamed)
            .split(FIELD_SEPARATOR)
            .map(str::to_owned)
            .collect();
        let tags: Vec<String> = packaged.tags.split_whitespace().map(str::to_owned).collect();
        let modified = packaged.modified.saturating_mul(SECOND);
        let same = run.existing.guids.get(&packaged.guid).copied();
        if let Some(mut known) = same.map(|id| writer.note(id)).transpose()?.flatten() {
            let differs = known.fields != fields || known.tags != tags;
            if differs && modified > known.modified && known.note_type == *note_type {
                let past = PastContent {
                    version: known.version,
                    fields: std::mem::replace(&mut known.fields, fields),
                    tags: std::mem::replace(&mut known.tags, tags),
                    replaced: run.now,
                };
                known.version += 1;
                known.modified = modified;
                writer.put_note(&known)?;
                writer.put_past_content(known.id, &past)?;
                run.imported.notes_updated += 1;
            } else {
                run.imported.notes_unchanged += 1;
            }
            continue;
        }
        if !guids.insert(&packaged.guid) {
            run.imported.notes_unchanged += 1;
            continue;
        }
        let free = packaged.id > 0
            && !run.existing.notes.contains(&packaged.id)
            && !fresh.contains_key(&packaged.id);
        let id = NoteId(if free { packaged.id } else { writer.next_id(run.now)? });
        writer.put_note(&Note {
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
        run.imported.notes_added += 1;
    }
    Ok(fresh)
}

fn cards(
    writer: &mut dyn StoreWriter,
    package: &Package,
    decks: &BTreeMap<i64, TargetDeck>,
    notes: &HashMap<i64, NoteId>,
    run: &mut ImportRun<'_>,
) -> Result<HashMap<CardId, CardId>> {
    // Due days count from a date in the author's zone; the same date begins in the learner's zone.
    let first_day = package.calendar.day(package.created.saturating_mul(SECOND));
    let home = writer.learner_zone()?;
    let calendar = match package.calendar {
        Calendar::Exact => Calendar::Exact,
        Calendar::Rollover { hour, .. } => Calendar::Rollover { hour, zone: home },
    };
    let logs = logs(package);
    let mut fresh = HashMap::with_capacity(package.cards.len());
    for packaged in &package.cards {
        run.step()?;
        let deck_id = if packaged.own_deck != 0 { packaged.own_deck } else { packaged.deck };
        let (Some(note), Some(deck)) = (notes.get(&packaged.note), decks.get(&deck_id)) else {
            continue;
        };
        let free = packaged.id > 0
            && !run.existing.cards.contains(&packaged.id)
            && !fresh.contains_key(&CardId(packaged.id));
        let id = CardId(if free { packaged.id } else { writer.next_id(run.now)? });
        let data: CardData = serde_json::from_str(&packaged.data).unwrap_or_default();
        let log = logs.get(&CardId(packaged.id)).map_or(&[][..], Vec::as_slice);
        let schedule = schedule(packaged, &data, deck, calendar, first_day, log);
        let hold = match packaged.queue {
            -1 => Hold::Suspended,
            -2 => Hold::BuriedAsSibling,
            -3 => Hold::BuriedByHand,
            _ => Hold::None,
        };
        writer.put_card(&Card {
            id,
            note: *note,
            ordinal: u32::try_from(packaged.ordinal).unwrap_or_default(),
            deck: deck.id,
            position: if packaged.kind == 0 { schedule.due } else { packaged.id },
            schedule,
            reps: u32::try_from(packaged.reps).unwrap_or_default(),
            lapses: u32::try_from(packaged.lapses).unwrap_or_default(),
            ease: packaged.ease,
            flag: u8::try_from(packaged.flags & 7).unwrap_or_default(),
            hold,
            held_until: hold.is_burial().then(|| calendar.next_start(run.now)),
            sequence: 0,
            created: packaged.id.saturating_mul(1000),
            modified: packaged.modified.saturating_mul(SECOND),
            deleted: None,
            custom: data.cd.filter(|custom| is_json_object(custom)).unwrap_or_default(),
        })?;
        fresh.insert(CardId(packaged.id), id);
        run.imported.cards += 1;
    }
    Ok(fresh)
}

/// The ratings of each card, oldest first.
fn logs(package: &Package) -> HashMap<CardId, Vec<(Micros, Rating)>> {
    let mut logs: HashMap<CardId, Vec<(Micros, Rating)>> = HashMap::new();
    for review in &package.reviews {
        if let Some(rating) = Rating::from_ordinal(i64::from(review.rating)) {
            let at = review.id.0.saturating_mul(1000);
            logs.entry(review.card).or_default().push((at, rating));
        }
    }
    logs
}

/// Computes the FSRS memory from the review log, for collections scheduled by another algorithm.
fn memory_from_log(
    log: &[(Micros, Rating)],
    parameters: &Parameters,
    calendar: Calendar,
) -> Option<Memory> {
    let ((first, rating), rest) = log.split_first()?;
    let begun = (*first, Memory::first(parameters, *rating));
    let (_, memory) = rest.iter().fold(begun, |(last, memory), (at, rating)| {
        (*at, memory.after(parameters, *rating, calendar.elapsed(last, *at)))
    });
    Some(memory)
}

/// The `data` column of an Anki card.
#[derive(Default, Deserialize)]
struct CardData {
    s: Option<f64>,
    d: Option<f64>,
    lrt: Option<f64>,
    cd: Option<String>,
}

fn is_json_object(text: &str) -> bool {
    serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).is_ok()
}

fn schedule(
    packaged: &PackagedCard,
    data: &CardData,
    deck: &TargetDeck,
    calendar: Calendar,
    first_day: i64,
    log: &[(Micros, Rating)],
) -> Schedule {
    let memory = data.s.zip(data.d).filter(|(stability, _)| *stability > 0.0);
    let memory = memory
        .map(|(stability, difficulty)| Memory { stability, difficulty })
        .or_else(|| memory_from_log(log, &deck.parameters, calendar));
    let last_review_time = log.last().map(|(at, _)| *at);
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
    // Learning steps are due at a Unix timestamp, other cards on a day number; timestamps are
    // larger.
    const MIN_TIMESTAMP: i64 = 1_000_000_000;
    let due = match phase {
        Phase::New => due,
        Phase::Learning | Phase::Review | Phase::Relearning if due >= MIN_TIMESTAMP => {
            due.saturating_mul(SECOND)
        }
        Phase::Learning | Phase::Review | Phase::Relearning => {
            calendar.start((first_day + due).clamp(-100_000, 10_000_000))
        }
    };
    let interval_days = u32::try_from(packaged.interval.max(0)).unwrap_or_default();
    let last_review =
        data.lrt.map(|seconds| round_to_i64(seconds).saturating_mul(SECOND)).or(last_review_time);
    let answered = phase != Phase::New;
    // Anki stores the remaining steps in the lowest three digits.
    let left = usize::try_from(packaged.left.rem_euclid(1000)).unwrap_or_default();
    let step = match phase {
        Phase::Learning => deck.learning_steps.saturating_sub(left),
        Phase::Relearning => deck.relearning_steps.saturating_sub(left),
        Phase::New | Phase::Review => 0,
    };
    Schedule {
        phase,
        step: u32::try_from(step).unwrap_or_default(),
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
    writer: &mut dyn StoreWriter,
    package: &Package,
    cards: &HashMap<CardId, CardId>,
    run: &mut ImportRun<'_>,
) -> Result<()> {
    // The log is sorted by id, so a collision is with the previous entry or an existing one.
    let mut last = i64::MIN;
    for review in &package.reviews {
        run.step()?;
        let Some(card) = cards.get(&review.card) else { continue };
        let mut id = review.id.0.max(last.saturating_add(1));
        while run.existing.reviews.contains(&id) {
            id += 1;
        }
        last = id;
        writer.put_review(&Review { id: ReviewId(id), card: *card, ..review.clone() })?;
        run.imported.reviews += 1;
    }
    Ok(())
}
