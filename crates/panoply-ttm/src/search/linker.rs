//! Entity linker: finds catalog names in a query and the documents linked to them.
//!
//! A name matches exactly, by its stems (`haemorrhoids` for `haemorrhoid`), without tone marks, or
//! with typing errors. A constituent is linked to the herbs that contain it, a drug to the herbs
//! that warn of it.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::document::{Document, Relation};
use super::fuzzy;
use crate::text::spans::overlap;
use crate::text::terms::{Analyzer, Term};
use crate::text::{Token, TokenKind, english, is_thai, normalize, skeleton};

/// Minimum length of a Thai name that matches inside a word: `หอม` must not match in
/// `น้ำมันหอมระเหย`.
const LONG_NAME: usize = 5;
/// Maximum length of a non-Thai name in words.
const MAX_NAME_LENGTH: usize = 6;
/// Minimum share of trigrams for a fuzzy match.
const SHARED_TRIGRAMS: f32 = 0.45;
/// Maximum query length for fuzzy matching, in characters.
const MAX_FUZZY_QUERY_LENGTH: usize = 300;

/// A named entity in a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Mention {
    /// Entity id.
    pub id: String,
    /// Name as spelled in the data.
    pub name: String,
    /// Range in the normalised query.
    pub range: Range<usize>,
    /// 1 for an exact match, less for a fuzzy one.
    pub certainty: f32,
}

/// Name index and links.
#[derive(Debug, Default)]
pub(super) struct Linker {
    names: Vec<Name>,
    by_spelling: HashMap<String, Vec<usize>>,
    by_stems: HashMap<String, Vec<usize>>,
    by_skeleton: HashMap<String, Vec<usize>>,
    by_trigram: HashMap<Term, Vec<usize>>,
    targets: HashMap<String, Vec<LinkTarget>>,
}

/// A name of an entity.
#[derive(Debug)]
struct Name {
    id: String,
    spelling: String,
    trigrams: usize,
}

/// A document linked to an entity.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkTarget {
    pub(super) document: usize,
    pub(super) relation: Relation,
    pub(super) weight: f32,
}

impl Linker {
    /// Indexes the names and links of documents, and additional names.
    pub(super) fn new(
        documents: &[Document],
        others: &[(String, String)],
        analyzer: &Analyzer,
    ) -> Self {
        let mut linker = Self::default();
        for (place, document) in documents.iter().enumerate() {
            for name in &document.names {
                linker.add_name(&document.id, name, analyzer);
            }
            let itself = LinkTarget { document: place, relation: Relation::Is, weight: 1.0 };
            linker.targets.entry(document.id.clone()).or_default().push(itself);
            for link in &document.links {
                let target =
                    LinkTarget { document: place, relation: link.relation, weight: link.weight };
                linker.targets.entry(link.to.clone()).or_default().push(target);
            }
        }
        for (id, name) in others {
            linker.add_name(id, name, analyzer);
        }
        linker
    }

    fn add_name(&mut self, id: &str, name: &str, analyzer: &Analyzer) {
        let spelling = normalize(name).text().trim().to_owned();
        if spelling.chars().count() < 2 {
            return;
        }
        let known = self.by_spelling.get(&spelling);
        if known.is_some_and(|places| places.iter().any(|place| self.is_of(*place, id))) {
            return;
        }
        let place = self.names.len();
        let tokens = analyzer.segmenter().segment(&spelling);
        let mut trigrams = analyzer.trigrams(&spelling, &tokens);
        trigrams.sort_unstable();
        trigrams.dedup();
        for trigram in &trigrams {
            self.by_trigram.entry(*trigram).or_default().push(place);
        }
        if tokens.iter().all(is_foreign) {
            self.by_stems.entry(stems(&spelling, &tokens)).or_default().push(place);
        } else {
            self.by_skeleton.entry(skeleton(&spelling)).or_default().push(place);
        }
        self.by_spelling.entry(spelling.clone()).or_default().push(place);
        self.names.push(Name { id: id.to_owned(), spelling, trigrams: trigrams.len() });
    }

    fn is_of(&self, place: usize, id: &str) -> bool {
        self.names.get(place).is_some_and(|name| name.id == id)
    }

    /// Returns the documents linked to an entity.
    pub(super) fn targets(&self, id: &str) -> &[LinkTarget] {
        self.targets.get(id).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the entities that a query names. Overlaps are resolved to the longest. Fuzzy matches
    /// are used only outside exact ones, and only if some word does not occur in the corpus
    /// (`stands`): an indexed word is not an error.
    pub(super) fn mentions(
        &self,
        normalized: &str,
        tokens: &[Token],
        analyzer: &Analyzer,
        stands: impl Fn(Term) -> bool,
    ) -> Vec<Mention> {
        let mut selected = self.exact(normalized, tokens, analyzer);
        if normalized.chars().count() <= MAX_FUZZY_QUERY_LENGTH {
            let mut rest = self.misspelt(normalized, tokens, analyzer, &selected);
            let right = |token: &Token| {
                is_foreign(token) && stands(Term::word(&english::stem(token.text(normalized))))
            };
            rest.retain(|(range, ..)| {
                !tokens.iter().filter(|token| overlap(range, &token.range)).all(right)
            });
            selected.extend(rest);
        }
        self.merge_mentions(selected)
    }

    /// Returns exact mentions only.
    pub(super) fn exact_mentions(
        &self,
        normalized: &str,
        tokens: &[Token],
        analyzer: &Analyzer,
    ) -> Vec<Mention> {
        self.merge_mentions(self.exact(normalized, tokens, analyzer))
    }

    fn exact(
        &self,
        normalized: &str,
        tokens: &[Token],
        analyzer: &Analyzer,
    ) -> Vec<(Range<usize>, usize, f32)> {
        let mut found: Vec<(Range<usize>, usize, f32)> = Vec::new();
        self.thai_names(normalized, tokens, analyzer, &mut found);
        self.foreign_names(normalized, tokens, &mut found);
        self.codes(normalized, tokens, &mut found);
        longest(found)
    }

    /// Merges mentions of the same entity, keeping the most certain.
    fn merge_mentions(&self, selected: Vec<(Range<usize>, usize, f32)>) -> Vec<Mention> {
        let mut mentions: BTreeMap<&str, Mention> = BTreeMap::new();
        for (range, place, certainty) in selected {
            let Some(name) = self.names.get(place) else { continue };
            let mention =
                Mention { id: name.id.clone(), name: name.spelling.clone(), range, certainty };
            match mentions.get(name.id.as_str()) {
                Some(known) if known.certainty >= certainty => {}
                _ => {
                    mentions.insert(&name.id, mention);
                }
            }
        }
        mentions.into_values().collect()
    }

    fn thai_names(
        &self,
        normalized: &str,
        tokens: &[Token],
        analyzer: &Analyzer,
        found: &mut Vec<(Range<usize>, usize, f32)>,
    ) {
        let begins = |at: usize| tokens.iter().any(|token| token.range.start == at);
        let ends = |at: usize| tokens.iter().any(|token| token.range.end == at);
        for (start, letter) in normalized.char_indices() {
            if !is_thai(letter) {
                continue;
            }
            let rest = normalized.get(start..).unwrap_or_default();
            analyzer.segmenter().dictionary().prefixes(rest, |length, _| {
                let spelling = rest.get(..length).unwrap_or_default();
                let Some(places) = self.by_spelling.get(spelling) else { return };
                let whole = begins(start) && ends(start + length);
                if whole || spelling.chars().count() >= LONG_NAME {
                    let range = start..start + length;
                    found.extend(places.iter().map(|place| (range.clone(), *place, 1.0)));
                }
            });
        }
    }

    fn foreign_names(
        &self,
        normalized: &str,
        tokens: &[Token],
        found: &mut Vec<(Range<usize>, usize, f32)>,
    ) {
        for start in 0..tokens.len() {
            for length in 1..=MAX_NAME_LENGTH {
                let Some(phrase) = tokens.get(start..start + length) else { break };
                if !phrase.iter().all(is_foreign) {
                    break;
                }
                let Some(places) = self.by_stems.get(&stems(normalized, phrase)) else { continue };
                let ends = phrase.first().zip(phrase.last());
                let Some(range) = ends.map(|(first, last)| first.range.start..last.range.end)
                else {
                    continue;
                };
                found.extend(places.iter().map(|place| (range.clone(), *place, 1.0)));
            }
        }
    }

    /// A code matches its subcodes: `K64` matches `K64.9`.
    fn codes(
        &self,
        normalized: &str,
        tokens: &[Token],
        found: &mut Vec<(Range<usize>, usize, f32)>,
    ) {
        for token in tokens.iter().filter(|token| token.kind == TokenKind::Code) {
            let code = token.text(normalized);
            for (place, name) in self.names.iter().enumerate() {
                let below = name.spelling.strip_prefix(code);
                if below.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) {
                    found.push((token.range.clone(), place, 1.0));
                }
            }
        }
    }

    /// Finds fuzzy matches outside exact ones.
    fn misspelt(
        &self,
        normalized: &str,
        tokens: &[Token],
        analyzer: &Analyzer,
        exact: &[(Range<usize>, usize, f32)],
    ) -> Vec<(Range<usize>, usize, f32)> {
        let outside =
            |token: &&Token| !exact.iter().any(|(range, ..)| overlap(range, &token.range));
        let rest: Vec<Token> = tokens.iter().filter(outside).cloned().collect();
        let letters = Letters::of(normalized, tokens, |token| outside(&token));
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        let mut trigrams = analyzer.question_trigrams(normalized, &rest);
        trigrams.sort_unstable();
        trigrams.dedup();
        for trigram in trigrams {
            for place in self.by_trigram.get(&trigram).map(Vec::as_slice).unwrap_or_default() {
                *shared.entry(*place).or_default() += 1;
            }
        }
        let mut found: Vec<(usize, Range<usize>, usize, f32)> = Vec::new();
        for (place, shared) in shared {
            let Some(name) = self.names.get(place) else { continue };
            if (shared as f32) < SHARED_TRIGRAMS * name.trigrams as f32 {
                continue;
            }
            if let Some((range, edits)) = letters.near(&name.spelling) {
                let length = name.spelling.chars().count();
                let certainty = 0.9 - edits as f32 / length as f32;
                found.push((edits, range, place, certainty));
            }
        }
        // Keep the closest matches only.
        let least = found.iter().map(|(edits, ..)| *edits).min();
        found.retain(|(edits, ..)| Some(*edits) == least);
        longest(found.into_iter().map(|(_, range, place, sure)| (range, place, sure)).collect())
    }
}

fn is_foreign(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Foreign | TokenKind::Number)
}

fn stems(text: &str, tokens: &[Token]) -> String {
    let stems: Vec<String> = tokens.iter().map(|token| english::stem(token.text(text))).collect();
    stems.join(" ")
}

/// Letters of a query without tone marks, with the word of each letter.
struct Letters {
    letters: Vec<char>,
    words: Vec<Range<usize>>,
}

impl Letters {
    /// Excluded words become a separator, so that no match crosses them.
    fn of(normalized: &str, tokens: &[Token], counts: impl Fn(&Token) -> bool) -> Self {
        let mut all = Self { letters: Vec::new(), words: Vec::new() };
        for token in tokens {
            if counts(token) {
                all.letters.extend(skeleton(token.text(normalized)).chars());
            } else {
                all.letters.push('\n');
            }
            all.words.resize(all.letters.len(), token.range.clone());
        }
        all
    }

    /// Returns the letters of the words in a range of the query.
    fn within(&self, range: &Range<usize>) -> Vec<char> {
        let letters = self.letters.iter().zip(&self.words);
        let inside = letters.filter(|(_, word)| range.start <= word.start && word.end <= range.end);
        inside.map(|(letter, _)| *letter).collect()
    }

    /// Returns the words that match a name approximately, with the edit distance.
    fn near(&self, name: &str) -> Option<(Range<usize>, usize)> {
        let name: Vec<char> = skeleton(name).chars().collect();
        let (edits, end) = fuzzy::closest_substring(&name, &self.letters);
        let last = self.words.get(end.checked_sub(1)?)?;
        let first = self.words.get(end.saturating_sub(name.len()))?;
        let range = first.start..last.end;
        let tolerated = fuzzy::tolerated(name.len());
        // Thai has no spaces, so that a name may be part of a longer token; a Latin name is a whole
        // word, with an ending at most: `lemongras` does not name `mon`.
        let whole_words = !name.iter().any(char::is_ascii_alphabetic)
            || strsim::generic_levenshtein(&name, &self.within(&range)) <= 2 * tolerated;
        (edits <= tolerated && whole_words).then_some((range, edits))
    }
}

/// Resolves overlaps to the longest; keeps all entities of an ambiguous name.
fn longest(mut found: Vec<(Range<usize>, usize, f32)>) -> Vec<(Range<usize>, usize, f32)> {
    found.sort_by_key(|(range, place, _)| {
        (std::cmp::Reverse(range.end - range.start), range.start, *place)
    });
    let mut selected: Vec<(Range<usize>, usize, f32)> = Vec::new();
    for candidate in found {
        let covered = selected
            .iter()
            .any(|(range, ..)| *range != candidate.0 && overlap(range, &candidate.0));
        if !covered && !selected.contains(&candidate) {
            selected.push(candidate);
        }
    }
    selected
}
