//! A dictionary maps a value (a symbol, an order id) to the postings: the seqs of its events.
//!
//! Values are sorted and split into chunks. A rare value has its postings inline; a frequent one
//! has a Roaring bitmap, whose rank and select do not depend on the number of postings.

use std::collections::HashMap;

use roaring::RoaringBitmap;

use super::Weight;
use super::codec::{self, Reader, count, put_text, put_varint};
use crate::error::LogError;
use crate::store::{BlobKey, BlobKind};

/// A value with more postings gets a bitmap.
const MAX_INLINE_POSTINGS: usize = 256;
/// Target size of a chunk before compression.
const CHUNK_BYTES: usize = 16 << 10;

/// The dictionaries of a run. Their codes are stored.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Dictionary {
    /// `OrderId` and `ExternalOrderId`.
    Order,
    Symbol,
    Position,
    Indicator,
    /// Valid position updates, by listing.
    PositionState,
    /// Valid indicator values, by name and symbol.
    IndicatorState,
    /// State changes of profit and loss, by currency.
    PnlState,
    /// Market data with a price, by listing.
    PriceState,
    /// Fills that changed a position, by listing.
    FillState,
}

/// The entities by which the statistics of columns are grouped.
pub(crate) const GROUPED: [Dictionary; 3] =
    [Dictionary::Symbol, Dictionary::Position, Dictionary::Indicator];

impl Dictionary {
    pub(crate) const fn code(self) -> u16 {
        match self {
            Self::Order => 0,
            Self::Symbol => 1,
            Self::Position => 2,
            Self::Indicator => 3,
            Self::PositionState => 4,
            Self::IndicatorState => 5,
            Self::PnlState => 6,
            Self::PriceState => 7,
            Self::FillState => 8,
        }
    }
}

/// Collects postings in ascending order.
#[derive(Debug)]
pub(crate) struct DictionaryWriter {
    values: Vec<(Box<str>, Vec<u32>)>,
    /// Index into `values`.
    index_of_value: HashMap<Box<str>, usize>,
    /// Direct-mapped cache of recent indexes by [`recent_slot`]: a run has few securities and
    /// indicators, and a string comparison is cheaper than a hash lookup.
    recent: [usize; RECENT_SLOTS],
}

/// A power of two.
const RECENT_SLOTS: usize = 64;

/// A cheap hash of a value.
fn recent_slot(value: &str) -> usize {
    let bytes = value.as_bytes();
    let at = |index: usize| bytes.get(index).copied().map_or(0, usize::from);
    let last = bytes.len().saturating_sub(1);
    (at(last) + at(0) * 5 + at(last / 2) * 17 + bytes.len() * 3) % RECENT_SLOTS
}

impl Default for DictionaryWriter {
    fn default() -> Self {
        Self { values: Vec::new(), index_of_value: HashMap::new(), recent: [0; RECENT_SLOTS] }
    }
}

impl DictionaryWriter {
    /// Adds a posting. Returns the code of the value: its index in order of first occurrence.
    pub(crate) fn push(&mut self, value: &str, seq: u32) -> u32 {
        let slot = recent_slot(value);
        let recent = self.recent.get(slot).copied().unwrap_or_default();
        let index = match self.values.get(recent) {
            Some((own, _)) if **own == *value => recent,
            _ => self.index_or_insert(value),
        };
        if let Some(recent) = self.recent.get_mut(slot) {
            *recent = index;
        }
        if let Some((_, postings)) = self.values.get_mut(index)
            && postings.last() != Some(&seq)
        {
            postings.push(seq);
        }
        count(index)
    }

    /// The value with a code.
    pub(crate) fn value(&self, code: u32) -> Option<&str> {
        self.values.get(code as usize).map(|(value, _)| &**value)
    }

    fn index_or_insert(&mut self, value: &str) -> usize {
        if let Some(index) = self.index_of_value.get(value) {
            return *index;
        }
        let index = self.values.len();
        self.index_of_value.insert(value.into(), index);
        self.values.push((value.into(), Vec::new()));
        index
    }

    pub(crate) fn finish(
        self,
        dictionary: Dictionary,
        out: &mut Vec<(BlobKey, Vec<u8>)>,
    ) -> Result<(), LogError> {
        let mut values = self.values;
        values.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let (mut index, mut chunk, mut chunks, mut bitmap_count) = (Vec::new(), Vec::new(), 0, 0);
        put_varint(&mut index, values.len() as u64);
        for (value, postings) in values {
            if chunk.is_empty() {
                put_text(&mut index, &value);
            }
            put_text(&mut chunk, &value);
            put_varint(&mut chunk, postings.len() as u64);
            if postings.len() <= MAX_INLINE_POSTINGS {
                let mut last = 0;
                for seq in &postings {
                    put_varint(&mut chunk, u64::from(seq - last));
                    last = *seq;
                }
            } else {
                put_varint(&mut chunk, u64::from(bitmap_count));
                put_varint(&mut chunk, u64::from(postings.first().copied().unwrap_or_default()));
                let key = BlobKey::new(BlobKind::Posting, dictionary.code(), bitmap_count);
                out.push((
                    key,
                    bitmap_blob(
                        &RoaringBitmap::from_sorted_iter(postings).map_err(LogError::store)?,
                    )?,
                ));
                bitmap_count += 1;
            }
            if chunk.len() >= CHUNK_BYTES {
                out.push((
                    chunk_key(dictionary, chunks),
                    codec::compress(&chunk, codec::SEALED_LEVEL)?,
                ));
                chunk.clear();
                chunks += 1;
            }
        }
        if !chunk.is_empty() {
            out.push((
                chunk_key(dictionary, chunks),
                codec::compress(&chunk, codec::SEALED_LEVEL)?,
            ));
        }
        let key = BlobKey::new(BlobKind::DictionaryIndex, dictionary.code(), 0);
        out.push((key, codec::compress(&index, codec::SEALED_LEVEL)?));
        Ok(())
    }
}

pub(crate) const fn chunk_key(dictionary: Dictionary, number: u32) -> BlobKey {
    BlobKey::new(BlobKind::DictionaryChunk, dictionary.code(), number)
}

pub(crate) const fn posting_key(dictionary: Dictionary, number: u32) -> BlobKey {
    BlobKey::new(BlobKind::Posting, dictionary.code(), number)
}

/// The first value of each chunk.
#[derive(Debug, Default)]
pub(crate) struct DictionaryIndex {
    /// Number of values.
    pub(crate) values: u64,
    firsts: Vec<Box<str>>,
}

impl DictionaryIndex {
    pub(crate) fn read(blob: &[u8]) -> Result<Self, LogError> {
        let bytes = codec::decompress(blob)?;
        let mut reader = Reader(&bytes);
        let values = reader.varint()?;
        let mut firsts = Vec::new();
        while !reader.is_empty() {
            firsts.push(reader.text()?.into());
        }
        Ok(Self { values, firsts })
    }

    /// The chunk that contains `value` if any does.
    pub(crate) fn chunk_of(&self, value: &str) -> Option<u32> {
        self.firsts.partition_point(|first| **first <= *value).checked_sub(1).map(count)
    }

    pub(crate) fn chunks(&self) -> u32 {
        count(self.firsts.len())
    }
}

impl Weight for DictionaryIndex {
    fn weight(&self) -> usize {
        self.firsts.iter().map(|first| first.len() + 16).sum::<usize>() + 64
    }
}

/// The postings of a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Postings {
    Inline(Vec<u32>),
    /// In the blob `posting`.
    Bitmap {
        posting: u32,
        first: u32,
        count: u64,
    },
}

impl Postings {
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Inline(postings) => postings.len() as u64,
            Self::Bitmap { count, .. } => *count,
        }
    }

    pub(crate) fn first(&self) -> Option<u32> {
        match self {
            Self::Inline(postings) => postings.first().copied(),
            Self::Bitmap { first, .. } => Some(*first),
        }
    }
}

/// The values of a chunk, sorted.
#[derive(Debug)]
pub(crate) struct DictionaryChunk(pub(crate) Vec<(Box<str>, Postings)>);

impl DictionaryChunk {
    pub(crate) fn read(blob: &[u8]) -> Result<Self, LogError> {
        let bytes = codec::decompress(blob)?;
        let mut reader = Reader(&bytes);
        let mut values = Vec::new();
        while !reader.is_empty() {
            let value = reader.text()?.into();
            let length = reader.length()?;
            let postings = if length <= MAX_INLINE_POSTINGS {
                let mut index = 0_u32;
                let mut postings = Vec::with_capacity(length);
                for _ in 0..length {
                    index = index.wrapping_add(reader.varint_u32()?);
                    postings.push(index);
                }
                Postings::Inline(postings)
            } else {
                Postings::Bitmap {
                    posting: reader.varint_u32()?,
                    first: reader.varint_u32()?,
                    count: length as u64,
                }
            };
            values.push((value, postings));
        }
        Ok(Self(values))
    }

    pub(crate) fn find(&self, value: &str) -> Option<&Postings> {
        let index = self.0.binary_search_by(|(found, _)| (**found).cmp(value)).ok()?;
        self.0.get(index).map(|(_, postings)| postings)
    }
}

impl Weight for DictionaryChunk {
    fn weight(&self) -> usize {
        self.0
            .iter()
            .map(|(value, postings)| value.len() + 64 + postings.count().min(256) as usize * 4)
            .sum()
    }
}

impl Weight for RoaringBitmap {
    fn weight(&self) -> usize {
        self.serialized_size() + 64
    }
}

/// Encodes a bitmap in the portable Roaring format, compressed.
pub(crate) fn bitmap_blob(bitmap: &RoaringBitmap) -> Result<Vec<u8>, LogError> {
    let mut optimised = bitmap.clone();
    optimised.optimize();
    let mut bytes = Vec::with_capacity(optimised.serialized_size());
    optimised.serialize_into(&mut bytes).map_err(LogError::store)?;
    codec::compress(&bytes, codec::SEALED_LEVEL)
}

/// Decodes [`bitmap_blob`].
pub(crate) fn read_bitmap(blob: &[u8]) -> Result<RoaringBitmap, LogError> {
    let bytes = codec::decompress(blob)?;
    RoaringBitmap::deserialize_from(bytes.as_slice())
        .map_err(|_| LogError::Damaged("a bitmap cannot be read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dictionary_finds_inline_and_bitmap_postings() {
        let mut writer = DictionaryWriter::default();
        for seq in 0..20_000 {
            writer.push("EURUSD", seq);
            writer.push(&format!("order {:05}", seq / 3), seq);
        }
        let mut blobs = Vec::new();
        writer.finish(Dictionary::Order, &mut blobs).unwrap();
        let blobs: HashMap<BlobKey, Vec<u8>> = blobs.into_iter().collect();
        let index_key = BlobKey::new(BlobKind::DictionaryIndex, 0, 0);
        let index = DictionaryIndex::read(&blobs[&index_key]).unwrap();
        assert_eq!(index.values, 6668);
        assert!(index.chunks() > 3);
        let find = |value: &str| {
            let chunk = index.chunk_of(value)?;
            let chunk =
                DictionaryChunk::read(&blobs[&chunk_key(Dictionary::Order, chunk)]).unwrap();
            chunk.find(value).cloned()
        };
        assert_eq!(find("order 00700"), Some(Postings::Inline(vec![2100, 2101, 2102])));
        assert_eq!(find("EURUSD"), Some(Postings::Bitmap { posting: 0, first: 0, count: 20_000 }));
        let bitmap = read_bitmap(&blobs[&posting_key(Dictionary::Order, 0)]).unwrap();
        assert_eq!(bitmap.len(), 20_000);
        for value in ["", "A", "order 00700x", "zzz", "' OR 1=1 --"] {
            assert_eq!(find(value), None, "{value}");
        }
    }
}
