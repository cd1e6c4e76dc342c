//! Thai word segmentation by shortest path.
//!
//! A run of Thai letters is a graph: nodes are cluster boundaries, edges are dictionary words. The
//! best path minimises unknown letters, then the number of words, then prefers longer words (`ยา`,
//! `น้ำมัน` over `ยาน้ำ`, `มัน`) and names (`ใช้`, `การบูร` over `ใช้การ`, `บูร`). Word length is
//! bounded by the dictionary, so the run time is linear.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use super::cluster::edges;
use super::dictionary::Dictionary;
use super::normalize::is_thai;

/// Kind of a token.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum TokenKind {
    /// A Thai dictionary word or name.
    Thai,
    /// Thai letters outside dictionary words.
    Unknown,
    /// A non-Thai word.
    Foreign,
    /// A number with decimal point.
    Number,
    /// A code such as `k64.9`: a letter, two digits, and what follows a point.
    Code,
    /// A Thai sign such as paiyannoi or mai yamok.
    Sign,
}

/// A token of the normalised text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Token {
    /// Byte range in the normalised text.
    pub range: Range<usize>,
    /// Kind.
    pub kind: TokenKind,
}

impl Token {
    /// Returns the text of the token.
    pub fn text<'t>(&self, normalized: &'t str) -> &'t str {
        normalized.get(self.range.clone()).unwrap_or_default()
    }
}

/// Dictionary-based segmenter.
#[derive(Clone, Debug)]
pub struct Segmenter {
    dictionary: Arc<Dictionary>,
}

impl Segmenter {
    /// Creates a segmenter.
    pub const fn new(dictionary: Arc<Dictionary>) -> Self {
        Self { dictionary }
    }

    /// Returns the dictionary.
    pub fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// Segments a normalised text; whitespace and punctuation are dropped.
    pub fn segment(&self, normalized: &str) -> Vec<Token> {
        let mut tokens = Vec::new();
        let mut at = 0;
        while let Some(rest) = normalized.get(at..)
            && let Some(first) = rest.chars().next()
        {
            let length = if is_thai(first) {
                let length = run_length(rest, is_thai);
                self.cut_thai(rest.get(..length).unwrap_or_default(), at, &mut tokens);
                length
            } else if is_foreign(first) {
                let (length, kind) = foreign(rest);
                tokens.push(Token { range: at..at + length, kind });
                length
            } else {
                if is_sign(first) {
                    let range = at..at + first.len_utf8();
                    tokens.push(Token { range, kind: TokenKind::Sign });
                }
                first.len_utf8()
            };
            at += length;
        }
        tokens
    }

    /// Splits a compound into at least two words: ฟ้า, ทะลาย, โจร.
    pub fn parts(&self, word: &str) -> Vec<Range<usize>> {
        let parts = self.best_path(word, Some(word.len()));
        let whole = parts.iter().all(|part| part.kind == TokenKind::Thai);
        if parts.len() < 2 || !whole {
            return Vec::new();
        }
        parts.into_iter().map(|part| part.range).collect()
    }

    fn cut_thai(&self, run: &str, offset: usize, tokens: &mut Vec<Token>) {
        for piece in self.best_path(run, None) {
            let range = piece.range.start + offset..piece.range.end + offset;
            tokens.push(Token { range, kind: piece.kind });
        }
    }

    /// Returns the best path through a run of Thai letters without words of the `excluded` length.
    fn best_path(&self, run: &str, excluded: Option<usize>) -> Vec<Token> {
        let edges = edges(run);
        let mut node_at = vec![None; run.len() + 1];
        for (node, edge) in edges.iter().enumerate() {
            if let Some(place) = node_at.get_mut(*edge) {
                *place = Some(node);
            }
        }
        // Best path from each node to the end, computed backwards.
        let mut best: Vec<WordPath> = vec![WordPath::END; edges.len()];
        for (node, start) in edges.iter().copied().enumerate().rev().skip(1) {
            let mut way = unknown_path(&edges, &best, run, node);
            self.dictionary.prefixes(run.get(start..).unwrap_or_default(), |length, is_name| {
                if excluded == Some(length) {
                    return;
                }
                let Some(next) = node_at.get(start + length).copied().flatten() else { return };
                if let Some(onward) = best.get(next) {
                    let (squares, names) = onward.longest;
                    let name = if is_name { length } else { 0 };
                    way = way.better(WordPath {
                        unknown: onward.unknown,
                        words: onward.words + 1,
                        longest: (squares + length * length, names + name),
                        next,
                        kind: TokenKind::Thai,
                    });
                }
            });
            if let Some(place) = best.get_mut(node) {
                *place = way;
            }
        }
        walk(&edges, &best)
    }
}

/// A path from a node to the end of the run.
#[derive(Clone, Copy, Debug)]
struct WordPath {
    unknown: usize,
    words: usize,
    /// Sum of squared word lengths, and the number of letters in names.
    longest: (usize, usize),
    next: usize,
    kind: TokenKind,
}

impl WordPath {
    const END: Self =
        Self { unknown: 0, words: 0, longest: (0, 0), next: usize::MAX, kind: TokenKind::Thai };

    /// Prefers fewer unknown letters, then fewer words, longer words, and a longer first word.
    fn better(self, other: Self) -> Self {
        let cost = |way: &Self| (way.unknown, way.words, Reverse(way.longest), Reverse(way.next));
        if cost(&other) < cost(&self) { other } else { self }
    }
}

/// Path that treats the next cluster as unknown.
fn unknown_path(edges: &[usize], best: &[WordPath], run: &str, node: usize) -> WordPath {
    let next = node + 1;
    let onward = best.get(next).copied().unwrap_or(WordPath::END);
    let cluster = edges
        .get(node)
        .zip(edges.get(next))
        .and_then(|(start, end)| run.get(*start..*end))
        .unwrap_or_default();
    // Adjacent unknown clusters form one token.
    let continues = onward.kind == TokenKind::Unknown && onward.next != usize::MAX;
    WordPath {
        unknown: onward.unknown + cluster.chars().count(),
        words: onward.words + usize::from(!continues),
        longest: onward.longest,
        next,
        kind: TokenKind::Unknown,
    }
}

fn walk(edges: &[usize], best: &[WordPath]) -> Vec<Token> {
    let mut pieces: Vec<Token> = Vec::new();
    let mut node = 0;
    while let Some(way) = best.get(node)
        && let (Some(start), Some(end)) = (edges.get(node), edges.get(way.next))
    {
        match pieces.last_mut() {
            Some(last) if last.kind == TokenKind::Unknown && way.kind == TokenKind::Unknown => {
                last.range.end = *end;
            }
            _ => pieces.push(Token { range: *start..*end, kind: way.kind }),
        }
        node = way.next;
    }
    pieces
}

fn run_length(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|character| !belongs(character)).unwrap_or(text.len())
}

/// Thai signs, some of which Unicode classifies as letters.
const fn is_sign(character: char) -> bool {
    matches!(character, '\u{0E2F}' | '\u{0E46}' | '\u{0E4F}' | '\u{0E5A}' | '\u{0E5B}')
}

fn is_foreign(character: char) -> bool {
    character.is_alphanumeric() && !is_thai(character) && !is_sign(character)
}

/// Returns the length and kind of the non-Thai token at the start of a text.
fn foreign(text: &str) -> (usize, TokenKind) {
    let length = run_length(text, is_foreign);
    let word = text.get(..length).unwrap_or_default();
    let fraction = text
        .get(length..)
        .and_then(|rest| rest.strip_prefix('.'))
        .map_or(0, |digits| run_length(digits, |character| character.is_ascii_digit()));
    let with_fraction = if fraction > 0 { length + 1 + fraction } else { length };
    let mut bytes = word.bytes();
    let begins_with_letter = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic());
    if begins_with_letter && word.len() == 3 && bytes.all(|byte| byte.is_ascii_digit()) {
        (with_fraction, TokenKind::Code)
    } else if word.bytes().all(|byte| byte.is_ascii_digit()) {
        (with_fraction, TokenKind::Number)
    } else {
        (length, TokenKind::Foreign)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::normalize;

    fn segmenter() -> Segmenter {
        let names = ["ฟ้าทะลายโจร", "แอนโดรกราโฟไลด์", "วาร์ฟาริน", "ยาประสะไพล", "เพชรสังฆาต", "การบูร"];
        Segmenter::new(Arc::new(Dictionary::new(names).unwrap()))
    }

    fn cut(text: &str) -> Vec<String> {
        let normalized = normalize(text);
        let tokens = segmenter().segment(normalized.text());
        tokens.iter().map(|token| token.text(normalized.text()).to_owned()).collect()
    }

    #[test]
    fn sentences_are_segmented_as_by_hand() {
        let cases = [
            ("ฟ้าทะลายโจรมีสรรพคุณอะไรบ้าง", vec!["ฟ้าทะลายโจร", "มี", "สรรพคุณ", "อะไร", "บ้าง"]),
            ("เพชรสังฆาตช่วยบรรเทาริดสีดวงทวาร", vec!["เพชรสังฆาต", "ช่วย", "บรรเทา", "ริดสีดวงทวาร"]),
            ("ใช้การบูรกับยาน้ำมัน", vec!["ใช้", "การบูร", "กับ", "ยา", "น้ำมัน"]),
            ("ห้ามกินกับวาร์ฟาริน", vec!["ห้าม", "กิน", "กับ", "วาร์ฟาริน"]),
            ("น้ํามันไพล 5 มล.", vec!["น้ำมัน", "ไพล", "5", "มล"]),
            ("ใช้แอนโดรกราโฟไลด์วันละ ๖๐ มก.", vec!["ใช้", "แอนโดรกราโฟไลด์", "วัน", "ละ", "60", "มก"]),
            ("โรครหัส K64.9 (ICD-10)", vec!["โรค", "รหัส", "k64.9", "icd", "10"]),
            ("ขนาด 0.5 g ต่างๆ", vec!["ขนาด", "0.5", "g", "ต่าง", "ๆ"]),
            ("COVID-19 กับสมุนไพร", vec!["covid", "19", "กับ", "สมุนไพร"]),
            ("😀 !? \"", vec![]),
            ("", vec![]),
        ];
        for (text, expected) in cases {
            assert_eq!(cut(text), expected, "{text}");
        }
    }

    #[test]
    fn unknown_text_does_not_break_neighbouring_words() {
        // An invented name between two words; without clusters `รักษา` would be split.
        let words = cut("กินเกร็ฟฟ์ซ์ฎ์รักษา");
        assert_eq!(words.first().map(String::as_str), Some("กิน"));
        assert_eq!(words.last().map(String::as_str), Some("รักษา"));
    }

    #[test]
    fn tokens_have_the_right_kind() {
        let normalized = normalize("ขิง ginger 10.5 j02.9 ฯ");
        let kinds: Vec<TokenKind> =
            segmenter().segment(normalized.text()).iter().map(|token| token.kind).collect();
        use TokenKind::{Code, Foreign, Number, Sign, Thai};
        assert_eq!(kinds, [Thai, Foreign, Number, Code, Sign]);
    }

    #[test]
    fn compound_name_has_parts_and_a_simple_word_none() {
        let segmenter = segmenter();
        let name = "ฟ้าทะลายโจร";
        let parts: Vec<&str> = segmenter.parts(name).into_iter().map(|part| &name[part]).collect();
        assert_eq!(parts, ["ฟ้า", "ทะลาย", "โจร"]);
        assert!(segmenter.parts("ขิง").is_empty());
    }

    #[test]
    fn long_text_without_spaces_is_segmented_in_linear_time() {
        let text = "สมุนไพรไทย".repeat(2_000);
        assert_eq!(cut(&text).len(), 4_000);
    }

    proptest! {
        #[test]
        fn tokens_are_ordered_disjoint_and_complete(text in "[ก-๛a-z0-9 .,]{0,80}") {
            let normalized = normalize(&text);
            let text = normalized.text();
            let mut end = 0;
            for token in segmenter().segment(text) {
                prop_assert!(token.range.start >= end && token.range.end > token.range.start);
                let skipped = &text[end..token.range.start];
                prop_assert!(!skipped.chars().any(char::is_alphanumeric), "lost {skipped:?}");
                end = token.range.end;
            }
            prop_assert!(!text[end..].chars().any(|c| is_thai(c) || c.is_ascii_alphanumeric()));
        }
    }
}
