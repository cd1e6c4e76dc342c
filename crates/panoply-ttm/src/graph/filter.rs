//! Filters on nodes and edges of a walk.

use super::{Edge, Graph, Node, NodeIndex, NodeType};
use crate::model::Strength;

/// Conditions on every node or edge of a path. A condition that does not apply to a node is
/// ignored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// ICD-10 codes of indications; `K64*` matches a prefix.
    pub icd: Vec<String>,
    /// Plant part of herbs, in either language.
    pub part: Option<String>,
    /// Family of herbs.
    pub family: Option<String>,
    /// Source that every edge must have.
    pub source: Option<String>,
    /// Verified edges only.
    pub verified_only: bool,
    /// Minimum strength of warnings.
    pub min_strength: Option<Strength>,
    /// Kind of cautions, such as `population`.
    pub kind: Option<String>,
    /// First year of papers.
    pub year_from: Option<u16>,
    /// Last year of papers.
    pub year_to: Option<u16>,
    /// Allowed types of the last node; empty allows any.
    pub ends: Vec<NodeType>,
}

impl Filter {
    /// Returns whether a path may visit this node.
    fn allows_node(&self, node: &Node) -> bool {
        let fits = |wanted: &Option<String>, have: &str| {
            wanted.as_ref().is_none_or(|wanted| have.to_lowercase() == wanted.to_lowercase())
        };
        match node.node_type {
            NodeType::Herb => {
                let parts = &node.fields.parts;
                fits(&self.family, &node.fields.family)
                    && self.part.as_ref().is_none_or(|wanted| {
                        parts.iter().any(|part| part.to_lowercase() == wanted.to_lowercase())
                    })
            }
            NodeType::Indication => {
                self.icd.is_empty() || self.icd.iter().any(|wanted| icd_fits(wanted, &node.id))
            }
            NodeType::Paper => {
                let year = node.fields.year;
                self.year_from.is_none_or(|from| year.is_some_and(|year| year >= from))
                    && self.year_to.is_none_or(|to| year.is_some_and(|year| year <= to))
            }
            NodeType::Caution => fits(&self.kind, &node.fields.kind),
            NodeType::Constituent | NodeType::Formulation | NodeType::Drug => true,
        }
    }

    fn allows_edge(&self, edge: &Edge) -> bool {
        let strong = match (self.min_strength, edge.strength) {
            (Some(least), Some(strength)) => strength >= least,
            _ => true,
        };
        let sourced =
            self.source.as_ref().is_none_or(|wanted| edge.sources.iter().any(|one| one == wanted));
        strong && sourced && (!self.verified_only || edge.verified)
    }

    /// Returns whether a path may end at this node type.
    pub(super) fn ends_in(&self, node_type: NodeType) -> bool {
        self.ends.is_empty() || self.ends.contains(&node_type)
    }

    /// Evaluates the filter for every node and edge. The start node is always allowed.
    pub(super) fn over(&self, graph: &Graph, start: NodeIndex) -> Allowed {
        let mut nodes: Vec<bool> = graph.nodes.iter().map(|node| self.allows_node(node)).collect();
        if let Some(first) = nodes.get_mut(start.index()) {
            *first = true;
        }
        Allowed { nodes, edges: graph.edges.iter().map(|edge| self.allows_edge(edge)).collect() }
    }
}

/// Allowed nodes and edges.
pub(super) struct Allowed {
    nodes: Vec<bool>,
    edges: Vec<bool>,
}

impl Allowed {
    pub(super) fn step(&self, edge: u32, to: NodeIndex) -> bool {
        let edge = usize::try_from(edge).ok().and_then(|edge| self.edges.get(edge));
        edge.is_some_and(|allowed| *allowed)
            && self.nodes.get(to.index()).is_some_and(|allowed| *allowed)
    }
}

fn icd_fits(wanted: &str, code: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(start) => {
            code.get(..start.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(start))
        }
        None => code.eq_ignore_ascii_case(wanted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn icd_wildcard_matches_any_suffix() {
        let cases = [
            ("K64*", "K64.9", true),
            ("K64", "K64.9", false),
            ("k64.9", "K64.9", true),
            ("*", "K64.9", true),
            ("ก*", "K64.9", false),
        ];
        for (wanted, code, expected) in cases {
            assert_eq!(icd_fits(wanted, code), expected, "{wanted} {code}");
        }
    }
}
