//! Bytes of a broker's file as text: UTF-8, UTF-16, Windows-1252, and Excel workbooks as CSV.

use std::borrow::Cow;

use encoding_rs::{UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::xlsx;

/// Why a file cannot be read as text.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum DecodeError {
    /// A damaged or unusual workbook.
    #[error("the workbook cannot be read: {0}")]
    Workbook(String),
    /// A PDF, an old `.xls` or an archive.
    #[error("{0} cannot be read")]
    NotText(&'static str),
}

impl DecodeError {
    /// Suggested correction.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Workbook(_) => "open it and save its sheets as CSV",
            Self::NotText(_) => "download the transactions as CSV or .xlsx instead",
        }
    }
}

/// Decodes a file. Text that is not UTF-8 and has no byte order mark is Windows-1252, in which every
/// byte is a character.
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, DecodeError> {
    match bytes {
        [b'P', b'K', 3, 4, ..] => xlsx::as_csv(bytes).map(Cow::Owned),
        [b'%', b'P', b'D', b'F', ..] => Err(DecodeError::NotText("a PDF")),
        [0xD0, 0xCF, 0x11, 0xE0, ..] => Err(DecodeError::NotText("an Excel file of before 2007")),
        [0x1F, 0x8B, ..] => Err(DecodeError::NotText("a gzip archive")),
        [0xFF, 0xFE, rest @ ..] => Ok(UTF_16LE.decode_without_bom_handling(rest).0),
        [0xFE, 0xFF, rest @ ..] => Ok(UTF_16BE.decode_without_bom_handling(rest).0),
        [_, 0, ..] => Ok(UTF_16LE.decode_without_bom_handling(bytes).0),
        [0, _, ..] => Ok(UTF_16BE.decode_without_bom_handling(bytes).0),
        _ => Ok(match UTF_8.decode_without_bom_handling_and_without_replacement(bytes) {
            Some(text) => text,
            None => WINDOWS_1252.decode_without_bom_handling(bytes).0,
        }),
    }
}

/// [`decode`] without a copy for UTF-8: a file may have a million lines.
pub fn decode_owned(bytes: Vec<u8>) -> Result<String, DecodeError> {
    let is_text = !bytes.starts_with(b"PK\x03\x04") && !bytes.starts_with(b"%PDF");
    if !is_text {
        return decode(&bytes).map(Cow::into_owned);
    }
    match String::from_utf8(bytes) {
        Ok(text) if !text.starts_with('\0') && text.as_bytes().get(1) != Some(&0) => Ok(text),
        Ok(text) => decode(text.as_bytes()).map(Cow::into_owned),
        Err(other) => decode(other.as_bytes()).map(Cow::into_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_all_encodings_become_the_same_text() {
        let text = "Value (£)\n1,5 €\n";
        let utf16: Vec<u16> = text.encode_utf16().collect();
        let little: Vec<u8> = utf16.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = utf16.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        let windows = WINDOWS_1252.encode(text).0.into_owned();
        assert!(windows.contains(&0xA3) && windows.contains(&0x80));
        for bytes in [
            text.as_bytes().to_vec(),
            [&[0xFF, 0xFE], little.as_slice()].concat(),
            [&[0xFE, 0xFF], big.as_slice()].concat(),
            little,
            windows,
        ] {
            assert_eq!(decode(&bytes).unwrap(), text, "{bytes:?}");
            assert_eq!(decode_owned(bytes).unwrap(), text);
        }
        for bytes in [&b"%PDF-1.4"[..], b"PK\x03\x04broken", &[0xD0, 0xCF, 0x11, 0xE0, 1]] {
            assert!(decode(bytes).is_err() && decode_owned(bytes.to_vec()).is_err());
        }
    }
}
