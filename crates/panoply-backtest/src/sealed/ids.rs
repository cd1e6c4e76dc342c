//! Lookup from an event's id to its seq: sorted ids in chunks, reduced to 32-bit fingerprints.
//! A match is verified against the full id in the event's block.

use super::Weight;
use super::codec::{self, Reader, count, put_varint};
use crate::error::LogError;
use crate::event::Guid;

/// Ids in a chunk.
const CHUNK_IDS: usize = 1024;

/// All ids of a run with their seqs, sorted by id. Twenty bytes per id.
#[derive(Debug, Default)]
pub(crate) struct SortedIds {
    entries: Vec<([u8; 16], u32)>,
    /// Index of the first id for each two-byte prefix.
    starts: Vec<u32>,
}

impl SortedIds {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { entries: Vec::with_capacity(capacity), starts: Vec::new() }
    }

    pub(crate) fn push(&mut self, id: Guid, seq: u32) {
        self.entries.push((id.bits().to_be_bytes(), seq));
    }

    /// Sorts by id, then by seq.
    pub(crate) fn sort(&mut self) {
        self.entries.sort_unstable();
        self.index();
    }

    fn index(&mut self) {
        let mut starts = Vec::with_capacity((1 << 16) + 1);
        for (seq, ([first, second, ..], _)) in self.entries.iter().enumerate() {
            let prefix = usize::from(*first) << 8 | usize::from(*second);
            while starts.len() <= prefix {
                starts.push(count(seq));
            }
        }
        starts.resize((1 << 16) + 1, count(self.entries.len()));
        self.starts = starts;
    }

    /// Groups of seqs that share an id, each in ascending order.
    pub(crate) fn duplicates(&self) -> Vec<Vec<u32>> {
        let groups = self.entries.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1);
        groups.map(|group| group.iter().map(|(_, seq)| *seq).collect()).collect()
    }

    /// Maps each seq to a new one and removes entries that map to `None`.
    pub(crate) fn renumber(&mut self, new_seq: impl Fn(u32) -> Option<u32>) {
        self.entries.retain_mut(|(_, seq)| match new_seq(*seq) {
            Some(new) => {
                *seq = new;
                true
            }
            None => false,
        });
        self.index();
    }

    pub(crate) fn find(&self, id: Guid) -> Option<u32> {
        let bytes = id.bits().to_be_bytes();
        let [first, second, ..] = bytes;
        let prefix = usize::from(first) << 8 | usize::from(second);
        let (from, to) = (self.starts.get(prefix)?, self.starts.get(prefix + 1)?);
        let bucket = self.entries.get(*from as usize..*to as usize)?;
        let seq = bucket.binary_search_by(|(found, _)| found.cmp(&bytes)).ok()?;
        bucket.get(seq).map(|(_, seq)| *seq)
    }

    /// Writes the chunks in order and returns the index blob.
    pub(crate) fn write(
        &self,
        mut put: impl FnMut(u32, Vec<u8>) -> Result<(), LogError>,
    ) -> Result<Vec<u8>, LogError> {
        let mut index = Vec::new();
        for (number, chunk) in self.entries.chunks(CHUNK_IDS).enumerate() {
            let first = chunk.first().map_or(0, |(id, _)| prefix_of(id));
            index.extend(first.to_be_bytes());
            let mut out = Vec::with_capacity(chunk.len() * 8);
            put_varint(&mut out, chunk.len() as u64);
            for (id, _) in chunk {
                out.extend(fingerprint_of(id).to_be_bytes());
            }
            for (_, seq) in chunk {
                out.extend(seq.to_le_bytes());
            }
            put(count(number), codec::compress(&out, codec::SEALED_LEVEL)?)?;
        }
        codec::compress(&index, codec::SEALED_LEVEL)
    }
}

fn prefix_of(id: &[u8; 16]) -> u64 {
    u64::try_from(u128::from_be_bytes(*id) >> 64).unwrap_or_default()
}

fn fingerprint_of(id: &[u8; 16]) -> u32 {
    u32::try_from(u128::from_be_bytes(*id) & u128::from(u32::MAX)).unwrap_or_default()
}

/// The prefix of the first id of each chunk.
#[derive(Debug)]
pub(crate) struct IdIndex(Vec<u64>);

impl IdIndex {
    pub(crate) fn read(blob: &[u8]) -> Result<Self, LogError> {
        let bytes = codec::decompress(blob)?;
        let (firsts, _) = bytes.as_chunks::<8>();
        Ok(Self(firsts.iter().map(|first| u64::from_be_bytes(*first)).collect()))
    }

    /// The chunks that may contain `id`.
    pub(crate) fn chunks_of(&self, id: Guid) -> std::ops::Range<u32> {
        let prefix = prefix_of(&id.bits().to_be_bytes());
        let from = self.0.partition_point(|first| *first < prefix).saturating_sub(1);
        let to = self.0.partition_point(|first| *first <= prefix);
        count(from)..count(to)
    }
}

impl Weight for IdIndex {
    fn weight(&self) -> usize {
        self.0.len() * 8 + 64
    }
}

/// Fingerprints and seqs of a chunk.
#[derive(Debug)]
pub(crate) struct IdChunk(Vec<(u32, u32)>);

impl IdChunk {
    pub(crate) fn read(blob: &[u8]) -> Result<Self, LogError> {
        let bytes = codec::decompress(blob)?;
        let mut reader = Reader(&bytes);
        let length = reader.length()?;
        let (fingerprints, seqs) = reader.0.split_at_checked(length * 4).unwrap_or_default();
        let (fingerprints, _) = fingerprints.as_chunks::<4>();
        let (seqs, _) = seqs.as_chunks::<4>();
        let pairs = fingerprints.iter().zip(seqs);
        Ok(Self(pairs.map(|(a, b)| (u32::from_be_bytes(*a), u32::from_le_bytes(*b))).collect()))
    }

    /// Seqs of events that may have `id`.
    pub(crate) fn candidates(&self, id: Guid) -> impl Iterator<Item = u32> {
        let wanted = fingerprint_of(&id.bits().to_be_bytes());
        self.0.iter().filter(move |(found, _)| *found == wanted).map(|(_, seq)| *seq)
    }
}

impl Weight for IdChunk {
    fn weight(&self) -> usize {
        self.0.len() * 8 + 64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_is_found_even_with_a_common_prefix() {
        for shift in [0, 64, 100] {
            let id_of = |seq: u32| Guid::new((u128::from(seq) * 7919 + 1) << shift);
            let mut ids = SortedIds::with_capacity(0);
            for seq in 0..5000 {
                ids.push(id_of(seq), seq);
            }
            ids.sort();
            let mut chunks = Vec::new();
            let index = ids.write(|_, blob| {
                chunks.push(IdChunk::read(&blob)?);
                Ok(())
            });
            let index = IdIndex::read(&index.unwrap()).unwrap();
            for seq in 0..5000 {
                assert_eq!(ids.find(id_of(seq)), Some(seq), "shift {shift}");
                let range = index.chunks_of(id_of(seq));
                let found = range
                    .flat_map(|number| chunks[number as usize].candidates(id_of(seq)))
                    .any(|found| found == seq);
                assert!(found, "shift {shift}, place {seq}");
            }
            assert_eq!(ids.find(Guid::new(3 << shift)), None);
        }
    }

    #[test]
    fn duplicate_ids_are_grouped_in_arrival_order() {
        let mut ids = SortedIds::default();
        for (seq, id) in [5, 9, 5, 1, 9, 9].into_iter().enumerate() {
            ids.push(Guid::new(id), count(seq));
        }
        ids.sort();
        assert_eq!(ids.duplicates(), [vec![0, 2], vec![1, 4, 5]]);
    }
}
