//! Selections of events by bitmaps: counted and paged without reading an event.

use std::ops::Range;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::reader::SealedRun;
use crate::error::LogError;
use crate::event::{Category, EventType, Severity};
use crate::sealed::codec;
use crate::sealed::dictionary::Dictionary;
use crate::sealed::head::Attribute;
use crate::sealed::orders::canonical_order_id;
use crate::validate::ProblemSeverity;

/// The criteria of a selection; all must match.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Any of these types; all types when empty.
    pub types: Vec<EventType>,
    /// This severity.
    pub severity: Option<Severity>,
    /// This category.
    pub category: Option<Category>,
    /// This value of an entity.
    pub entity: Option<(Entity, String)>,
    /// A validation problem, of this severity or of any.
    pub problems: Option<Option<ProblemSeverity>>,
}

/// An indexed entity of events.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Entity {
    /// By `OrderId` or `ExternalOrderId`.
    Order,
    /// By `SecuritySymbol`.
    Symbol,
    /// By `PositionId`.
    Position,
    /// By `IndicatorName`.
    Indicator,
}

impl Entity {
    /// The property that names the entity.
    pub(crate) const fn property(self) -> &'static str {
        match self {
            Self::Order => "OrderId",
            Self::Symbol => "SecuritySymbol",
            Self::Position => "PositionId",
            Self::Indicator => "IndicatorName",
        }
    }

    pub(crate) const fn dictionary(self) -> Dictionary {
        match self {
            Self::Order => Dictionary::Order,
            Self::Symbol => Dictionary::Symbol,
            Self::Position => Dictionary::Position,
            Self::Indicator => Dictionary::Indicator,
        }
    }
}

/// A set of events in a range of seqs.
pub struct Selection {
    /// `None` for all events.
    set: Option<Arc<RoaringBitmap>>,
    range: Range<u32>,
    before: u64,
    total: u64,
}

impl SealedRun {
    /// Selects events in a range of seqs.
    pub fn select(&self, filter: &Filter, range: Range<u32>) -> Result<Selection, LogError> {
        let mut sets = Vec::new();
        match filter.types.as_slice() {
            [] => {}
            [one] => sets.push(self.bitmap(Attribute::Type(*one))?),
            several => {
                let mut union = RoaringBitmap::new();
                for event_type in several {
                    union |= &*self.bitmap(Attribute::Type(*event_type))?;
                }
                sets.push(Arc::new(union));
            }
        }
        if let Some(severity) = filter.severity {
            sets.push(self.bitmap(Attribute::Severity(severity))?);
        }
        if let Some(category) = filter.category {
            sets.push(self.bitmap(Attribute::Category(category))?);
        }
        if let Some((entity, value)) = &filter.entity {
            sets.push(self.entity_set(*entity, value)?);
        }
        match filter.problems {
            None => {}
            Some(Some(ProblemSeverity::Error)) => sets.push(self.bitmap(Attribute::Error)?),
            Some(Some(ProblemSeverity::Warning)) => sets.push(self.bitmap(Attribute::Warning)?),
            Some(None) => {
                let (errors, warnings) =
                    (self.bitmap(Attribute::Error)?, self.bitmap(Attribute::Warning)?);
                sets.push(Arc::new(&*errors | &*warnings));
            }
        }
        Ok(Selection::new(intersection(sets), range))
    }

    fn entity_set(&self, entity: Entity, value: &str) -> Result<Arc<RoaringBitmap>, LogError> {
        let value =
            if entity == Entity::Order { canonical_order_id(value) } else { value.to_owned() };
        match self.postings(entity.dictionary(), &value)? {
            None => Ok(Arc::default()),
            Some(postings) => self.posting_bitmap(entity.dictionary(), &postings),
        }
    }

    /// Number of distinct values of an entity, and those with the most events.
    pub fn entities(
        &self,
        entity: Entity,
        limit: usize,
    ) -> Result<(u64, Vec<(String, u64)>), LogError> {
        let total = self.dictionary(entity.dictionary())?.values;
        let values = self.values(entity.dictionary(), 10_000)?;
        let mut counted: Vec<(String, u64)> = values
            .into_iter()
            .map(|(value, postings)| (value.into_string(), postings.count()))
            .collect();
        counted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        counted.truncate(limit);
        Ok((total, counted))
    }

    /// The seq of the first event of an order.
    pub fn first_of_order(&self, id: &str) -> Result<Option<u32>, LogError> {
        Ok(self
            .postings(Dictionary::Order, &canonical_order_id(id))?
            .and_then(|postings| postings.first()))
    }
}

fn intersection(mut sets: Vec<Arc<RoaringBitmap>>) -> Option<Arc<RoaringBitmap>> {
    sets.sort_by_key(|set| set.len());
    let mut sets = sets.into_iter();
    let first = sets.next()?;
    Some(sets.fold(first, |cached, set| Arc::new(&*cached & &*set)))
}

impl Selection {
    fn new(set: Option<Arc<RoaringBitmap>>, range: Range<u32>) -> Self {
        let (before, total) = match &set {
            None => (u64::from(range.start), u64::from(range.end - range.start)),
            Some(set) => {
                let before = rank(set, range.start);
                (before, rank(set, range.end) - before)
            }
        };
        Self { set, range, before, total }
    }

    /// Number of selected events.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// The seq of the `n`th event, from 0.
    pub fn nth(&self, n: u64) -> Option<u32> {
        if n >= self.total {
            return None;
        }
        match &self.set {
            None => u32::try_from(u64::from(self.range.start) + n).ok(),
            Some(set) => set.select(u32::try_from(self.before + n).ok()?),
        }
    }

    /// Up to `limit` seqs, starting with the `n`th.
    pub fn page(&self, n: u64, limit: usize) -> Vec<u32> {
        let left = usize::try_from(self.total.saturating_sub(n)).unwrap_or(usize::MAX).min(limit);
        let Some(first) = self.nth(n).filter(|_| left > 0) else { return Vec::new() };
        match &self.set {
            None => (first..first + codec::count(left)).collect(),
            Some(set) => set.range(first..).take(left).collect(),
        }
    }

    /// Up to `limit` seqs, evenly spread from the first to the last.
    pub fn sample(&self, limit: usize) -> Vec<u32> {
        let wanted = (limit as u64).min(self.total);
        let last = self.total.saturating_sub(1);
        let spread = |n: u64| if wanted <= 1 { 0 } else { n * last / (wanted - 1) };
        (0..wanted).filter_map(|n| self.nth(spread(n))).collect()
    }

    /// Number of selected events before `seq`.
    pub fn count_before(&self, seq: u32) -> u64 {
        match &self.set {
            None => u64::from(seq.clamp(self.range.start, self.range.end) - self.range.start),
            Some(set) => {
                (rank(set, seq.min(self.range.end)).saturating_sub(self.before)).min(self.total)
            }
        }
    }

    /// All seqs, in order.
    pub fn iter(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        match &self.set {
            None => Box::new(self.range.clone()),
            Some(set) => Box::new(set.range(self.range.clone())),
        }
    }
}

/// Number of elements below `seq`.
fn rank(set: &RoaringBitmap, seq: u32) -> u64 {
    seq.checked_sub(1).map_or(0, |last| set.rank(last))
}
