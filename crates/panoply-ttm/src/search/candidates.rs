//! Candidate selection from the user index.
//!
//! Terms are processed by descending weight until the posting limit is reached. The nearest
//! documents by vector and the documents that mention a named entity are added.

use super::fusion::{Part, Tuning};
use super::index::{ByTerm, Stream, TermCounts, Weighted};
use super::lexicon::Group;
use super::linker::{LinkTarget, Mention};
use super::search_filter::SearchFilter;
use super::user_index::{KnownTerm, UserIndex};
use super::{analyzed_query::AnalyzedQuery, document::Relation, term_statistics::TermStatistics};
use crate::papers::UserStoreError;

/// Maximum number of postings read per query.
const MAX_POSTINGS: usize = 40_000;
/// Maximum number of candidates by terms.
const MAX_BY_WORDS: usize = 400;
/// Maximum number of candidates by vector.
const MAX_BY_VECTORS: usize = 64;
/// Maximum number of candidates per named entity.
const MAX_BY_NAME: usize = 200;
/// Link weight between an entity and a text chunk that mentions it.
pub(super) const NAMED_IN_TEXT: f32 = 0.3;

/// Candidates from the user index, indexed for the common scorer.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// Positions in the document table, in order.
    pub(super) places: Vec<usize>,
    pub(super) words: Stream,
    pub(super) trigrams: Stream,
    /// Linked candidates of each mention, as indices into `places`.
    pub(super) targets: Vec<Vec<LinkTarget>>,
}

/// A candidate search.
pub(super) struct CandidateSearch<'a> {
    pub(super) user_index: &'a dyn UserIndex,
    pub(super) analyzed: &'a AnalyzedQuery,
    pub(super) translated: &'a [Group],
    pub(super) mentions: &'a [Mention],
    pub(super) filter: &'a SearchFilter,
    pub(super) tuning: &'a Tuning,
    pub(super) statistics: &'a TermStatistics,
    pub(super) known: &'a [KnownTerm],
    /// Cosine similarity of each document.
    pub(super) cosines: &'a [f32],
}

impl CandidateSearch<'_> {
    /// Returns the candidates.
    pub(super) fn candidates(&self) -> Result<Candidates, UserStoreError> {
        let named = self.named()?;
        let mut places = self.by_words()?;
        places.extend(self.by_vectors());
        places.extend(named.iter().flatten().map(|(place, _)| *place));
        places.sort_unstable();
        places.dedup();
        let mut candidates = self.read(places)?;
        candidates.targets = named
            .into_iter()
            .map(|targets| {
                let target = |(place, target): (usize, LinkTarget)| {
                    let document = candidates.places.binary_search(&place).ok()?;
                    Some(LinkTarget { document, ..target })
                };
                targets.into_iter().filter_map(target).collect()
            })
            .collect();
        Ok(candidates)
    }

    fn accepts(&self, place: usize) -> bool {
        let entry = self.user_index.table().entry(place);
        entry.is_some_and(|entry| self.filter.accepts(entry.kind, &entry.facets))
    }

    /// Returns the approximate contribution of each term to a score.
    fn term_weights(&self) -> ByTerm<f32> {
        let mut term_weights: ByTerm<f32> = ByTerm::default();
        let mut put = |part: Part, terms: &[&Weighted]| {
            let weight = self.tuning.weights.get(part.place()).copied().unwrap_or_default();
            let field = self.statistics.words();
            let of = |term: &Weighted| field.idf(term.term) * term.weight;
            let whole: f32 = terms.iter().map(|term| of(term)).sum();
            for term in terms {
                *term_weights.entry(term.term).or_default() +=
                    weight * of(term) / whole.max(f32::MIN_POSITIVE);
            }
        };
        put(Part::Words, &self.analyzed.words.iter().collect::<Vec<_>>());
        put(Part::Trigrams, &self.analyzed.trigrams.iter().collect::<Vec<_>>());
        put(Part::Lexicon, &self.translated.iter().flatten().collect::<Vec<_>>());
        term_weights
    }

    fn by_words(&self) -> Result<Vec<usize>, UserStoreError> {
        let term_weights = self.term_weights();
        let of = |known: &KnownTerm| term_weights.get(&known.term).copied().unwrap_or_default();
        let mut terms: Vec<(&KnownTerm, f32)> =
            self.known.iter().map(|known| (known, of(known))).collect();
        terms.retain(|(_, term_weights)| *term_weights > 0.0);
        terms.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.term.cmp(&other.0.term)));
        let table = self.user_index.table();
        let mut sums = vec![0.0_f32; table.len()];
        let mut touched: Vec<usize> = Vec::new();
        let mut left = MAX_POSTINGS;
        for (known, term_weights) in terms {
            // A term that exceeds the remaining limit is read only if it is the first.
            if known.documents > left && !touched.is_empty() {
                continue;
            }
            self.user_index.for_each_containing(known, &mut |row| {
                if let Some(place) = table.place(row)
                    && let Some(sum) = sums.get_mut(place)
                {
                    if *sum <= 0.0 {
                        touched.push(place);
                    }
                    *sum += term_weights;
                }
                left = left.saturating_sub(1);
                left > 0
            })?;
        }
        touched.retain(|place| self.accepts(*place));
        let sum = |place: usize| sums.get(place).copied().unwrap_or_default();
        best(&mut touched, MAX_BY_WORDS, sum);
        Ok(touched)
    }

    fn by_vectors(&self) -> Vec<usize> {
        let cosine = |place: usize| self.cosines.get(place).copied().unwrap_or_default();
        let mut near: Vec<usize> = (0..self.cosines.len())
            .filter(|place| cosine(*place) > 0.0 && self.accepts(*place))
            .collect();
        best(&mut near, MAX_BY_VECTORS, cosine);
        near
    }

    /// Returns for each mention the documents about it and the document itself.
    fn named(&self) -> Result<Vec<Vec<(usize, LinkTarget)>>, UserStoreError> {
        let table = self.user_index.table();
        let mut named = Vec::with_capacity(self.mentions.len());
        for mention in self.mentions {
            let mut targets = Vec::new();
            let mut put = |row: i64, relation: Relation, weight: f32| {
                if let Some(place) = table.place(row).filter(|place| self.accepts(*place)) {
                    targets.push((place, LinkTarget { document: 0, relation, weight }));
                }
            };
            if let Some(row) = self.user_index.row(&mention.id)? {
                put(row, Relation::Is, 1.0);
            }
            for row in self.user_index.about(&mention.id)?.into_iter().take(MAX_BY_NAME) {
                put(row, Relation::About, NAMED_IN_TEXT);
            }
            named.push(targets);
        }
        Ok(named)
    }

    /// Reads the term frequencies of the candidates.
    fn read(&self, places: Vec<usize>) -> Result<Candidates, UserStoreError> {
        let table = self.user_index.table();
        let mut by_place = self.known.to_vec();
        by_place.sort_by_key(|known| known.place);
        let mut candidates = Candidates::default();
        let (mut words, mut trigrams) = (Vec::new(), Vec::new());
        for place in places {
            let Some(entry) = table.entry(place) else { continue };
            let Some(found) = self.user_index.frequencies(entry.row, &by_place)? else { continue };
            let (of_trigrams, of_words) =
                found.into_iter().partition(|(term, _)| term.is_trigram());
            words.push(TermCounts { terms: of_words, length: entry.words });
            trigrams.push(TermCounts { terms: of_trigrams, length: entry.trigrams });
            candidates.places.push(place);
        }
        candidates.words = Stream::build(words.iter());
        candidates.trigrams = Stream::build(trigrams.iter());
        Ok(candidates)
    }
}

/// Keeps the `most` highest scores; ties by position.
fn best(places: &mut Vec<usize>, most: usize, score: impl Fn(usize) -> f32) {
    let order =
        |one: &usize, other: &usize| score(*other).total_cmp(&score(*one)).then(one.cmp(other));
    if places.len() > most {
        places.select_nth_unstable_by(most, order);
        places.truncate(most);
    }
}
