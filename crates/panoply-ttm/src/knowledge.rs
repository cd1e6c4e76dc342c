//! Everything at hand to answer with: the facts, the graph made from them, and the names.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::catalog::{DataError, HerbCatalog};
use crate::graph::Graph;
use crate::ingest::{UserData, UserStore};
use crate::names::NameIndex;

/// The facts, the graph and the names.
#[derive(Debug)]
pub struct Knowledge {
    /// The facts.
    pub catalog: HerbCatalog,
    /// The graph made from them.
    pub graph: Graph,
    /// What its nodes are called.
    pub names: NameIndex,
}

impl Knowledge {
    /// What ships with the program, made ready at the first call. The error is kept as a sentence.
    pub fn bundled() -> Result<Arc<Self>, String> {
        static BUNDLED: OnceLock<Result<Arc<Knowledge>, String>> = OnceLock::new();
        let made = || Self::read().map(Arc::new).map_err(|error| error.to_string());
        BUNDLED.get_or_init(made).clone()
    }

    /// Makes it ready anew, which only a bench wants.
    pub fn read() -> Result<Self, DataError> {
        let catalog = HerbCatalog::read()?;
        let graph = Graph::of(&catalog);
        let names = NameIndex::of(&catalog, &graph);
        Ok(Self { catalog, graph, names })
    }

    /// This, and what documents say.
    #[must_use]
    pub fn with_user_data(&self, user_data: UserData) -> Self {
        let catalog = self.catalog.with_user_data(user_data);
        let graph = Graph::of(&catalog);
        let names = NameIndex::of(&catalog, &graph);
        Self { catalog, graph, names }
    }
}

/// Keeps the knowledge for one version of what a user brought.
#[derive(Debug)]
pub struct KnowledgeService {
    store: Arc<dyn UserStore>,
    made: Mutex<Option<(u64, Arc<Knowledge>)>>,
}

impl KnowledgeService {
    /// A desk that has made nothing yet.
    pub const fn new(store: Arc<dyn UserStore>) -> Self {
        Self { store, made: Mutex::new(None) }
    }

    /// The bundled facts and those of the user's documents as they are now. The error is a
    /// sentence.
    pub fn knowledge(&self) -> Result<Arc<Knowledge>, String> {
        let version = self.store.version();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, knowledge)) = made.as_ref()
            && *known == version
        {
            return Ok(Arc::clone(knowledge));
        }
        let knowledge = self.read(version)?;
        *made = Some((version, Arc::clone(&knowledge)));
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
