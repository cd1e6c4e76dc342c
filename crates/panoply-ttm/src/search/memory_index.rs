//! In-memory index over bundled data and new documents.

use std::sync::Arc;

use super::corpus::Corpus;
use super::document::Document;
use super::index::Index;
use super::linker::Linker;
use super::text_model::TextModel;
use super::vectors::Vectors;

/// Documents with their index, linker and vectors.
#[derive(Debug)]
pub(super) struct MemoryIndex {
    pub(super) documents: Vec<Arc<Document>>,
    pub(super) index: Index,
    pub(super) linker: Linker,
    pub(super) vectors: Vectors,
}

impl MemoryIndex {
    /// Indexes a corpus with an existing text model.
    pub(super) fn of(corpus: Corpus, text_model: &TextModel) -> Self {
        let index = Index::build(&corpus.documents, &text_model.analyzer);
        let Corpus { documents, other_names, .. } = corpus;
        let linker = Linker::new(&documents, &other_names, &text_model.analyzer);
        let vectors = text_model.lsi.documents(&index);
        let documents = documents.into_iter().map(Arc::new).collect();
        Self { documents, index, linker, vectors }
    }
}
