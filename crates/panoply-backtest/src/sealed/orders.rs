//! Open orders at any seq. An order is open from its placement until it is filled, cancelled,
//! expired or rejected; a change of its terms ends one record and starts another.
//!
//! A record within one chunk of 4096 events is local and stored with that chunk. Long-lived
//! records are stored together, with checkpoints of the open ones. The open orders at a seq are
//! one checkpoint, the records placed since, and one local chunk, whatever the run's length.

use std::collections::HashMap;
use std::sync::Arc;

use super::Weight;
use super::codec::{self, Reader, count, put_section, put_varint};
use super::directory::CHUNK_EVENTS;
use crate::error::LogError;
use crate::event::{EventType, Guid};
use crate::number::{Number, Sum};
use crate::scan::outline::Outline;
use crate::store::{BlobKey, BlobKind};

/// End of an order that is open at the end of the run.
const STILL_OPEN: u32 = u32::MAX;
/// Long-lived records per blob.
const LONG_CHUNK_ORDERS: u32 = 256;

/// The terms of an order.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderTerms {
    /// `OrderId`.
    pub id: String,
    /// The security.
    pub symbol: String,
    /// `Buy` or `Sell`, as logged.
    pub direction: String,
    /// The number as logged; empty when absent.
    pub quantity: String,
    /// The number as logged; empty when absent.
    pub price: String,
}

/// An order with unchanged terms, from its placement or change to its end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OrderRecord {
    pub(crate) terms: Arc<OrderTerms>,
    pub(crate) placed: u32,
    pub(crate) ended: u32,
    /// Quantity filled before this record.
    filled_before: Sum,
    fills: Vec<(u32, Number)>,
}

impl OrderRecord {
    pub(crate) const fn is_open_at(&self, seq: u32) -> bool {
        self.placed <= seq && self.ended > seq
    }

    /// Quantity filled up to and including `seq`.
    pub(crate) fn filled_at(&self, seq: u32) -> Sum {
        let mut sum = self.filled_before;
        for (_, quantity) in self.fills.iter().take_while(|(at, _)| *at <= seq) {
            sum.add(*quantity);
        }
        sum
    }

    fn write(&self, out: &mut Vec<u8>) {
        let OrderTerms { id, symbol, direction, quantity, price } = self.terms.as_ref();
        for text in [id, symbol, direction, quantity, price] {
            codec::put_text(out, text);
        }
        put_varint(out, u64::from(self.placed));
        put_varint(out, u64::from(self.ended));
        codec::put_text(out, &self.filled_before.to_text());
        put_varint(out, self.fills.len() as u64);
        for (seq, quantity) in &self.fills {
            put_varint(out, u64::from(*seq));
            let mut sum = Sum::ZERO;
            sum.add(*quantity);
            codec::put_text(out, &sum.to_text());
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, LogError> {
        let mut texts = [const { String::new() }; 5];
        for text in &mut texts {
            *text = reader.text()?.to_owned();
        }
        let [id, symbol, direction, quantity, price] = texts;
        let (placed, ended) = (reader.varint_u32()?, reader.varint_u32()?);
        let mut filled_before = Sum::ZERO;
        filled_before.add(number(reader.text()?)?);
        let mut fills = Vec::new();
        for _ in 0..reader.length()? {
            fills.push((reader.varint_u32()?, number(reader.text()?)?));
        }
        let terms = Arc::new(OrderTerms { id, symbol, direction, quantity, price });
        Ok(Self { terms, placed, ended, filled_before, fills })
    }
}

fn number(text: &str) -> Result<Number, LogError> {
    Number::parse(text).ok_or(LogError::Damaged("an order has a quantity that is not a number"))
}

/// Normalizes the case of an order id that is a GUID.
pub(crate) fn canonical_order_id(id: &str) -> String {
    Guid::parse(id).map_or_else(|| id.to_owned(), |guid| guid.to_string())
}

/// The effect of an event on an order.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Effect {
    Placed,
    Changed,
    Filled,
    Ended,
}

pub(crate) fn effect(event_type: EventType, outline: &Outline<'_>) -> Option<Effect> {
    match event_type {
        EventType::TradeExecution => Some(Effect::Filled),
        EventType::OrderRejection => Some(Effect::Ended),
        EventType::StateChange => {
            let state = outline.member("StateType")?.text()?;
            if state != "Order" {
                return None;
            }
            let status = outline.member("OrderStatus")?.text()?.to_ascii_lowercase();
            status_effect(&status)
        }
        EventType::IndicatorCalculation
        | EventType::PositionUpdate
        | EventType::MarketDataEvent
        | EventType::RiskEvent => None,
    }
}

/// The effect of an order status in lower case.
pub(crate) fn status_effect(status: &str) -> Option<Effect> {
    match status {
        "placed" => Some(Effect::Placed),
        "updated" | "modified" | "replaced" => Some(Effect::Changed),
        "cancelled" | "canceled" | "expired" | "rejected" | "denied" | "filled" => {
            Some(Effect::Ended)
        }
        _ => None,
    }
}

#[derive(Debug, Default)]
pub(crate) struct OrderTracker {
    open_orders: HashMap<String, OrderRecord>,
    closed: Vec<OrderRecord>,
    /// Quantities filled before the order was placed.
    early_fills: HashMap<String, Sum>,
}

impl OrderTracker {
    pub(crate) fn apply(&mut self, seq: u32, effect: Effect, outline: &Outline<'_>) {
        let Some(id) = outline.member("OrderId").and_then(|token| token.id_text()) else {
            return;
        };
        match effect {
            Effect::Placed => self.place(seq, &id, outline),
            Effect::Changed => self.change(seq, &id, outline),
            Effect::Filled => self.fill(seq, &id, outline),
            Effect::Ended => self.end(seq, &id),
        }
    }

    fn place(&mut self, seq: u32, id: &str, outline: &Outline<'_>) {
        self.end(seq, id);
        let terms = OrderTerms {
            id: id.to_owned(),
            symbol: text_of(outline, "SecuritySymbol").unwrap_or_default(),
            direction: text_of(outline, "Direction").unwrap_or_default(),
            quantity: number_of(outline, "Quantity").unwrap_or_default(),
            price: number_of(outline, "Price").unwrap_or_default(),
        };
        let record = OrderRecord {
            terms: Arc::new(terms),
            placed: seq,
            ended: STILL_OPEN,
            filled_before: self.early_fills.remove(id).unwrap_or(Sum::ZERO),
            fills: Vec::new(),
        };
        self.open_orders.insert(id.to_owned(), record);
        self.end_if_full(seq, id);
    }

    fn change(&mut self, seq: u32, id: &str, outline: &Outline<'_>) {
        let Some(mut record) = self.open_orders.remove(id) else { return };
        let filled = record.filled_at(seq);
        let mut next = record.clone();
        record.ended = seq;
        self.closed.push(record);
        next.placed = seq;
        next.filled_before = filled;
        next.fills.clear();
        let mut terms = OrderTerms::clone(&next.terms);
        terms.quantity = number_of(outline, "Quantity").unwrap_or(terms.quantity);
        terms.price = number_of(outline, "Price").unwrap_or(terms.price);
        next.terms = Arc::new(terms);
        self.open_orders.insert(id.to_owned(), next);
        self.end_if_full(seq, id);
    }

    fn fill(&mut self, seq: u32, id: &str, outline: &Outline<'_>) {
        let quantity = outline.member("Quantity").and_then(|token| token.number_text());
        let Some(quantity) = quantity.and_then(Number::parse) else { return };
        match self.open_orders.get_mut(id) {
            Some(record) => record.fills.push((seq, quantity)),
            None => {
                self.early_fills.entry(id.to_owned()).or_insert(Sum::ZERO).add(quantity);
                return;
            }
        }
        self.end_if_full(seq, id);
    }

    fn end_if_full(&mut self, seq: u32, id: &str) {
        let full = self.open_orders.get(id).is_some_and(|record| {
            let wanted = Number::parse(&record.terms.quantity).map(Number::to_f64);
            // Engines round quantities: a remainder below 1e-10 of the order counts as filled.
            wanted.is_some_and(|wanted| {
                record.filled_at(seq).to_f64() >= wanted - wanted.abs() * 1e-10
            })
        });
        if full {
            self.end(seq, id);
        }
    }

    fn end(&mut self, seq: u32, id: &str) {
        if let Some(mut record) = self.open_orders.remove(id) {
            record.ended = seq;
            self.closed.push(record);
        }
    }

    /// Encodes all orders of a run with this many chunks. Every chunk has a blob of local orders, so
    /// that a missing one is detected.
    pub(crate) fn finish(
        mut self,
        chunks: u32,
        out: &mut Vec<(BlobKey, Vec<u8>)>,
    ) -> Result<(), LogError> {
        self.closed.extend(self.open_orders.into_values());
        let mut records = self.closed;
        records.sort_unstable_by(|a, b| {
            (a.placed, a.ended, &a.terms.id).cmp(&(b.placed, b.ended, &b.terms.id))
        });
        let (long, local): (Vec<OrderRecord>, Vec<OrderRecord>) = records
            .into_iter()
            .partition(|record| record.placed / CHUNK_EVENTS != record.ended / CHUNK_EVENTS);
        let mut rest = local.as_slice();
        for number in 0..chunks {
            let own = rest.partition_point(|record| record.placed / CHUNK_EVENTS <= number);
            let (chunk, after) = rest.split_at(own);
            out.push((BlobKey::new(BlobKind::OrdersLocal, 0, number), write_records(chunk)?));
            rest = after;
        }
        for (number, chunk) in long.chunks(LONG_CHUNK_ORDERS as usize).enumerate() {
            let key = BlobKey::new(BlobKind::OrdersLong, 0, count(number));
            out.push((key, write_records(chunk)?));
        }
        let starts = write_open_lists(&long, out)?;
        let mut index = Vec::new();
        for numbers in [
            starts,
            long.iter().map(|record| record.placed).collect(),
            long.iter().map(|record| record.ended).collect(),
        ] {
            let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            put_section(&mut index, &bytes);
        }
        out.push((
            BlobKey::new(BlobKind::OrdersIndex, 0, 0),
            codec::compress(&index, codec::SEALED_LEVEL)?,
        ));
        Ok(())
    }
}

fn text_of(outline: &Outline<'_>, name: &str) -> Option<String> {
    outline.member(name)?.id_text().map(std::borrow::Cow::into_owned)
}

fn number_of(outline: &Outline<'_>, name: &str) -> Option<String> {
    outline
        .member(name)?
        .number_text()
        .filter(|text| Number::parse(text).is_some())
        .map(str::to_owned)
}

/// Writes checkpoints of open orders, whenever enough has changed. Returns the seq of each.
fn write_open_lists(
    long: &[OrderRecord],
    out: &mut Vec<(BlobKey, Vec<u8>)>,
) -> Result<Vec<u32>, LogError> {
    let mut starts = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    let (mut next, mut changes) = (0_usize, 0_usize);
    let last = long.iter().map(|record| record.placed).max().unwrap_or_default() / CHUNK_EVENTS + 1;
    for chunk in 1..=last {
        let start = chunk * CHUNK_EVENTS;
        while let Some(record) = long.get(next).filter(|record| record.placed < start) {
            open.push(count(next));
            changes += 1 + usize::from(record.ended < start);
            next += 1;
        }
        if changes < (open.len() / 4).max(64) && chunk != last {
            continue;
        }
        let is_open =
            |place: &u32| long.get(*place as usize).is_some_and(|record| record.ended >= start);
        open.retain(is_open);
        let mut list = Vec::new();
        let mut last_index = 0;
        for place in &open {
            put_varint(&mut list, u64::from(place - last_index));
            last_index = *place;
        }
        let key = BlobKey::new(BlobKind::OrdersOpen, 0, count(starts.len()));
        out.push((key, codec::compress(&list, codec::SEALED_LEVEL)?));
        starts.push(start);
        changes = 0;
    }
    Ok(starts)
}

fn write_records(records: &[OrderRecord]) -> Result<Vec<u8>, LogError> {
    let mut out = Vec::new();
    records.iter().for_each(|record| record.write(&mut out));
    codec::compress(&out, codec::SEALED_LEVEL)
}

pub(crate) fn read_records(blob: &[u8]) -> Result<Vec<OrderRecord>, LogError> {
    let bytes = codec::decompress(blob)?;
    let mut reader = Reader(&bytes);
    let mut records = Vec::new();
    while !reader.is_empty() {
        records.push(OrderRecord::read(&mut reader)?);
    }
    Ok(records)
}

/// Decodes a checkpoint: indexes of long-lived records.
pub(crate) fn read_open_list(blob: &[u8]) -> Result<Vec<u32>, LogError> {
    let bytes = codec::decompress(blob)?;
    let mut reader = Reader(&bytes);
    let (mut places, mut place) = (Vec::new(), 0_u32);
    while !reader.is_empty() {
        place = place.wrapping_add(reader.varint_u32()?);
        places.push(place);
    }
    Ok(places)
}

/// Placement and end of the long-lived records, and the seqs of the checkpoints.
#[derive(Debug)]
pub(crate) struct OrderIndex {
    starts: Vec<u32>,
    placed: Vec<u32>,
    ended: Vec<u32>,
}

impl OrderIndex {
    pub(crate) fn read(blob: &[u8]) -> Result<Self, LogError> {
        let bytes = codec::decompress(blob)?;
        let mut reader = Reader(&bytes);
        let mut numbers = || {
            let (words, _) = reader.section()?.0.as_chunks::<4>();
            Ok::<Vec<u32>, LogError>(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
        };
        Ok(Self { starts: numbers()?, placed: numbers()?, ended: numbers()? })
    }

    /// The last checkpoint at or before `seq`.
    pub(crate) fn list_at(&self, seq: u32) -> Option<u32> {
        self.starts.partition_point(|start| *start <= seq).checked_sub(1).map(count)
    }

    /// Indexes of long-lived records open at `seq`, given its checkpoint.
    pub(crate) fn open_at(&self, seq: u32, list: &[u32]) -> Vec<u32> {
        let from = self.list_at(seq).and_then(|number| self.starts.get(number as usize)).copied();
        let first_new =
            from.map_or(0, |start| self.placed.partition_point(|placed| *placed < start));
        let end_new = self.placed.partition_point(|placed| *placed <= seq);
        let candidates = list.iter().copied().chain(count(first_new)..count(end_new));
        let open = |place: &u32| self.ended.get(*place as usize).is_some_and(|ended| *ended > seq);
        candidates.filter(open).collect()
    }
}

impl Weight for Vec<OrderRecord> {
    fn weight(&self) -> usize {
        self.len() * 256 + 64
    }
}

impl Weight for Vec<u32> {
    fn weight(&self) -> usize {
        self.len() * 4 + 64
    }
}

impl Weight for OrderIndex {
    fn weight(&self) -> usize {
        (self.starts.len() + self.placed.len() * 2) * 4 + 64
    }
}

/// The blob of a long-lived record, and its offset there.
pub(crate) const fn long_chunk_of(place: u32) -> (u32, usize) {
    (place / LONG_CHUNK_ORDERS, (place % LONG_CHUNK_ORDERS) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(status: &str, id: u32, quantity: u32) -> String {
        format!(
            r#"{{"StateType":"Order","OrderStatus":"{status}","OrderId":"{id}","SecuritySymbol":"A","Direction":"Buy","Quantity":{quantity},"Price":1.5}}"#
        )
    }

    fn fill(id: u32, quantity: &str) -> String {
        format!(r#"{{"OrderId":"{id}","Quantity":{quantity}}}"#)
    }

    #[test]
    fn order_is_open_until_filled_or_ended() {
        use EventType as T;
        let mut tracker = OrderTracker::default();
        let story = [
            (T::StateChange, order("Placed", 1, 10)),
            (T::TradeExecution, fill(1, "4")),
            (T::TradeExecution, fill(1, "\"6.0\"")),
            (T::StateChange, order("Placed", 2, 5)),
            (T::StateChange, order("Cancelled", 2, 0)),
            (T::StateChange, order("Placed", 3, 5)),
            (T::OrderRejection, fill(3, "1")),
            (T::StateChange, order("Placed", 4, 5)),
            (T::StateChange, order("Updated", 4, 9)),
            (T::TradeExecution, fill(5, "3")),
            (T::StateChange, order("Placed", 5, 7)),
            (T::StateChange, order("Expired", 5, 7)),
        ];
        for (seq, (event_type, json)) in story.iter().enumerate() {
            let outline = Outline::of(json);
            if let Some(effect) = effect(*event_type, &outline) {
                tracker.apply(count(seq), effect, &outline);
            }
        }
        let mut all = tracker.closed;
        all.extend(tracker.open_orders.into_values());
        let open_at = |seq: u32| {
            let mut open: Vec<String> = all
                .iter()
                .filter(|record| record.is_open_at(seq))
                .map(|r| {
                    format!("{}:{}/{}", r.terms.id, r.filled_at(seq).to_text(), r.terms.quantity)
                })
                .collect();
            open.sort();
            open.join(" ")
        };
        let expected = [
            "1:0/10",
            "1:4/10",
            "",
            "2:0/5",
            "",
            "3:0/5",
            "",
            "4:0/5",
            "4:0/9",
            "4:0/9",
            "4:0/9 5:3/7",
            "4:0/9",
        ];
        for (seq, expected) in expected.into_iter().enumerate() {
            assert_eq!(open_at(count(seq)), expected, "after event {seq}");
        }
    }

    #[test]
    fn open_order_lists_give_the_open_orders_at_every_seq() {
        let terms = |number: u32| OrderTerms {
            id: number.to_string(),
            symbol: String::new(),
            direction: String::new(),
            quantity: String::new(),
            price: String::new(),
        };
        let record = |number: u32, placed: u32, ended: u32| OrderRecord {
            terms: Arc::new(terms(number)),
            placed,
            ended,
            filled_before: Sum::ZERO,
            fills: Vec::new(),
        };
        // Every fourth order never ends; the others span some chunks.
        let long: Vec<OrderRecord> = (0..2000_u32)
            .map(|n| {
                record(
                    n,
                    n * 50,
                    if n % 4 == 0 { STILL_OPEN } else { n * 50 + 5000 + n * 7 % 9000 },
                )
            })
            .collect();
        let tracker = OrderTracker { closed: long.clone(), ..OrderTracker::default() };
        let mut blobs = Vec::new();
        tracker.finish(30, &mut blobs).unwrap();
        let blobs: HashMap<BlobKey, Vec<u8>> = blobs.into_iter().collect();
        let index = OrderIndex::read(&blobs[&BlobKey::new(BlobKind::OrdersIndex, 0, 0)]).unwrap();
        assert!(index.starts.len() > 3, "{:?}", index.starts);
        for seq in (0..120_000).step_by(911) {
            let list = index.list_at(seq).map(|number| {
                read_open_list(&blobs[&BlobKey::new(BlobKind::OrdersOpen, 0, number)]).unwrap()
            });
            let open = index.open_at(seq, &list.unwrap_or_default());
            let expected: Vec<u32> =
                (0..2000).filter(|n| long[*n as usize].is_open_at(seq)).collect();
            assert_eq!(open, expected, "at {seq}");
        }
        let (chunk, place) = long_chunk_of(700);
        let records = read_records(&blobs[&BlobKey::new(BlobKind::OrdersLong, 0, chunk)]).unwrap();
        assert_eq!(records[place], long[700]);
    }
}
