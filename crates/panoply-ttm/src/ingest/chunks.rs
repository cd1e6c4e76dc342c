//! Splits page text into chunks for search and citation.

use std::ops::Range;

use crate::text::is_thai;

/// Maximum length of a chunk in characters.
pub const MAX_CHUNK_LENGTH: usize = 900;

/// Minimum length of a chunk; shorter ones are extended.
const MIN_CHUNK_LENGTH: usize = 300;

/// Splits a text into contiguous character ranges without surrounding whitespace.
pub fn cut(text: &str) -> Vec<Range<usize>> {
    let letters: Vec<char> = text.chars().collect();
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < letters.len() {
        let rest = letters.get(start..).unwrap_or_default();
        let end = start + length(rest);
        pieces.extend(trimmed(&letters, start..end));
        start = end;
    }
    pieces
}

/// Returns the length of the first chunk: up to a blank line, else a sentence end, else a space,
/// else the maximum.
fn length(letters: &[char]) -> usize {
    if letters.len() <= MAX_CHUNK_LENGTH {
        return letters.len();
    }
    let window = letters.get(..MAX_CHUNK_LENGTH).unwrap_or(letters);
    let last = |fits: &dyn Fn(&[char]) -> bool| {
        let pairs = window.windows(2).enumerate().skip(MIN_CHUNK_LENGTH);
        pairs.filter(|(_, pair)| fits(pair)).map(|(at, _)| at + 2).last()
    };
    last(&|pair| pair == ['\n', '\n'])
        .or_else(|| last(&|pair| matches!(pair, ['.' | '!' | '?', ' ' | '\n'])))
        .or_else(|| last(&|pair| pair.last().is_some_and(|one| one.is_whitespace())))
        .unwrap_or(MAX_CHUNK_LENGTH)
}

fn trimmed(letters: &[char], range: Range<usize>) -> Option<Range<usize>> {
    let piece = letters.get(range.clone())?;
    let first = piece.iter().position(|one| !one.is_whitespace())?;
    let last = piece.iter().rposition(|one| !one.is_whitespace())?;
    Some(range.start + first..range.start + last + 1)
}

/// Returns `th` if at least a fifth of the letters are Thai, else `en`.
pub fn language(text: &str) -> &'static str {
    let thai = text.chars().filter(|one| is_thai(*one)).count();
    let letters = text.chars().filter(|one| one.is_alphabetic() || is_thai(*one)).count();
    if thai > 0 && thai * 5 >= letters { "th" } else { "en" }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn chunk_ends_at_a_paragraph_or_sentence() {
        let sentence = "ขิงช่วยขับลม และแก้คลื่นไส้อาเจียน ".repeat(12);
        let text = format!("{sentence}\n\n{sentence}\n\n{sentence}");
        let pieces = cut(&text);
        let letters: Vec<char> = text.chars().collect();
        assert_eq!(pieces.len(), 2, "two paragraphs fit into the first, one is left");
        let first: String = letters[pieces[0].clone()].iter().collect();
        assert!(first.ends_with("อาเจียน"));
        assert!(cut(" \n ").is_empty());
    }

    #[test]
    fn language_is_detected_from_the_script() {
        assert_eq!(language("ขมิ้นชัน (Curcuma longa) มีสารเคอร์คูมิน"), "th");
        assert_eq!(language("Turmeric, in Thai ขมิ้น, is a rhizome used in cooking."), "en");
        assert_eq!(language("123"), "en");
    }

    proptest! {
        #[test]
        fn chunking_loses_no_text_and_respects_the_limit(text in "[ก-ฮa-z. \n]{0,3000}") {
            let letters: Vec<char> = text.chars().collect();
            let pieces = cut(&text);
            let mut covered = vec![false; letters.len()];
            for piece in &pieces {
                prop_assert!(piece.len() <= MAX_CHUNK_LENGTH);
                covered[piece.clone()].fill(true);
            }
            for (letter, covered) in letters.iter().zip(covered) {
                prop_assert!(covered || letter.is_whitespace());
            }
        }
    }
}
