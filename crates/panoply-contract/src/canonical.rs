//! Canonical JSON as RFC 8785 has it: keys sorted by UTF-16, numbers as ECMAScript prints doubles.
//!
//! Made from text to text, without a tree between: this is done to every reply, and a tree would
//! cost several times what the rest does. The text comes from `serde_json`, which writes no
//! spaces and already escapes strings as the RFC wants.

use std::cmp::Ordering;
use std::ops::Range;

use crate::error::ToolError;

/// The canonical form of JSON that `serde_json` wrote without spaces.
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

/// Deeper than `serde_json` reads.
const DEEPEST: usize = 256;

struct Writer<'a> {
    text: &'a [u8],
    at: usize,
    out: Vec<u8>,
    /// Members of the objects that are being written, the innermost last.
    members: Vec<Member>,
    /// Where members are put in order.
    sorted: Vec<u8>,
}

/// A member of an object.
struct Member {
    name: Name,
    /// Name and value in what was written.
    written: Range<usize>,
}

/// The name of a member.
struct Name {
    /// Where it stands in the text, with its escapes and without its quotes.
    place: Range<usize>,
    /// Its first eight bytes, which nearly always decide what comes before what; none for a name
    /// whose bytes are in another order than its UTF-16 units.
    start: Option<u64>,
}

impl Writer<'_> {
    /// Writes the value that begins here. `None` when the text is not what it should be.
    fn value(&mut self, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        match self.text.get(self.at)? {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' => self.string().map(|_| ()),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => self.number(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        let first = self.members.len();
        let start = self.out.len() + 1;
        self.keep(1);
        let mut in_order = true;
        while *self.text.get(self.at)? != b'}' {
            if self.members.len() > first {
                self.expect(b',')?;
                self.out.push(b',');
            }
            let from = self.out.len();
            let place = self.string()?;
            let name = Name { start: start_of(self.text.get(place.clone())?), place };
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
        self.keep(1);
        Some(())
    }

    /// Puts the members from `first` on, written from `start` on, in order.
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
        self.keep(1);
        let mut is_first = true;
        while *self.text.get(self.at)? != b']' {
            if !is_first {
                self.expect(b',')?;
                self.out.push(b',');
            }
            is_first = false;
            self.value(depth + 1)?;
        }
        self.keep(1);
        Some(())
    }

    /// A string as it is; gives where its content stands.
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
        self.keep(end + 1 - self.at);
        Some(start..end)
    }

    fn word(&mut self, word: &str) -> Option<()> {
        self.text.get(self.at..)?.starts_with(word.as_bytes()).then(|| self.keep(word.len()))
    }

    fn number(&mut self) -> Option<()> {
        let rest = self.text.get(self.at..)?;
        let length = rest
            .iter()
            .position(|byte| !matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
            .unwrap_or(rest.len());
        let number = rest.get(..length)?;
        if is_canonical(number) {
            self.keep(length);
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

    /// Takes over so many bytes as they are.
    fn keep(&mut self, length: usize) {
        let end = self.at + length;
        self.out.extend_from_slice(self.text.get(self.at..end).unwrap_or_default());
        self.at = end;
    }
}

/// Whether a number is surely written as the RFC wants. Up to fifteen digits a double holds any
/// decimal, so what has no more, no exponent and no needless zero is the shortest text of its
/// double; ECMAScript writes it without an exponent from a millionth on.
fn is_canonical(number: &[u8]) -> bool {
    const EXACT_DIGITS: usize = 15;
    const MOST_ZEROS: usize = 5;
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
                && (whole != b"0" || zeros <= MOST_ZEROS)
        }
    }
}

/// The first eight bytes of a name without escapes and beyond-ASCII letters, as a number.
fn start_of(name: &[u8]) -> Option<u64> {
    let mut start = [0; 8];
    for (byte, slot) in name.iter().zip(&mut start) {
        *slot = *byte;
    }
    let is_plain = |byte: &u8| byte.is_ascii() && *byte != b'\\';
    name.iter().all(is_plain).then(|| u64::from_be_bytes(start))
}

/// The RFC sorts by UTF-16 units, which differs from bytes only beyond ASCII.
fn compare(text: &[u8], one: &Name, other: &Name) -> Ordering {
    let at = |name: &Name| text.get(name.place.clone()).unwrap_or_default();
    match one.start.zip(other.start) {
        Some((one, other)) if one != other => one.cmp(&other),
        Some(_) => at(one).cmp(at(other)),
        None => units(at(one)).cmp(&units(at(other))),
    }
}

/// The UTF-16 units of a name with its escapes.
fn units(name: &[u8]) -> Vec<u16> {
    let mut quoted = Vec::with_capacity(name.len() + 2);
    quoted.push(b'"');
    quoted.extend_from_slice(name);
    quoted.push(b'"');
    let name: String = serde_json::from_slice(&quoted).unwrap_or_default();
    name.encode_utf16().collect()
}
