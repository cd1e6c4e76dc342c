//! Sealed segments: read-only files with a contiguous prefix of the chain, and their headers.
//!
//! A segment is gzip of JSON lines, one row a line in the order of the chain. Its header is a row
//! of the table `segment`. Its name holds the first and the last sequence and the first digits of
//! the last hash, so that files of two different logs never have one name.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use panoply_contract::audit::Fingerprint;
use panoply_contract::error::ToolError;
use rusqlite::{Connection, Row};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::row::{ChainHash, ChainedRow};
use super::verify::Head;
use crate::sqlite;

const EXTENSION: &str = ".jsonl.gz";
/// Extension of an unfinished file.
pub(super) const PARTIAL: &str = ".partial";
/// Larger files are rejected: this program never writes them.
const MAX_FILE_BYTES: u64 = 1 << 30;
/// Longer lines are rejected: this program never writes them.
const MAX_LINE_BYTES: u64 = 1 << 24;

/// The header of a segment.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Segment {
    /// Its first row.
    pub first: u64,
    /// Its last row.
    pub last: u64,
    /// The previous hash of the first row.
    pub previous: ChainHash,
    /// The hash of the last row.
    pub hash: ChainHash,
    /// How many rows it has.
    pub rows: u64,
    /// The latest timestamp of its rows.
    pub newest: String,
    /// The name of its file.
    pub file: String,
    /// The SHA-256 of its file.
    pub sha256: ChainHash,
    /// When it was sealed.
    pub sealed_at: String,
    /// When `prune` deleted its file.
    pub pruned_at: Option<String>,
    /// Sequence of the audit row that records the pruning.
    pub pruned_by: Option<u64>,
}

impl Segment {
    /// Its last row and that row's hash.
    pub(super) const fn head(&self) -> Head {
        Head { sequence: self.last, hash: self.hash }
    }

    /// Hash of the header: the `in_hash` of the audit rows for sealing and pruning.
    pub(super) fn fingerprint(&self) -> Result<Fingerprint, ToolError> {
        let header = json!({
            "first": self.first,
            "last": self.last,
            "previous": self.previous,
            "hash": self.hash,
            "rows": self.rows,
            "newest": self.newest,
            "file": self.file,
            "sha256": self.sha256,
            "sealedAt": self.sealed_at,
        });
        Fingerprint::of(&header).map(|(hash, _)| hash)
    }
}

/// The folder of the segments of a log.
pub fn folder_of(log: &Path) -> PathBuf {
    log.with_file_name("audit-segments")
}

/// Files of all segments that have not been pruned, in chain order.
pub fn files_of(log: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder_of(log)).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.file_name().is_some_and(|name| range(&name.to_string_lossy()).is_some())
        })
        .collect();
    files.sort();
    files
}

/// The name of the file with these rows.
pub(super) fn file_name(first: u64, last: Head) -> String {
    let digits: String = last.hash.to_string().chars().take(16).collect();
    format!("audit-{first:012}-{:012}-{digits}{EXTENSION}", last.sequence)
}

/// Parses a file name: the last row, and the first digits of its hash.
pub(super) fn range(name: &str) -> Option<(u64, &str)> {
    let mut parts = name.strip_prefix("audit-")?.strip_suffix(EXTENSION)?.split('-');
    let (first, last, digits) = (parts.next()?, parts.next()?, parts.next()?);
    let _first: u64 = first.parse().ok()?;
    let is_whole = parts.next().is_none() && digits.len() == 16;
    is_whole.then_some((last.parse().ok()?, digits))
}

/// File lock held while segments are created, deleted or copied. Released when the process exits.
#[derive(Debug)]
pub struct SegmentLock(#[expect(dead_code, reason = "the open file is the lock")] File);

impl SegmentLock {
    /// Waits for the lock. Creates the folder for this user only.
    pub fn take(folder: &Path) -> io::Result<Self> {
        sqlite::create_private_folder(folder)?;
        let path = folder.join(".lock");
        sqlite::create_private(&path)?;
        let file = File::options().write(true).open(path)?;
        file.lock()?;
        Ok(Self(file))
    }
}

/// The headers, in the order of their rows.
pub(super) fn headers(connection: &Connection) -> rusqlite::Result<Vec<Segment>> {
    if !has_segment_table(connection)? {
        return Ok(Vec::new());
    }
    let sql = "SELECT first, last, previous, hash, rows, newest, file, sha256, sealed_at, \
               pruned_at, pruned_by FROM segment ORDER BY first";
    connection.prepare(sql)?.query_map((), header)?.collect()
}

/// A log last written by an older version has no such table.
fn has_segment_table(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'segment'";
    connection.query_row(sql, (), |row| row.get::<_, i64>(0)).map(|tables| tables > 0)
}

fn header(row: &Row<'_>) -> rusqlite::Result<Segment> {
    let number = |column| row.get::<_, i64>(column).map(|it| u64::try_from(it).unwrap_or_default());
    Ok(Segment {
        first: number(0)?,
        last: number(1)?,
        previous: ChainHash(row.get(2)?),
        hash: ChainHash(row.get(3)?),
        rows: number(4)?,
        newest: row.get(5)?,
        file: row.get(6)?,
        sha256: ChainHash(row.get(7)?),
        sealed_at: row.get(8)?,
        pruned_at: row.get(9)?,
        pruned_by: row.get::<_, Option<i64>>(10)?.map(|it| u64::try_from(it).unwrap_or_default()),
    })
}

/// Why a segment cannot be read.
pub(super) enum Unreadable {
    Missing,
    /// The file does not match its header.
    Altered,
    Io(io::Error),
}

/// Reads a segment's file and compares it with its header.
pub(super) fn read(folder: &Path, segment: &Segment) -> Result<Vec<u8>, Unreadable> {
    if range(&segment.file).is_none() {
        // A header must not name a file outside the folder.
        return Err(Unreadable::Altered);
    }
    let file = match File::open(folder.join(&segment.file)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Unreadable::Missing),
        Err(error) => return Err(Unreadable::Io(error)),
    };
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES).read_to_end(&mut bytes).map_err(Unreadable::Io)?;
    let sha256 = ChainHash(Sha256::digest(&bytes).into());
    if sha256 == segment.sha256 { Ok(bytes) } else { Err(Unreadable::Altered) }
}

/// Parses the rows of a segment; `None` for an invalid line.
pub(super) fn rows(bytes: &[u8]) -> impl Iterator<Item = Option<ChainedRow>> {
    let mut lines = BufReader::new(GzDecoder::new(bytes));
    std::iter::from_fn(move || {
        let mut line = Vec::new();
        match (&mut lines).take(MAX_LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) => None,
            Ok(_) => Some(serde_json::from_slice(&line).ok()),
            Err(_) => Some(None),
        }
    })
}
