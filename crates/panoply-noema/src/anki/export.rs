//! Writes decks as a legacy 2 package, which every Anki since 2.1 opens.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{Cursor, Write};

use rusqlite::Connection;
use serde_json::{Map, Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::container::file_error;
use super::{note_types, presets};
use crate::card::{Card, Hold, Review};
use crate::collection;
use crate::deck::{DEFAULT_PRESET, Deck, DeckOptions};
use crate::error::Result;
use crate::fsrs::{Calendar, Micros, Parameters, Phase, SECOND};
use crate::html;
use crate::ids::{CardId, DeckId, NoteId};
use crate::note::{self, FIELD_SEPARATOR, NoteType};
use crate::numbers::round_to;
use crate::store::StoreReader;

const TABLES: &str = "
CREATE TABLE col (id integer PRIMARY KEY, crt integer NOT NULL, mod integer NOT NULL, scm integer NOT NULL,
    ver integer NOT NULL, dty integer NOT NULL, usn integer NOT NULL, ls integer NOT NULL, conf text NOT NULL,
    models text NOT NULL, decks text NOT NULL, dconf text NOT NULL, tags text NOT NULL);
CREATE TABLE notes (id integer PRIMARY KEY, guid text NOT NULL, mid integer NOT NULL, mod integer NOT NULL,
    usn integer NOT NULL, tags text NOT NULL, flds text NOT NULL, sfld integer NOT NULL, csum integer NOT NULL,
    flags integer NOT NULL, data text NOT NULL);
CREATE TABLE cards (id integer PRIMARY KEY, nid integer NOT NULL, did integer NOT NULL, ord integer NOT NULL,
    mod integer NOT NULL, usn integer NOT NULL, type integer NOT NULL, queue integer NOT NULL, due integer NOT NULL,
    ivl integer NOT NULL, factor integer NOT NULL, reps integer NOT NULL, lapses integer NOT NULL,
    left integer NOT NULL, odue integer NOT NULL, odid integer NOT NULL, flags integer NOT NULL, data text NOT NULL);
CREATE TABLE revlog (id integer PRIMARY KEY, cid integer NOT NULL, usn integer NOT NULL, ease integer NOT NULL,
    ivl integer NOT NULL, lastIvl integer NOT NULL, factor integer NOT NULL, time integer NOT NULL, type integer NOT NULL);
CREATE TABLE graves (usn integer NOT NULL, oid integer NOT NULL, type integer NOT NULL);
";
/// Created after the rows, which is faster.
const INDEXES: &str = "
CREATE INDEX ix_notes_usn ON notes (usn);
CREATE INDEX ix_cards_usn ON cards (usn);
CREATE INDEX ix_revlog_usn ON revlog (usn);
CREATE INDEX ix_cards_nid ON cards (nid);
CREATE INDEX ix_cards_sched ON cards (did, queue, due);
CREATE INDEX ix_revlog_cid ON revlog (cid);
CREATE INDEX ix_notes_csum ON notes (csum);
";

/// Smaller ids collide with the ids Anki reserves for its own decks and note types.
const FIRST_ID: i64 = 1_000_000;

/// Number of exported objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExportSummary {
    /// Number of notes.
    pub notes: usize,
    /// Number of cards.
    pub cards: usize,
    /// Number of review log entries.
    pub reviews: usize,
    /// Number of media files.
    pub media: usize,
}

/// Exports decks with their cards, review log and media.
pub fn export(
    reader: &dyn StoreReader,
    decks: &[DeckId],
    now: Micros,
    progress: &mut dyn FnMut(usize, usize) -> Result<()>,
) -> Result<(Vec<u8>, ExportSummary)> {
    let mut connection = Connection::open_in_memory()?;
    connection.execute_batch(TABLES)?;
    let all_decks = reader.decks()?;
    let chosen: Vec<(&Deck, DeckOptions)> = all_decks
        .iter()
        .filter(|deck| decks.contains(&deck.id) && deck.filter.is_none())
        .map(|deck| (deck, collection::options_among(deck, &all_decks)))
        .collect();
    // A package has one calendar; take the one of the first deck.
    let home = reader.learner_zone()?;
    let calendar = match chosen.first() {
        Some((_, options)) => options.calendar(home),
        None => collection::calendar(reader)?,
    };
    let transaction = connection.unchecked_transaction()?;
    let log = reader.reviews_between(0, Micros::MAX)?;
    let mut run = ExportRun {
        reader,
        connection: &connection,
        progress,
        rows: log.len(),
        done: 0,
        summary: ExportSummary::default(),
        cards: HashSet::new(),
        notes: HashSet::new(),
    };
    run.put_cards(&chosen, calendar, now)?;
    run.put_reviews(&log)?;
    drop(log);
    let (note_types, media) = run.put_notes()?;
    put_collection(&connection, &note_types, &chosen, calendar, now)?;
    connection.execute_batch(INDEXES)?;
    transaction.commit()?;
    (run.progress)(run.rows, run.rows)?;
    let mut summary = run.summary;
    let mut files = Vec::new();
    for name in media {
        if let Some(bytes) = reader.media(&name)? {
            files.push((name, bytes));
        }
    }
    summary.media = files.len();
    let collection = connection.serialize("main")?;
    Ok((write_zip(&collection, &files)?, summary))
}

/// The state of one export.
struct ExportRun<'a> {
    reader: &'a dyn StoreReader,
    connection: &'a Connection,
    progress: &'a mut dyn FnMut(usize, usize) -> Result<()>,
    /// Estimated number of rows: the log is known first, cards and notes are added as found.
    rows: usize,
    done: usize,
    summary: ExportSummary,
    cards: HashSet<CardId>,
    notes: HashSet<NoteId>,
}

impl ExportRun<'_> {
    fn step(&mut self) -> Result<()> {
        if self.done.is_multiple_of(1000) {
            (self.progress)(self.done, self.rows)?;
        }
        self.done += 1;
        Ok(())
    }

    fn put_cards(
        &mut self,
        decks: &[(&Deck, DeckOptions)],
        calendar: Calendar,
        now: Micros,
    ) -> Result<()> {
        let today = calendar.day(now);
        let mut new_position = 0;
        for (deck, options) in decks {
            for card in self.reader.cards_in(deck.id)? {
                self.rows += 1;
                self.step()?;
                self.rows += usize::from(self.notes.insert(card.note));
                self.cards.insert(card.id);
                new_position += i64::from(card.schedule.phase == Phase::New);
                let due_day = calendar.day(card.schedule.due);
                put_card(self.connection, &card, options, today, due_day, new_position)?;
                self.summary.cards += 1;
            }
        }
        Ok(())
    }

    fn put_reviews(&mut self, log: &[(Review, DeckId)]) -> Result<()> {
        let sql = "INSERT INTO revlog (id, cid, usn, ease, ivl, lastIvl, factor, time, type)
            VALUES (?, ?, -1, ?, ?, ?, ?, ?, ?)";
        let mut insert = self.connection.prepare(sql)?;
        for (review, _) in log {
            self.step()?;
            if !self.cards.contains(&review.card) {
                continue;
            }
            insert.execute((
                review.id.0,
                review.card.0,
                review.rating,
                review.interval,
                review.last_interval,
                review.factor,
                review.taken_ms,
                review.kind.code(),
            ))?;
            self.summary.reviews += 1;
        }
        Ok(())
    }

    /// Returns the note types and media files that the notes use.
    fn put_notes(&mut self) -> Result<(BTreeMap<i64, NoteType>, BTreeSet<String>)> {
        let media = self.reader.media_files()?.into_iter().map(|file| file.name);
        let media: BTreeSet<String> = media.collect();
        // Media that only templates reference have names with a leading underscore.
        let mut used_media: BTreeSet<String> =
            media.iter().filter(|name| name.starts_with('_')).cloned().collect();
        let mut used_types: BTreeMap<i64, NoteType> = BTreeMap::new();
        let sql = "INSERT INTO notes (id, guid, mid, mod, usn, tags, flds, sfld, csum, flags, data)
            VALUES (?, ?, ?, ?, -1, ?, ?, ?, ?, 0, '')";
        let mut insert = self.connection.prepare(sql)?;
        let reader = self.reader;
        reader.for_each_note(&mut |note| {
            if !self.notes.contains(&note.id) {
                return Ok(());
            }
            self.step()?;
            let fields = note.fields.join(&FIELD_SEPARATOR.to_string());
            used_media
                .extend(html::media_names(&fields).into_iter().filter(|name| media.contains(name)));
            let first = note.fields.first().map_or("", String::as_str);
            insert.execute((
                note.id.0,
                &note.guid,
                anki_id(note.note_type.0),
                note.modified / SECOND,
                note::join_tags(&note.tags),
                fields,
                html::strip(first),
                note::checksum(first),
            ))?;
            if let Entry::Vacant(entry) = used_types.entry(note.note_type.0)
                && let Some(note_type) = reader.note_type(note.note_type)?
            {
                entry.insert(note_type);
            }
            self.summary.notes += 1;
            Ok(())
        })?;
        Ok((used_types, used_media))
    }
}

/// Moves ids out of the range that Anki reserves.
const fn anki_id(id: i64) -> i64 {
    if id < FIRST_ID { FIRST_ID + id } else { id }
}

fn default_decay() -> f64 {
    Parameters::default().decay()
}

fn put_card(
    connection: &Connection,
    card: &Card,
    options: &DeckOptions,
    today: i64,
    due_day: i64,
    new_position: i64,
) -> Result<()> {
    let schedule = &card.schedule;
    let (kind, free_queue, due) = match schedule.phase {
        Phase::New => (0, 0, new_position),
        Phase::Learning => (1, 1, schedule.due / SECOND),
        Phase::Review => (2, 2, due_day - today),
        Phase::Relearning => (3, 1, schedule.due / SECOND),
    };
    let queue = match card.hold {
        Hold::None => free_queue,
        Hold::Suspended | Hold::Draft => -1,
        Hold::BuriedAsSibling => -2,
        Hold::BuriedByHand => -3,
    };
    let mut data = Map::new();
    if let Some(memory) = schedule.memory {
        let decay = options.parameters.as_ref().map_or_else(default_decay, Parameters::decay);
        // The precision in which Anki stores them. Without `decay` Anki takes the FSRS-5 curve.
        let rounded = [
            ("s", round_to(memory.stability, 4)),
            ("d", round_to(memory.difficulty, 3)),
            ("dr", round_to(options.desired_retention, 2)),
            ("decay", round_to(decay, 3)),
        ];
        data.extend(rounded.map(|(key, value)| (key.to_owned(), value.into())));
    }
    if let Some(last) = schedule.last_review.filter(|_| schedule.memory.is_some()) {
        data.insert("lrt".to_owned(), (last / SECOND).into());
    }
    if !card.custom.is_empty() {
        data.insert("cd".to_owned(), card.custom.as_str().into());
    }
    let steps = match schedule.phase {
        Phase::Learning => options.learning_steps.len(),
        Phase::Relearning => options.relearning_steps.len(),
        Phase::New | Phase::Review => 0,
    };
    let in_steps = matches!(schedule.phase, Phase::Learning | Phase::Relearning);
    let left = steps.saturating_sub(schedule.step as usize).max(usize::from(in_steps));
    let sql = "INSERT INTO cards (id, nid, did, ord, mod, usn, type, queue, due, ivl, factor, reps,
            lapses, left, odue, odid, flags, data)
        VALUES (?, ?, ?, ?, ?, -1, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?)";
    connection.prepare_cached(sql)?.execute(rusqlite::params![
        card.id.0,
        card.note.0,
        anki_id(card.deck.0),
        card.ordinal,
        card.modified / SECOND,
        kind,
        queue,
        due,
        schedule.interval_days,
        card.ease,
        card.reps,
        card.lapses,
        i64::try_from(left).unwrap_or_default(),
        card.flag,
        Value::Object(data).to_string(),
    ])?;
    Ok(())
}

fn put_collection(
    connection: &Connection,
    used_types: &BTreeMap<i64, NoteType>,
    decks: &[(&Deck, DeckOptions)],
    calendar: Calendar,
    now: Micros,
) -> Result<()> {
    let seconds = now / SECOND;
    let (hour, utc_offset) = match calendar {
        Calendar::Exact => (0, 0),
        Calendar::Rollover { hour, zone } => (hour, zone.offset_minutes(now)),
    };
    let (presets, preset_of) = shared_presets(decks, seconds);
    let models: Map<String, Value> = used_types
        .values()
        .map(|note_type| {
            let id = anki_id(note_type.id.0);
            (id.to_string(), note_types::to_json(note_type, id, seconds))
        })
        .collect();
    let mut all_decks: Map<String, Value> = decks
        .iter()
        .map(|(deck, _)| {
            let id = anki_id(deck.id.0);
            let preset = preset_of.get(&deck.id).copied().unwrap_or(1);
            let json = deck_json(id, deck.name.as_str(), &deck.description, preset, seconds);
            (id.to_string(), json)
        })
        .collect();
    all_decks.insert("1".to_owned(), deck_json(1, "Default", "", 1, 0));
    let conf = json!({"nextPos": 1, "estTimes": true, "activeDecks": [1], "sortType": "noteFld", "timeLim": 0, "sortBackwards": false,
        "addToCur": true, "curDeck": 1, "newSpread": 0, "dueCounts": true, "collapseTime": 1200, "schedVer": 2, "sched2021": true,
        "rollover": hour, "creationOffset": -utc_offset});
    let sql =
        "INSERT INTO col (id, crt, mod, scm, ver, dty, usn, ls, conf, models, decks, dconf, tags)
        VALUES (1, ?, ?, ?, 11, 0, 0, 0, ?, ?, ?, ?, '{}')";
    connection.execute(
        sql,
        (
            calendar.start(calendar.day(now)) / SECOND,
            now / 1000,
            now / 1000,
            conf.to_string(),
            Value::Object(models).to_string(),
            Value::Object(all_decks).to_string(),
            Value::Object(presets).to_string(),
        ),
    )?;
    Ok(())
}

/// Maps each deck to a preset; decks with equal options share one.
fn shared_presets(
    decks: &[(&Deck, DeckOptions)],
    seconds: i64,
) -> (Map<String, Value>, BTreeMap<DeckId, i64>) {
    let defaults = DeckOptions::default();
    // The calendar belongs to the collection, not to a preset.
    let studied = |options: &DeckOptions| DeckOptions {
        rollover_hour: defaults.rollover_hour,
        time_zone: defaults.time_zone,
        ..options.clone()
    };
    let mut known: Vec<(i64, DeckOptions)> = vec![(1, defaults.clone())];
    let mut presets = Map::new();
    presets.insert("1".to_owned(), presets::to_json(1, DEFAULT_PRESET, &defaults, 0));
    let mut preset_of = BTreeMap::new();
    for (deck, options) in decks {
        let options = studied(options);
        let same = known.iter().find(|(_, known)| *known == options).map(|(id, _)| *id);
        let id = same.unwrap_or_else(|| {
            let id = anki_id(deck.id.0);
            let name = options.preset.as_deref().unwrap_or(deck.name.as_str());
            presets.insert(id.to_string(), presets::to_json(id, name, &options, seconds));
            known.push((id, options.clone()));
            id
        });
        preset_of.insert(deck.id, id);
    }
    (presets, preset_of)
}

fn deck_json(id: i64, name: &str, description: &str, preset: i64, seconds: i64) -> Value {
    json!({"id": id, "mod": seconds, "name": name, "usn": -1, "lrnToday": [0, 0], "revToday": [0, 0], "newToday": [0, 0],
        "timeToday": [0, 0], "collapsed": false, "browserCollapsed": false, "desc": description, "dyn": 0, "conf": preset,
        "extendNew": 0, "extendRev": 0})
}

fn write_zip(collection: &[u8], media: &[(String, Vec<u8>)]) -> Result<Vec<u8>> {
    let failed = |error: &dyn std::fmt::Display| {
        file_error(format!("the package cannot be written: {error}"))
    };
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let packed = SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .compression_level(Some(1));
    let names: Map<String, Value> = media
        .iter()
        .enumerate()
        .map(|(index, (name, _))| (index.to_string(), name.as_str().into()))
        .collect();
    let list = Value::Object(names).to_string();
    // PackageMetadata with version 2: legacy 2.
    let mut members: Vec<(String, &[u8], SimpleFileOptions)> = vec![
        ("meta".to_owned(), &[0x08, 0x02], stored),
        ("collection.anki21".to_owned(), collection, packed),
        ("media".to_owned(), list.as_bytes(), stored),
    ];
    members.extend(
        media
            .iter()
            .enumerate()
            .map(|(index, (_, bytes))| (index.to_string(), bytes.as_slice(), stored)),
    );
    for (name, bytes, options) in members {
        zip.start_file(name, options).map_err(|error| failed(&error))?;
        zip.write_all(bytes).map_err(|error| failed(&error))?;
    }
    zip.finish().map(Cursor::into_inner).map_err(|error| failed(&error))
}
