//! Filtered and grouped questions about the events of one type, answered from columns.
//!
//! Values come from the numeric and text columns of the sealed run; an event is read only for a
//! property without a column. One pass over the events that the indexes leave
//! ([`super::candidates`]); without an index for the filter these are the events of the type in the
//! range, and the pass stops with the call.

use std::cmp::Ordering;
use std::ops::Range;

use super::event_groups::Groups;
use super::event_scan::Scan;
use super::expression::Expression;
use super::reader::SealedRun;
use crate::error::{LogError, Stop, check_stop};
use crate::event::EventType;
use crate::number::Number;
use crate::sealed::column::Stats;

/// Groups of one question; events of further groups are counted in `other`.
pub const MAX_GROUPS: usize = 10_000;
/// Values that percentiles keep in memory, of all groups together.
pub const MAX_PERCENTILE_VALUES: usize = 4_000_000;
/// A question.
#[derive(Clone, Debug)]
pub struct EventQuery {
    /// The event type.
    pub event_type: EventType,
    /// The range of seqs.
    pub range: Range<u32>,
    /// The filter.
    pub filter: Option<Expression>,
    /// What to group by; one group if empty.
    pub group_by: Vec<GroupKey>,
    /// The property to aggregate and sort by.
    pub value: Option<String>,
    /// Percentiles of the values, from 0 to 100.
    pub percentiles: Vec<f64>,
    /// Values to keep for them; a group with a value beyond has no percentiles.
    pub percentile_limit: usize,
    /// Values joined to each event, by name.
    pub joins: Vec<Join>,
    /// Matching events to return.
    pub top: Top,
}

/// The events to return.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Top {
    /// How many; 0 for none.
    pub limit: usize,
    /// Those with the largest or smallest value; the first in time if `None`.
    pub largest: Option<bool>,
}

/// A part of a group's key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum GroupKey {
    /// The value of a property.
    Property(String),
    /// The start of a period.
    Period(PeriodKey),
    /// The hour of the day, UTC.
    HourOfDay,
    /// The day of the week.
    Weekday,
    /// The severity.
    Severity,
    /// The category.
    Category,
}

/// A period of time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PeriodKey {
    /// An hour.
    Hour,
    /// A day.
    Day,
    /// A week from Monday.
    Week,
    /// A month.
    Month,
}

/// A value as of an event: the last price or indicator value of its security.
#[derive(Clone, Debug, PartialEq)]
pub struct Join {
    /// Its name in filters, groups and results.
    pub name: String,
    /// The indicator; the price if `None`.
    pub indicator: Option<String>,
    /// Nanoseconds after the event.
    pub offset: i64,
}

/// One group of a result.
#[derive(Clone, Debug)]
pub struct QueryGroup {
    /// The values of the key.
    pub key: Vec<String>,
    /// Number of events.
    pub events: u64,
    /// Statistics of their values.
    pub stats: Stats,
    /// The requested percentiles; `None` without values, or if not all of them were kept.
    pub percentiles: Vec<Option<f64>>,
}

/// A matching event.
#[derive(Clone, Debug)]
pub struct QueryEvent {
    /// Its seq.
    pub seq: u32,
    /// The value it was sorted by.
    pub value: Option<Number>,
    /// The joined values.
    pub joined: Vec<Option<f64>>,
}

/// The answer.
#[derive(Clone, Debug, Default)]
pub struct QueryResult {
    /// Matching events.
    pub matched: u64,
    /// Events of the type in the range.
    pub examined: u64,
    /// Events whose values were read; the indexes of the run ruled out the others.
    pub scanned: u64,
    /// Groups, most events first.
    pub groups: Vec<QueryGroup>,
    /// Matching events of groups beyond the limit.
    pub other: u64,
    /// Values beyond the limit for percentiles.
    pub beyond_percentiles: u64,
    /// The requested events.
    pub events: Vec<QueryEvent>,
}

impl SealedRun {
    /// Answers a question in one pass.
    pub fn query(&self, query: &EventQuery, stop: Stop<'_>) -> Result<QueryResult, LogError> {
        let candidates = self.candidates(query)?;
        let mut scan = Scan::new(self, query);
        let mut groups = Groups::new(query);
        let mut result = QueryResult { examined: candidates.examined, ..QueryResult::default() };
        for (rank, seq) in candidates.iter() {
            if result.scanned.is_multiple_of(4096) {
                check_stop(stop)?;
            }
            result.scanned += 1;
            scan.advance(seq, rank)?;
            let is_match = match &query.filter {
                None => true,
                Some(filter) => scan.holds(filter),
            };
            scan.check()?;
            if !is_match {
                continue;
            }
            result.matched += 1;
            let number = query.value.as_deref().and_then(|path| scan.number(path));
            scan.check()?;
            if !groups.add(&mut scan, number) {
                result.other += 1;
            }
            keep_event(query, &mut result.events, &mut scan, number);
            scan.check()?;
        }
        result.beyond_percentiles = groups.beyond;
        result.groups = groups.finish(&query.percentiles);
        sort_events(query, &mut result.events);
        Ok(result)
    }
}

/// Keeps an event if it may be among the requested ones.
fn keep_event(
    query: &EventQuery,
    events: &mut Vec<QueryEvent>,
    scan: &mut Scan<'_>,
    number: Option<Number>,
) {
    let Top { limit, largest } = query.top;
    if limit == 0 || largest.is_none() && events.len() >= limit {
        return;
    }
    if largest.is_some() && number.is_none() {
        return;
    }
    let joined = query.joins.iter().map(|join| scan.join(join)).collect();
    events.push(QueryEvent { seq: scan.seq, value: number, joined });
    if events.len() >= limit.saturating_mul(2).max(1024) {
        sort_events(query, events);
    }
}

fn sort_events(query: &EventQuery, events: &mut Vec<QueryEvent>) {
    if let Some(largest) = query.top.largest {
        events.sort_by(|a, b| {
            let order = a.value.zip(b.value).map_or(Ordering::Equal, |(a, b)| a.compare(b));
            let order = if largest { order.reverse() } else { order };
            order.then(a.seq.cmp(&b.seq))
        });
    }
    events.truncate(query.top.limit);
}
