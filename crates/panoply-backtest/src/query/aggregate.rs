//! Aggregates of a numeric property: statistics per column block, and values only of the two
//! blocks at the edges of the range.

use std::collections::BTreeMap;
use std::ops::Range;

use roaring::RoaringBitmap;

use super::reader::SealedRun;
use super::selection::{Entity, Filter};
use crate::error::{LogError, Stop, check_stop};
use crate::event::{EventType, Severity};
use crate::number::Number;
use crate::scan;
use crate::sealed::codec;
use crate::sealed::column::{COLUMN_BLOCK, ColumnHead, Stats};
use crate::sealed::group_stats::GroupStats;
use crate::sealed::head::Attribute;
use crate::sealed::text_column::TextValue;
use crate::store::{BlobKey, BlobKind};
use crate::timestamp::Timestamp;

/// An aggregate to compute.
#[derive(Clone, Debug)]
pub struct AggregateQuery<'a> {
    /// The event type.
    pub event_type: EventType,
    /// The property, as member names joined by dots.
    pub path: &'a str,
    /// The range of seqs.
    pub range: Range<u32>,
}

/// How to group an aggregate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GroupBy {
    /// By value of an entity.
    Entity(Entity),
    /// By severity.
    Severity,
    /// By intervals of `step` nanoseconds, one of which starts `origin` nanoseconds after 1970.
    Every {
        /// Length of an interval.
        step: i64,
        /// Start of one interval.
        origin: i64,
    },
}

/// The aggregate of one group.
#[derive(Clone, Debug)]
pub struct Group {
    /// The value shared by the group's events.
    pub key: String,
    /// Number of events.
    pub events: u64,
    /// Statistics of their values.
    pub stats: Stats,
}

/// A block of a column: all of its values, or some.
enum ColumnPart {
    Whole(u32),
    Edge(u32, Range<usize>),
}

type StatsByName = Vec<(Box<str>, Stats)>;

/// Statistics by group exist only for few groups; more are not looked for.
const MAX_STORED_GROUPS: u64 = 4096;

fn sort_groups(groups: &mut Vec<Group>, limit: usize) {
    groups.sort_by(|a, b| b.events.cmp(&a.events).then_with(|| a.key.cmp(&b.key)));
    groups.truncate(limit);
}

impl SealedRun {
    /// Number of events of the type in the range, and statistics of their values.
    pub fn aggregate(
        &self,
        query: &AggregateQuery<'_>,
        stop: Stop<'_>,
    ) -> Result<(u64, Stats), LogError> {
        let filter = Filter { types: vec![query.event_type], ..Filter::default() };
        let events = self.select(&filter, query.range.clone())?.total();
        let stats = match self.column(query.event_type, query.path) {
            Some(group) => self.column_stats(group, query)?,
            None if self.head().overflow => self.full_scan(query, stop)?,
            None => Stats::NONE,
        };
        Ok((events, stats))
    }

    /// The same per group. Groups without events are omitted.
    pub fn aggregate_by(
        &self,
        query: &AggregateQuery<'_>,
        by: GroupBy,
        limit: usize,
        stop: Stop<'_>,
    ) -> Result<Vec<Group>, LogError> {
        match by {
            GroupBy::Every { step, origin } => self.by_time(query, step, origin, limit, stop),
            GroupBy::Entity(entity) => {
                if let Some(mut groups) = self.by_stored_groups(query, entity)? {
                    sort_groups(&mut groups, limit);
                    return Ok(groups);
                }
                let mut groups = Vec::new();
                for (value, postings) in self.values(entity.dictionary(), usize::MAX)? {
                    check_stop(stop)?;
                    let set = self.posting_bitmap(entity.dictionary(), &postings)?;
                    let own = &*set & &*self.bitmap(Attribute::Type(query.event_type))?;
                    let postings = own.range(query.range.clone());
                    self.push_group(&mut groups, query, value.into_string(), postings, stop)?;
                }
                sort_groups(&mut groups, limit);
                Ok(groups)
            }
            GroupBy::Severity => {
                let mut groups = Vec::new();
                for severity in Severity::ALL {
                    let set = self.bitmap(Attribute::Severity(*severity))?;
                    let own = &*set & &*self.bitmap(Attribute::Type(query.event_type))?;
                    let postings = own.range(query.range.clone());
                    self.push_group(&mut groups, query, severity.to_string(), postings, stop)?;
                }
                Ok(groups)
            }
        }
    }

    /// The groups of an entity from the statistics by group; `None` if the run has none for the
    /// column. Only values of the two blocks at the edges of the range are read.
    fn by_stored_groups(
        &self,
        query: &AggregateQuery<'_>,
        entity: Entity,
    ) -> Result<Option<Vec<Group>>, LogError> {
        let dictionary = entity.dictionary();
        let types = self.bitmap(Attribute::Type(query.event_type))?;
        let mut groups: BTreeMap<Box<str>, Group> = BTreeMap::new();
        // Events are counted by bitmaps, because a group may have events without a value.
        let total = self.dictionary(dictionary)?.values;
        if total > MAX_STORED_GROUPS {
            return Ok(None);
        }
        for (value, postings) in self.values(dictionary, usize::MAX)? {
            let set = self.posting_bitmap(dictionary, &postings)?;
            let events = if query.range == (0..self.head().events) {
                set.intersection_len(&types)
            } else {
                (&*set & &*types).range_cardinality(query.range.clone())
            };
            if events > 0 {
                let key = value.to_string();
                groups.insert(value, Group { key, events, stats: Stats::NONE });
            }
        }
        let Some(column) = self.column(query.event_type, query.path) else {
            let has_values = self.head().overflow;
            return Ok((!has_values).then(|| groups.into_values().collect()));
        };
        let key = BlobKey::new(BlobKind::GroupStats, column, u32::from(dictionary.code()));
        // The head says which statistics exist, so that a missing blob is damage and not an answer
        // computed in another order of additions.
        let info = self.head().columns.get(usize::from(column));
        if !info.is_some_and(|info| info.grouped_by.contains(&dictionary.code())) {
            return Ok(None);
        }
        let stored = self.cached(key, GroupStats::read)?;
        let head = self.column_head(column)?;
        for part in self.column_parts(&head, query, &types) {
            match part {
                ColumnPart::Whole(block) => {
                    let block = stored.blocks.get(block as usize).map_or(&[][..], Vec::as_slice);
                    for (place, stats) in block {
                        let name = stored.names.get(*place);
                        if let Some(group) = name.and_then(|name| groups.get_mut(name)) {
                            group.stats.merge(stats);
                        }
                    }
                }
                ColumnPart::Edge(block, within) => {
                    let Some(found) = self.edge_groups(query, entity, column, block, within)?
                    else {
                        return Ok(None);
                    };
                    for (name, stats) in found {
                        if let Some(group) = groups.get_mut(&*name) {
                            group.stats.merge(&stats);
                        }
                    }
                }
            }
        }
        Ok(Some(groups.into_values().collect()))
    }

    /// Statistics by group of some values of one column block; `None` without a text column of the
    /// entity.
    fn edge_groups(
        &self,
        query: &AggregateQuery<'_>,
        entity: Entity,
        column: u16,
        block: u32,
        within: Range<usize>,
    ) -> Result<Option<StatsByName>, LogError> {
        let Some(texts) = self.text_column(query.event_type, entity.property()) else {
            return Ok(None);
        };
        let head = self.column_head(column)?;
        let values = self.column_values(column, block)?;
        let first = u64::from(block) * u64::from(COLUMN_BLOCK);
        let mut by_value: BTreeMap<Box<str>, Vec<Number>> = BTreeMap::new();
        let start = u32::try_from(first + within.start as u64).unwrap_or(u32::MAX);
        let Some(rank) = head.presence.select(start) else { return Ok(Some(Vec::new())) };
        let ranks = head.presence.range(rank..);
        for (rank, number) in ranks.zip(values.get(within).unwrap_or_default()) {
            if let Some(TextValue::Text(text)) = self.text_at(texts, rank)? {
                by_value.entry(text).or_default().push(*number);
            }
        }
        let stats = by_value.into_iter().map(|(name, values)| (name, Stats::of(&values)));
        Ok(Some(stats.collect()))
    }

    fn by_time(
        &self,
        query: &AggregateQuery<'_>,
        step: i64,
        origin: i64,
        limit: usize,
        stop: Stop<'_>,
    ) -> Result<Vec<Group>, LogError> {
        let mut groups = Vec::new();
        let filter = Filter { types: vec![query.event_type], ..Filter::default() };
        let selection = self.select(&filter, query.range.clone())?;
        let mut next = selection.nth(0);
        while let Some(first) = next.filter(|_| groups.len() < limit) {
            check_stop(stop)?;
            let time = self.event(first)?.timestamp().nanos();
            let start = time.saturating_sub(time.wrapping_sub(origin).rem_euclid(step));
            let end = Timestamp::from_nanos(start.saturating_add(step - 1));
            let until = self.between(None, Some(end))?.end.min(query.range.end);
            let part = AggregateQuery { range: first..until, ..query.clone() };
            let (events, stats) = self.aggregate(&part, stop)?;
            groups.push(Group { key: Timestamp::from_nanos(start).to_string(), events, stats });
            next = selection.nth(selection.count_before(until));
        }
        Ok(groups)
    }

    fn push_group(
        &self,
        groups: &mut Vec<Group>,
        query: &AggregateQuery<'_>,
        key: String,
        postings: impl Iterator<Item = u32>,
        stop: Stop<'_>,
    ) -> Result<(), LogError> {
        let mut numbers = Vec::new();
        let mut events = 0_u64;
        let mut stats = Stats::NONE;
        let group = self.column(query.event_type, query.path);
        let head = group.map(|group| self.column_head(group)).transpose()?;
        for seq in postings {
            if events.is_multiple_of(4096) {
                check_stop(stop)?;
                stats.merge(&Stats::of(&numbers));
                numbers.clear();
            }
            events += 1;
            let number = match (&head, group) {
                (Some(head), Some(group)) => {
                    let (_, rank) = self.kind_and_rank(seq)?;
                    if head.presence.contains(rank) {
                        self.column_number(group, head.values_before(rank))?
                    } else {
                        None
                    }
                }
                _ => self.number_of(seq, query.path)?,
            };
            numbers.extend(number);
        }
        stats.merge(&Stats::of(&numbers));
        if events > 0 {
            groups.push(Group { key, events, stats });
        }
        Ok(())
    }

    pub(crate) fn column(&self, event_type: EventType, path: &str) -> Option<u16> {
        let found = self
            .head()
            .columns
            .iter()
            .position(|column| column.event_type() == event_type && column.path == path)?;
        u16::try_from(found).ok()
    }

    fn column_number(&self, group: u16, place: u64) -> Result<Option<Number>, LogError> {
        let size = u64::from(COLUMN_BLOCK);
        let block = u32::try_from(place / size).unwrap_or(u32::MAX);
        let within = usize::try_from(place % size).unwrap_or(usize::MAX);
        Ok(self.column_values(group, block)?.get(within).copied())
    }

    fn column_stats(&self, group: u16, query: &AggregateQuery<'_>) -> Result<Stats, LogError> {
        let types = self.bitmap(Attribute::Type(query.event_type))?;
        let head = self.column_head(group)?;
        let mut stats = Stats::NONE;
        for part in self.column_parts(&head, query, &types) {
            match part {
                ColumnPart::Whole(block) => {
                    stats.merge(head.stats.get(block as usize).unwrap_or(&Stats::NONE));
                }
                ColumnPart::Edge(block, within) => {
                    let values = self.column_values(group, block)?;
                    stats.merge(&Stats::of(values.get(within).unwrap_or_default()));
                }
            }
        }
        Ok(stats)
    }

    /// The blocks of a column in the range of a query.
    fn column_parts(
        &self,
        head: &ColumnHead,
        query: &AggregateQuery<'_>,
        types: &RoaringBitmap,
    ) -> Vec<ColumnPart> {
        let rank = |seq: u32| {
            let rank = seq.checked_sub(1).map_or(0, |last| types.rank(last));
            u32::try_from(rank).unwrap_or(u32::MAX)
        };
        let from = head.values_before(rank(query.range.start));
        let to = head.values_before(rank(query.range.end));
        let size = u64::from(COLUMN_BLOCK);
        let (mut parts, mut at) = (Vec::new(), from);
        while at < to {
            let block = at / size;
            let end = ((block + 1) * size).min(to);
            let number = u32::try_from(block).unwrap_or(u32::MAX);
            let is_whole = head
                .stats
                .get(number as usize)
                .is_some_and(|stats| at % size == 0 && end - at == stats.count);
            let within = |place: u64| usize::try_from(place - block * size).unwrap_or(usize::MAX);
            parts.push(if is_whole {
                ColumnPart::Whole(number)
            } else {
                ColumnPart::Edge(number, within(at)..within(end))
            });
            at = end;
        }
        parts
    }

    /// Reads every event, for properties without a column.
    fn full_scan(&self, query: &AggregateQuery<'_>, stop: Stop<'_>) -> Result<Stats, LogError> {
        let filter = Filter { types: vec![query.event_type], ..Filter::default() };
        let selection = self.select(&filter, query.range.clone())?;
        let mut stats = Stats::NONE;
        let mut numbers = Vec::new();
        for (place, seq) in selection.iter().enumerate() {
            if place % codec::count(4096) as usize == 0 {
                check_stop(stop)?;
                stats.merge(&Stats::of(&numbers));
                numbers.clear();
            }
            numbers.extend(self.number_of(seq, query.path)?);
        }
        stats.merge(&Stats::of(&numbers));
        Ok(stats)
    }

    fn number_of(&self, seq: u32, path: &str) -> Result<Option<Number>, LogError> {
        let event = self.event(seq)?;
        let token = scan::at_path(event.properties(), path);
        Ok(token.and_then(|token| token.number_text()).and_then(Number::parse))
    }
}
