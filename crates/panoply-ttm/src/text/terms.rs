//! Index terms: words with their parts, and character trigrams.
//!
//! Words carry meaning; trigrams tolerate typing errors and unknown names. Whole words alone would
//! miss misspelt names, parts alone would confuse names with common parts.

use std::ops::Range;
use std::sync::Arc;

use super::dictionary::Dictionary;
use super::english;
use super::segment::{Segmenter, Token, TokenKind};

/// Weight of a part relative to the whole word.
const PART: f32 = 0.5;
/// Minimum length of a part: shorter ones are syllables.
const MIN_PART_LENGTH: usize = 3;
/// Bit that distinguishes trigrams from words.
const TRIGRAM_BIT: u64 = 1 << 63;

/// Hash of a word or trigram, identical on every machine.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Term(u64);

impl Term {
    /// Word term: 63 bits of FNV-1a; collisions are negligible.
    pub fn word(word: &str) -> Self {
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for byte in word.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Self(hash & !TRIGRAM_BIT)
    }

    /// Trigram term: 21 bits per character.
    pub fn trigram(first: char, second: char, third: char) -> Self {
        let bits = |character: char| u64::from(u32::from(character));
        Self(TRIGRAM_BIT | bits(first) << 42 | bits(second) << 21 | bits(third))
    }

    /// Returns whether this is a trigram.
    pub const fn is_trigram(self) -> bool {
        self.0 & TRIGRAM_BIT != 0
    }

    /// Returns the hash.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// A word of a text with its term.
#[derive(Clone, Debug, PartialEq)]
pub struct WordTerm {
    /// Term.
    pub term: Term,
    /// 1 for a whole word, less for a part.
    pub share: f32,
    /// Range in the normalised text.
    pub range: Range<usize>,
    /// Whether it is a stop word.
    pub is_stop_word: bool,
}

/// Converts text to terms.
#[derive(Clone, Debug)]
pub struct Analyzer {
    segmenter: Segmenter,
}

impl Analyzer {
    /// Creates an analyzer.
    pub const fn new(dictionary: Arc<Dictionary>) -> Self {
        Self { segmenter: Segmenter::new(dictionary) }
    }

    /// Returns the segmenter.
    pub const fn segmenter(&self) -> &Segmenter {
        &self.segmenter
    }

    /// Returns the words and parts of a segmented text.
    pub fn words(&self, normalized: &str, tokens: &[Token]) -> Vec<WordTerm> {
        let mut words = Vec::with_capacity(tokens.len() * 2);
        for token in tokens {
            self.put_words(token, token.text(normalized), &mut words);
        }
        words
    }

    fn put_words(&self, token: &Token, text: &str, words: &mut Vec<WordTerm>) {
        let is_stop_word = self.is_stop_word(token, text);
        let mut put = |word: &str, share: f32, range: Range<usize>| {
            words.push(WordTerm { term: Term::word(word), share, range, is_stop_word });
        };
        match token.kind {
            TokenKind::Sign => {}
            TokenKind::Number | TokenKind::Unknown => put(text, 1.0, token.range.clone()),
            TokenKind::Foreign => put(&english::stem(text), 1.0, token.range.clone()),
            TokenKind::Code => {
                put(text, 1.0, token.range.clone());
                // A code also matches its group: K64.9 matches K64.
                if let Some((group, _)) = text.split_once('.') {
                    put(group, PART, token.range.start..token.range.start + group.len());
                }
            }
            TokenKind::Thai => {
                put(text, 1.0, token.range.clone());
                for part in self.segmenter.parts(text) {
                    let letters = text.get(part.clone()).unwrap_or_default();
                    if letters.chars().count() >= MIN_PART_LENGTH {
                        let start = token.range.start;
                        put(letters, PART, start + part.start..start + part.end);
                    }
                }
            }
        }
    }

    /// Returns whether a token is a stop word.
    pub fn is_stop_word(&self, token: &Token, text: &str) -> bool {
        match token.kind {
            TokenKind::Thai => {
                let dictionary = self.segmenter.dictionary();
                dictionary.is_stop_word(text) && !dictionary.is_name(text)
            }
            TokenKind::Foreign => english::is_stop_word(text) || text.chars().count() == 1,
            TokenKind::Sign => true,
            TokenKind::Unknown | TokenKind::Number | TokenKind::Code => false,
        }
    }

    /// Returns the trigrams of each run of Thai letters and of each non-Thai word with a marked
    /// start.
    pub fn trigrams(&self, normalized: &str, tokens: &[Token]) -> Vec<Term> {
        let mut terms = Vec::with_capacity(normalized.len() / 2);
        for run in runs(tokens) {
            let text = normalized.get(run.range.clone()).unwrap_or_default();
            let mark = (run.kind == TokenKind::Foreign).then_some('^');
            put_trigrams(mark.into_iter().chain(text.chars()), &mut terms);
        }
        terms
    }

    /// Returns the trigrams of a query without its stop words.
    pub fn question_trigrams(&self, normalized: &str, tokens: &[Token]) -> Vec<Term> {
        let content: Vec<Token> = tokens
            .iter()
            .filter(|token| !self.is_stop_word(token, token.text(normalized)))
            .cloned()
            .collect();
        self.trigrams(normalized, &content)
    }
}

/// Joins adjacent Thai tokens.
fn runs(tokens: &[Token]) -> Vec<Token> {
    let mut runs: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let thai = matches!(token.kind, TokenKind::Thai | TokenKind::Unknown);
        match runs.last_mut() {
            Some(last)
                if thai && last.kind == TokenKind::Thai && last.range.end == token.range.start =>
            {
                last.range.end = token.range.end;
            }
            _ => {
                let kind = if thai { TokenKind::Thai } else { token.kind };
                runs.push(Token { range: token.range.clone(), kind });
            }
        }
    }
    runs
}

fn put_trigrams(characters: impl Iterator<Item = char>, terms: &mut Vec<Term>) {
    let mut window: Option<(char, char)> = None;
    let mut first = None;
    for character in characters {
        match (window, first) {
            (Some((one, two)), _) => {
                terms.push(Term::trigram(one, two, character));
                window = Some((two, character));
            }
            (None, Some(one)) => window = Some((one, character)),
            (None, None) => first = Some(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::normalize;

    fn analyzer() -> Analyzer {
        Analyzer::new(Arc::new(Dictionary::new(["ฟ้าทะลายโจร"]).unwrap()))
    }

    #[test]
    fn name_is_indexed_whole_and_in_parts() {
        let analyzer = analyzer();
        let text = "ฟ้าทะลายโจร";
        let tokens = analyzer.segmenter().segment(text);
        let words = analyzer.words(text, &tokens);
        let shown: Vec<(&str, f32)> =
            words.iter().map(|word| (&text[word.range.clone()], word.share)).collect();
        assert_eq!(shown, [("ฟ้าทะลายโจร", 1.0), ("ฟ้า", 0.5), ("ทะลาย", 0.5), ("โจร", 0.5)]);
    }

    #[test]
    fn a_misspelt_name_shares_most_of_its_trigrams() {
        let analyzer = analyzer();
        let terms = |text: &str| {
            let normalized = normalize(text);
            let tokens = analyzer.segmenter().segment(normalized.text());
            analyzer.trigrams(normalized.text(), &tokens)
        };
        let (right, wrong) = (terms("ฟ้าทะลายโจร"), terms("ฟ้าทะลายโจน"));
        let shared = wrong.iter().filter(|term| right.contains(term)).count();
        assert_eq!((right.len(), wrong.len(), shared), (9, 9, 8));
    }

    #[test]
    fn inflections_share_a_term_and_codes_index_their_group() {
        let analyzer = analyzer();
        let terms = |text: &str| -> Vec<Term> {
            let normalized = normalize(text);
            let tokens = analyzer.segmenter().segment(normalized.text());
            analyzer.words(normalized.text(), &tokens).iter().map(|word| word.term).collect()
        };
        assert_eq!(terms("Haemorrhoids"), terms("hemorrhoid"));
        assert!(terms("ICD-10 K64.9").contains(&Term::word("k64")));
    }

    #[test]
    fn word_and_trigram_terms_are_disjoint() {
        assert!(Term::trigram('ก', 'ข', 'ค').is_trigram());
        assert!(!Term::word("กขค").is_trigram());
    }
}
