//! Walks the chain and finds the first row that is not what was written.
//!
//! Found without fail, because each hash covers the row, its place and the hash before it:
//! a changed, removed, moved or inserted row, unless every row after it was rewritten too. Rows
//! cut off the end, or added there, disagree with the head record.
//!
//! Whoever can write the file can rewrite the whole chain and its head, and the chain holds no
//! secret that would stop them. Against that, note the head that a verification prints somewhere
//! else, and give it to the next one as an anchor: then nothing up to it can be rewritten unseen.
//! What came after the last noted head, someone with the file can always rewrite or cut off.

use std::fmt;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Row};

use super::row::{COLUMNS, ChainHash, StoredRow};
use crate::error::StoreError;
use crate::sqlite;

/// The end of the chain.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Head {
    /// The last row.
    pub sequence: u64,
    /// Its hash.
    pub hash: ChainHash,
}

/// What a walk along the chain found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Verification {
    /// How many rows were found in order, before the fault if there is one.
    pub rows: u64,
    /// Where the chain ends as far as it is in order; `None` for an empty log.
    pub head: Option<Head>,
    /// The first thing that is wrong.
    pub fault: Option<Fault>,
}

impl Verification {
    /// Whether nothing is wrong.
    pub const fn is_intact(&self) -> bool {
        self.fault.is_none()
    }
}

/// The first row that is not what was written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Fault {
    /// Its place in the chain.
    pub sequence: u64,
    /// What happened to it.
    pub kind: FaultKind,
}

/// What can have happened to a row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FaultKind {
    /// Its content does not match its hash.
    Altered,
    /// It matches neither its own hash nor the one before: it stood somewhere else.
    Moved,
    /// It was exchanged for another row with a hash that fits that one.
    Replaced,
    /// It is not there.
    Missing,
    /// It stands after the end that the writers recorded.
    Unrecorded,
    /// The record of the end is not there; the row is the last one.
    HeadMissing,
    /// Its hash is not the one noted earlier.
    NotAsNoted,
}

impl FaultKind {
    /// A name for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Altered => "altered",
            Self::Moved => "moved",
            Self::Replaced => "replaced",
            Self::Missing => "missing",
            Self::Unrecorded => "unrecorded",
            Self::HeadMissing => "head_missing",
            Self::NotAsNoted => "not_as_noted",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = self.sequence;
        match self.kind {
            FaultKind::Altered => write!(f, "row {row} was altered"),
            FaultKind::Moved => write!(f, "row {row} was moved here or exchanged"),
            FaultKind::Replaced => write!(f, "row {row} was replaced by another"),
            FaultKind::Missing => write!(f, "row {row} was removed"),
            FaultKind::Unrecorded => write!(f, "row {row} was added by another program"),
            FaultKind::HeadMissing => {
                write!(f, "the record of the end was removed; the last row is {row}")
            }
            FaultKind::NotAsNoted => write!(f, "row {row} or one before it was rewritten"),
        }
    }
}

/// Walks the log in `file`. `anchor` is a head that an earlier walk printed and that was kept
/// where the file's owner cannot change it. Others may go on writing meanwhile.
pub fn verify(file: &Path, anchor: Option<Head>) -> Result<Verification, StoreError> {
    // What an intruder wrote is to be named row by row, so page checksums do not stop the walk.
    let mut connection = sqlite::open_unverified(file)?;
    // One transaction: rows and head belong together.
    let walked =
        connection.transaction().and_then(|snapshot| walk(&snapshot, Chain { last: None, anchor }));
    walked.map_err(StoreError::about(file))
}

/// Walks the last `rows` of the log only, taking the row before them for good: cheap enough for
/// every start of a server.
pub fn verify_tail(file: &Path, rows: u32) -> Result<Verification, StoreError> {
    let mut connection = sqlite::open_unverified(file)?;
    let walked = connection.transaction().and_then(|snapshot| {
        let before = snapshot
            .query_row(
                "SELECT sequence, hash FROM audit \
                 WHERE sequence <= (SELECT max(sequence) FROM audit) - ?1 \
                 ORDER BY sequence DESC LIMIT 1",
                [rows],
                head,
            )
            .optional()?;
        walk(&snapshot, Chain { last: before, anchor: None })
    });
    walked.map_err(StoreError::about(file))
}

fn walk(connection: &Connection, mut chain: Chain) -> rusqlite::Result<Verification> {
    let after = chain.last.map_or(i64::MIN, |last| last.sequence.cast_signed());
    let mut statement = connection
        .prepare(&format!("SELECT {COLUMNS} FROM audit WHERE sequence > ?1 ORDER BY sequence"))?;
    let mut rows = statement.query([after])?;
    let mut fault = None;
    while let Some(row) = rows.next()? {
        fault = chain.take(row)?;
        if fault.is_some() {
            break;
        }
    }
    if fault.is_none() {
        fault = chain.end(recorded_head(connection)?);
    }
    // A replaced row was taken for a good one until its successor said otherwise.
    let bad = fault.map_or(u64::MAX, |fault| fault.sequence);
    let head = chain.last.filter(|last| last.sequence < bad);
    let rows = chain.last.map_or(0, |last| last.sequence.min(bad.saturating_sub(1)));
    Ok(Verification { rows, head, fault })
}

struct Chain {
    last: Option<Head>,
    anchor: Option<Head>,
}

impl Chain {
    /// Takes the next row, or says what is wrong.
    fn take(&mut self, row: &Row<'_>) -> rusqlite::Result<Option<Fault>> {
        let found = u64::try_from(row.get::<_, i64>(0)?).unwrap_or_default();
        let (expected, before) =
            self.last.map_or((1, ChainHash::BEFORE_ALL), |last| (last.sequence + 1, last.hash));
        let fault = |sequence, kind| Ok(Some(Fault { sequence, kind }));
        if found < expected {
            // Only before the first: zero or a negative number.
            return fault(found, FaultKind::Unrecorded);
        }
        if found > expected {
            return fault(expected, FaultKind::Missing);
        }
        let (Ok(stored), Ok(previous), Ok(hash)) =
            (StoredRow::of(row), row.get(14).map(ChainHash), row.get(15).map(ChainHash))
        else {
            // A type or a length that this program never writes.
            return fault(found, FaultKind::Altered);
        };
        let whole = stored.hash(previous) == hash;
        let linked = previous == before;
        match (whole, linked) {
            (true, true) => {}
            (false, true) => return fault(found, FaultKind::Altered),
            (false, false) => return fault(found, FaultKind::Moved),
            // It vouches for another predecessor than the one that stands there.
            (true, false) if found > 1 => return fault(found - 1, FaultKind::Replaced),
            (true, false) => return fault(found, FaultKind::Moved),
        }
        self.last = Some(Head { sequence: found, hash });
        if self.anchor.is_some_and(|noted| noted.sequence == found && noted.hash != hash) {
            return fault(found, FaultKind::NotAsNoted);
        }
        Ok(None)
    }

    /// Compares the last row with where the writers say it is.
    fn end(&self, recorded: Option<Head>) -> Option<Fault> {
        let last = self.last.map_or(0, |last| last.sequence);
        let fault = |sequence, kind| Some(Fault { sequence, kind });
        let noted = self.anchor.map_or(0, |noted| noted.sequence);
        match (recorded, self.last) {
            (Some(head), _) if head.sequence > last => fault(last + 1, FaultKind::Missing),
            (Some(head), Some(_)) if head.sequence < last => {
                fault(head.sequence + 1, FaultKind::Unrecorded)
            }
            (Some(head), Some(row)) if head.hash != row.hash => fault(last, FaultKind::Replaced),
            (None, Some(_)) => fault(last, FaultKind::HeadMissing),
            (Some(_) | None, _) if noted > last => fault(last + 1, FaultKind::Missing),
            (Some(_), Some(_)) | (Some(_) | None, None) => None,
        }
    }
}

fn recorded_head(connection: &Connection) -> rusqlite::Result<Option<Head>> {
    connection.query_row("SELECT sequence, hash FROM head", (), head).optional()
}

fn head(row: &Row<'_>) -> rusqlite::Result<Head> {
    let sequence = u64::try_from(row.get::<_, i64>(0)?).unwrap_or_default();
    Ok(Head { sequence, hash: ChainHash(row.get(1)?) })
}
