//! Vectors of an embedder that the operator chose, in place of the built-in ones.

use std::sync::{Arc, Mutex, TryLockError};

use super::annex::Annex;
use super::document::Document;
use super::embed::{self, Embedder, NoVectors};
use super::vectors::{Quantized, Vectors};

/// A document is placed by its beginning: models read a few hundred words.
const LETTERS_OF_A_DOCUMENT: usize = 2_000;
/// So many documents are handed over at a time, so that their texts need no room.
const AT_A_TIME: usize = 256;

/// An embedder that the operator chose.
#[derive(Debug)]
pub(super) struct Chosen {
    embedder: Arc<dyn Embedder>,
    /// The documents' vectors, made at the first question, and again at the next when that failed.
    placed: Mutex<Option<Arc<Near<Vectors>>>>,
}

/// Something for the documents in memory, and the same for those of the annex.
#[derive(Clone, Debug, Default)]
pub(super) struct Near<T> {
    pub(super) held: T,
    pub(super) annex: T,
}

impl Chosen {
    pub(super) const fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder, placed: Mutex::new(None) }
    }

    /// Whose vectors they are.
    pub(super) fn id(&self) -> String {
        self.embedder.id()
    }

    /// How near each document is to a question.
    pub(super) fn cosines(
        &self,
        question: &str,
        documents: &[Arc<Document>],
        annex: Option<&dyn Annex>,
    ) -> Result<Near<Vec<f32>>, NoVectors> {
        let placed = self.placed(documents, annex)?;
        let asked = self.embedder.embed(&[question.to_owned()])?;
        let asked = embed::checked(asked, 1, Some(placed.held.dimensions()))?;
        let asked = asked.first().map(|vector| Quantized::of(vector)).unwrap_or_default();
        Ok(Near { held: placed.held.cosines(&asked), annex: placed.annex.cosines(&asked) })
    }

    fn placed(
        &self,
        documents: &[Arc<Document>],
        annex: Option<&dyn Annex>,
    ) -> Result<Arc<Near<Vectors>>, NoVectors> {
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
        let mut near = Near::default();
        for documents in documents.chunks(AT_A_TIME) {
            let texts = documents.iter().map(|document| text_of(document)).collect();
            self.place(texts, &mut near.held)?;
        }
        near.annex = Vectors::new(near.held.dimensions());
        if let Some(annex) = annex {
            let catalogue = annex.catalogue();
            let places: Vec<usize> = (0..catalogue.len()).collect();
            for places in places.chunks(AT_A_TIME) {
                let rows = places.iter().filter_map(|place| catalogue.slip(*place));
                let text = |row| -> Result<String, NoVectors> {
                    let document =
                        annex.document(row).map_err(|error| NoVectors(error.to_string()))?;
                    Ok(document.as_ref().map(text_of).unwrap_or_default())
                };
                let texts = rows.map(|slip| text(slip.row)).collect::<Result<_, _>>()?;
                self.place(texts, &mut near.annex)?;
            }
        }
        let near = Arc::new(near);
        *placed = Some(Arc::clone(&near));
        Ok(near)
    }

    /// Places the next documents.
    fn place(&self, texts: Vec<String>, vectors: &mut Vectors) -> Result<(), NoVectors> {
        let dimensions = (vectors.dimensions() > 0).then(|| vectors.dimensions());
        let made = embed::checked(self.embedder.embed(&texts)?, texts.len(), dimensions)?;
        if dimensions.is_none() {
            *vectors = Vectors::new(made.first().map_or(0, Vec::len));
        }
        made.iter().for_each(|vector| vectors.push(vector));
        Ok(())
    }
}

/// What a model is told of a document: its titles and what is said about it.
fn text_of(document: &Document) -> String {
    let passages = document.passages.iter().map(|passage| passage.text.as_str());
    let all: Vec<&str> =
        [document.title_th.as_str(), &document.title_en].into_iter().chain(passages).collect();
    all.join("\n").trim().chars().take(LETTERS_OF_A_DOCUMENT).collect()
}
