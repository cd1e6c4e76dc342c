//! Where runs are kept. A backend offers get and put of blobs and a small catalog, no more: what
//! the blobs mean is decided in `sealed`, so the same bytes can lie in SQLite or in PostgreSQL.

pub mod memory;
#[cfg(feature = "tools")]
pub mod sqlite;

use std::sync::Arc;

use crate::error::LogError;
use crate::event::Guid;
use crate::run::RunRecord;

/// What a blob is for. The codes are stored, so they never change.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum BlobKind {
    /// A batch of an open run.
    Batch,
    /// Lines of an open run's batch that gave no event.
    Rejections,
    /// What a sealed run is, as JSON.
    Head,
    /// Events of one type.
    Block,
    /// Times and kinds of a stretch of the run.
    Directory,
    /// The first time of each stretch.
    Times,
    /// Places of events that share a mark.
    Bitmap,
    /// Which values a dictionary's chunks begin with.
    DictionaryIndex,
    /// Values and their places.
    DictionaryChunk,
    /// The places of a frequent value.
    Posting,
    /// Sums of a column's blocks, and which events have a value.
    ColumnHead,
    /// Values of a column.
    ColumnBlock,
    /// Parents and children of a stretch of the run.
    Links,
    /// Which ids the chunks of ids begin with.
    IdIndex,
    /// Ids and their places.
    IdChunk,
    /// Orders that begin and end within a stretch of the run.
    OrdersLocal,
    /// When longer orders begin and end, and where their lists are.
    OrdersIndex,
    /// Longer orders.
    OrdersLong,
    /// Which longer orders are open at the start of a stretch.
    OrdersOpen,
}

impl BlobKind {
    const ALL: [Self; 19] = [
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
    ];

    /// The number it is stored under, from 1.
    pub fn code(self) -> u8 {
        let place = Self::ALL.iter().position(|kind| *kind == self).unwrap_or_default();
        u8::try_from(place + 1).unwrap_or_default()
    }
}

/// The name of a blob within a run.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct BlobKey {
    /// What it is for.
    pub kind: BlobKind,
    /// Which of its group, where the kind has groups (a type, a column, a dictionary).
    pub group: u16,
    /// Which one.
    pub number: u32,
}

impl BlobKey {
    /// The blob of this kind, group and number.
    pub const fn new(kind: BlobKind, group: u16, number: u32) -> Self {
        Self { kind, group, number }
    }

    /// The key as one number, ordered as the blobs are written.
    pub fn to_i64(self) -> i64 {
        i64::from(self.kind.code()) << 48 | i64::from(self.group) << 32 | i64::from(self.number)
    }
}

/// The blobs of one run.
pub trait Blobs: Send + Sync {
    /// The blob of this name, if there is one.
    fn get(&self, key: BlobKey) -> Result<Option<Vec<u8>>, LogError>;

    /// Keeps blobs: all of them or none.
    fn put(&self, blobs: Vec<(BlobKey, Vec<u8>)>) -> Result<(), LogError>;
}

/// Everything that is kept: the catalog, and for each run its blobs.
pub trait Store: Send + Sync {
    /// Every run, newest first.
    fn runs(&self) -> Result<Vec<RunRecord>, LogError>;

    /// One run.
    fn run(&self, id: Guid) -> Result<Option<RunRecord>, LogError>;

    /// Makes a run known, or says anew what is known of it.
    fn save(&self, record: &RunRecord) -> Result<(), LogError>;

    /// Forgets a run and all its blobs.
    fn delete(&self, id: Guid) -> Result<(), LogError>;

    /// The blobs of an open run.
    fn open_run(&self, id: Guid) -> Result<Arc<dyn Blobs>, LogError>;

    /// Everything put so far survives loss of power once this returns.
    fn make_durable(&self, id: Guid) -> Result<(), LogError>;

    /// An empty place for the blobs of a run that is being sealed.
    fn begin_seal(&self, id: Guid) -> Result<Arc<dyn Blobs>, LogError>;

    /// Gives up a seal that failed: what it wrote goes, and the run stays open.
    fn abandon_seal(&self, id: Guid) -> Result<(), LogError>;

    /// The sealed blobs take the place of the open ones, all at once.
    fn finish_seal(&self, record: &RunRecord) -> Result<(), LogError>;

    /// The blobs of a sealed run.
    fn sealed(&self, id: Guid) -> Result<Arc<dyn Blobs>, LogError>;

    /// A number that changes whenever a run is sealed or deleted, by whatever process.
    fn version(&self) -> u64;
}
