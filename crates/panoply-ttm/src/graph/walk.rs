//! Finds the best paths from a start.
//!
//! A path's score is the product of its edges' weights ([`Edge::weight`](super::Edge::weight)).
//! Paths come best first, equal ones in the order of their nodes (type, then id), and no node
//! twice in one. Weights are added up as whole millionths of their logarithm, so that equal
//! scores are equal and the order is the same on every machine.
//!
//! It is an A* search. Walking the pattern backwards over the whole graph tells for each node
//! and state the most that can still be reached, so that only what leads somewhere is tried,
//! and the first paths found are the best there are.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};

use super::filter::{Allowed, Filter};
use super::pattern::{DEEPEST, Pattern, Way};
use super::{Edge, Graph, NodeAt, Set};

/// After so many looks at the heap the search gives up and says that there may be more.
pub const MOST_WORK: usize = 60_000;
/// The most nodes in a path.
const LONGEST: usize = DEEPEST as usize + 1;

/// What to look for.
#[derive(Clone, Debug)]
pub struct Question {
    /// From where.
    pub start: NodeAt,
    /// Along what.
    pub pattern: Pattern,
    /// Touching only this.
    pub filter: Filter,
    /// In at most so many hops.
    pub max_depth: u8,
    /// Skip the best so many paths.
    pub offset: usize,
    /// And give at most so many.
    pub limit: usize,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The paths, best first.
    pub paths: Vec<Path>,
    /// Whether there are more, or may be.
    pub more: bool,
    /// Whether the search was given up because there is too much to look at.
    pub gave_up: bool,
}

/// A walk over the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Where it starts.
    pub start: NodeAt,
    /// Each edge, by its number, and where it leads.
    pub hops: Vec<(u32, NodeAt)>,
    /// The product of its edges' weights.
    pub score: f64,
}

impl Graph {
    /// The edge of this number.
    pub fn edge(&self, number: u32) -> Option<&Edge> {
        usize::try_from(number).ok().and_then(|number| self.edges.get(number))
    }

    /// The best paths.
    pub fn walk(&self, question: &Question) -> Found {
        let search = Search {
            graph: self,
            machine: Machine::of(&question.pattern, question.max_depth),
            allowed: question.filter.over(self, question.start),
            filter: &question.filter,
            max_depth: question.max_depth,
        };
        let ahead = search.ahead();
        search.run(question, &ahead)
    }
}

/// A pattern as states and the steps between them. Every step leads to a later state.
struct Machine {
    links: Vec<Link>,
    accepts: Vec<bool>,
}

struct Link {
    from: usize,
    to: usize,
    way: Way,
    relations: Set,
    types: Set,
}

impl Machine {
    fn of(pattern: &Pattern, max_depth: u8) -> Self {
        let mut machine = Self { links: Vec::new(), accepts: vec![false] };
        if pattern.steps.is_empty() {
            for from in 0..usize::from(max_depth) {
                let to = machine.state();
                machine.link(from, to, Way::Either, Set::ALL, Set::ALL);
            }
            machine.accepts.iter_mut().skip(1).for_each(|accepts| *accepts = true);
            return machine;
        }
        // Where the last step may have ended. A step of several lengths joins them in one state,
        // which therefore comes after all states in between.
        let mut here = 0;
        for step in &pattern.steps {
            let most = step.most.min(max_depth);
            let mut between = vec![here];
            for _ in 1..most {
                let from = between.last().copied().unwrap_or(here);
                let to = machine.state();
                machine.link(from, to, step.way, step.relations, step.between);
                between.push(to);
            }
            let end = machine.state();
            for from in between.iter().skip(usize::from(step.least) - 1) {
                machine.link(*from, end, step.way, step.relations, step.to);
            }
            here = end;
        }
        if let Some(last) = machine.accepts.get_mut(here) {
            *last = true;
        }
        machine
    }

    fn state(&mut self) -> usize {
        self.accepts.push(false);
        self.accepts.len() - 1
    }

    fn link(&mut self, from: usize, to: usize, way: Way, relations: Set, types: Set) {
        self.links.push(Link { from, to, way, relations, types });
    }

    fn accepts(&self, state: usize) -> bool {
        self.accepts.get(state).copied().unwrap_or(false)
    }
}

/// The logarithm of a weight in whole millionths, without its sign. The smaller, the better.
type Cost = u32;
/// No way leads on.
const NEVER: Cost = Cost::MAX;

fn cost_of(edge: &Edge) -> Cost {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "weights lie between 0.2 and 1, so this lies between 0 and two million"
    )]
    let cost = edge.factors().map(|factor| (-factor.ln() * 1e6).round() as Cost);
    cost.iter().sum()
}

/// For each state and node the least that it costs to get to an end with at least one more hop.
struct Ahead {
    nodes: usize,
    costs: Vec<Cost>,
}

impl Ahead {
    fn at(&self, state: usize, node: NodeAt) -> Cost {
        self.costs.get(state * self.nodes + node.index()).copied().unwrap_or(NEVER)
    }

    fn improve(&mut self, state: usize, node: NodeAt, cost: Cost) {
        if let Some(known) = self.costs.get_mut(state * self.nodes + node.index()) {
            *known = cost.min(*known);
        }
    }
}

struct Search<'a> {
    graph: &'a Graph,
    machine: Machine,
    allowed: Allowed,
    filter: &'a Filter,
    max_depth: u8,
}

impl Search<'_> {
    fn ends_at(&self, state: usize, node: NodeAt) -> bool {
        self.machine.accepts(state)
            && self.graph.node(node).is_some_and(|node| self.filter.ends_in(node.node_type))
    }

    fn ahead(&self) -> Ahead {
        let nodes = self.graph.nodes.len();
        let costs = vec![NEVER; nodes * self.machine.accepts.len()];
        let mut ahead = Ahead { nodes, costs };
        // Links lead to later states, so from the back every target is ready.
        let mut links: Vec<&Link> = self.machine.links.iter().collect();
        links.sort_by_key(|link| std::cmp::Reverse(link.from));
        for link in links {
            for (at, _) in self.graph.nodes() {
                let mut best = NEVER;
                for (step, edge) in self.steps(at, link) {
                    let rest =
                        if self.ends_at(link.to, step.to) { 0 } else { ahead.at(link.to, step.to) };
                    best = best.min(cost_of(edge).saturating_add(rest));
                }
                ahead.improve(link.from, at, best);
            }
        }
        ahead
    }

    /// The steps from a node that a link allows.
    fn steps<'s>(
        &'s self,
        at: NodeAt,
        link: &'s Link,
    ) -> impl Iterator<Item = (&'s super::Step, &'s Edge)> {
        let steps = self.graph.steps.get(at.index()).map_or(&[][..], Vec::as_slice);
        steps.iter().filter_map(move |step| {
            let edge = self.graph.edge(step.edge)?;
            let node_type = self.graph.node(step.to)?.node_type;
            let fits = link.way.allows(step.forward)
                && link.relations.has_relation(edge.relation)
                && link.types.has_type(node_type)
                && self.allowed.step(step.edge, step.to);
            fits.then_some((step, edge))
        })
    }

    fn run(&self, question: &Question, ahead: &Ahead) -> Found {
        let mut heap = BinaryHeap::new();
        let mut seen = HashSet::new();
        let mut found = Found::default();
        let mut skipped = 0;
        heap.push(Trail::start(question.start, ahead.at(0, question.start)));
        for work in 0.. {
            let Some(trail) = heap.pop().filter(|trail| trail.least < NEVER) else { break };
            if work > MOST_WORK {
                found.more = true;
                found.gave_up = true;
                break;
            }
            if !trail.done {
                self.extend(&trail, ahead, &mut heap);
                continue;
            }
            if !seen.insert(trail.edges) {
                continue;
            }
            if skipped < question.offset {
                skipped += 1;
            } else if found.paths.len() == question.limit {
                found.more = true;
                break;
            } else {
                found.paths.push(self.path(&trail));
            }
        }
        found
    }

    fn extend(&self, trail: &Trail, ahead: &Ahead, heap: &mut BinaryHeap<Trail>) {
        if trail.hops >= usize::from(self.max_depth) {
            return;
        }
        for link in self.machine.links.iter().filter(|link| link.from == trail.state) {
            for (step, edge) in self.steps(trail.last(), link) {
                if trail.visits(step.to) {
                    continue;
                }
                let spent = trail.spent + cost_of(edge);
                let longer = trail.with(step.edge, step.to, link.to, spent);
                if self.ends_at(link.to, step.to) {
                    heap.push(Trail { least: spent, done: true, ..longer });
                }
                let rest = ahead.at(link.to, step.to);
                if rest < NEVER {
                    heap.push(Trail { least: spent.saturating_add(rest), ..longer });
                }
            }
        }
    }

    fn path(&self, trail: &Trail) -> Path {
        let edges = trail.edges.iter().copied();
        let hops: Vec<(u32, NodeAt)> =
            edges.zip(trail.nodes.iter().skip(1).copied()).take(trail.hops).collect();
        let weights = hops.iter().filter_map(|(edge, _)| self.graph.edge(*edge)).map(Edge::weight);
        let start = trail.nodes.first().copied().unwrap_or(NodeAt(0));
        Path { start, score: weights.product(), hops }
    }
}

/// A path that may go on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Trail {
    /// What any end of it costs at least.
    least: Cost,
    nodes: [NodeAt; LONGEST],
    edges: [u32; LONGEST - 1],
    hops: usize,
    spent: Cost,
    state: usize,
    /// Whether it ends here.
    done: bool,
}

/// Stands where a trail has no edge.
const NO_EDGE: u32 = u32::MAX;

impl Trail {
    const fn start(at: NodeAt, least: Cost) -> Self {
        Self {
            least,
            nodes: [at; LONGEST],
            edges: [NO_EDGE; LONGEST - 1],
            hops: 0,
            spent: 0,
            state: 0,
            done: false,
        }
    }

    fn visited(&self) -> &[NodeAt] {
        self.nodes.get(..=self.hops).unwrap_or_default()
    }

    fn last(&self) -> NodeAt {
        self.visited().last().copied().unwrap_or(NodeAt(0))
    }

    fn visits(&self, node: NodeAt) -> bool {
        self.visited().contains(&node)
    }

    fn with(&self, edge: u32, to: NodeAt, state: usize, spent: Cost) -> Self {
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

impl Ord for Trail {
    /// The heap gives the greatest first: the one that costs least, and of equals the one whose
    /// nodes come first.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_nodes = |trail: &Self, other: &Self| trail.visited().cmp(other.visited());
        other
            .least
            .cmp(&self.least)
            .then_with(|| by_nodes(other, self))
            .then_with(|| other.edges.cmp(&self.edges))
            .then_with(|| other.state.cmp(&self.state))
            .then_with(|| other.done.cmp(&self.done))
    }
}

impl PartialOrd for Trail {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::NodeType;
    use crate::library::Library;

    fn graph() -> Graph {
        Graph::of(&Library::read().unwrap())
    }

    fn question(graph: &Graph, start: (NodeType, &str), pattern: &str, max_depth: u8) -> Question {
        Question {
            start: graph.find(start.0, start.1).unwrap(),
            pattern: Pattern::parse(pattern).unwrap(),
            filter: Filter::default(),
            max_depth,
            offset: 0,
            limit: 10_000,
        }
    }

    /// All simple paths by brute force, for the pattern "anything".
    fn every_path(graph: &Graph, start: NodeAt, depth: u8) -> Vec<(Vec<NodeAt>, Vec<u32>)> {
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
    fn without_a_pattern_all_simple_paths_come_and_no_other() {
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
    fn paths_come_best_first_and_equal_ones_in_the_order_of_their_nodes() {
        let graph = graph();
        let found = graph.walk(&question(&graph, (NodeType::Herb, "H:turmeric"), "", 2));
        let key = |path: &Path| {
            let nodes: Vec<NodeAt> = path.hops.iter().map(|hop| hop.1).collect();
            (format!("{:.9}", path.score), nodes)
        };
        for pair in found.paths.windows(2) {
            let ((first, first_nodes), (second, second_nodes)) = (key(&pair[0]), key(&pair[1]));
            assert!(first > second || (first == second && first_nodes <= second_nodes), "{pair:?}");
        }
    }

    #[test]
    fn a_page_is_a_piece_of_the_whole() {
        let graph = graph();
        let asked = question(&graph, (NodeType::Herb, "H:ginger"), "herb--*{1,3}", 3);
        let whole = graph.walk(&Question { limit: 300, ..asked.clone() });
        assert!(whole.more, "there should be more than 300");
        let page = graph.walk(&Question { offset: 100, limit: 50, ..asked });
        assert_eq!(page.paths, whole.paths[100..150]);
    }

    #[test]
    fn a_pattern_is_followed_in_its_direction_and_over_its_relations() {
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
    fn hops_after_an_arrow_go_over_anything() {
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
    fn the_deepest_walk_from_the_busiest_node_ends() {
        let graph = graph();
        let busiest = graph.nodes().max_by_key(|(at, _)| graph.steps[at.index()].len()).unwrap().1;
        let start = (busiest.node_type, busiest.id.as_str());
        let asked = question(&graph, start, "*--*--*--*--*--*--*", 6);
        let found = graph.walk(&Question { limit: 200, ..asked });
        assert_eq!(found.paths.len(), 200);
        assert!(found.more);
    }

    #[test]
    fn only_verified_paths_have_no_inference() {
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
