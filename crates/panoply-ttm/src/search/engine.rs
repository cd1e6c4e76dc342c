//! A question in, hits out.

use std::sync::{Arc, OnceLock};

use super::annex::Annex;
use super::asked::Asked;
use super::corpus::{Corpus, corpus};
use super::document::{Document, Tongue};
use super::embed::Embedder;
use super::fuse::Tuning;
use super::held::Held;
use super::index::Index;
use super::lexicon::Lexicon;
use super::linker::{Linker, Mention};
use super::meaning::{Chosen, Near};
use super::round::Round;
use super::snippet::Snippet;
use super::wanted::Wanted;
use super::workings::Workings;
use crate::library::Library;
use crate::papers::ShelfError;
use crate::text::terms::Analyzer;

/// The documents in memory and those of an annex, made searchable.
#[derive(Debug)]
pub struct Engine {
    workings: Arc<Workings>,
    held: Arc<Held>,
    annex: Option<Arc<dyn Annex>>,
    chosen: Option<Chosen>,
    tuning: Tuning,
}

/// The engine could not be made. The lists it needs are part of the program.
#[derive(Debug, thiserror::Error)]
#[error("the search cannot be made ready: {0}")]
pub struct NotReady(String);

impl NotReady {
    pub(super) fn because(cause: &dyn std::error::Error) -> Self {
        Self(cause.to_string())
    }
}

/// What is asked, and which hits are wanted.
#[derive(Clone, Debug)]
pub struct Question<'q> {
    /// The words of the question.
    pub text: &'q str,
    /// The language to show, or that of the question.
    pub tongue: Option<Tongue>,
    /// What the hits must be.
    pub wanted: Wanted,
    /// How many hits at most.
    pub top: usize,
}

impl<'q> Question<'q> {
    /// The ten best hits of any kind.
    pub fn new(text: &'q str) -> Self {
        Self { text, tongue: None, wanted: Wanted::default(), top: 10 }
    }
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// What the question names.
    pub mentions: Vec<Mention>,
    /// How many documents had anything to do with the question; of those of an annex, how many
    /// of the candidates.
    pub matched: usize,
    /// The language that snippets are in where there was a choice.
    pub tongue: Option<Tongue>,
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
    pub fn new(corpus: Corpus) -> Result<Self, NotReady> {
        let (workings, held) = Workings::of(corpus)?;
        Ok(Self::over(Arc::new(workings), Arc::new(held)))
    }

    fn over(workings: Arc<Workings>, held: Arc<Held>) -> Self {
        Self { workings, held, annex: None, chosen: None, tuning: Tuning::default() }
    }

    /// The facts that ship with the program, made searchable at the first call.
    pub fn bundled() -> Result<Self, NotReady> {
        type Made = (Arc<Workings>, Arc<Held>);
        static BUNDLED: OnceLock<Result<Made, String>> = OnceLock::new();
        let made = BUNDLED.get_or_init(|| {
            let made = Self::new(corpus(&*Library::bundled()?)).map_err(|error| error.0)?;
            Ok((made.workings, made.held))
        });
        let (workings, held) = made.as_ref().map_err(|error| NotReady(error.clone()))?;
        Ok(Self::over(Arc::clone(workings), Arc::clone(held)))
    }

    /// Other documents in memory, found with the same words, lexicon and vectors.
    #[must_use]
    pub fn beside(&self, corpus: Corpus) -> Self {
        let held = Held::of(corpus, &self.workings);
        Self::over(Arc::clone(&self.workings), Arc::new(held))
    }

    /// The same, and what is in an annex.
    #[must_use]
    pub fn with_annex(mut self, annex: Option<Arc<dyn Annex>>) -> Self {
        self.annex = annex;
        self
    }

    /// The same with vectors of an embedder, where it gives any.
    #[must_use]
    pub fn with_embedder(mut self, embedder: Option<Arc<dyn Embedder>>) -> Self {
        self.chosen = embedder.map(Chosen::new);
        self
    }

    /// What words are cut, carried over and placed with.
    pub fn workings(&self) -> &Workings {
        &self.workings
    }

    /// The documents in memory.
    pub fn held(&self) -> &[Arc<Document>] {
        &self.held.documents
    }

    /// The document of an id.
    pub fn find(&self, id: &str) -> Result<Option<Arc<Document>>, ShelfError> {
        let held = self.held.documents.iter().find(|document| document.id == id);
        if let (None, Some(annex)) = (held, &self.annex) {
            let Some(row) = annex.row(id)? else { return Ok(None) };
            return Ok(annex.document(row)?.map(Arc::new));
        }
        Ok(held.cloned())
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.held.documents.len() + self.annex().map_or(0, |annex| annex.catalogue().len())
    }

    /// Whether there is nothing to search.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn annex(&self) -> Option<&dyn Annex> {
        self.annex.as_deref()
    }

    pub(super) fn analyzer(&self) -> &Analyzer {
        &self.workings.analyzer
    }

    pub(super) fn lexicon(&self) -> &Lexicon {
        &self.workings.lexicon
    }

    pub(super) fn index(&self) -> &Index {
        &self.held.index
    }

    pub(super) fn linker(&self) -> &Linker {
        &self.held.linker
    }

    /// The hits for a question.
    pub fn search(&self, question: &Question<'_>) -> Result<Answer, ShelfError> {
        self.search_with(question, &self.tuning)
    }

    /// The hits for a question, with the parts weighed in another way.
    pub fn search_with(
        &self,
        question: &Question<'_>,
        tuning: &Tuning,
    ) -> Result<Answer, ShelfError> {
        Round::of(self, question, tuning)?.answer()
    }

    /// How near each document is to a question, and who says so.
    pub(super) fn cosines(&self, asked: &Asked) -> (Near<Vec<f32>>, String) {
        let lsi = &self.workings.lsi;
        let own = || {
            let terms = [asked.words.as_slice(), asked.trigrams.as_slice()].concat();
            let asked = lsi.question(&terms);
            let annex = self.annex.as_ref().map(|annex| annex.catalogue().vectors.cosines(&asked));
            Near { held: self.held.vectors.cosines(&asked), annex: annex.unwrap_or_default() }
        };
        let Some(chosen) = &self.chosen else { return (own(), lsi.id()) };
        match chosen.cosines(&asked.text, &self.held.documents, self.annex()) {
            Ok(near) => (near, chosen.id()),
            Err(why) => (own(), format!("{}, instead of {}: {why}", lsi.id(), chosen.id())),
        }
    }
}
