//! Search in two languages over the graph and over what a user adds to it.
//!
//! A question is answered by five parts, each of which can also answer alone: words, trigrams,
//! the lexicon that carries words over to the other language, names of the graph with what they
//! are linked to, and vectors. [`Engine::search`] fuses them; `panoply-bench ttm-search` measures
//! each and the whole.

mod bm25;
mod corpus;
mod desk;
mod document;
mod embed;
mod engine;
mod fuse;
mod fuzzy;
mod index;
mod lexicon;
mod linker;
mod lsi;
mod meaning;
mod numbers;
mod snippet;
mod units;
mod vectors;

pub use self::bm25::Bm25;
pub use self::corpus::{Corpus, corpus};
pub use self::desk::{SearchDesk, corpus_over};
pub use self::document::{Document, Facet, Kind, Link, Passage, Relation, Tongue};
#[cfg(feature = "tools")]
pub use self::embed::Endpoint;
pub use self::embed::{Embedder, NoVectors, WordTable};
pub use self::engine::{Answer, Engine, Hit, NotReady, Question, Wanted};
pub use self::fuse::{Part, Tuning};
pub use self::linker::Mention;
pub use self::snippet::Snippet;
pub use self::units::{TextWords, Unit};
