//! Builds the graph from the catalog.

use std::collections::{BTreeMap, HashMap};

use super::{Edge, Fields, Graph, Node, NodeIndex, NodeType, Relation, Step};
use crate::catalog::HerbCatalog;
use crate::model::{Bilingual, Level, Provenance, RecordedCaution, RecordedUse, Strength};
use crate::safety::{Patient, alerts};
use crate::user_data::Claim;

/// Builds the graph from the catalog.
pub(super) fn graph(catalog: &HerbCatalog) -> Graph {
    let nodes = nodes(catalog);
    let places: HashMap<(NodeType, String), NodeIndex> = (0..=u16::MAX)
        .zip(&nodes)
        .map(|(at, node)| ((node.node_type, node.id.clone()), NodeIndex(at)))
        .collect();
    let mut builder = Builder { places, edges: BTreeMap::new() };
    builder.herbs(catalog);
    builder.formulations(catalog);
    builder.drugs(catalog);
    builder.papers(catalog);
    builder.inferences(catalog);
    builder.documents(catalog);
    let Builder { places, edges } = builder;
    let edges: Vec<Edge> = edges.into_values().collect();
    let steps = steps(nodes.len(), &edges);
    Graph { nodes, edges, steps, places }
}

fn nodes(catalog: &HerbCatalog) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut push = |node_type, id: &str, names: &Bilingual, fields| {
        nodes.push(Node { id: id.to_owned(), node_type, names: names.clone(), fields });
    };
    for herb in &catalog.herbs {
        let thai = herb.parts.iter().filter_map(|part| catalog.part_in_thai(part));
        let parts = herb.parts.iter().map(String::as_str).chain(thai).map(str::to_owned).collect();
        let fields = Fields { parts, family: herb.family.clone(), ..Fields::default() };
        push(NodeType::Herb, &herb.id, &herb.names, fields);
    }
    for constituent in &catalog.constituents {
        push(NodeType::Constituent, &constituent.id, &constituent.names, Fields::default());
    }
    for indication in &catalog.indications {
        push(NodeType::Indication, &indication.id, &indication.names, Fields::default());
    }
    for formulation in &catalog.formulations {
        push(NodeType::Formulation, &formulation.id, &formulation.names, Fields::default());
    }
    for paper in &catalog.papers {
        let title = Bilingual { th: String::new(), en: paper.title.clone() };
        let fields = Fields { year: paper.year, ..Fields::default() };
        push(NodeType::Paper, &paper.pmid, &title, fields);
    }
    for caution in &catalog.cautions {
        let fields = Fields { kind: caution.kind.clone(), ..Fields::default() };
        push(NodeType::Caution, &caution.code, &caution.names, fields);
    }
    for drug in &catalog.drugs {
        let fields = Fields { kind: drug.kind.clone(), ..Fields::default() };
        push(NodeType::Drug, &drug.name, &drug.names, fields);
    }
    nodes.sort_by(|one, other| (one.node_type, &one.id).cmp(&(other.node_type, &other.id)));
    nodes
}

/// Collects edges and merges duplicates.
struct Builder {
    places: HashMap<(NodeType, String), NodeIndex>,
    edges: BTreeMap<(NodeIndex, NodeIndex, Relation), Edge>,
}

/// Content of an edge before merging.
struct EdgeClaim<'a> {
    relation: Relation,
    sources: &'a [String],
    verified: bool,
    strength: Option<Strength>,
    pmids: &'a [String],
    via: Option<NodeIndex>,
}

impl<'a> EdgeClaim<'a> {
    const fn new(relation: Relation, sources: &'a [String], verified: bool) -> Self {
        Self { relation, sources, verified, strength: None, pmids: &[], via: None }
    }
}

impl Builder {
    fn at(&self, node_type: NodeType, id: &str) -> Option<NodeIndex> {
        self.places.get(&(node_type, id.to_owned())).copied()
    }

    fn add_edge(&mut self, from: NodeIndex, to: Option<NodeIndex>, claim: &EdgeClaim<'_>) {
        let Some(to) = to else { return };
        let edge = self.edges.entry((from, to, claim.relation)).or_insert_with(|| Edge {
            from,
            to,
            relation: claim.relation,
            sources: Vec::new(),
            verified: false,
            strength: None,
            pmids: Vec::new(),
            via: Vec::new(),
            said: Vec::new(),
        });
        edge.verified |= claim.verified;
        edge.strength = edge.strength.max(claim.strength);
        merge(&mut edge.sources, claim.sources);
        merge(&mut edge.pmids, claim.pmids);
        edge.via.extend(claim.via);
    }

    fn herbs(&mut self, catalog: &HerbCatalog) {
        for herb in &catalog.herbs {
            let Some(from) = self.at(NodeType::Herb, &herb.id) else { continue };
            for holds in &herb.constituents {
                let to = self.at(NodeType::Constituent, &holds.id);
                let (sources, verified) = source_of(&holds.provenance);
                self.add_edge(
                    from,
                    to,
                    &EdgeClaim::new(Relation::HasConstituent, &sources, verified),
                );
            }
            self.uses(from, &herb.indications);
            self.warnings(from, &herb.cautions);
        }
    }

    fn formulations(&mut self, catalog: &HerbCatalog) {
        for formulation in &catalog.formulations {
            let Some(from) = self.at(NodeType::Formulation, &formulation.id) else { continue };
            let source = [formulation.source.clone()];
            for herb in &formulation.ingredients {
                let to = self.at(NodeType::Herb, herb);
                self.add_edge(from, to, &EdgeClaim::new(Relation::Contains, &source, true));
            }
            self.uses(from, &formulation.indications);
            self.warnings(from, &formulation.cautions);
        }
    }

    fn uses(&mut self, from: NodeIndex, uses: &[RecordedUse]) {
        for one in uses {
            let to = self.at(NodeType::Indication, &one.icd);
            let (sources, verified) = source_of(&one.provenance);
            self.add_edge(from, to, &EdgeClaim::new(Relation::IndicatedFor, &sources, verified));
        }
    }

    fn warnings(&mut self, from: NodeIndex, warnings: &[RecordedCaution]) {
        for warned in warnings {
            let to = self.at(NodeType::Caution, &warned.code);
            let (sources, verified) = source_of(&warned.provenance);
            let relation = match warned.level {
                Level::Contraindicated => Relation::ContraindicatedIn,
                Level::Precaution => Relation::Caution,
                Level::Interaction => Relation::InteractsWith,
            };
            let claim = EdgeClaim {
                strength: Some(warned.strength),
                pmids: &warned.pmids,
                ..EdgeClaim::new(relation, &sources, verified)
            };
            self.add_edge(from, to, &claim);
        }
    }

    fn drugs(&mut self, catalog: &HerbCatalog) {
        for interaction in &catalog.interactions {
            let herb = self.at(NodeType::Herb, &interaction.entity);
            let entity = herb.or_else(|| self.at(NodeType::Formulation, &interaction.entity));
            let Some(from) = entity else { continue };
            let (sources, verified) = source_of(&interaction.provenance);
            for drug in &interaction.drugs {
                let to = self.at(NodeType::Drug, drug);
                let claim = EdgeClaim {
                    strength: Some(interaction.strength),
                    ..EdgeClaim::new(Relation::InteractsWith, &sources, verified)
                };
                self.add_edge(from, to, &claim);
            }
        }
        self.records_of_medicines(catalog);
        // Class membership is general knowledge without an external source.
        let ours = ["panoply".to_owned()];
        for drug in &catalog.drugs {
            let Some(at) = self.at(NodeType::Drug, &drug.name) else { continue };
            for class in &drug.classes {
                let to = self.at(NodeType::Drug, class);
                self.add_edge(at, to, &EdgeClaim::new(Relation::MemberOf, &ours, !drug.unverified));
            }
            for code in &drug.cautions {
                let Some(from) = self.at(NodeType::Caution, code) else { continue };
                let claim = EdgeClaim::new(Relation::Covers, &ours, !drug.unverified);
                self.add_edge(from, Some(at), &claim);
            }
        }
    }

    /// A record that names a drug class becomes an edge to each listed member, so that a query for
    /// a drug finds every record.
    fn records_of_medicines(&mut self, catalog: &HerbCatalog) {
        let drugs = catalog.drugs.iter().filter(|drug| drug.kind == "drug");
        let medicines: Vec<String> = drugs.map(|drug| drug.name.clone()).collect();
        let patient = Patient { medicines, ..Patient::default() };
        let herbs = catalog.herbs.iter().map(|herb| herb.id.clone());
        let all: Vec<String> =
            herbs.chain(catalog.formulations.iter().map(|one| one.id.clone())).collect();
        for alert in alerts(catalog, &all, &patient) {
            if alert.record.through_ingredient {
                continue;
            }
            let herb = self.at(NodeType::Herb, alert.record.carrier);
            let entity = herb.or_else(|| self.at(NodeType::Formulation, alert.record.carrier));
            let Some(from) = entity else { continue };
            let (sources, verified) = source_of(alert.record.provenance());
            for found in &alert.medicines {
                let to = self.at(NodeType::Drug, &found.drug);
                let claim = EdgeClaim {
                    strength: Some(alert.record.strength()),
                    ..EdgeClaim::new(Relation::InteractsWith, &sources, verified && found.verified)
                };
                self.add_edge(from, to, &claim);
            }
        }
    }

    fn papers(&mut self, catalog: &HerbCatalog) {
        for paper in &catalog.papers {
            let Some(at) = self.at(NodeType::Paper, &paper.pmid) else { continue };
            let pmid = [paper.pmid.clone()];
            let subjects = (paper.herbs.iter().map(|id| (NodeType::Herb, id)))
                .chain(paper.constituents.iter().map(|id| (NodeType::Constituent, id)))
                .chain(paper.formulations.iter().map(|id| (NodeType::Formulation, id)));
            for (node_type, id) in subjects {
                let Some(from) = self.at(node_type, id) else { continue };
                let claim = EdgeClaim {
                    pmids: &pmid,
                    ..EdgeClaim::new(Relation::StudiedIn, &paper.sources, true)
                };
                self.add_edge(from, Some(at), &claim);
            }
            for code in &paper.indications {
                let to = self.at(NodeType::Indication, code);
                let claim = EdgeClaim {
                    pmids: &pmid,
                    ..EdgeClaim::new(Relation::About, &paper.sources, true)
                };
                self.add_edge(at, to, &claim);
                for id in &paper.constituents {
                    let Some(from) = self.at(NodeType::Constituent, id) else { continue };
                    let claim = EdgeClaim { relation: Relation::StudiedFor, ..claim };
                    self.add_edge(from, to, &claim);
                }
            }
        }
    }

    /// No source states that a constituent treats a disease. The indication of a herb that contains
    /// it is a hint, not evidence, so it gets its own relation.
    fn inferences(&mut self, catalog: &HerbCatalog) {
        for herb in &catalog.herbs {
            let via = self.at(NodeType::Herb, &herb.id);
            for holds in &herb.constituents {
                let Some(from) = self.at(NodeType::Constituent, &holds.id) else { continue };
                for used in &herb.indications {
                    let to = self.at(NodeType::Indication, &used.icd);
                    let sources = [holds.provenance.source.clone(), used.provenance.source.clone()];
                    let claim =
                        EdgeClaim { via, ..EdgeClaim::new(Relation::ViaHerb, &sources, false) };
                    self.add_edge(from, to, &claim);
                }
            }
        }
    }

    /// Adds quotations of user documents to existing edges. The catalog already contains the facts
    /// of user documents.
    fn documents(&mut self, catalog: &HerbCatalog) {
        for fact in &catalog.user_data.facts {
            let herb = self.at(NodeType::Herb, &fact.subject);
            let from = herb.or_else(|| self.at(NodeType::Formulation, &fact.subject));
            let (to, relations) = edges_of(&fact.claim);
            let Some((from, to)) = from.zip(self.at(to, fact.claim.object())) else { continue };
            for relation in relations {
                if let Some(edge) = self.edges.get_mut(&(from, to, *relation)) {
                    merge(&mut edge.sources, std::slice::from_ref(&fact.said.document));
                    edge.said.push(fact.said.clone());
                }
            }
        }
    }
}

/// Returns the object type and the relations of a claim.
const fn edges_of(claim: &Claim) -> (NodeType, &'static [Relation]) {
    match claim {
        Claim::Holds { .. } => (NodeType::Constituent, &[Relation::HasConstituent]),
        Claim::UsedFor { .. } => (NodeType::Indication, &[Relation::IndicatedFor]),
        // A caution keeps the level it already has.
        Claim::Warns { .. } => (
            NodeType::Caution,
            &[Relation::ContraindicatedIn, Relation::Caution, Relation::InteractsWith],
        ),
        Claim::InteractsWith { .. } => (NodeType::Drug, &[Relation::InteractsWith]),
    }
}

fn source_of(provenance: &Provenance) -> ([String; 1], bool) {
    ([provenance.source.clone()], !provenance.unverified)
}

fn merge(into: &mut Vec<String>, more: &[String]) {
    for one in more {
        if let Err(place) = into.binary_search(one) {
            into.insert(place, one.clone());
        }
    }
}

fn steps(nodes: usize, edges: &[Edge]) -> Vec<Vec<Step>> {
    let mut steps = vec![Vec::new(); nodes];
    for (number, edge) in (0_u32..).zip(edges) {
        let ends = [(edge.from, edge.to, true), (edge.to, edge.from, false)];
        for (here, to, forward) in ends {
            if let Some(steps) = steps.get_mut(here.index()) {
                steps.push(Step { edge: number, to, forward });
            }
        }
    }
    for steps in &mut steps {
        steps.sort_by_key(|step| (step.to, step.edge));
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph_and_library() -> (Graph, HerbCatalog) {
        let catalog = HerbCatalog::read().unwrap();
        (Graph::of(&catalog), catalog)
    }

    #[test]
    fn every_catalog_entry_is_a_node() {
        let (graph, catalog) = graph_and_library();
        for herb in &catalog.herbs {
            let at = graph.find(NodeType::Herb, &herb.id).unwrap();
            assert_eq!(graph.node(at).unwrap().names, herb.names);
        }
        let expected = catalog.herbs.len()
            + catalog.constituents.len()
            + catalog.indications.len()
            + catalog.formulations.len()
            + catalog.papers.len()
            + catalog.cautions.len()
            + catalog.drugs.len();
        assert_eq!(graph.nodes().count(), expected);
        assert!(graph.find(NodeType::Constituent, "H:turmeric").is_none());
    }

    #[test]
    fn every_catalog_statement_is_an_edge() {
        let (graph, catalog) = graph_and_library();
        let count =
            |relation| graph.edges().iter().filter(|edge| edge.relation == relation).count();
        let constituents: usize = catalog.herbs.iter().map(|herb| herb.constituents.len()).sum();
        assert_eq!(count(Relation::HasConstituent), constituents);
        let contained: usize = catalog.formulations.iter().map(|one| one.ingredients.len()).sum();
        assert_eq!(count(Relation::Contains), contained);
        let used: usize = (catalog.herbs.iter().map(|herb| herb.indications.len()))
            .chain(catalog.formulations.iter().map(|one| one.indications.len()))
            .sum();
        assert_eq!(count(Relation::IndicatedFor), used);
    }

    #[test]
    fn every_edge_has_a_source_and_inferences_are_unverified() {
        let (graph, _) = graph_and_library();
        for edge in graph.edges() {
            assert!(!edge.sources.is_empty(), "{edge:?}");
            assert_eq!(edge.inferred(), !edge.via.is_empty(), "{edge:?}");
            assert!(!(edge.inferred() && edge.verified), "{edge:?}");
        }
    }
}
