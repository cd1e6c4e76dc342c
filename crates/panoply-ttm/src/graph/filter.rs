//! What a walk may touch: rules on the fields of nodes and on who says so.

use super::{Edge, Graph, Node, NodeIndex, NodeType};
use crate::model::Strength;

/// Rules that each node or edge of a path must keep. Those that do not apply to it, it keeps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// ICD-10 codes that indications must have; `K64*` means all that start with it.
    pub icd: Vec<String>,
    /// A part that herbs must have, in either language.
    pub part: Option<String>,
    /// A family that herbs must belong to.
    pub family: Option<String>,
    /// A source that every edge must rest on.
    pub source: Option<String>,
    /// Only what was checked against a source.
    pub verified_only: bool,
    /// Warnings must be at least this strong.
    pub min_strength: Option<Strength>,
    /// A kind that cautions must have, such as `population`.
    pub kind: Option<String>,
    /// The first year of papers.
    pub year_from: Option<u16>,
    /// The last year of papers.
    pub year_to: Option<u16>,
    /// What the last node of a path may be; empty means anything.
    pub ends: Vec<NodeType>,
}

impl Filter {
    /// Whether a path may go through this node.
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

    /// Whether a path may end in such a node.
    pub(super) fn ends_in(&self, node_type: NodeType) -> bool {
        self.ends.is_empty() || self.ends.contains(&node_type)
    }

    /// The rules worked out for every node and edge of a graph. The start is never refused: it
    /// was asked for.
    pub(super) fn over(&self, graph: &Graph, start: NodeIndex) -> Allowed {
        let mut nodes: Vec<bool> = graph.nodes.iter().map(|node| self.allows_node(node)).collect();
        if let Some(first) = nodes.get_mut(start.index()) {
            *first = true;
        }
        Allowed { nodes, edges: graph.edges.iter().map(|edge| self.allows_edge(edge)).collect() }
    }
}

/// What a walk may touch.
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
