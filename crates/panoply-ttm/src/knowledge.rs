//! Everything at hand to answer with: the facts, the graph made from them, and the names.

use std::sync::{Arc, OnceLock};

use crate::graph::Graph;
use crate::library::{BadData, Library};
use crate::names::Names;

/// The facts, the graph and the names.
#[derive(Debug)]
pub struct Knowledge {
    /// The facts.
    pub library: Library,
    /// The graph made from them.
    pub graph: Graph,
    /// What its nodes are called.
    pub names: Names,
}

impl Knowledge {
    /// What ships with the program, made ready at the first call. The error is kept as a sentence.
    pub fn bundled() -> Result<Arc<Self>, String> {
        static BUNDLED: OnceLock<Result<Arc<Knowledge>, String>> = OnceLock::new();
        let made = || Self::read().map(Arc::new).map_err(|error| error.to_string());
        BUNDLED.get_or_init(made).clone()
    }

    /// Makes it ready anew, which only a bench wants.
    pub fn read() -> Result<Self, BadData> {
        let library = Library::read()?;
        let graph = Graph::of(&library);
        let names = Names::of(&library, &graph);
        Ok(Self { library, graph, names })
    }
}
