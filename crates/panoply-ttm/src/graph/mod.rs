//! The knowledge graph: who holds, treats, warns of, interacts with and was studied with what.
//!
//! Nodes and edges are made from the [`HerbCatalog`] and nothing else. Each edge knows who says so,
//! whether that was ever checked, and whether it is a statement at all: a `VIA_HERB` edge is only
//! our inference that a constituent sits in a herb that is used for something.

mod build;
pub mod filter;
pub mod pattern;
pub mod walk;

use std::collections::HashMap;

use crate::catalog::HerbCatalog;
use crate::ingest::Quotation;
use crate::model::{Bilingual, Strength};

/// What a node is.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum NodeType {
    /// A herb.
    Herb,
    /// A substance in herbs.
    Constituent,
    /// A disease or symptom, by ICD-10 code.
    Indication,
    /// A medicine of the National List.
    Formulation,
    /// A paper, by PMID.
    Paper,
    /// Something to be careful about.
    Caution,
    /// A medicine, or a class of them.
    Drug,
}

impl NodeType {
    /// Every type.
    pub const ALL: [Self; 7] = [
        Self::Herb,
        Self::Constituent,
        Self::Indication,
        Self::Formulation,
        Self::Paper,
        Self::Caution,
        Self::Drug,
    ];

    /// Its word in patterns and replies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Herb => "herb",
            Self::Constituent => "constituent",
            Self::Indication => "indication",
            Self::Formulation => "formulation",
            Self::Paper => "paper",
            Self::Caution => "caution",
            Self::Drug => "drug",
        }
    }

    /// The type of this word, whatever its case.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str().eq_ignore_ascii_case(word))
    }
}

/// What an edge says.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Relation {
    /// A herb holds a constituent.
    HasConstituent,
    /// A herb or formulation is used for an indication.
    IndicatedFor,
    /// A formulation holds a herb.
    Contains,
    /// A herb or formulation must not be used with this caution.
    ContraindicatedIn,
    /// A herb or formulation needs care with this caution.
    Caution,
    /// A herb or formulation interacts with a class of medicines or one of them.
    InteractsWith,
    /// A herb, constituent or formulation is the subject of a paper.
    StudiedIn,
    /// A paper is about an indication.
    About,
    /// A paper is about both this constituent and this indication.
    StudiedFor,
    /// A herb that holds the constituent is used for it: an inference, not a fact.
    ViaHerb,
    /// A caution about interactions covers a medicine.
    Covers,
    /// A medicine belongs to a class.
    MemberOf,
}

impl Relation {
    /// Every relation.
    pub const ALL: [Self; 12] = [
        Self::HasConstituent,
        Self::IndicatedFor,
        Self::Contains,
        Self::ContraindicatedIn,
        Self::Caution,
        Self::InteractsWith,
        Self::StudiedIn,
        Self::About,
        Self::StudiedFor,
        Self::ViaHerb,
        Self::Covers,
        Self::MemberOf,
    ];

    /// Its word in patterns and replies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::HasConstituent => "HAS_CONSTITUENT",
            Self::IndicatedFor => "INDICATED_FOR",
            Self::Contains => "CONTAINS",
            Self::ContraindicatedIn => "CONTRAINDICATED_IN",
            Self::Caution => "CAUTION",
            Self::InteractsWith => "INTERACTS_WITH",
            Self::StudiedIn => "STUDIED_IN",
            Self::About => "ABOUT",
            Self::StudiedFor => "STUDIED_FOR",
            Self::ViaHerb => "VIA_HERB",
            Self::Covers => "COVERS",
            Self::MemberOf => "MEMBER_OF",
        }
    }

    /// The relation of this word, whatever its case.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str().eq_ignore_ascii_case(word))
    }
}

/// A node's place in the graph. Places are in the order of types and ids.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NodeIndex(u16);

impl NodeIndex {
    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A thing.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its id among nodes of its type.
    pub id: String,
    /// What it is.
    pub node_type: NodeType,
    /// What it is called.
    pub names: Bilingual,
    /// What filters look at.
    pub fields: Fields,
}

/// What filters look at. Empty where it does not apply.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    /// A herb's parts, in both languages.
    pub parts: Vec<String>,
    /// A herb's family.
    pub family: String,
    /// A paper's year.
    pub year: Option<u16>,
    /// A caution's kind; `drug` or `class` of a medicine.
    pub kind: String,
}

/// A statement that two things have to do with each other.
#[derive(Clone, Debug)]
pub struct Edge {
    /// From here.
    pub from: NodeIndex,
    /// To there.
    pub to: NodeIndex,
    /// What it says.
    pub relation: Relation,
    /// Who says so, sorted.
    pub sources: Vec<String>,
    /// Whether at least one of them was checked.
    pub verified: bool,
    /// How strong, for warnings.
    pub strength: Option<Strength>,
    /// Papers that a source names, or that the statement is made from; sorted.
    pub pmids: Vec<String>,
    /// The herbs that an inference goes through.
    pub via: Vec<NodeIndex>,
    /// Where documents that a user brought say so.
    pub said: Vec<Quotation>,
}

impl Edge {
    /// Whether nobody says this: we inferred it.
    pub const fn inferred(&self) -> bool {
        matches!(self.relation, Relation::ViaHerb)
    }

    /// How much a path over this edge is worth, from 0 to 1: a checked statement 0.95, an
    /// unchecked one 0.6, an inference 0.3; a moderate warning counts 0.9 of that, a low one 0.8.
    pub fn weight(&self) -> f64 {
        let [trust, force] = self.factors();
        trust * force
    }

    /// What the weight is the product of. Costs are rounded factor by factor, so that paths of
    /// the same worth cost the same in whatever order their factors come.
    pub(super) const fn factors(&self) -> [f64; 2] {
        let trust = match (self.via.is_empty(), self.verified) {
            (false, _) => 0.3,
            (true, true) => 0.95,
            (true, false) => 0.6,
        };
        let force = match self.strength {
            None | Some(Strength::High) => 1.0,
            Some(Strength::Moderate) => 0.9,
            Some(Strength::Low) => 0.8,
        };
        [trust, force]
    }
}

/// An edge as seen from one of its ends.
#[derive(Clone, Copy, Debug)]
struct Step {
    edge: u32,
    to: NodeIndex,
    forward: bool,
}

/// The graph.
#[derive(Debug)]
pub struct Graph {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// What can be walked from each node, in the order of where it leads.
    steps: Vec<Vec<Step>>,
    places: HashMap<(NodeType, String), NodeIndex>,
}

impl Graph {
    /// The graph of these facts.
    pub fn of(catalog: &HerbCatalog) -> Self {
        build::graph(catalog)
    }

    /// The node at a place.
    pub fn node(&self, at: NodeIndex) -> Option<&Node> {
        self.nodes.get(at.index())
    }

    /// The node of this type and id.
    pub fn find(&self, node_type: NodeType, id: &str) -> Option<NodeIndex> {
        self.places.get(&(node_type, id.to_owned())).copied()
    }

    /// Every node with its place, in order.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeIndex, &Node)> {
        (0..=u16::MAX).map(NodeIndex).zip(&self.nodes)
    }

    /// Every edge.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }
}

/// Small sets of types or relations as bits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BitSet(u16);

impl BitSet {
    /// Everything.
    pub const ALL: Self = Self(u16::MAX);

    /// One type.
    pub const fn of_type(one: NodeType) -> Self {
        Self(1 << one as u16)
    }

    /// One relation.
    pub const fn of_relation(one: Relation) -> Self {
        Self(1 << one as u16)
    }

    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn has_type(self, one: NodeType) -> bool {
        self.0 & (1 << one as u16) != 0
    }

    const fn has_relation(self, one: Relation) -> bool {
        self.0 & (1 << one as u16) != 0
    }
}
