//! What a user brought, searched where it is kept.
//!
//! An annex gives candidates and what the one scorer needs of each; it never scores. In memory it
//! has a slip for each document and the vectors, which is little, so that a library of a hundred
//! thousand papers opens in a moment and needs no second copy of its text.

use std::fmt::Debug;
use std::sync::Arc;

use super::document::{Document, Facet, Kind};
use super::vectors::Vectors;
use crate::papers::UserStoreError;
use crate::text::terms::Term;

/// An inverted index that is kept somewhere.
pub trait UserIndex: Debug + Send + Sync + 'static {
    /// What is in it.
    fn table(&self) -> &DocumentTable;

    /// Those of some terms that any document has.
    fn known(&self, terms: &[Term]) -> Result<Vec<KnownTerm>, UserStoreError>;

    /// Calls `take` with the row of each document that has a term, until it says no.
    fn for_each_containing(
        &self,
        term: &KnownTerm,
        take: &mut dyn FnMut(i64) -> bool,
    ) -> Result<(), UserStoreError>;

    /// How often each of some terms stands in a document, in quarters; `None` where the document
    /// has gone in the meantime. The terms are in the order of their places.
    fn frequencies(
        &self,
        row: i64,
        terms: &[KnownTerm],
    ) -> Result<Option<Vec<(Term, u8)>>, UserStoreError>;

    /// The rows of documents about something.
    fn about(&self, id: &str) -> Result<Vec<i64>, UserStoreError>;

    /// The row of a document.
    fn row(&self, id: &str) -> Result<Option<i64>, UserStoreError>;

    /// The document at a row, where it still is.
    fn document(&self, row: i64) -> Result<Option<Document>, UserStoreError>;
}

/// A term that an annex knows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct KnownTerm {
    /// The term.
    pub term: Term,
    /// Its place in the annex's list of terms.
    pub place: i64,
    /// How many documents have it.
    pub documents: usize,
}

/// What an annex has in memory of each of its documents.
#[derive(Debug, Default)]
pub struct DocumentTable {
    entries: Vec<DocumentEntry>,
    /// For each row the slip's place.
    places: Vec<Option<u32>>,
    pub(super) vectors: Vectors,
    pub(super) words: f64,
    pub(super) trigrams: f64,
}

/// A document in a catalogue.
#[derive(Clone, Debug)]
pub struct DocumentEntry {
    /// Its row in the annex.
    pub row: i64,
    /// What it is.
    pub kind: Kind,
    /// What filters look at; shared by all documents with the same.
    pub facets: Arc<[(Facet, String)]>,
    /// Its length in words.
    pub words: f32,
    /// Its length in trigrams.
    pub trigrams: f32,
    /// Where it lies among the built-in vectors.
    pub vector: Vec<i8>,
}

impl DocumentTable {
    /// A catalogue of these documents, in the order in which equals are shown.
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

    /// How many documents there are.
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn entry(&self, place: usize) -> Option<&DocumentEntry> {
        self.entries.get(place)
    }

    /// The place of the document at a row; none when it came after the catalogue was made.
    pub(super) fn place(&self, row: i64) -> Option<usize> {
        let place = self.places.get(usize::try_from(row).ok()?)?;
        place.map(|place| place as usize)
    }
}
