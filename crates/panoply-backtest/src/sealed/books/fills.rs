//! The position in a security after each fill, so that the position at any seq is one lookup.

use rust_decimal::Decimal;

use crate::error::LogError;
use crate::position::Position;
use crate::sealed::Weight;
use crate::sealed::codec::{self, Reader, count, put_text, put_varint};
use crate::store::{BlobKey, BlobKind};

/// Fills in a chunk.
const CHUNK_FILLS: usize = 1024;

/// The position after a fill.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FillState {
    pub(crate) seq: u32,
    pub(crate) position: Position,
    /// Price of the fill.
    pub(crate) price: Decimal,
}

/// Encodes fills in ascending order of seq.
#[derive(Debug, Default)]
pub(crate) struct FillWriter {
    chunk: Vec<u8>,
    pending: usize,
    last: u32,
    /// The first seq of each chunk.
    firsts: Vec<u8>,
    chunks: Vec<Vec<u8>>,
}

impl FillWriter {
    pub(crate) fn push(
        &mut self,
        seq: u32,
        position: &Position,
        price: Decimal,
    ) -> Result<(), LogError> {
        if self.pending == 0 {
            self.firsts.extend(seq.to_le_bytes());
            self.last = seq;
        }
        put_varint(&mut self.chunk, u64::from(seq - self.last));
        self.last = seq;
        for amount in [position.quantity, position.average, position.realized, price] {
            put_text(&mut self.chunk, &amount.normalize().to_string());
        }
        self.pending += 1;
        if self.pending == CHUNK_FILLS { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), LogError> {
        self.chunks.push(codec::compress(&self.chunk, codec::SEALED_LEVEL)?);
        self.chunk.clear();
        self.pending = 0;
        Ok(())
    }

    pub(crate) fn finish(mut self, out: &mut Vec<(BlobKey, Vec<u8>)>) -> Result<(), LogError> {
        if self.pending > 0 {
            self.flush()?;
        }
        for (number, chunk) in self.chunks.into_iter().enumerate() {
            out.push((BlobKey::new(BlobKind::FillChunk, 0, count(number)), chunk));
        }
        let index = codec::compress(&self.firsts, codec::SEALED_LEVEL)?;
        out.push((BlobKey::new(BlobKind::FillIndex, 0, 0), index));
        Ok(())
    }
}

/// The first seq of each chunk.
#[derive(Debug)]
pub(crate) struct FillIndex(Vec<u32>);

impl FillIndex {
    pub(crate) fn read(blob: &[u8]) -> Result<Self, LogError> {
        let bytes = codec::decompress(blob)?;
        let (firsts, _) = bytes.as_chunks::<4>();
        Ok(Self(firsts.iter().map(|first| u32::from_le_bytes(*first)).collect()))
    }

    /// The chunk that contains the fill at `seq` if any does.
    pub(crate) fn chunk_of(&self, seq: u32) -> Option<(u32, u32)> {
        let chunk = self.0.partition_point(|first| *first <= seq).checked_sub(1)?;
        Some((count(chunk), *self.0.get(chunk)?))
    }
}

impl Weight for FillIndex {
    fn weight(&self) -> usize {
        self.0.len() * 4 + 64
    }
}

impl Weight for Vec<FillState> {
    fn weight(&self) -> usize {
        self.len() * size_of::<FillState>() + 64
    }
}

/// Decodes the chunk whose first fill is at `first`.
pub(crate) fn read_chunk(first: u32, blob: &[u8]) -> Result<Vec<FillState>, LogError> {
    let bytes = codec::decompress(blob)?;
    let mut reader = Reader(&bytes);
    let (mut fills, mut seq) = (Vec::new(), first);
    while !reader.is_empty() {
        seq = seq.wrapping_add(reader.varint_u32()?);
        let [quantity, average, realized, price] = [
            amount(&mut reader)?,
            amount(&mut reader)?,
            amount(&mut reader)?,
            amount(&mut reader)?,
        ];
        fills.push(FillState { seq, position: Position { quantity, average, realized }, price });
    }
    Ok(fills)
}

pub(super) fn amount(reader: &mut Reader<'_>) -> Result<Decimal, LogError> {
    reader.text()?.parse().map_err(|_| LogError::Damaged("an amount is not a decimal number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fill_states_round_trip() {
        let state = |n: u32| FillState {
            seq: n * 3 + 7,
            position: Position {
                quantity: Decimal::from(n) - Decimal::from(900),
                average: Decimal::new(i64::from(n) * 7919, 4).normalize(),
                realized: Decimal::new(-i64::from(n), 9).normalize(),
            },
            price: Decimal::from(n),
        };
        let mut writer = FillWriter::default();
        for n in 0..2500 {
            let own = state(n);
            writer.push(own.seq, &own.position, own.price).unwrap();
        }
        let mut blobs = Vec::new();
        writer.finish(&mut blobs).unwrap();
        let (_, index) = blobs.pop().unwrap();
        let index = FillIndex::read(&index).unwrap();
        assert_eq!(index.chunk_of(6), None);
        for n in [0, 1, 1023, 1024, 2499] {
            let (chunk, first) = index.chunk_of(state(n).seq).unwrap();
            let chunk = read_chunk(first, &blobs[chunk as usize].1).unwrap();
            assert!(chunk.contains(&state(n)), "{n}");
        }
    }
}
