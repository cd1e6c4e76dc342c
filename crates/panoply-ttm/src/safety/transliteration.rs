//! Thai spellings of foreign names, folded: `บรูเฟ่น` and `บรูเฟน`, `พาราเซทามอล` and `พาราเซตามอล`
//! are one name each.
//!
//! Transliterations differ in tone marks, silenced letters, vowel length, and letters with the same
//! sound. Folding drops or merges these. Of the 504 Thai names of medicines, no two different
//! medicines get the same key by it, and a key of six letters or more lies in no other Thai word of
//! `words_th.txt` except one in `อควาเรียม` (aquarium).

use std::ops::Range;

use crate::text::is_thai;

/// Minimum length of a folded name. Shorter ones occur in ordinary words.
pub(super) const MIN_FOLDED: usize = 6;

/// A folded text with the offsets of its letters in the original.
#[derive(Debug, Default)]
pub(super) struct Folded {
    /// Folded text.
    pub(super) text: String,
    /// Start and end of each byte's letter in the original.
    origins: Vec<Range<usize>>,
}

impl Folded {
    /// Folds a normalised text.
    pub(super) fn of(text: &str) -> Self {
        let letters: Vec<(usize, char)> = text.char_indices().collect();
        let mut folded = Self::default();
        for (place, (start, letter)) in letters.iter().enumerate() {
            let next = |ahead: usize| letters.get(place + ahead).map(|(_, letter)| *letter);
            if is_mark(*letter) || is_silenced(*letter, next(1), next(2)) {
                continue;
            }
            folded.text.push(sound(*letter));
            let range = *start..start + letter.len_utf8();
            folded.origins.resize(folded.text.len(), range);
        }
        folded
    }

    /// Returns the original range of a folded range. Marks and silenced letters at its end belong
    /// to it.
    pub(super) fn source(&self, text: &str, range: &Range<usize>) -> Range<usize> {
        let start = self.origins.get(range.start).map_or(0, |origin| origin.start);
        let end = self.origins.get(range.end).map(|origin| origin.start);
        // Without a following letter of the folded text the rest of the original belongs to it.
        let end = end.unwrap_or(text.len());
        start..end
    }
}

/// Tone marks, the shortener, the silencer and other marks above.
const fn is_mark(letter: char) -> bool {
    matches!(letter, '\u{0E47}'..='\u{0E4E}')
}

/// Returns whether the silencer follows the letter, directly or after a short vowel: `ซ์`, `ธิ์`.
fn is_silenced(letter: char, next: Option<char>, then: Option<char>) -> bool {
    const SILENCER: char = '\u{0E4C}';
    is_thai(letter)
        && (next == Some(SILENCER)
            || matches!(next, Some('\u{0E34}' | '\u{0E38}')) && then == Some(SILENCER))
}

/// Returns one letter for all with the same or a similar sound.
const fn sound(letter: char) -> char {
    match letter {
        'ซ' => 'ส',
        'ท' | 'ฏ' => 'ต',
        'ณ' => 'น',
        'ฎ' => 'ด',
        'ร' => 'ล',
        // Long vowels become short.
        '\u{0E35}' => '\u{0E34}',
        '\u{0E37}' => '\u{0E36}',
        '\u{0E39}' => '\u{0E38}',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name_have_one_key() {
        for (one, other) in [
            ("บรูเฟน", "บรูเฟ่น"),
            ("ซาเรลโต้", "ซาเรลโต"),
            ("พลาวิกซ์", "พลาวิก"),
            ("วาร์ฟาริน", "วาฟารีน"),
            ("พาราเซทามอล", "พาราเซตามอล"),
            ("แอสไพริน", "แอสไพลิน"),
        ] {
            assert_eq!(Folded::of(one).text, Folded::of(other).text, "{one} {other}");
        }
    }

    #[test]
    fn source_range_holds_the_marks_of_the_name() {
        let text = "กินพลาวิกซ์กับขิง";
        let folded = Folded::of(text);
        let key = "พลาวิก".replace('ร', "ล");
        let at = folded.text.find(&key).unwrap();
        let range = folded.source(text, &(at..at + key.len()));
        assert_eq!(&text[range], "พลาวิกซ์");
    }
}
