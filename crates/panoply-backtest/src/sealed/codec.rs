//! Primitive encodings: LEB128 varints, zigzag integers, length-prefixed bytes, and zstd.

use std::cell::RefCell;

use zstd::bulk::{Compressor, Decompressor};

use crate::error::LogError;

const TRUNCATED: LogError = LogError::Damaged("truncated blob");

/// Appends a LEB128 varint: seven bits per byte, least significant first.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(u8::try_from(number & 0x7F).unwrap_or_default() | 0x80);
        number >>= 7;
    }
    out.push(u8::try_from(number).unwrap_or_default());
}

/// Appends a zigzag varint, which is short for small numbers of either sign.
pub(crate) fn put_signed(out: &mut Vec<u8>, number: i64) {
    put_varint(out, number.cast_unsigned() << 1 ^ (number >> 63).cast_unsigned());
}

/// Appends a length-prefixed text.
pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_varint(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Appends length-prefixed bytes.
pub(crate) fn put_section(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Decodes these primitives from a slice.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn varint(&mut self) -> Result<u64, LogError> {
        let (mut number, mut shift) = (0_u64, 0);
        loop {
            let (byte, rest) = self.0.split_first().ok_or(TRUNCATED)?;
            self.0 = rest;
            number |= u64::from(byte & 0x7F).checked_shl(shift).unwrap_or_default();
            if byte & 0x80 == 0 {
                return Ok(number);
            }
            shift += 7;
            if shift > 63 {
                return Err(LogError::Damaged("varint of more than ten bytes"));
            }
        }
    }

    pub(crate) fn varint_u32(&mut self) -> Result<u32, LogError> {
        u32::try_from(self.varint()?).map_err(|_| LogError::Damaged("varint exceeds 32 bits"))
    }

    pub(crate) fn length(&mut self) -> Result<usize, LogError> {
        usize::try_from(self.varint()?).map_err(|_| LogError::Damaged("a length is too large"))
    }

    pub(crate) fn signed(&mut self) -> Result<i64, LogError> {
        let number = self.varint()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Result<&'a [u8], LogError> {
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(TRUNCATED)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], LogError> {
        self.bytes(N)?.try_into().map_err(|_| TRUNCATED)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, LogError> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn section(&mut self) -> Result<Reader<'a>, LogError> {
        let length = self.length()?;
        self.bytes(length).map(Reader)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, LogError> {
        let length = self.length()?;
        std::str::from_utf8(self.bytes(length)?)
            .map_err(|_| LogError::Damaged("a text is not UTF-8"))
    }

    pub(crate) fn double(&mut self) -> Result<f64, LogError> {
        self.array().map(f64::from_le_bytes)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// zstd levels: batches of an open run are read once, sealed blobs often.
pub(crate) const OPEN_LEVEL: i32 = 1;
pub(crate) const SEALED_LEVEL: i32 = 3;
/// Upper bound of a decompressed blob.
const MAX_DECOMPRESSED_BYTES: usize = 1 << 31;

// Creating a context costs more than compressing a small blob with it.
thread_local! {
    static COMPRESSOR: RefCell<Option<LevelCompressor>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

struct LevelCompressor {
    level: i32,
    compressor: Compressor<'static>,
}

pub(crate) fn compress(bytes: &[u8], level: i32) -> Result<Vec<u8>, LogError> {
    COMPRESSOR.with_borrow_mut(|slot| {
        let mut cached = match slot.take() {
            Some(cached) => cached,
            None => LevelCompressor {
                level,
                compressor: Compressor::new(level).map_err(LogError::store)?,
            },
        };
        if cached.level != level {
            cached.compressor.set_compression_level(level).map_err(LogError::store)?;
            cached.level = level;
        }
        let compressed = cached.compressor.compress(bytes).map_err(LogError::store);
        *slot = Some(cached);
        compressed
    })
}

pub(crate) fn decompress(blob: &[u8]) -> Result<Vec<u8>, LogError> {
    let bound = Decompressor::upper_bound(blob)
        .unwrap_or(MAX_DECOMPRESSED_BYTES)
        .min(MAX_DECOMPRESSED_BYTES);
    DECOMPRESSOR.with_borrow_mut(|slot| {
        let mut decompressor = match slot.take() {
            Some(decompressor) => decompressor,
            None => Decompressor::new().map_err(LogError::store)?,
        };
        let decompressed = decompressor.decompress(blob, bound);
        *slot = Some(decompressor);
        decompressed.map_err(|_| LogError::Damaged("a blob cannot be decompressed"))
    })
}

/// A length as a stored `u32`. The limit on events per run makes it fit.
pub(crate) fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn codec_round_trips(plain: Vec<u64>, signed: Vec<i64>, text: String) {
            let mut out = Vec::new();
            plain.iter().for_each(|number| put_varint(&mut out, *number));
            signed.iter().for_each(|number| put_signed(&mut out, *number));
            put_text(&mut out, &text);
            let compressed = compress(&out, SEALED_LEVEL).unwrap();
            let decompressed = decompress(&compressed).unwrap();
            let mut reader = Reader(&decompressed);
            for number in plain { prop_assert_eq!(reader.varint().unwrap(), number); }
            for number in signed { prop_assert_eq!(reader.signed().unwrap(), number); }
            prop_assert_eq!(reader.text().unwrap(), text);
            prop_assert!(reader.is_empty());
        }

        #[test]
        fn decoding_arbitrary_bytes_never_panics(bytes: Vec<u8>) {
            let mut reader = Reader(&bytes);
            while reader.varint().is_ok() && reader.text().is_ok() {}
            let _ = decompress(&bytes);
        }
    }
}
