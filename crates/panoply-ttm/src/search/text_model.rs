//! Text model: analyzer, lexicon and LSI vectors, shared by all corpora so that one index fits them
//! all.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::corpus::Corpus;
use super::document::Document;
use super::engine::EngineError;
use super::index::{Index, TermCounts, analyse};
use super::lexicon::Lexicon;
use super::linker::Linker;
use super::lsi::Lsi;
use super::memory_index::MemoryIndex;
use crate::text::terms::Analyzer;
use crate::text::{Dictionary, normalize};

/// Format version; increment when the same text yields other terms or vectors.
const FORM: u32 = 1;

/// Analyzer, lexicon and LSI model.
#[derive(Debug)]
pub struct TextModel {
    pub(super) analyzer: Analyzer,
    pub(super) lexicon: Lexicon,
    pub(super) lsi: Lsi,
    /// Hash of everything that terms and vectors depend on.
    fingerprint: [u8; 32],
}

/// Terms and vector of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentFeatures {
    /// Word frequencies.
    pub words: TermCounts,
    /// Trigram frequencies.
    pub trigrams: TermCounts,
    /// Quantised LSI vector.
    pub vector: Vec<i8>,
}

impl TextModel {
    /// Trains the model on a corpus and indexes the corpus. The linker is built in parallel with
    /// LSI.
    pub(super) fn of(corpus: Corpus) -> Result<(Self, MemoryIndex), EngineError> {
        let names = (corpus.documents.iter().flat_map(|document| &document.names))
            .chain(corpus.other_names.iter().map(|(_, name)| name));
        let names: Vec<String> =
            names.map(|name| normalize(name).text().trim().to_owned()).collect();
        let dictionary = Dictionary::new(names.iter().map(String::as_str))
            .map_err(|error| EngineError::because(&error))?;
        let dictionary = Arc::new(dictionary);
        let analyzer = Analyzer::new(Arc::clone(&dictionary));
        let index = Index::build(&corpus.documents, &analyzer);
        let lexicon = Lexicon::new().map_err(|error| EngineError::because(&error))?;
        let (lsi, worker) = std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let linker = Linker::new(&corpus.documents, &corpus.other_names, &analyzer);
                (linker, fingerprint(&corpus, &dictionary))
            });
            (Lsi::train(&index, corpus.trained), worker.join())
        });
        let (linker, fingerprint) = worker.map_err(|_| EngineError::because(&Panicked))?;
        let vectors = lsi.documents(&index);
        let documents = corpus.documents.into_iter().map(Arc::new).collect();
        let text_model = Self { analyzer, lexicon, lsi, fingerprint };
        Ok((text_model, MemoryIndex { documents, index, linker, vectors }))
    }

    /// Models with equal fingerprints yield equal terms and vectors.
    pub const fn fingerprint(&self) -> &[u8; 32] {
        &self.fingerprint
    }

    /// Extracts the features of documents in parallel.
    pub fn place(&self, documents: &[Document]) -> Vec<DocumentFeatures> {
        let terms = analyse(documents, &self.analyzer);
        let placed = terms.into_iter().map(|terms| {
            let vector = self.lsi.document(&terms.words, &terms.trigrams).into_numbers();
            DocumentFeatures { words: terms.words, trigrams: terms.trigrams, vector }
        });
        placed.collect()
    }
}

#[derive(Debug, thiserror::Error)]
#[error("indexing the names panicked")]
struct Panicked;

fn fingerprint(corpus: &Corpus, dictionary: &Dictionary) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut put = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    put(&FORM.to_le_bytes());
    dictionary.automata().into_iter().for_each(&mut put);
    for document in corpus.documents.iter().take(corpus.trained) {
        for passage in &document.passages {
            put(&passage.weight.to_le_bytes());
            put(passage.text.as_bytes());
        }
    }
    hash.finalize().into()
}
