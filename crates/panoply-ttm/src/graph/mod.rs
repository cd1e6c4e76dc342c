//! The knowledge graph: herbs, constituents, indications, formulations, papers, cautions and drugs
//! with their relations.
//!
//! It is built from the [`HerbCatalog`] only. Each edge has its sources and a verified flag. A
//! `VIA_HERB` edge is an inference: the constituent occurs in a herb with that indication.

mod build;
pub mod filter;
pub mod pattern;
pub mod walk;

use std::collections::HashMap;

use crate::catalog::HerbCatalog;
pub use crate::model::NodeType;
use crate::model::{Bilingual, Strength};
use crate::user_data::Quotation;

/// Type of an edge.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Relation {
    /// A herb contains a constituent.
    HasConstituent,
    /// A herb or formulation is indicated for a disease.
    IndicatedFor,
    /// A formulation contains a herb.
    Contains,
    /// A herb or formulation is contraindicated.
    ContraindicatedIn,
    /// A herb or formulation requires caution.
    Caution,
    /// A herb or formulation interacts with a drug or drug class.
    InteractsWith,
    /// A paper studies a herb, constituent or formulation.
    StudiedIn,
    /// A paper is about an indication.
    About,
    /// A paper covers both this constituent and this indication.
    StudiedFor,
    /// A herb that contains the constituent is indicated for it: an inference, not a fact.
    ViaHerb,
    /// A caution about interactions covers a drug.
    Covers,
    /// A drug belongs to a class.
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

    /// Returns the identifier used in patterns and replies.
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

    /// Parses an identifier, ignoring case.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str().eq_ignore_ascii_case(word))
    }
}

/// Index of a node. Nodes are ordered by type and id.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NodeIndex(u16);

impl NodeIndex {
    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Id, unique within its type.
    pub id: String,
    /// Type.
    pub node_type: NodeType,
    /// Display names.
    pub names: Bilingual,
    /// Filterable properties.
    pub fields: Fields,
}

/// Filterable properties; empty if not applicable.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    /// Plant parts in both languages.
    pub parts: Vec<String>,
    /// Plant family.
    pub family: String,
    /// Publication year.
    pub year: Option<u16>,
    /// Kind of a caution; `drug` or `class` for drugs.
    pub kind: String,
}

/// An edge with its provenance.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Source node.
    pub from: NodeIndex,
    /// Target node.
    pub to: NodeIndex,
    /// Relation.
    pub relation: Relation,
    /// Ids of the sources, sorted.
    pub sources: Vec<String>,
    /// Whether at least one source is verified.
    pub verified: bool,
    /// Strength of a warning.
    pub strength: Option<Strength>,
    /// PMIDs cited by the sources, sorted.
    pub pmids: Vec<String>,
    /// Herbs behind an inference.
    pub via: Vec<NodeIndex>,
    /// Quotations from user documents.
    pub said: Vec<Quotation>,
}

impl Edge {
    /// Returns whether the edge is an inference.
    pub const fn inferred(&self) -> bool {
        matches!(self.relation, Relation::ViaHerb)
    }

    /// Returns the weight from 0 to 1: verified 0.95, unverified 0.6, inferred 0.3; multiplied by
    /// 0.9 for a moderate and 0.8 for a low warning.
    pub fn weight(&self) -> f64 {
        let [trust, force] = self.factors();
        trust * force
    }

    /// Returns the factors of the weight. Costs are rounded per factor, so that paths with equal
    /// factors have equal costs in any order.
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

/// An edge seen from one end.
#[derive(Clone, Copy, Debug)]
struct Step {
    edge: u32,
    to: NodeIndex,
    forward: bool,
}

/// The knowledge graph.
#[derive(Debug)]
pub struct Graph {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// Adjacency lists, ordered by target.
    steps: Vec<Vec<Step>>,
    places: HashMap<(NodeType, String), NodeIndex>,
}

impl Graph {
    /// Builds the graph from a catalog.
    pub fn of(catalog: &HerbCatalog) -> Self {
        build::graph(catalog)
    }

    /// Returns a node.
    pub fn node(&self, at: NodeIndex) -> Option<&Node> {
        self.nodes.get(at.index())
    }

    /// Finds a node by type and id.
    pub fn find(&self, node_type: NodeType, id: &str) -> Option<NodeIndex> {
        self.places.get(&(node_type, id.to_owned())).copied()
    }

    /// Iterates over all nodes in order.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeIndex, &Node)> {
        (0..=u16::MAX).map(NodeIndex).zip(&self.nodes)
    }

    /// Returns all edges.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }
}

/// Bit set of node types or relations.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BitSet(u16);

impl BitSet {
    /// Contains everything.
    pub const ALL: Self = Self(u16::MAX);

    /// Set with one type.
    pub const fn of_type(one: NodeType) -> Self {
        Self(1 << one as u16)
    }

    /// Set with one relation.
    pub const fn of_relation(one: Relation) -> Self {
        Self(1 << one as u16)
    }

    /// Union.
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
