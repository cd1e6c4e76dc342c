//! Undo log.
//!
//! Each action stores the before-image of every row it changed and a hash of the after-image. An
//! undo requires that each row still has that hash, and restores the before-image. Images are by
//! column name, so that a column added since then does not matter. Bulk-imported rows are deleted,
//! unless they were used since.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rusqlite::types::Value as Cell;
use serde::{Deserialize, Serialize};

use super::Transaction;
use super::text_index::ChangedNotes;
use crate::error::{NoemaError, Result};
use crate::fsrs::Micros;
use crate::ids::{ActionId, NoteId};
use crate::numbers::len_to_u64;
use crate::store::{ExistingIds, NewAction, StoreReader};

/// Tables with before-images. The variant names are stored; do not rename them.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize, Deserialize)]
pub(super) enum Table {
    Deck,
    NoteType,
    Note,
    PastContent,
    Card,
    Review,
    Tally,
    Session,
    Learner,
    MediaFile,
}

impl Table {
    const fn name(self) -> &'static str {
        match self {
            Self::Deck => "deck",
            Self::NoteType => "note_type",
            Self::Note => "note",
            Self::PastContent => "past_content",
            Self::Card => "card",
            Self::Review => "review",
            Self::Tally => "tally",
            Self::Session => "session",
            Self::Learner => "learner",
            Self::MediaFile => "media_file",
        }
    }
}

impl ExistingIds {
    /// Whether the row may have existed before the bulk import.
    fn holds(&self, table: Table, id: i64) -> bool {
        match table {
            Table::Note => self.notes.contains(&id),
            Table::Card => self.cards.contains(&id),
            Table::Review => self.reviews.contains(&id),
            Table::Deck
            | Table::NoteType
            | Table::PastContent
            | Table::Tally
            | Table::Session
            | Table::Learner
            | Table::MediaFile => true,
        }
    }
}

/// A changed row with its before-image.
pub(super) struct TouchedRow {
    table: Table,
    id: i64,
    before: Option<Vec<CellValue>>,
}

/// The stored images of an action.
#[derive(Default, Serialize, Deserialize)]
struct Images {
    /// Names of the columns of each table, in the order of the cells, separated by spaces.
    columns: BTreeMap<Table, String>,
    rows: Vec<RowImage>,
}

impl Images {
    /// Earlier versions stored the rows alone.
    fn parse(text: &str) -> Result<Self> {
        let parsed = if text.starts_with('[') {
            serde_json::from_str(text).map(|rows| Self { rows, ..Self::default() })
        } else {
            serde_json::from_str(text)
        };
        parsed.map_err(|error| NoemaError::store(error.to_string()))
    }
}

/// A stored before-image, and a hash of the after-image.
#[derive(Serialize, Deserialize)]
struct RowImage {
    table: Table,
    id: i64,
    before: Option<Vec<CellValue>>,
    after: Option<RowHash>,
}

/// FNV-1a hash of a row. Storing the whole after-image would double what a review writes. It is
/// compared with the same row only, so collision resistance is not needed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
struct RowHash(u64);

impl RowHash {
    fn of(cells: &[CellValue]) -> Self {
        let mut hash = Self(0xcbf2_9ce4_8422_2325);
        for cell in cells {
            match cell {
                CellValue::Null => hash.add(b"n"),
                CellValue::Integer(number) => hash.add_tagged(b"i", &number.to_le_bytes()),
                CellValue::Real(bits) => hash.add_tagged(b"r", &bits.to_le_bytes()),
                CellValue::Text(text) => {
                    hash.add_tagged(b"t", &text.len().to_le_bytes());
                    hash.add(text.as_bytes());
                }
            }
        }
        hash
    }

    fn add_tagged(&mut self, kind: &[u8], bytes: &[u8]) {
        self.add(kind);
        self.add(bytes);
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// A cell value; floats are stored by their bits to round-trip exactly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum CellValue {
    #[serde(rename = "n")]
    Null,
    #[serde(rename = "i")]
    Integer(i64),
    #[serde(rename = "r")]
    Real(u64),
    #[serde(rename = "t")]
    Text(String),
}

impl Transaction<'_> {
    /// Records the before-image; call before the first write to a row.
    pub(super) fn touch(&mut self, table: Table, id: i64) -> Result<()> {
        if self.action == 0
            || self
                .touched
                .iter()
                .rev()
                .take(64)
                .any(|touched| touched.table == table && touched.id == id)
        {
            return Ok(());
        }
        if self.known.as_ref().is_some_and(|known| !known.holds(table, id)) {
            return Ok(());
        }
        let before = self.row(table, id)?;
        if self.bulk && before.is_none() {
            return Ok(());
        }
        self.touched.push(TouchedRow { table, id, before });
        Ok(())
    }

    /// Stores the action with its before-images.
    pub(super) fn record(&mut self, action: &NewAction<'_>) -> Result<()> {
        if self.bulk {
            self.end_bulk()?;
        }
        if !matches!(self.changed_notes, ChangedNotes::None) {
            let sql = "UPDATE meta SET value = value + 1 WHERE key = 'note changes'";
            self.connection.prepare_cached(sql)?.execute(())?;
        }
        let mut images = Images::default();
        for TouchedRow { table, id, before } in std::mem::take(&mut self.touched) {
            let after = self.row(table, id)?;
            let seen = images
                .rows
                .iter()
                .rev()
                .take(256)
                .any(|image| image.table == table && image.id == id);
            if before != after && !seen {
                if let Entry::Vacant(columns) = images.columns.entry(table) {
                    columns.insert(self.columns(table)?.join(" "));
                }
                images.rows.push(RowImage {
                    table,
                    id,
                    before,
                    after: after.as_deref().map(RowHash::of),
                });
            }
        }
        if images.rows.is_empty() && !self.bulk {
            return Ok(());
        }
        let images =
            serde_json::to_string(&images).map_err(|error| NoemaError::store(error.to_string()))?;
        let sql = "INSERT INTO action (id, tool, summary, at, changed, bulk, images, actor) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let changed = self.changed.cast_signed();
        self.connection.prepare_cached(sql)?.execute((
            self.action,
            action.tool,
            action.summary,
            action.at,
            changed,
            self.bulk,
            images,
            action.actor,
        ))?;
        Ok(())
    }

    pub(super) fn undo_action(&mut self, action: ActionId, now: Micros) -> Result<u64> {
        let known = self.action(action)?.ok_or(NoemaError::ActionNotFound(action))?;
        if known.undone.is_some() {
            return Err(NoemaError::AlreadyUndone(action));
        }
        let (images, bulk): (String, bool) = self
            .query_one("SELECT images, bulk FROM action WHERE id = ?1", [action.0], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?
            .ok_or(NoemaError::ActionNotFound(action))?;
        let images = Images::parse(&images)?;
        let mut changed = 0;
        if bulk {
            self.changed_notes = ChangedNotes::Many;
            changed += self.undo_bulk(action)?;
        }
        for image in images.rows.iter().rev() {
            let Some(columns) = self.unchanged_columns(image, &images.columns)? else {
                return Err(NoemaError::ChangedSince {
                    action,
                    what: format!("{}_{}", image.table.name(), image.id),
                });
            };
            self.touch(image.table, image.id)?;
            if image.table == Table::Note {
                self.changed_notes.add(image.id);
            }
            self.restore(image, &columns)?;
            changed += 1;
        }
        self.connection.execute("UPDATE action SET undone = ?2 WHERE id = ?1", (action.0, now))?;
        self.changed += changed;
        Ok(changed)
    }

    fn undo_bulk(&self, action: ActionId) -> Result<u64> {
        let sql = "SELECT c.id FROM review r JOIN card c ON c.id = r.card WHERE c.batch = ?1 AND r.batch IS NOT ?1 LIMIT 1";
        if let Some(card) = self.query_one(sql, [action.0], |row| row.get::<_, i64>(0))? {
            return Err(NoemaError::ChangedSince { action, what: format!("card_{card}") });
        }
        self.drop_triggers()?;
        self.connection.execute(
            "DELETE FROM note_tag WHERE note IN (SELECT id FROM note WHERE batch = ?1)",
            [action.0],
        )?;
        let mut deleted = 0;
        for table in ["review", "card", "note", "note_type", "media_file"] {
            deleted += self
                .connection
                .execute(&format!("DELETE FROM {table} WHERE batch = ?1"), [action.0])?;
        }
        // Keep a deck that other cards were moved to.
        let decks = "DELETE FROM deck WHERE batch = ?1 AND id NOT IN (SELECT deck FROM card)";
        deleted += self.connection.execute(decks, [action.0])?;
        self.end_bulk()?;
        Ok(len_to_u64(deleted))
    }

    /// Deletes and inserts, so that both triggers fire.
    fn restore(&self, image: &RowImage, columns: &[String]) -> Result<()> {
        let table = image.table.name();
        self.connection.execute(&format!("DELETE FROM {table} WHERE id = ?1"), [image.id])?;
        if image.table == Table::Note {
            self.connection.execute("DELETE FROM note_tag WHERE note = ?1", [image.id])?;
        }
        let Some(cells) = &image.before else { return Ok(()) };
        let placeholders = vec!["?"; cells.len()].join(", ");
        let cells: Vec<Cell> = cells.iter().map(CellValue::cell).collect();
        self.connection.execute(
            &format!("INSERT INTO {table} ({}) VALUES ({placeholders})", columns.join(", ")),
            rusqlite::params_from_iter(cells),
        )?;
        if image.table == Table::Note
            && let Some(note) = self.note(NoteId(image.id))?
        {
            self.tag_note(note.id, &note.tags, note.deleted.is_some())?;
        }
        Ok(())
    }

    /// The columns of an image whose row is as the action left it; `None` if it has changed.
    fn unchanged_columns(
        &self,
        image: &RowImage,
        stored: &BTreeMap<Table, String>,
    ) -> Result<Option<Vec<String>>> {
        if let Some(columns) = stored.get(&image.table) {
            let columns: Vec<String> = columns.split(' ').map(str::to_owned).collect();
            let row = self.cells(image.table, image.id, &columns.join(", "))?;
            let is_unchanged = row.as_deref().map(RowHash::of) == image.after;
            return Ok(is_unchanged.then_some(columns));
        }
        // Without names, the cells are those of the first columns: later ones were added since.
        let (mut columns, row) = (self.columns(image.table)?, self.row(image.table, image.id)?);
        let mut row = row;
        loop {
            let fits = image.before.as_ref().is_none_or(|before| before.len() == columns.len());
            if fits && row.as_deref().map(RowHash::of) == image.after {
                return Ok(Some(columns));
            }
            if columns.pop().is_none() {
                return Ok(None);
            }
            row.as_mut().map(Vec::pop);
        }
    }

    fn columns(&self, table: Table) -> Result<Vec<String>> {
        let sql = format!("SELECT * FROM {} WHERE id = ?1", table.name());
        let statement = self.connection.prepare_cached(&sql)?;
        Ok(statement.column_names().map(str::to_owned).collect())
    }

    fn row(&self, table: Table, id: i64) -> Result<Option<Vec<CellValue>>> {
        self.cells(table, id, "*")
    }

    fn cells(&self, table: Table, id: i64, columns: &str) -> Result<Option<Vec<CellValue>>> {
        let sql = format!("SELECT {columns} FROM {} WHERE id = ?1", table.name());
        let mut statement = self.connection.prepare_cached(&sql)?;
        let columns = statement.column_count();
        let mut rows = statement.query([id])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let cells = (0..columns)
            .map(|column| row.get(column).map(CellValue::of))
            .collect::<rusqlite::Result<_>>()?;
        Ok(Some(cells))
    }
}

impl CellValue {
    fn of(cell: Cell) -> Self {
        match cell {
            Cell::Null | Cell::Blob(_) => Self::Null,
            Cell::Integer(number) => Self::Integer(number),
            Cell::Real(number) => Self::Real(number.to_bits()),
            Cell::Text(text) => Self::Text(text),
        }
    }

    fn cell(&self) -> Cell {
        match self {
            Self::Null => Cell::Null,
            Self::Integer(number) => Cell::Integer(*number),
            Self::Real(bits) => Cell::Real(f64::from_bits(*bits)),
            Self::Text(text) => Cell::Text(text.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changes a note type and a deck, and undoes it after `meanwhile`.
    fn undone_after(meanwhile: impl FnOnce(&rusqlite::Connection)) -> String {
        use crate::store::{NewAction, SqliteStore, Store};
        let store = SqliteStore::in_memory().unwrap();
        let change = NewAction { tool: "t", summary: "s", at: 1_000_000, actor: "local" };
        let as_dyn: &dyn Store = &store;
        let (_, action) = as_dyn
            .change(&change, true, |writer, _| {
                let mut note_type = writer.note_types()?.remove(0);
                note_type.name = "Renamed".to_owned();
                writer.put_note_type(&note_type)
            })
            .unwrap();
        meanwhile(&store.lock());
        let undo = NewAction { at: 2_000_000, ..change };
        as_dyn.change(&undo, true, |writer, _| writer.undo(action, 2_000_000)).unwrap();
        as_dyn.read(|reader| Ok(reader.note_types()?.remove(0).name)).unwrap()
    }

    #[test]
    fn an_action_is_undone_after_a_column_was_added() {
        let before = undone_after(|_| {});
        assert_ne!(before, "Renamed");
        let add = "ALTER TABLE note_type ADD COLUMN later TEXT NOT NULL DEFAULT 'x'";
        assert_eq!(undone_after(|connection| connection.execute_batch(add).unwrap()), before);
    }

    #[test]
    fn images_of_earlier_versions_are_of_the_first_columns() {
        let before = undone_after(|_| {});
        let undone = undone_after(|connection| {
            let select = "SELECT images FROM action";
            let images: String = connection.query_row(select, (), |row| row.get(0)).unwrap();
            let images: serde_json::Value = serde_json::from_str(&images).unwrap();
            let rows = images["rows"].to_string();
            connection.execute("UPDATE action SET images = ?1", [rows]).unwrap();
            let add = "ALTER TABLE note_type ADD COLUMN later TEXT NOT NULL DEFAULT 'x'";
            connection.execute_batch(add).unwrap();
        });
        assert_eq!(undone, before);
    }

    #[test]
    fn row_hash_is_fnv_1a() {
        // Published 64-bit test vector for "a" by Landon Curt Noll.
        let mut hash = RowHash::of(&[]);
        hash.add(b"a");
        assert_eq!(hash, RowHash(0xaf63_dc4c_8601_ec8c));
    }

    #[test]
    fn rows_that_differ_in_one_cell_have_different_hashes() {
        let rows = [
            vec![],
            vec![CellValue::Null],
            vec![CellValue::Null, CellValue::Null],
            vec![CellValue::Integer(0)],
            vec![CellValue::Real(0)],
            vec![CellValue::Text(String::new())],
            vec![CellValue::Text("a".to_owned()), CellValue::Text("bc".to_owned())],
            vec![CellValue::Text("ab".to_owned()), CellValue::Text("c".to_owned())],
        ];
        for (column, row) in rows.iter().enumerate() {
            let same = rows.iter().position(|other| RowHash::of(other) == RowHash::of(row));
            assert_eq!(same, Some(column), "row: {row:?}");
        }
    }
}
