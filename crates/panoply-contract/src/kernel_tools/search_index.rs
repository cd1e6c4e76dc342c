//! Ranks tools for a query in English or Thai: a weighted term match with inverse document
//! frequency over name, title, tags, description and the pack's search terms.
//!
//! Thai is written without spaces, so search terms are looked for inside of the query, also partly
//! by their trigrams. English words are stemmed; an unknown one matches by prefix or one typo.

use std::collections::{HashMap, HashSet};

use crate::registry::Registry;
use crate::spec::Listing;

const NAME_WEIGHT: f64 = 2.0;
const TERM_WEIGHT: f64 = 2.0;
const TITLE_WEIGHT: f64 = 1.6;
const DESCRIPTION_WEIGHT: f64 = 0.8;
/// Terms of the whole pack.
const PACK_WEIGHT: f64 = 0.55;
/// Added when a search term of several words is part of the query.
const PHRASE_BONUS: f64 = 2.0;
/// Added to listed tools, which are the common ones.
const CORE_BONUS: f64 = 0.3;
/// Weight of a word that matches only by prefix or typo.
const FUZZY_WEIGHT: f64 = 0.8;
/// Score at which a match counts as half certain.
const HALF_SCORE: f64 = 8.0;
/// Matches below this share of the best score are dropped.
const MIN_SHARE_OF_BEST: f64 = 0.3;

/// Search terms of one pack: lines of `tool<TAB>term, term`; `*` for all its tools.
pub(crate) type SearchTerms = &'static str;

/// The index of all tools.
pub(crate) struct SearchIndex {
    documents: Vec<Document>,
    /// Number of tools with a word or term.
    frequency: HashMap<String, f64>,
}

#[derive(Default)]
struct Document {
    /// Stemmed English words with the weight of their best field.
    words: HashMap<String, f64>,
    thai_terms: Vec<(String, f64)>,
    phrases: Vec<String>,
    is_core: bool,
}

impl SearchIndex {
    pub(crate) fn of(registry: &Registry) -> Self {
        let documents: Vec<Document> = registry
            .get_all()
            .iter()
            .map(|entry| {
                let all = registry.pack_of(entry).map_or("", |pack| pack.search_terms);
                let is_core = entry.spec.listing == Listing::Core;
                let mut document = Document { is_core, ..Document::default() };
                document.add_terms(terms_of(all, entry.spec.name), TERM_WEIGHT);
                document.add_terms(terms_of(all, "*"), PACK_WEIGHT);
                document.add_words(&entry.spec.name.replace(['-', '_'], " "), NAME_WEIGHT);
                document.add_words(&entry.spec.tags.join(" "), TITLE_WEIGHT);
                document.add_words(entry.spec.title, TITLE_WEIGHT);
                document.add_words(&entry.description, DESCRIPTION_WEIGHT);
                document
            })
            .collect();
        let mut frequency: HashMap<String, f64> = HashMap::new();
        for document in &documents {
            let thai = document.thai_terms.iter().map(|(term, _)| term);
            for term in document.words.keys().chain(thai) {
                *frequency.entry(term.clone()).or_default() += 1.0;
            }
        }
        Self { documents, frequency }
    }

    /// Scores from 0 to 1 by the tools' positions in the registry; 0 for those that do not match.
    pub(crate) fn scores(&self, query: &str) -> Vec<f64> {
        let words = words_of(query);
        let weighted = self.known_words(&words);
        let (phrase, runs) = (words.join(" "), thai_runs(query));
        let scores: Vec<f64> = self
            .documents
            .iter()
            .map(|document| {
                let score = self.word_score(document, &weighted)
                    + document.phrase_score(&phrase)
                    + runs.iter().map(|run| self.thai_score(document, run)).sum::<f64>();
                if score > 0.0 && document.is_core { score + CORE_BONUS } else { score }
            })
            .collect();
        let best = scores.iter().copied().fold(0.0, f64::max);
        let normal = |score: f64| (score / (score + HALF_SCORE) * 1000.0).round() / 1000.0;
        let kept = |score: f64| if score < best * MIN_SHARE_OF_BEST { 0.0 } else { normal(score) };
        scores.into_iter().map(kept).collect()
    }

    /// The words of the query that the index has, or close ones, with their weight.
    fn known_words(&self, words: &[String]) -> Vec<(String, f64)> {
        let mut known = Vec::new();
        for word in words {
            if self.frequency.contains_key(word) {
                known.push((word.clone(), 1.0));
                continue;
            }
            let matching = |close: &dyn Fn(&str) -> bool| {
                let mut found: Vec<&String> =
                    self.frequency.keys().filter(|other| close(other)).collect();
                found.sort();
                found.truncate(4);
                found.into_iter().cloned().collect::<Vec<String>>()
            };
            let mut close = matching(&|other| is_prefix(word, other) || is_prefix(other, word));
            if close.is_empty() {
                close = matching(&|other| is_typo(word, other));
            }
            known.extend(close.into_iter().map(|word| (word, FUZZY_WEIGHT)));
        }
        known
    }

    fn word_score(&self, document: &Document, words: &[(String, f64)]) -> f64 {
        let weight = |word: &String| document.words.get(word).copied().unwrap_or_default();
        words.iter().map(|(word, share)| weight(word) * share * self.rarity(word)).sum()
    }

    /// Longest terms first; a shorter one inside of a found one does not count again.
    fn thai_score(&self, document: &Document, run: &str) -> f64 {
        let mut covered: Vec<std::ops::Range<usize>> = Vec::new();
        let grams = trigrams(run);
        let mut score = 0.0;
        for (term, weight) in &document.thai_terms {
            let length = f64::from(u32::try_from(term.chars().count()).unwrap_or(u32::MAX));
            if let Some(start) = run.find(term.as_str()) {
                if !covered.iter().any(|range| range.contains(&start)) {
                    covered.push(start..start + term.len());
                    score += weight * self.rarity(term) * (0.5 + length / 8.0).min(1.5);
                }
            } else if length >= 6.0 {
                let own = trigrams(term);
                let shared = own.intersection(&grams).count();
                let share = ratio(shared, own.len());
                if share >= 0.5 {
                    score += 0.5 * share * weight * self.rarity(term);
                }
            }
        }
        score
    }

    /// Inverse document frequency.
    fn rarity(&self, term: &str) -> f64 {
        let frequency = self.frequency.get(term).copied().unwrap_or_default();
        (1.0 + ratio(self.documents.len(), 1) / (frequency + 0.5)).ln()
    }
}

impl Document {
    fn add_words(&mut self, text: &str, weight: f64) {
        for word in words_of(text) {
            let known = self.words.entry(word).or_default();
            *known = known.max(weight);
        }
    }

    fn add_terms(&mut self, terms: impl Iterator<Item = &'static str>, weight: f64) {
        for term in terms {
            self.add_words(term, weight);
            let words = words_of(term);
            if words.len() > 1 && weight >= TERM_WEIGHT {
                self.phrases.push(words.join(" "));
            }
            for run in thai_runs(term) {
                if !self.thai_terms.iter().any(|(known, _)| *known == run) {
                    self.thai_terms.push((run, weight));
                }
            }
        }
        self.thai_terms.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    }

    fn phrase_score(&self, query: &str) -> f64 {
        let found = self.phrases.iter().filter(|phrase| query.contains(phrase.as_str())).count();
        PHRASE_BONUS * ratio(found, 1)
    }
}

fn terms_of(terms: SearchTerms, tool: &str) -> impl Iterator<Item = &'static str> {
    let line = terms.lines().find_map(|line| {
        let (name, terms) = line.split_once('\t')?;
        (name == tool).then_some(terms)
    });
    line.into_iter().flat_map(|terms| terms.split(',')).map(str::trim)
}

fn is_prefix(short: &str, long: &str) -> bool {
    short.len() >= 4 && long.starts_with(short)
}

fn is_typo(word: &str, other: &str) -> bool {
    word.len() >= 5
        && other.len() >= 4
        && word.len().abs_diff(other.len()) <= 1
        && strsim::damerau_levenshtein(word, other) <= 1
}

fn is_thai(c: char) -> bool {
    ('\u{0E00}'..='\u{0E7F}').contains(&c)
}

fn thai_runs(text: &str) -> Vec<String> {
    text.split(|c| !is_thai(c)).filter(|run| !run.is_empty()).map(str::to_owned).collect()
}

fn trigrams(text: &str) -> HashSet<[char; 3]> {
    let letters: Vec<char> = text.chars().collect();
    letters.windows(3).filter_map(|window| window.try_into().ok()).collect()
}

/// Lower-case English words without stop words, stemmed.
fn words_of(text: &str) -> Vec<String> {
    const STOP_WORDS: &str = "a about am an and any are as at be been being but by can could did do \
        does for from get give had has have how i if in into is it its just me my need no not of \
        on one or our out over please re s should show so some t tell than that the their them \
        then there these they this those to tool tools under up use used using ve want was we \
        were what when which who whom will with would you your";
    let lower = text.to_lowercase();
    lower
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '&')
        .filter(|word| !word.is_empty() && !STOP_WORDS.split_whitespace().any(|stop| stop == *word))
        .map(stem)
        .collect()
}

/// A light suffix stemmer: equal stems matter, not correct ones.
fn stem(word: &str) -> String {
    const SUFFIXES: [&str; 10] =
        ["ingly", "edly", "ations", "ation", "ing", "ies", "ed", "es", "s", "ly"];
    let mut stem = word.to_owned();
    let suffix =
        SUFFIXES.iter().find(|suffix| word.ends_with(**suffix) && word.len() >= suffix.len() + 3);
    if let Some(suffix) = suffix {
        stem.truncate(word.len() - suffix.len());
        if *suffix == "ies" {
            stem.push('y');
        }
    }
    if stem.len() > 4 && stem.ends_with('e') {
        stem.pop();
    }
    let mut end = stem.chars().rev();
    let doubled =
        matches!((end.next(), end.next()), (Some(a), Some(b)) if a == b && !"ls".contains(a));
    if stem.len() > 4 && doubled {
        stem.pop();
    }
    stem
}

fn ratio(part: usize, whole: usize) -> f64 {
    let float = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    if whole == 0 { 0.0 } else { float(part) / float(whole) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inflections_share_a_stem() {
        for (a, b) in
            [("cards", "card"), ("studies", "study"), ("planning", "plan"), ("sold", "sold")]
        {
            assert_eq!(stem(a), stem(b), "{a} {b}");
        }
        assert_eq!(words_of("How do I sell my shares?"), ["sell", "shar"]);
        assert_eq!(thai_runs("ขาย RMF ก่อน"), ["ขาย", "ก่อน"]);
    }

    #[test]
    fn a_typo_is_one_edit_or_transposition() {
        assert!(is_typo("drawdwon", "drawdown") && is_typo("dividnd", "dividend"));
        assert!(!is_typo("cards", "carbon") && !is_typo("card", "cart"));
    }
}
