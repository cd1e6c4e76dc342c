//! The engine over the bundled facts and the papers a user brought, made when it is first asked
//! for and again when the papers change.

use std::sync::{Arc, Mutex, PoisonError};

use super::corpus::{self, ASIDE, Corpus, TEXT, TITLE};
use super::document::{Document, Facet, Kind, Tongue};
use super::engine::{Engine, NotReady};
use crate::library::Library;
use crate::papers::{PaperShelf, Record};

/// Keeps one engine, for one version of the papers.
#[derive(Debug)]
pub struct SearchDesk {
    papers: Arc<dyn PaperShelf>,
    made: Mutex<Option<(u64, Arc<Engine>)>>,
}

impl SearchDesk {
    /// A desk that has made nothing yet.
    pub const fn new(papers: Arc<dyn PaperShelf>) -> Self {
        Self { papers, made: Mutex::new(None) }
    }

    /// The engine for the papers as they are now. Who asks while it is made waits for it: making
    /// it twice at once would take longer.
    pub fn engine(&self, library: &Library) -> Result<Arc<Engine>, NotReady> {
        let version = self.papers.version();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, engine)) = made.as_ref()
            && *known == version
        {
            return Ok(Arc::clone(engine));
        }
        let records = self.papers.papers().map_err(|error| NotReady::because(&error))?;
        let mut corpus = corpus::corpus(library);
        add_papers(&mut corpus, &records);
        let engine = Arc::new(Engine::new(corpus)?);
        *made = Some((version, Arc::clone(&engine)));
        Ok(engine)
    }
}

/// Adds a user's papers to a corpus. One that ships too gains what the user's record has, such as
/// its abstract, and keeps its links.
fn add_papers(corpus: &mut Corpus, records: &[Record]) {
    for record in records {
        let known = corpus.documents.iter_mut().find(|document| document.id == record.pmid);
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
