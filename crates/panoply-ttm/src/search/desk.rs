//! The engine over the bundled facts and what a user brought, made when it is first asked for and
//! again when that changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::corpus::{self, ASIDE, Corpus, TEXT, TITLE};
use super::document::{Document, Facet, Kind, Relation, Tongue};
use super::embed::Embedder;
use super::engine::{Engine, NotReady};
use crate::ingest::{BroughtDocument, Chunk, Shelf};
use crate::library::Library;
use crate::papers::Record;

/// Keeps one engine, for one version of what a user brought.
#[derive(Debug)]
pub struct SearchDesk {
    shelf: Arc<dyn Shelf>,
    embedder: Option<Arc<dyn Embedder>>,
    made: Mutex<Option<(Versions, Arc<Engine>)>>,
}

/// Of the library that was searched, and of what was on the shelf.
type Versions = (u64, u64);

impl SearchDesk {
    /// A desk that has made nothing yet.
    pub const fn new(shelf: Arc<dyn Shelf>) -> Self {
        Self { shelf, embedder: None, made: Mutex::new(None) }
    }

    /// The same with vectors of an embedder in place of the built-in ones.
    #[must_use]
    pub fn with_embedder(mut self, embedder: Option<Arc<dyn Embedder>>) -> Self {
        self.embedder = embedder;
        self
    }

    /// The engine for what the user brought as it is now. Who asks while it is made waits for it: making
    /// it twice at once would take longer.
    pub fn engine(&self, library: &Library) -> Result<Arc<Engine>, NotReady> {
        // The facts were read before and may be of an older version than what is read here.
        let version = (library.brought.version, self.shelf.version());
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, engine)) = made.as_ref()
            && *known == version
        {
            return Ok(Arc::clone(engine));
        }
        let broken = |error| NotReady::because(&error);
        let records = self.shelf.papers().map_err(broken)?;
        let documents = self.shelf.documents().map_err(broken)?;
        let chunks = self.shelf.chunks(None).map_err(broken)?;
        let corpus = corpus_over(library, &records, &documents, chunks);
        let engine = Arc::new(Engine::with(corpus, self.embedder.clone())?);
        *made = Some((version, Arc::clone(&engine)));
        Ok(engine)
    }
}

/// The documents of these facts, papers and pieces of documents.
pub fn corpus_over(
    library: &Library,
    records: &[Record],
    documents: &[BroughtDocument],
    chunks: Vec<Chunk>,
) -> Corpus {
    let mut corpus = corpus::corpus(library);
    add_papers(&mut corpus, records);
    add_chunks(&mut corpus, documents, chunks);
    corpus
}

/// Adds a user's papers to a corpus. One that ships too gains what the user's record has, such as
/// its abstract, and keeps its links.
fn add_papers(corpus: &mut Corpus, records: &[Record]) {
    let places: HashMap<String, usize> = (corpus.documents.iter().enumerate())
        .map(|(place, document)| (document.id.clone(), place))
        .collect();
    for record in records {
        let known = places.get(&record.pmid).and_then(|place| corpus.documents.get_mut(*place));
        match known {
            Some(document) => add_record(document, record),
            None => {
                let mut document = Document::default();
                add_record(&mut document, record);
                corpus.documents.push(document);
            }
        }
    }
}

/// The source of what a user brought.
const IMPORTED: &str = "imported";

/// Puts what a user's record says into a document, which may be new or one that ships.
fn add_record(document: &mut Document, record: &Record) {
    if document.kind.is_none() {
        document.id.clone_from(&record.pmid);
        document.kind = Some(Kind::Paper);
        document.title_en.clone_from(&record.title);
        document.names = vec![record.pmid.clone()];
        document.source = IMPORTED.to_owned();
        document.say(Tongue::En, &record.title, TITLE, IMPORTED);
        document.say(Tongue::En, &record.mesh.join("; "), TEXT, IMPORTED);
        let by = format!("{}. {}", record.authors.join(", "), record.journal);
        document.say(Tongue::Neither, &by, ASIDE, IMPORTED);
    }
    let thai = record.abstract_text.chars().any(crate::text::is_thai);
    let tongue = if thai { Tongue::Th } else { Tongue::En };
    document.say(tongue, &record.abstract_text, TEXT, IMPORTED);
    document.facet(Facet::Source, IMPORTED);
    if let Some(year) = record.year {
        document.facet(Facet::Year, &year.to_string());
    }
}

/// How much a question about something is a question about a piece of text that names it.
const NAMED_IN_TEXT: f32 = 0.3;

/// Adds the pieces of a user's documents to a corpus.
fn add_chunks(corpus: &mut Corpus, documents: &[BroughtDocument], chunks: Vec<Chunk>) {
    for chunk in chunks {
        let of = documents.iter().find(|document| document.id == chunk.document);
        let title = of.map_or(chunk.document.as_str(), |document| document.title.as_str());
        let mut document = Document {
            id: chunk.id(),
            kind: Some(Kind::Chunk),
            title_th: format!("{title}, หน้า {}", chunk.page),
            title_en: format!("{title}, page {}", chunk.page),
            source: chunk.document.clone(),
            ..Document::default()
        };
        let tongue = if chunk.lang == "th" { Tongue::Th } else { Tongue::En };
        document.say(tongue, &chunk.text, TEXT, &chunk.document);
        for id in &chunk.about {
            document.link(id, Relation::About, NAMED_IN_TEXT);
        }
        document.facet(Facet::Source, IMPORTED);
        document.facet(Facet::Source, &chunk.document);
        corpus.documents.push(document);
    }
}
