//! Reads the SQLite collection of a package: schema 11 with JSON, schema 18 with protocol buffers.

use std::collections::BTreeMap;
use std::io::Read;

use rusqlite::{Connection, Row};
use serde_json::Value;

use super::container::file_error;
use super::proto::{self, DeckConfig, DeckKind, NormalDeck, widen};
use super::{Package, PackagedCard, PackagedDeck, PackagedNote, note_types, presets};
use crate::card::{Review, ReviewKind};
use crate::deck::DeckOptions;
use crate::error::{NoemaError, Result};
use crate::fsrs::{Calendar, Zone};
use crate::ids::{CardId, NoteTypeId, ReviewId};

pub(super) fn read(collection: &[u8]) -> Result<Package> {
    let mut connection = Connection::open_in_memory()?;
    // An in-memory database has no WAL file, so the header's WAL version (bytes 18 and 19, "The
    // Database File Format" 1.3.3) is set to rollback journal.
    let without_wal =
        |(index, byte): (usize, &u8)| if index >= 18 && *byte == 2 { 1 } else { *byte };
    let head: Vec<u8> = collection.iter().take(20).enumerate().map(without_wal).collect();
    let rest = collection.get(head.len()..).unwrap_or_default();
    connection
        .deserialize_read_exact("main", head.as_slice().chain(rest), collection.len(), true)
        .map_err(|error| {
            file_error(format!("the collection in the package is not a database: {error}"))
        })?;
    tables(&connection).map_err(|problem| match problem {
        NoemaError::Store(cause) => {
            file_error(format!("the collection in the package is damaged: {cause}"))
        }
        other => other,
    })
}

fn tables(connection: &Connection) -> Result<Package> {
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.create_collation("unicase", |a, b| a.to_lowercase().cmp(&b.to_lowercase()))?;
    let (created, version): (i64, i64) =
        connection
            .query_row("SELECT crt, ver FROM col", (), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut package = Package { created, ..Package::default() };
    match version {
        11 => json_tables(connection, &mut package)?,
        14..=18 => proto_tables(connection, &mut package)?,
        other => {
            return Err(file_error(format!(
                "the collection in the package has schema {other}; expected 11 or 18"
            )));
        }
    }
    package.notes =
        all(connection, "SELECT id, guid, mid, mod, tags, flds FROM notes ORDER BY id", |row| {
            Ok(PackagedNote {
                id: row.get(0)?,
                guid: row.get(1)?,
                note_type: row.get(2)?,
                modified: row.get(3)?,
                tags: row.get(4)?,
                fields: row.get(5)?,
            })
        })?;
    let cards = "SELECT id, nid, did, ord, mod, type, queue, due, ivl, factor, reps, lapses, left, odue, odid, flags, data FROM cards ORDER BY id";
    package.cards = all(connection, cards, card)?;
    let log = "SELECT id, cid, ease, ivl, lastIvl, factor, time, type FROM revlog ORDER BY id";
    package.reviews = all(connection, log, review)?;
    Ok(package)
}

pub(super) fn all<T>(
    connection: &Connection,
    sql: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map((), read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn card(row: &Row<'_>) -> rusqlite::Result<PackagedCard> {
    Ok(PackagedCard {
        id: row.get(0)?,
        note: row.get(1)?,
        deck: row.get(2)?,
        ordinal: row.get(3)?,
        modified: row.get(4)?,
        kind: row.get(5)?,
        queue: row.get(6)?,
        due: row.get(7)?,
        interval: row.get(8)?,
        ease: row.get(9)?,
        reps: row.get(10)?,
        lapses: row.get(11)?,
        left: row.get(12)?,
        own_due: row.get(13)?,
        own_deck: row.get(14)?,
        flags: row.get(15)?,
        data: row.get(16)?,
    })
}

fn review(row: &Row<'_>) -> rusqlite::Result<Review> {
    Ok(Review {
        id: ReviewId(row.get(0)?),
        card: CardId(row.get(1)?),
        rating: u8::try_from(row.get::<_, i64>(2)?.clamp(0, 4)).unwrap_or(0),
        interval: row.get(3)?,
        last_interval: row.get(4)?,
        factor: row.get(5)?,
        taken_ms: row.get(6)?,
        kind: ReviewKind::from_code(row.get(7)?),
        predicted: None,
        felt: None,
        stored_outcome: None,
    })
}

fn json_tables(connection: &Connection, package: &mut Package) -> Result<()> {
    let (models, decks, conf, presets): (String, String, String, String) =
        connection.query_row("SELECT models, decks, conf, dconf FROM col", (), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?;
    // The package is usable without its settings and presets.
    let conf: Value = serde_json::from_str(&conf).unwrap_or_default();
    let presets: Value = serde_json::from_str(&presets).unwrap_or_default();
    package.calendar = calendar(&|name| conf.get(name).and_then(Value::as_i64));
    let unreadable = |what: &str, error: serde_json::Error| {
        file_error(format!("the {what} of the package cannot be read: {error}"))
    };
    let models: BTreeMap<String, note_types::Model> =
        serde_json::from_str(&models).map_err(|error| unreadable("note types", error))?;
    for (id, model) in models {
        package.note_types.push(model.note_type(NoteTypeId(parse_id(&id)?)));
    }
    let decks: BTreeMap<String, Value> =
        serde_json::from_str(&decks).map_err(|error| unreadable("decks", error))?;
    for (id, deck) in decks {
        let filtered = deck.get("dyn").and_then(Value::as_i64) == Some(1);
        let search = deck.pointer("/terms/0/0").and_then(Value::as_str).unwrap_or_default();
        let text = |name: &str| deck.get(name).and_then(Value::as_str).map(str::to_owned);
        package.decks.push(PackagedDeck {
            id: parse_id(&id)?,
            name: text("name").unwrap_or_else(|| "Default".to_owned()),
            search: filtered.then(|| search.to_owned()),
            description: text("desc").unwrap_or_default(),
            options: json_options(&deck, &presets),
        });
    }
    Ok(())
}

fn parse_id(text: &str) -> Result<i64> {
    text.parse().map_err(|_| file_error(format!("`{text}` in the package is not an id")))
}

/// Reads the rollover hour and the offset at the creation of the collection, from which due days
/// count. Anki stores minutes west of UTC.
fn calendar(setting: &dyn Fn(&str) -> Option<i64>) -> Calendar {
    let hour =
        setting("rollover").and_then(|hour| u8::try_from(hour).ok()).filter(|hour| *hour < 24);
    let west = setting("creationOffset").or_else(|| setting("localOffset")).unwrap_or(0);
    let west = i16::try_from(west).ok().filter(|west| west.abs() <= 14 * 60).unwrap_or(0);
    let defaults = DeckOptions::default();
    Calendar::Rollover { hour: hour.unwrap_or(defaults.rollover_hour), zone: Zone::fixed(-west) }
}

/// The options of a deck: those of its preset with the deck's own overrides.
fn json_options(deck: &Value, presets: &Value) -> Option<DeckOptions> {
    let id = deck.get("conf").and_then(Value::as_i64)?;
    let preset = presets.get(id.to_string())?;
    let modified = preset.get("mod").and_then(Value::as_i64).unwrap_or(0);
    if presets::is_default(id, modified) {
        return None;
    }
    let mut options = presets::from_json(preset);
    let own = |name: &str| deck.get(name).and_then(Value::as_f64);
    if let Some(retention) = own("desiredRetention") {
        // Anki stores per-deck overrides in percent.
        let share = if retention > 1.0 { retention / 100.0 } else { retention };
        options.desired_retention = share.clamp(0.7, 0.99);
    }
    options.new_per_day = own("newLimit").map_or(options.new_per_day, crate::numbers::round_to_u32);
    options.reviews_per_day =
        own("reviewLimit").map_or(options.reviews_per_day, crate::numbers::round_to_u32);
    Some(options)
}

/// The same for the latest format.
fn proto_options(deck: &NormalDeck, presets: &BTreeMap<i64, DeckOptions>) -> Option<DeckOptions> {
    let mut options = presets.get(&deck.config_id)?.clone();
    options.reviews_per_day = deck.review_limit.unwrap_or(options.reviews_per_day);
    options.new_per_day = deck.new_limit.unwrap_or(options.new_per_day);
    if let Some(retention) = deck.desired_retention {
        options.desired_retention = widen(retention).clamp(0.7, 0.99);
    }
    Some(options)
}

/// Schema 18: note types, decks and presets are protocol buffers in their own tables.
fn proto_tables(connection: &Connection, package: &mut Package) -> Result<()> {
    package.note_types = note_types::read_proto(connection)?;
    let settings: BTreeMap<String, i64> = all(connection, "SELECT KEY, val FROM config", |row| {
        let (key, value): (String, Vec<u8>) = (row.get(0)?, row.get(1)?);
        Ok((key, serde_json::from_slice::<i64>(&value).ok()))
    })?
    .into_iter()
    .filter_map(|(key, value)| Some((key, value?)))
    .collect();
    package.calendar = calendar(&|name| settings.get(name).copied());
    let presets = proto_presets(connection)?;
    let decks = all(connection, "SELECT id, name, kind FROM decks ORDER BY id", |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, Vec<u8>>(2)?))
    })?;
    for (id, name, kind) in decks {
        let kind: DeckKind = proto::decode(&kind, "decks")?;
        let normal = kind.normal.unwrap_or_default();
        let search = kind.filtered.map(|filtered| {
            filtered.search_terms.into_iter().next().map(|term| term.search).unwrap_or_default()
        });
        package.decks.push(PackagedDeck {
            id,
            name: name.replace('\u{1f}', "::"),
            search,
            options: proto_options(&normal, &presets),
            description: normal.description,
        });
    }
    Ok(())
}

fn proto_presets(connection: &Connection) -> Result<BTreeMap<i64, DeckOptions>> {
    let rows = all(connection, "SELECT id, name, mtime_secs, config FROM deck_config", |row| {
        let (id, modified): (i64, i64) = (row.get(0)?, row.get(2)?);
        Ok((id, modified, row.get::<_, String>(1)?, row.get::<_, Vec<u8>>(3)?))
    })?;
    let mut presets = BTreeMap::new();
    for (id, modified, name, config) in rows {
        if !presets::is_default(id, modified) {
            let config: DeckConfig = proto::decode(&config, "deck_config")?;
            presets.insert(id, presets::from_proto(&name, &config));
        }
    }
    Ok(presets)
}
