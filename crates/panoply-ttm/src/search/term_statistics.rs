//! How common each term of a question is, over everything that can be found: what is in memory,
//! and what a user brought. One count for both is why a document has the same score in either.

use super::bm25::Bm25;
use super::index::{ByTerm, Index};
use crate::text::terms::Term;

/// How many documents have each of some terms, and how long documents usually are.
#[derive(Debug, Default)]
pub(super) struct TermStatistics {
    document_frequency: ByTerm<usize>,
    documents: usize,
    words: f64,
    trigrams: f64,
}

impl TermStatistics {
    /// Of the documents in memory.
    pub(super) fn of(index: &Index, terms: impl IntoIterator<Item = Term>) -> Self {
        Self {
            document_frequency: terms
                .into_iter()
                .map(|term| (term, index.document_frequency(term)))
                .collect(),
            documents: index.documents,
            words: index.words.total(),
            trigrams: index.trigrams.total(),
        }
    }

    /// Counts other documents too, with their length in words and in trigrams.
    pub(super) fn add_documents(&mut self, documents: usize, words: f64, trigrams: f64) {
        self.documents += documents;
        self.words += words;
        self.trigrams += trigrams;
    }

    /// Counts other documents that have a term.
    pub(super) fn add(&mut self, term: Term, documents: usize) {
        *self.document_frequency.entry(term).or_default() += documents;
    }

    /// The terms that were asked about, each once.
    pub(super) fn terms(&self) -> Vec<Term> {
        let mut terms: Vec<Term> = self.document_frequency.keys().copied().collect();
        terms.sort_unstable();
        terms
    }

    /// What is usual for words.
    pub(super) fn words(&self) -> FieldStatistics<'_> {
        FieldStatistics { statistics: self, length: self.mean(self.words) }
    }

    /// What is usual for trigrams.
    pub(super) fn trigrams(&self) -> FieldStatistics<'_> {
        FieldStatistics { statistics: self, length: self.mean(self.trigrams) }
    }

    #[expect(clippy::cast_possible_truncation, reason = "a mean length is a small number")]
    fn mean(&self, total: f64) -> f32 {
        (total / self.documents.max(1) as f64).max(1.0) as f32
    }

    pub(super) fn document_frequency(&self, term: Term) -> usize {
        self.document_frequency.get(&term).copied().unwrap_or_default()
    }
}

/// What is usual in all documents: what a score measures one document against.
#[derive(Debug)]
pub(super) struct FieldStatistics<'c> {
    statistics: &'c TermStatistics,
    /// How long a document is on average.
    pub(super) length: f32,
}

impl FieldStatistics<'_> {
    /// How many documents have a term.
    pub(super) fn document_frequency(&self, term: Term) -> usize {
        self.statistics.document_frequency(term)
    }

    /// How telling a term is.
    pub(super) fn idf(&self, term: Term) -> f32 {
        Bm25::idf(self.document_frequency(term), self.statistics.documents)
    }

    /// How telling a term is that no document has.
    pub(super) fn idf_of_none(&self) -> f32 {
        Bm25::idf(0, self.statistics.documents)
    }
}
