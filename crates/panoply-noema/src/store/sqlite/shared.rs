//! Some decks of a collection, read-only: what another tenant may see of it.
//!
//! A connection of its own has a temporary view in place of each table, under its name, with the
//! rows of the shared decks only. SQLite resolves names in the temporary schema first, so every
//! statement of this store sees the views. A table that is not listed here has no rows.

use std::path::Path;

use panoply_store::sqlite;
use rusqlite::Connection;

use super::{OpenError, SqliteStore};
use crate::error::NoemaError;
use crate::ids::DeckId;

/// The shared decks with their subdecks.
const SHOWN_DECKS: &str = "
    SELECT deck.id FROM main.deck
    JOIN temp.shared_deck
    JOIN main.deck root ON root.id = shared_deck.id
    WHERE deck.deleted IS NULL AND root.deleted IS NULL AND (deck.id = root.id
        OR substr(deck.folded, 1, length(root.folded) + 2) = root.folded || '::')";

const SHOWN_NOTES: &str =
    "SELECT note FROM main.card WHERE deck IN temp.shown_deck AND deleted IS NULL";

/// Media files that a shared note refers to, as HTML or as Anki's sound tag.
const SHOWN_MEDIA: &str = r#"
    SELECT file.name FROM main.media_file file
    WHERE file.deleted IS NULL AND EXISTS (
        SELECT 1 FROM main.note WHERE id IN temp.shown_note AND deleted IS NULL AND (
            instr(fields, 'src="' || file.name || '"')
            OR instr(fields, 'src=''' || file.name || '''')
            OR instr(fields, '[sound:' || file.name || ']')))"#;

/// Conditions on the rows of each table. Actions, sessions, settings and earlier contents of notes
/// are not shared.
const ROWS: &[(&str, &str)] = &[
    ("deck", "id IN temp.shown_deck"),
    ("card", "deck IN temp.shown_deck AND deleted IS NULL"),
    ("note", "id IN temp.shown_note AND deleted IS NULL"),
    ("note_tag", "note IN temp.shown_note"),
    ("note_type", "id <= 5 OR id IN (SELECT note_type FROM main.note WHERE id IN temp.shown_note)"),
    ("review", "card IN (SELECT id FROM main.card WHERE deck IN temp.shown_deck)"),
    ("tally", "deck IN temp.shown_deck"),
    ("lane_count", "deck IN temp.shown_deck"),
    ("due_count", "deck IN temp.shown_deck"),
    ("media_file", "deleted IS NULL AND name IN temp.shown_media"),
    (
        "media_content",
        "id IN (SELECT content FROM main.media_file WHERE deleted IS NULL AND name IN temp.shown_media)",
    ),
    ("meta", "key = 'note changes'"),
];

impl SqliteStore {
    /// A read-only store with these decks of this collection and their subdecks.
    pub(super) fn view(&self, decks: &[DeckId]) -> Result<Self, OpenError> {
        let file = self.lock().path().filter(|path| !path.is_empty()).map(str::to_owned);
        let file = file.ok_or_else(|| NoemaError::store("a collection in memory is not shared"))?;
        let connection = sqlite::open_read_only(Path::new(&file))?;
        restrict(&connection, decks).map_err(NoemaError::from)?;
        // Tokens of a view must not be valid for the collection.
        let secret = connection.query_row("SELECT randomblob(32)", (), |row| row.get(0));
        let shared = Self::over(connection, Some(secret.map_err(NoemaError::from)?))?;
        Ok(shared.with_default_zone(self.default_zone))
    }
}

/// Replaces every table by a view on the rows of these decks.
fn restrict(connection: &Connection, decks: &[DeckId]) -> rusqlite::Result<()> {
    connection.execute_batch("CREATE TEMP TABLE shared_deck (id INTEGER PRIMARY KEY)")?;
    for deck in decks {
        let sql = "INSERT OR IGNORE INTO temp.shared_deck (id) VALUES (?1)";
        connection.execute(sql, [deck.0])?;
    }
    let helpers =
        [("shown_deck", SHOWN_DECKS), ("shown_note", SHOWN_NOTES), ("shown_media", SHOWN_MEDIA)];
    for (name, select) in helpers {
        connection.execute_batch(&format!("CREATE TEMP VIEW {name} AS {select}"))?;
    }
    let sql =
        "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let mut statement = connection.prepare(sql)?;
    let tables = statement.query_map((), |row| row.get(0))?;
    for table in tables.collect::<rusqlite::Result<Vec<String>>>()? {
        let rows = ROWS.iter().find(|(name, _)| *name == table).map_or("0", |(_, rows)| rows);
        connection.execute_batch(&format!(
            "CREATE TEMP VIEW \"{table}\" AS SELECT * FROM main.\"{table}\" WHERE {rows}"
        ))?;
    }
    connection.pragma_update(None, "query_only", true)
}
