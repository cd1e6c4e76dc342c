//! Substring search over all notes: one concatenated buffer, scanned with `memmem`.
//!
//! Built by the first text search and updated by each commit of this process. The database counts
//! note changes, so a change by another process is detected and the buffer rebuilt. A trigram index
//! (FTS5) would take longer to build than the import of a collection.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use memchr::memmem;

use super::Transaction;
use super::functions::IdLists;
use crate::error::Result;
use crate::html;
use crate::note::FIELD_SEPARATOR;

/// Above this many changed notes, rebuild the buffer.
const MAX_CHANGED_NOTES: usize = 2000;

#[derive(Default)]
pub(super) struct TextIndex {
    buffer: Mutex<Option<TextBuffer>>,
    /// Search results that the running statement references.
    pub(super) id_lists: IdLists,
}

/// Notes changed by a transaction.
#[derive(Default)]
pub(super) enum ChangedNotes {
    #[default]
    None,
    These(Vec<i64>),
    Many,
}

impl ChangedNotes {
    pub(super) fn add(&mut self, note: i64) {
        match self {
            Self::None => *self = Self::These(vec![note]),
            Self::These(notes) => notes.push(note),
            Self::Many => {}
        }
    }
}

struct TextBuffer {
    /// Note change counter of the database.
    changes: i64,
    /// Texts in ASCII lower case, each terminated by a zero byte.
    bytes: Vec<u8>,
    /// End offset and note id of each text.
    ends: Vec<(usize, i64)>,
    /// Texts of notes changed since the buffer was built.
    changed: BTreeMap<i64, Vec<u8>>,
}

impl TextIndex {
    /// Ids of the notes that contain a text, as SQL `LIKE` matches it.
    pub(super) fn find(&self, reader: &Transaction<'_>, text: &str) -> Result<Vec<i64>> {
        let changes = change_count(reader)?;
        let mut cached = self.lock();
        let buffer = match cached.take().filter(|buffer| buffer.changes == changes) {
            Some(buffer) => buffer,
            None => TextBuffer::of(reader, changes)?,
        };
        let found = buffer.find(text);
        *cached = Some(buffer);
        Ok(found)
    }

    /// Applies the note changes of a committed transaction.
    pub(super) fn apply_changes(
        &self,
        reader: &Transaction<'_>,
        changed: ChangedNotes,
    ) -> Result<()> {
        let mut cached = self.lock();
        let notes = match changed {
            ChangedNotes::None => return Ok(()),
            ChangedNotes::These(notes) if notes.len() < MAX_CHANGED_NOTES => notes,
            ChangedNotes::These(_) | ChangedNotes::Many => {
                *cached = None;
                return Ok(());
            }
        };
        let Some(mut buffer) = cached.take() else { return Ok(()) };
        let changes = change_count(reader)?;
        if buffer.changes + 1 != changes || buffer.changed.len() > MAX_CHANGED_NOTES {
            return Ok(());
        }
        for note in notes {
            let sql = "SELECT fields FROM note WHERE id = ?1";
            let fields = reader.query_one(sql, [note], |row| row.get::<_, String>(0))?;
            buffer.changed.insert(note, searchable(&fields.unwrap_or_default()));
        }
        buffer.changes = changes;
        *cached = Some(buffer);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Option<TextBuffer>> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TextBuffer {
    fn of(reader: &Transaction<'_>, changes: i64) -> Result<Self> {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        let mut statement = reader.connection.prepare_cached("SELECT id, fields FROM note")?;
        let mut rows = statement.query(())?;
        while let Some(row) = rows.next()? {
            append(&mut bytes, row.get_ref(1)?.as_str().unwrap_or_default());
            ends.push((bytes.len(), row.get(0)?));
        }
        Ok(Self { changes, bytes, ends, changed: BTreeMap::new() })
    }

    fn find(&self, text: &str) -> Vec<i64> {
        let text = text.to_ascii_lowercase();
        let finder = memmem::Finder::new(&text);
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(offset) = self.bytes.get(from..).and_then(|rest| finder.find(rest)) {
            let index = self.ends.partition_point(|(end, _)| *end <= from + offset);
            let Some((end, note)) = self.ends.get(index) else { break };
            if !self.changed.contains_key(note) {
                found.push(*note);
            }
            from = *end;
        }
        let changed = self.changed.iter().filter(|(_, bytes)| finder.find(bytes).is_some());
        found.extend(changed.map(|(note, _)| *note));
        found.sort_unstable();
        found
    }
}

fn change_count(reader: &Transaction<'_>) -> Result<i64> {
    let sql = "SELECT value FROM meta WHERE key = 'note changes'";
    Ok(reader.query_one(sql, (), |row| row.get(0))?.unwrap_or(0))
}

fn searchable(fields: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    append(&mut bytes, fields);
    bytes
}

/// Appends the fields and, if they contain markup, the first field without it, as Anki searches.
fn append(bytes: &mut Vec<u8>, fields: &str) {
    let start = bytes.len();
    bytes.extend_from_slice(fields.as_bytes());
    if fields.contains(['<', '&']) {
        let first = fields.split(FIELD_SEPARATOR).next().unwrap_or_default();
        bytes.push(b'\n');
        bytes.extend_from_slice(html::strip(first).as_bytes());
    }
    bytes.push(0);
    if let Some(added) = bytes.get_mut(start..) {
        added.make_ascii_lowercase();
    }
}
