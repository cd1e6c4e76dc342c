//! Search service: builds the engine over bundled and user data at first use and after changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::candidates::NAMED_IN_TEXT;
use super::corpus::{self, ASIDE, Corpus, TEXT, TITLE};
use super::document::{Document, Facet, Kind, Relation, TextLanguage};
use super::embed::Embedder;
use super::engine::{Engine, EngineError};
use super::text_model::TextModel;
use super::user_index::UserIndex;
use crate::catalog::HerbCatalog;
use crate::papers::{Imported, NoPapers, PaperStore, Record, UserStoreError};
use crate::user_data::{Chunk, DocumentStore, UserDocument};

/// Stores user papers and documents under a common version.
pub trait UserStore: PaperStore + DocumentStore {
    /// Returns a search index over the stored data, except for papers that are also bundled. `None`
    /// if there is nothing, or if the store is searched in memory.
    fn user_index(
        &self,
        _text_model: &TextModel,
    ) -> Result<Option<Arc<dyn UserIndex>>, UserStoreError> {
        Ok(None)
    }
}

impl UserStore for NoPapers {}

/// Passes records on to the store that it is given.
pub type RecordSource<'a> = dyn FnMut(&mut dyn FnMut(Record) -> Result<(), UserStoreError>) -> Result<(), UserStoreError>
    + 'a;

/// Stores the papers that a user imports.
pub trait PaperImport: UserStore {
    /// Imports the records of `source` in one transaction; none if it fails.
    fn import_papers(&self, source: &mut RecordSource<'_>) -> Result<Imported, UserStoreError>;

    /// Indexes pending documents, which the next search would do otherwise. `progress` receives the
    /// number of finished documents and the total.
    fn update_index(
        &self,
        text_model: &TextModel,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), UserStoreError>;
}

/// Caches the engine for one version of the data.
#[derive(Debug)]
pub struct SearchService {
    store: Arc<dyn UserStore>,
    embedder: Option<Arc<dyn Embedder>>,
    cached: Mutex<Option<(Versions, Arc<Engine>)>>,
}

/// Versions of the catalog and of the user store.
type Versions = (u64, u64);

impl SearchService {
    /// Creates a service with an empty cache.
    pub const fn new(store: Arc<dyn UserStore>) -> Self {
        Self { store, embedder: None, cached: Mutex::new(None) }
    }

    /// Uses an external embedder instead of LSI.
    #[must_use]
    pub fn with_embedder(mut self, embedder: Option<Arc<dyn Embedder>>) -> Self {
        self.embedder = embedder;
        self
    }

    /// Returns the engine for the current data. Single flight: concurrent callers wait for one
    /// build.
    pub fn engine(&self, catalog: &HerbCatalog) -> Result<Arc<Engine>, EngineError> {
        // The catalog snapshot may be older than the store, so both versions form the cache key.
        let version = (catalog.user_data.version, self.store.version());
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, engine)) = cached.as_ref()
            && *known == version
        {
            return Ok(Arc::clone(engine));
        }
        let engine = engine_over(catalog, &*self.store, &[], Vec::new())?;
        let engine = Arc::new(engine.with_embedder(self.embedder.clone()));
        *cached = Some((version, Arc::clone(&engine)));
        Ok(engine)
    }
}

/// Builds an engine over a catalog, a store and new documents. An indexed store is searched in
/// place; only papers that are also bundled are read into memory.
pub fn engine_over(
    catalog: &HerbCatalog,
    store: &dyn UserStore,
    new_documents: &[UserDocument],
    new_chunks: Vec<Chunk>,
) -> Result<Engine, EngineError> {
    let broken = |error| EngineError::because(&error);
    let bundled = Engine::bundled()?;
    let user_index = store.user_index(bundled.text_model()).map_err(broken)?;
    let mut documents = new_documents.to_vec();
    let mut chunks = new_chunks;
    let records = if user_index.is_some() {
        let shipped = catalog.papers.iter();
        let records = shipped.filter_map(|paper| store.paper(&paper.pmid).transpose());
        records.collect::<Result<_, _>>().map_err(broken)?
    } else {
        documents.extend(store.documents().map_err(broken)?);
        chunks.extend(store.chunks(None).map_err(broken)?);
        store.papers().map_err(broken)?
    };
    let nothing_new = records.is_empty() && chunks.is_empty() && catalog.user_data.facts.is_empty();
    let engine = if nothing_new {
        bundled
    } else {
        let mut corpus = corpus::corpus(catalog);
        add_papers(&mut corpus, &records);
        add_chunks(&mut corpus, &documents, &chunks);
        bundled.with_corpus(corpus)
    };
    Ok(engine.with_user_index(user_index))
}

/// Adds imported papers to a corpus. A bundled paper gains the imported abstract and keeps its
/// links.
fn add_papers(corpus: &mut Corpus, records: &[Record]) {
    let places: HashMap<String, usize> = (corpus.documents.iter().enumerate())
        .map(|(place, document)| (document.id.clone(), place))
        .collect();
    for record in records {
        let known = places.get(&record.pmid).and_then(|place| corpus.documents.get_mut(*place));
        match known {
            Some(document) => add_record(document, record),
            None => corpus.documents.push(record_document(record)),
        }
    }
}

/// Converts an imported paper to a search document.
pub fn record_document(record: &Record) -> Document {
    let mut document = Document::default();
    add_record(&mut document, record);
    document
}

/// Source id of imported papers and documents.
pub const IMPORTED: &str = "imported";

/// Adds the content of an imported record to a new or bundled document.
fn add_record(document: &mut Document, record: &Record) {
    if document.kind.is_none() {
        document.id.clone_from(&record.pmid);
        document.kind = Some(Kind::Paper);
        document.title_en.clone_from(&record.title);
        document.names = vec![record.pmid.clone()];
        document.source = IMPORTED.to_owned();
        document.add_passage(TextLanguage::En, &record.title, TITLE, IMPORTED);
        document.add_passage(TextLanguage::En, &record.mesh.join("; "), TEXT, IMPORTED);
        let by = format!("{}. {}", record.authors.join(", "), record.journal);
        document.add_passage(TextLanguage::Neither, &by, ASIDE, IMPORTED);
    }
    let thai = record.abstract_text.chars().any(crate::text::is_thai);
    let language = if thai { TextLanguage::Th } else { TextLanguage::En };
    document.add_passage(language, &record.abstract_text, TEXT, IMPORTED);
    document.add_facet(Facet::Source, IMPORTED);
    if let Some(year) = record.year {
        document.add_facet(Facet::Year, &year.to_string());
    }
}

/// Adds chunks of user documents to a corpus.
fn add_chunks(corpus: &mut Corpus, documents: &[UserDocument], chunks: &[Chunk]) {
    for chunk in chunks {
        let of = documents.iter().find(|document| document.id == chunk.document);
        let title = of.map_or(chunk.document.as_str(), |document| document.title.as_str());
        corpus.documents.push(chunk_document(chunk, title));
    }
}

/// Converts a chunk to a search document.
pub fn chunk_document(chunk: &Chunk, title: &str) -> Document {
    let mut document = Document {
        id: chunk.id(),
        kind: Some(Kind::Chunk),
        title_th: format!("{title}, หน้า {}", chunk.page),
        title_en: format!("{title}, page {}", chunk.page),
        source: chunk.document.clone(),
        ..Document::default()
    };
    let language = if chunk.lang == "th" { TextLanguage::Th } else { TextLanguage::En };
    document.add_passage(language, &chunk.text, TEXT, &chunk.document);
    for id in &chunk.about {
        document.add_link(id, Relation::About, NAMED_IN_TEXT);
    }
    document.add_facet(Facet::Source, IMPORTED);
    document.add_facet(Facet::Source, &chunk.document);
    document
}
