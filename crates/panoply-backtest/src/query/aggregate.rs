//! Aggregates of a numeric property: statistics per column block, and values only of the two
//! blocks at the edges of the range.

use std::ops::Range;

use super::reader::SealedRun;
use super::selection::{Entity, Filter};
use crate::error::{LogError, Stop, check_stop};
use crate::event::{EventType, Severity};
use crate::number::Number;
use crate::scan;
use crate::sealed::codec;
use crate::sealed::column::{COLUMN_BLOCK, Stats};
use crate::sealed::head::Attribute;
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
    /// By intervals of this many nanoseconds, aligned to 1970.
    Every(i64),
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
            GroupBy::Every(step) => self.by_time(query, step, limit, stop),
            GroupBy::Entity(entity) => {
                let mut groups = Vec::new();
                for (value, postings) in self.values(entity.dictionary(), usize::MAX)? {
                    check_stop(stop)?;
                    let set = self.posting_bitmap(entity.dictionary(), &postings)?;
                    let own = &*set & &*self.bitmap(Attribute::Type(query.event_type))?;
                    let postings = own.range(query.range.clone());
                    self.push_group(&mut groups, query, value.into_string(), postings, stop)?;
                }
                groups.sort_by(|a, b| b.events.cmp(&a.events).then_with(|| a.key.cmp(&b.key)));
                groups.truncate(limit);
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

    fn by_time(
        &self,
        query: &AggregateQuery<'_>,
        step: i64,
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
            let start = time - time.rem_euclid(step);
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

    fn column(&self, event_type: EventType, path: &str) -> Option<u16> {
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
        let rank = |seq: u32| {
            let rank = seq.checked_sub(1).map_or(0, |last| types.rank(last));
            u32::try_from(rank).unwrap_or(u32::MAX)
        };
        let head = self.column_head(group)?;
        let from = head.values_before(rank(query.range.start));
        let to = head.values_before(rank(query.range.end));
        let size = u64::from(COLUMN_BLOCK);
        let mut stats = Stats::NONE;
        let mut at = from;
        while at < to {
            let block = at / size;
            let end = ((block + 1) * size).min(to);
            let number = u32::try_from(block).unwrap_or(u32::MAX);
            let block_stats = head.stats.get(number as usize);
            match block_stats {
                Some(block_stats) if at % size == 0 && end - at == block_stats.count => {
                    stats.merge(block_stats);
                }
                _ => {
                    let values = self.column_values(group, number)?;
                    let within =
                        |place: u64| usize::try_from(place - block * size).unwrap_or(usize::MAX);
                    let part = values.get(within(at)..within(end)).unwrap_or_default();
                    stats.merge(&Stats::of(part));
                }
            }
            at = end;
        }
        Ok(stats)
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
