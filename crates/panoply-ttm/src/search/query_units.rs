//! Content units of a query, and their coverage by a text.

use std::collections::BTreeSet;
use std::ops::Range;

use super::bm25::Bm25;
use super::engine::Engine;
use super::linker::Mention;
use crate::text::terms::Term;
use crate::text::{Token, TokenKind, normalize};

/// A word or phrase of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryUnit {
    /// Normalised text.
    pub text: String,
    /// Range in the query.
    pub range: Range<usize>,
    /// Idf of its rarest word.
    pub weight: f32,
    /// Alternatives in either language; a text must contain all terms of one.
    ways: Vec<Vec<Term>>,
}

/// Terms of a text.
#[derive(Clone, Debug, Default)]
pub struct TextWords {
    terms: BTreeSet<Term>,
    normalized: String,
}

impl TextWords {
    /// Returns whether the text contains the unit in either language.
    pub fn contains(&self, unit: &QueryUnit) -> bool {
        // Thai segmentation is context-dependent, so long units also match as substrings.
        let long_enough = unit.text.chars().count() >= 4;
        (long_enough && self.normalized.contains(&unit.text))
            || unit.ways.iter().any(|way| way.iter().all(|term| self.terms.contains(term)))
    }

    /// Counts the terms that the text contains.
    pub fn shared<'t>(&self, terms: impl Iterator<Item = &'t Term>) -> usize {
        terms.filter(|term| self.terms.contains(term)).count()
    }

    /// Returns the terms.
    pub const fn terms(&self) -> &BTreeSet<Term> {
        &self.terms
    }

    /// Returns the normalised text.
    pub fn normalized(&self) -> &str {
        &self.normalized
    }

    /// Adds the terms of another text.
    pub fn join(&mut self, other: &Self) {
        self.terms.extend(&other.terms);
        self.normalized.push('\n');
        self.normalized.push_str(&other.normalized);
    }
}

impl Engine {
    /// Returns the content units of a query in order.
    pub fn units(&self, question: &str) -> Vec<QueryUnit> {
        let (analyzer, index, lexicon) = (self.analyzer(), self.index(), self.lexicon());
        let (text, tokens) = self.cut(question);
        let mut units = Vec::new();
        let mut rest = tokens.as_slice();
        while !rest.is_empty() {
            let (length, translations) = lexicon.longest_phrase(&text, rest, analyzer);
            let phrase = rest.get(..length).unwrap_or_default();
            rest = rest.get(length..).unwrap_or_default();
            let content: Vec<Token> = phrase
                .iter()
                .filter(|token| !analyzer.is_stop_word(token, token.text(&text)))
                .cloned()
                .collect();
            let own = whole_words(&analyzer.words(&text, &content));
            let (Some(first), Some(last)) = (content.first(), content.last()) else { continue };
            let rarest = own
                .iter()
                .map(|term| Bm25::idf(index.words.document_frequency(*term), index.documents));
            let weight = rarest.fold(0.0, f32::max);
            let mut ways = vec![own];
            for translation in translations {
                ways.push(self.content_terms(translation));
            }
            ways.retain(|way| !way.is_empty());
            let range = first.range.start..last.range.end;
            let unit_text = text.get(range.clone()).unwrap_or_default().to_owned();
            units.push(QueryUnit { text: unit_text, range, weight, ways });
        }
        units
    }

    /// Normalises and segments a text.
    pub fn cut(&self, text: &str) -> (String, Vec<Token>) {
        let analyzer = self.analyzer();
        let normalized = normalize(text).text().to_owned();
        let tokens = analyzer.segmenter().segment(&normalized);
        (normalized, tokens)
    }

    /// Returns the terms of a text.
    pub fn words_of(&self, text: &str) -> TextWords {
        let analyzer = self.analyzer();
        let (normalized, tokens) = self.cut(text);
        let words = analyzer.words(&normalized, &tokens);
        TextWords { terms: words.iter().map(|word| word.term).collect(), normalized }
    }

    /// Returns the distinct content terms of a text.
    pub fn content_terms(&self, text: &str) -> Vec<Term> {
        let analyzer = self.analyzer();
        let (normalized, tokens) = self.cut(text);
        let content: Vec<Token> = tokens
            .into_iter()
            .filter(|token| !analyzer.is_stop_word(token, token.text(&normalized)))
            .filter(|token| token.kind != TokenKind::Sign)
            .collect();
        let mut terms = whole_words(&analyzer.words(&normalized, &content));
        terms.sort_unstable();
        terms.dedup();
        terms
    }

    /// Returns whether a text contains a token of another text as a whole word.
    pub(crate) fn contains_word(&self, words: &TextWords, normalized: &str, token: &Token) -> bool {
        let own = self.analyzer().words(normalized, std::slice::from_ref(token));
        let own = whole_words(&own);
        !own.is_empty() && own.iter().all(|term| words.terms.contains(term))
    }

    /// Returns the exact entity mentions in a text.
    pub fn names_in(&self, text: &str) -> Vec<Mention> {
        let (normalized, tokens) = self.cut(text);
        self.names_in_cut(&normalized, &tokens)
    }

    /// Like [`Self::names_in`] for a text that was segmented already.
    pub(crate) fn names_in_cut(&self, normalized: &str, tokens: &[Token]) -> Vec<Mention> {
        self.linker().exact_mentions(normalized, tokens, self.analyzer())
    }
}

fn whole_words(words: &[crate::text::terms::WordTerm]) -> Vec<Term> {
    words.iter().filter(|word| word.share >= 1.0).map(|word| word.term).collect()
}

#[cfg(test)]
mod tests {
    use crate::catalog::HerbCatalog;
    use crate::search::{Engine, corpus};

    #[test]
    fn text_covers_a_query_unit_in_either_language() {
        let engine = Engine::new(corpus(&HerbCatalog::bundled().unwrap())).unwrap();
        let cases = [
            ("ท้องอืด", "ใช้แก้ท้องอืด ท้องเฟ้อ", true),
            ("bloating", "ใช้แก้ท้องอืด ท้องเฟ้อ", true),
            ("ปวดหัว", "a remedy for headaches", true),
            ("ราคา", "ใช้แก้ท้องอืด ท้องเฟ้อ", false),
            ("football", "a remedy for headaches", false),
        ];
        for (question, text, expected) in cases {
            let units = engine.units(question);
            assert_eq!(units.len(), 1, "{question}");
            assert_eq!(engine.words_of(text).contains(&units[0]), expected, "{question}");
        }
        assert!(engine.units("the of and").is_empty());
    }

    #[test]
    fn word_in_no_document_has_the_highest_weight() {
        let engine = Engine::new(corpus(&HerbCatalog::bundled().unwrap())).unwrap();
        let weight = |word: &str| engine.units(word)[0].weight;
        assert!(weight("qzxv") > weight("turmeric"));
        assert!(weight("turmeric") > weight("medicine"));
    }
}
