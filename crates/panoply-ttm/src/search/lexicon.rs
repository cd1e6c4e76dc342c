//! Cross-lingual query expansion with a Thai–English dictionary.
//!
//! `data/ttm/lexicon_domain.tsv` is ours; `lexicon.tsv` joins Thai WordNet with WordNet 3.0
//! (notices in `data/ttm/LICENSE-*`). `build.rs` compiles the automata.

use fst::Map;

use super::index::Weighted;
use crate::text::terms::{Analyzer, Term};
use crate::text::{Token, TokenKind, english, normalize};

static LINES: &str = include_str!(concat!(env!("OUT_DIR"), "/lexicon.tsv"));
static THAI: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/thai.fst"));
static ENGLISH: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/english.fst"));
static ENGLISH_LISTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/english.lists"));

/// Maximum length of a phrase in tokens.
const MAX_PHRASE_LENGTH: usize = 5;
/// Maximum number of translations per phrase.
const MAX_TRANSLATIONS: usize = 6;

/// Alternatives for one concept; a document is scored by the best.
pub(super) type Group = Vec<Weighted>;

/// The Thai–English dictionary.
#[derive(Debug)]
pub(super) struct Lexicon {
    thai: Map<&'static [u8]>,
    english: Map<&'static [u8]>,
}

impl Lexicon {
    pub(super) fn new() -> Result<Self, fst::Error> {
        Ok(Self { thai: Map::new(THAI)?, english: Map::new(ENGLISH)? })
    }

    /// Returns the words of a query with their translations. The longest phrases are translated
    /// first; words inside them are not translated again.
    pub(super) fn translate(
        &self,
        normalized: &str,
        tokens: &[Token],
        analyzer: &Analyzer,
    ) -> Vec<Group> {
        let mut groups = Vec::new();
        let mut rest = tokens;
        while !rest.is_empty() {
            let (length, group) = self.first_group(normalized, rest, analyzer);
            if !group.is_empty() {
                groups.push(group);
            }
            rest = rest.get(length..).unwrap_or_default();
        }
        groups
    }

    /// Returns the longest phrase at the start of `tokens`: its length and its alternatives.
    fn first_group(
        &self,
        normalized: &str,
        tokens: &[Token],
        analyzer: &Analyzer,
    ) -> (usize, Group) {
        let (length, translations) = self.longest_phrase(normalized, tokens, analyzer);
        let phrase = tokens.get(..length).unwrap_or_default();
        let mut group = Vec::new();
        if phrase.iter().all(|token| analyzer.is_stop_word(token, token.text(normalized))) {
            return (length, group);
        }
        for word in analyzer.words(normalized, phrase) {
            let weight = word.share / length as f32;
            group.push(Weighted { term: word.term, weight });
        }
        for (rank, translation) in translations.iter().enumerate() {
            put_terms(translation, rank, analyzer, &mut group);
        }
        (length, group)
    }

    /// Returns the length of the longest dictionary phrase at the start of `tokens` with its
    /// translations, or one token without any.
    pub(super) fn longest_phrase(
        &self,
        normalized: &str,
        tokens: &[Token],
        analyzer: &Analyzer,
    ) -> (usize, Vec<&'static str>) {
        for length in (1..=MAX_PHRASE_LENGTH.min(tokens.len())).rev() {
            let phrase = tokens.get(..length).unwrap_or_default();
            let is_stop_word = |token: &Token| analyzer.is_stop_word(token, token.text(normalized));
            if phrase.iter().all(is_stop_word) {
                continue;
            }
            let translations = self.translations(normalized, phrase);
            if !translations.is_empty() {
                return (length, translations);
            }
        }
        (1, Vec::new())
    }

    /// Returns the translations of a phrase, best first.
    fn translations(&self, normalized: &str, phrase: &[Token]) -> Vec<&'static str> {
        let thai = |token: &Token| matches!(token.kind, TokenKind::Thai | TokenKind::Unknown);
        if phrase.iter().all(thai) && touching(phrase) {
            let range = phrase.first().zip(phrase.last());
            let text = range
                .and_then(|(first, last)| normalized.get(first.range.start..last.range.end))
                .unwrap_or_default();
            return self.thai_line(text).map(|line| line.1).unwrap_or_default();
        }
        if phrase.iter().all(|token| token.kind == TokenKind::Foreign) {
            let stems: Vec<String> =
                phrase.iter().map(|token| english::stem(token.text(normalized))).collect();
            return self.thai_of(&stems.join(" "));
        }
        Vec::new()
    }

    fn thai_line(&self, lemma: &str) -> Option<(&'static str, Vec<&'static str>)> {
        line_at(self.thai.get(lemma)?)
    }

    /// Returns the Thai lemmas of an English phrase; those with it as first sense come first.
    fn thai_of(&self, stems: &str) -> Vec<&'static str> {
        let Some(start) = self.english.get(stems) else { return Vec::new() };
        let mut ranked: Vec<(usize, &'static str)> = Vec::new();
        for place in list_at(start) {
            if let Some((lemma, meanings)) = line_at(u64::from(place)) {
                let rank = meanings.iter().position(|word| english::stem_phrase(word) == stems);
                ranked.push((rank.unwrap_or(meanings.len()), lemma));
            }
        }
        ranked.sort();
        ranked.into_iter().take(MAX_TRANSLATIONS).map(|(_, lemma)| lemma).collect()
    }
}

/// Returns whether the tokens are adjacent.
fn touching(tokens: &[Token]) -> bool {
    tokens.windows(2).all(|pair| match pair {
        [one, two] => one.range.end == two.range.start,
        _ => true,
    })
}

/// Returns the lemma and translations of the line at an offset.
fn line_at(offset: u64) -> Option<(&'static str, Vec<&'static str>)> {
    let line = LINES.get(usize::try_from(offset).ok()?..)?.lines().next()?;
    let (lemma, meanings) = line.split_once('\t')?;
    let word = |meaning: &'static str| meaning.rsplit_once(':').map_or(meaning, |(word, _)| word);
    Some((lemma, meanings.split('|').map(word).take(MAX_TRANSLATIONS).collect()))
}

/// Returns the offsets of a list: a count, then as many numbers.
fn list_at(start: u64) -> impl Iterator<Item = u32> {
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    let numbers = ENGLISH_LISTS.get(start..).unwrap_or_default().chunks_exact(4);
    let mut numbers = numbers.filter_map(|bytes| bytes.try_into().ok().map(u32::from_le_bytes));
    let count = numbers.next().unwrap_or(0) as usize;
    numbers.take(count)
}

/// Adds the terms of a translation; lower ranks count less, and phrases share their weight.
fn put_terms(translation: &str, rank: usize, analyzer: &Analyzer, out: &mut Vec<Weighted>) {
    let normalized = normalize(translation);
    let tokens = analyzer.segmenter().segment(normalized.text());
    let words = analyzer.words(normalized.text(), &tokens);
    let content: Vec<(Term, f32)> = words
        .iter()
        .filter(|word| !word.is_stop_word)
        .map(|word| (word.term, word.share))
        .collect();
    let wholes: f32 = content.iter().map(|(_, share)| share).sum();
    let weight = 0.9 / (1.0 + 0.25 * rank as f32);
    out.extend(
        content
            .into_iter()
            .map(|(term, share)| Weighted { term, weight: weight * share / wholes.max(1.0) }),
    );
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::text::Dictionary;

    fn translated(question: &str) -> Vec<Term> {
        let analyzer = Analyzer::new(Arc::new(Dictionary::new([]).unwrap()));
        let normalized = normalize(question);
        let tokens = analyzer.segmenter().segment(normalized.text());
        let terms = Lexicon::new().unwrap().translate(normalized.text(), &tokens, &analyzer);
        terms.into_iter().flatten().map(|weighted| weighted.term).collect()
    }

    #[test]
    fn words_are_translated_in_both_directions() {
        let cases = [
            ("ปวดหัว", "headache"),
            ("ตับ", "liver"),
            ("headaches", "ปวดหัว"),
            ("livers", "ตับ"),
            ("ท้องอืด", "bloating"),
        ];
        for (question, expected) in cases {
            let expected =
                if expected.is_ascii() { english::stem(expected) } else { expected.into() };
            assert!(translated(question).contains(&Term::word(&expected)), "{question}");
        }
    }

    #[test]
    fn unknown_word_is_not_translated() {
        for question in ["", "🙂", "the"] {
            assert!(translated(question).is_empty(), "{question}");
        }
        assert_eq!(translated("qzxv"), [Term::word("qzxv")]);
    }
}
