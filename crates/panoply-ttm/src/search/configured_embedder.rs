//! Document vectors of an external embedder.

use std::sync::{Arc, Mutex, TryLockError};

use super::document::Document;
use super::embed::{self, EmbedError, Embedder};
use super::user_index::UserIndex;
use super::vectors::{Quantized, Vectors};

/// Maximum number of characters embedded per document: models read a few hundred words.
const MAX_TEXT_LENGTH: usize = 2_000;
/// Documents per batch, to bound memory.
const BATCH_SIZE: usize = 256;

/// An external embedder with a cache of document vectors.
#[derive(Debug)]
pub(super) struct ConfiguredEmbedder {
    embedder: Arc<dyn Embedder>,
    /// Document vectors, computed at the first query and retried after a failure.
    placed: Mutex<Option<Arc<PerIndex<Vectors>>>>,
}

/// A value for the in-memory index and one for the user index.
#[derive(Clone, Debug, Default)]
pub(super) struct PerIndex<T> {
    pub(super) memory: T,
    pub(super) user_index: T,
}

impl ConfiguredEmbedder {
    pub(super) const fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder, placed: Mutex::new(None) }
    }

    /// Returns the name of the embedder.
    pub(super) fn id(&self) -> String {
        self.embedder.id()
    }

    /// Returns the cosine similarity of each document.
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
                return Err(EmbedError("it is still embedding the documents".to_owned()));
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

    /// Embeds the next documents.
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

/// Returns the text to embed: titles and passages.
fn text_of(document: &Document) -> String {
    let passages = document.passages.iter().map(|passage| passage.text.as_str());
    let all: Vec<&str> =
        [document.title_th.as_str(), &document.title_en].into_iter().chain(passages).collect();
    all.join("\n").trim().chars().take(MAX_TEXT_LENGTH).collect()
}
