//! A text column: the texts and booleans of one property of one event type, as codes into a list of
//! values. Filters and groups read codes instead of events.

use std::collections::HashMap;

use roaring::RoaringBitmap;

use super::Weight;
use super::codec::{self, Reader, count, put_section, put_text, put_varint};
use super::dictionary;
use crate::error::LogError;
use crate::scan::Token;
use crate::store::{BlobKey, BlobKind};

/// Codes in a block.
pub(crate) const TEXT_BLOCK: u32 = 4096;
/// A property with more distinct values has no text column.
const MAX_VALUES: usize = 1 << 16;
/// Nor has one with a longer value.
const MAX_VALUE_BYTES: usize = 256;

/// A value of a text column.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum TextValue {
    Text(Box<str>),
    Bool(bool),
}

/// Encodes a text column, in order of rank.
#[derive(Debug, Default)]
pub(crate) struct TextColumnWriter {
    values: Vec<TextValue>,
    codes: HashMap<TextValue, u32>,
    /// The code of the last value: consecutive events often share it.
    recent: u32,
    pending: Vec<u32>,
    blocks: Vec<Vec<u8>>,
    count: u32,
    /// Ranks with a value; `None` while every event has had one.
    presence: Option<RoaringBitmap>,
    last_rank: Option<u32>,
    /// Whether the property has too many or too long values.
    pub(crate) is_dropped: bool,
}

impl TextColumnWriter {
    /// Adds the value of the event of this rank.
    pub(crate) fn push(&mut self, rank: u32, token: Token<'_>) -> Result<(), LogError> {
        // Of a duplicate member name in one object only the first counts.
        if self.is_dropped || self.last_rank == Some(rank) {
            return Ok(());
        }
        self.last_rank = Some(rank);
        let Some(code) = self.code_of(token) else {
            *self = Self { is_dropped: true, ..Self::default() };
            return Ok(());
        };
        if self.presence.is_none() && rank != self.count {
            let mut all = RoaringBitmap::new();
            all.insert_range(0..self.count);
            self.presence = Some(all);
        }
        if let Some(presence) = &mut self.presence {
            presence.insert(rank);
        }
        self.count += 1;
        self.pending.push(code);
        if self.pending.len() == TEXT_BLOCK as usize { self.flush() } else { Ok(()) }
    }

    /// The code of a value; `None` if it has none.
    fn code_of(&mut self, token: Token<'_>) -> Option<u32> {
        let is_recent = match (token, self.values.get(self.recent as usize)) {
            (Token::Text(raw), Some(TextValue::Text(own))) => **own == *raw,
            (Token::Bool(value), Some(TextValue::Bool(own))) => *own == value,
            _ => false,
        };
        if is_recent {
            return Some(self.recent);
        }
        let value = match token {
            Token::Bool(value) => TextValue::Bool(value),
            token => {
                let text = token.text().filter(|text| text.len() <= MAX_VALUE_BYTES)?;
                TextValue::Text(text.into())
            }
        };
        let code = match self.codes.get(&value) {
            Some(code) => *code,
            None if self.values.len() >= MAX_VALUES => return None,
            None => {
                let code = count(self.values.len());
                self.values.push(value.clone());
                self.codes.insert(value, code);
                code
            }
        };
        self.recent = code;
        Some(code)
    }

    fn flush(&mut self) -> Result<(), LogError> {
        let mut out = Vec::with_capacity(self.pending.len() * 2);
        let width = if self.values.len() <= 256 { 1 } else { 2 };
        put_varint(&mut out, self.pending.len() as u64);
        put_varint(&mut out, width as u64);
        for code in self.pending.drain(..) {
            out.extend(code.to_le_bytes().into_iter().take(width));
        }
        self.blocks.push(codec::compress(&out, codec::SEALED_LEVEL)?);
        Ok(())
    }

    /// Number of distinct values.
    pub(crate) fn distinct(&self) -> u32 {
        count(self.values.len())
    }

    /// Encodes head and blocks under a column number. A dropped column has neither.
    pub(crate) fn finish(
        mut self,
        column: u16,
        out: &mut Vec<(BlobKey, Vec<u8>)>,
    ) -> Result<(), LogError> {
        if self.is_dropped {
            return Ok(());
        }
        if !self.pending.is_empty() {
            self.flush()?;
        }
        let mut head = Vec::new();
        put_varint(&mut head, self.values.len() as u64);
        for value in &self.values {
            match value {
                TextValue::Text(text) => {
                    head.push(0);
                    put_text(&mut head, text);
                }
                TextValue::Bool(value) => head.push(1 + u8::from(*value)),
            }
        }
        let presence = self.presence.unwrap_or_else(|| {
            let mut all = RoaringBitmap::new();
            all.insert_range(0..self.count);
            all
        });
        put_section(&mut head, &dictionary::bitmap_blob(&presence)?);
        let key = BlobKey::new(BlobKind::TextColumnHead, column, 0);
        out.push((key, codec::compress(&head, codec::SEALED_LEVEL)?));
        for (number, block) in self.blocks.into_iter().enumerate() {
            out.push((BlobKey::new(BlobKind::TextColumnBlock, column, count(number)), block));
        }
        Ok(())
    }
}

/// The values of a text column, by code.
#[derive(Debug)]
pub(crate) struct TextColumnHead {
    pub(crate) values: Vec<TextValue>,
    /// Ranks of the events that have a value.
    pub(crate) presence: RoaringBitmap,
}

impl TextColumnHead {
    pub(crate) fn read(blob: &[u8]) -> Result<Self, LogError> {
        let bytes = codec::decompress(blob)?;
        let mut reader = Reader(&bytes);
        let length = reader.length()?;
        let mut values = Vec::with_capacity(length.min(MAX_VALUES));
        for _ in 0..length {
            values.push(match reader.byte()? {
                0 => TextValue::Text(reader.text()?.into()),
                flag => TextValue::Bool(flag == 2),
            });
        }
        Ok(Self { values, presence: dictionary::read_bitmap(reader.section()?.0)? })
    }
}

impl Weight for TextColumnHead {
    fn weight(&self) -> usize {
        let size = |value: &TextValue| match value {
            TextValue::Text(text) => text.len() + 24,
            TextValue::Bool(_) => 24,
        };
        self.values.iter().map(size).sum::<usize>() + self.presence.serialized_size() + 64
    }
}

/// Codes of one block.
#[derive(Debug)]
pub(crate) struct Codes(pub(crate) Vec<u16>);

impl Codes {
    pub(crate) fn read(blob: &[u8]) -> Result<Self, LogError> {
        let bytes = codec::decompress(blob)?;
        let mut reader = Reader(&bytes);
        let length = reader.length()?;
        let width = reader.length()?;
        let bytes = reader.bytes(length.saturating_mul(width))?;
        Ok(Self(match width {
            1 => bytes.iter().map(|code| u16::from(*code)).collect(),
            2 => bytes.as_chunks::<2>().0.iter().map(|pair| u16::from_le_bytes(*pair)).collect(),
            _ => return Err(LogError::Damaged("a text column has an unknown width")),
        }))
    }
}

impl Weight for Codes {
    fn weight(&self) -> usize {
        self.0.len() * 2 + 64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_column_round_trips() {
        let mut writer = TextColumnWriter::default();
        let texts: Vec<String> = (0..10_000_u32).map(|n| format!("v{}", n % 300)).collect();
        for (rank, text) in (0..).zip(&texts) {
            // Every seventh event has no value, every fifth a boolean.
            match rank % 35 {
                n if n % 7 == 0 => {}
                n if n % 5 == 0 => writer.push(rank, Token::Bool(n > 9)).unwrap(),
                _ => writer.push(rank, Token::Text(text)).unwrap(),
            }
        }
        let mut blobs = Vec::new();
        writer.finish(3, &mut blobs).unwrap();
        let head = TextColumnHead::read(&blobs[0].1).unwrap();
        let codes: Vec<u16> =
            blobs.iter().skip(1).flat_map(|(_, blob)| Codes::read(blob).unwrap().0).collect();
        for (place, rank) in head.presence.iter().enumerate() {
            let expected = match rank % 35 {
                n if n % 5 == 0 => TextValue::Bool(n > 9),
                _ => TextValue::Text(texts[rank as usize].as_str().into()),
            };
            assert_eq!(head.values[codes[place] as usize], expected, "{rank}");
        }
        assert_eq!(head.presence.len(), codes.len() as u64);
    }

    #[test]
    fn property_with_too_many_values_has_no_column() {
        let mut writer = TextColumnWriter::default();
        for rank in 0..=count(MAX_VALUES) {
            writer.push(rank, Token::Text(&rank.to_string())).unwrap();
        }
        assert!(writer.is_dropped);
        let mut blobs = Vec::new();
        writer.finish(0, &mut blobs).unwrap();
        assert!(blobs.is_empty());
    }
}
