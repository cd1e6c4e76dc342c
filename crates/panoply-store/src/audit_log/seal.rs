//! Retention: `seal` moves the oldest rows into a segment, `prune` deletes old segments.
//!
//! Both run concurrently with servers: a segment is written from a read transaction, and the write
//! lock is held only while its rows are replaced with its header. Every step is crash-safe:
//!
//! 1. The file is written under a temporary name, synced and renamed. A crash leaves a file
//!    without a header; its rows are still in the log, and the next run writes the file again.
//! 2. Header, removal of the rows and the audit row of the command are one transaction.
//! 3. Pruning first commits the `pruned` mark in the header. The next run deletes a file left by a
//!    crash.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::Timestamp;
use panoply_contract::audit::{Audit, AuditEntry, Fingerprint, Status};
use panoply_contract::context::Provenance;
use panoply_contract::error::ToolError;
use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest as _, Sha256};

use super::MIGRATIONS;
use super::row::{COLUMNS, ChainHash, ChainedRow};
use super::segment::{self, PARTIAL, Segment, SegmentLock};
use super::verify::{Chain, Fault, Head};
use super::writer;
use crate::error::StoreError;
use crate::migrate;
use crate::sqlite::{self, Durability};

/// Maximum number of rows in a segment: limits the write lock to a fraction of a second.
pub const ROWS_PER_SEGMENT: u64 = 100_000;

/// Tool name of the audit row for sealing.
const SEAL: &str = "panoply audit seal";
/// Tool name of the audit row for pruning.
pub(super) const PRUNE: &str = "panoply audit prune";

/// Why rows could not be sealed or segments could not be pruned.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// The log itself.
    #[error("{}", .0.chain())]
    Store(#[from] StoreError),
    /// A file of a segment.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Evidence of tampering must not be moved.
    #[error("the audit chain is broken, so nothing is sealed: {0}")]
    Broken(Fault),
    /// The audit row of the command could not be made.
    #[error("{}", .0.message)]
    Row(ToolError),
}

fn at(path: &Path) -> impl Fn(io::Error) -> SealError + '_ {
    move |source| SealError::Io { path: path.to_owned(), source }
}

/// Moves all rows before the first that is not older than `before` into segments of at most
/// `max_rows` rows. Without `before`, moves all rows.
pub fn seal(
    log: &Path,
    before: Option<Timestamp>,
    max_rows: u64,
    now: Timestamp,
) -> Result<Vec<Segment>, SealError> {
    let folder = segment::folder_of(log);
    let _lock = SegmentLock::take(&folder).map_err(at(&folder))?;
    let mut connection = migrate::open(log, Durability::Full, MIGRATIONS)?;
    remove_leftovers(&connection, log, &folder)?;
    let about = sqlite::about(log);
    // Exclude the audit rows of this run: sealing them would never terminate.
    let end: i64 = connection
        .query_row("SELECT coalesce(max(sequence), 0) FROM audit", (), |row| row.get(0))
        .map_err(&about)?;
    let mut sealed = Vec::new();
    let range = SealRange { before, end, max_rows };
    while let Some(segment) = write(&mut connection, log, &folder, &range, now)? {
        let entry = entry(SEAL, &segment, now)?;
        sqlite::transact(&mut connection, |transaction| {
            replace_rows_with_header(transaction, &segment, &entry)
        })
        .map_err(&about)?;
        sealed.push(segment);
    }
    Ok(sealed)
}

/// Deletes the files of segments whose rows are all older than `before`, oldest first. Headers
/// remain.
pub fn prune(log: &Path, before: Timestamp, now: Timestamp) -> Result<Vec<Segment>, SealError> {
    let folder = segment::folder_of(log);
    let _lock = SegmentLock::take(&folder).map_err(at(&folder))?;
    let mut connection = migrate::open(log, Durability::Full, MIGRATIONS)?;
    remove_leftovers(&connection, log, &folder)?;
    let about = sqlite::about(log);
    let mut pruned = Vec::new();
    for segment in segment::headers(&connection).map_err(&about)? {
        if segment.pruned_at.is_some() {
            continue;
        }
        if time(&segment.newest, log, segment.last)? >= before {
            break;
        }
        let entry = entry(PRUNE, &segment, now)?;
        sqlite::transact(&mut connection, |transaction| {
            mark_pruned(transaction, &segment, &entry, now)
        })
        .map_err(&about)?;
        remove(&folder, &segment.file)?;
        pruned.push(segment);
    }
    Ok(pruned)
}

struct SealRange {
    before: Option<Timestamp>,
    end: i64,
    max_rows: u64,
}

/// Writes the next segment; `None` when no row is left.
fn write(
    connection: &mut Connection,
    log: &Path,
    folder: &Path,
    range: &SealRange,
    now: Timestamp,
) -> Result<Option<Segment>, SealError> {
    let about = sqlite::about(log);
    let snapshot = connection.transaction().map_err(&about)?;
    let before = segment::headers(&snapshot).map_err(&about)?.last().map(Segment::head);
    let (first, previous) =
        before.map_or((1, ChainHash::GENESIS), |head| (head.sequence + 1, head.hash));
    let mut chain = Chain::after(before);
    let partial = folder.join(format!("{first}{PARTIAL}"));
    let mut output = SegmentWriter::create(&partial).map_err(at(&partial))?;
    let mut newest = Timestamp::MIN;
    {
        let sql = format!("SELECT {COLUMNS} FROM audit WHERE sequence <= ?1 ORDER BY sequence");
        let mut statement = snapshot.prepare(&sql).map_err(&about)?;
        let mut rows = statement.query([range.end]).map_err(&about)?;
        while let Some(row) = rows.next().map_err(&about)? {
            if output.rows == range.max_rows {
                break;
            }
            let row = ChainedRow::of(row).map_err(&about)?;
            let sequence = u64::try_from(row.row.sequence).unwrap_or_default();
            let made = time(&row.row.at, log, sequence)?;
            if range.before.is_some_and(|before| made >= before) {
                break;
            }
            if let Some(fault) = chain.take(&row) {
                return Err(SealError::Broken(fault));
            }
            newest = newest.max(made);
            output.line(&row).map_err(at(&partial))?;
        }
    }
    drop(snapshot);
    let rows = output.rows;
    let sha256 = output.finish().map_err(at(&partial))?;
    let Some(last) = chain.last.filter(|_| rows > 0) else {
        fs::remove_file(&partial).map_err(at(&partial))?;
        return Ok(None);
    };
    let file = segment::file_name(first, last);
    let place = folder.join(&file);
    fs::rename(&partial, &place).map_err(at(&place))?;
    sync_folder(folder)?;
    let newest = newest.to_string();
    let Head { sequence, hash } = last;
    Ok(Some(Segment {
        first,
        last: sequence,
        previous,
        hash,
        rows,
        newest,
        file,
        sha256,
        sealed_at: now.to_string(),
        pruned_at: None,
        pruned_by: None,
    }))
}

/// Deletes the rows of a segment and inserts its header.
fn replace_rows_with_header(
    transaction: &Connection,
    segment: &Segment,
    entry: &AuditEntry,
) -> rusqlite::Result<()> {
    transaction.execute(
        "INSERT INTO segment \
         (first, last, previous, hash, rows, newest, file, sha256, sealed_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            segment.first.cast_signed(),
            segment.last.cast_signed(),
            segment.previous.0,
            segment.hash.0,
            segment.rows.cast_signed(),
            segment.newest,
            segment.file,
            segment.sha256.0,
            segment.sealed_at,
        ],
    )?;
    transaction.execute("DELETE FROM audit WHERE sequence <= ?1", [segment.last.cast_signed()])?;
    writer::append(transaction, std::slice::from_ref(entry))
}

/// Appends the audit row of a pruning and references it in the segment's header.
fn mark_pruned(
    transaction: &Connection,
    segment: &Segment,
    entry: &AuditEntry,
    now: Timestamp,
) -> rusqlite::Result<()> {
    writer::append(transaction, std::slice::from_ref(entry))?;
    transaction
        .execute(
            "UPDATE segment SET pruned_at = ?2, pruned_by = (SELECT sequence FROM head) \
             WHERE first = ?1",
            params![segment.first.cast_signed(), now.to_string()],
        )
        .map(drop)
}

/// Removes files left by a crash: unfinished files, files whose rows are still in the log, and
/// files of pruned segments. Any other file belongs to another log and stays.
fn remove_leftovers(connection: &Connection, log: &Path, folder: &Path) -> Result<(), SealError> {
    let about = sqlite::about(log);
    let headers = segment::headers(connection).map_err(&about)?;
    for entry in fs::read_dir(folder).map_err(at(folder))? {
        let name = entry.map_err(at(folder))?.file_name().to_string_lossy().into_owned();
        let known = headers.iter().find(|segment| segment.file == name);
        let is_left = match (known, segment::range(&name)) {
            (Some(segment), _) => segment.pruned_at.is_some(),
            (None, Some((last, digits))) => {
                let hash = connection
                    .query_row(
                        "SELECT hash FROM audit WHERE sequence = ?1",
                        [last.cast_signed()],
                        |row| row.get(0).map(ChainHash),
                    )
                    .optional()
                    .map_err(&about)?;
                hash.is_some_and(|hash| hash.to_string().starts_with(digits))
            }
            (None, None) => name.ends_with(PARTIAL),
        };
        if is_left {
            remove(folder, &name)?;
        }
    }
    Ok(())
}

fn remove(folder: &Path, name: &str) -> Result<(), SealError> {
    let path = folder.join(name);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(&path)(error)),
        Ok(()) | Err(_) => sync_folder(folder),
    }
}

fn sync_folder(folder: &Path) -> Result<(), SealError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(at(folder))
}

fn time(text: &str, log: &Path, row: u64) -> Result<Timestamp, SealError> {
    let what = "the timestamp is not ISO 8601";
    let bad = |_| StoreError::BadRow { file: log.to_owned(), row, what };
    Ok(text.parse::<Timestamp>().map_err(bad)?)
}

/// Audit entry of a command; `in_hash` is the hash of the segment's header.
fn entry(tool: &str, segment: &Segment, now: Timestamp) -> Result<AuditEntry, SealError> {
    let hash: Fingerprint = segment.fingerprint().map_err(SealError::Row)?;
    Ok(AuditEntry {
        call_id: None,
        at: now,
        tool: tool.to_owned().into(),
        tool_version: env!("CARGO_PKG_VERSION").into(),
        partition: "local".to_owned(),
        agent_id: "panoply".to_owned(),
        trace_id: String::new(),
        provenance: Provenance::default(),
        count: 1,
        audit: Audit {
            in_hash: hash.hex(),
            out_hash: hash.hex(),
            latency_ms: 0,
            seed: hash.seed(),
            status: Status::Ok,
        },
        error_code: None,
        mutation: true,
    })
}

struct SegmentWriter {
    lines: GzEncoder<HashingWriter>,
    rows: u64,
}

impl SegmentWriter {
    fn create(path: &Path) -> io::Result<Self> {
        let mut options = File::options();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = BufWriter::new(options.open(path)?);
        let hashed = HashingWriter { file, hash: Sha256::new() };
        Ok(Self { lines: GzEncoder::new(hashed, Compression::default()), rows: 0 })
    }

    fn line(&mut self, row: &ChainedRow) -> io::Result<()> {
        serde_json::to_writer(&mut self.lines, row)?;
        self.lines.write_all(b"\n")?;
        self.rows += 1;
        Ok(())
    }

    /// Syncs the file; returns its SHA-256.
    fn finish(self) -> io::Result<ChainHash> {
        let HashingWriter { file, hash } = self.lines.finish()?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            file.set_permissions(fs::Permissions::from_mode(0o400))?;
        }
        Ok(ChainHash(hash.finalize().into()))
    }
}

/// Computes the SHA-256 of the bytes written.
struct HashingWriter {
    file: BufWriter<File>,
    hash: Sha256,
}

impl Write for HashingWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_all(bytes)?;
        self.hash.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
