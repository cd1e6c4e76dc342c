//! Sharing of documents with other tenants. A collection is the documents of one import job.

use std::collections::BTreeSet;
use std::sync::Arc;

use panoply_contract::error::ToolError;
use panoply_contract::pack::Pack;
use panoply_contract::sharing::Shareable;

use super::Settings;
use crate::answer::SentenceWriter;
use crate::eval::MemoryReportStore;
use crate::papers::{PaperStore, Record, UserStoreError};
use crate::search::{Embedder, UserStore};
use crate::user_data::{Chunk, DocumentStore, Fact, UserDocument};

/// The documents of a store, with what a pack over some of them is made of.
pub(super) struct ShareableDocuments {
    pub(super) store: Arc<dyn UserStore>,
    pub(super) settings: Settings,
    pub(super) writer: Option<Arc<dyn SentenceWriter>>,
    pub(super) embedder: Option<Arc<dyn Embedder>>,
}

impl Shareable for ShareableDocuments {
    fn kind(&self) -> &'static str {
        "document collection"
    }

    fn name_of(&self, item: &str) -> Result<Option<String>, ToolError> {
        let documents = self.store.documents()?;
        let titles: Vec<String> =
            documents.into_iter().filter(|one| one.job == item).map(|one| one.title).collect();
        Ok(match titles.as_slice() {
            [] => None,
            [one] => Some(one.clone()),
            [first, more @ ..] => Some(format!("{first} and {} more", more.len())),
        })
    }

    fn view(&self, items: &BTreeSet<String>) -> Result<Pack, ToolError> {
        let shared = SharedDocuments { store: Arc::clone(&self.store), jobs: items.clone() };
        let reports = Arc::new(MemoryReportStore::default());
        let (writer, embedder) = (self.writer.clone(), self.embedder.clone());
        Ok(super::build(Arc::new(shared), reports, &self.settings, writer, embedder, None))
    }
}

/// The documents of some import jobs, read-only. They are searched in memory.
#[derive(Debug)]
struct SharedDocuments {
    store: Arc<dyn UserStore>,
    jobs: BTreeSet<String>,
}

impl SharedDocuments {
    /// Reads something of one shared document, or of all.
    fn of_documents<T>(
        &self,
        of: Option<&str>,
        read: impl Fn(&str) -> Result<Vec<T>, UserStoreError>,
    ) -> Result<Vec<T>, UserStoreError> {
        let documents = self.documents()?;
        let wanted = documents.iter().filter(|one| of.is_none_or(|of| one.id == of));
        let mut all = Vec::new();
        for document in wanted {
            all.extend(read(&document.id)?);
        }
        Ok(all)
    }
}

impl DocumentStore for SharedDocuments {
    fn documents(&self) -> Result<Vec<UserDocument>, UserStoreError> {
        let mut documents = self.store.documents()?;
        documents.retain(|document| self.jobs.contains(&document.job));
        Ok(documents)
    }

    fn chunks(&self, of: Option<&str>) -> Result<Vec<Chunk>, UserStoreError> {
        self.of_documents(of, |document| self.store.chunks(Some(document)))
    }

    fn facts(&self, of: Option<&str>) -> Result<Vec<Fact>, UserStoreError> {
        self.of_documents(of, |document| self.store.facts(Some(document)))
    }
}

/// Papers are imported for the whole workspace and are not shared.
impl PaperStore for SharedDocuments {
    fn paper(&self, _: &str) -> Result<Option<Record>, UserStoreError> {
        Ok(None)
    }

    fn papers(&self) -> Result<Vec<Record>, UserStoreError> {
        Ok(Vec::new())
    }

    fn version(&self) -> u64 {
        self.store.version()
    }
}

impl UserStore for SharedDocuments {}
