//! Catalog, graph and name index as one immutable snapshot.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::catalog::{DataError, HerbCatalog};
use crate::graph::Graph;
use crate::names::NameIndex;
use crate::search::UserStore;
use crate::user_data::UserData;

/// Catalog, graph and name index.
#[derive(Debug)]
pub struct Knowledge {
    /// Catalog.
    pub catalog: HerbCatalog,
    /// Knowledge graph.
    pub graph: Graph,
    /// Name index.
    pub names: NameIndex,
}

impl Knowledge {
    /// Returns the bundled data, built at the first call. The error is a display text.
    pub fn bundled() -> Result<Arc<Self>, String> {
        static BUNDLED: OnceLock<Result<Arc<Knowledge>, String>> = OnceLock::new();
        let build = || Self::read().map(Arc::new).map_err(|error| error.to_string());
        BUNDLED.get_or_init(build).clone()
    }

    /// Builds the bundled data without the cache; used by benchmarks.
    pub fn read() -> Result<Self, DataError> {
        let catalog = HerbCatalog::read()?;
        let graph = Graph::of(&catalog);
        let names = NameIndex::of(&catalog, &graph);
        Ok(Self { catalog, graph, names })
    }

    /// Returns a snapshot extended by user documents.
    #[must_use]
    pub fn with_user_data(&self, user_data: UserData) -> Self {
        let catalog = self.catalog.with_user_data(user_data);
        let graph = Graph::of(&catalog);
        let names = NameIndex::of(&catalog, &graph);
        Self { catalog, graph, names }
    }
}

/// Caches the snapshot for one version of the user store.
#[derive(Debug)]
pub struct KnowledgeService {
    store: Arc<dyn UserStore>,
    cached: Mutex<Option<(u64, Arc<Knowledge>)>>,
}

impl KnowledgeService {
    /// Creates a service with an empty cache.
    pub const fn new(store: Arc<dyn UserStore>) -> Self {
        Self { store, cached: Mutex::new(None) }
    }

    /// Returns the bundled data with the current user documents. The error is a display text.
    pub fn knowledge(&self) -> Result<Arc<Knowledge>, String> {
        let version = self.store.version();
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, knowledge)) = cached.as_ref()
            && *known == version
        {
            return Ok(Arc::clone(knowledge));
        }
        let knowledge = self.read(version)?;
        *cached = Some((version, Arc::clone(&knowledge)));
        Ok(knowledge)
    }

    fn read(&self, version: u64) -> Result<Arc<Knowledge>, String> {
        let bundled = Knowledge::bundled()?;
        let documents = self.store.documents().map_err(|error| error.to_string())?;
        if documents.is_empty() {
            return Ok(bundled);
        }
        let facts = self.store.facts(None).map_err(|error| error.to_string())?;
        Ok(Arc::new(bundled.with_user_data(UserData { version, documents, facts })))
    }
}
