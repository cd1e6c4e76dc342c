//! Bilingual hybrid search over the graph and user data.
//!
//! Five parts score each document: words, trigrams, translations, entity links and vectors.
//! [`Engine::search`] fuses them; `panoply-bench ttm-search` measures each part and the whole.
//! Bundled data are in memory; user data stay on disk behind [`UserIndex`], and only candidates are
//! read.

mod analyzed_query;
mod bm25;
mod candidates;
mod configured_embedder;
mod corpus;
mod document;
mod embed;
mod engine;
mod fusion;
mod fuzzy;
mod index;
mod lexicon;
mod linker;
mod lsi;
mod memory_index;
mod query_units;
mod search_filter;
mod search_pass;
mod service;
mod snippet;
mod term_statistics;
mod text_model;
mod user_index;
mod vectors;

pub use self::bm25::Bm25;
pub use self::corpus::{Corpus, corpus};
pub use self::document::{Document, Facet, Kind, Link, Passage, Relation, TextLanguage};
#[cfg(feature = "tools")]
pub use self::embed::Endpoint;
pub use self::embed::{EmbedError, Embedder, StaticModel};
pub use self::engine::{Engine, EngineError, Hit, SearchQuery, SearchResult};
pub use self::fusion::{Part, Tuning};
pub use self::index::{ByTerm, TermCounts};
pub use self::linker::Mention;
pub use self::query_units::{QueryUnit, TextWords};
pub use self::search_filter::SearchFilter;
pub use self::service::{
    IMPORTED, PaperImport, RecordSource, SearchService, UserStore, chunk_document, engine_over,
    record_document,
};
pub use self::snippet::Snippet;
pub use self::text_model::{DocumentFeatures, TextModel};
pub use self::user_index::{DocumentEntry, DocumentTable, KnownTerm, UserIndex};
pub use self::vectors::Vectors;
