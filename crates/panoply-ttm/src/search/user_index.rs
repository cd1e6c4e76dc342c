//! On-disk inverted index over user papers and documents.
//!
//! It returns candidates and the term frequencies that the common scorer needs; it does not score.
//! Only one entry per document and the vectors are in memory, so a store of a hundred thousand
//! papers opens quickly and its text is not duplicated.

use std::fmt::Debug;
use std::sync::Arc;

use super::document::{Document, Facet, Kind};
use super::vectors::Vectors;
use crate::papers::UserStoreError;
use crate::text::terms::Term;

/// An inverted index over user documents.
pub trait UserIndex: Debug + Send + Sync + 'static {
    /// Returns the in-memory document table.
    fn table(&self) -> &DocumentTable;

    /// Returns those of the terms that occur in any document.
    fn known(&self, terms: &[Term]) -> Result<Vec<KnownTerm>, UserStoreError>;

    /// Calls `take` with the row of each document that contains a term, until it returns false.
    fn for_each_containing(
        &self,
        term: &KnownTerm,
        take: &mut dyn FnMut(i64) -> bool,
    ) -> Result<(), UserStoreError>;

    /// Returns the frequencies of terms in a document in quarters; `None` if the document was
    /// deleted. `terms` must be sorted by place.
    fn frequencies(
        &self,
        row: i64,
        terms: &[KnownTerm],
    ) -> Result<Option<Vec<(Term, u8)>>, UserStoreError>;

    /// Returns the rows of documents that mention an id.
    fn about(&self, id: &str) -> Result<Vec<i64>, UserStoreError>;

    /// Returns the row of a document.
    fn row(&self, id: &str) -> Result<Option<i64>, UserStoreError>;

    /// Returns the document at a row, if it still exists.
    fn document(&self, row: i64) -> Result<Option<Document>, UserStoreError>;
}

/// A term of the index.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct KnownTerm {
    /// Term.
    pub term: Term,
    /// Position in the term table.
    pub place: i64,
    /// Document frequency.
    pub documents: usize,
}

/// In-memory data of all indexed documents.
#[derive(Debug, Default)]
pub struct DocumentTable {
    entries: Vec<DocumentEntry>,
    /// Entry position by row.
    places: Vec<Option<u32>>,
    pub(super) vectors: Vectors,
    pub(super) words: f64,
    pub(super) trigrams: f64,
}

/// In-memory data of one document.
#[derive(Clone, Debug)]
pub struct DocumentEntry {
    /// Row in the index.
    pub row: i64,
    /// Document kind.
    pub kind: Kind,
    /// Filterable properties, shared by documents with equal values.
    pub facets: Arc<[(Facet, String)]>,
    /// Length in words.
    pub words: f32,
    /// Length in trigrams.
    pub trigrams: f32,
    /// Quantised LSI vector.
    pub vector: Vec<i8>,
}

impl DocumentTable {
    /// Builds the table; the order breaks ties in rankings.
    pub fn of(entries: Vec<DocumentEntry>) -> Self {
        let mut table = Self::default();
        for entry in &entries {
            table.words += f64::from(entry.words);
            table.trigrams += f64::from(entry.trigrams);
        }
        table.vectors = Vectors::of(entries.iter().map(|entry| entry.vector.as_slice()));
        for (place, entry) in (0_u32..).zip(entries) {
            if let Ok(row) = usize::try_from(entry.row) {
                if table.places.len() <= row {
                    table.places.resize(row + 1, None);
                }
                if let Some(known) = table.places.get_mut(row) {
                    *known = Some(place);
                }
            }
            table.entries.push(DocumentEntry { vector: Vec::new(), ..entry });
        }
        table
    }

    /// Returns the number of documents.
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are no documents.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn entry(&self, place: usize) -> Option<&DocumentEntry> {
        self.entries.get(place)
    }

    /// Returns the position of a row; `None` if it was added after the table was built.
    pub(super) fn place(&self, row: i64) -> Option<usize> {
        let place = self.places.get(usize::try_from(row).ok()?)?;
        place.map(|place| place as usize)
    }
}
