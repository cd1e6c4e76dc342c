//! Which documents of an annex are worth scoring.
//!
//! The most telling terms of a question are followed first, until so many postings were read that
//! more would only bring documents with common words. Beside these come the documents that lie
//! nearest by their vectors, and those about what the question names.

use super::annex::{Annex, Known};
use super::fuse::{Part, Tuning};
use super::index::{Bag, ByTerm, Stream, Weighted};
use super::lexicon::Group;
use super::linker::{Lead, Mention};
use super::wanted::Wanted;
use super::{asked::Asked, census::Census, document::Relation};
use crate::papers::ShelfError;

/// So many postings are read for one question.
const POSTINGS: usize = 40_000;
/// So many documents are scored for their words.
const BY_WORDS: usize = 400;
/// So many for their vectors.
const BY_VECTORS: usize = 64;
/// So many for each thing that is named.
const BY_NAME: usize = 200;
/// How much a question about something is a question about a piece of text that names it.
pub(super) const NAMED_IN_TEXT: f32 = 0.3;

/// Documents of an annex, ready to be scored like those in memory.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// Their places in the catalogue, in order.
    pub(super) places: Vec<usize>,
    pub(super) words: Stream,
    pub(super) trigrams: Stream,
    /// For each mention the candidates it leads to, counted from 0.
    pub(super) leads: Vec<Vec<Lead>>,
}

/// A question to an annex.
pub(super) struct Asking<'a> {
    pub(super) annex: &'a dyn Annex,
    pub(super) asked: &'a Asked,
    pub(super) translated: &'a [Group],
    pub(super) mentions: &'a [Mention],
    pub(super) wanted: &'a Wanted,
    pub(super) tuning: &'a Tuning,
    pub(super) census: &'a Census,
    pub(super) known: &'a [Known],
    /// How near each document is by its vector.
    pub(super) cosines: &'a [f32],
}

impl Asking<'_> {
    /// The candidates.
    pub(super) fn candidates(&self) -> Result<Candidates, ShelfError> {
        let named = self.named()?;
        let mut places = self.by_words()?;
        places.extend(self.by_vectors());
        places.extend(named.iter().flatten().map(|(place, _)| *place));
        places.sort_unstable();
        places.dedup();
        let mut candidates = self.read(places)?;
        candidates.leads = named
            .into_iter()
            .map(|leads| {
                let lead = |(place, lead): (usize, Lead)| {
                    let document = candidates.places.binary_search(&place).ok()?;
                    Some(Lead { document, ..lead })
                };
                leads.into_iter().filter_map(lead).collect()
            })
            .collect();
        Ok(candidates)
    }

    fn takes(&self, place: usize) -> bool {
        let slip = self.annex.catalogue().slip(place);
        slip.is_some_and(|slip| self.wanted.takes(slip.kind, &slip.facets))
    }

    /// What each term adds to the score of a document that has it, about.
    fn worth(&self) -> ByTerm<f32> {
        let mut worth: ByTerm<f32> = ByTerm::default();
        let mut put = |part: Part, terms: &[&Weighted]| {
            let weight = self.tuning.weights.get(part.place()).copied().unwrap_or_default();
            let usual = self.census.words();
            let of = |term: &Weighted| usual.idf(term.term) * term.weight;
            let whole: f32 = terms.iter().map(|term| of(term)).sum();
            for term in terms {
                *worth.entry(term.term).or_default() +=
                    weight * of(term) / whole.max(f32::MIN_POSITIVE);
            }
        };
        put(Part::Words, &self.asked.words.iter().collect::<Vec<_>>());
        put(Part::Trigrams, &self.asked.trigrams.iter().collect::<Vec<_>>());
        put(Part::Lexicon, &self.translated.iter().flatten().collect::<Vec<_>>());
        worth
    }

    fn by_words(&self) -> Result<Vec<usize>, ShelfError> {
        let worth = self.worth();
        let of = |known: &Known| worth.get(&known.term).copied().unwrap_or_default();
        let mut terms: Vec<(&Known, f32)> =
            self.known.iter().map(|known| (known, of(known))).collect();
        terms.retain(|(_, worth)| *worth > 0.0);
        terms.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.term.cmp(&other.0.term)));
        let catalogue = self.annex.catalogue();
        let mut sums = vec![0.0_f32; catalogue.len()];
        let mut met: Vec<usize> = Vec::new();
        let mut left = POSTINGS;
        for (known, worth) in terms {
            // One that is too common alone is read as far as there is room; others are left out.
            if known.documents > left && !met.is_empty() {
                continue;
            }
            self.annex.having(known, &mut |row| {
                if let Some(place) = catalogue.place(row)
                    && let Some(sum) = sums.get_mut(place)
                {
                    if *sum <= 0.0 {
                        met.push(place);
                    }
                    *sum += worth;
                }
                left = left.saturating_sub(1);
                left > 0
            })?;
        }
        met.retain(|place| self.takes(*place));
        let sum = |place: usize| sums.get(place).copied().unwrap_or_default();
        best(&mut met, BY_WORDS, sum);
        Ok(met)
    }

    fn by_vectors(&self) -> Vec<usize> {
        let cosine = |place: usize| self.cosines.get(place).copied().unwrap_or_default();
        let mut near: Vec<usize> = (0..self.cosines.len())
            .filter(|place| cosine(*place) > 0.0 && self.takes(*place))
            .collect();
        best(&mut near, BY_VECTORS, cosine);
        near
    }

    /// For each mention the documents about it, and the one that it is.
    fn named(&self) -> Result<Vec<Vec<(usize, Lead)>>, ShelfError> {
        let catalogue = self.annex.catalogue();
        let mut named = Vec::with_capacity(self.mentions.len());
        for mention in self.mentions {
            let mut leads = Vec::new();
            let mut put = |row: i64, relation: Relation, weight: f32| {
                if let Some(place) = catalogue.place(row).filter(|place| self.takes(*place)) {
                    leads.push((place, Lead { document: 0, relation, weight }));
                }
            };
            if let Some(row) = self.annex.row(&mention.id)? {
                put(row, Relation::Is, 1.0);
            }
            for row in self.annex.about(&mention.id)?.into_iter().take(BY_NAME) {
                put(row, Relation::About, NAMED_IN_TEXT);
            }
            named.push(leads);
        }
        Ok(named)
    }

    /// Reads what the scorer needs of documents.
    fn read(&self, places: Vec<usize>) -> Result<Candidates, ShelfError> {
        let catalogue = self.annex.catalogue();
        let mut by_place = self.known.to_vec();
        by_place.sort_by_key(|known| known.place);
        let mut candidates = Candidates::default();
        let (mut words, mut trigrams) = (Vec::new(), Vec::new());
        for place in places {
            let Some(slip) = catalogue.slip(place) else { continue };
            let Some(found) = self.annex.frequencies(slip.row, &by_place)? else { continue };
            let (of_trigrams, of_words) =
                found.into_iter().partition(|(term, _)| term.is_trigram());
            words.push(Bag { terms: of_words, length: slip.words });
            trigrams.push(Bag { terms: of_trigrams, length: slip.trigrams });
            candidates.places.push(place);
        }
        candidates.words = Stream::build(words.iter());
        candidates.trigrams = Stream::build(trigrams.iter());
        Ok(candidates)
    }
}

/// Keeps the `most` with the highest scores; of equals the first.
fn best(places: &mut Vec<usize>, most: usize, score: impl Fn(usize) -> f32) {
    let order =
        |one: &usize, other: &usize| score(*other).total_cmp(&score(*one)).then(one.cmp(other));
    if places.len() > most {
        places.select_nth_unstable_by(most, order);
        places.truncate(most);
    }
}
