//! Name resolution: maps ids, names in either language, scientific names and synonyms to nodes.
//!
//! Ambiguous names return all candidates; unknown names return suggestions.

use std::collections::HashMap;

use crate::catalog::HerbCatalog;
use crate::graph::{Graph, NodeIndex, NodeType};
use crate::text::normalize;

/// Index of all spellings.
#[derive(Debug)]
pub struct NameIndex {
    by_name: HashMap<String, Vec<NodeIndex>>,
    by_id: HashMap<String, Vec<NodeIndex>>,
}

/// Result of resolving a name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum NameMatch {
    /// A unique match.
    One(NodeIndex),
    /// Several matches of the requested type.
    Several(Vec<NodeIndex>),
    /// Matches of another type only.
    OtherType(Vec<NodeIndex>),
    /// No match; contains the most similar names.
    Unknown(Vec<NodeIndex>),
}

/// Maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 3;
/// Minimum length of a prefix match.
const MIN_PREFIX_LENGTH: usize = 3;
/// Maximum number of candidates.
const MAX_CANDIDATES: usize = 20;
/// Minimum similarity of a suggestion.
const MIN_SIMILARITY: f64 = 0.72;

impl NameIndex {
    /// Indexes the names of a graph.
    pub fn of(catalog: &HerbCatalog, graph: &Graph) -> Self {
        let mut names = Self { by_name: HashMap::new(), by_id: HashMap::new() };
        for (at, node) in graph.nodes() {
            names.by_id.entry(normalized_name(&node.id)).or_default().push(at);
            if node.node_type == NodeType::Paper {
                continue;
            }
            names.add(&node.names.th, at);
            names.add_english(&node.names.en, node.node_type, at);
        }
        for herb in &catalog.herbs {
            let Some(at) = graph.find(NodeType::Herb, &herb.id) else { continue };
            names.add(&herb.scientific, at);
            names.add(herb.id.trim_start_matches("H:"), at);
            let synonyms = &herb.synonyms;
            let all = synonyms.th.iter().chain(&synonyms.romanised).chain(&synonyms.scientific);
            all.for_each(|name| names.add(name, at));
        }
        for alias in &catalog.aliases {
            let owners = names.by_id.get(&normalized_name(&alias.id)).cloned().unwrap_or_default();
            owners.into_iter().for_each(|at| names.add(&alias.alias, at));
        }
        names
    }

    fn add(&mut self, name: &str, at: NodeIndex) {
        let name = normalized_name(name);
        if name.is_empty() {
            return;
        }
        let known = self.by_name.entry(name).or_default();
        if let Err(place) = known.binary_search(&at) {
            known.insert(place, at);
        }
    }

    /// `Andrographis (King of Bitters)` is indexed as `Andrographis` and `King of Bitters`;
    /// brackets after a formulation describe its kind.
    fn add_english(&mut self, name: &str, node_type: NodeType, at: NodeIndex) {
        self.add(name, at);
        let Some((before, bracket)) = name.split_once('(') else { return };
        self.add(before, at);
        if node_type == NodeType::Herb {
            bracket
                .trim_end_matches([')', ' '])
                .split([',', ';'])
                .for_each(|one| self.add(one, at));
        }
    }

    /// Resolves a name among the `wanted` types, or all.
    pub fn resolve(&self, graph: &Graph, text: &str, wanted: &[NodeType]) -> NameMatch {
        let text = normalized_name(text);
        let fits = |at: &NodeIndex| {
            wanted.is_empty()
                || graph.node(*at).is_some_and(|node| wanted.contains(&node.node_type))
        };
        let mut other_types = Vec::new();
        for index in [&self.by_id, &self.by_name] {
            let found = index.get(&text).map_or(&[][..], Vec::as_slice);
            let fitting: Vec<NodeIndex> = found.iter().copied().filter(fits).collect();
            match fitting.as_slice() {
                [] => other_types.extend(found.iter().copied()),
                [one] => return NameMatch::One(*one),
                _ => return NameMatch::Several(fitting),
            }
        }
        if !other_types.is_empty() {
            return NameMatch::OtherType(other_types);
        }
        let begun = self.with_prefix(&text, fits);
        if begun.len() > 1 {
            return NameMatch::Several(begun);
        }
        NameMatch::Unknown(self.suggest_similar(&text, fits))
    }

    /// Returns nodes with a name that starts with `text`: `ยาหอม` is a prefix of several medicines.
    fn with_prefix(&self, text: &str, fits: impl Fn(&NodeIndex) -> bool) -> Vec<NodeIndex> {
        if text.chars().count() < MIN_PREFIX_LENGTH {
            return Vec::new();
        }
        let begun = self.by_name.iter().filter(|(name, _)| name.starts_with(text));
        let mut nodes: Vec<NodeIndex> =
            begun.flat_map(|(_, owners)| owners).copied().filter(|at| fits(at)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes.truncate(MAX_CANDIDATES);
        nodes
    }

    fn suggest_similar(&self, text: &str, fits: impl Fn(&NodeIndex) -> bool) -> Vec<NodeIndex> {
        if text.is_empty() {
            return Vec::new();
        }
        let mut best: HashMap<NodeIndex, f64> = HashMap::new();
        for (name, owners) in self.by_id.iter().chain(&self.by_name) {
            let score = similarity(text, name);
            if score < MIN_SIMILARITY {
                continue;
            }
            for at in owners.iter().filter(|at| fits(at)) {
                let known = best.entry(*at).or_default();
                *known = known.max(score);
            }
        }
        let mut best: Vec<(NodeIndex, f64)> = best.into_iter().collect();
        best.sort_by(|(one, score), (other, less)| less.total_cmp(score).then(one.cmp(other)));
        best.into_iter().take(MAX_SUGGESTIONS).map(|(at, _)| at).collect()
    }

    /// Completes an id or name: prefix matches first, then infix matches.
    pub fn complete(&self, graph: &Graph, typed: &str, wanted: NodeType) -> Vec<NodeIndex> {
        let typed = normalized_name(typed);
        let mut found: Vec<(bool, NodeIndex)> = Vec::new();
        for (name, owners) in self.by_id.iter().chain(&self.by_name) {
            if !name.contains(&typed) {
                continue;
            }
            let of_type =
                |at: &&NodeIndex| graph.node(**at).is_some_and(|node| node.node_type == wanted);
            let inside = !name.starts_with(&typed);
            found.extend(owners.iter().filter(of_type).map(|at| (inside, *at)));
        }
        found.sort_unstable();
        let mut seen = std::collections::HashSet::new();
        found.into_iter().map(|(_, at)| at).filter(|at| seen.insert(*at)).collect()
    }
}

/// Returns the similarity of two names from 0 to 1. Containment counts as high.
fn similarity(one: &str, other: &str) -> f64 {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let score = strsim::jaro_winkler(one, other);
    // Lengths are bytes: three Thai letters take nine.
    if short.len() >= 4 && long.contains(short) { score.max(0.85) } else { score }
}

/// Normalises a name.
fn normalized_name(name: &str) -> String {
    let normalized = normalize(name);
    normalized.text().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::Knowledge;

    fn resolved(text: &str, wanted: &[NodeType]) -> String {
        let knowledge = Knowledge::bundled().unwrap();
        let ids = |nodes: Vec<NodeIndex>| -> String {
            let ids = nodes.into_iter().map(|at| knowledge.graph.node(at).unwrap().id.clone());
            ids.collect::<Vec<_>>().join(" ")
        };
        match knowledge.names.resolve(&knowledge.graph, text, wanted) {
            NameMatch::One(at) => ids(vec![at]),
            NameMatch::Several(nodes) => format!("several: {}", ids(nodes)),
            NameMatch::OtherType(nodes) => format!("other: {}", ids(nodes)),
            NameMatch::Unknown(nodes) => format!("unknown: {}", ids(nodes)),
        }
    }

    #[test]
    fn a_herb_is_found_by_id_and_by_each_of_its_names() {
        let herb = [NodeType::Herb];
        for text in [
            "H:andrographis",
            "h:Andrographis",
            "ฟ้าทะลายโจร",
            " ฟ้าทะลายโจร ",
            "Andrographis",
            "king of bitters",
            "Andrographis paniculata",
            "Andrographis paniculata (Burm.f.) Wall. ex Nees",
            "A. paniculata",
            "fah talai jone",
        ] {
            assert_eq!(resolved(text, &herb), "H:andrographis", "{text}");
        }
    }

    #[test]
    fn every_node_type_is_found_by_name() {
        assert_eq!(resolved("curcumin", &[NodeType::Constituent]), "C:curcumin");
        assert_eq!(resolved("k30", &[NodeType::Indication]), "K30");
        assert_eq!(resolved("วาร์ฟาริน", &[NodeType::Drug]), "warfarin");
        assert_eq!(resolved("pregnancy", &[NodeType::Caution]), "PREG");
        assert_eq!(resolved("F:NLEM-25", &[]), "F:nlem-25");
    }

    #[test]
    fn name_of_another_type_or_unknown_is_reported() {
        assert_eq!(resolved("C:curcumin", &[NodeType::Herb]), "other: C:curcumin");
        assert!(resolved("H:turmric", &[NodeType::Herb]).starts_with("unknown: H:turmeric"));
        assert!(resolved("ฟ้าทลายโจน", &[NodeType::Herb]).starts_with("unknown: H:andrographis"));
        assert_eq!(resolved("🌿🌿", &[NodeType::Herb]), "unknown: ");
        assert_eq!(resolved("", &[NodeType::Herb]), "unknown: ");
    }

    #[test]
    fn completion_ranks_prefix_matches_before_infix_matches() {
        let knowledge = Knowledge::bundled().unwrap();
        let ids = |typed: &str| -> Vec<String> {
            let found = knowledge.names.complete(&knowledge.graph, typed, NodeType::Herb);
            found.into_iter().map(|at| knowledge.graph.node(at).unwrap().id.clone()).collect()
        };
        assert_eq!(ids("H:turm"), ["H:turmeric"]);
        assert!(ids("ขมิ้น").contains(&"H:turmeric".to_owned()));
        assert_eq!(ids("").len(), knowledge.catalog.herbs.len());
    }
}
