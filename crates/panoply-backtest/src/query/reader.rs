//! Read access to a sealed run.

use std::ops::Range;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::cache::Cache;
use super::sequence::ChainSearchCache;
use crate::error::{LogError, Stop, check_stop};
use crate::event::{Category, Event, EventType, Guid, Parent, Severity};
use crate::ingest::{REPORT, SealReport};
use crate::line;
use crate::number::Number;
use crate::sealed::Weight;
use crate::sealed::block::{BLOCK_EVENTS, Block, Link, Row};
use crate::sealed::checksum::{ChecksummedBlobs, SealedBlobs};
use crate::sealed::codec;
use crate::sealed::column::{self, ColumnHead};
use crate::sealed::dictionary::{
    self, Dictionary, DictionaryChunk, DictionaryIndex, Postings, chunk_key, posting_key,
};
use crate::sealed::directory::{CHUNK_EVENTS, DirectoryChunk, Kind};
use crate::sealed::head::{Attribute, Head, OLDEST_EXPORTED};
use crate::sealed::ids::{IdChunk, IdIndex};
use crate::sealed::links::LinkChunk;
use crate::sealed::text_column::{Codes, TEXT_BLOCK, TextColumnHead, TextValue};
use crate::store::{BlobKey, BlobKind, Blobs};
use crate::timestamp::Timestamp;
use crate::validate::{self, Flags, Problem};

/// A sealed run. Cheap to open, shared between threads.
pub struct SealedRun {
    id: Guid,
    blobs: SealedBlobs,
    cache: Arc<Cache>,
    head: Head,
    /// The first time of each directory chunk.
    times: Vec<i64>,
    chain_searches: ChainSearchCache,
}

impl SealedRun {
    /// Opens a sealed run.
    pub fn open(id: Guid, blobs: Arc<dyn Blobs>, cache: Arc<Cache>) -> Result<Self, LogError> {
        let head = Head::open(&blobs)?;
        Self::with_head(id, head, ChecksummedBlobs::new(blobs), cache)
    }

    /// Opens a run to export it, also one that was sealed in the previous version of the format.
    pub fn open_for_export(
        id: Guid,
        blobs: Arc<dyn Blobs>,
        cache: Arc<Cache>,
    ) -> Result<Self, LogError> {
        match Head::of_older_format(&blobs).filter(|head| head.format >= OLDEST_EXPORTED) {
            Some(head) => {
                Self::with_head(id, head, ChecksummedBlobs::of_older_format(blobs), cache)
            }
            None => Self::open(id, blobs, cache),
        }
    }

    fn with_head(
        id: Guid,
        head: Head,
        blobs: SealedBlobs,
        cache: Arc<Cache>,
    ) -> Result<Self, LogError> {
        let times = blobs.require(BlobKey::new(BlobKind::Times, 0, 0))?;
        let times = codec::decompress(&times)?;
        let (times, _) = times.as_chunks::<8>();
        let times = times.iter().map(|time| i64::from_le_bytes(*time)).collect();
        Ok(Self { id, blobs, cache, head, times, chain_searches: ChainSearchCache::default() })
    }

    /// The run's id.
    pub const fn id(&self) -> Guid {
        self.id
    }

    pub(super) const fn chain_searches(&self) -> &ChainSearchCache {
        &self.chain_searches
    }

    /// The run's head.
    pub const fn head(&self) -> &Head {
        &self.head
    }

    /// Reads every blob and verifies its checksum, and that none is missing. Returns the number of
    /// blobs and of their bytes.
    pub fn verify(&self, stop: Stop<'_>) -> Result<(u64, u64), LogError> {
        let keys = self.blobs.keys()?;
        let mut bytes = 0;
        for key in &keys {
            check_stop(stop)?;
            bytes += self.blobs.require(*key)?.len() as u64;
        }
        if keys.len() as u64 != self.head.blobs {
            return Err(LogError::Damaged("the number of blobs differs from that in the head"));
        }
        Ok((keys.len() as u64, bytes))
    }

    /// The report of sealing.
    pub fn report(&self) -> Result<SealReport, LogError> {
        let json = self.blobs.require(REPORT)?;
        serde_json::from_slice(&json).map_err(|_| LogError::Damaged("unreadable seal report"))
    }

    /// Time of the last event.
    pub const fn last_time(&self) -> Timestamp {
        Timestamp::from_nanos(self.head.last)
    }

    /// The seqs of events from `start` to `end`, both inclusive.
    pub fn between(
        &self,
        start: Option<Timestamp>,
        end: Option<Timestamp>,
    ) -> Result<Range<u32>, LogError> {
        let from = match start {
            None => 0,
            Some(start) => self.first_seq_where(|time| time >= start.nanos())?,
        };
        let to = match end {
            None => self.head.events,
            Some(end) => self.first_seq_where(|time| time > end.nanos())?,
        };
        Ok(from..to.max(from))
    }

    /// The first seq whose time satisfies a monotonic predicate.
    fn first_seq_where(&self, passes: impl Fn(i64) -> bool) -> Result<u32, LogError> {
        let stretch = self.times.partition_point(|time| !passes(*time));
        let Some(stretch) = stretch.checked_sub(1) else { return Ok(0) };
        let chunk = self.directory(codec::count(stretch))?;
        let within = chunk.times.partition_point(|time| !passes(*time));
        Ok(codec::count(stretch) * CHUNK_EVENTS + codec::count(within))
    }

    /// The last seq at or before a timestamp.
    pub fn last_at(&self, timestamp: Timestamp) -> Result<Option<u32>, LogError> {
        Ok(self.between(None, Some(timestamp))?.end.checked_sub(1))
    }

    /// The event at a seq.
    pub fn event(&self, seq: u32) -> Result<StoredEvent, LogError> {
        let event = self.event_without_texts(seq)?;
        event.block.decompress_texts()?;
        Ok(event)
    }

    fn event_without_texts(&self, seq: u32) -> Result<StoredEvent, LogError> {
        let (kind, rank) = self.kind_and_rank(seq)?;
        let code = u16::from(kind.event_type().code());
        let number = rank / codec::count(BLOCK_EVENTS);
        let block = self.cached(BlobKey::new(BlobKind::Block, code, number), Block::read)?;
        let index = (rank % codec::count(BLOCK_EVENTS)) as usize;
        match block.rows.get(index) {
            Some(row) if row.seq == seq => Ok(StoredEvent { block, index }),
            _ => Err(LogError::Damaged("an event is not in its block")),
        }
    }

    /// The id of the event at a seq.
    pub fn id_at(&self, seq: u32) -> Result<Guid, LogError> {
        self.event_without_texts(seq).map(|event| event.id())
    }

    /// The id of an event's parent.
    pub fn parent_id(&self, event: &StoredEvent) -> Result<Option<Guid>, LogError> {
        match event.row().map_or(Link::None, |row| row.parent) {
            Link::None | Link::Unreadable => Ok(None),
            Link::Id(id) => Ok(Some(id)),
            Link::Seq(seq) => self.id_at(seq).map(Some),
        }
    }

    /// The seq of the event with this id.
    pub fn find(&self, id: Guid) -> Result<Option<u32>, LogError> {
        let index = self.cached(BlobKey::new(BlobKind::IdIndex, 0, 0), IdIndex::read)?;
        for number in index.chunks_of(id) {
            let chunk = self.cached(BlobKey::new(BlobKind::IdChunk, 0, number), IdChunk::read)?;
            for seq in chunk.candidates(id) {
                if self.id_at(seq)? == id {
                    return Ok(Some(seq));
                }
            }
        }
        Ok(None)
    }

    /// The event as it was imported.
    pub fn original_event(&self, stored: &StoredEvent) -> Result<Event<'static>, LogError> {
        let row = stored.row().ok_or(LogError::Damaged("an event is not in its block"))?;
        let parent = match row.parent {
            Link::None => Parent::None,
            Link::Unreadable => Parent::Unreadable,
            Link::Id(id) => Parent::Id(id),
            Link::Seq(seq) => Parent::Id(self.id_at(seq)?),
        };
        Ok(Event {
            id: row.id,
            timestamp: row.timestamp,
            event_type: row.event_type,
            severity: row.severity,
            category: row.category,
            properties: stored.properties().to_owned().into(),
            parent,
            original: stored.block.original(row).map(|text| text.to_owned().into()),
        })
    }

    /// Yields every line as it was imported, in order of arrival.
    pub fn export(
        &self,
        mut line: impl FnMut(&str) -> Result<(), LogError>,
    ) -> Result<(), LogError> {
        let export_event = |seq: u32| {
            let stored = self.event(seq)?;
            let event = self.original_event(&stored)?;
            match &event.original {
                Some(original) => line(original),
                None => line(&line::format_line(self.id, &event)),
            }
        };
        self.arrivals()?.into_iter().try_for_each(export_event)
    }

    /// The seqs in order of arrival.
    pub(crate) fn arrivals(&self) -> Result<Vec<u32>, LogError> {
        let seqs = 0..self.head.events;
        if self.head.in_order {
            return Ok(seqs.collect());
        }
        let mut order: Vec<(u32, u32)> = Vec::with_capacity(self.head.events as usize);
        for seq in seqs {
            order.push((self.event(seq)?.row().map_or(seq, |row| row.arrival), seq));
        }
        order.sort_unstable();
        Ok(order.into_iter().map(|(_, seq)| seq).collect())
    }

    pub(crate) fn kind_and_rank(&self, seq: u32) -> Result<(Kind, u32), LogError> {
        let chunk = self.directory(seq / CHUNK_EVENTS)?;
        chunk
            .at((seq % CHUNK_EVENTS) as usize)
            .ok_or(LogError::Damaged("a sequence number is outside the run"))
    }

    pub(crate) fn directory(&self, number: u32) -> Result<Arc<DirectoryChunk>, LogError> {
        self.cached(BlobKey::new(BlobKind::Directory, 0, number), DirectoryChunk::read)
    }

    pub(crate) fn links(&self, number: u32) -> Result<Arc<LinkChunk>, LogError> {
        self.cached(BlobKey::new(BlobKind::Links, 0, number), |blob| LinkChunk::read(number, blob))
    }

    /// Like [`links`](Self::links) without the cache, for a scan of all chunks.
    pub(crate) fn links_uncached(&self, number: u32) -> Result<LinkChunk, LogError> {
        let key = BlobKey::new(BlobKind::Links, 0, number);
        LinkChunk::read(number, &self.blobs.require(key)?)
    }

    pub(crate) fn bitmap(&self, attribute: Attribute) -> Result<Arc<RoaringBitmap>, LogError> {
        self.cached(attribute.key(), dictionary::read_bitmap)
    }

    pub(crate) fn column_head(&self, group: u16) -> Result<Arc<ColumnHead>, LogError> {
        self.cached(BlobKey::new(BlobKind::ColumnHead, group, 0), ColumnHead::read)
    }

    pub(crate) fn column_values(
        &self,
        group: u16,
        number: u32,
    ) -> Result<Arc<Vec<Number>>, LogError> {
        self.cached(BlobKey::new(BlobKind::ColumnBlock, group, number), column::read_values)
    }

    /// The number of a text column, if the property has one.
    pub(crate) fn text_column(&self, event_type: EventType, path: &str) -> Option<u16> {
        let found = self.head.text_columns.iter().position(|column| {
            column.event_type == event_type.code() && column.path == path && column.values.is_some()
        });
        found.and_then(|number| u16::try_from(number).ok())
    }

    pub(crate) fn text_head(&self, column: u16) -> Result<Arc<TextColumnHead>, LogError> {
        self.cached(BlobKey::new(BlobKind::TextColumnHead, column, 0), TextColumnHead::read)
    }

    pub(crate) fn text_codes(&self, column: u16, number: u32) -> Result<Arc<Codes>, LogError> {
        self.cached(BlobKey::new(BlobKind::TextColumnBlock, column, number), Codes::read)
    }

    /// The value in a text column of the event with this rank.
    pub(crate) fn text_at(&self, column: u16, rank: u32) -> Result<Option<TextValue>, LogError> {
        let head = self.text_head(column)?;
        if !head.presence.contains(rank) {
            return Ok(None);
        }
        let place = codec::count(usize::try_from(head.presence.rank(rank) - 1).unwrap_or_default());
        let codes = self.text_codes(column, place / TEXT_BLOCK)?;
        let code = codes.0.get((place % TEXT_BLOCK) as usize);
        Ok(code.and_then(|code| head.values.get(usize::from(*code))).cloned())
    }

    pub(crate) fn dictionary(
        &self,
        dictionary: Dictionary,
    ) -> Result<Arc<DictionaryIndex>, LogError> {
        self.cached(
            BlobKey::new(BlobKind::DictionaryIndex, dictionary.code(), 0),
            DictionaryIndex::read,
        )
    }

    pub(crate) fn dictionary_chunk(
        &self,
        dictionary: Dictionary,
        number: u32,
    ) -> Result<Arc<DictionaryChunk>, LogError> {
        self.cached(chunk_key(dictionary, number), DictionaryChunk::read)
    }

    /// The postings of a value.
    pub(crate) fn postings(
        &self,
        dictionary: Dictionary,
        value: &str,
    ) -> Result<Option<Postings>, LogError> {
        let Some(number) = self.dictionary(dictionary)?.chunk_of(value) else { return Ok(None) };
        Ok(self.dictionary_chunk(dictionary, number)?.find(value).cloned())
    }

    /// Postings as a bitmap.
    pub(crate) fn posting_bitmap(
        &self,
        dictionary: Dictionary,
        postings: &Postings,
    ) -> Result<Arc<RoaringBitmap>, LogError> {
        match postings {
            Postings::Inline(postings) => Ok(Arc::new(postings.iter().copied().collect())),
            Postings::Bitmap { posting, .. } => {
                self.cached(posting_key(dictionary, *posting), dictionary::read_bitmap)
            }
        }
    }

    /// All values of a dictionary with their postings, sorted by value.
    pub(crate) fn values(
        &self,
        dictionary: Dictionary,
        limit: usize,
    ) -> Result<Vec<(Box<str>, Postings)>, LogError> {
        let mut values = Vec::new();
        for number in 0..self.dictionary(dictionary)?.chunks() {
            let chunk = self.dictionary_chunk(dictionary, number)?;
            values.extend(chunk.0.iter().take(limit.saturating_sub(values.len())).cloned());
            if values.len() >= limit {
                break;
            }
        }
        Ok(values)
    }

    /// The decoded blob, through the cache.
    pub(crate) fn cached<T: Weight>(
        &self,
        key: BlobKey,
        read: impl FnOnce(&[u8]) -> Result<T, LogError>,
    ) -> Result<Arc<T>, LogError> {
        self.cache.get_or_load(self.id, key, || read(&self.blobs.require(key)?))
    }
}

/// An event of a sealed run.
#[derive(Clone)]
pub struct StoredEvent {
    block: Arc<Block>,
    index: usize,
}

impl StoredEvent {
    pub(crate) fn row(&self) -> Option<&Row> {
        self.block.rows.get(self.index)
    }

    /// The sequence number in order of time.
    pub fn seq(&self) -> u32 {
        self.row().map_or(0, |row| row.seq)
    }

    /// The event's id.
    pub fn id(&self) -> Guid {
        self.row().map_or(Guid::new(0), |row| row.id)
    }

    /// The simulated time.
    pub fn timestamp(&self) -> Timestamp {
        self.row().map_or(Timestamp::MIN, |row| row.timestamp)
    }

    /// The event type.
    pub fn event_type(&self) -> EventType {
        self.row().map_or(EventType::StateChange, |row| row.event_type)
    }

    /// The severity.
    pub fn severity(&self) -> Severity {
        self.row().map_or(Severity::Debug, |row| row.severity)
    }

    /// The category.
    pub fn category(&self) -> Category {
        self.row().map_or(Category::Performance, |row| row.category)
    }

    /// The properties, byte for byte.
    pub fn properties(&self) -> &str {
        self.row().map_or("null", |row| self.block.properties(row))
    }

    /// The parent's seq, if it is in the run.
    pub fn parent_seq(&self) -> Option<u32> {
        match self.row()?.parent {
            Link::Seq(seq) => Some(seq),
            Link::None | Link::Id(_) | Link::Unreadable => None,
        }
    }

    /// The validation problems.
    pub fn problems(&self) -> Vec<Problem> {
        let flags = self.row().map_or(Flags::default(), |row| row.flags);
        let original = self.row().and_then(|row| self.block.original(row));
        validate::all(self.event_type(), self.properties(), flags, original)
    }
}
