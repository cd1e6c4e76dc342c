//! The documents in memory: the bundled facts, and what is too new to be anywhere else.

use std::sync::Arc;

use super::corpus::Corpus;
use super::document::Document;
use super::index::Index;
use super::linker::Linker;
use super::vectors::Vectors;
use super::workings::Workings;

/// Documents, and all that finds them.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) documents: Vec<Arc<Document>>,
    pub(super) index: Index,
    pub(super) linker: Linker,
    pub(super) vectors: Vectors,
}

impl Held {
    /// Makes documents ready with what was learnt from others.
    pub(super) fn of(corpus: Corpus, workings: &Workings) -> Self {
        let index = Index::build(&corpus.documents, &workings.analyzer);
        let Corpus { documents, other_names, .. } = corpus;
        let linker = Linker::new(&documents, &other_names, &workings.analyzer);
        let vectors = workings.lsi.documents(&index);
        let documents = documents.into_iter().map(Arc::new).collect();
        Self { documents, index, linker, vectors }
    }
}
