//! What a user brought, searched where it is kept.
//!
//! An annex gives candidates and what the one scorer needs of each; it never scores. In memory it
//! has a slip for each document and the vectors, which is little, so that a library of a hundred
//! thousand papers opens in a moment and needs no second copy of its text.

use std::fmt::Debug;
use std::sync::Arc;

use super::document::{Document, Facet, Kind};
use super::vectors::Vectors;
use crate::papers::ShelfError;
use crate::text::terms::Term;

/// An inverted index that is kept somewhere.
pub trait Annex: Debug + Send + Sync + 'static {
    /// What is in it.
    fn catalogue(&self) -> &Catalogue;

    /// Those of some terms that any document has.
    fn known(&self, terms: &[Term]) -> Result<Vec<Known>, ShelfError>;

    /// Calls `take` with the row of each document that has a term, until it says no.
    fn having(&self, term: &Known, take: &mut dyn FnMut(i64) -> bool) -> Result<(), ShelfError>;

    /// How often each of some terms stands in a document, in quarters; `None` where the document
    /// has gone in the meantime. The terms are in the order of their places.
    fn frequencies(&self, row: i64, terms: &[Known])
    -> Result<Option<Vec<(Term, u8)>>, ShelfError>;

    /// The rows of documents about something.
    fn about(&self, id: &str) -> Result<Vec<i64>, ShelfError>;

    /// The row of a document.
    fn row(&self, id: &str) -> Result<Option<i64>, ShelfError>;

    /// The document at a row, where it still is.
    fn document(&self, row: i64) -> Result<Option<Document>, ShelfError>;
}

/// A term that an annex knows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Known {
    /// The term.
    pub term: Term,
    /// Its place in the annex's list of terms.
    pub place: i64,
    /// How many documents have it.
    pub documents: usize,
}

/// What an annex has in memory of each of its documents.
#[derive(Debug, Default)]
pub struct Catalogue {
    slips: Vec<Slip>,
    /// For each row the slip's place.
    places: Vec<Option<u32>>,
    pub(super) vectors: Vectors,
    pub(super) words: f64,
    pub(super) trigrams: f64,
}

/// A document in a catalogue.
#[derive(Clone, Debug)]
pub struct Slip {
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

impl Catalogue {
    /// A catalogue of these documents, in the order in which equals are shown.
    pub fn of(slips: Vec<Slip>) -> Self {
        let mut catalogue = Self::default();
        for slip in &slips {
            catalogue.words += f64::from(slip.words);
            catalogue.trigrams += f64::from(slip.trigrams);
        }
        catalogue.vectors = Vectors::of(slips.iter().map(|slip| slip.vector.as_slice()));
        for (place, slip) in (0_u32..).zip(slips) {
            if let Ok(row) = usize::try_from(slip.row) {
                if catalogue.places.len() <= row {
                    catalogue.places.resize(row + 1, None);
                }
                if let Some(known) = catalogue.places.get_mut(row) {
                    *known = Some(place);
                }
            }
            catalogue.slips.push(Slip { vector: Vec::new(), ..slip });
        }
        catalogue
    }

    /// How many documents there are.
    pub const fn len(&self) -> usize {
        self.slips.len()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.slips.is_empty()
    }

    pub(super) fn slip(&self, place: usize) -> Option<&Slip> {
        self.slips.get(place)
    }

    /// The place of the document at a row; none when it came after the catalogue was made.
    pub(super) fn place(&self, row: i64) -> Option<usize> {
        let place = self.places.get(usize::try_from(row).ok()?)?;
        place.map(|place| place as usize)
    }
}
