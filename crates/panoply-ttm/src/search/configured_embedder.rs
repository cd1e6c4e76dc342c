//! Vectors of an embedder that the operator chose, in place of the built-in ones.

use std::sync::{Arc, Mutex, TryLockError};

use super::document::Document;
use super::embed::{self, EmbedError, Embedder};
use super::user_index::UserIndex;
use super::vectors::{Quantized, Vectors};

/// A document is placed by its beginning: models read a few hundred words.
const MAX_TEXT_LENGTH: usize = 2_000;
/// So many documents are handed over at a time, so that their texts need no room.
const BATCH_SIZE: usize = 256;

/// An embedder that the operator chose.
#[derive(Debug)]
pub(super) struct ConfiguredEmbedder {
    embedder: Arc<dyn Embedder>,
    /// The documents' vectors, made at the first question, and again at the next when that failed.
    placed: Mutex<Option<Arc<PerIndex<Vectors>>>>,
}

/// Something for the documents in memory, and the same for those of the annex.
#[derive(Clone, Debug, Default)]
pub(super) struct PerIndex<T> {
    pub(super) memory: T,
    pub(super) user_index: T,
}

impl ConfiguredEmbedder {
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
        user_index: Option<&dyn UserIndex>,
    ) -> Result<PerIndex<Vec<f32>>, EmbedError> {
        let placed = self.placed(documents, user_index)?;
        let query_vector = self.embedder.embed(&[question.to_owned()])?;
        let query_vector = embed::checked(query_vector, 1, Some(placed.memory.dimensions()))?;
        let query_vector =
            query_vector.first().map(|vector| Quantized::of(vector)).unwrap_or_default();
        Ok(PerIndex {
            memory: placed.memory.cosines(&query_vector),
            user_index: placed.user_index.cosines(&query_vector),
        })
    }

    fn placed(
        &self,
        documents: &[Arc<Document>],
        user_index: Option<&dyn UserIndex>,
    ) -> Result<Arc<PerIndex<Vectors>>, EmbedError> {
        let mut placed = match self.placed.try_lock() {
            Ok(placed) => placed,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(EmbedError("it is still placing the documents".to_owned()));
            }
        };
        if let Some(placed) = placed.as_ref() {
            return Ok(Arc::clone(placed));
        }
        let mut near = PerIndex::default();
        for documents in documents.chunks(BATCH_SIZE) {
            let texts = documents.iter().map(|document| text_of(document)).collect();
            self.place(texts, &mut near.memory)?;
        }
        near.user_index = Vectors::new(near.memory.dimensions());
        if let Some(user_index) = user_index {
            let table = user_index.table();
            let places: Vec<usize> = (0..table.len()).collect();
            for places in places.chunks(BATCH_SIZE) {
                let rows = places.iter().filter_map(|place| table.entry(*place));
                let text = |row| -> Result<String, EmbedError> {
                    let document =
                        user_index.document(row).map_err(|error| EmbedError(error.to_string()))?;
                    Ok(document.as_ref().map(text_of).unwrap_or_default())
                };
                let texts = rows.map(|entry| text(entry.row)).collect::<Result<_, _>>()?;
                self.place(texts, &mut near.user_index)?;
            }
        }
        let near = Arc::new(near);
        *placed = Some(Arc::clone(&near));
        Ok(near)
    }

    /// Places the next documents.
    fn place(&self, texts: Vec<String>, vectors: &mut Vectors) -> Result<(), EmbedError> {
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
    all.join("\n").trim().chars().take(MAX_TEXT_LENGTH).collect()
}
