//! A block of events: columns of varints, ids, and zstd-compressed texts.
//!
//! Batches of an open run and blocks of a sealed one share this encoding. A sealed block holds
//! events of one type, so a page of one type spans one or two blocks. A batch stores its texts in
//! a separate blob, because the first pass of sealing does not need them; a sealed block
//! compresses its texts separately for the same reason. See docs/formats/sealed-run.md.

use std::ops::Range;
use std::sync::OnceLock;

use super::Weight;
use super::codec::{self, Reader, put_section, put_signed, put_varint};
use crate::error::LogError;
use crate::event::{Category, EventType, Guid, Severity};
use crate::store::{BlobKey, BlobKind};
use crate::timestamp::Timestamp;
use crate::validate::Flags;

/// Maximum events in a sealed block.
pub(crate) const BLOCK_EVENTS: usize = 256;

/// One decoded event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// Sequence number in order of time; in an open run, in order of arrival.
    pub(crate) seq: u32,
    /// Sequence number in order of arrival.
    pub(crate) arrival: u32,
    /// Line number in the source.
    pub(crate) line: u64,
    pub(crate) timestamp: Timestamp,
    pub(crate) event_type: EventType,
    pub(crate) severity: Severity,
    pub(crate) category: Category,
    pub(crate) flags: Flags,
    pub(crate) id: Guid,
    pub(crate) parent: Link,
    properties: Range<usize>,
    original: Option<Range<usize>>,
}

/// A parent reference.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Link {
    None,
    /// An event of the run.
    Seq(u32),
    /// An id that is unresolved: not in the run, part of a cycle, or not looked up yet.
    Id(Guid),
    /// A value that is not a GUID.
    Unreadable,
}

/// One event to encode.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) seq: u32,
    pub(crate) arrival: u32,
    pub(crate) line: u64,
    pub(crate) timestamp: Timestamp,
    pub(crate) event_type: EventType,
    pub(crate) severity: Severity,
    pub(crate) category: Category,
    pub(crate) flags: Flags,
    pub(crate) id: Guid,
    pub(crate) parent: Link,
    pub(crate) properties: &'a str,
    pub(crate) original: Option<&'a str>,
}

#[derive(Debug, Default)]
pub(crate) struct BlockWriter {
    count: usize,
    numbers: Vec<u8>,
    codes: Vec<u8>,
    ids: Vec<u8>,
    parents: Vec<u8>,
    lengths: Vec<u8>,
    texts: Vec<u8>,
    last: (u32, u64, i64),
}

impl BlockWriter {
    pub(crate) fn push(&mut self, entry: &Entry<'_>) {
        let (last_seq, last_line, last_time) = self.last;
        let time = entry.timestamp.nanos();
        put_varint(&mut self.numbers, u64::from(entry.seq.wrapping_sub(last_seq)));
        put_signed(&mut self.numbers, i64::from(entry.arrival) - i64::from(entry.seq));
        put_signed(&mut self.numbers, entry.line.wrapping_sub(last_line).cast_signed());
        put_signed(&mut self.numbers, time.wrapping_sub(last_time));
        self.last = (entry.seq, entry.line, time);
        self.codes.extend([
            entry.event_type.code(),
            entry.severity.code() << 4 | entry.category.code(),
            entry.flags.byte(),
        ]);
        self.ids.extend(entry.id.bits().to_be_bytes());
        match entry.parent {
            Link::None => self.parents.push(0),
            Link::Seq(parent) => {
                self.parents.push(1);
                put_signed(&mut self.parents, i64::from(entry.seq) - i64::from(parent));
            }
            Link::Id(id) => {
                self.parents.push(2);
                self.parents.extend(id.bits().to_be_bytes());
            }
            Link::Unreadable => self.parents.push(3),
        }
        put_varint(&mut self.lengths, entry.properties.len() as u64);
        self.texts.extend_from_slice(entry.properties.as_bytes());
        match entry.original {
            None => put_varint(&mut self.lengths, 0),
            Some(original) => {
                put_varint(&mut self.lengths, original.len() as u64 + 1);
                self.texts.extend_from_slice(original.as_bytes());
            }
        }
        self.count += 1;
    }

    pub(crate) const fn len(&self) -> usize {
        self.count
    }

    /// Approximate pending bytes.
    pub(crate) fn weight(&self) -> usize {
        self.texts.len() + self.ids.len() * 2
    }

    /// Encodes a sealed block and clears the writer.
    pub(crate) fn finish(&mut self) -> Result<Vec<u8>, LogError> {
        let rows = codec::compress(&self.rows(), codec::SEALED_LEVEL)?;
        let mut out = Vec::with_capacity(rows.len() + self.texts.len() / 4);
        put_section(&mut out, &rows);
        out.extend(codec::compress(&self.texts, codec::SEALED_LEVEL)?);
        self.clear();
        Ok(out)
    }

    /// Encodes the two blobs of a batch and clears the writer.
    pub(crate) fn finish_batch(
        &mut self,
        number: u32,
    ) -> Result<[(BlobKey, Vec<u8>); 2], LogError> {
        let [rows, texts] = batch_keys(number);
        let blobs = [
            (rows, codec::compress(&self.rows(), codec::OPEN_LEVEL)?),
            (texts, codec::compress(&self.texts, codec::OPEN_LEVEL)?),
        ];
        self.clear();
        Ok(blobs)
    }

    /// The encoding of everything but the texts.
    fn rows(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.weight() + self.numbers.len() + 64);
        put_varint(&mut out, self.count as u64);
        for section in [&self.numbers, &self.codes, &self.ids, &self.parents, &self.lengths] {
            put_section(&mut out, section);
        }
        out
    }

    /// Clears the writer but keeps its allocations.
    fn clear(&mut self) {
        self.count = 0;
        self.last = (0, 0, 0);
        for section in [
            &mut self.numbers,
            &mut self.codes,
            &mut self.ids,
            &mut self.parents,
            &mut self.lengths,
            &mut self.texts,
        ] {
            section.clear();
        }
    }
}

/// The keys of a batch: rows and texts.
pub(crate) const fn batch_keys(number: u32) -> [BlobKey; 2] {
    [BlobKey::new(BlobKind::Batch, 0, number), BlobKey::new(BlobKind::Batch, 1, number)]
}

/// A decoded block. Texts are decompressed on first use: they are most of the size, and looking
/// up a parent's id does not need them.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) rows: Vec<Row>,
    compressed_texts: Box<[u8]>,
    texts: OnceLock<String>,
}

impl Block {
    pub(crate) fn read(blob: &[u8]) -> Result<Self, LogError> {
        let mut reader = Reader(blob);
        let rows = read_rows(reader.section()?.0)?;
        Ok(Self { rows, compressed_texts: reader.0.into(), texts: OnceLock::new() })
    }

    pub(crate) fn read_batch(rows: &[u8], texts: &[u8]) -> Result<Self, LogError> {
        let block = Self {
            rows: read_rows(rows)?,
            compressed_texts: Box::default(),
            texts: OnceLock::new(),
        };
        let _ = block.texts.set(decompress_text(texts)?);
        Ok(block)
    }

    /// Decompresses the texts; until then every text is empty.
    pub(crate) fn decompress_texts(&self) -> Result<(), LogError> {
        if self.texts.get().is_none() {
            // A concurrent call may have set the same text.
            let _ = self.texts.set(decompress_text(&self.compressed_texts)?);
        }
        Ok(())
    }

    fn texts(&self) -> &str {
        self.texts.get().map_or("", String::as_str)
    }

    pub(crate) fn properties(&self, row: &Row) -> &str {
        self.texts().get(row.properties.clone()).unwrap_or("null")
    }

    pub(crate) fn original(&self, row: &Row) -> Option<&str> {
        row.original.clone().and_then(|place| self.texts().get(place))
    }

    /// The event in the form to encode it again.
    pub(crate) fn entry<'a>(&'a self, row: &Row) -> Entry<'a> {
        Entry {
            seq: row.seq,
            arrival: row.arrival,
            line: row.line,
            timestamp: row.timestamp,
            event_type: row.event_type,
            severity: row.severity,
            category: row.category,
            flags: row.flags,
            id: row.id,
            parent: row.parent,
            properties: self.properties(row),
            original: self.original(row),
        }
    }
}

impl Weight for Block {
    fn weight(&self) -> usize {
        let end = |row: &Row| row.original.as_ref().unwrap_or(&row.properties).end;
        let texts = self.rows.last().map_or(0, end);
        texts + self.compressed_texts.len() + self.rows.len() * size_of::<Row>() + 64
    }
}

fn decompress_text(texts: &[u8]) -> Result<String, LogError> {
    String::from_utf8(codec::decompress(texts)?).map_err(|_| NOT_TEXT)
}

/// Decodes the rows of a batch.
pub(crate) fn read_rows(blob: &[u8]) -> Result<Vec<Row>, LogError> {
    rows_of(&mut Reader(&codec::decompress(blob)?))
}

fn rows_of(reader: &mut Reader<'_>) -> Result<Vec<Row>, LogError> {
    let count = reader.length()?;
    let mut numbers = reader.section()?;
    let mut codes = reader.section()?;
    let mut ids = reader.section()?;
    let mut parents = reader.section()?;
    let mut lengths = reader.section()?;
    let (mut seq, mut line, mut time, mut place) = (0_u32, 0_u64, 0_i64, 0_usize);
    let mut rows = Vec::with_capacity(count.min(1 << 16));
    for _ in 0..count {
        seq = seq.wrapping_add(numbers.varint_u32()?);
        let arrival = i64::from(seq) + numbers.signed()?;
        line = line.wrapping_add(numbers.signed()?.cast_unsigned());
        time = time.wrapping_add(numbers.signed()?);
        let [kind, severity_category, flags] = codes.array()?;
        let id = Guid::new(u128::from_be_bytes(ids.array()?));
        let parent = match parents.byte()? {
            0 => Link::None,
            1 => Link::Seq(to_u32(i64::from(seq) - parents.signed()?)?),
            2 => Link::Id(Guid::new(u128::from_be_bytes(parents.array()?))),
            _ => Link::Unreadable,
        };
        let properties = next_range(&mut place, lengths.length()?)?;
        let original = match lengths.length()? {
            0 => None,
            length => Some(next_range(&mut place, length - 1)?),
        };
        rows.push(Row {
            seq,
            arrival: to_u32(arrival)?,
            line,
            timestamp: Timestamp::from_nanos(time),
            event_type: EventType::of_code(kind).ok_or(UNKNOWN_CODE)?,
            severity: Severity::of_code(severity_category >> 4).ok_or(UNKNOWN_CODE)?,
            category: Category::of_code(severity_category & 15).ok_or(UNKNOWN_CODE)?,
            flags: Flags::of_byte(flags),
            id,
            parent,
            properties,
            original,
        });
    }
    Ok(rows)
}

const NOT_TEXT: LogError = LogError::Damaged("a block's text is not UTF-8");
const UNKNOWN_CODE: LogError = LogError::Damaged("a block has an unknown code");

fn to_u32(number: i64) -> Result<u32, LogError> {
    u32::try_from(number).map_err(|_| LogError::Damaged("a block has a number out of range"))
}

fn next_range(place: &mut usize, length: usize) -> Result<Range<usize>, LogError> {
    let start = *place;
    *place = start.checked_add(length).ok_or(LogError::Damaged("a length is too large"))?;
    Ok(start..*place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sealed::codec::count;

    #[test]
    fn block_round_trips() {
        let mut writer = BlockWriter::default();
        let links =
            [Link::None, Link::Seq(3), Link::Id(Guid::new(7)), Link::Unreadable, Link::Seq(900)];
        let entry = |place: usize| Entry {
            seq: count(place) * 3 + 5,
            arrival: 40 - count(place),
            line: 100 - place as u64,
            timestamp: Timestamp::from_nanos(place as i64 * -1_000_000_007),
            event_type: EventType::ALL[place % 7],
            severity: Severity::ALL[place % 4],
            category: Category::ALL[place % 5],
            flags: Flags::of_byte(u8::try_from(place).unwrap()),
            id: Guid::new(u128::MAX - place as u128),
            parent: links[place % 5],
            properties: ["{}", "{\"ü\":1}", "null"][place % 3],
            original: [None, Some(""), Some("x")][place % 3],
        };
        (0..30).for_each(|place| writer.push(&entry(place)));
        let block = Block::read(&writer.finish().unwrap()).unwrap();
        assert_eq!((block.rows.len(), writer.len()), (30, 0));
        // A reused writer encodes the same bytes, also as a batch.
        (0..30).for_each(|place| writer.push(&entry(place)));
        let [(_, rows), (_, texts)] = writer.finish_batch(0).unwrap();
        let batch = Block::read_batch(&rows, &texts).unwrap();
        assert_eq!(block.properties(&block.rows[0]), "null", "texts are not decompressed yet");
        block.decompress_texts().unwrap();
        for block in [block, batch] {
            for (place, row) in block.rows.iter().enumerate() {
                assert_eq!(format!("{:?}", block.entry(row)), format!("{:?}", entry(place)));
            }
        }
    }
}
