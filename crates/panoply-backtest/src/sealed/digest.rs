//! Content hashes of a run: the first chunk in which two runs differ is found without reading events.
//!
//! A hash covers all events up to the end of its chunk: time, type, severity, category and
//! properties. Texts that are GUIDs are left out, because ids differ between runs of the same
//! strategy.

use twox_hash::XxHash3_64;

use super::Weight;
use super::block::Row;
use super::codec;
use crate::error::LogError;
use crate::event::Guid;
use crate::scan::Token;
use crate::scan::outline::Outline;

/// Hashes events in order of seq.
#[derive(Debug, Default)]
pub(crate) struct DigestWriter {
    hash: u64,
    buffer: Vec<u8>,
    /// The hash at the end of each chunk.
    chunks: Vec<u8>,
}

impl DigestWriter {
    pub(crate) fn push(&mut self, row: &Row, outline: &Outline<'_>) {
        self.buffer.clear();
        content(row, outline, &mut self.buffer);
        self.hash = XxHash3_64::oneshot_with_seed(self.hash, &self.buffer);
    }

    pub(crate) fn end_chunk(&mut self) {
        self.chunks.extend(self.hash.to_le_bytes());
    }

    pub(crate) fn finish(&self) -> Result<Vec<u8>, LogError> {
        codec::compress(&self.chunks, codec::SEALED_LEVEL)
    }
}

/// The content of an event that two runs have in common.
pub(crate) fn content(row: &Row, outline: &Outline<'_>, out: &mut Vec<u8>) {
    out.extend(row.timestamp.nanos().to_le_bytes());
    out.extend([row.event_type.code(), row.severity.code(), row.category.code()]);
    for member in &outline.members {
        let value = match member.value {
            Token::Text(text) if Guid::parse(text).is_some() => continue,
            Token::Text(text) => text,
            // The members of an object follow it, unless it is nested too deep.
            Token::Object(_) if outline.complete => "{",
            token => token.json().unwrap_or_default(),
        };
        out.push(u8::try_from(member.depth).unwrap_or(u8::MAX));
        out.extend_from_slice(member.name.as_bytes());
        out.push(b':');
        out.extend_from_slice(value.as_bytes());
        out.push(0);
    }
}

/// The hash at the end of each chunk.
#[derive(Debug)]
pub(crate) struct Digest(pub(crate) Vec<u64>);

impl Digest {
    pub(crate) fn read(blob: &[u8]) -> Result<Self, LogError> {
        let bytes = codec::decompress(blob)?;
        let (chunks, _) = bytes.as_chunks::<8>();
        Ok(Self(chunks.iter().map(|chunk| u64::from_le_bytes(*chunk)).collect()))
    }

    /// Number of leading chunks with equal content.
    pub(crate) fn common_chunks(&self, other: &Self) -> usize {
        self.0.iter().zip(&other.0).take_while(|(own, other)| own == other).count()
    }
}

impl Weight for Digest {
    fn weight(&self) -> usize {
        self.0.len() * 8 + 64
    }
}
