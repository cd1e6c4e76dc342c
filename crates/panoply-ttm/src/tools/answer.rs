//! What the answers of several tools have in common: evidence, names, errors.

use std::collections::BTreeMap;
use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::{Value, json};

use super::wire::Kind;
use crate::graph::{Node, NodeAt, NodeType};
use crate::knowledge::{Knowledge, KnowledgeDesk};
use crate::library::Library;
use crate::model::Tongue;
use crate::names::Meant;

/// What every tool here needs.
pub(crate) const READ: &[&str] = &["ttm:read"];
/// The facts change with a release of the program, and with an import of papers.
pub(crate) const KEPT: CachePolicy = CachePolicy::Shared(Duration::from_secs(3600));
/// Words to find the tools by.
pub(crate) const KEYWORDS: &[&str] =
    &["Thai traditional medicine", "แพทย์แผนไทย", "สมุนไพร", "herb", "herbal", "knowledge graph"];
/// The longest id or name that is read.
pub(crate) const LONGEST_ID: u32 = 200;

impl KnowledgeDesk {
    /// The facts as they are now.
    pub(crate) fn now(&self) -> Result<Arc<Knowledge>, ToolError> {
        self.knowledge().map_err(ToolError::system)
    }
}

/// A thing of the graph, as a reply names it.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(crate) struct Named {
    /// Its id.
    pub(crate) id: String,
    /// What it is.
    #[serde(rename = "type")]
    pub(crate) kind: Kind,
    /// Its name.
    pub(crate) label: String,
}

impl Named {
    pub(crate) fn of(node: &Node, tongue: Tongue) -> Self {
        Self {
            id: node.id.clone(),
            kind: node.node_type.into(),
            label: node.names.in_tongue(tongue),
        }
    }
}

impl Knowledge {
    /// These nodes as a reply names them.
    pub(crate) fn named(&self, nodes: &[NodeAt], tongue: Tongue) -> Vec<Named> {
        let nodes = nodes.iter().filter_map(|at| self.graph.node(*at));
        nodes.map(|node| Named::of(node, tongue)).collect()
    }
}

/// What is wrong with an id that means nothing, or something else than was asked for.
pub(crate) fn what_is_wrong(
    knowledge: &Knowledge,
    text: &str,
    wanted: NodeType,
    meant: &Meant,
) -> String {
    let shown: String = text.chars().take(60).collect();
    let listed = |nodes: &[NodeAt]| -> String {
        let named = knowledge.named(nodes, Tongue::Both);
        let each = named.iter().map(|one| format!("`{}` {}", one.id, one.label));
        each.collect::<Vec<_>>().join(", ")
    };
    match meant {
        Meant::Unknown(nearest) if nearest.is_empty() => {
            format!("no {} is called `{shown}`", wanted.as_str())
        }
        Meant::Unknown(nearest) => {
            format!("no {} is called `{shown}`; nearest: {}", wanted.as_str(), listed(nearest))
        }
        Meant::OtherType(nodes) => {
            let named = knowledge.named(nodes, Tongue::Both);
            let is = named.iter().map(|one| {
                let node_type: NodeType = one.kind.into();
                format!("the {} `{}` {}", node_type.as_str(), one.id, one.label)
            });
            let is: Vec<String> = is.collect();
            format!("`{shown}` is not a {}: it is {}", wanted.as_str(), is.join(" and "))
        }
        Meant::Several(nodes) => format!("`{shown}` may be {}", listed(nodes)),
        Meant::One(_) => String::new(),
    }
}

/// The candidates for a program to choose from.
pub(crate) fn candidates(knowledge: &Knowledge, meant: &Meant) -> Value {
    let nodes = match meant {
        Meant::Unknown(nodes) | Meant::OtherType(nodes) | Meant::Several(nodes) => nodes.as_slice(),
        Meant::One(at) => std::slice::from_ref(at),
    };
    json!(knowledge.named(nodes, Tongue::Both))
}

/// Evidence from how often each source was used: `(source id, verified)` by statement.
pub(crate) fn evidence_of<'a>(
    library: &Library,
    used: impl Iterator<Item = (&'a str, bool)>,
) -> Evidence {
    let mut counted: BTreeMap<(&str, bool), u32> = BTreeMap::new();
    for one in used {
        *counted.entry(one).or_default() += 1;
    }
    let mut sources = counted.into_iter().map(|((id, verified), count)| {
        let title = library.source(id).map_or(id, |source| source.title.as_str());
        // The lists were read through other people's data sets, so none is verified by checksum.
        let class = match (verified, id) {
            (true, "panoply") => SourceClass::Derived,
            (true, _) => SourceClass::Authoritative,
            (false, _) => SourceClass::Unverified,
        };
        Source::new(class, title).weighing(f64::from(count))
    });
    let first = sources.next().unwrap_or_else(|| {
        Source::new(SourceClass::Derived, "the bundled facts on Thai traditional medicine")
    });
    sources.fold(Evidence::from(first), Evidence::and_source)
}
