//! Normalisation of Thai and Latin text.
//!
//! Folded variants, all found in real text: sara am typed as two marks, tone marks before their
//! vowel, repeated marks, zero-width characters, double sara e for sara ae, Thai digits. Latin
//! letters lose case and accents; Greek letters of chemical names are spelled out. NFKC is not used
//! because it decomposes sara am.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

const SARA_AA: char = '\u{0E32}';
const SARA_AM: char = '\u{0E33}';
const SARA_E: char = '\u{0E40}';
const SARA_AE: char = '\u{0E41}';
const NIKHAHIT: char = '\u{0E4D}';

/// Normalised text with the origin of each character.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Normalized {
    text: String,
    origins: Vec<Origin>,
}

/// Position of a normalised character and of its source.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Origin {
    at: usize,
    from: usize,
    to: usize,
}

impl Normalized {
    /// Returns the normalised text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the source range of a normalised range.
    pub fn source(&self, range: Range<usize>) -> Range<usize> {
        let first = self.origins.partition_point(|origin| origin.at < range.start);
        let last = self.origins.partition_point(|origin| origin.at < range.end);
        let covered = self.origins.get(first..last).unwrap_or_default();
        // Reordered marks change the order of the sources.
        let from = covered.iter().map(|origin| origin.from).min();
        let to = covered.iter().map(|origin| origin.to).max();
        match (from, to) {
            (Some(from), Some(to)) => from..to,
            _ => {
                let end = self.origins.last().map_or(0, |origin| origin.to);
                let here = self.origins.get(first).map_or(end, |origin| origin.from);
                here..here
            }
        }
    }
}

/// Normalises a text; idempotent.
pub fn normalize(text: &str) -> Normalized {
    let mut ordered = MarkOrderer {
        done: Normalized {
            text: String::with_capacity(text.len()),
            origins: Vec::with_capacity(text.len() / 2),
        },
        last: None,
        marks: Vec::new(),
    };
    for (from, character) in text.char_indices() {
        let to = from + character.len_utf8();
        fold(character, |folded| ordered.put(Letter { character: folded, from, to }));
    }
    ordered.put_marks();
    ordered.done
}

/// Returns a fuzzy matching key: no tone marks, shorteners, silencers or spaces, and sara aa for
/// sara am. Never displayed.
pub fn skeleton(normalized: &str) -> String {
    normalized
        .chars()
        .filter(|character| {
            !matches!(character, '\u{0E47}'..='\u{0E4E}') && !character.is_whitespace()
        })
        .map(|character| if character == SARA_AM { SARA_AA } else { character })
        .collect()
}

/// Returns whether a character is a Thai letter, vowel or mark, not a digit or sign.
pub const fn is_thai(character: char) -> bool {
    matches!(character, '\u{0E01}'..='\u{0E2E}' | '\u{0E30}'..='\u{0E3A}' | '\u{0E40}'..='\u{0E45}' | '\u{0E47}'..='\u{0E4E}')
}

#[derive(Clone, Copy)]
struct Letter {
    character: char,
    from: usize,
    to: usize,
}

/// Maps one input character to zero or more.
fn fold(character: char, mut put: impl FnMut(char)) {
    match character {
        'a'..='z' | '0'..='9' => put(character),
        'A'..='Z' => put(character.to_ascii_lowercase()),
        // Zero-width characters, direction marks, the soft hyphen, variation selectors.
        '\u{00AD}'
        | '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{2064}'
        | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}' => {}
        '๐'..='๙' => put(ascii_digit(character, '๐')),
        '\u{0E00}'..='\u{0E7F}' => put(character),
        '\u{2018}' | '\u{2019}' | '\u{02BC}' => put('\''),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => put('-'),
        '\u{FF01}'..='\u{FF5E}' => {
            let narrow = u32::from(character) - 0xFF01 + 0x21;
            fold(char::from_u32(narrow).unwrap_or(character), put);
        }
        'α' | 'Α' => "alpha".chars().for_each(put),
        'β' | 'Β' => "beta".chars().for_each(put),
        'γ' | 'Γ' => "gamma".chars().for_each(put),
        'δ' | 'Δ' => "delta".chars().for_each(put),
        'ß' | 'ẞ' => "ss".chars().for_each(put),
        'æ' | 'Æ' => "ae".chars().for_each(put),
        'œ' | 'Œ' => "oe".chars().for_each(put),
        'ø' | 'Ø' => put('o'),
        'ł' | 'Ł' => put('l'),
        character if character.is_ascii() => {
            put(if character.is_whitespace() { ' ' } else { character });
        }
        character if character.is_whitespace() => put(' '),
        character if is_combining_mark(character) => {}
        character => std::iter::once(character)
            .nfd()
            .filter(|part| !is_combining_mark(*part))
            .flat_map(char::to_lowercase)
            .for_each(put),
    }
}

fn ascii_digit(character: char, zero: char) -> char {
    char::from_digit(u32::from(character) - u32::from(zero), 10).unwrap_or(character)
}

/// Orders and deduplicates the marks of each Thai consonant, and joins nikhahit + sara aa and sara
/// e + sara e.
struct MarkOrderer {
    done: Normalized,
    /// Last completed character.
    last: Option<Letter>,
    /// Pending marks of the current consonant.
    marks: Vec<Letter>,
}

impl MarkOrderer {
    fn put(&mut self, letter: Letter) {
        let is_mark = rank(letter.character).is_some();
        if is_mark || letter.character == SARA_AA && self.has_mark(NIKHAHIT) {
            self.marks.push(letter);
            return;
        }
        self.put_marks();
        match self.last {
            Some(last) if last.character == SARA_E && letter.character == SARA_E => {
                self.done.text.pop();
                self.done.origins.pop();
                self.write(Letter { character: SARA_AE, from: last.from, to: letter.to });
            }
            _ => self.write(letter),
        }
    }

    fn has_mark(&self, wanted: char) -> bool {
        self.marks.iter().any(|mark| mark.character == wanted)
    }

    /// Flushes the pending marks in order.
    fn put_marks(&mut self) {
        let mut marks = std::mem::take(&mut self.marks);
        // Most runs have one mark.
        if marks.len() > 1 {
            set_in_order(&mut marks);
        }
        for mark in marks.drain(..) {
            self.write(mark);
        }
        self.marks = marks;
    }

    fn write(&mut self, letter: Letter) {
        let Letter { character, from, to } = letter;
        self.done.origins.push(Origin { at: self.done.text.len(), from, to });
        self.done.text.push(character);
        self.last = Some(letter);
    }
}

fn set_in_order(marks: &mut Vec<Letter>) {
    let place_of =
        |wanted: char, marks: &[Letter]| marks.iter().position(|letter| letter.character == wanted);
    if place_of(SARA_AA, marks).is_some()
        && let Some(place) = place_of(NIKHAHIT, marks)
    {
        let nikhahit = marks.remove(place);
        if let Some(sara_aa) = marks.iter_mut().find(|letter| letter.character == SARA_AA) {
            *sara_aa = Letter { character: SARA_AM, from: nikhahit.from, to: sara_aa.to };
        }
    }
    marks.sort_by_key(|letter| rank(letter.character));
    marks.dedup_by_key(|letter| letter.character);
}

/// Returns the order of a mark; `None` for other characters.
const fn rank(character: char) -> Option<u8> {
    match character {
        // Vowels above and below, and the shortener.
        '\u{0E31}' | '\u{0E34}'..='\u{0E3A}' | '\u{0E47}' => Some(0),
        // Tones.
        '\u{0E48}'..='\u{0E4B}' => Some(1),
        // Thanthakhat, nikhahit, yamakkan.
        '\u{0E4C}'..='\u{0E4E}' => Some(2),
        // Sara am follows the tone mark in any input order.
        SARA_AM => Some(3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spelling_variants_are_normalised() {
        let cases = [
            ("sara am from two marks", "น\u{0E49}\u{0E4D}\u{0E32}", "น้ำ"),
            ("the tone between the two", "น\u{0E4D}\u{0E49}\u{0E32}", "น้ำ"),
            ("the tone after sara am", "น\u{0E33}\u{0E49}", "น้ำ"),
            ("the tone before the vowel above", "ท\u{0E49}\u{0E35}", "ที้"),
            ("the tone before the vowel below", "ต\u{0E48}\u{0E38}ม", "ตุ่ม"),
            ("a doubled tone", "ต\u{0E49}\u{0E49}น", "ต้น"),
            ("a doubled vowel", "ข\u{0E34}\u{0E34}ง", "ขิง"),
            ("two sara e", "เเก้", "แก้"),
            ("zero-width spaces", "ฟ้า\u{200B}ทะลาย\u{FEFF}โจร", "ฟ้าทะลายโจร"),
            ("a soft hyphen", "andro\u{00AD}graphis", "andrographis"),
            ("Thai digits", "วันละ ๓ ครั้ง", "วันละ 3 ครั้ง"),
            ("capitals and accents", "Sénna ALEXANDRÍNA", "senna alexandrina"),
            ("a letter and its accent apart", "se\u{0301}nna", "senna"),
            ("Greek of chemical names", "β-sitosterol", "beta-sitosterol"),
            ("wide letters", "Ｋ６４", "k64"),
            (
                "curly quotes, dashes and odd spaces",
                "St John’s\u{00A0}wort – x",
                "st john's wort - x",
            ),
        ];
        for (name, typed, expected) in cases {
            assert_eq!(normalize(typed).text(), expected, "{name}");
        }
    }

    #[test]
    fn normalised_offsets_map_back_to_the_source() {
        let original = "กิน\u{200B}น\u{0E4D}\u{0E49}\u{0E32}ขิง";
        let normalized = normalize(original);
        let place = normalized.text().find("น้ำ").unwrap();
        let source = normalized.source(place..place + "น้ำ".len());
        assert_eq!(&original[source], "น\u{0E4D}\u{0E49}\u{0E32}");
        assert_eq!(normalized.source(0..0), 0..0);
        let end = normalized.text().len();
        assert_eq!(normalized.source(end..end), original.len()..original.len());
    }

    #[test]
    fn skeleton_is_invariant_under_lost_tone_marks_and_sara_am() {
        let right = skeleton(normalize("น้ำมันไพล").text());
        let scanned = skeleton(normalize("นามัน ไพล").text());
        assert_eq!(right, scanned);
    }

    proptest! {
        #[test]
        fn normalisation_is_idempotent(text in "[ก-๛a-zA-Z0-9 \u{200B}éβ]{0,60}") {
            let once = normalize(&text);
            let twice = normalize(once.text());
            prop_assert_eq!(once.text(), twice.text());
        }

        #[test]
        fn source_ranges_lie_on_character_boundaries(text in "\\PC{0,40}") {
            let normalized = normalize(&text);
            for (at, character) in normalized.text().char_indices() {
                let source = normalized.source(at..at + character.len_utf8());
                prop_assert!(text.get(source).is_some());
            }
        }
    }
}
