//! What an index keeps of a text: words with their parts, and character trigrams.
//!
//! Words carry meaning; trigrams survive typing errors and names that no dictionary has. Whole
//! words alone would lose a misspelt name, parts alone would confuse names that share a part.

use std::ops::Range;
use std::sync::Arc;

use super::dictionary::Dictionary;
use super::english;
use super::segment::{Segmenter, Token, TokenKind};

/// How much a part of a word counts beside the whole word.
const PART: f32 = 0.5;
/// Parts shorter than this many letters are syllables rather than words.
const MIN_PART_LENGTH: usize = 3;
/// The bit that keeps trigrams and words apart.
const TRIGRAM_BIT: u64 = 1 << 63;

/// A word or a trigram as a number, the same on every machine.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Term(u64);

impl Term {
    /// The term of a word: 63 bits of FNV-1a, where an accident is out of reach.
    pub fn word(word: &str) -> Self {
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for byte in word.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Self(hash & !TRIGRAM_BIT)
    }

    /// The term of three characters: a character needs 21 bits.
    pub fn trigram(first: char, second: char, third: char) -> Self {
        let bits = |character: char| u64::from(u32::from(character));
        Self(TRIGRAM_BIT | bits(first) << 42 | bits(second) << 21 | bits(third))
    }

    /// Whether this is a trigram.
    pub const fn is_trigram(self) -> bool {
        self.0 & TRIGRAM_BIT != 0
    }

    /// The number itself.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// A word of a text, as an index knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct WordTerm {
    /// The word.
    pub term: Term,
    /// 1 for a whole word, less for a part of one.
    pub share: f32,
    /// Where it stands in the normalised text.
    pub range: Range<usize>,
    /// Says nothing about what a question asks for.
    pub is_stop_word: bool,
}

/// Turns text into terms.
#[derive(Clone, Debug)]
pub struct Analyzer {
    segmenter: Segmenter,
}

impl Analyzer {
    /// An analyzer over a dictionary.
    pub const fn new(dictionary: Arc<Dictionary>) -> Self {
        Self { segmenter: Segmenter::new(dictionary) }
    }

    /// The segmenter it uses.
    pub const fn segmenter(&self) -> &Segmenter {
        &self.segmenter
    }

    /// The words of a normalised text that was cut into `tokens`: wholes, and their parts.
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
                // A code also counts for the group it belongs to: K64.9 for K64.
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

    /// Whether a token says nothing about what a question asks for.
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

    /// The trigrams of a normalised text: of each run of Thai letters, and of each foreign word
    /// with its beginning marked.
    pub fn trigrams(&self, normalized: &str, tokens: &[Token]) -> Vec<Term> {
        let mut terms = Vec::with_capacity(normalized.len() / 2);
        for run in runs(tokens) {
            let text = normalized.get(run.range.clone()).unwrap_or_default();
            let mark = (run.kind == TokenKind::Foreign).then_some('^');
            put_trigrams(mark.into_iter().chain(text.chars()), &mut terms);
        }
        terms
    }

    /// The trigrams of what a question asks for: its stop words left out.
    pub fn question_trigrams(&self, normalized: &str, tokens: &[Token]) -> Vec<Term> {
        let telling: Vec<Token> = tokens
            .iter()
            .filter(|token| !self.is_stop_word(token, token.text(normalized)))
            .cloned()
            .collect();
        self.trigrams(normalized, &telling)
    }
}

/// Thai tokens that touch, joined; every other token by itself.
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
