//! Term statistics of a query over all documents, in memory and in the user index. With common
//! statistics a document has the same score in either.

use super::bm25::Bm25;
use super::index::{ByTerm, Index};
use crate::text::terms::Term;

/// Document frequencies of the query terms, and total lengths.
#[derive(Debug, Default)]
pub(super) struct TermStatistics {
    document_frequency: ByTerm<usize>,
    documents: usize,
    words: f64,
    trigrams: f64,
}

impl TermStatistics {
    /// Collects the statistics of the in-memory index.
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

    /// Adds documents with their total lengths.
    pub(super) fn add_documents(&mut self, documents: usize, words: f64, trigrams: f64) {
        self.documents += documents;
        self.words += words;
        self.trigrams += trigrams;
    }

    /// Adds to the document frequency of a term.
    pub(super) fn add(&mut self, term: Term, documents: usize) {
        *self.document_frequency.entry(term).or_default() += documents;
    }

    /// Returns the query terms, sorted.
    pub(super) fn terms(&self) -> Vec<Term> {
        let mut terms: Vec<Term> = self.document_frequency.keys().copied().collect();
        terms.sort_unstable();
        terms
    }

    /// Returns the statistics of the word field.
    pub(super) fn words(&self) -> FieldStatistics<'_> {
        FieldStatistics { statistics: self, length: self.mean(self.words) }
    }

    /// Returns the statistics of the trigram field.
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

/// Document frequencies and mean length of one field, as BM25 needs them.
#[derive(Debug)]
pub(super) struct FieldStatistics<'c> {
    statistics: &'c TermStatistics,
    /// Mean document length.
    pub(super) length: f32,
}

impl FieldStatistics<'_> {
    /// Returns the document frequency of a term.
    pub(super) fn document_frequency(&self, term: Term) -> usize {
        self.statistics.document_frequency(term)
    }

    /// Returns the idf of a term.
    pub(super) fn idf(&self, term: Term) -> f32 {
        Bm25::idf(self.document_frequency(term), self.statistics.documents)
    }

    /// Returns the idf of a term that occurs in no document.
    pub(super) fn idf_of_none(&self) -> f32 {
        Bm25::idf(0, self.statistics.documents)
    }
}
