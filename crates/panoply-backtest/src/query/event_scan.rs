//! The values of one event after another, read from the columns of a sealed run.

use std::sync::Arc;

use roaring::RoaringBitmap;

use super::events_query::{EventQuery, GroupKey, Join, PeriodKey};
use super::expression::{Expression, Literal, Operand};
use super::reader::SealedRun;
use super::typed_literal::WEEKDAYS;
use crate::error::LogError;
use crate::event::{Category, EventType, Severity};
use crate::number::Number;
use crate::performance::returns::Period;
use crate::scan::{self, Token};
use crate::sealed::column::{COLUMN_BLOCK, ColumnHead};
use crate::sealed::directory::{CHUNK_EVENTS, DirectoryChunk};
use crate::sealed::properties::is_queryable_name;
use crate::sealed::text_column::{Codes, TEXT_BLOCK, TextColumnHead, TextValue};
use crate::timestamp::{Timestamp, weekday};

const HOUR: i64 = 3_600_000_000_000;
const DAY: i64 = 24 * HOUR;

/// The current event of a pass, and its values.
pub(super) struct Scan<'a> {
    run: &'a SealedRun,
    event_type: EventType,
    joins: &'a [Join],
    /// The properties that the question names: a handful, so a list is faster than a map.
    columns: Vec<PropertyColumns>,
    /// Outcomes of comparisons with text columns, by code.
    outcomes: Vec<(*const Expression, Vec<Option<bool>>)>,
    /// The chunk of the directory that was read last.
    directory: Option<(u32, Arc<DirectoryChunk>)>,
    pub(super) seq: u32,
    rank: u32,
    time: Option<Timestamp>,
    /// The first error; values are absent from then on.
    error: Option<LogError>,
}

/// A column, its block that was read last, and the place of the current event in it.
struct Cursor<H, B> {
    column: u16,
    head: Arc<H>,
    block: Option<(u32, Arc<B>)>,
    places: Places,
}

impl<H, B> Cursor<H, B> {
    fn new(column: u16, head: Arc<H>, presence: &RoaringBitmap) -> Self {
        Self { column, head, block: None, places: Places::of(presence) }
    }

    /// A block of the column.
    fn block(
        &mut self,
        number: u32,
        read: impl FnOnce(u16) -> Result<Arc<B>, LogError>,
    ) -> Result<&B, LogError> {
        let is_known = self.block.as_ref().is_some_and(|(own, _)| *own == number);
        if !is_known {
            self.block = Some((number, read(self.column)?));
        }
        let missing = LogError::Damaged("a block disappeared");
        self.block.as_ref().map(|(_, block)| &**block).ok_or(missing)
    }
}

/// The places of values in a column, for ascending ranks.
enum Places {
    /// All events of the type up to this rank have a value.
    Dense(u32),
    /// Only these have one. `next` is the rank of the value at `place`.
    Sparse { ranks: roaring::bitmap::IntoIter, next: Option<u32>, place: u32 },
}

impl Places {
    fn of(presence: &RoaringBitmap) -> Self {
        let length = presence.len();
        // Most properties exist in all events of a type; then the place is the rank.
        if presence.max().is_none_or(|max| u64::from(max) + 1 == length) {
            return Self::Dense(u32::try_from(length).unwrap_or(u32::MAX));
        }
        let mut ranks = presence.clone().into_iter();
        let next = ranks.next();
        Self::Sparse { ranks, next, place: 0 }
    }

    fn at(&mut self, rank: u32) -> Option<u32> {
        match self {
            Self::Dense(length) => (rank < *length).then_some(rank),
            Self::Sparse { ranks, next, place } => {
                while next.is_some_and(|own| own < rank) {
                    *next = ranks.next();
                    *place += 1;
                }
                (*next == Some(rank)).then_some(*place)
            }
        }
    }
}

/// A part of a group's key as it is stored.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) enum KeyPart {
    Missing,
    /// The code of a text.
    Code(u16),
    /// An exact number: its mantissa and scale.
    Exact(i64, u8),
    /// The bits of a double.
    Double(u64),
    Text(String),
    Bool(bool),
    /// The start of a period.
    Start(i64),
    /// An hour, a weekday or a severity.
    Small(u8),
}

/// The columns of one property.
struct PropertyColumns {
    path: String,
    numbers: Option<Cursor<ColumnHead, Vec<Number>>>,
    texts: Option<Cursor<TextColumnHead, Codes>>,
    /// Whether some events have a value in neither column.
    needs_event: bool,
}

impl<'a> Scan<'a> {
    pub(super) fn new(run: &'a SealedRun, query: &'a EventQuery) -> Self {
        Self {
            run,
            event_type: query.event_type,
            joins: &query.joins,
            columns: Vec::new(),
            outcomes: Vec::new(),
            directory: None,
            seq: 0,
            rank: 0,
            time: None,
            error: None,
        }
    }

    pub(super) fn advance(&mut self, seq: u32, rank: u32) -> Result<(), LogError> {
        (self.seq, self.rank, self.time) = (seq, rank, None);
        self.check()
    }

    pub(super) fn check(&mut self) -> Result<(), LogError> {
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
        let found = self.stored_time().map(Some);
        let time = self.report(found).unwrap_or_default();
        self.time = Some(time);
        time
    }

    fn stored_time(&mut self) -> Result<Timestamp, LogError> {
        let number = self.seq / CHUNK_EVENTS;
        let is_known = self.directory.as_ref().is_some_and(|(own, _)| *own == number);
        if !is_known {
            self.directory = Some((number, self.run.directory(number)?));
        }
        let chunk = self.directory.as_ref().map(|(_, chunk)| chunk);
        let time = chunk.and_then(|chunk| chunk.times.get((self.seq % CHUNK_EVENTS) as usize));
        time.map(|time| Timestamp::from_nanos(*time))
            .ok_or(LogError::Damaged("a sequence number is outside the run"))
    }

    /// Whether the current event satisfies a filter.
    pub(super) fn holds(&mut self, filter: &Expression) -> bool {
        match filter {
            Expression::And(terms) => terms.iter().all(|term| self.holds(term)),
            Expression::Or(terms) => terms.iter().any(|term| self.holds(term)),
            Expression::Not(term) => !self.holds(term),
            leaf => match self.holds_by_code(leaf) {
                Some(outcome) => outcome,
                None => leaf.holds(&mut |operand| self.operand(operand)),
            },
        }
    }

    /// The outcome of a comparison of a text column with literals: one for each distinct text.
    fn holds_by_code(&mut self, leaf: &Expression) -> Option<bool> {
        let (Expression::Compare(Operand::Path(path), _, Operand::Literal(_))
        | Expression::In(Operand::Path(path), _)
        | Expression::Contains(Operand::Path(path), _)
        | Expression::StartsWith(Operand::Path(path), _)) = leaf
        else {
            return None;
        };
        let code = self.code(path)?;
        let address = std::ptr::from_ref(leaf);
        let known = self.outcomes.iter().position(|(own, _)| *own == address);
        let number = known.unwrap_or_else(|| {
            self.outcomes.push((address, Vec::new()));
            self.outcomes.len() - 1
        });
        let (_, outcomes) = self.outcomes.get_mut(number)?;
        let place = usize::from(code);
        if let Some(Some(outcome)) = outcomes.get(place) {
            return Some(*outcome);
        }
        let outcome = leaf.holds(&mut |operand| self.operand(operand));
        let (_, outcomes) = self.outcomes.get_mut(number)?;
        if outcomes.len() <= place {
            outcomes.resize(place + 1, None);
        }
        *outcomes.get_mut(place)? = Some(outcome);
        Some(outcome)
    }

    /// The code of the current event's text in a text column.
    fn code(&mut self, path: &str) -> Option<u16> {
        if self.joins.iter().any(|join| join.name == path) {
            return None;
        }
        let found = self.text_code(path);
        self.report(found)
    }

    fn text_code(&mut self, path: &str) -> Result<Option<u16>, LogError> {
        let (run, rank) = (self.run, self.rank);
        let columns = self.columns(path)?;
        let Some(cursor) = &mut columns.texts else { return Ok(None) };
        let Some(place) = cursor.places.at(rank) else { return Ok(None) };
        let number = place / TEXT_BLOCK;
        let codes = cursor.block(number, |column| run.text_codes(column, number))?;
        Ok(codes.0.get((place % TEXT_BLOCK) as usize).copied())
    }

    /// A part of the current event's key, without making a text of it.
    pub(super) fn key_part(&mut self, part: &GroupKey) -> KeyPart {
        match part {
            GroupKey::Property(path) => match self.code(path) {
                Some(code) => KeyPart::Code(code),
                None => match self.value(path) {
                    None => KeyPart::Missing,
                    Some(Literal::Text(text)) => KeyPart::Text(text),
                    Some(Literal::Number(number)) => match number.normalized() {
                        Number::Exact { mantissa, scale } => KeyPart::Exact(mantissa, scale),
                        Number::Double(value) => KeyPart::Double(value.to_bits()),
                    },
                    Some(Literal::Bool(value)) => KeyPart::Bool(value),
                },
            },
            GroupKey::Period(period) => {
                KeyPart::Start(period_of(*period).start(self.time()).nanos())
            }
            GroupKey::HourOfDay => KeyPart::Small(u8::try_from(self.hour()).unwrap_or_default()),
            GroupKey::Weekday => {
                let day = weekday(self.time().nanos().div_euclid(DAY));
                KeyPart::Small(u8::try_from(day).unwrap_or_default())
            }
            GroupKey::Severity => match self.severity() {
                Some(severity) => KeyPart::Small(severity.code()),
                None => KeyPart::Missing,
            },
            GroupKey::Category => match self.category() {
                Some(category) => KeyPart::Small(category.code()),
                None => KeyPart::Missing,
            },
        }
    }

    pub(super) fn operand(&mut self, operand: &Operand) -> Option<Literal> {
        match operand {
            Operand::Literal(literal) => Some(literal.clone()),
            Operand::Path(path) => self.value(path),
            Operand::Hour => {
                Some(Literal::Number(Number::Exact { mantissa: self.hour(), scale: 0 }))
            }
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
                let category = self.category();
                category.map(|own| Literal::Text(own.to_string()))
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

    fn category(&mut self) -> Option<Category> {
        let event = self.run.event(self.seq).map(Some);
        self.report(event).map(|event| event.category())
    }

    pub(super) fn key(&mut self, part: &GroupKey) -> String {
        match part {
            GroupKey::Property(path) => match self.value(path) {
                None => String::new(),
                Some(Literal::Text(text)) => text,
                Some(Literal::Number(number)) => number.to_text(),
                Some(Literal::Bool(value)) => value.to_string(),
            },
            GroupKey::Period(period) => {
                let length = match period {
                    PeriodKey::Hour => 13,
                    PeriodKey::Day | PeriodKey::Week => 10,
                    PeriodKey::Month => 7,
                };
                let start = period_of(*period).start(self.time());
                start.to_string().chars().take(length).collect()
            }
            GroupKey::HourOfDay => format!("{:02}", self.hour()),
            GroupKey::Weekday => self.weekday().to_owned(),
            GroupKey::Severity => {
                self.severity().map(|severity| severity.to_string()).unwrap_or_default()
            }
            GroupKey::Category => {
                self.category().map(|category| category.to_string()).unwrap_or_default()
            }
        }
    }

    /// A property or joined value.
    fn value(&mut self, path: &str) -> Option<Literal> {
        if let Some(join) = self.joins.iter().find(|join| join.name == path) {
            return self.join(join).map(|value| Literal::Number(Number::Double(value)));
        }
        let found = self.property(path);
        self.report(found)
    }

    pub(super) fn number(&mut self, path: &str) -> Option<Number> {
        if let Some(join) = self.joins.iter().find(|join| join.name == path) {
            return self.join(join).map(Number::Double);
        }
        let found = self.numeric(path);
        self.report(found)
    }

    fn columns(&mut self, path: &str) -> Result<&mut PropertyColumns, LogError> {
        let known = self.columns.iter().position(|own| own.path == path);
        let place = match known {
            Some(place) => place,
            None => {
                self.columns.push(PropertyColumns::open(self.run, self.event_type, path)?);
                self.columns.len() - 1
            }
        };
        self.columns.get_mut(place).ok_or(LogError::Damaged("a column disappeared"))
    }

    fn numeric(&mut self, path: &str) -> Result<Option<Number>, LogError> {
        let (run, rank) = (self.run, self.rank);
        let columns = self.columns(path)?;
        if let Some(cursor) = &mut columns.numbers {
            let Some(place) = cursor.places.at(rank) else { return Ok(None) };
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
        if let Some(code) = self.text_code(path)? {
            let columns = self.columns(path)?;
            let values = columns.texts.as_ref().map(|cursor| &cursor.head.values);
            let value = values.and_then(|values| values.get(usize::from(code)));
            return Ok(value.map(|value| match value {
                TextValue::Text(text) => Literal::Text(text.to_string()),
                TextValue::Bool(value) => Literal::Bool(*value),
            }));
        }
        if self.columns(path)?.needs_event {
            let event = self.run.event(self.seq)?;
            return Ok(match scan::at_path(event.properties(), path) {
                Some(Token::Bool(value)) => Some(Literal::Bool(value)),
                Some(Token::Number(text)) => Number::parse(text).map(Literal::Number),
                Some(token) => token.text().map(|text| Literal::Text(text.into_owned())),
                None => None,
            });
        }
        Ok(self.numeric(path)?.map(Literal::Number))
    }

    /// The last price or indicator value of the event's security, `offset` after the event.
    pub(super) fn join(&mut self, join: &Join) -> Option<f64> {
        let symbol = match self.value("SecuritySymbol")? {
            Literal::Text(symbol) => symbol,
            Literal::Number(number) => number.to_text(),
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
            None => {
                let price = match self.value("Currency") {
                    Some(Literal::Text(currency)) => self.run.price_in(&symbol, &currency, last),
                    _ => self.run.price_at(&symbol, last),
                };
                price.map(|price| price.map(|price| crate::position::to_f64(price.price)))
            }
            Some(name) => self.run.indicator_at(name, &symbol, last),
        };
        self.report(found)
    }
}

impl PropertyColumns {
    fn open(run: &SealedRun, event_type: EventType, path: &str) -> Result<Self, LogError> {
        let numbers = match run.column(event_type, path) {
            None => None,
            Some(column) => {
                let head = run.column_head(column)?;
                let presence = head.presence.clone();
                Some(Cursor::new(column, head, &presence))
            }
        };
        let texts = match run.text_column(event_type, path) {
            None => None,
            Some(column) => {
                let head = run.text_head(column)?;
                let presence = head.presence.clone();
                Some(Cursor::new(column, head, &presence))
            }
        };
        let needs_event = run.needs_event(event_type, path);
        Ok(Self { path: path.to_owned(), numbers, texts, needs_event })
    }
}

impl SealedRun {
    /// The properties of a question that no event of its type has as a number, text or boolean.
    pub(crate) fn unknown_properties(&self, query: &EventQuery) -> Vec<String> {
        let mut paths: Vec<&str> = query.value.iter().map(String::as_str).collect();
        paths.extend(query.group_by.iter().filter_map(|key| match key {
            GroupKey::Property(path) => Some(path.as_str()),
            _ => None,
        }));
        let mut unknown: Vec<String> = Vec::new();
        let mut add = |path: &str| {
            let is_joined = query.joins.iter().any(|join| join.name == path);
            let is_known = self.column(query.event_type, path).is_some()
                || self.text_column(query.event_type, path).is_some()
                || self.needs_event(query.event_type, path);
            if !is_joined && !is_known && unknown.iter().all(|own| own != path) {
                unknown.push(path.to_owned());
            }
        };
        paths.into_iter().for_each(&mut add);
        if let Some(filter) = &query.filter {
            filter.operands(&mut |operand| {
                if let Operand::Path(path) = operand {
                    add(path);
                }
            });
        }
        unknown
    }

    /// Whether some events of a type have a value of a property that no column has.
    pub(crate) fn needs_event(&self, event_type: EventType, path: &str) -> bool {
        let is_dropped = self.head().text_columns.iter().any(|column| {
            column.event_type == event_type.code() && column.path == path && column.values.is_none()
        });
        // A name outside the published pattern of a path has no column.
        is_dropped || self.head().overflow || !path.split('.').all(is_queryable_name)
    }
}

const fn period_of(key: PeriodKey) -> Period {
    match key {
        PeriodKey::Hour => Period::Hour,
        PeriodKey::Day => Period::Day,
        PeriodKey::Week => Period::Week,
        PeriodKey::Month => Period::Month,
    }
}
