//! Search in two languages over the graph and over what a user adds to it.
//!
//! A question is answered by five parts, each of which can also answer alone: words, trigrams,
//! the lexicon that carries words over to the other language, names of the graph with what they
//! are linked to, and vectors. [`Engine::search`] fuses them; `panoply-bench ttm-search` measures
//! each and the whole. The bundled facts are in memory; what a user brings stays where it is kept,
//! behind [`Annex`], and only candidates are read.

mod annex;
mod asked;
mod bm25;
mod candidates;
mod census;
mod corpus;
mod desk;
mod document;
mod embed;
mod engine;
mod fuse;
mod fuzzy;
mod held;
mod index;
mod lexicon;
mod linker;
mod lsi;
mod meaning;
mod numbers;
mod round;
mod snippet;
mod units;
mod vectors;
mod wanted;
mod workings;

pub use self::annex::{Annex, Catalogue, Known, Slip};
pub use self::bm25::Bm25;
pub use self::corpus::{Corpus, corpus};
pub use self::desk::{IMPORTED, SearchDesk, chunk_document, engine_over, record_document};
pub use self::document::{Document, Facet, Kind, Link, Passage, Relation, Tongue};
#[cfg(feature = "tools")]
pub use self::embed::Endpoint;
pub use self::embed::{Embedder, NoVectors, WordTable};
pub use self::engine::{Answer, Engine, Hit, NotReady, Question};
pub use self::fuse::{Part, Tuning};
pub use self::index::{Bag, ByTerm};
pub use self::linker::Mention;
pub use self::snippet::Snippet;
pub use self::units::{TextWords, Unit};
pub use self::vectors::Vectors;
pub use self::wanted::Wanted;
pub use self::workings::{Placed, Workings};
