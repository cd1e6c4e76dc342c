//! Which events a question has to look at, by the indexes of the sealed run.
//!
//! Every event that satisfies the filter is a candidate. A conjunction is narrowed by the bitmaps of
//! types, severities and categories, by the dictionaries of securities, orders, positions and
//! indicators, and by the extremes of each block of a numeric column; the range of time is a range of
//! sequence numbers. What no index decides is left to the filter.

use std::ops::Range;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::events_query::EventQuery;
use super::expression::{Comparison, Expression, Literal, Operand};
use super::reader::SealedRun;
use super::selection::{Entity, Filter};
use crate::error::LogError;
use crate::event::{Category, Severity};
use crate::sealed::column::{COLUMN_BLOCK, Stats};
use crate::sealed::head::Attribute;

/// A set with fewer events than this part of the type is walked by itself.
const SPARSE: u64 = 32;

/// The events to look at.
pub(super) struct Candidates {
    /// Number of events of the type in the range.
    pub(super) examined: u64,
    types: Arc<RoaringBitmap>,
    /// Ascending ranges of ranks within the type.
    ranks: Vec<Range<u32>>,
    /// Only these events, if an index has them.
    set: Option<RoaringBitmap>,
}

impl Candidates {
    /// Ranks within the type and sequence numbers, ascending.
    pub(super) fn iter(&self) -> Box<dyn Iterator<Item = (u32, u32)> + '_> {
        let is_sparse = self.set.as_ref().is_some_and(|set| set.len() * SPARSE < self.types.len());
        let all = self.ranks.iter().filter_map(move |ranks| {
            let first = self.types.select(ranks.start)?;
            let last = self.types.select(ranks.end.checked_sub(1)?)?;
            Some((ranks.clone(), first..=last))
        });
        match &self.set {
            Some(set) if is_sparse => Box::new(all.flat_map(move |(_, seqs)| {
                set.range(seqs).map(|seq| (rank(&self.types, seq), seq))
            })),
            Some(set) => Box::new(
                all.flat_map(move |(ranks, seqs)| ranks.zip(self.types.range(seqs)))
                    .filter(|(_, seq)| set.contains(*seq)),
            ),
            None => Box::new(all.flat_map(move |(ranks, seqs)| ranks.zip(self.types.range(seqs)))),
        }
    }
}

/// Number of elements below `seq`.
fn rank(set: &RoaringBitmap, seq: u32) -> u32 {
    let below = seq.checked_sub(1).map_or(0, |last| set.rank(last));
    u32::try_from(below).unwrap_or(u32::MAX)
}

impl SealedRun {
    /// The candidates of a question.
    pub(super) fn candidates(&self, query: &EventQuery) -> Result<Candidates, LogError> {
        let types = self.bitmap(Attribute::Type(query.event_type))?;
        let bounds = rank(&types, query.range.start)..rank(&types, query.range.end);
        let examined = u64::from(bounds.end.saturating_sub(bounds.start));
        let mut ranks = vec![bounds];
        let mut set: Option<RoaringBitmap> = None;
        for term in query.filter.iter().flat_map(conjuncts) {
            if let Some(own) = self.indexed(query, term)? {
                set = Some(match set {
                    None => &*types & &own,
                    Some(known) => known & &own,
                });
            } else if let Some(own) = self.blocks_that_may_match(query, term)? {
                ranks = intersection(&ranks, &own);
            }
        }
        ranks.retain(|range| !range.is_empty());
        Ok(Candidates { examined, types, ranks, set })
    }

    /// The events of all types that an index has for a term; `None` if no index decides it.
    fn indexed(
        &self,
        query: &EventQuery,
        term: &Expression,
    ) -> Result<Option<RoaringBitmap>, LogError> {
        let Some((operand, texts)) = wanted_texts(term) else { return Ok(None) };
        let mut all = RoaringBitmap::new();
        for text in texts {
            let filter = match operand {
                Operand::Severity => {
                    let Some(severity) = Severity::parse(text) else { continue };
                    Filter { severity: Some(severity), ..Filter::default() }
                }
                Operand::Category => {
                    let Some(category) = Category::parse(text) else { continue };
                    Filter { category: Some(category), ..Filter::default() }
                }
                Operand::Path(path) if query.joins.iter().all(|join| join.name != *path) => {
                    let entity = match path.as_str() {
                        "SecuritySymbol" => Entity::Symbol,
                        "OrderId" => Entity::Order,
                        "PositionId" => Entity::Position,
                        "IndicatorName" => Entity::Indicator,
                        _ => return Ok(None),
                    };
                    // A number compares with numeric texts, of which an index has only one form.
                    if Literal::Text(text.to_owned()).number().is_some() {
                        return Ok(None);
                    }
                    Filter { entity: Some((entity, text.to_owned())), ..Filter::default() }
                }
                _ => return Ok(None),
            };
            all.extend(self.select(&filter, query.range.clone())?.iter());
        }
        Ok(Some(all))
    }

    /// The ranks of the blocks of a numeric column that may have a value of the comparison; `None`
    /// if the property has other values than numbers.
    fn blocks_that_may_match(
        &self,
        query: &EventQuery,
        term: &Expression,
    ) -> Result<Option<Vec<Range<u32>>>, LogError> {
        let Some((path, comparison, bound)) = comparison_with_number(term) else { return Ok(None) };
        let is_joined = query.joins.iter().any(|join| join.name == path);
        let has_texts = self.text_column(query.event_type, path).is_some();
        if is_joined || has_texts || self.needs_event(query.event_type, path) {
            return Ok(None);
        }
        let Some(column) = self.column(query.event_type, path) else { return Ok(None) };
        let head = self.column_head(column)?;
        let mut ranks: Vec<Range<u32>> = Vec::new();
        for (number, stats) in (0u32..).zip(&head.stats) {
            if !may_match(stats, comparison, bound) {
                continue;
            }
            let first = number.saturating_mul(COLUMN_BLOCK);
            let Some(start) = head.presence.select(first) else { break };
            let last = head.presence.select(first.saturating_add(COLUMN_BLOCK - 1));
            let end = last.or_else(|| head.presence.max()).map_or(start, |last| last + 1);
            match ranks.last_mut() {
                Some(own) if own.end == start => own.end = end,
                _ => ranks.push(start..end),
            }
        }
        Ok(Some(ranks))
    }
}

/// The terms that must all hold.
fn conjuncts(filter: &Expression) -> Vec<&Expression> {
    match filter {
        Expression::And(terms) => terms.iter().flat_map(conjuncts).collect(),
        term => vec![term],
    }
}

/// The operand of a term, and the texts one of which it must equal.
fn wanted_texts(term: &Expression) -> Option<(&Operand, Vec<&str>)> {
    let text = |literal: &'_ Literal| matches!(literal, Literal::Text(_));
    match term {
        Expression::Compare(operand, Comparison::Equal, Operand::Literal(Literal::Text(text)))
        | Expression::Compare(Operand::Literal(Literal::Text(text)), Comparison::Equal, operand) => {
            Some((operand, vec![text.as_str()]))
        }
        Expression::In(operand, literals) if literals.iter().all(text) => {
            let texts = literals.iter().filter_map(|literal| match literal {
                Literal::Text(text) => Some(text.as_str()),
                Literal::Number(_) | Literal::Bool(_) => None,
            });
            Some((operand, texts.collect()))
        }
        _ => None,
    }
}

/// A comparison of a property with a number, with the property on the left.
fn comparison_with_number(term: &Expression) -> Option<(&str, Comparison, f64)> {
    let Expression::Compare(left, comparison, right) = term else { return None };
    match (left, right) {
        (Operand::Path(path), Operand::Literal(Literal::Number(bound))) => {
            Some((path, *comparison, bound.to_f64()))
        }
        (Operand::Literal(Literal::Number(bound)), Operand::Path(path)) => {
            let mirrored = match comparison {
                Comparison::Less => Comparison::Greater,
                Comparison::AtMost => Comparison::AtLeast,
                Comparison::Greater => Comparison::Less,
                Comparison::AtLeast => Comparison::AtMost,
                Comparison::Equal | Comparison::NotEqual => *comparison,
            };
            Some((path, mirrored, bound.to_f64()))
        }
        _ => None,
    }
}

/// Whether a value between the extremes may satisfy the comparison. Extremes and bound are rounded
/// to doubles: a value beyond the bound may round to it.
fn may_match(stats: &Stats, comparison: Comparison, bound: f64) -> bool {
    match comparison {
        Comparison::Equal => stats.min <= bound && bound <= stats.max,
        Comparison::NotEqual => true,
        Comparison::Less | Comparison::AtMost => stats.min <= bound,
        Comparison::Greater | Comparison::AtLeast => stats.max >= bound,
    }
}

/// The common parts of ascending ranges.
fn intersection(a: &[Range<u32>], b: &[Range<u32>]) -> Vec<Range<u32>> {
    let mut common = Vec::new();
    let (mut left, mut right) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(one), Some(other)) = (left.peek(), right.peek()) {
        let both = one.start.max(other.start)..one.end.min(other.end);
        if !both.is_empty() {
            common.push(both);
        }
        if one.end < other.end {
            left.next();
        } else {
            right.next();
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_parts_of_ranges() {
        let ranges = |ends: &[(u32, u32)]| -> Vec<Range<u32>> {
            ends.iter().map(|(start, end)| *start..*end).collect()
        };
        type Ends = &'static [(u32, u32)];
        let cases: [(Ends, Ends, Ends); 4] = [
            (&[(0, 10)], &[(2, 4), (6, 20)], &[(2, 4), (6, 10)]),
            (&[(0, 3), (5, 9)], &[(3, 5)], &[]),
            (&[(0, 3), (5, 9)], &[(1, 6), (6, 7), (8, 30)], &[(1, 3), (5, 6), (6, 7), (8, 9)]),
            (&[], &[(1, 2)], &[]),
        ];
        for (a, b, common) in cases {
            assert_eq!(intersection(&ranges(a), &ranges(b)), ranges(common));
            assert_eq!(intersection(&ranges(b), &ranges(a)), ranges(common));
        }
    }

    #[test]
    fn terms_of_a_conjunction_are_found_and_those_of_a_choice_are_not() {
        let parsed = |text: &str| Expression::parse(text).unwrap();
        let all = parsed("a = 'x' and (b > 1 and 2 >= c) and (d = 'y' or e = 'z')");
        let terms = conjuncts(&all);
        assert_eq!(terms.len(), 4);
        assert_eq!(wanted_texts(terms[0]).unwrap().1, ["x"]);
        assert_eq!(comparison_with_number(terms[1]), Some(("b", Comparison::Greater, 1.0)));
        assert_eq!(comparison_with_number(terms[2]), Some(("c", Comparison::AtMost, 2.0)));
        assert_eq!(wanted_texts(terms[3]), None);
        assert_eq!(wanted_texts(&parsed("a in ('x', 'y')")).unwrap().1, ["x", "y"]);
        assert_eq!(wanted_texts(&parsed("a in ('x', 1)")), None);
        assert_eq!(wanted_texts(&parsed("a != 'x'")), None);
    }
}
