//! Verifies the hash chain and reports the first row that was tampered with.
//!
//! Each hash covers the row, its sequence and the previous hash. A changed, removed, moved or
//! inserted row is therefore always detected, unless every later row was rewritten too. Rows
//! truncated from or added to the end contradict the head record.
//!
//! A process with write access to the file can rewrite the whole chain and its head, because the
//! chain contains no secret. To detect that, store the head printed by a verification on another
//! machine and pass it to the next one as an anchor: no row up to it can be rewritten undetected.
//! Rows after the last anchor can still be rewritten or truncated. Signed checkpoints are such
//! anchors, issued by the server ([`Checkpoint`]).
//!
//! Sealed rows are read from their segments. A pruned segment leaves its header, which must link to
//! the chain on both sides, and an audit row that records the pruning.
//!
//! [`Checkpoint`]: super::Checkpoint

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Row};

use super::row::{COLUMNS, COLUMNS_BEFORE_FORMAT_2, ChainHash, ChainedRow};
use super::seal::PRUNE;
use super::segment::{self, Segment, SegmentLock, Unreadable};
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

/// Result of a verification.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Verification {
    /// Number of valid rows before the fault, or in total.
    pub rows: u64,
    /// Head of the valid part of the chain; `None` for an empty log.
    pub head: Option<Head>,
    /// The first fault.
    pub fault: Option<Fault>,
    /// All sealed segments, including pruned ones.
    pub segments: Vec<Segment>,
    /// File of the segment that contains the fault, if any.
    pub fault_file: Option<String>,
    /// Number of anchors inside pruned segments, which could not be compared.
    pub unchecked: usize,
}

impl Verification {
    /// Whether no fault was found.
    pub const fn is_intact(&self) -> bool {
        self.fault.is_none()
    }
}

/// The first row that was tampered with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Fault {
    /// Sequence of the row.
    pub sequence: u64,
    /// Kind of tampering.
    pub kind: FaultKind,
}

/// Kinds of tampering.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FaultKind {
    /// The content does not match the hash.
    Altered,
    /// The row matches neither its own hash nor the previous hash: it was moved.
    Moved,
    /// The row was replaced with another whose own hash is valid.
    Replaced,
    /// The row does not exist.
    Missing,
    /// The row follows the recorded head.
    Unrecorded,
    /// The head record is missing; the row is the last one.
    HeadMissing,
    /// The hash differs from an anchor.
    NotAsNoted,
    /// First row of a sealed segment whose file is missing without having been pruned.
    SegmentMissing,
    /// First row of a sealed segment whose file does not match its header.
    SegmentAltered,
    /// First row of a segment whose pruning has no audit row.
    PruningUnrecorded,
}

impl FaultKind {
    /// The name in JSON output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Altered => "altered",
            Self::Moved => "moved",
            Self::Replaced => "replaced",
            Self::Missing => "missing",
            Self::Unrecorded => "unrecorded",
            Self::HeadMissing => "head_missing",
            Self::NotAsNoted => "not_as_noted",
            Self::SegmentMissing => "segment_missing",
            Self::SegmentAltered => "segment_altered",
            Self::PruningUnrecorded => "pruning_unrecorded",
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
            FaultKind::SegmentMissing => {
                write!(f, "the sealed segment that begins with row {row} was removed")
            }
            FaultKind::SegmentAltered => {
                write!(f, "the sealed segment that begins with row {row} was altered or exchanged")
            }
            FaultKind::PruningUnrecorded => write!(
                f,
                "the segment that begins with row {row} is gone, and no audit row says who pruned it"
            ),
        }
    }
}

/// Verifies the log in `file`. `anchor` is the head of an earlier verification, stored out of reach
/// of the file's owner. Other processes may write concurrently.
pub fn verify(file: &Path, anchor: Option<Head>) -> Result<Verification, StoreError> {
    verify_against(file, anchor.as_slice())
}

/// Verifies the log against several anchors.
pub fn verify_against(file: &Path, noted: &[Head]) -> Result<Verification, StoreError> {
    // Skip page checksums: tampering must be reported by row, not as an unreadable page.
    let mut connection = sqlite::open_unverified(file)?;
    // Sealing writes the file before it deletes the rows, and one snapshot has consistent rows,
    // headers and head. Only pruning deletes files, so it is locked out.
    let folder = segment::folder_of(file);
    let _lock = folder.is_dir().then(|| SegmentLock::take(&folder).ok());
    let mut chain = Chain::after(None);
    for head in noted {
        chain.note(*head);
    }
    connection.transaction().map_err(sqlite::about(file)).and_then(|snapshot| {
        let segments = segment::headers(&snapshot).map_err(sqlite::about(file))?;
        let (fault, fault_file) = chain.take_segments(&segments, &folder)?;
        finish(&snapshot, chain, fault, i64::MIN)
            .map(|found| Verification { segments, fault_file, ..found })
            .map_err(sqlite::about(file))
    })
}

/// Verifies only the last `rows` of the log, trusting the row before them, and checks that the
/// sealed segments exist. Cheap enough for every server start.
pub fn verify_tail(file: &Path, rows: u32) -> Result<Verification, StoreError> {
    let found = walk_tail(file, rows)?;
    if found.fault.is_none_or(|fault| fault.kind != FaultKind::SegmentMissing) {
        return Ok(found);
    }
    // The segment may have been pruned between reading its header and its file.
    let _lock = SegmentLock::take(&segment::folder_of(file));
    walk_tail(file, rows)
}

fn walk_tail(file: &Path, rows: u32) -> Result<Verification, StoreError> {
    let mut connection = sqlite::open_unverified(file)?;
    let folder = segment::folder_of(file);
    let walked = connection.transaction().and_then(|snapshot| {
        let segments = segment::headers(&snapshot)?;
        let mut chain = Chain::after(None);
        let missing = segments.iter().find_map(|segment| {
            let is_there = segment.pruned_at.is_some() || folder.join(&segment.file).is_file();
            let fault = if is_there {
                chain.take_header(segment)
            } else {
                Some(Fault { sequence: segment.first, kind: FaultKind::SegmentMissing })
            };
            fault.map(|fault| (fault, segment.file.clone()))
        });
        let (fault, fault_file) = missing.unzip();
        let before = snapshot
            .query_row(
                "SELECT sequence, hash FROM audit \
                 WHERE sequence <= (SELECT max(sequence) FROM audit) - ?1 \
                 ORDER BY sequence DESC LIMIT 1",
                [rows],
                head,
            )
            .optional()?;
        // Audit rows of prunings may precede the tail.
        let last = before.or_else(|| segments.last().map(Segment::head));
        let after = last.map_or(i64::MIN, |last| last.sequence.cast_signed());
        let found = finish(&snapshot, Chain::after(last), fault, after)?;
        Ok(Verification { segments, fault_file, ..found })
    });
    walked.map_err(sqlite::about(file))
}

/// Verifies the rows after a sequence, unless a fault was already found.
fn finish(
    connection: &Connection,
    mut chain: Chain,
    mut fault: Option<Fault>,
    after: i64,
) -> rusqlite::Result<Verification> {
    if fault.is_none() {
        fault = chain.take_rows(connection, after)?;
    }
    if fault.is_none() {
        fault = chain.end(recorded_head(connection)?);
    }
    // A replaced row counts as valid until its successor contradicts it.
    let bad = fault.map_or(u64::MAX, |fault| fault.sequence);
    let head = chain.last.filter(|last| last.sequence < bad);
    let rows = chain.last.map_or(0, |last| last.sequence.min(bad.saturating_sub(1)));
    let (segments, fault_file, unchecked) = (Vec::new(), None, chain.unchecked);
    Ok(Verification { rows, head, fault, segments, fault_file, unchecked })
}

/// Query for the rows after a sequence, for the schema of any version.
pub(super) fn select(connection: &Connection) -> rusqlite::Result<String> {
    let sql = "SELECT count(*) FROM pragma_table_info('audit') WHERE name = 'format'";
    let has_format = connection.query_row(sql, (), |row| row.get::<_, i64>(0))? > 0;
    let columns = if has_format { COLUMNS } else { COLUMNS_BEFORE_FORMAT_2 };
    Ok(format!("SELECT {columns} FROM audit WHERE sequence > ?1 ORDER BY sequence"))
}

/// State of a verification.
pub struct Chain {
    /// The last row that fits.
    pub last: Option<Head>,
    /// Anchors by sequence.
    noted: BTreeMap<u64, ChainHash>,
    /// An anchor that contradicts another for the same row.
    contradiction: Option<u64>,
    /// Number of anchors inside pruned segments.
    unchecked: usize,
    /// Sequences that must record a pruning, with the header's hash and the segment's first row.
    prunings: BTreeMap<u64, (String, u64)>,
}

impl Chain {
    /// Starts after a trusted row.
    pub const fn after(last: Option<Head>) -> Self {
        Self {
            last,
            noted: BTreeMap::new(),
            contradiction: None,
            unchecked: 0,
            prunings: BTreeMap::new(),
        }
    }

    /// Adds an anchor.
    pub fn note(&mut self, head: Head) {
        let known = self.noted.insert(head.sequence, head.hash);
        if known.is_some_and(|known| known != head.hash) {
            self.contradiction.get_or_insert(head.sequence);
        }
    }

    /// Expected sequence and previous hash of the next row.
    fn next(&self) -> (u64, ChainHash) {
        self.last.map_or((1, ChainHash::GENESIS), |last| (last.sequence + 1, last.hash))
    }

    /// Verifies the segments; returns the fault and its file.
    fn take_segments(
        &mut self,
        segments: &[Segment],
        folder: &Path,
    ) -> Result<(Option<Fault>, Option<String>), StoreError> {
        for segment in segments {
            let fault = if segment.pruned_at.is_some() {
                self.take_pruned(segment)
            } else {
                self.take_segment(segment, folder)?
            };
            if fault.is_some() {
                return Ok((fault, Some(segment.file.clone())));
            }
        }
        Ok((None, None))
    }

    /// Verifies a header without its rows.
    fn take_header(&mut self, segment: &Segment) -> Option<Fault> {
        let fits = self.next() == (segment.first, segment.previous);
        let whole = segment.last.checked_sub(segment.first) == segment.rows.checked_sub(1);
        if !fits || !whole {
            return Some(Fault { sequence: segment.first, kind: FaultKind::SegmentAltered });
        }
        self.last = Some(segment.head());
        self.compare(segment.head())
    }

    fn take_pruned(&mut self, segment: &Segment) -> Option<Fault> {
        let fault = |kind| Some(Fault { sequence: segment.first, kind });
        let (Some(by), Ok(header)) = (segment.pruned_by, segment.fingerprint()) else {
            return fault(FaultKind::PruningUnrecorded);
        };
        self.prunings.insert(by, (header.hex().to_string(), segment.first));
        self.unchecked += self.noted.range(segment.first..segment.last).count();
        self.take_header(segment)
    }

    fn take_segment(
        &mut self,
        segment: &Segment,
        folder: &Path,
    ) -> Result<Option<Fault>, StoreError> {
        let fault = |kind| Ok(Some(Fault { sequence: segment.first, kind }));
        if self.next() != (segment.first, segment.previous) {
            return fault(FaultKind::SegmentAltered);
        }
        let bytes = match segment::read(folder, segment) {
            Ok(bytes) => bytes,
            Err(Unreadable::Missing) => return fault(FaultKind::SegmentMissing),
            Err(Unreadable::Altered) => return fault(FaultKind::SegmentAltered),
            Err(Unreadable::Io(source)) => {
                return Err(StoreError::Unopenable { file: folder.join(&segment.file), source });
            }
        };
        for row in segment::rows(&bytes) {
            let Some(row) = row else { return fault(FaultKind::SegmentAltered) };
            if let Some(found) = self.take(&row) {
                return Ok(Some(found));
            }
        }
        if self.last == Some(segment.head()) { Ok(None) } else { fault(FaultKind::SegmentAltered) }
    }

    /// Verifies the rows after a sequence. A row that belongs to a sealed segment or precedes the
    /// first row was added by another program.
    fn take_rows(
        &mut self,
        connection: &Connection,
        after: i64,
    ) -> rusqlite::Result<Option<Fault>> {
        let mut statement = connection.prepare(&select(connection)?)?;
        let mut rows = statement.query([after])?;
        while let Some(row) = rows.next()? {
            let fault = match ChainedRow::of(row) {
                Ok(row) => self.take(&row),
                // This program never writes such a type or length.
                Err(_) => {
                    let sequence = u64::try_from(row.get::<_, i64>(0)?).unwrap_or_default();
                    let (expected, _) = self.next();
                    Some(match sequence > expected {
                        true => Fault { sequence: expected, kind: FaultKind::Missing },
                        false => Fault { sequence, kind: FaultKind::Altered },
                    })
                }
            };
            if fault.is_some() {
                return Ok(fault);
            }
        }
        Ok(None)
    }

    /// Verifies the next row.
    pub fn take(&mut self, row: &ChainedRow) -> Option<Fault> {
        let ChainedRow { row: stored, previous, hash } = row;
        let found = u64::try_from(stored.sequence).unwrap_or_default();
        let (expected, before) = self.next();
        let fault = |sequence, kind| Some(Fault { sequence, kind });
        if found < expected {
            return fault(found, FaultKind::Unrecorded);
        }
        if found > expected {
            return fault(expected, FaultKind::Missing);
        }
        let whole = stored.hash(*previous) == Some(*hash);
        let linked = *previous == before;
        match (whole, linked) {
            (true, true) => {}
            (false, true) => return fault(found, FaultKind::Altered),
            (false, false) => return fault(found, FaultKind::Moved),
            // Its previous hash refers to another predecessor.
            (true, false) if found > 1 => return fault(found - 1, FaultKind::Replaced),
            (true, false) => return fault(found, FaultKind::Moved),
        }
        let head = Head { sequence: found, hash: *hash };
        self.last = Some(head);
        if let Some((header, first)) = self.prunings.remove(&found)
            && (stored.tool != PRUNE || stored.in_hash != header)
        {
            return fault(first, FaultKind::PruningUnrecorded);
        }
        self.compare(head)
    }

    /// Compares a row with its anchor.
    fn compare(&self, head: Head) -> Option<Fault> {
        let is_noted = self.noted.get(&head.sequence).is_none_or(|noted| *noted == head.hash)
            && self.contradiction != Some(head.sequence);
        (!is_noted).then_some(Fault { sequence: head.sequence, kind: FaultKind::NotAsNoted })
    }

    /// Compares the last row with the head record.
    pub fn end(&self, recorded: Option<Head>) -> Option<Fault> {
        let last = self.last.map_or(0, |last| last.sequence);
        let fault = |sequence, kind| Some(Fault { sequence, kind });
        let noted = self.noted.keys().next_back().copied().unwrap_or_default();
        let unrecorded = self.prunings.range(last + 1..).next();
        match (recorded, self.last) {
            (Some(head), _) if head.sequence > last => fault(last + 1, FaultKind::Missing),
            (Some(head), Some(_)) if head.sequence < last => {
                fault(head.sequence + 1, FaultKind::Unrecorded)
            }
            (Some(head), Some(row)) if head.hash != row.hash => fault(last, FaultKind::Replaced),
            (None, Some(_)) => fault(last, FaultKind::HeadMissing),
            (Some(_) | None, _) if noted > last => fault(last + 1, FaultKind::Missing),
            (Some(_), Some(_)) | (Some(_) | None, None) => {
                unrecorded.and_then(|(_, (_, first))| fault(*first, FaultKind::PruningUnrecorded))
            }
        }
    }
}

fn recorded_head(connection: &Connection) -> rusqlite::Result<Option<Head>> {
    connection.query_row("SELECT sequence, hash FROM head", (), head).optional()
}

pub(super) fn head(row: &Row<'_>) -> rusqlite::Result<Head> {
    let sequence = u64::try_from(row.get::<_, i64>(0)?).unwrap_or_default();
    Ok(Head { sequence, hash: ChainHash(row.get(1)?) })
}
