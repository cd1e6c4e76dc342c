//! Page checksums: detects corrupted pages of every database when they are read.
//!
//! Implemented by a SQLite VFS (`csrc/page_checksum.c`) that registers itself when the program is
//! loaded. Each page ends with eight reserved bytes (offset 20 of the file header), which hold a
//! checksum of the page and its offset in the file. Every page read from the file is verified; a
//! mismatch is `SQLITE_IOERR_DATA`, which [`StoreError`] reports as damaged. See
//! docs/adr/0007-page-checksums.md for the decision.
//!
//! This module covers what the VFS cannot detect: a header whose reserved-bytes field is corrupted,
//! and files that predate checksums.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, ffi};

use crate::error::StoreError;
use crate::sqlite;

/// Name of the checksumming VFS.
pub const VFS: &str = "panoply-pages";

/// Reserved bytes at the end of a page.
const RESERVED: u8 = 8;
/// Offset of the reserved-bytes field in the database header.
const RESERVED_AT: usize = 20;

/// Checksum state according to the file header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Header {
    /// Empty file, or not a database.
    None,
    /// Pages have checksums.
    Checked,
    /// Pages have no checksums: an older file, or one of another program.
    Unchecked,
    /// Pages have checksums, but the reserved-bytes field is corrupted.
    Damaged,
}

/// Adds checksums to an older file, unless another program has it open; then the next start
/// retries.
pub(crate) fn require(file: &Path) -> Result<(), StoreError> {
    match header(file)? {
        Header::None | Header::Checked => Ok(()),
        Header::Damaged => Err(damaged_header(file)),
        Header::Unchecked => match convert(file) {
            Ok(()) => Ok(()),
            Err(error)
                if matches!(
                    error.sqlite_error_code(),
                    Some(
                        ErrorCode::DatabaseBusy
                            | ErrorCode::DatabaseLocked
                            | ErrorCode::ReadOnly
                            | ErrorCode::CannotOpen
                    )
                ) =>
            {
                tracing::info!(file = %file.display(), "another program has the file open; page checksums are added at a later start");
                Ok(())
            }
            Err(error) => Err(sqlite::store_error(file, error)),
        },
    }
}

/// Fails when the reserved-bytes field of the header is corrupted.
pub(crate) fn refuse_damaged_header(file: &Path) -> Result<(), StoreError> {
    match header(file)? {
        Header::Damaged => Err(damaged_header(file)),
        Header::None | Header::Checked | Header::Unchecked => Ok(()),
    }
}

fn damaged_header(file: &Path) -> StoreError {
    let code = ffi::Error::new(ffi::SQLITE_IOERR_DATA);
    let what = "checksum mismatch in page 1: the header is damaged".to_owned();
    sqlite::store_error(file, rusqlite::Error::SqliteFailure(code, Some(what)))
}

/// Rewrites every page with space for a checksum. Needs exclusive access: a connection opened
/// before would continue to write pages without checksums.
fn convert(file: &Path) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags_and_vfs(file, flags, VFS)?;
    connection.busy_timeout(Duration::ZERO)?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.execute_batch("BEGIN IMMEDIATE; COMMIT; VACUUM;")?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
}

fn header(file: &Path) -> Result<Header, StoreError> {
    let unopenable = |source| StoreError::Unopenable { file: file.to_owned(), source };
    let page = first_page(file).map_err(unopenable)?;
    let is_database = page.starts_with(b"SQLite format 3\0");
    Ok(match page.get(RESERVED_AT).copied() {
        Some(_) if !is_database => Header::None,
        None => Header::None,
        Some(RESERVED) => Header::Checked,
        Some(_) if agrees_with_reserved(page) => Header::Damaged,
        Some(_) => Header::Unchecked,
    })
}

/// The first page, possibly truncated.
fn first_page(file: &Path) -> io::Result<Vec<u8>> {
    let mut page = vec![0; 100];
    let mut file = File::open(file)?;
    let mut read = 0;
    while let Some(rest) = page.get_mut(read..).filter(|rest| !rest.is_empty()) {
        match file.read(rest)? {
            0 => break,
            more => read += more,
        }
        if read == 100
            && page.len() == 100
            && let Some(&[high, low]) = page.get(16..18)
            && page.get(RESERVED_AT) != Some(&RESERVED)
        {
            // The value 1 means 65536.
            let size = match u16::from_be_bytes([high, low]) {
                1 => 65536,
                size => usize::from(size),
            };
            page.resize(size.max(100), 0);
        }
    }
    page.truncate(read);
    Ok(page)
}

/// Whether the page has a valid checksum once its reserved-bytes field is corrected.
fn agrees_with_reserved(mut page: Vec<u8>) -> bool {
    if let Some(reserved) = page.get_mut(RESERVED_AT) {
        *reserved = RESERVED;
    }
    page.len().is_multiple_of(8)
        && page
            .split_last_chunk::<8>()
            .is_some_and(|(content, found)| *found == checksum(content, 0).to_le_bytes())
}

/// The checksum of a page without its last eight bytes, as `csrc/page_checksum.c` computes it.
fn checksum(content: &[u8], offset: u64) -> u64 {
    let (words, _) = content.as_chunks::<8>();
    let hash = words.iter().fold(0x9e37_79b9_7f4a_7c15 ^ offset, |hash, word| {
        let hash = (hash ^ u64::from_le_bytes(*word)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash ^ (hash >> 32)
    });
    hash.max(1)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::sqlite::Durability;

    const FILL: &str = "
        CREATE TABLE card (id INTEGER PRIMARY KEY, front TEXT NOT NULL, deck INTEGER) STRICT;
        CREATE INDEX card_by_deck ON card (deck, front);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
        INSERT INTO card SELECT i, 'front of ' || i, i % 7 FROM n;";

    fn filled(folder: &tempfile::TempDir) -> PathBuf {
        let file = folder.path().join("a.db");
        sqlite::open(&file, Durability::Full).unwrap().execute_batch(FILL).unwrap();
        file
    }

    /// Contents of each table, read through table and index.
    fn seen(file: &Path) -> Result<Vec<String>, StoreError> {
        let connection = sqlite::open(file, Durability::Full)?;
        let see = || {
            [
                "SELECT group_concat(id || front || deck) FROM card",
                "SELECT group_concat(front) FROM card INDEXED BY card_by_deck WHERE deck = 3",
                "SELECT count(*) || sum(id) FROM card WHERE id > 1500",
            ]
            .into_iter()
            .map(|sql| connection.query_row(sql, (), |row| row.get(0)))
            .collect::<rusqlite::Result<Vec<String>>>()
        };
        see().map_err(sqlite::about(file))
    }

    #[test]
    fn rust_and_vfs_compute_the_same_checksum() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = std::fs::read(filled(&folder)).unwrap();
        let (pages, rest) = bytes.as_chunks::<4096>();
        assert!(pages.len() > 20 && rest.is_empty());
        for (number, page) in (0u64..).zip(pages) {
            let (content, found) = page.split_last_chunk::<8>().unwrap();
            assert_eq!(*found, checksum(content, number * 4096).to_le_bytes(), "page {number}");
        }
    }

    #[test]
    fn every_bit_flip_that_changes_a_result_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = filled(&folder);
        let (whole, expected) = (std::fs::read(&file).unwrap(), seen(&file).unwrap());
        let mut random = 7_u64;
        let mut next = |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(random >> 33).unwrap() % below
        };
        // Every byte of the header, and offsets across the file.
        let places = (0..100).map(|at| (at, 1)).chain((0..200).map(|_| (usize::MAX, 16)));
        let mut found = 0;
        for (at, most) in places.collect::<Vec<_>>() {
            let (at, length) = (if at < 100 { at } else { next(whole.len() - 16) }, 1 + next(most));
            let mut damaged = whole.clone();
            for byte in &mut damaged[at..at + length] {
                *byte ^= u8::try_from(1 + next(255)).unwrap();
            }
            std::fs::write(&file, damaged).unwrap();
            match seen(&file) {
                Ok(seen) => assert_eq!(seen, expected, "{length} bytes at {at}"),
                Err(_) => found += 1,
            }
        }
        assert!(found > 150, "{found}");
    }

    #[test]
    fn a_corrupted_reserved_bytes_field_is_reported_as_damage() {
        let folder = tempfile::tempdir().unwrap();
        let file = filled(&folder);
        let mut bytes = std::fs::read(&file).unwrap();
        bytes[RESERVED_AT] = 0;
        std::fs::write(&file, bytes).unwrap();
        for opened in [sqlite::open(&file, Durability::Full), sqlite::open_read_only(&file)] {
            assert!(matches!(opened, Err(StoreError::Damaged { .. })), "{opened:?}");
        }
    }

    #[test]
    fn an_older_file_gets_checksums_when_no_other_program_has_it_open() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("old.db");
        let old = Connection::open(&file).unwrap();
        old.pragma_update(None, "journal_mode", "WAL").unwrap();
        old.execute_batch(FILL).unwrap();
        let expected = seen(&file).unwrap();
        assert_eq!(header(&file).unwrap(), Header::Unchecked, "another program has it open");
        drop(old);
        assert_eq!(seen(&file).unwrap(), expected);
        assert_eq!(header(&file).unwrap(), Header::Checked);
        assert_eq!(seen(&file).unwrap(), expected);
    }

    #[test]
    fn a_checkpoint_by_another_program_leaves_the_file_readable() {
        let folder = tempfile::tempdir().unwrap();
        let file = filled(&folder);
        let writer = sqlite::open(&file, Durability::Full).unwrap();
        writer.execute_batch("UPDATE card SET front = 'changed' WHERE id % 5 = 0").unwrap();
        // As after a crash: a WAL exists and no process has the file open.
        let copy = folder.path().join("copy.db");
        std::fs::copy(&file, &copy).unwrap();
        std::fs::copy(folder.path().join("a.db-wal"), folder.path().join("copy.db-wal")).unwrap();
        let other = Connection::open(&copy).unwrap();
        let count: i64 =
            other.query_row("SELECT count(*) FROM card", (), |row| row.get(0)).unwrap();
        assert_eq!(count, 3000);
        other.close().unwrap();
        assert!(!folder.path().join("copy.db-wal").exists(), "it wrote the log into the file");
        assert_eq!(seen(&copy).unwrap(), seen(&file).unwrap());
    }
}
