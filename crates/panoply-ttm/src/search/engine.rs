//! Hybrid search engine.

use std::sync::{Arc, OnceLock};

use super::analyzed_query::AnalyzedQuery;
use super::configured_embedder::{ConfiguredEmbedder, PerIndex};
use super::corpus::{Corpus, corpus};
use super::document::{Document, TextLanguage};
use super::embed::Embedder;
use super::fusion::Tuning;
use super::index::Index;
use super::lexicon::Lexicon;
use super::linker::{Linker, Mention};
use super::memory_index::MemoryIndex;
use super::search_filter::SearchFilter;
use super::search_pass::SearchPass;
use super::snippet::Snippet;
use super::text_model::TextModel;
use super::user_index::UserIndex;
use crate::catalog::HerbCatalog;
use crate::papers::UserStoreError;
use crate::text::terms::Analyzer;

/// A search engine over documents in memory and in the user index.
#[derive(Debug)]
pub struct Engine {
    text_model: Arc<TextModel>,
    memory: Arc<MemoryIndex>,
    user_index: Option<Arc<dyn UserIndex>>,
    chosen: Option<ConfiguredEmbedder>,
    tuning: Tuning,
}

/// The engine could not be built from the bundled data.
#[derive(Debug, thiserror::Error)]
#[error("cannot build the search engine: {0}")]
pub struct EngineError(String);

impl EngineError {
    pub(super) fn because(cause: &dyn std::error::Error) -> Self {
        Self(cause.to_string())
    }
}

/// A search query.
#[derive(Clone, Debug)]
pub struct SearchQuery<'q> {
    /// Text of the query.
    pub text: &'q str,
    /// Language of titles and snippets; defaults to that of the query.
    pub language: Option<TextLanguage>,
    /// Filter on hits.
    pub filter: SearchFilter,
    /// Maximum number of hits.
    pub top: usize,
}

impl<'q> SearchQuery<'q> {
    /// Creates a query for the ten best hits.
    pub fn new(text: &'q str) -> Self {
        Self { text, language: None, filter: SearchFilter::default(), top: 10 }
    }
}

/// Result of a search.
#[derive(Clone, Debug, Default)]
pub struct SearchResult {
    /// Hits, best first.
    pub hits: Vec<Hit>,
    /// Entities that the query names.
    pub mentions: Vec<Mention>,
    /// Number of ranked documents, including candidates of the user index.
    pub matched: usize,
    /// Language of the snippets.
    pub language: Option<TextLanguage>,
    /// Embedder that was used.
    pub embedder: String,
}

/// A hit.
#[derive(Clone, Debug)]
pub struct Hit {
    /// Document.
    pub document: Arc<Document>,
    /// Score from 0 to 1.
    pub score: f32,
    /// Scores by part, in the order of [`Part::ALL`](super::Part::ALL).
    pub parts: [f32; 5],
    /// Passage that explains the hit.
    pub snippet: Snippet,
}

impl Engine {
    /// Builds an engine; LSI is trained on the leading documents.
    pub fn new(corpus: Corpus) -> Result<Self, EngineError> {
        let (text_model, memory) = TextModel::of(corpus)?;
        Ok(Self::over(Arc::new(text_model), Arc::new(memory)))
    }

    fn over(text_model: Arc<TextModel>, memory: Arc<MemoryIndex>) -> Self {
        Self { text_model, memory, user_index: None, chosen: None, tuning: Tuning::default() }
    }

    /// Returns an engine over the bundled data, built at the first call.
    pub fn bundled() -> Result<Self, EngineError> {
        type Made = (Arc<TextModel>, Arc<MemoryIndex>);
        static BUNDLED: OnceLock<Result<Made, String>> = OnceLock::new();
        let made = BUNDLED.get_or_init(|| {
            let made = Self::new(corpus(&*HerbCatalog::bundled()?)).map_err(|error| error.0)?;
            Ok((made.text_model, made.memory))
        });
        let (text_model, memory) = made.as_ref().map_err(|error| EngineError(error.clone()))?;
        Ok(Self::over(Arc::clone(text_model), Arc::clone(memory)))
    }

    /// Returns an engine over another corpus with the same text model.
    #[must_use]
    pub fn with_corpus(&self, corpus: Corpus) -> Self {
        let memory = MemoryIndex::of(corpus, &self.text_model);
        Self::over(Arc::clone(&self.text_model), Arc::new(memory))
    }

    /// Adds a user index.
    #[must_use]
    pub fn with_user_index(mut self, user_index: Option<Arc<dyn UserIndex>>) -> Self {
        self.user_index = user_index;
        self
    }

    /// Uses an external embedder instead of LSI.
    #[must_use]
    pub fn with_embedder(mut self, embedder: Option<Arc<dyn Embedder>>) -> Self {
        self.chosen = embedder.map(ConfiguredEmbedder::new);
        self
    }

    /// Returns the text model.
    pub fn text_model(&self) -> &TextModel {
        &self.text_model
    }

    /// Returns the documents in memory.
    pub fn memory_documents(&self) -> &[Arc<Document>] {
        &self.memory.documents
    }

    /// Finds a document by id.
    pub fn find(&self, id: &str) -> Result<Option<Arc<Document>>, UserStoreError> {
        let memory = self.memory.documents.iter().find(|document| document.id == id);
        if let (None, Some(user_index)) = (memory, &self.user_index) {
            let Some(row) = user_index.row(id)? else { return Ok(None) };
            return Ok(user_index.document(row)?.map(Arc::new));
        }
        Ok(memory.cloned())
    }

    /// Returns the number of documents.
    pub fn len(&self) -> usize {
        self.memory.documents.len()
            + self.user_index().map_or(0, |user_index| user_index.table().len())
    }

    /// Returns whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn user_index(&self) -> Option<&dyn UserIndex> {
        self.user_index.as_deref()
    }

    pub(super) fn analyzer(&self) -> &Analyzer {
        &self.text_model.analyzer
    }

    pub(super) fn lexicon(&self) -> &Lexicon {
        &self.text_model.lexicon
    }

    pub(super) fn index(&self) -> &Index {
        &self.memory.index
    }

    pub(super) fn linker(&self) -> &Linker {
        &self.memory.linker
    }

    /// Searches with the default tuning.
    pub fn search(&self, question: &SearchQuery<'_>) -> Result<SearchResult, UserStoreError> {
        self.search_with(question, &self.tuning)
    }

    /// Searches with other weights.
    pub fn search_with(
        &self,
        question: &SearchQuery<'_>,
        tuning: &Tuning,
    ) -> Result<SearchResult, UserStoreError> {
        SearchPass::of(self, question, tuning)?.answer()
    }

    pub(super) const fn has_configured_embedder(&self) -> bool {
        self.chosen.is_some()
    }

    /// Returns the cosine similarities and the name of the embedder.
    pub(super) fn cosines(&self, analyzed: &AnalyzedQuery) -> (PerIndex<Vec<f32>>, String) {
        let lsi = &self.text_model.lsi;
        let own = || {
            let terms = [analyzed.words.as_slice(), analyzed.trigrams.as_slice()].concat();
            let analyzed = lsi.question(&terms);
            let user_index = self
                .user_index
                .as_ref()
                .map(|user_index| user_index.table().vectors.cosines(&analyzed));
            PerIndex {
                memory: self.memory.vectors.cosines(&analyzed),
                user_index: user_index.unwrap_or_default(),
            }
        };
        let Some(chosen) = &self.chosen else { return (own(), lsi.id()) };
        match chosen.cosines(&analyzed.text, &self.memory.documents, self.user_index()) {
            Ok(near) => (near, chosen.id()),
            Err(why) => (own(), format!("{}, instead of {}: {why}", lsi.id(), chosen.id())),
        }
    }
}
