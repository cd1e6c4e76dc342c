//! What a question and the documents mean, as vectors: of the embedder that was chosen, or of
//! the built-in one when that does not answer.

use std::sync::{Arc, Mutex, TryLockError};

use super::document::Document;
use super::embed::{self, Embedder, NoVectors};
use super::index::{Index, Weighted};
use super::lsi::Lsi;
use super::vectors::{Quantized, Vectors};

/// A document is placed by its beginning: models read a few hundred words.
const LETTERS_OF_A_DOCUMENT: usize = 2_000;

/// The vectors of all documents.
#[derive(Debug)]
pub(super) struct Meaning {
    lsi: Lsi,
    vectors: Vectors,
    chosen: Option<Chosen>,
}

/// An embedder that the operator chose.
#[derive(Debug)]
struct Chosen {
    embedder: Arc<dyn Embedder>,
    /// The documents' vectors, made at the first question, and again at the next when that failed.
    placed: Mutex<Option<Arc<Vectors>>>,
}

impl Meaning {
    /// The space of the first `trained` documents of an index, with all of them in it.
    pub(super) fn of(index: &Index, trained: usize, chosen: Option<Arc<dyn Embedder>>) -> Self {
        let lsi = Lsi::train(index, trained);
        let vectors = lsi.documents(index);
        let chosen = chosen.map(|embedder| Chosen { embedder, placed: Mutex::new(None) });
        Self { lsi, vectors, chosen }
    }

    /// How near each document is to a question, and who says so.
    pub(super) fn cosines(
        &self,
        question: &str,
        terms: &[Weighted],
        documents: &[Document],
    ) -> (Vec<f32>, String) {
        let own = || self.vectors.cosines(&self.lsi.question(terms));
        match &self.chosen {
            None => (own(), self.lsi.id()),
            Some(chosen) => match chosen.cosines(question, documents) {
                Ok(cosines) => (cosines, chosen.embedder.id()),
                Err(why) => {
                    let embedder = chosen.embedder.id();
                    (own(), format!("{}, instead of {embedder}: {why}", self.lsi.id()))
                }
            },
        }
    }
}

impl Chosen {
    fn cosines(&self, question: &str, documents: &[Document]) -> Result<Vec<f32>, NoVectors> {
        let placed = self.placed(documents)?;
        let asked = self.embedder.embed(&[question.to_owned()])?;
        let asked = embed::checked(asked, 1, Some(placed.dimensions()))?;
        let asked = asked.first().map(|vector| Quantized::of(vector));
        Ok(asked.map(|asked| placed.cosines(&asked)).unwrap_or_default())
    }

    fn placed(&self, documents: &[Document]) -> Result<Arc<Vectors>, NoVectors> {
        let mut placed = match self.placed.try_lock() {
            Ok(placed) => placed,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(NoVectors("it is still placing the documents".to_owned()));
            }
        };
        if let Some(placed) = placed.as_ref() {
            return Ok(Arc::clone(placed));
        }
        let texts: Vec<String> = documents.iter().map(text_of).collect();
        let made = embed::checked(self.embedder.embed(&texts)?, texts.len(), None)?;
        let mut vectors = Vectors::new(made.first().map_or(0, Vec::len));
        made.iter().for_each(|vector| vectors.push(vector));
        let vectors = Arc::new(vectors);
        *placed = Some(Arc::clone(&vectors));
        Ok(vectors)
    }
}

/// What a model is told of a document: its titles and what is said about it.
fn text_of(document: &Document) -> String {
    let passages = document.passages.iter().map(|passage| passage.text.as_str());
    let all: Vec<&str> =
        [document.title_th.as_str(), &document.title_en].into_iter().chain(passages).collect();
    all.join("\n").trim().chars().take(LETTERS_OF_A_DOCUMENT).collect()
}
