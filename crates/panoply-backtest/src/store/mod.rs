//! Storage of runs. A backend provides get and put of blobs and a small catalog; `sealed` defines
//! the content of the blobs, so the format is independent of the backend.

pub mod memory;
pub mod shared;
#[cfg(feature = "tools")]
pub mod sqlite;

use std::fmt;
use std::sync::Arc;

use crate::error::LogError;
use crate::event::Guid;
use crate::run::RunRecord;

/// The kind of a blob. Its code is stored and never changes.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum BlobKind {
    /// A batch of an open run.
    Batch = 1,
    /// Rejected lines of a batch; in a sealed run, the report of sealing.
    Rejections = 2,
    /// The head of a run, as JSON.
    Head = 3,
    /// Events of one type.
    Block = 4,
    /// Times and kinds of 4096 events.
    Directory = 5,
    /// The first time of each directory chunk.
    Times = 6,
    /// Events with one attribute.
    Bitmap = 7,
    /// The first value of each dictionary chunk.
    DictionaryIndex = 8,
    /// Dictionary values and their postings.
    DictionaryChunk = 9,
    /// The postings of a frequent value.
    Posting = 10,
    /// Statistics of a column's blocks, and the ranks that have a value.
    ColumnHead = 11,
    /// Values of a column.
    ColumnBlock = 12,
    /// Parents and children of 4096 events.
    Links = 13,
    /// The first id of each id chunk.
    IdIndex = 14,
    /// Fingerprints of ids and their seqs.
    IdChunk = 15,
    /// Orders placed and ended within one chunk.
    OrdersLocal = 16,
    /// Placement and end of long-lived orders, and their checkpoints.
    OrdersIndex = 17,
    /// Long-lived orders.
    OrdersLong = 18,
    /// A checkpoint of open long-lived orders.
    OrdersOpen = 19,
    /// Securities with a position, and their currencies.
    Securities = 20,
    /// The first fill of each chunk of fills.
    FillIndex = 21,
    /// The position after each fill.
    FillChunk = 22,
    /// Trades, from flat to flat.
    Trades = 23,
    /// Points of an equity curve.
    Curve = 24,
    /// Values of a text column, and the ranks that have one.
    TextColumnHead = 25,
    /// Codes of a text column.
    TextColumnBlock = 26,
    /// Statistics of a numeric column by the values of a text column.
    GroupStats = 27,
    /// Content hashes of chunks of events.
    Digest = 28,
}

impl BlobKind {
    const ALL: [Self; 28] = [
        Self::Batch,
        Self::Rejections,
        Self::Head,
        Self::Block,
        Self::Directory,
        Self::Times,
        Self::Bitmap,
        Self::DictionaryIndex,
        Self::DictionaryChunk,
        Self::Posting,
        Self::ColumnHead,
        Self::ColumnBlock,
        Self::Links,
        Self::IdIndex,
        Self::IdChunk,
        Self::OrdersLocal,
        Self::OrdersIndex,
        Self::OrdersLong,
        Self::OrdersOpen,
        Self::Securities,
        Self::FillIndex,
        Self::FillChunk,
        Self::Trades,
        Self::Curve,
        Self::TextColumnHead,
        Self::TextColumnBlock,
        Self::GroupStats,
        Self::Digest,
    ];

    /// The stored code, from 1.
    pub const fn code(self) -> u8 {
        self as u8
    }
}

/// The key of a blob within a run.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct BlobKey {
    /// The kind.
    pub kind: BlobKind,
    /// An event type, a column or a dictionary, for kinds that have groups.
    pub group: u16,
    /// The number within the group.
    pub number: u32,
}

impl BlobKey {
    /// A key from its parts.
    pub const fn new(kind: BlobKind, group: u16, number: u32) -> Self {
        Self { kind, group, number }
    }

    /// The stored form: kind, group and number in 8, 16 and 32 bits.
    pub fn to_i64(self) -> i64 {
        i64::from(self.kind.code()) << 48 | i64::from(self.group) << 32 | i64::from(self.number)
    }

    /// The key in its stored form, if its kind is known.
    pub fn of_i64(stored: i64) -> Option<Self> {
        let code = u8::try_from(stored >> 48).ok()?;
        let kind = BlobKind::ALL.into_iter().find(|kind| kind.code() == code)?;
        let group = u16::try_from(stored >> 32 & 0xFFFF).ok()?;
        Some(Self { kind, group, number: u32::try_from(stored & 0xFFFF_FFFF).ok()? })
    }
}

impl fmt::Display for BlobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}/{}", self.kind, self.group, self.number)
    }
}

/// The blobs of one run.
pub trait Blobs: Send + Sync {
    /// Returns a blob, if it exists.
    fn get(&self, key: BlobKey) -> Result<Option<Vec<u8>>, LogError>;

    /// Stores blobs atomically.
    fn put(&self, blobs: Vec<(BlobKey, Vec<u8>)>) -> Result<(), LogError>;

    /// The keys of all blobs, in ascending order. Fails for a key of an unknown kind.
    fn keys(&self) -> Result<Vec<BlobKey>, LogError>;
}

impl<T: Blobs + ?Sized> Blobs for &T {
    fn get(&self, key: BlobKey) -> Result<Option<Vec<u8>>, LogError> {
        (**self).get(key)
    }

    fn put(&self, blobs: Vec<(BlobKey, Vec<u8>)>) -> Result<(), LogError> {
        (**self).put(blobs)
    }

    fn keys(&self) -> Result<Vec<BlobKey>, LogError> {
        (**self).keys()
    }
}

impl<T: Blobs + ?Sized> Blobs for Arc<T> {
    fn get(&self, key: BlobKey) -> Result<Option<Vec<u8>>, LogError> {
        (**self).get(key)
    }

    fn put(&self, blobs: Vec<(BlobKey, Vec<u8>)>) -> Result<(), LogError> {
        (**self).put(blobs)
    }

    fn keys(&self) -> Result<Vec<BlobKey>, LogError> {
        (**self).keys()
    }
}

/// A storage backend: the catalog of runs, and the blobs of each.
pub trait Store: Send + Sync {
    /// All runs, newest first.
    fn runs(&self) -> Result<Vec<RunRecord>, LogError>;

    /// One run.
    fn run(&self, id: Guid) -> Result<Option<RunRecord>, LogError>;

    /// Creates or updates a run's catalog entry.
    fn save(&self, record: &RunRecord) -> Result<(), LogError>;

    /// Deletes a run and its blobs.
    fn delete(&self, id: Guid) -> Result<(), LogError>;

    /// The blobs of an open run.
    fn open_run(&self, id: Guid) -> Result<Arc<dyn Blobs>, LogError>;

    /// Syncs everything stored so far to disk.
    fn make_durable(&self, id: Guid) -> Result<(), LogError>;

    /// Starts a seal: excludes other writers and returns an empty place for the sealed blobs.
    fn begin_seal(&self, id: Guid) -> Result<Arc<dyn Blobs>, LogError>;

    /// Discards a failed seal; the run stays open.
    fn abandon_seal(&self, id: Guid) -> Result<(), LogError>;

    /// Replaces the open blobs by the sealed ones atomically.
    fn finish_seal(&self, record: &RunRecord) -> Result<(), LogError>;

    /// The blobs of a sealed run.
    fn sealed(&self, id: Guid) -> Result<Arc<dyn Blobs>, LogError>;

    /// Verifies everything stored besides the sealed runs, down to its checksums.
    fn verify(&self) -> Result<(), LogError> {
        Ok(())
    }

    /// A number that changes whenever any process seals or deletes a run.
    fn version(&self) -> u64;
}
