//! Names of the graph in a question, and the documents that each leads to.
//!
//! A name is met exactly, or by its stems (`haemorrhoids` for `haemorrhoid`), or without its
//! tone marks, or with a typing error or two. What it leads to is the thing itself and whatever
//! is linked to it: a constituent leads to the herbs that hold it, a drug to the herbs that warn
//! of it.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::document::{Document, Relation};
use super::fuzzy;
use crate::text::terms::{Analyzer, Term};
use crate::text::{Token, TokenKind, english, is_thai, normalize, skeleton};

/// Thai names with fewer letters than this count only where words begin and end, so that `หอม`
/// is not met in `น้ำมันหอมระเหย`.
const LONG_NAME: usize = 5;
/// The longest name in words of another script.
const MAX_NAME_LENGTH: usize = 6;
/// How many of a misspelt name's trigrams must be there before it is looked at closely.
const SHARED_TRIGRAMS: f32 = 0.45;
/// Questions longer than this many letters are not searched for misspelt names.
const MAX_FUZZY_QUERY_LENGTH: usize = 300;

/// Something a question names.
#[derive(Clone, Debug, PartialEq)]
pub struct Mention {
    /// The id of what is named.
    pub id: String,
    /// The name as it stands in the data.
    pub name: String,
    /// Where it stands in the normalised question.
    pub range: Range<usize>,
    /// 1 for an exact name, less for a guess.
    pub certainty: f32,
}

/// All names, and what each leads to.
#[derive(Debug, Default)]
pub(super) struct Linker {
    names: Vec<Name>,
    by_spelling: HashMap<String, Vec<usize>>,
    by_stems: HashMap<String, Vec<usize>>,
    by_skeleton: HashMap<String, Vec<usize>>,
    by_trigram: HashMap<Term, Vec<usize>>,
    targets: HashMap<String, Vec<LinkTarget>>,
}

/// A name of something.
#[derive(Debug)]
struct Name {
    id: String,
    spelling: String,
    trigrams: usize,
}

/// A document that a named thing leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkTarget {
    pub(super) document: usize,
    pub(super) relation: Relation,
    pub(super) weight: f32,
}

impl Linker {
    /// The names and links of documents, and other names for their ids.
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

    /// The documents that a named thing leads to.
    pub(super) fn targets(&self, id: &str) -> &[LinkTarget] {
        self.targets.get(id).map(Vec::as_slice).unwrap_or_default()
    }

    /// Everything a question names. Where names overlap the longest counts; misspelt names are
    /// only looked for outside of names that were met exactly, and where not every word is one
    /// that `stands` in the texts: what others write so is no error.
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

    /// Everything a text names as the data write it.
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

    /// One thing named twice is one mention; the surer one stays.
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

    /// A code means itself and all codes below it: `K64` means `K64.9` too.
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

    /// Names that nearly stand in the question, outside of those that do.
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
        // The nearest names only: a question with an error means one of them.
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

/// The letters of a question without its tone marks, and the word that each stands in.
struct Letters {
    letters: Vec<char>,
    words: Vec<Range<usize>>,
}

impl Letters {
    /// Words that do not count are one sign that stands in no name, so that nothing is met across
    /// them.
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

    /// The words in which a name nearly stands, and how many edits away.
    fn near(&self, name: &str) -> Option<(Range<usize>, usize)> {
        let name: Vec<char> = skeleton(name).chars().collect();
        let (edits, end) = fuzzy::closest_substring(&name, &self.letters);
        let last = self.words.get(end.checked_sub(1)?)?;
        let first = self.words.get(end.saturating_sub(name.len()))?;
        (edits <= fuzzy::tolerated(name.len())).then_some((first.start..last.end, edits))
    }
}

const fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Of names that overlap, the longest; of equally long ones at one place, all.
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
