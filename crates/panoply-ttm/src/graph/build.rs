//! Makes the graph from the facts.

use std::collections::{BTreeMap, HashMap};

use super::{Edge, Fields, Graph, Node, NodeAt, NodeType, Relation, Step};
use crate::ingest::Claim;
use crate::library::Library;
use crate::model::{Bilingual, Level, Provenance, Strength, Use, Warned};
use crate::safety::{Patient, alerts};

/// The graph of these facts.
pub(super) fn graph(library: &Library) -> Graph {
    let nodes = nodes(library);
    let places: HashMap<(NodeType, String), NodeAt> = (0..=u16::MAX)
        .zip(&nodes)
        .map(|(at, node)| ((node.node_type, node.id.clone()), NodeAt(at)))
        .collect();
    let mut builder = Builder { places, edges: BTreeMap::new() };
    builder.herbs(library);
    builder.formulations(library);
    builder.drugs(library);
    builder.papers(library);
    builder.inferences(library);
    builder.documents(library);
    let Builder { places, edges } = builder;
    let edges: Vec<Edge> = edges.into_values().collect();
    let steps = steps(nodes.len(), &edges);
    Graph { nodes, edges, steps, places }
}

fn nodes(library: &Library) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut push = |node_type, id: &str, names: &Bilingual, fields| {
        nodes.push(Node { id: id.to_owned(), node_type, names: names.clone(), fields });
    };
    for herb in &library.herbs {
        let thai = herb.parts.iter().filter_map(|part| library.part_in_thai(part));
        let parts = herb.parts.iter().map(String::as_str).chain(thai).map(str::to_owned).collect();
        let fields = Fields { parts, family: herb.family.clone(), ..Fields::default() };
        push(NodeType::Herb, &herb.id, &herb.names, fields);
    }
    for constituent in &library.constituents {
        push(NodeType::Constituent, &constituent.id, &constituent.names, Fields::default());
    }
    for indication in &library.indications {
        push(NodeType::Indication, &indication.id, &indication.names, Fields::default());
    }
    for formulation in &library.formulations {
        push(NodeType::Formulation, &formulation.id, &formulation.names, Fields::default());
    }
    for paper in &library.papers {
        let title = Bilingual { th: String::new(), en: paper.title.clone() };
        let fields = Fields { year: paper.year, ..Fields::default() };
        push(NodeType::Paper, &paper.pmid, &title, fields);
    }
    for caution in &library.cautions {
        let fields = Fields { kind: caution.kind.clone(), ..Fields::default() };
        push(NodeType::Caution, &caution.code, &caution.names, fields);
    }
    for drug in &library.drugs {
        let fields = Fields { kind: drug.kind.clone(), ..Fields::default() };
        push(NodeType::Drug, &drug.name, &drug.names, fields);
    }
    nodes.sort_by(|one, other| (one.node_type, &one.id).cmp(&(other.node_type, &other.id)));
    nodes
}

/// Collects edges; those that say the same of the same two nodes become one.
struct Builder {
    places: HashMap<(NodeType, String), NodeAt>,
    edges: BTreeMap<(NodeAt, NodeAt, Relation), Edge>,
}

/// One statement before it is merged with others.
struct Said<'a> {
    relation: Relation,
    sources: &'a [String],
    verified: bool,
    strength: Option<Strength>,
    pmids: &'a [String],
    via: Option<NodeAt>,
}

impl<'a> Said<'a> {
    const fn plainly(relation: Relation, sources: &'a [String], verified: bool) -> Self {
        Self { relation, sources, verified, strength: None, pmids: &[], via: None }
    }
}

impl Builder {
    fn at(&self, node_type: NodeType, id: &str) -> Option<NodeAt> {
        self.places.get(&(node_type, id.to_owned())).copied()
    }

    fn say(&mut self, from: NodeAt, to: Option<NodeAt>, said: &Said<'_>) {
        let Some(to) = to else { return };
        let edge = self.edges.entry((from, to, said.relation)).or_insert_with(|| Edge {
            from,
            to,
            relation: said.relation,
            sources: Vec::new(),
            verified: false,
            strength: None,
            pmids: Vec::new(),
            via: Vec::new(),
            said: Vec::new(),
        });
        edge.verified |= said.verified;
        edge.strength = edge.strength.max(said.strength);
        merge(&mut edge.sources, said.sources);
        merge(&mut edge.pmids, said.pmids);
        edge.via.extend(said.via);
    }

    fn herbs(&mut self, library: &Library) {
        for herb in &library.herbs {
            let Some(from) = self.at(NodeType::Herb, &herb.id) else { continue };
            for holds in &herb.constituents {
                let to = self.at(NodeType::Constituent, &holds.id);
                let (sources, verified) = source_of(&holds.provenance);
                self.say(from, to, &Said::plainly(Relation::HasConstituent, &sources, verified));
            }
            self.uses(from, &herb.indications);
            self.warnings(from, &herb.cautions);
        }
    }

    fn formulations(&mut self, library: &Library) {
        for formulation in &library.formulations {
            let Some(from) = self.at(NodeType::Formulation, &formulation.id) else { continue };
            let source = [formulation.source.clone()];
            for herb in &formulation.ingredients {
                let to = self.at(NodeType::Herb, herb);
                self.say(from, to, &Said::plainly(Relation::Contains, &source, true));
            }
            self.uses(from, &formulation.indications);
            self.warnings(from, &formulation.cautions);
        }
    }

    fn uses(&mut self, from: NodeAt, uses: &[Use]) {
        for one in uses {
            let to = self.at(NodeType::Indication, &one.icd);
            let (sources, verified) = source_of(&one.provenance);
            self.say(from, to, &Said::plainly(Relation::IndicatedFor, &sources, verified));
        }
    }

    fn warnings(&mut self, from: NodeAt, warnings: &[Warned]) {
        for warned in warnings {
            let to = self.at(NodeType::Caution, &warned.code);
            let (sources, verified) = source_of(&warned.provenance);
            let relation = match warned.level {
                Level::Contraindicated => Relation::ContraindicatedIn,
                Level::Precaution => Relation::Caution,
                Level::Interaction => Relation::InteractsWith,
            };
            let said = Said {
                strength: Some(warned.strength),
                pmids: &warned.pmids,
                ..Said::plainly(relation, &sources, verified)
            };
            self.say(from, to, &said);
        }
    }

    fn drugs(&mut self, library: &Library) {
        for interaction in &library.interactions {
            let herb = self.at(NodeType::Herb, &interaction.entity);
            let entity = herb.or_else(|| self.at(NodeType::Formulation, &interaction.entity));
            let Some(from) = entity else { continue };
            let (sources, verified) = source_of(&interaction.provenance);
            for drug in &interaction.drugs {
                let to = self.at(NodeType::Drug, drug);
                let said = Said {
                    strength: Some(interaction.strength),
                    ..Said::plainly(Relation::InteractsWith, &sources, verified)
                };
                self.say(from, to, &said);
            }
        }
        self.records_of_medicines(library);
        // Which medicine is of which class is common knowledge that nobody looked up for us.
        let ours = ["panoply".to_owned()];
        for drug in &library.drugs {
            let Some(at) = self.at(NodeType::Drug, &drug.name) else { continue };
            for class in &drug.classes {
                let to = self.at(NodeType::Drug, class);
                self.say(at, to, &Said::plainly(Relation::MemberOf, &ours, !drug.unverified));
            }
            for code in &drug.cautions {
                let Some(from) = self.at(NodeType::Caution, code) else { continue };
                let said = Said::plainly(Relation::Covers, &ours, !drug.unverified);
                self.say(from, Some(at), &said);
            }
        }
    }

    /// A record that names a class or a group of medicines is an edge to each medicine of the
    /// list that it concerns, so that whoever asks for a medicine finds every record.
    fn records_of_medicines(&mut self, library: &Library) {
        let drugs = library.drugs.iter().filter(|drug| drug.kind == "drug");
        let medicines: Vec<String> = drugs.map(|drug| drug.name.clone()).collect();
        let patient = Patient { medicines, ..Patient::default() };
        let herbs = library.herbs.iter().map(|herb| herb.id.clone());
        let all: Vec<String> =
            herbs.chain(library.formulations.iter().map(|one| one.id.clone())).collect();
        for alert in alerts(library, &all, &patient) {
            if alert.record.through_ingredient {
                continue;
            }
            let herb = self.at(NodeType::Herb, alert.record.carrier);
            let entity = herb.or_else(|| self.at(NodeType::Formulation, alert.record.carrier));
            let Some(from) = entity else { continue };
            let (sources, verified) = source_of(alert.record.provenance());
            for found in &alert.medicines {
                let to = self.at(NodeType::Drug, &found.drug);
                let said = Said {
                    strength: Some(alert.record.strength()),
                    ..Said::plainly(Relation::InteractsWith, &sources, verified && found.verified)
                };
                self.say(from, to, &said);
            }
        }
    }

    fn papers(&mut self, library: &Library) {
        for paper in &library.papers {
            let Some(at) = self.at(NodeType::Paper, &paper.pmid) else { continue };
            let pmid = [paper.pmid.clone()];
            let subjects = (paper.herbs.iter().map(|id| (NodeType::Herb, id)))
                .chain(paper.constituents.iter().map(|id| (NodeType::Constituent, id)))
                .chain(paper.formulations.iter().map(|id| (NodeType::Formulation, id)));
            for (node_type, id) in subjects {
                let Some(from) = self.at(node_type, id) else { continue };
                let said = Said {
                    pmids: &pmid,
                    ..Said::plainly(Relation::StudiedIn, &paper.sources, true)
                };
                self.say(from, Some(at), &said);
            }
            for code in &paper.indications {
                let to = self.at(NodeType::Indication, code);
                let said =
                    Said { pmids: &pmid, ..Said::plainly(Relation::About, &paper.sources, true) };
                self.say(at, to, &said);
                for id in &paper.constituents {
                    let Some(from) = self.at(NodeType::Constituent, id) else { continue };
                    let said = Said { relation: Relation::StudiedFor, ..said };
                    self.say(from, to, &said);
                }
            }
        }
    }

    /// No source says that a constituent treats a disease. That a herb which holds it is used
    /// for the disease is worth a look and no evidence, so it is an edge of its own kind.
    fn inferences(&mut self, library: &Library) {
        for herb in &library.herbs {
            let via = self.at(NodeType::Herb, &herb.id);
            for holds in &herb.constituents {
                let Some(from) = self.at(NodeType::Constituent, &holds.id) else { continue };
                for used in &herb.indications {
                    let to = self.at(NodeType::Indication, &used.icd);
                    let sources = [holds.provenance.source.clone(), used.provenance.source.clone()];
                    let said = Said { via, ..Said::plainly(Relation::ViaHerb, &sources, false) };
                    self.say(from, to, &said);
                }
            }
        }
    }

    /// Which documents say what an edge says. The edges themselves are there: the library holds
    /// the facts of documents beside its own.
    fn documents(&mut self, library: &Library) {
        for fact in &library.brought.facts {
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

/// Where a claim leads, and which edges say it.
const fn edges_of(claim: &Claim) -> (NodeType, &'static [Relation]) {
    match claim {
        Claim::Holds { .. } => (NodeType::Constituent, &[Relation::HasConstituent]),
        Claim::UsedFor { .. } => (NodeType::Indication, &[Relation::IndicatedFor]),
        // A warning that was known in another kind keeps its kind.
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

    fn graph_and_library() -> (Graph, Library) {
        let library = Library::read().unwrap();
        (Graph::of(&library), library)
    }

    #[test]
    fn everything_in_the_library_is_a_node_and_can_be_found_by_type_and_id() {
        let (graph, library) = graph_and_library();
        for herb in &library.herbs {
            let at = graph.find(NodeType::Herb, &herb.id).unwrap();
            assert_eq!(graph.node(at).unwrap().names, herb.names);
        }
        let expected = library.herbs.len()
            + library.constituents.len()
            + library.indications.len()
            + library.formulations.len()
            + library.papers.len()
            + library.cautions.len()
            + library.drugs.len();
        assert_eq!(graph.nodes().count(), expected);
        assert!(graph.find(NodeType::Constituent, "H:turmeric").is_none());
    }

    #[test]
    fn every_statement_of_the_library_is_an_edge() {
        let (graph, library) = graph_and_library();
        let count =
            |relation| graph.edges().iter().filter(|edge| edge.relation == relation).count();
        let held: usize = library.herbs.iter().map(|herb| herb.constituents.len()).sum();
        assert_eq!(count(Relation::HasConstituent), held);
        let contained: usize = library.formulations.iter().map(|one| one.ingredients.len()).sum();
        assert_eq!(count(Relation::Contains), contained);
        let used: usize = (library.herbs.iter().map(|herb| herb.indications.len()))
            .chain(library.formulations.iter().map(|one| one.indications.len()))
            .sum();
        assert_eq!(count(Relation::IndicatedFor), used);
    }

    #[test]
    fn an_edge_has_a_source_and_an_inference_is_never_verified() {
        let (graph, _) = graph_and_library();
        for edge in graph.edges() {
            assert!(!edge.sources.is_empty(), "{edge:?}");
            assert_eq!(edge.inferred(), !edge.via.is_empty(), "{edge:?}");
            assert!(!(edge.inferred() && edge.verified), "{edge:?}");
        }
    }
}
