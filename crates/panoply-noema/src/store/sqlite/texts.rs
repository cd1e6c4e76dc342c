//! The text of all notes in one piece, for finding what stands anywhere in them.
//!
//! Made in memory by the first search that needs it and kept up with every change that is made
//! here. The file counts its changes of notes, so that a change by another program is noticed,
//! and the piece is made anew. An index of all pieces of three letters would take longer to
//! build than a whole collection takes to import.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use memchr::memmem;

use super::Transaction;
use super::functions::Lists;
use crate::note::FIELD_SEPARATOR;
use crate::problem::Problem;
use crate::render;

/// With more notes than this changed since, a new piece is better.
const MOST_CHANGED: usize = 2000;

#[derive(Default)]
pub(super) struct Texts {
    piece: Mutex<Option<Piece>>,
    /// What was found, for the statement that asks for it.
    pub(super) lists: Lists,
}

/// Which notes a transaction has changed.
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

struct Piece {
    /// The file's count of changes of notes.
    changes: i64,
    /// The texts, in lower case as far as ASCII goes, each ended by a zero.
    letters: Vec<u8>,
    /// Where each ends, and whose it is.
    ends: Vec<(usize, i64)>,
    /// Notes that have changed since.
    changed: BTreeMap<i64, Vec<u8>>,
}

impl Texts {
    /// The notes that hold a text, as SQL's `LIKE` would find them.
    pub(super) fn find(&self, records: &Transaction<'_>, text: &str) -> Result<Vec<i64>, Problem> {
        let changes = changes(records)?;
        let mut kept = self.lock();
        let piece = match kept.take().filter(|piece| piece.changes == changes) {
            Some(piece) => piece,
            None => Piece::of(records, changes)?,
        };
        let found = piece.find(text);
        *kept = Some(piece);
        Ok(found)
    }

    /// Keeps up with a transaction that was committed.
    pub(super) fn follow(
        &self,
        records: &Transaction<'_>,
        changed: ChangedNotes,
    ) -> Result<(), Problem> {
        let mut kept = self.lock();
        let notes = match changed {
            ChangedNotes::None => return Ok(()),
            ChangedNotes::These(notes) if notes.len() < MOST_CHANGED => notes,
            ChangedNotes::These(_) | ChangedNotes::Many => {
                *kept = None;
                return Ok(());
            }
        };
        let Some(mut piece) = kept.take() else { return Ok(()) };
        let changes = changes(records)?;
        if piece.changes + 1 != changes || piece.changed.len() > MOST_CHANGED {
            return Ok(());
        }
        for note in notes {
            let sql = "SELECT fields FROM note WHERE id = ?1";
            let fields = records.one(sql, [note], |row| row.get::<_, String>(0))?;
            piece.changed.insert(note, searchable(&fields.unwrap_or_default()));
        }
        piece.changes = changes;
        *kept = Some(piece);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Option<Piece>> {
        self.piece.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Piece {
    fn of(records: &Transaction<'_>, changes: i64) -> Result<Self, Problem> {
        let (mut letters, mut ends) = (Vec::new(), Vec::new());
        let mut statement = records.connection.prepare_cached("SELECT id, fields FROM note")?;
        let mut rows = statement.query(())?;
        while let Some(row) = rows.next()? {
            append(&mut letters, row.get_ref(1)?.as_str().unwrap_or_default());
            ends.push((letters.len(), row.get(0)?));
        }
        Ok(Self { changes, letters, ends, changed: BTreeMap::new() })
    }

    fn find(&self, text: &str) -> Vec<i64> {
        let text = text.to_ascii_lowercase();
        let finder = memmem::Finder::new(&text);
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(place) = self.letters.get(from..).and_then(|rest| finder.find(rest)) {
            let whose = self.ends.partition_point(|(end, _)| *end <= from + place);
            let Some((end, note)) = self.ends.get(whose) else { break };
            if !self.changed.contains_key(note) {
                found.push(*note);
            }
            from = *end;
        }
        let changed = self.changed.iter().filter(|(_, letters)| finder.find(letters).is_some());
        found.extend(changed.map(|(note, _)| *note));
        found.sort_unstable();
        found
    }
}

fn changes(records: &Transaction<'_>) -> Result<i64, Problem> {
    let sql = "SELECT value FROM meta WHERE key = 'note changes'";
    Ok(records.one(sql, (), |row| row.get(0))?.unwrap_or(0))
}

fn searchable(fields: &str) -> Vec<u8> {
    let mut letters = Vec::new();
    append(&mut letters, fields);
    letters
}

/// Markup hides text, so the bare first field stands beside the fields, as in Anki.
fn append(letters: &mut Vec<u8>, fields: &str) {
    let start = letters.len();
    letters.extend_from_slice(fields.as_bytes());
    if fields.contains(['<', '&']) {
        let first = fields.split(FIELD_SEPARATOR).next().unwrap_or_default();
        letters.push(b'\n');
        letters.extend_from_slice(render::plain(first).as_bytes());
    }
    letters.push(0);
    if let Some(added) = letters.get_mut(start..) {
        added.make_ascii_lowercase();
    }
}
