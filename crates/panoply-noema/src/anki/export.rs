//! The collection, or some decks of it, as a package that Anki opens (legacy 2).

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Write};

use rusqlite::Connection;
use serde_json::{Map, Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::container::bad;
use crate::card::{Card, Hold};
use crate::deck::{Deck, DeckOptions};
use crate::fsrs::{Micros, Phase, SECOND};
use crate::ids::{DeckId, NoteId};
use crate::note::{self, FIELD_SEPARATOR, NoteType};
use crate::problem::Problem;
use crate::render;
use crate::store::Records;

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
CREATE INDEX ix_notes_usn ON notes (usn);
CREATE INDEX ix_cards_usn ON cards (usn);
CREATE INDEX ix_revlog_usn ON revlog (usn);
CREATE INDEX ix_cards_nid ON cards (nid);
CREATE INDEX ix_cards_sched ON cards (did, queue, due);
CREATE INDEX ix_revlog_cid ON revlog (cid);
CREATE INDEX ix_notes_csum ON notes (csum);
";

/// The first id that cannot be one of Anki's own decks and note types.
const FIRST_ID: i64 = 1_000_000;

/// What went out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Notes.
    pub notes: usize,
    /// Cards.
    pub cards: usize,
    /// Entries of the log.
    pub reviews: usize,
    /// Media.
    pub media: usize,
}

/// Writes the decks (with their cards, log and media) as a package.
pub fn export(
    records: &dyn Records,
    decks: &[DeckId],
    now: Micros,
    progress: &mut dyn FnMut(usize, usize) -> Result<(), Problem>,
) -> Result<(Vec<u8>, Exported), Problem> {
    let mut connection = Connection::open_in_memory()?;
    connection.execute_batch(TABLES)?;
    let whole = connection.unchecked_transaction()?;
    let mut exported = Exported::default();
    let calendar = DeckOptions::default().calendar();
    let today = calendar.day(now);
    let mut notes: BTreeSet<NoteId> = BTreeSet::new();
    let mut new_place = 0;
    let mut cards = Vec::new();
    for deck in decks {
        cards.extend(records.cards_in(*deck)?);
    }
    for (place, id) in cards.iter().enumerate() {
        if place.is_multiple_of(1000) {
            progress(place, cards.len())?;
        }
        let Some(card) = records.card(*id)? else { continue };
        notes.insert(card.note);
        new_place += i64::from(card.schedule.phase == Phase::New);
        put_card(&connection, &card, today, calendar.day(card.schedule.due), new_place)?;
        exported.cards += 1;
        for review in records.reviews_of(card.id)? {
            let sql = "INSERT INTO revlog VALUES (?, ?, -1, ?, ?, ?, ?, ?, ?)";
            connection.prepare_cached(sql)?.execute((
                review.id.0,
                review.card.0,
                review.rating,
                review.interval,
                review.last_interval,
                review.factor,
                review.taken_ms,
                review.kind.code(),
            ))?;
            exported.reviews += 1;
        }
    }
    let mut used_types: BTreeMap<i64, NoteType> = BTreeMap::new();
    let mut used_media: BTreeSet<String> = BTreeSet::new();
    let media: BTreeSet<String> = records.media_names()?.into_iter().collect();
    for id in &notes {
        let Some(note) = records.note(*id)? else { continue };
        let fields = note.fields.join(&FIELD_SEPARATOR.to_string());
        used_media.extend(media.iter().filter(|name| fields.contains(name.as_str())).cloned());
        let tags =
            if note.tags.is_empty() { String::new() } else { format!(" {} ", note.tags.join(" ")) };
        let first = note.fields.first().map_or("", String::as_str);
        let sql = "INSERT INTO notes VALUES (?, ?, ?, ?, -1, ?, ?, ?, ?, 0, '')";
        connection.prepare_cached(sql)?.execute((
            note.id.0,
            &note.guid,
            external(note.note_type.0),
            note.modified / SECOND,
            tags,
            fields,
            render::plain(first),
            note::checksum(first),
        ))?;
        if let std::collections::btree_map::Entry::Vacant(entry) =
            used_types.entry(note.note_type.0)
            && let Some(note_type) = records.note_type(note.note_type)?
        {
            entry.insert(note_type);
        }
        exported.notes += 1;
    }
    let chosen: Vec<Deck> = records
        .decks()?
        .into_iter()
        .filter(|deck| decks.contains(&deck.id) && deck.filter.is_none())
        .collect();
    put_collection(&connection, &used_types, &chosen, calendar.start(today) / SECOND, now)?;
    whole.commit()?;
    progress(cards.len(), cards.len())?;
    let collection = connection.serialize("main")?;
    let mut files = Vec::new();
    for name in used_media {
        if let Some(bytes) = records.media(&name)? {
            files.push((name, bytes));
        }
    }
    exported.media = files.len();
    Ok((zipped(&collection, &files)?, exported))
}

/// Anki takes small numbers for its own.
const fn external(id: i64) -> i64 {
    if id < FIRST_ID { FIRST_ID + id } else { id }
}

fn put_card(
    connection: &Connection,
    card: &Card,
    today: i64,
    due_day: i64,
    new_place: i64,
) -> Result<(), Problem> {
    let schedule = &card.schedule;
    let (kind, free_queue, due) = match schedule.phase {
        Phase::New => (0, 0, new_place),
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
        data.insert("s".to_owned(), crate::numbers::rounded(memory.stability, 4).into());
        data.insert("d".to_owned(), crate::numbers::rounded(memory.difficulty, 3).into());
    }
    if let Some(last) = schedule.last_review.filter(|_| schedule.memory.is_some()) {
        data.insert("lrt".to_owned(), (last / SECOND).into());
    }
    let in_steps = matches!(schedule.phase, Phase::Learning | Phase::Relearning);
    let sql = "INSERT INTO cards VALUES (?, ?, ?, ?, ?, -1, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?)";
    connection.prepare_cached(sql)?.execute(rusqlite::params![
        card.id.0,
        card.note.0,
        external(card.deck.0),
        card.ordinal,
        card.modified / SECOND,
        kind,
        queue,
        due,
        schedule.interval_days,
        card.ease,
        card.reps,
        card.lapses,
        i64::from(in_steps),
        card.flag,
        Value::Object(data).to_string(),
    ])?;
    Ok(())
}

fn put_collection(
    connection: &Connection,
    note_types: &BTreeMap<i64, NoteType>,
    decks: &[Deck],
    created: i64,
    now: Micros,
) -> Result<(), Problem> {
    let seconds = now / SECOND;
    let models: Map<String, Value> = note_types
        .values()
        .map(|note_type| (external(note_type.id.0).to_string(), model(note_type, seconds)))
        .collect();
    let mut all_decks: Map<String, Value> = decks
        .iter()
        .map(|deck| {
            (
                external(deck.id.0).to_string(),
                deck_json(external(deck.id.0), deck.name.as_str(), seconds),
            )
        })
        .collect();
    all_decks.insert("1".to_owned(), deck_json(1, "Default", 0));
    let conf = json!({"nextPos": 1, "estTimes": true, "activeDecks": [1], "sortType": "noteFld", "timeLim": 0, "sortBackwards": false,
        "addToCur": true, "curDeck": 1, "newSpread": 0, "dueCounts": true, "collapseTime": 1200, "schedVer": 2, "sched2021": true, "creationOffset": 0});
    let dconf = json!({"1": {"id": 1, "mod": 0, "name": "Default", "usn": 0, "maxTaken": 60, "autoplay": true, "timer": 0, "replayq": true,
        "new": {"bury": true, "delays": [1.0, 10.0], "initialFactor": 2500, "ints": [1, 4, 0], "order": 1, "perDay": 20},
        "rev": {"bury": true, "ease4": 1.3, "ivlFct": 1.0, "maxIvl": 36500, "perDay": 200, "hardFactor": 1.2},
        "lapse": {"delays": [10.0], "leechAction": 0, "leechFails": 8, "minInt": 1, "mult": 0.0}, "dyn": false}});
    let sql = "INSERT INTO col VALUES (1, ?, ?, ?, 11, 0, 0, 0, ?, ?, ?, ?, '{}')";
    connection.execute(
        sql,
        (
            created,
            now / 1000,
            now / 1000,
            conf.to_string(),
            Value::Object(models).to_string(),
            Value::Object(all_decks).to_string(),
            dconf.to_string(),
        ),
    )?;
    Ok(())
}

fn model(note_type: &NoteType, seconds: i64) -> Value {
    let fields: Vec<Value> = (0..)
        .zip(&note_type.fields)
        .map(|(ord, name): (i64, _)| json!({"name": name, "ord": ord, "sticky": false, "rtl": false, "font": "Arial", "size": 20, "media": []}))
        .collect();
    let templates: Vec<Value> = (0..)
        .zip(&note_type.templates)
        .map(|(ord, template): (i64, _)| json!({"name": template.name, "ord": ord, "qfmt": template.question, "afmt": template.answer, "did": null, "bqfmt": "", "bafmt": ""}))
        .collect();
    let required: Vec<Value> = (0..)
        .zip(&note_type.templates)
        .map(|(ord, _): (i64, _)| json!([ord, "any", [0]]))
        .collect();
    json!({
        "id": external(note_type.id.0), "name": note_type.name, "type": i64::from(note_type.cloze), "mod": seconds,
        "usn": -1, "sortf": 0, "did": null, "tmpls": templates, "flds": fields, "css": note_type.css,
        "latexPre": "\\documentclass[12pt]{article}\n\\special{papersize=3in,5in}\n\\usepackage[utf8]{inputenc}\n\\usepackage{amssymb,amsmath}\n\\pagestyle{empty}\n\\setlength{\\parindent}{0in}\n\\begin{document}\n",
        "latexPost": "\\end{document}", "latexsvg": false, "req": required, "tags": [], "vers": [],
    })
}

fn deck_json(id: i64, name: &str, seconds: i64) -> Value {
    json!({"id": id, "mod": seconds, "name": name, "usn": -1, "lrnToday": [0, 0], "revToday": [0, 0], "newToday": [0, 0],
        "timeToday": [0, 0], "collapsed": false, "browserCollapsed": false, "desc": "", "dyn": 0, "conf": 1,
        "extendNew": 0, "extendRev": 0})
}

fn zipped(collection: &[u8], media: &[(String, Vec<u8>)]) -> Result<Vec<u8>, Problem> {
    let failed =
        |error: &dyn std::fmt::Display| bad(format!("the package cannot be written: {error}"));
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let packed = SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .compression_level(Some(1));
    let names: Map<String, Value> = media
        .iter()
        .enumerate()
        .map(|(place, (name, _))| (place.to_string(), name.as_str().into()))
        .collect();
    let list = Value::Object(names).to_string();
    // {1: 2}: legacy 2.
    let mut members: Vec<(String, &[u8], SimpleFileOptions)> = vec![
        ("meta".to_owned(), &[0x08, 0x02], stored),
        ("collection.anki21".to_owned(), collection, packed),
        ("media".to_owned(), list.as_bytes(), stored),
    ];
    members.extend(
        media
            .iter()
            .enumerate()
            .map(|(place, (_, bytes))| (place.to_string(), bytes.as_slice(), stored)),
    );
    for (name, bytes, options) in members {
        zip.start_file(name, options).map_err(|error| failed(&error))?;
        zip.write_all(bytes).map_err(|error| failed(&error))?;
    }
    zip.finish().map(Cursor::into_inner).map_err(|error| failed(&error))
}
