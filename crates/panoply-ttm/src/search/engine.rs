//! A question in, hits out.

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

/// The documents in memory and those of an annex, made searchable.
#[derive(Debug)]
pub struct Engine {
    text_model: Arc<TextModel>,
    memory: Arc<MemoryIndex>,
    user_index: Option<Arc<dyn UserIndex>>,
    chosen: Option<ConfiguredEmbedder>,
    tuning: Tuning,
}

/// The engine could not be made. The lists it needs are part of the program.
#[derive(Debug, thiserror::Error)]
#[error("the search cannot be made ready: {0}")]
pub struct EngineError(String);

impl EngineError {
    pub(super) fn because(cause: &dyn std::error::Error) -> Self {
        Self(cause.to_string())
    }
}

/// What is asked, and which hits are wanted.
#[derive(Clone, Debug)]
pub struct SearchQuery<'q> {
    /// The words of the question.
    pub text: &'q str,
    /// The language to show, or that of the question.
    pub language: Option<TextLanguage>,
    /// What the hits must be.
    pub filter: SearchFilter,
    /// How many hits at most.
    pub top: usize,
}

impl<'q> SearchQuery<'q> {
    /// The ten best hits of any kind.
    pub fn new(text: &'q str) -> Self {
        Self { text, language: None, filter: SearchFilter::default(), top: 10 }
    }
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct SearchResult {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// What the question names.
    pub mentions: Vec<Mention>,
    /// How many documents had anything to do with the question; of those of an annex, how many
    /// of the candidates.
    pub matched: usize,
    /// The language that snippets are in where there was a choice.
    pub language: Option<TextLanguage>,
    /// Where the vectors came from.
    pub embedder: String,
}

/// One hit.
#[derive(Clone, Debug)]
pub struct Hit {
    /// What was found.
    pub document: Arc<Document>,
    /// From 0 to 1.
    pub score: f32,
    /// What each part gave, in the order of [`Part::ALL`](super::Part::ALL).
    pub parts: [f32; 5],
    /// Why it was found.
    pub snippet: Snippet,
}

impl Engine {
    /// Makes a corpus searchable. The vectors' space is learnt from its first documents.
    pub fn new(corpus: Corpus) -> Result<Self, EngineError> {
        let (text_model, memory) = TextModel::of(corpus)?;
        Ok(Self::over(Arc::new(text_model), Arc::new(memory)))
    }

    fn over(text_model: Arc<TextModel>, memory: Arc<MemoryIndex>) -> Self {
        Self { text_model, memory, user_index: None, chosen: None, tuning: Tuning::default() }
    }

    /// The facts that ship with the program, made searchable at the first call.
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

    /// Other documents in memory, found with the same words, lexicon and vectors.
    #[must_use]
    pub fn with_corpus(&self, corpus: Corpus) -> Self {
        let memory = MemoryIndex::of(corpus, &self.text_model);
        Self::over(Arc::clone(&self.text_model), Arc::new(memory))
    }

    /// The same, and what is in an annex.
    #[must_use]
    pub fn with_user_index(mut self, user_index: Option<Arc<dyn UserIndex>>) -> Self {
        self.user_index = user_index;
        self
    }

    /// The same with vectors of an embedder, where it gives any.
    #[must_use]
    pub fn with_embedder(mut self, embedder: Option<Arc<dyn Embedder>>) -> Self {
        self.chosen = embedder.map(ConfiguredEmbedder::new);
        self
    }

    /// What words are cut, carried over and placed with.
    pub fn text_model(&self) -> &TextModel {
        &self.text_model
    }

    /// The documents in memory.
    pub fn memory_documents(&self) -> &[Arc<Document>] {
        &self.memory.documents
    }

    /// The document of an id.
    pub fn find(&self, id: &str) -> Result<Option<Arc<Document>>, UserStoreError> {
        let memory = self.memory.documents.iter().find(|document| document.id == id);
        if let (None, Some(user_index)) = (memory, &self.user_index) {
            let Some(row) = user_index.row(id)? else { return Ok(None) };
            return Ok(user_index.document(row)?.map(Arc::new));
        }
        Ok(memory.cloned())
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.memory.documents.len()
            + self.user_index().map_or(0, |user_index| user_index.table().len())
    }

    /// Whether there is nothing to search.
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

    /// The hits for a question.
    pub fn search(&self, question: &SearchQuery<'_>) -> Result<SearchResult, UserStoreError> {
        self.search_with(question, &self.tuning)
    }

    /// The hits for a question, with the parts weighed in another way.
    pub fn search_with(
        &self,
        question: &SearchQuery<'_>,
        tuning: &Tuning,
    ) -> Result<SearchResult, UserStoreError> {
        SearchPass::of(self, question, tuning)?.answer()
    }

    /// How near each document is to a question, and who says so.
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
