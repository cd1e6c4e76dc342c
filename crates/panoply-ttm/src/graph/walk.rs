//! Best-first path search (A*).
//!
//! The score of a path is the product of its edge weights ([`Edge::weight`](super::Edge::weight)).
//! Paths are simple, sorted by score, then by nodes (type, id). Costs are integer millionths of the
//! negative logarithm, so that equal scores compare equal and the order is the same on every
//! machine.
//!
//! A backward pass over the pattern automaton computes for each node and state the exact remaining
//! cost. With this heuristic only branches that reach an end are expanded, and paths are found in
//! order.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};

use super::filter::{Allowed, Filter};
use super::pattern::{Direction, MAX_DEPTH, Pattern};
use super::{BitSet, Edge, Graph, NodeIndex};

/// Maximum number of heap expansions; after that the result is marked as incomplete.
pub const MAX_EXPANSIONS: usize = 60_000;
/// Maximum number of nodes in a path.
const MAX_NODES: usize = MAX_DEPTH as usize + 1;

/// A path query.
#[derive(Clone, Debug)]
pub struct PathQuery {
    /// Start node.
    pub start: NodeIndex,
    /// Only paths to this node, if given.
    pub end: Option<NodeIndex>,
    /// Path pattern.
    pub pattern: Pattern,
    /// Node and edge filter.
    pub filter: Filter,
    /// Maximum number of hops.
    pub max_depth: u8,
    /// Number of best paths to skip.
    pub offset: usize,
    /// Maximum number of paths to return.
    pub limit: usize,
}

/// Result of a path query.
#[derive(Clone, Debug, Default)]
pub struct PathResult {
    /// Paths, best first.
    pub paths: Vec<Path>,
    /// Whether there are or may be more paths.
    pub more: bool,
    /// Whether the expansion limit was reached.
    pub gave_up: bool,
}

/// A path.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Start node.
    pub start: NodeIndex,
    /// Edge numbers and target nodes.
    pub hops: Vec<(u32, NodeIndex)>,
    /// Product of the edge weights.
    pub score: f64,
}

impl Graph {
    /// Returns an edge by its number.
    pub fn edge(&self, number: u32) -> Option<&Edge> {
        usize::try_from(number).ok().and_then(|number| self.edges.get(number))
    }

    /// Returns the best paths.
    pub fn walk(&self, question: &PathQuery) -> PathResult {
        let search = Search {
            graph: self,
            automaton: PatternAutomaton::of(&question.pattern, question.max_depth),
            allowed: question.filter.over(self, question.start),
            filter: &question.filter,
            end: question.end,
            max_depth: question.max_depth,
        };
        let remaining = search.remaining();
        search.run(question, &remaining)
    }
}

/// Pattern as a nondeterministic automaton. Links always lead to later states.
struct PatternAutomaton {
    links: Vec<Link>,
    accepts: Vec<bool>,
}

struct Link {
    from: usize,
    to: usize,
    direction: Direction,
    relations: BitSet,
    types: BitSet,
}

impl PatternAutomaton {
    fn of(pattern: &Pattern, max_depth: u8) -> Self {
        let mut automaton = Self { links: Vec::new(), accepts: vec![false] };
        if pattern.steps.is_empty() {
            for from in 0..usize::from(max_depth) {
                let to = automaton.state();
                automaton.link(from, to, Direction::Either, BitSet::ALL, BitSet::ALL);
            }
            automaton.accepts.iter_mut().skip(1).for_each(|accepts| *accepts = true);
            return automaton;
        }
        // State in which the last step ended. A step of variable length merges in one state after
        // all intermediate states.
        let mut here = 0;
        for step in &pattern.steps {
            let most = step.most.min(max_depth);
            let mut between = vec![here];
            for _ in 1..most {
                let from = between.last().copied().unwrap_or(here);
                let to = automaton.state();
                automaton.link(from, to, step.direction, step.relations, step.between);
                between.push(to);
            }
            let end = automaton.state();
            for from in between.iter().skip(usize::from(step.least) - 1) {
                automaton.link(*from, end, step.direction, step.relations, step.to);
            }
            here = end;
        }
        if let Some(last) = automaton.accepts.get_mut(here) {
            *last = true;
        }
        automaton
    }

    fn state(&mut self) -> usize {
        self.accepts.push(false);
        self.accepts.len() - 1
    }

    fn link(
        &mut self,
        from: usize,
        to: usize,
        direction: Direction,
        relations: BitSet,
        types: BitSet,
    ) {
        self.links.push(Link { from, to, direction, relations, types });
    }

    fn accepts(&self, state: usize) -> bool {
        self.accepts.get(state).copied().unwrap_or(false)
    }
}

/// Negative logarithm of a weight in millionths; smaller is better.
type Cost = u32;
/// No end is reachable.
const UNREACHABLE: Cost = Cost::MAX;

fn cost_of(edge: &Edge) -> Cost {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "weights lie between 0.2 and 1, so this lies between 0 and two million"
    )]
    let cost = edge.factors().map(|factor| (-factor.ln() * 1e6).round() as Cost);
    cost.iter().sum()
}

/// Minimum cost from each state and node to an end with at least one more hop.
struct RemainingCost {
    nodes: usize,
    costs: Vec<Cost>,
}

impl RemainingCost {
    fn at(&self, state: usize, node: NodeIndex) -> Cost {
        self.costs.get(state * self.nodes + node.index()).copied().unwrap_or(UNREACHABLE)
    }

    fn improve(&mut self, state: usize, node: NodeIndex, cost: Cost) {
        if let Some(known) = self.costs.get_mut(state * self.nodes + node.index()) {
            *known = cost.min(*known);
        }
    }
}

struct Search<'a> {
    graph: &'a Graph,
    automaton: PatternAutomaton,
    allowed: Allowed,
    filter: &'a Filter,
    end: Option<NodeIndex>,
    max_depth: u8,
}

impl Search<'_> {
    fn ends_at(&self, state: usize, node: NodeIndex) -> bool {
        self.automaton.accepts(state)
            && self.end.is_none_or(|end| end == node)
            && self.graph.node(node).is_some_and(|node| self.filter.ends_in(node.node_type))
    }

    fn remaining(&self) -> RemainingCost {
        let nodes = self.graph.nodes.len();
        let costs = vec![UNREACHABLE; nodes * self.automaton.accepts.len()];
        let mut remaining = RemainingCost { nodes, costs };
        // Links lead to later states, so processing from the back finds every target computed.
        let mut links: Vec<&Link> = self.automaton.links.iter().collect();
        links.sort_by_key(|link| std::cmp::Reverse(link.from));
        for link in links {
            for (at, _) in self.graph.nodes() {
                let mut best = UNREACHABLE;
                for (step, edge) in self.steps(at, link) {
                    let rest = if self.ends_at(link.to, step.to) {
                        0
                    } else {
                        remaining.at(link.to, step.to)
                    };
                    best = best.min(cost_of(edge).saturating_add(rest));
                }
                remaining.improve(link.from, at, best);
            }
        }
        remaining
    }

    /// Returns the steps from a node that a link allows.
    fn steps<'s>(
        &'s self,
        at: NodeIndex,
        link: &'s Link,
    ) -> impl Iterator<Item = (&'s super::Step, &'s Edge)> {
        let steps = self.graph.steps.get(at.index()).map_or(&[][..], Vec::as_slice);
        steps.iter().filter_map(move |step| {
            let edge = self.graph.edge(step.edge)?;
            let node_type = self.graph.node(step.to)?.node_type;
            let fits = link.direction.allows(step.forward)
                && link.relations.has_relation(edge.relation)
                && link.types.has_type(node_type)
                && self.allowed.step(step.edge, step.to);
            fits.then_some((step, edge))
        })
    }

    fn run(&self, question: &PathQuery, remaining: &RemainingCost) -> PathResult {
        let mut heap = BinaryHeap::new();
        let mut seen = HashSet::new();
        let mut found = PathResult::default();
        let mut skipped = 0;
        heap.push(PartialPath::start(question.start, remaining.at(0, question.start)));
        for work in 0.. {
            let Some(partial) = heap.pop().filter(|partial| partial.least < UNREACHABLE) else {
                break;
            };
            if work > MAX_EXPANSIONS {
                found.more = true;
                found.gave_up = true;
                break;
            }
            if !partial.done {
                self.extend(&partial, remaining, &mut heap);
                continue;
            }
            if !seen.insert(partial.edges) {
                continue;
            }
            if skipped < question.offset {
                skipped += 1;
            } else if found.paths.len() == question.limit {
                found.more = true;
                break;
            } else {
                found.paths.push(self.path(&partial));
            }
        }
        found
    }

    fn extend(
        &self,
        partial: &PartialPath,
        remaining: &RemainingCost,
        heap: &mut BinaryHeap<PartialPath>,
    ) {
        if partial.hops >= usize::from(self.max_depth) {
            return;
        }
        for link in self.automaton.links.iter().filter(|link| link.from == partial.state) {
            for (step, edge) in self.steps(partial.last(), link) {
                if partial.visits(step.to) {
                    continue;
                }
                let spent = partial.spent + cost_of(edge);
                let longer = partial.with(step.edge, step.to, link.to, spent);
                if self.ends_at(link.to, step.to) {
                    heap.push(PartialPath { least: spent, done: true, ..longer });
                }
                let rest = remaining.at(link.to, step.to);
                if rest < UNREACHABLE {
                    heap.push(PartialPath { least: spent.saturating_add(rest), ..longer });
                }
            }
        }
    }

    fn path(&self, partial: &PartialPath) -> Path {
        let edges = partial.edges.iter().copied();
        let hops: Vec<(u32, NodeIndex)> =
            edges.zip(partial.nodes.iter().skip(1).copied()).take(partial.hops).collect();
        let weights = hops.iter().filter_map(|(edge, _)| self.graph.edge(*edge)).map(Edge::weight);
        let start = partial.nodes.first().copied().unwrap_or(NodeIndex(0));
        Path { start, score: weights.product(), hops }
    }
}

/// A path under expansion.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct PartialPath {
    /// Lower bound of the total cost.
    least: Cost,
    nodes: [NodeIndex; MAX_NODES],
    edges: [u32; MAX_NODES - 1],
    hops: usize,
    spent: Cost,
    state: usize,
    /// Whether the path ends here.
    done: bool,
}

/// Placeholder for unused edge slots.
const NO_EDGE: u32 = u32::MAX;

impl PartialPath {
    const fn start(at: NodeIndex, least: Cost) -> Self {
        Self {
            least,
            nodes: [at; MAX_NODES],
            edges: [NO_EDGE; MAX_NODES - 1],
            hops: 0,
            spent: 0,
            state: 0,
            done: false,
        }
    }

    fn visited(&self) -> &[NodeIndex] {
        self.nodes.get(..=self.hops).unwrap_or_default()
    }

    fn last(&self) -> NodeIndex {
        self.visited().last().copied().unwrap_or(NodeIndex(0))
    }

    fn visits(&self, node: NodeIndex) -> bool {
        self.visited().contains(&node)
    }

    fn with(&self, edge: u32, to: NodeIndex, state: usize, spent: Cost) -> Self {
        let mut longer = Self { hops: self.hops + 1, spent, state, done: false, ..*self };
        if let Some(slot) = longer.edges.get_mut(self.hops) {
            *slot = edge;
        }
        if let Some(slot) = longer.nodes.get_mut(longer.hops) {
            *slot = to;
        }
        longer
    }
}

impl Ord for PartialPath {
    /// Max-heap order: lowest cost first, then nodes.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_nodes = |partial: &Self, other: &Self| partial.visited().cmp(other.visited());
        other
            .least
            .cmp(&self.least)
            .then_with(|| by_nodes(other, self))
            .then_with(|| other.edges.cmp(&self.edges))
            .then_with(|| other.state.cmp(&self.state))
            .then_with(|| other.done.cmp(&self.done))
    }
}

impl PartialOrd for PartialPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::HerbCatalog;
    use crate::graph::NodeType;

    fn graph() -> Graph {
        Graph::of(&HerbCatalog::read().unwrap())
    }

    fn question(graph: &Graph, start: (NodeType, &str), pattern: &str, max_depth: u8) -> PathQuery {
        PathQuery {
            start: graph.find(start.0, start.1).unwrap(),
            end: None,
            pattern: Pattern::parse(pattern).unwrap(),
            filter: Filter::default(),
            max_depth,
            offset: 0,
            limit: 10_000,
        }
    }

    /// Enumerates all simple paths by brute force.
    fn every_path(graph: &Graph, start: NodeIndex, depth: u8) -> Vec<(Vec<NodeIndex>, Vec<u32>)> {
        let mut all = Vec::new();
        let mut open = vec![(vec![start], Vec::new())];
        while let Some((nodes, edges)) = open.pop() {
            if edges.len() == usize::from(depth) {
                continue;
            }
            for (number, edge) in (0_u32..).zip(graph.edges()) {
                let here = *nodes.last().unwrap();
                for (near, far) in [(edge.from, edge.to), (edge.to, edge.from)] {
                    if near == here && !nodes.contains(&far) {
                        let (mut nodes, mut edges) = (nodes.clone(), edges.clone());
                        nodes.push(far);
                        edges.push(number);
                        all.push((nodes.clone(), edges.clone()));
                        open.push((nodes, edges));
                    }
                }
            }
        }
        all
    }

    #[test]
    fn walk_without_a_pattern_returns_exactly_the_simple_paths() {
        let graph = graph();
        let asked = question(&graph, (NodeType::Constituent, "C:andrographolide"), "", 2);
        let found = graph.walk(&asked);
        assert!(!found.more);
        let mut ours: Vec<Vec<u32>> =
            found.paths.iter().map(|path| path.hops.iter().map(|hop| hop.0).collect()).collect();
        let mut all: Vec<Vec<u32>> =
            every_path(&graph, asked.start, 2).into_iter().map(|(_, edges)| edges).collect();
        ours.sort();
        all.sort();
        assert!(all.len() > 20, "too few paths to prove anything: {}", all.len());
        assert_eq!(ours, all);
    }

    #[test]
    fn paths_are_ordered_by_score_then_by_nodes() {
        let graph = graph();
        let found = graph.walk(&question(&graph, (NodeType::Herb, "H:turmeric"), "", 2));
        let key = |path: &Path| {
            let nodes: Vec<NodeIndex> = path.hops.iter().map(|hop| hop.1).collect();
            (format!("{:.9}", path.score), nodes)
        };
        for pair in found.paths.windows(2) {
            let ((first, first_nodes), (second, second_nodes)) = (key(&pair[0]), key(&pair[1]));
            assert!(first > second || (first == second && first_nodes <= second_nodes), "{pair:?}");
        }
    }

    #[test]
    fn end_node_selects_exactly_the_paths_that_lead_to_it() {
        let graph = graph();
        let asked = question(&graph, (NodeType::Constituent, "C:andrographolide"), "", 3);
        let end = graph.find(NodeType::Drug, "warfarin").unwrap();
        let found = graph.walk(&PathQuery { end: Some(end), ..asked.clone() });
        assert!(!found.more);
        let mut ours: Vec<Vec<u32>> =
            found.paths.iter().map(|path| path.hops.iter().map(|hop| hop.0).collect()).collect();
        let leads_there = |(nodes, _): &(Vec<NodeIndex>, Vec<u32>)| nodes.last() == Some(&end);
        let all = every_path(&graph, asked.start, 3).into_iter().filter(leads_there);
        let mut all: Vec<Vec<u32>> = all.map(|(_, edges)| edges).collect();
        ours.sort();
        all.sort();
        assert!(!all.is_empty(), "no path leads to warfarin");
        assert_eq!(ours, all);
    }

    #[test]
    fn offset_and_limit_return_a_slice_of_all_paths() {
        let graph = graph();
        let asked = question(&graph, (NodeType::Herb, "H:ginger"), "herb--*{1,3}", 3);
        let whole = graph.walk(&PathQuery { limit: 300, ..asked.clone() });
        assert!(whole.more, "there should be more than 300");
        let page = graph.walk(&PathQuery { offset: 100, limit: 50, ..asked });
        assert_eq!(page.paths, whole.paths[100..150]);
    }

    #[test]
    fn pattern_constrains_direction_and_relations() {
        let graph = graph();
        let types = |path: &Path| -> Vec<NodeType> {
            path.hops.iter().map(|hop| graph.node(hop.1).unwrap().node_type).collect()
        };
        let cases = [
            (
                (NodeType::Herb, "H:turmeric"),
                "herb->constituent->indication",
                vec![NodeType::Constituent, NodeType::Indication],
            ),
            (
                (NodeType::Indication, "K30"),
                "indication<-formulation->herb",
                vec![NodeType::Formulation, NodeType::Herb],
            ),
            ((NodeType::Drug, "warfarin"), "drug<-[INTERACTS_WITH]-herb", vec![NodeType::Herb]),
        ];
        for (start, pattern, expected) in cases {
            let found = graph.walk(&question(&graph, start, pattern, 3));
            assert!(!found.paths.is_empty(), "{pattern}");
            for path in &found.paths {
                assert_eq!(types(path), expected, "{pattern}");
            }
        }
    }

    #[test]
    fn hops_after_an_arrow_traverse_nodes_of_any_type() {
        let graph = graph();
        let start = (NodeType::Formulation, "F:nlem-25");
        let found = graph.walk(&question(&graph, start, "formulation->{1,3}indication", 3));
        let lengths: HashSet<usize> = found.paths.iter().map(|path| path.hops.len()).collect();
        assert!(lengths.contains(&1) && lengths.contains(&2), "{lengths:?}");
        let exactly_two = graph.walk(&question(&graph, start, "formulation->{2}indication", 3));
        assert!(exactly_two.paths.iter().all(|path| path.hops.len() == 2));
        assert!(!exactly_two.paths.is_empty());
    }

    #[test]
    fn deepest_walk_from_the_busiest_node_terminates() {
        let graph = graph();
        let busiest = graph.nodes().max_by_key(|(at, _)| graph.steps[at.index()].len()).unwrap().1;
        let start = (busiest.node_type, busiest.id.as_str());
        let asked = question(&graph, start, "*--*--*--*--*--*--*", 6);
        let found = graph.walk(&PathQuery { limit: 200, ..asked });
        assert_eq!(found.paths.len(), 200);
        assert!(found.more);
    }

    #[test]
    fn verified_only_paths_contain_no_inference() {
        let graph = graph();
        let start = (NodeType::Herb, "H:turmeric");
        let mut asked = question(&graph, start, "herb->constituent->indication", 3);
        let all = graph.walk(&asked).paths;
        asked.filter.verified_only = true;
        let verified = graph.walk(&asked).paths;
        assert!(verified.len() < all.len());
        for (number, _) in verified.iter().flat_map(|path| &path.hops) {
            assert!(graph.edge(*number).unwrap().verified);
        }
    }
}
