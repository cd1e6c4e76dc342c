//! Filtered and grouped questions about the events of one type, answered from columns.
//!
//! Values come from the numeric and text columns of the sealed run; an event is read only for a
//! property without a column. One pass over the events of the type in the range.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::expression::{Expression, Literal, Operand};
use super::reader::SealedRun;
use crate::error::{LogError, Stop, check_stop};
use crate::event::{EventType, Severity};
use crate::number::Number;
use crate::performance::returns::Period;
use crate::scan::{self, Token};
use crate::sealed::codec;
use crate::sealed::column::{COLUMN_BLOCK, ColumnHead, Stats};
use crate::sealed::head::Attribute;
use crate::sealed::text_column::{Codes, TEXT_BLOCK, TextColumnHead, TextValue};
use crate::timestamp::{Timestamp, weekday};

/// Groups of one question; events of further groups are counted in `other`.
pub const MAX_GROUPS: usize = 10_000;
/// Values that percentiles keep in memory, of all groups together.
pub const MAX_PERCENTILE_VALUES: usize = 4_000_000;
const HOUR: i64 = 3_600_000_000_000;
const DAY: i64 = 24 * HOUR;
const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

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
    pub value: Option<f64>,
    /// The joined values.
    pub joined: Vec<Option<f64>>,
}

/// The answer.
#[derive(Clone, Debug, Default)]
pub struct QueryResult {
    /// Matching events.
    pub matched: u64,
    /// Events that were examined.
    pub examined: u64,
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
        let types = self.bitmap(Attribute::Type(query.event_type))?;
        let first = query.range.start.checked_sub(1).map_or(0, |last| types.rank(last));
        let first = u32::try_from(first).unwrap_or(u32::MAX);
        let mut scan = Scan::new(self, query);
        let mut groups = Groups::new(query);
        let mut result = QueryResult::default();
        for (rank, seq) in (first..).zip(types.range(query.range.clone())) {
            if result.examined.is_multiple_of(4096) {
                check_stop(stop)?;
            }
            result.examined += 1;
            scan.advance(seq, rank)?;
            let is_match = match &query.filter {
                None => true,
                Some(filter) => filter.holds(&mut |operand| scan.operand(operand)),
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
    let value = number.map(Number::to_f64);
    if largest.is_some() && value.is_none() {
        return;
    }
    let joined = query.joins.iter().map(|join| scan.join(join)).collect();
    events.push(QueryEvent { seq: scan.seq, value, joined });
    if events.len() >= limit.saturating_mul(2).max(1024) {
        sort_events(query, events);
    }
}

fn sort_events(query: &EventQuery, events: &mut Vec<QueryEvent>) {
    if let Some(largest) = query.top.largest {
        events.sort_by(|a, b| {
            let order = a.value.unwrap_or(f64::NAN).total_cmp(&b.value.unwrap_or(f64::NAN));
            let order = if largest { order.reverse() } else { order };
            order.then(a.seq.cmp(&b.seq))
        });
    }
    events.truncate(query.top.limit);
}

/// Accumulates groups.
struct Groups<'a> {
    query: &'a EventQuery,
    index: HashMap<Vec<String>, usize>,
    groups: Vec<GroupState>,
    /// Values kept for percentiles.
    kept: usize,
    /// Values that were not kept.
    beyond: u64,
}

/// A group while events are added.
struct GroupState {
    key: Vec<String>,
    events: u64,
    stats: Stats,
    /// Values that are not in `stats` yet.
    pending: Vec<Number>,
    /// Values for percentiles.
    values: Vec<f64>,
    /// Whether `values` has all of them. Percentiles of the first values only would describe the
    /// start of the run.
    has_all_values: bool,
}

impl<'a> Groups<'a> {
    fn new(query: &'a EventQuery) -> Self {
        Self { query, index: HashMap::new(), groups: Vec::new(), kept: 0, beyond: 0 }
    }

    /// Adds an event to its group; false if there are too many groups.
    fn add(&mut self, scan: &mut Scan<'_>, number: Option<Number>) -> bool {
        let key: Vec<String> = self.query.group_by.iter().map(|part| scan.key(part)).collect();
        let place = match self.index.get(&key) {
            Some(place) => *place,
            None if self.groups.len() >= MAX_GROUPS => return false,
            None => {
                self.index.insert(key.clone(), self.groups.len());
                let (pending, values) = (Vec::new(), Vec::new());
                self.groups.push(GroupState {
                    key,
                    events: 0,
                    stats: Stats::NONE,
                    pending,
                    values,
                    has_all_values: true,
                });
                self.groups.len() - 1
            }
        };
        let Some(group) = self.groups.get_mut(place) else { return false };
        group.events += 1;
        if let Some(number) = number {
            group.pending.push(number);
            if group.pending.len() == COLUMN_BLOCK as usize {
                group.stats.merge(&Stats::of(&group.pending));
                group.pending.clear();
            }
            if !self.query.percentiles.is_empty() {
                if self.kept < self.query.percentile_limit {
                    group.values.push(number.to_f64());
                    self.kept += 1;
                } else {
                    group.has_all_values = false;
                    self.beyond += 1;
                }
            }
        }
        true
    }

    fn finish(self, percentiles: &[f64]) -> Vec<QueryGroup> {
        let mut groups: Vec<QueryGroup> = self
            .groups
            .into_iter()
            .map(|mut group| {
                group.stats.merge(&Stats::of(&group.pending));
                group.values.sort_unstable_by(f64::total_cmp);
                let of = |percent: &f64| {
                    group.has_all_values.then(|| percentile(&group.values, *percent)).flatten()
                };
                let percentiles = percentiles.iter().map(of).collect();
                let GroupState { key, events, stats, .. } = group;
                QueryGroup { key, events, stats, percentiles }
            })
            .collect();
        groups.sort_by(|a, b| b.events.cmp(&a.events).then_with(|| a.key.cmp(&b.key)));
        groups
    }
}

/// The percentile of sorted values, by linear interpolation.
fn percentile(sorted: &[f64], percent: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = percent / 100.0 * last as f64;
    let below = place.floor();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the number of values"
    )]
    let index = below as usize;
    let low = *sorted.get(index)?;
    let high = sorted.get(index + 1).copied().unwrap_or(low);
    Some(low + (high - low) * (place - below))
}

/// The current event of a pass, and its values.
struct Scan<'a> {
    run: &'a SealedRun,
    event_type: EventType,
    joins: &'a [Join],
    columns: HashMap<String, PropertyColumns>,
    seq: u32,
    rank: u32,
    time: Option<Timestamp>,
    /// The first error; values are absent from then on.
    error: Option<LogError>,
}

/// A column, and its block that was read last.
struct Cursor<H, B> {
    column: u16,
    head: Arc<H>,
    block: Option<(u32, Arc<B>)>,
}

impl<H, B> Cursor<H, B> {
    /// A block of the column.
    fn block(
        &mut self,
        number: u32,
        read: impl FnOnce(u16) -> Result<Arc<B>, LogError>,
    ) -> Result<Arc<B>, LogError> {
        match &self.block {
            Some((own, block)) if *own == number => Ok(Arc::clone(block)),
            _ => {
                let block = read(self.column)?;
                self.block = Some((number, Arc::clone(&block)));
                Ok(block)
            }
        }
    }
}

/// The columns of one property.
struct PropertyColumns {
    numbers: Option<Cursor<ColumnHead, Vec<Number>>>,
    texts: Option<Cursor<TextColumnHead, Codes>>,
    /// Whether some events have a value in neither column.
    needs_event: bool,
}

impl<'a> Scan<'a> {
    fn new(run: &'a SealedRun, query: &'a EventQuery) -> Self {
        Self {
            run,
            event_type: query.event_type,
            joins: &query.joins,
            columns: HashMap::new(),
            seq: 0,
            rank: 0,
            time: None,
            error: None,
        }
    }

    fn advance(&mut self, seq: u32, rank: u32) -> Result<(), LogError> {
        (self.seq, self.rank, self.time) = (seq, rank, None);
        self.check()
    }

    fn check(&mut self) -> Result<(), LogError> {
        self.error.take().map_or(Ok(()), Err)
    }

    fn report<T>(&mut self, outcome: Result<Option<T>, LogError>) -> Option<T> {
        outcome.unwrap_or_else(|error| {
            self.error.get_or_insert(error);
            None
        })
    }

    fn time(&mut self) -> Timestamp {
        if let Some(time) = self.time {
            return time;
        }
        let found = self.run.time_at(self.seq).map(Some);
        let time = self.report(found).unwrap_or_default();
        self.time = Some(time);
        time
    }

    fn operand(&mut self, operand: &Operand) -> Option<Literal> {
        match operand {
            Operand::Literal(literal) => Some(literal.clone()),
            Operand::Path(path) => self.value(path),
            #[expect(clippy::cast_precision_loss, reason = "an hour")]
            Operand::Hour => Some(Literal::Number(self.hour() as f64)),
            Operand::Weekday => Some(Literal::Text(self.weekday().to_owned())),
            Operand::TimeOfDay => {
                let text = self.time().to_string();
                Some(Literal::Text(text.chars().skip(11).take(8).collect()))
            }
            Operand::Severity => {
                let severity = self.severity();
                severity.map(|own| Literal::Text(own.to_string()))
            }
            Operand::Category => {
                let event = self.run.event(self.seq).map(Some);
                let category = self.report(event)?.category();
                Some(Literal::Text(category.to_string()))
            }
        }
    }

    fn hour(&mut self) -> i64 {
        self.time().nanos().rem_euclid(DAY) / HOUR
    }

    fn weekday(&mut self) -> &'static str {
        let day = weekday(self.time().nanos().div_euclid(DAY));
        usize::try_from(day).ok().and_then(|day| WEEKDAYS.get(day)).copied().unwrap_or_default()
    }

    fn severity(&mut self) -> Option<Severity> {
        let event = self.run.event(self.seq).map(Some);
        self.report(event).map(|event| event.severity())
    }

    fn key(&mut self, part: &GroupKey) -> String {
        match part {
            GroupKey::Property(path) => match self.value(path) {
                None => String::new(),
                Some(Literal::Text(text)) => text,
                Some(Literal::Number(number)) => number.to_string(),
                Some(Literal::Bool(value)) => value.to_string(),
            },
            GroupKey::Period(period) => {
                let (period, length) = match period {
                    PeriodKey::Hour => (Period::Hour, 13),
                    PeriodKey::Day => (Period::Day, 10),
                    PeriodKey::Week => (Period::Week, 10),
                    PeriodKey::Month => (Period::Month, 7),
                };
                period.start(self.time()).to_string().chars().take(length).collect()
            }
            GroupKey::HourOfDay => format!("{:02}", self.hour()),
            GroupKey::Weekday => self.weekday().to_owned(),
            GroupKey::Severity => {
                self.severity().map(|severity| severity.to_string()).unwrap_or_default()
            }
        }
    }

    /// A property or joined value.
    fn value(&mut self, path: &str) -> Option<Literal> {
        if let Some(join) = self.joins.iter().find(|join| join.name == path) {
            return self.join(join).map(Literal::Number);
        }
        let found = self.property(path);
        self.report(found)
    }

    fn number(&mut self, path: &str) -> Option<Number> {
        if let Some(join) = self.joins.iter().find(|join| join.name == path) {
            return self.join(join).map(Number::Double);
        }
        let found = self.numeric(path);
        self.report(found)
    }

    fn columns(&mut self, path: &str) -> Result<&mut PropertyColumns, LogError> {
        if !self.columns.contains_key(path) {
            let run = self.run;
            let numbers = match run.column(self.event_type, path) {
                None => None,
                Some(column) => {
                    Some(Cursor { column, head: run.column_head(column)?, block: None })
                }
            };
            let texts = match run.text_column(self.event_type, path) {
                None => None,
                Some(column) => Some(Cursor { column, head: run.text_head(column)?, block: None }),
            };
            let is_dropped = run.head().text_columns.iter().any(|column| {
                column.event_type == self.event_type.code()
                    && column.path == path
                    && column.values.is_none()
            });
            let needs_event = is_dropped || run.head().overflow || path.contains('\\');
            self.columns.insert(path.to_owned(), PropertyColumns { numbers, texts, needs_event });
        }
        let missing = LogError::Damaged("a column disappeared");
        self.columns.get_mut(path).ok_or(missing)
    }

    fn numeric(&mut self, path: &str) -> Result<Option<Number>, LogError> {
        let (run, rank) = (self.run, self.rank);
        let columns = self.columns(path)?;
        if let Some(cursor) = &mut columns.numbers {
            let Some(place) = place_of(&cursor.head.presence, rank) else { return Ok(None) };
            let number = place / COLUMN_BLOCK;
            let values = cursor.block(number, |column| run.column_values(column, number))?;
            return Ok(values.get((place % COLUMN_BLOCK) as usize).copied());
        }
        if !columns.needs_event {
            return Ok(None);
        }
        let event = run.event(self.seq)?;
        let token = scan::at_path(event.properties(), path);
        Ok(token.and_then(|token| token.number_text()).and_then(Number::parse))
    }

    fn property(&mut self, path: &str) -> Result<Option<Literal>, LogError> {
        let (run, rank) = (self.run, self.rank);
        let columns = self.columns(path)?;
        if let Some(cursor) = &mut columns.texts
            && let Some(place) = place_of(&cursor.head.presence, rank)
        {
            let number = place / TEXT_BLOCK;
            let codes = cursor.block(number, |column| run.text_codes(column, number))?;
            let code = codes.0.get((place % TEXT_BLOCK) as usize);
            let value = code.and_then(|code| cursor.head.values.get(usize::from(*code)));
            return Ok(value.map(|value| match value {
                TextValue::Text(text) => Literal::Text(text.to_string()),
                TextValue::Bool(value) => Literal::Bool(*value),
            }));
        }
        if columns.needs_event {
            let event = run.event(self.seq)?;
            return Ok(match scan::at_path(event.properties(), path) {
                Some(Token::Bool(value)) => Some(Literal::Bool(value)),
                Some(Token::Number(text)) => {
                    Number::parse(text).map(|own| Literal::Number(own.to_f64()))
                }
                Some(token) => token.text().map(|text| Literal::Text(text.into_owned())),
                None => None,
            });
        }
        Ok(self.numeric(path)?.map(|number| Literal::Number(number.to_f64())))
    }

    /// The last price or indicator value of the event's security, `offset` after the event.
    fn join(&mut self, join: &Join) -> Option<f64> {
        let symbol = match self.value("SecuritySymbol")? {
            Literal::Text(symbol) => symbol,
            Literal::Number(number) => number.to_string(),
            Literal::Bool(_) => return None,
        };
        let last = if join.offset == 0 {
            self.seq
        } else {
            let time = Timestamp::from_nanos(self.time().nanos().saturating_add(join.offset));
            let found = self.run.last_at(time);
            self.report(found)?
        };
        let found = match &join.indicator {
            None => self
                .run
                .price_at(&symbol, last)
                .map(|price| price.map(|price| crate::position::to_f64(price.price))),
            Some(name) => self.run.indicator_at(name, &symbol, last),
        };
        self.report(found)
    }
}

/// The index of a rank's value.
fn place_of(presence: &roaring::RoaringBitmap, rank: u32) -> Option<u32> {
    // Most properties exist in all events of a type; then the index is the rank.
    if presence.max().is_some_and(|max| u64::from(max) + 1 == presence.len()) {
        return (u64::from(rank) < presence.len()).then_some(rank);
    }
    presence
        .contains(rank)
        .then(|| codec::count(usize::try_from(presence.rank(rank) - 1).unwrap_or_default()))
}
