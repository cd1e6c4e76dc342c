//! Detects a damaged write-ahead log before SQLite reads it.
//!
//! SQLite ends the recovery of a log at the first frame with a wrong checksum: what follows is
//! normally the unfinished transaction of a crash. A flipped bit looks the same, and the committed
//! transactions behind it would be dropped silently. This module tells both apart by what a crash
//! cannot leave behind: transactions after the broken one, a complete commit frame with a wrong
//! checksum in a log that was never restarted, or salts of no generation of this log.
//!
//! Format: <https://www.sqlite.org/fileformat2.html#walformat>.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io, thread};

use crate::error::StoreError;

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
const MAGIC: u32 = 0x377f_0682;
/// A transaction of more frames may have spilled from SQLite's page cache; SQLite then corrects
/// checksums of earlier frames after it wrote the commit frame, and a crash can fall in between.
const SPILLED: usize = 400;
/// A running writer changes the log while it is scanned: damage counts when it stays.
const SETTLE: Duration = Duration::from_millis(40);

/// Fails when the log of a database is damaged. A missing log is in order.
pub(crate) fn verify(database: &Path) -> Result<(), StoreError> {
    let mut name = database.as_os_str().to_owned();
    name.push("-wal");
    let log = PathBuf::from(name);
    let unopenable = |source| StoreError::Unopenable { file: log.clone(), source };
    let Some(mut state) = scan(&log).map_err(unopenable)? else { return Ok(()) };
    loop {
        thread::sleep(SETTLE);
        match scan(&log).map_err(unopenable)? {
            Some(now) if now == state => break,
            Some(now) => state = now,
            None => return Ok(()),
        }
    }
    Err(StoreError::DamagedLog { file: log, frame: state.frame })
}

/// The damage of a log, with what identifies the version of the file.
#[derive(Debug, PartialEq)]
struct State {
    frame: usize,
    length: u64,
    modified: Option<SystemTime>,
}

fn scan(log: &Path) -> io::Result<Option<State>> {
    let metadata = match fs::metadata(log) {
        Ok(metadata) if metadata.len() > 0 => metadata,
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let bytes = fs::read(log)?;
    let (length, modified) = (metadata.len(), metadata.modified().ok());
    Ok(damaged_frame(&bytes).map(|frame| State { frame, length, modified }))
}

/// The salts of a generation of the log; every restart of the log makes new ones.
#[derive(Clone, Copy, PartialEq)]
struct Salts(u32, u32);

/// A frame of the log: the frame header, then the page.
#[derive(Clone, Copy)]
struct Frame<'a>(&'a [u8]);

impl<'a> Frame<'a> {
    /// Whether the frame ends a transaction: then it has the size of the database.
    fn commits(self) -> bool {
        word(self.0, 4) != 0
    }

    fn salts(self) -> Salts {
        Salts(word(self.0, 8), word(self.0, 12))
    }

    fn checksum(self) -> (u32, u32) {
        (word(self.0, 16), word(self.0, 20))
    }

    fn page(self) -> &'a [u8] {
        self.0.split_at(FRAME_HEADER).1
    }

    /// The checksum it should have after a frame with `previous`.
    fn sum(self, order: Order, previous: (u32, u32)) -> (u32, u32) {
        let (page_number_and_size, _) = self.0.split_at(8);
        order.sum(order.sum(previous, page_number_and_size), self.page())
    }

    fn has_empty_page(self) -> bool {
        self.page().iter().all(|byte| *byte == 0)
    }
}

/// The number of the first damaged frame, from 1; 0 is the header of the log.
fn damaged_frame(log: &[u8]) -> Option<usize> {
    let (header, frames) = log.split_at_checked(HEADER)?;
    if frames.len() < FRAME_HEADER || header.iter().all(|byte| *byte == 0) {
        return None;
    }
    let Some(header) = Header::parse(header) else { return Some(0) };
    let frames: Vec<Frame<'_>> =
        frames.chunks_exact(FRAME_HEADER + header.page_size).map(Frame).collect();
    let mut checksum = header.checksum;
    let mut last_commit = None;
    for (place, frame) in frames.iter().enumerate() {
        let summed = frame.sum(header.order, checksum);
        if frame.salts() != header.salts || summed != frame.checksum() {
            let after = Broken { header: &header, frames: &frames, place, last_commit };
            return after.is_damage().then_some(place + 1);
        }
        checksum = summed;
        if frame.commits() {
            last_commit = Some(place);
        }
    }
    None
}

/// The first frame that SQLite does not accept.
struct Broken<'a> {
    header: &'a Header,
    frames: &'a [Frame<'a>],
    place: usize,
    last_commit: Option<usize>,
}

impl Broken<'_> {
    /// Whether no crash explains the frame.
    fn is_damage(&self) -> bool {
        let Some(frame) = self.frames.get(self.place) else { return false };
        if frame.salts() != self.header.salts && !self.header.is_older(frame.salts()) {
            return true;
        }
        let is_commit = |place: &usize| {
            self.frames
                .get(*place)
                .is_some_and(|frame| frame.salts() == self.header.salts && frame.commits())
        };
        let later: Vec<usize> = (self.place + 1..self.frames.len()).filter(is_commit).collect();
        match later.as_slice() {
            [] => {
                let was_restarted = self.header.restarts > 0;
                is_commit(&self.place) && !was_restarted && !frame.has_empty_page()
            }
            [one] => one - self.last_commit.unwrap_or(0) < SPILLED,
            _ => true,
        }
    }
}

/// The header of the log.
struct Header {
    order: Order,
    page_size: usize,
    /// How often the log was restarted from its beginning over older frames.
    restarts: u32,
    salts: Salts,
    checksum: (u32, u32),
}

impl Header {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let order = match word(bytes, 0) {
            MAGIC => Order::Little,
            magic if magic == MAGIC | 1 => Order::Big,
            _ => return None,
        };
        let page_size = usize::try_from(word(bytes, 8)).ok()?;
        let is_page_size = page_size.is_power_of_two() && (512..=65_536).contains(&page_size);
        let checksum = (word(bytes, 24), word(bytes, 28));
        let is_valid = is_page_size && order.sum((0, 0), bytes.split_at(24).0) == checksum;
        is_valid.then(|| Self {
            order,
            page_size,
            restarts: word(bytes, 12),
            salts: Salts(word(bytes, 16), word(bytes, 20)),
            checksum,
        })
    }

    /// Whether these are salts of an earlier generation: a restart adds one to the first and
    /// draws the second.
    fn is_older(&self, salts: Salts) -> bool {
        let age = self.salts.0.wrapping_sub(salts.0);
        salts.1 != self.salts.1 && (1..=self.restarts).contains(&age)
    }
}

/// The byte order of checksums.
#[derive(Clone, Copy)]
enum Order {
    Little,
    Big,
}

impl Order {
    /// SQLite's checksum of words in pairs, continued from `start`.
    fn sum(self, start: (u32, u32), bytes: &[u8]) -> (u32, u32) {
        let read = |word: [u8; 4]| match self {
            Self::Little => u32::from_le_bytes(word),
            Self::Big => u32::from_be_bytes(word),
        };
        let (words, _) = bytes.as_chunks::<4>();
        let (pairs, _) = words.as_chunks::<2>();
        pairs.iter().fold(start, |(first, second), [one, two]| {
            let first = first.wrapping_add(read(*one)).wrapping_add(second);
            (first, second.wrapping_add(read(*two)).wrapping_add(first))
        })
    }
}

/// The big-endian word at `place`; zero beyond the end.
fn word(bytes: &[u8], place: usize) -> u32 {
    let word = bytes.get(place..).and_then(<[u8]>::first_chunk);
    word.map_or(0, |word| u32::from_be_bytes(*word))
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;
    use rusqlite::Connection;

    use super::*;
    use crate::sqlite::{self, Durability};

    /// A log of three small transactions and one of several frames, as a killed process leaves it.
    fn log_of_four_transactions() -> (tempfile::TempDir, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.db");
        let connection = sqlite::open(&file, Durability::Full).unwrap();
        connection.execute_batch("CREATE TABLE t (a TEXT) STRICT").unwrap();
        for text in ["one", "two"] {
            connection.execute("INSERT INTO t (a) VALUES (?1)", [text]).unwrap();
        }
        connection.execute("INSERT INTO t (a) VALUES (?1)", ["long ".repeat(5000)]).unwrap();
        let log = fs::read(folder.path().join("a.db-wal")).unwrap();
        (folder, log)
    }

    fn rows_after(folder: &Path, log: &[u8]) -> Option<i64> {
        let copy = folder.join("copy.db");
        let _ = fs::remove_file(folder.join("copy.db-shm"));
        fs::copy(folder.join("a.db"), &copy).unwrap();
        fs::write(folder.join("copy.db-wal"), log).unwrap();
        let connection = Connection::open(&copy).unwrap();
        connection.pragma_update(None, "synchronous", "OFF").ok()?;
        connection.query_row("SELECT count(*) FROM t", (), |row| row.get(0)).ok()
    }

    #[test]
    fn intact_and_cut_logs_are_no_damage() {
        let (folder, log) = log_of_four_transactions();
        assert_eq!(damaged_frame(&log), None);
        assert_eq!(rows_after(folder.path(), &log), Some(3));
        for length in 0..log.len() {
            assert_eq!(damaged_frame(&log[..length]), None, "cut to {length} bytes");
        }
    }

    #[test]
    fn a_crash_between_frame_header_and_page_is_no_damage() {
        let (_folder, log) = log_of_four_transactions();
        let frame = FRAME_HEADER + 4096;
        let mut torn = log.clone();
        let last_page = log.len() - 4096;
        torn[last_page..].fill(0);
        assert_eq!((log.len() - HEADER) % frame, 0);
        assert_eq!(damaged_frame(&torn), None);
    }

    #[test]
    fn frames_of_earlier_generations_and_rolled_back_ones_are_no_damage() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.db");
        let connection = sqlite::open(&file, Durability::Full).unwrap();
        connection.execute_batch("CREATE TABLE t (a TEXT) STRICT").unwrap();
        let long = "long ".repeat(5000);
        let log = || fs::read(folder.path().join("a.db-wal")).unwrap();
        connection.execute("INSERT INTO t (a) VALUES (?1)", [&long]).unwrap();
        connection.query_row("PRAGMA wal_checkpoint(RESTART)", (), |_| Ok(())).unwrap();
        connection.execute("INSERT INTO t (a) VALUES ('short')", ()).unwrap();
        assert_eq!(damaged_frame(&log()), None, "older frames follow");

        connection.pragma_update(None, "cache_size", 10).unwrap();
        connection.execute_batch("BEGIN").unwrap();
        for _ in 0..40 {
            connection.execute("INSERT INTO t (a) VALUES (?1)", [&long]).unwrap();
        }
        connection.execute_batch("ROLLBACK").unwrap();
        connection.execute("INSERT INTO t (a) VALUES ('short')", ()).unwrap();
        assert_eq!(damaged_frame(&log()), None, "spilled frames were rolled back");
    }

    #[test]
    fn open_refuses_a_damaged_log_and_keeps_it() {
        let (folder, mut log) = log_of_four_transactions();
        log[HEADER + FRAME_HEADER + 100] ^= 4;
        let copy = folder.path().join("copy.db");
        fs::copy(folder.path().join("a.db"), &copy).unwrap();
        fs::write(folder.path().join("copy.db-wal"), &log).unwrap();
        for opened in [sqlite::open(&copy, Durability::Full), sqlite::open_read_only(&copy)] {
            let error = opened.unwrap_err();
            assert!(matches!(error, StoreError::DamagedLog { frame: 1, .. }), "{error:?}");
        }
        assert_eq!(fs::read(folder.path().join("copy.db-wal")).unwrap(), log);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        /// SQLite itself is the judge of what a flip changes.
        #[test]
        fn flips_that_drop_transactions_are_found(
            place in any::<prop::sample::Index>(),
            noise in prop::collection::vec(1_u8.., 1..16),
        ) {
            static INTACT: LazyLock<(tempfile::TempDir, Vec<u8>)> =
                LazyLock::new(log_of_four_transactions);
            let (folder, log) = &*INTACT;
            let mut flipped = log.clone();
            let place = place.index(log.len() - noise.len());
            for (byte, noise) in flipped[place..].iter_mut().zip(&noise) {
                *byte ^= noise;
            }
            if rows_after(folder.path(), &flipped) != Some(3) {
                prop_assert!(damaged_frame(&flipped).is_some(), "{} bytes at {place}", noise.len());
            }
        }
    }
}
