//! The directory of a sealed run: time and kind of each event, in chunks of 4096 events.
//!
//! It maps a timestamp to a seq, and a seq to the block that contains the event.

use super::Weight;
use super::codec::{self, Reader, put_signed, put_varint};
use crate::error::LogError;
use crate::event::EventType;

/// Events in a chunk of the directory, of the links and of the local orders.
pub(crate) const CHUNK_EVENTS: u32 = 4096;
pub(crate) const EVENT_TYPES: usize = 7;

/// An event type, where a state change that places an order is a kind of its own.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Kind(u8);

impl Kind {
    pub(crate) const ORDER_PLACED: Self = Self(7);

    pub(crate) const fn of(event_type: EventType) -> Self {
        Self(event_type.code())
    }

    pub(crate) const fn code(self) -> u8 {
        self.0
    }

    pub(crate) const fn of_code(code: u8) -> Self {
        Self(code)
    }

    pub(crate) fn event_type(self) -> EventType {
        EventType::of_code(self.0).unwrap_or(EventType::StateChange)
    }
}

/// Encodes times and kinds in order of seq.
#[derive(Debug, Default)]
pub(crate) struct DirectoryWriter {
    ranks: [u32; EVENT_TYPES],
    times: Vec<u8>,
    kinds: Vec<u8>,
    last: i64,
    /// The first time of each chunk.
    pub(crate) firsts: Vec<i64>,
    start_ranks: [u32; EVENT_TYPES],
}

impl DirectoryWriter {
    /// Adds the next event. Returns its rank among the events of its type.
    pub(crate) fn push(&mut self, time: i64, kind: Kind) -> u32 {
        if self.kinds.is_empty() {
            self.firsts.push(time);
            self.start_ranks = self.ranks;
            self.last = time;
        }
        put_signed(&mut self.times, time.wrapping_sub(self.last));
        self.last = time;
        self.kinds.push(kind.code());
        let index = usize::from(kind.event_type().code());
        self.ranks.get_mut(index).map_or(0, |rank| {
            *rank += 1;
            *rank - 1
        })
    }

    pub(crate) fn is_full(&self) -> bool {
        self.kinds.len() >= CHUNK_EVENTS as usize
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    pub(crate) fn finish_chunk(&mut self) -> Result<Vec<u8>, LogError> {
        let mut out = Vec::with_capacity(self.times.len() + self.kinds.len() + 48);
        put_varint(&mut out, self.kinds.len() as u64);
        self.start_ranks.iter().for_each(|rank| put_varint(&mut out, u64::from(*rank)));
        put_signed(&mut out, self.firsts.last().copied().unwrap_or_default());
        out.append(&mut self.kinds);
        out.append(&mut self.times);
        codec::compress(&out, codec::SEALED_LEVEL)
    }
}

/// A decoded chunk.
#[derive(Debug)]
pub(crate) struct DirectoryChunk {
    pub(crate) times: Vec<i64>,
    pub(crate) kinds: Vec<u8>,
    /// Events of each type before this chunk.
    ranks: [u32; EVENT_TYPES],
    /// Rank of each event among those of its type within the chunk. Precomputed, because every
    /// event that is read is looked up here.
    ranks_in_chunk: Vec<u16>,
}

impl DirectoryChunk {
    pub(crate) fn read(blob: &[u8]) -> Result<Self, LogError> {
        let bytes = codec::decompress(blob)?;
        let mut reader = Reader(&bytes);
        let count = reader.length()?;
        let mut ranks = [0; EVENT_TYPES];
        for rank in &mut ranks {
            *rank = reader.varint_u32()?;
        }
        let mut time = reader.signed()?;
        let kinds = reader.bytes(count)?.to_vec();
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            time = time.wrapping_add(reader.signed()?);
            times.push(time);
        }
        let mut counts = [0_u16; EVENT_TYPES];
        let ranks_in_chunk = kinds.iter().map(|code| {
            let index = usize::from(Kind::of_code(*code).event_type().code());
            counts.get_mut(index).map_or(0, |count| {
                *count = count.wrapping_add(1);
                count.wrapping_sub(1)
            })
        });
        let ranks_in_chunk = ranks_in_chunk.collect();
        Ok(Self { times, kinds, ranks, ranks_in_chunk })
    }

    /// The kind of the event at `index`, and its rank among all events of its type.
    pub(crate) fn at(&self, index: usize) -> Option<(Kind, u32)> {
        let kind = Kind::of_code(*self.kinds.get(index)?);
        let base = self.ranks.get(usize::from(kind.event_type().code()))?;
        Some((kind, base + u32::from(*self.ranks_in_chunk.get(index)?)))
    }
}

impl Weight for DirectoryChunk {
    fn weight(&self) -> usize {
        self.times.len() * 11 + 64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_ranks_continue_across_chunks() {
        let mut writer = DirectoryWriter::default();
        let mut chunks = Vec::new();
        let kind_of = |seq: u32| Kind::of_code(u8::try_from(seq % 8).unwrap());
        for seq in 0..CHUNK_EVENTS * 2 + 10 {
            writer.push(i64::from(seq) * 1_000, kind_of(seq));
            if writer.is_full() {
                chunks.push(writer.finish_chunk().unwrap());
            }
        }
        chunks.push(writer.finish_chunk().unwrap());
        assert_eq!(writer.firsts, [0, 4_096_000, 8_192_000]);
        let last = DirectoryChunk::read(&chunks[2]).unwrap();
        assert_eq!(last.times.len(), 10);
        // Kinds 4 and 7 are both state changes, two in every eight events.
        assert_eq!(last.at(7), Some((Kind::ORDER_PLACED, 2 * 1024 + 1)));
        assert_eq!(last.at(9), Some((kind_of(1), 1024 + 1)));
        assert_eq!(last.at(10), None);
    }
}
