//! Storage of runs. A backend provides get and put of blobs and a small catalog; `sealed` defines
//! the content of the blobs, so the format is independent of the backend.

pub mod memory;
#[cfg(feature = "tools")]
pub mod sqlite;

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
}

impl BlobKind {
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
}

/// The blobs of one run.
pub trait Blobs: Send + Sync {
    /// Returns a blob, if it exists.
    fn get(&self, key: BlobKey) -> Result<Option<Vec<u8>>, LogError>;

    /// Stores blobs atomically.
    fn put(&self, blobs: Vec<(BlobKey, Vec<u8>)>) -> Result<(), LogError>;
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

    /// A number that changes whenever any process seals or deletes a run.
    fn version(&self) -> u64;
}
