//! Parser of path patterns such as `herb->constituent->indication`.
//!
//! ```text
//! pattern = node (arrow node)*
//! node    = herb | constituent | indication | formulation | paper | caution | drug | *   [hops]
//! arrow   = ->  →  (along the edge)   <-  ←  (against it)   --  (either way)
//!           with the relation inside or after it: -[INDICATED_FOR]->  ->[CONTAINS|CAUTION]
//! hops    = {n}  {n,m}
//! ```
//!
//! Hops after an arrow traverse nodes of any type and end at the named node:
//! `formulation->{1,2}indication`. Hops after a node repeat that step: `herb--*{1,3}`.

use super::{BitSet, Graph, NodeType, Relation};

/// Maximum length of a pattern in characters.
pub const MAX_LENGTH: usize = 500;
/// Maximum length of a path in hops.
pub const MAX_DEPTH: u8 = 6;

/// A path pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// Allowed types of the start node.
    pub first: BitSet,
    /// Steps; empty matches any path.
    pub steps: Vec<Step>,
}

/// An arrow and its target node.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Traversal direction.
    pub direction: Direction,
    /// Allowed relations.
    pub relations: BitSet,
    /// Minimum number of hops.
    pub least: u8,
    /// Maximum number of hops.
    pub most: u8,
    /// Allowed types of intermediate nodes.
    pub between: BitSet,
    /// Allowed types of the target node.
    pub to: BitSet,
}

/// Traversal direction of an edge.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Direction {
    /// From source to target.
    Along,
    /// From target to source.
    Against,
    /// Both directions.
    Either,
}

impl Direction {
    /// Returns whether a `forward` or backward traversal is allowed.
    pub(super) const fn allows(self, forward: bool) -> bool {
        match self {
            Self::Along => forward,
            Self::Against => !forward,
            Self::Either => true,
        }
    }
}

/// An invalid pattern.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BadPattern {
    /// Too long.
    #[error("the pattern has {0} characters; the maximum is {MAX_LENGTH}")]
    TooLong(usize),
    /// Syntax error.
    #[error("at character {at} of the pattern: expected {expected}, found {found}")]
    Unexpected {
        /// Position in characters, from 1.
        at: usize,
        /// Expected input.
        expected: String,
        /// Actual input.
        found: String,
    },
    /// More hops than allowed.
    #[error("the pattern needs at least {needs} hops, but `max_depth` is {max_depth}")]
    TooDeep {
        /// Minimum number of hops of the pattern.
        needs: u32,
        /// Limit.
        max_depth: u8,
    },
    /// The graph has no such edge.
    #[error("no edge runs `{from}{arrow}{to}`; {hint}")]
    NoSuchEdge {
        /// Source type.
        from: String,
        /// Arrow.
        arrow: String,
        /// Target type.
        to: String,
        /// Suggested correction.
        hint: String,
    },
}

impl Pattern {
    /// Matches any path up to `max_depth` hops.
    pub fn anything() -> Self {
        Self { first: BitSet::ALL, steps: Vec::new() }
    }

    /// Parses a pattern; a blank one is [`Pattern::anything`].
    pub fn parse(text: &str) -> Result<Self, BadPattern> {
        let length = text.chars().count();
        if length > MAX_LENGTH {
            return Err(BadPattern::TooLong(length));
        }
        let mut reader = PatternParser { letters: text.chars().collect(), at: 0 };
        reader.blanks();
        if reader.peek().is_none() {
            return Ok(Self::anything());
        }
        let first = reader.node()?;
        let mut steps = Vec::new();
        reader.blanks();
        while reader.peek().is_some() {
            steps.push(reader.step()?);
            reader.blanks();
        }
        Ok(Self { first, steps })
    }

    /// Returns whether a path may start at this node type.
    pub const fn starts_with(&self, node_type: NodeType) -> bool {
        self.first.has_type(node_type)
    }

    /// Returns the minimum number of hops.
    pub fn least_hops(&self) -> u32 {
        self.steps.iter().map(|step| u32::from(step.least)).sum()
    }

    /// Checks that the graph has an edge for every single-hop step and that the depth suffices.
    pub fn check(&self, graph: &Graph, max_depth: u8) -> Result<(), BadPattern> {
        if self.least_hops() > u32::from(max_depth) {
            return Err(BadPattern::TooDeep { needs: self.least_hops(), max_depth });
        }
        let mut from = self.first;
        for step in &self.steps {
            let longer = step.most > 1 && step.between == BitSet::ALL;
            if !longer && !graph.has_edge(from, step, step.direction) {
                return Err(graph.no_such_edge(from, step));
            }
            from = step.to;
        }
        Ok(())
    }
}

impl Graph {
    fn has_edge(&self, from: BitSet, step: &Step, direction: Direction) -> bool {
        self.edges.iter().any(|edge| {
            let type_of = |at| self.node(at).map(|node| node.node_type);
            let (Some(tail), Some(head)) = (type_of(edge.from), type_of(edge.to)) else {
                return false;
            };
            let along = from.has_type(tail) && step.to.has_type(head);
            let against = from.has_type(head) && step.to.has_type(tail);
            step.relations.has_relation(edge.relation)
                && ((along && direction.allows(true)) || (against && direction.allows(false)))
        })
    }

    fn no_such_edge(&self, from: BitSet, step: &Step) -> BadPattern {
        let (arrow, other) = match step.direction {
            Direction::Along => ("->", Some((Direction::Against, "<-"))),
            Direction::Against => ("<-", Some((Direction::Along, "->"))),
            Direction::Either => ("--", None),
        };
        let turned = other.filter(|(direction, _)| self.has_edge(from, step, *direction));
        let hint = match turned {
            Some((_, arrow)) => {
                format!("it points the other way: write `{}{arrow}{}`", names(from), names(step.to))
            }
            None => "omit the relation, put `*` between them, or use `--`".to_owned(),
        };
        BadPattern::NoSuchEdge {
            from: names(from),
            arrow: arrow.to_owned(),
            to: names(step.to),
            hint,
        }
    }
}

fn names(types: BitSet) -> String {
    if types == BitSet::ALL {
        return "*".to_owned();
    }
    let named = NodeType::ALL.into_iter().filter(|one| types.has_type(*one));
    named.map(NodeType::as_str).collect::<Vec<_>>().join("|")
}

/// Minimum and maximum number of hops.
type Hops = (u8, u8);

struct Arrow {
    direction: Direction,
    relations: BitSet,
    hops: Option<Hops>,
}

struct PatternParser {
    letters: Vec<char>,
    at: usize,
}

impl PatternParser {
    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    /// Consumes `text` if the input continues with it.
    fn take(&mut self, text: &str) -> bool {
        let here = self.letters.get(self.at..).unwrap_or_default();
        let stands = text.chars().count() <= here.len()
            && text.chars().zip(here).all(|(wanted, seen)| wanted == *seen);
        if stands {
            self.at += text.chars().count();
        }
        stands
    }

    fn word(&mut self) -> String {
        let from = self.at;
        while self.peek().is_some_and(|letter| letter.is_alphanumeric() || letter == '_') {
            self.at += 1;
        }
        self.letters.get(from..self.at).unwrap_or_default().iter().collect()
    }

    fn unexpected(&self, at: usize, expected: impl Into<String>) -> BadPattern {
        let rest: String = self.letters.iter().skip(at).take(12).collect();
        let found = if rest.is_empty() { "the end".to_owned() } else { format!("`{rest}`") };
        BadPattern::Unexpected { at: at + 1, expected: expected.into(), found }
    }

    fn node(&mut self) -> Result<BitSet, BadPattern> {
        self.blanks();
        if self.take("*") {
            return Ok(BitSet::ALL);
        }
        let at = self.at;
        let word = self.word();
        NodeType::parse(&word).map(BitSet::of_type).ok_or_else(|| {
            let types: Vec<&str> = NodeType::ALL.into_iter().map(NodeType::as_str).collect();
            self.unexpected(at, format!("{} or `*`", types.join(", ")))
        })
    }

    fn step(&mut self) -> Result<Step, BadPattern> {
        let Arrow { direction, relations, hops: arrow_hops } = self.arrow()?;
        let to = self.node()?;
        let node_hops = self.hops()?;
        let ((least, most), between) = match (arrow_hops, node_hops) {
            (Some(hops), None) => (hops, BitSet::ALL),
            (None, Some(hops)) => (hops, to),
            (None, None) => ((1, 1), to),
            (Some(_), Some(_)) => {
                return Err(self.unexpected(self.at, "hops after the arrow or the node, not both"));
            }
        };
        Ok(Step { direction, relations, least, most, between, to })
    }

    fn arrow(&mut self) -> Result<Arrow, BadPattern> {
        self.blanks();
        let from = self.at;
        let mut relations = self.relations()?;
        self.blanks();
        let whole = [
            ("->", Direction::Along),
            ("→", Direction::Along),
            ("<-[", Direction::Against),
            ("<-", Direction::Against),
            ("←", Direction::Against),
            ("--", Direction::Either),
            ("-", Direction::Either),
        ];
        let Some((arrow, mut direction)) = whole.into_iter().find(|(arrow, _)| self.take(arrow))
        else {
            return Err(self.unexpected(from, "an arrow: `->`, `<-` or `--`"));
        };
        let opened = arrow == "<-[";
        if opened {
            self.at -= 1;
        }
        let mut hops = self.hops()?;
        if relations.is_none() {
            relations = self.relations()?;
        }
        if hops.is_none() {
            hops = self.hops()?;
        }
        // `-[REL]->` and `<-[REL]-` need their closing half.
        if arrow == "-" {
            if self.take("->") {
                direction = Direction::Along;
            } else if !self.take("-") {
                return Err(self.unexpected(self.at, "`->` or `-`"));
            }
        } else if opened {
            // `<-[REL]herb` is accepted for `<-[REL]-herb`.
            self.take("-");
        }
        if hops.is_none() {
            hops = self.hops()?;
        }
        Ok(Arrow { direction, relations: relations.unwrap_or(BitSet::ALL), hops })
    }

    fn relations(&mut self) -> Result<Option<BitSet>, BadPattern> {
        self.blanks();
        if !self.take("[") {
            return Ok(None);
        }
        let mut found: Option<BitSet> = None;
        loop {
            self.blanks();
            self.take(":");
            let at = self.at;
            let one = if self.take("*") {
                BitSet::ALL
            } else {
                let word = self.word();
                let known = Relation::parse(&word).map(BitSet::of_relation);
                known.ok_or_else(|| {
                    let all: Vec<&str> = Relation::ALL.into_iter().map(Relation::as_str).collect();
                    self.unexpected(at, format!("a relation ({})", all.join(", ")))
                })?
            };
            found = Some(found.map_or(one, |found| found.and(one)));
            self.blanks();
            if self.take("]") {
                return Ok(found);
            }
            if !self.take("|") {
                return Err(self.unexpected(self.at, "`|` or `]`"));
            }
        }
    }

    fn hops(&mut self) -> Result<Option<Hops>, BadPattern> {
        self.blanks();
        if !self.take("{") {
            return Ok(None);
        }
        let at = self.at;
        let least = self.number();
        self.blanks();
        let most = if self.take(",") { self.number() } else { least };
        self.blanks();
        match (least, most, self.take("}")) {
            (Some(least), Some(most), true) if least <= most => Ok(Some((least, most))),
            _ => Err(self.unexpected(at, format!("hops from 1 to {MAX_DEPTH}, as `{{1,3}}`"))),
        }
    }

    fn number(&mut self) -> Option<u8> {
        self.blanks();
        self.word().parse().ok().filter(|hops| (1..=MAX_DEPTH).contains(hops))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::catalog::HerbCatalog;

    fn step(direction: Direction, to: NodeType) -> Step {
        let to = BitSet::of_type(to);
        Step { direction, relations: BitSet::ALL, least: 1, most: 1, between: to, to }
    }

    #[test]
    fn contract_patterns_are_parsed() {
        let chain = Pattern {
            first: BitSet::of_type(NodeType::Herb),
            steps: vec![
                step(Direction::Along, NodeType::Constituent),
                step(Direction::Along, NodeType::Indication),
            ],
        };
        for text in [
            "herb->constituent->indication",
            "Herb→Constituent→Indication",
            "  herb -> constituent  ->indication ",
        ] {
            assert_eq!(Pattern::parse(text), Ok(chain.clone()), "{text}");
        }
    }

    #[test]
    fn arrow_relation_and_hop_syntax_variants_are_equivalent() {
        let contains = BitSet::of_relation(Relation::Contains);
        let herb = NodeType::Herb;
        let cases = [
            ("*<-herb", step(Direction::Against, herb)),
            ("*←herb", step(Direction::Against, herb)),
            ("*--herb", step(Direction::Either, herb)),
            ("*-[CONTAINS]->herb", Step { relations: contains, ..step(Direction::Along, herb) }),
            ("*->[contains]herb", Step { relations: contains, ..step(Direction::Along, herb) }),
            ("*[CONTAINS]->herb", Step { relations: contains, ..step(Direction::Along, herb) }),
            ("*<-[CONTAINS]-herb", Step { relations: contains, ..step(Direction::Against, herb) }),
            ("*-[CONTAINS]-herb", Step { relations: contains, ..step(Direction::Either, herb) }),
            (
                "*-[CONTAINS|CAUTION]->herb",
                Step {
                    relations: contains.and(BitSet::of_relation(Relation::Caution)),
                    ..step(Direction::Along, herb)
                },
            ),
            (
                "*->{1,3}herb",
                Step { least: 1, most: 3, between: BitSet::ALL, ..step(Direction::Along, herb) },
            ),
            ("*--herb{2}", Step { least: 2, most: 2, ..step(Direction::Either, herb) }),
        ];
        for (text, expected) in cases {
            let parsed = Pattern::parse(text).map(|pattern| pattern.steps);
            assert_eq!(parsed, Ok(vec![expected]), "{text}");
        }
    }

    #[test]
    fn pattern_error_reports_its_position() {
        let cases = [
            (
                "herb->flower",
                "at character 7 of the pattern: expected herb, constituent, indication, formulation, paper, caution, drug or `*`, found `flower`",
            ),
            (
                "herb constituent",
                "at character 6 of the pattern: expected an arrow: `->`, `<-` or `--`, found `constituent`",
            ),
            (
                "herb->",
                "at character 7 of the pattern: expected herb, constituent, indication, formulation, paper, caution, drug or `*`, found the end",
            ),
            (
                "herb->{0,3}*",
                "at character 8 of the pattern: expected hops from 1 to 6, as `{1,3}`, found `0,3}*`",
            ),
            (
                "herb->{3,1}*",
                "at character 8 of the pattern: expected hops from 1 to 6, as `{1,3}`, found `3,1}*`",
            ),
            (
                "🌿->herb",
                "at character 1 of the pattern: expected herb, constituent, indication, formulation, paper, caution, drug or `*`, found `🌿->herb`",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(Pattern::parse(text).unwrap_err().to_string(), expected, "{text}");
        }
        assert!(Pattern::parse("herb-[EATS]->*").unwrap_err().to_string().contains("a relation ("));
        let long = "herb->".repeat(2_000);
        assert_eq!(Pattern::parse(&long), Err(BadPattern::TooLong(12_000)));
    }

    #[test]
    fn reversed_arrow_error_suggests_the_correct_direction() {
        let graph = Graph::of(&HerbCatalog::read().unwrap());
        let checked = |text: &str, depth| {
            Pattern::parse(text).unwrap().check(&graph, depth).map_err(|bad| bad.to_string())
        };
        assert_eq!(checked("indication<-herb", 3), Ok(()));
        assert_eq!(
            checked("indication->herb", 3),
            Err("no edge runs `indication->herb`; it points the other way: write `indication<-herb`"
                .to_owned())
        );
        assert_eq!(
            checked("herb->{2,3}paper->indication", 2),
            Err("the pattern needs at least 3 hops, but `max_depth` is 2".to_owned())
        );
    }

    proptest! {
        #[test]
        fn parsing_arbitrary_patterns_never_panics(text in "[-<>→←*{}\\[\\]a-z0-9,| 🌿ก]{0,60}") {
            let _ = Pattern::parse(&text);
        }
    }
}
