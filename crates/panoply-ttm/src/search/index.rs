//! Inverted index with two fields, words and trigrams.
//!
//! Term frequencies are stored in quarters: title words count more than one occurrence, parts of
//! words less.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::bm25::Bm25;
use super::document::Document;
use super::term_statistics::FieldStatistics;
use crate::text::terms::{Analyzer, Term};
use crate::text::{Token, TokenKind, normalize};

/// Quantisation steps per occurrence.
const STEPS: f32 = 4.0;
/// Minimum text size in bytes for a second thread.
const WORTH_A_THREAD: usize = 1 << 16;

/// A weighted query term.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Weighted {
    pub(super) term: Term,
    pub(super) weight: f32,
}

/// Index of documents by words and trigrams.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) words: Stream,
    pub(super) trigrams: Stream,
    /// Words of each passage, for snippet selection.
    pub(super) passages: Vec<Vec<PassageWords>>,
    pub(super) documents: usize,
}

impl Index {
    /// Indexes documents in parallel.
    pub(super) fn build(documents: &[Document], analyzer: &Analyzer) -> Self {
        let mut terms = analyse(documents, analyzer);
        Self {
            words: Stream::build(terms.iter().map(|document| &document.words)),
            trigrams: Stream::build(terms.iter().map(|document| &document.trigrams)),
            passages: terms
                .iter_mut()
                .map(|document| std::mem::take(&mut document.passages))
                .collect(),
            documents: documents.len(),
        }
    }

    /// Returns the document frequency of a term.
    pub(super) fn document_frequency(&self, term: Term) -> usize {
        let stream = if term.is_trigram() { &self.trigrams } else { &self.words };
        stream.document_frequency(term)
    }
}

/// Sorted lower halves of the term hashes of a passage: sufficient for snippet selection.
#[derive(Clone, Debug, Default)]
pub(super) struct PassageWords(Box<[u32]>);

impl PassageWords {
    fn of(words: impl Iterator<Item = Term>) -> Self {
        let mut halves: Vec<u32> = words.map(half).collect();
        halves.sort_unstable();
        halves.dedup();
        Self(halves.into())
    }

    /// Counts the terms that the passage contains.
    pub(super) fn count<'t>(&self, terms: impl IntoIterator<Item = &'t Term>) -> usize {
        terms.into_iter().filter(|term| self.0.binary_search(&half(**term)).is_ok()).count()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half is wanted")]
const fn half(term: Term) -> u32 {
    term.number() as u32
}

/// Terms of a document.
#[derive(Debug, Default)]
pub(super) struct DocumentTerms {
    pub(super) words: TermCounts,
    pub(super) trigrams: TermCounts,
    pub(super) passages: Vec<PassageWords>,
}

/// Term frequencies, sorted by term, with the text length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TermCounts {
    /// Terms with frequencies in quarters.
    pub terms: Vec<(Term, u8)>,
    /// Length in words or trigrams.
    pub length: f32,
}

impl TermCounts {
    fn of(mut counted: Vec<(Term, f32)>) -> Self {
        counted.sort_by_key(|(term, _)| *term);
        let mut length = 0.0;
        let mut terms: Vec<(Term, f32)> = Vec::with_capacity(counted.len());
        for (term, weight) in counted {
            length += weight;
            match terms.last_mut() {
                Some((last, sum)) if *last == term => *sum += weight,
                _ => terms.push((term, weight)),
            }
        }
        let terms = terms.into_iter().map(|(term, sum)| (term, steps(sum))).collect();
        Self { terms, length }
    }
}

/// Quantises a frequency; at least one step.
fn steps(frequency: f32) -> u8 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped first")]
    let steps = (frequency * STEPS).round().clamp(1.0, 255.0) as u8;
    steps
}

/// Converts quantised steps to a frequency.
pub(super) fn frequency(steps: u8) -> f32 {
    f32::from(steps) / STEPS
}

/// Extracts the terms of documents in parallel.
pub(super) fn analyse(documents: &[Document], analyzer: &Analyzer) -> Vec<DocumentTerms> {
    let terms_of = |documents: &[Document]| -> Vec<DocumentTerms> {
        let mut words = WordCache { analyzer, known: HashMap::new() };
        documents.iter().map(|document| terms_of(document, &mut words)).collect()
    };
    let shares = partition_by_size(documents);
    if let [all] = shares.as_slice() {
        return terms_of(all);
    }
    // Results are joined in order, so the index does not depend on the number of threads.
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            shares.into_iter().map(|documents| scope.spawn(move || terms_of(documents))).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    })
}

/// Partitions documents into shares of similar text size, one per thread.
fn partition_by_size(documents: &[Document]) -> Vec<&[Document]> {
    let letters = |document: &Document| -> usize {
        document.passages.iter().map(|passage| passage.text.len()).sum()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let all: usize = documents.iter().map(letters).sum();
    let share = (all / threads).max(WORTH_A_THREAD);
    let mut shares = Vec::with_capacity(threads);
    let (mut start, mut sum) = (0, 0);
    for (place, document) in documents.iter().enumerate() {
        sum += letters(document);
        if sum >= share && shares.len() + 1 < threads {
            shares.extend(documents.get(start..=place));
            (start, sum) = (place + 1, 0);
        }
    }
    shares.extend(documents.get(start..));
    shares
}

/// Cache of analysed words: repeated stemming and segmentation took a third of the indexing time.
struct WordCache<'a> {
    analyzer: &'a Analyzer,
    known: HashMap<TokenKind, HashMap<String, Vec<(Term, f32)>>>,
}

impl WordCache<'_> {
    fn of(&mut self, text: &str, tokens: &[Token]) -> Vec<(Term, f32)> {
        let mut found = Vec::with_capacity(tokens.len() * 2);
        for token in tokens {
            let known = self.known.entry(token.kind).or_default();
            let word = token.text(text);
            if let Some(terms) = known.get(word) {
                found.extend_from_slice(terms);
                continue;
            }
            let terms = self.analyzer.words(text, std::slice::from_ref(token));
            let terms: Vec<(Term, f32)> =
                terms.into_iter().map(|word| (word.term, word.share)).collect();
            found.extend_from_slice(&terms);
            known.insert(word.to_owned(), terms);
        }
        found
    }
}

fn terms_of(document: &Document, known: &mut WordCache<'_>) -> DocumentTerms {
    let analyzer = known.analyzer;
    let mut words: Vec<(Term, f32)> = Vec::new();
    let mut trigrams: Vec<(Term, f32)> = Vec::new();
    let mut passages = Vec::with_capacity(document.passages.len());
    for passage in &document.passages {
        let normalized = normalize(&passage.text);
        let text = normalized.text();
        let tokens = analyzer.segmenter().segment(text);
        let weight = passage.weight;
        let found = known.of(text, &tokens);
        passages.push(PassageWords::of(found.iter().map(|(term, _)| *term)));
        words.extend(found.into_iter().map(|(term, share)| (term, weight * share)));
        let found = analyzer.trigrams(text, &tokens);
        trigrams.extend(found.into_iter().map(|term| (term, weight)));
    }
    DocumentTerms { words: TermCounts::of(words), trigrams: TermCounts::of(trigrams), passages }
}

/// One field of the index.
#[derive(Debug, Default)]
pub(super) struct Stream {
    slots: ByTerm<u32>,
    /// Offsets of the posting lists, with a final sentinel.
    starts: Vec<usize>,
    postings: Vec<Posting>,
    lengths: Vec<f32>,
    /// Sum of the lengths; exact in any order, because lengths have few digits.
    total: f64,
}

/// A posting.
#[derive(Clone, Copy, Debug, Default)]
struct Posting {
    document: u32,
    steps: u8,
}

impl Stream {
    pub(super) fn build<'b>(bags: impl Iterator<Item = &'b TermCounts> + Clone) -> Self {
        let mut slots: ByTerm<u32> = HashMap::default();
        let mut counts: Vec<usize> = Vec::new();
        for (term, _) in bags.clone().flat_map(|bag| &bag.terms) {
            let next = u32::try_from(counts.len()).unwrap_or(u32::MAX);
            let slot = *slots.entry(*term).or_insert(next);
            match counts.get_mut(slot as usize) {
                Some(count) => *count += 1,
                None => counts.push(1),
            }
        }
        let mut starts = Vec::with_capacity(counts.len() + 1);
        let mut total = 0;
        for count in &counts {
            starts.push(total);
            total += count;
        }
        starts.push(total);
        let mut postings = vec![Posting::default(); total];
        let mut next = starts.clone();
        let mut lengths = Vec::new();
        for (document, bag) in (0_u32..).zip(bags) {
            lengths.push(bag.length);
            for (term, steps) in &bag.terms {
                let slot = slots.get(term).map(|slot| *slot as usize);
                if let Some(place) = slot.and_then(|slot| next.get_mut(slot)) {
                    if let Some(posting) = postings.get_mut(*place) {
                        *posting = Posting { document, steps: *steps };
                    }
                    *place += 1;
                }
            }
        }
        let total = lengths.iter().map(|length| f64::from(*length)).sum();
        Self { slots, starts, postings, lengths, total }
    }

    /// Returns the total length of all documents.
    pub(super) const fn total(&self) -> f64 {
        self.total
    }

    /// Returns the document frequency of a term.
    pub(super) fn document_frequency(&self, term: Term) -> usize {
        self.postings_of(term).len()
    }

    fn postings_of(&self, term: Term) -> &[Posting] {
        let range = self.slots.get(&term).and_then(|slot| {
            let slot = *slot as usize;
            Some(*self.starts.get(slot)?..*self.starts.get(slot + 1)?)
        });
        range.and_then(|range| self.postings.get(range)).unwrap_or_default()
    }

    /// Returns the documents and frequencies of a term.
    pub(super) fn frequencies(&self, term: Term) -> impl Iterator<Item = (u32, f32)> + '_ {
        let of = |posting: &Posting| (posting.document, frequency(posting.steps));
        self.postings_of(term).iter().map(of)
    }

    /// Returns the terms with a document frequency of at least `least`, sorted.
    pub(super) fn terms(&self, least: usize) -> Vec<Term> {
        let mut terms: Vec<Term> = self
            .slots
            .keys()
            .copied()
            .filter(|term| self.document_frequency(*term) >= least)
            .collect();
        terms.sort_unstable();
        terms
    }

    /// Returns the BM25 score of every document and the maximum possible score.
    pub(super) fn scores(
        &self,
        terms: &[Weighted],
        bm25: Bm25,
        field: &FieldStatistics<'_>,
    ) -> Scores {
        let mut of = vec![0.0; self.lengths.len()];
        let mut ceiling = 0.0;
        for Weighted { term, weight } in terms {
            let idf = field.idf(*term) * weight;
            ceiling += idf * (bm25.k1 + 1.0);
            for posting in self.postings_of(*term) {
                let document = posting.document as usize;
                let length = self.lengths.get(document).copied().unwrap_or(field.length);
                let found = frequency(posting.steps);
                if let Some(score) = of.get_mut(document) {
                    *score += idf * bm25.saturation(found, length, field.length);
                }
            }
        }
        Scores { of, ceiling }
    }

    /// Returns BM25 scores where each group of terms counts once, by its best term.
    pub(super) fn group_scores(
        &self,
        groups: &[Vec<Weighted>],
        bm25: Bm25,
        field: &FieldStatistics<'_>,
    ) -> Scores {
        let all = self.lengths.len();
        let mut of = vec![0.0; all];
        let mut ceiling = 0.0;
        // Best score of the current group per document.
        let mut best = vec![0.0_f32; all];
        let mut touched: Vec<usize> = Vec::new();
        for group in groups {
            let mut most = 0.0_f32;
            for Weighted { term, weight } in group {
                if field.document_frequency(*term) == 0 {
                    continue;
                }
                let idf = field.idf(*term) * weight;
                most = most.max(idf * (bm25.k1 + 1.0));
                for posting in self.postings_of(*term) {
                    let document = posting.document as usize;
                    let length = self.lengths.get(document).copied().unwrap_or(field.length);
                    let found = frequency(posting.steps);
                    let score = idf * bm25.saturation(found, length, field.length);
                    if let Some(known) = best.get_mut(document) {
                        if *known <= 0.0 {
                            touched.push(document);
                        }
                        *known = known.max(score);
                    }
                }
            }
            // A word in no document counts like a rare word; otherwise it would lower all scores
            // without discriminating.
            ceiling += if most > 0.0 { most } else { field.idf_of_none() * (bm25.k1 + 1.0) };
            for document in touched.drain(..) {
                if let (Some(sum), Some(best)) = (of.get_mut(document), best.get_mut(document)) {
                    *sum += *best;
                    *best = 0.0;
                }
            }
        }
        Scores { of, ceiling }
    }
}

/// Scores of all documents.
#[derive(Clone, Debug, Default)]
pub(super) struct Scores {
    /// Score by document.
    pub(super) of: Vec<f32>,
    /// Maximum possible score.
    pub(super) ceiling: f32,
}

/// Hash map keyed by terms.
pub type ByTerm<T> = HashMap<Term, T, BuildHasherDefault<TermHasher>>;

/// Terms are hashes already: one multiplication is sufficient.
#[derive(Clone, Copy, Debug, Default)]
pub struct TermHasher(u64);

impl Hasher for TermHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}
