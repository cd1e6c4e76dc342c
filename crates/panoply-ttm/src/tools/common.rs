//! Shared by several tools: permissions, cache policy, evidence, name resolution errors.

use std::collections::BTreeMap;
use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::{Value, json};

use super::wire::Kind;
use crate::catalog::HerbCatalog;
use crate::graph::{Node, NodeIndex, NodeType};
use crate::knowledge::{Knowledge, KnowledgeService};
use crate::model::DisplayLanguage;
use crate::names::NameMatch;

/// Permissions required by every tool.
pub(crate) const READ: &[&str] = &["ttm:read"];
/// Data change with a release or an import.
pub(crate) const CACHE: CachePolicy = CachePolicy::Tenant(Duration::from_secs(3600));
/// Keywords for tool discovery.
pub(crate) const KEYWORDS: &[&str] =
    &["Thai traditional medicine", "แพทย์แผนไทย", "สมุนไพร", "herb", "herbal", "knowledge graph"];
/// Maximum length of an id or name.
pub(crate) const MAX_ID_LENGTH: u32 = 200;

impl KnowledgeService {
    /// Returns the current snapshot.
    pub(crate) fn now(&self) -> Result<Arc<Knowledge>, ToolError> {
        self.knowledge().map_err(ToolError::system)
    }
}

/// A node in a reply.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(crate) struct Named {
    /// Id of the node.
    pub(crate) id: String,
    /// Type of the node.
    #[serde(rename = "type")]
    pub(crate) kind: Kind,
    /// Name of the node.
    pub(crate) label: String,
}

impl Named {
    pub(crate) fn of(node: &Node, display: DisplayLanguage) -> Self {
        Self {
            id: node.id.clone(),
            kind: node.node_type.into(),
            label: node.names.in_language(display),
        }
    }
}

impl Knowledge {
    /// Converts nodes for a reply.
    pub(crate) fn named(&self, nodes: &[NodeIndex], display: DisplayLanguage) -> Vec<Named> {
        let nodes = nodes.iter().filter_map(|at| self.graph.node(*at));
        nodes.map(|node| Named::of(node, display)).collect()
    }
}

/// Describes an id that is unknown, ambiguous or of another type.
pub(crate) fn describe_mismatch(
    knowledge: &Knowledge,
    text: &str,
    wanted: NodeType,
    meant: &NameMatch,
) -> String {
    let shown: String = text.chars().take(60).collect();
    let listed = |nodes: &[NodeIndex]| -> String {
        let named = knowledge.named(nodes, DisplayLanguage::Both);
        let each = named.iter().map(|one| format!("`{}` {}", one.id, one.label));
        each.collect::<Vec<_>>().join(", ")
    };
    match meant {
        NameMatch::Unknown(nearest) if nearest.is_empty() => {
            format!("no {} is called `{shown}`", wanted.as_str())
        }
        NameMatch::Unknown(nearest) => {
            format!("no {} is called `{shown}`; nearest: {}", wanted.as_str(), listed(nearest))
        }
        NameMatch::OtherType(nodes) => {
            let named = knowledge.named(nodes, DisplayLanguage::Both);
            let is = named.iter().map(|one| {
                let node_type: NodeType = one.kind.into();
                format!("the {} `{}` {}", node_type.as_str(), one.id, one.label)
            });
            let is: Vec<String> = is.collect();
            format!("`{shown}` is not a {}: it is {}", wanted.as_str(), is.join(" and "))
        }
        NameMatch::Several(nodes) => format!("`{shown}` may be {}", listed(nodes)),
        NameMatch::One(_) => String::new(),
    }
}

/// Candidates as JSON.
pub(crate) fn candidates(knowledge: &Knowledge, meant: &NameMatch) -> Value {
    let nodes = match meant {
        NameMatch::Unknown(nodes) | NameMatch::OtherType(nodes) | NameMatch::Several(nodes) => {
            nodes.as_slice()
        }
        NameMatch::One(at) => std::slice::from_ref(at),
    };
    json!(knowledge.named(nodes, DisplayLanguage::Both))
}

/// Builds evidence from the number of statements per source: `(source id, verified)`.
pub(crate) fn evidence_of<'a>(
    catalog: &HerbCatalog,
    used: impl Iterator<Item = (&'a str, bool)>,
) -> Evidence {
    let mut counted: BTreeMap<(&str, bool), u32> = BTreeMap::new();
    for one in used {
        *counted.entry(one).or_default() += 1;
    }
    let mut sources = counted.into_iter().map(|((id, verified), count)| {
        let title = catalog.source(id).map_or(id, |source| source.title.as_str());
        // The lists were taken from third-party data sets, so none is verified by checksum.
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
