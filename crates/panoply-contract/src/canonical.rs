//! Canonical JSON (RFC 8785): keys sorted by UTF-16 code units, numbers in ECMAScript notation.
//!
//! Converts text to text without building a tree. Every reply is canonicalised, and with a tree
//! (`serde_json_canonicalizer`, the reference in the tests) this step costs several times more. The
//! input comes from `serde_json`, which writes no whitespace and escapes strings as the RFC
//! requires.

use std::cmp::Ordering;
use std::ops::Range;

use crate::error::ToolError;

/// Canonicalises compact JSON written by `serde_json`.
pub(crate) fn of_text(text: &str) -> Result<Vec<u8>, ToolError> {
    let mut writer = Writer {
        text: text.as_bytes(),
        at: 0,
        out: Vec::with_capacity(text.len() + 16),
        members: Vec::new(),
        sorted: Vec::new(),
    };
    match writer.value(0) {
        Some(()) if writer.at == text.len() => Ok(writer.out),
        _ => Err(ToolError::system("no canonical JSON for this value")),
    }
}

/// Larger than the recursion limit of `serde_json`.
const MAX_DEPTH: usize = 256;

struct Writer<'a> {
    text: &'a [u8],
    at: usize,
    out: Vec<u8>,
    /// Members of the open objects, innermost last.
    members: Vec<Member>,
    /// Scratch buffer for sorting members.
    sorted: Vec<u8>,
}

struct Member {
    name: Name,
    /// Range of name and value in the output.
    written: Range<usize>,
}

struct Name {
    /// Range in the input, with escapes and without quotes.
    range: Range<usize>,
    /// The first eight bytes, which nearly always decide the order; `None` for a name whose byte
    /// order may differ from its UTF-16 order.
    prefix: Option<u64>,
}

impl Writer<'_> {
    /// Writes the value at the current position. `None` for malformed input.
    fn value(&mut self, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.text.get(self.at)? {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' => self.string().map(|_| ()),
            b't' => self.literal("true"),
            b'f' => self.literal("false"),
            b'n' => self.literal("null"),
            _ => self.number(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        let first = self.members.len();
        let start = self.out.len() + 1;
        self.copy(1);
        let mut in_order = true;
        while *self.text.get(self.at)? != b'}' {
            if self.members.len() > first {
                self.expect(b',')?;
                self.out.push(b',');
            }
            let from = self.out.len();
            let range = self.string()?;
            let name = Name { prefix: sort_prefix(self.text.get(range.clone())?), range };
            self.expect(b':')?;
            self.out.push(b':');
            self.value(depth + 1)?;
            if let Some(last) = self.members.get(first..).and_then(<[Member]>::last) {
                in_order &= compare(self.text, &last.name, &name).is_lt();
            }
            self.members.push(Member { name, written: from..self.out.len() });
        }
        if !in_order {
            self.sort(first, start)?;
        }
        self.members.truncate(first);
        self.copy(1);
        Some(())
    }

    /// Sorts the members from index `first`, whose output begins at `start`.
    fn sort(&mut self, first: usize, start: usize) -> Option<()> {
        let members = self.members.get_mut(first..)?;
        members.sort_by(|one, other| compare(self.text, &one.name, &other.name));
        self.sorted.clear();
        for member in members.iter() {
            if !self.sorted.is_empty() {
                self.sorted.push(b',');
            }
            self.sorted.extend_from_slice(self.out.get(member.written.clone())?);
        }
        self.out.get_mut(start..)?.copy_from_slice(&self.sorted);
        Some(())
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        self.copy(1);
        let mut is_first = true;
        while *self.text.get(self.at)? != b']' {
            if !is_first {
                self.expect(b',')?;
                self.out.push(b',');
            }
            is_first = false;
            self.value(depth + 1)?;
        }
        self.copy(1);
        Some(())
    }

    /// Copies a string; returns the range of its content.
    fn string(&mut self) -> Option<Range<usize>> {
        let start = self.at + 1;
        let mut end = start;
        if self.text.get(self.at) != Some(&b'"') {
            return None;
        }
        loop {
            let rest = self.text.get(end..)?;
            end += rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
            if self.text.get(end) == Some(&b'"') {
                break;
            }
            end += 2;
        }
        self.copy(end + 1 - self.at);
        Some(start..end)
    }

    fn literal(&mut self, literal: &str) -> Option<()> {
        self.text.get(self.at..)?.starts_with(literal.as_bytes()).then(|| self.copy(literal.len()))
    }

    fn number(&mut self) -> Option<()> {
        let rest = self.text.get(self.at..)?;
        let length = rest
            .iter()
            .position(|byte| !matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
            .unwrap_or(rest.len());
        let number = rest.get(..length)?;
        if is_canonical(number) {
            self.copy(length);
            return Some(());
        }
        let double: f64 = std::str::from_utf8(number).ok()?.parse().ok()?;
        self.out.extend(serde_json_canonicalizer::to_vec(&double).ok()?);
        self.at += length;
        Some(())
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (*self.text.get(self.at)? == byte).then(|| self.at += 1)
    }

    /// Copies `length` bytes unchanged.
    fn copy(&mut self, length: usize) {
        let end = self.at + length;
        self.out.extend_from_slice(self.text.get(self.at..end).unwrap_or_default());
        self.at = end;
    }
}

/// Whether a number is certainly in canonical form already. A double represents any decimal of up
/// to fifteen digits, so a number with no more digits, no exponent and no redundant zero is the
/// shortest text of its double; ECMAScript writes it without an exponent from 1e-6 upward.
fn is_canonical(number: &[u8]) -> bool {
    const EXACT_DIGITS: usize = 15;
    const MAX_LEADING_ZEROS: usize = 5;
    let digits = number.strip_prefix(b"-").unwrap_or(number);
    if digits.len() > EXACT_DIGITS + 1 {
        return false;
    }
    match digits.iter().position(|byte| *byte == b'.') {
        None => {
            let whole = digits.iter().all(u8::is_ascii_digit) && digits.len() <= EXACT_DIGITS;
            whole && (digits != b"0" || number == b"0")
        }
        Some(point) => {
            let (whole, fraction) = digits.split_at(point);
            let fraction = fraction.get(1..).unwrap_or_default();
            let is_plain = whole.iter().chain(fraction).all(u8::is_ascii_digit);
            let zeros = fraction.iter().take_while(|digit| **digit == b'0').count();
            is_plain
                && !whole.is_empty()
                && fraction.last().is_some_and(|last| *last != b'0')
                && (whole != b"0" || zeros <= MAX_LEADING_ZEROS)
        }
    }
}

/// The first eight bytes of a plain ASCII name without escapes, as a big-endian number.
fn sort_prefix(name: &[u8]) -> Option<u64> {
    let mut start = [0; 8];
    for (byte, slot) in name.iter().zip(&mut start) {
        *slot = *byte;
    }
    let is_plain = |byte: &u8| byte.is_ascii() && *byte != b'\\';
    name.iter().all(is_plain).then(|| u64::from_be_bytes(start))
}

/// Compares by UTF-16 code units, as the RFC requires; byte order differs for non-ASCII names only.
fn compare(text: &[u8], one: &Name, other: &Name) -> Ordering {
    let at = |name: &Name| text.get(name.range.clone()).unwrap_or_default();
    match one.prefix.zip(other.prefix) {
        Some((one, other)) if one != other => one.cmp(&other),
        Some(_) => at(one).cmp(at(other)),
        None => utf16_units(at(one)).cmp(&utf16_units(at(other))),
    }
}

/// Unescapes a name and returns its UTF-16 code units.
fn utf16_units(name: &[u8]) -> Vec<u16> {
    let mut quoted = Vec::with_capacity(name.len() + 2);
    quoted.push(b'"');
    quoted.extend_from_slice(name);
    quoted.push(b'"');
    let name: String = serde_json::from_slice(&quoted).unwrap_or_default();
    name.encode_utf16().collect()
}
