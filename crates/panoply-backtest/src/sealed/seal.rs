//! Sealing: from the batches of an open run to the blobs of a sealed one.
//!
//! Two passes. The first sees times, ids and parents: it finds what came twice, sorts by time
//! (what came first stays first), and ties children to parents. The second writes blocks and
//! indexes in the order of time. Memory grows by some sixty bytes an event, not by its text.

use std::collections::HashSet;

use roaring::RoaringBitmap;

use super::block::{self, BLOCK_EVENTS, Block, BlockWriter, Link, Row};
use super::codec::{self, count};
use super::column::ColumnWriter;
use super::dictionary::{self, Dictionary, DictionaryWriter};
use super::directory::{DirectoryWriter, Kind};
use super::head::{Attribute, ColumnInfo, FORMAT, Head};
use super::ids::SortedIds;
use super::links::{self, NO_EVENT};
use super::orders::{self, Effect, OrderTracker};
use super::properties::{PathId, PathTable};
use crate::error::{LogError, Stop, check_stop};
use crate::event::{Category, EventType, Guid, Severity};
use crate::line::Rejection;
use crate::number::Number;
use crate::outline::Outline;
use crate::run::RunHeader;
use crate::scan::Token;
use crate::store::{BlobKey, BlobKind, Blobs};
use crate::timestamp::Timestamp;
use crate::validate::{self, Flags};

/// Blobs are put when this many bytes wait.
const WRITE_BUFFER_BYTES: usize = 4 << 20;
/// Out of order, so many events are gathered at a time.
const REORDER_WINDOW: usize = 1 << 18;
/// Numeric properties of a type that get a column.
const MAX_COLUMNS_PER_TYPE: usize = 512;

/// What to seal.
pub(crate) struct Source<'a> {
    pub(crate) blobs: &'a dyn Blobs,
    pub(crate) batches: u32,
    pub(crate) events: u32,
    pub(crate) rejected: Vec<Rejection>,
    pub(crate) header: &'a RunHeader,
}

/// Told how many of how many events are done.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64);

/// Writes the sealed form of `source` into `out`; gives its head and all lines without an event.
pub(crate) fn seal(
    source: Source<'_>,
    out: &dyn Blobs,
    progress: Progress<'_>,
    stop: Stop<'_>,
) -> Result<(Head, Vec<Rejection>), LogError> {
    let first_pass = FirstPass::of(&source, stop)?;
    let mut rejected = source.rejected;
    rejected.extend(first_pass.rejected.iter().cloned());
    rejected.sort_by_key(|rejection| rejection.line);
    let mut writer = SealWriter::new(out, &first_pass, source.header);
    let total = u64::from(source.events);
    let mut done = 0;
    let mut take = |block: &Block, row: &Row, seq: u32| -> Result<(), LogError> {
        if done % 4096 == 0 {
            check_stop(stop)?;
            progress(done, total);
        }
        done += 1;
        writer.event(block, row, seq)
    };
    match &first_pass.order {
        None => {
            let mut seq = 0;
            for number in 0..source.batches {
                let block = batch(source.blobs, number)?;
                for row in &block.rows {
                    take(&block, row, seq)?;
                    seq += 1;
                }
            }
        }
        Some(order) => {
            for (window, arrivals) in order.chunks(REORDER_WINDOW).enumerate() {
                let first = count(window * REORDER_WINDOW);
                for_each_arrival(
                    source.blobs,
                    &first_pass.batch_starts,
                    arrivals,
                    |block, row, place| take(block, row, first + place),
                )?;
            }
        }
    }
    let head = writer.finish(&first_pass, source.header, rejected.len() as u64)?;
    progress(total, total);
    Ok((head, rejected))
}

fn batch(blobs: &dyn Blobs, number: u32) -> Result<Block, LogError> {
    let [rows, texts] = block::batch_keys(number).map(|key| blobs.get(key));
    Block::read_batch(&rows?.ok_or(MISSING)?, &texts?.ok_or(MISSING)?)
}

/// What the first pass looks at, without the texts.
fn batch_rows(blobs: &dyn Blobs, number: u32) -> Result<Vec<Row>, LogError> {
    let [rows, _] = block::batch_keys(number);
    block::read_rows(&blobs.get(rows)?.ok_or(MISSING)?)
}

const MISSING: LogError = LogError::Damaged("a batch is missing");

/// Reads each batch that has one of the wanted arrivals once, then hands them out in order.
fn for_each_arrival(
    blobs: &dyn Blobs,
    starts: &[u32],
    arrivals: &[u32],
    mut take: impl FnMut(&Block, &Row, u32) -> Result<(), LogError>,
) -> Result<(), LogError> {
    let batch_of =
        |arrival: u32| starts.partition_point(|start| *start <= arrival).saturating_sub(1);
    let mut wanted: Vec<usize> = arrivals.iter().map(|arrival| batch_of(*arrival)).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut blocks = Vec::with_capacity(wanted.len());
    for number in &wanted {
        blocks.push(batch(blobs, count(*number))?);
    }
    for (place, arrival) in arrivals.iter().enumerate() {
        let number = batch_of(*arrival);
        let within = starts.get(number).map(|start| (arrival - start) as usize);
        let block = wanted.binary_search(&number).ok().and_then(|found| blocks.get(found));
        let (Some(block), Some(within)) = (block, within) else {
            return Err(LogError::Damaged("a batch is missing"));
        };
        let row = block.rows.get(within).ok_or(LogError::Damaged("a batch is too short"))?;
        take(block, row, count(place))?;
    }
    Ok(())
}

/// What the first pass finds out.
struct FirstPass {
    /// Arrivals in order of time; `None` when that is the order of arrival.
    order: Option<Vec<u32>>,
    /// The first arrival of each batch.
    batch_starts: Vec<u32>,
    /// Each event's parent.
    parents: Vec<u32>,
    /// Events whose link was cut because it was circular, sorted.
    circular: Vec<u32>,
    ids: SortedIds,
    /// Duplicates that say something else.
    rejected: Vec<Rejection>,
    repeated: u64,
}

impl FirstPass {
    fn of(source: &Source<'_>, stop: Stop<'_>) -> Result<Self, LogError> {
        let capacity = source.events as usize;
        let mut times: Vec<i64> = Vec::with_capacity(capacity);
        let mut ids = SortedIds::with_capacity(capacity);
        let mut claimed_parents: Vec<(u32, UnalignedGuid)> = Vec::new();
        let mut batch_starts = Vec::new();
        for number in 0..source.batches {
            check_stop(stop)?;
            let rows = batch_rows(source.blobs, number)?;
            batch_starts.push(count(times.len()));
            for row in &rows {
                let arrival = count(times.len());
                times.push(row.timestamp.nanos());
                ids.push(row.id, arrival);
                if let Link::Id(parent) = row.parent {
                    claimed_parents.push((arrival, UnalignedGuid(parent.bits().to_be_bytes())));
                }
            }
        }
        ids.sort();
        let (dropped, rejected, repeated) = duplicates(source.blobs, &batch_starts, &ids)?;
        let sorted = dropped.is_empty() && times.is_sorted();
        let order = (!sorted).then(|| {
            let kept = (0..count(times.len())).filter(|arrival| !dropped.contains(arrival));
            let mut order: Vec<u32> = kept.collect();
            order.sort_by_key(|arrival| times.get(*arrival as usize).copied().unwrap_or_default());
            order
        });
        let events = order.as_ref().map_or(times.len(), Vec::len);
        let seq_by_arrival = seqs_by_arrival(order.as_deref(), times.len());
        drop(times);
        if !sorted {
            ids.renumber(|arrival| place(&seq_by_arrival, arrival));
        }
        let mut parents = vec![NO_EVENT; events];
        for (arrival, parent) in claimed_parents {
            let seq = if sorted { Some(arrival) } else { place(&seq_by_arrival, arrival) };
            let found = ids.find(Guid::new(u128::from_be_bytes(parent.0)));
            if let (Some(seq), Some(parent)) = (seq, found)
                && let Some(slot) = parents.get_mut(seq as usize)
            {
                *slot = parent;
            }
        }
        let circular = links::break_cycles(&mut parents);
        Ok(Self { order, batch_starts, parents, circular, ids, rejected, repeated })
    }
}

/// A GUID without the alignment of a `u128`.
struct UnalignedGuid([u8; 16]);

/// Where each arrival went; empty when all stayed.
fn seqs_by_arrival(order: Option<&[u32]>, arrivals: usize) -> Vec<u32> {
    let Some(order) = order else { return Vec::new() };
    let mut seqs_by_arrival = vec![NO_EVENT; arrivals];
    for (place, arrival) in order.iter().enumerate() {
        if let Some(slot) = seqs_by_arrival.get_mut(*arrival as usize) {
            *slot = count(place);
        }
    }
    seqs_by_arrival
}

fn place(seqs_by_arrival: &[u32], arrival: u32) -> Option<u32> {
    seqs_by_arrival.get(arrival as usize).copied().filter(|place| *place != NO_EVENT)
}

/// Of events with one id the first stays. One that says the same is a repetition; one that says
/// something else is reported.
fn duplicates(
    blobs: &dyn Blobs,
    starts: &[u32],
    ids: &SortedIds,
) -> Result<(HashSet<u32>, Vec<Rejection>, u64), LogError> {
    let (mut dropped, mut rejected, mut repeated) = (HashSet::new(), Vec::new(), 0);
    for group in ids.duplicates() {
        let mut first: Option<String> = None;
        for_each_arrival(blobs, starts, &group, |block, row, place| {
            let content = content(block, row);
            match &first {
                None => first = Some(content),
                Some(kept) => {
                    dropped.extend(group.get(place as usize));
                    if *kept == content {
                        repeated += 1;
                    } else {
                        let reason = format!("`{}` was there already with another content", row.id);
                        rejected.push(Rejection { line: row.line, reason });
                    }
                }
            }
            Ok(())
        })?;
    }
    Ok((dropped, rejected, repeated))
}

fn content(block: &Block, row: &Row) -> String {
    let row_marks = (row.timestamp, row.event_type, row.severity, row.category, row.parent);
    format!("{row_marks:?} {}", block.properties(row))
}

/// Writes the sealed blobs.
struct SealWriter<'a> {
    out: &'a dyn Blobs,
    pending: Vec<(BlobKey, Vec<u8>)>,
    pending_bytes: usize,
    period: (Timestamp, Timestamp),
    parents: &'a [u32],
    circular: &'a [u32],
    in_order: bool,
    directory: DirectoryWriter,
    directory_chunks: u32,
    blocks: Vec<(BlockWriter, u32)>,
    properties: PathTable,
    columns: Vec<Vec<Option<ColumnWriter>>>,
    column_ids: Vec<(u8, PathId)>,
    overflow: bool,
    attributes: AttributeBitmaps,
    dictionaries: Dictionaries,
    orders: OrderTracker,
    counts: Vec<[u32; 4]>,
    span: (i64, i64),
    key: String,
    unresolved_parents: [u64; 2],
}

#[derive(Default)]
struct AttributeBitmaps {
    types: Vec<RoaringBitmap>,
    severities: Vec<RoaringBitmap>,
    categories: Vec<RoaringBitmap>,
    error: RoaringBitmap,
    warning: RoaringBitmap,
    root: RoaringBitmap,
    placed: RoaringBitmap,
}

#[derive(Default)]
struct Dictionaries {
    order: DictionaryWriter,
    symbol: DictionaryWriter,
    position: DictionaryWriter,
    indicator: DictionaryWriter,
    position_state: DictionaryWriter,
    indicator_state: DictionaryWriter,
    pnl_state: DictionaryWriter,
}

impl<'a> SealWriter<'a> {
    fn new(out: &'a dyn Blobs, first_pass: &'a FirstPass, header: &RunHeader) -> Self {
        let bitmaps = |many: usize| vec![RoaringBitmap::new(); many];
        Self {
            out,
            pending: Vec::new(),
            pending_bytes: 0,
            period: header.period(),
            parents: &first_pass.parents,
            circular: &first_pass.circular,
            in_order: first_pass.order.is_none(),
            directory: DirectoryWriter::default(),
            directory_chunks: 0,
            blocks: EventType::ALL.iter().map(|_| (BlockWriter::default(), 0)).collect(),
            properties: PathTable::default(),
            columns: EventType::ALL.iter().map(|_| Vec::new()).collect(),
            column_ids: Vec::new(),
            overflow: false,
            attributes: AttributeBitmaps {
                types: bitmaps(EventType::ALL.len()),
                severities: bitmaps(Severity::ALL.len()),
                categories: bitmaps(Category::ALL.len()),
                ..AttributeBitmaps::default()
            },
            dictionaries: Dictionaries::default(),
            orders: OrderTracker::default(),
            counts: vec![[0; 4]; EventType::ALL.len()],
            span: (0, 0),
            key: String::new(),
            unresolved_parents: [0, 0],
        }
    }

    fn event(&mut self, block: &Block, row: &Row, seq: u32) -> Result<(), LogError> {
        let outline = Outline::of(block.properties(row));
        let (parent, flags) = self.resolve_parent(row, seq, &outline);
        let effect = orders::effect(row.event_type, &outline);
        let kind = match effect {
            Some(Effect::Placed) => Kind::ORDER_PLACED,
            _ => Kind::of(row.event_type),
        };
        let time = row.timestamp.nanos();
        if seq == 0 {
            self.span.0 = time;
        }
        self.span.1 = time;
        let rank = self.directory.push(time, kind);
        if self.directory.is_full() {
            self.close_directory()?;
        }
        self.mark(row, seq, kind, flags);
        if let Some(effect) = effect {
            self.orders.apply(seq, effect, &outline);
        }
        self.index(row.event_type, seq, flags, &outline);
        self.numbers(row.event_type, rank, &outline)?;

        let mut entry = block.entry(row);
        // The arrival is kept where it tells something: an export restores the order of lines.
        entry.arrival = if self.in_order { seq } else { row.arrival };
        (entry.seq, entry.line, entry.parent, entry.flags) = (seq, 0, parent, flags);
        let code = row.event_type.code();
        let Some((writer, number)) = self.blocks.get_mut(usize::from(code)) else { return Ok(()) };
        writer.push(&entry);
        if writer.len() == BLOCK_EVENTS {
            let blob = writer.finish()?;
            let key = BlobKey::new(BlobKind::Block, u16::from(code), *number);
            *number += 1;
            self.put(key, blob)?;
        }
        Ok(())
    }

    /// The link as it is kept, and all that is wrong with the event.
    fn resolve_parent(&mut self, row: &Row, seq: u32, outline: &Outline<'_>) -> (Link, Flags) {
        let mut flags = Flags::of_problems(&validate::property_problems(row.event_type, outline));
        let parent = match row.parent {
            Link::None | Link::Seq(_) => Link::None,
            Link::Unreadable => {
                flags.insert(Flags::PARENT_UNREADABLE);
                Link::Unreadable
            }
            Link::Id(id) => match self.parents.get(seq as usize).copied() {
                Some(parent) if parent != NO_EVENT => Link::Seq(parent),
                _ if self.circular.binary_search(&seq).is_ok() => {
                    flags.insert(Flags::CIRCULAR);
                    self.unresolved_parents[1] += 1;
                    Link::Id(id)
                }
                _ => {
                    flags.insert(Flags::PARENT_MISSING);
                    self.unresolved_parents[0] += 1;
                    Link::Id(id)
                }
            },
        };
        if row.timestamp < self.period.0 || row.timestamp > self.period.1 {
            flags.insert(Flags::OUTSIDE_PERIOD);
        }
        if parent == Link::None || flags.contains(Flags::CIRCULAR) {
            self.attributes.root.insert(seq);
        }
        (parent, flags)
    }

    fn mark(&mut self, row: &Row, seq: u32, kind: Kind, flags: Flags) {
        let (event_type, severity, category) =
            (row.event_type.code(), row.severity.code(), row.category.code());
        let groups = [
            (&mut self.attributes.types, event_type),
            (&mut self.attributes.severities, severity),
            (&mut self.attributes.categories, category),
        ];
        for (bitmaps, code) in groups {
            if let Some(bitmap) = bitmaps.get_mut(usize::from(code)) {
                bitmap.insert(seq);
            }
        }
        if kind == Kind::ORDER_PLACED {
            self.attributes.placed.insert(seq);
        }
        if flags.is_error() {
            self.attributes.error.insert(seq);
        }
        if flags.is_warning() {
            self.attributes.warning.insert(seq);
        }
        let cell = self.counts.get_mut(usize::from(event_type));
        if let Some(cell) = cell.and_then(|row| row.get_mut(usize::from(severity))) {
            *cell += 1;
        }
    }

    /// Notes the entities an event is about, and the states a snapshot looks for.
    fn index(&mut self, event_type: EventType, seq: u32, flags: Flags, outline: &Outline<'_>) {
        let (mut symbol, mut indicator, mut pnl) = (None, None, false);
        for member in outline.members.iter().filter(|member| member.depth == 0) {
            let token = member.value;
            match member.name {
                "SecuritySymbol" => symbol = symbol.or_else(|| token.id_text()),
                "IndicatorName" => indicator = indicator.or_else(|| token.id_text()),
                "OrderId" | "ExternalOrderId" => {
                    if let Some(id) = token.id_text() {
                        self.dictionaries.order.push(&canonical_order_id(&id), seq);
                    }
                }
                "PositionId" => {
                    if let Some(id) = token.id_text() {
                        self.dictionaries.position.push(&id, seq);
                    }
                }
                "StateType" => pnl |= token == Token::Text("PnL"),
                _ => {}
            }
        }
        if let Some(symbol) = &symbol {
            self.dictionaries.symbol.push(symbol, seq);
        }
        if let Some(indicator) = &indicator {
            self.dictionaries.indicator.push(indicator, seq);
        }
        if pnl && event_type == EventType::StateChange {
            self.dictionaries.pnl_state.push("", seq);
        }
        // Events with an error in their properties are kept and found, but tell no state.
        if flags.contains(Flags::PROPERTY_ERROR) {
            return;
        }
        match (event_type, symbol, indicator) {
            (EventType::PositionUpdate, Some(symbol), _) => {
                self.dictionaries.position_state.push(&symbol, seq);
            }
            (EventType::IndicatorCalculation, symbol, Some(indicator)) => {
                self.key.clear();
                self.key.push_str(&indicator);
                self.key.push('\u{1}');
                self.key.push_str(symbol.as_deref().unwrap_or_default());
                self.dictionaries.indicator_state.push(&self.key, seq);
            }
            _ => {}
        }
    }

    fn numbers(
        &mut self,
        event_type: EventType,
        rank: u32,
        outline: &Outline<'_>,
    ) -> Result<(), LogError> {
        let code = event_type.code();
        let Some(columns) = self.columns.get_mut(usize::from(code)) else { return Ok(()) };
        let mut full = Vec::new();
        let (numbers, overflow) = (&mut self.column_ids, &mut self.overflow);
        let complete = self.properties.walk(outline, |path, text| {
            let Some(number) = Number::parse(text) else { return Ok(()) };
            let place = path.0 as usize;
            if columns.len() <= place {
                columns.resize_with(place + 1, || None);
            }
            // Only a new property has to be counted; this runs for every number of the log.
            let is_new = columns.get(place).is_some_and(Option::is_none);
            let too_many = is_new && columns.iter().flatten().count() >= MAX_COLUMNS_PER_TYPE;
            let Some(slot) = columns.get_mut(place) else { return Ok(()) };
            if is_new {
                if too_many {
                    *overflow = true;
                    return Ok(());
                }
                numbers.push((code, path));
            }
            if let Some(blob) = slot.get_or_insert_default().push(rank, number)? {
                full.push((path, blob));
            }
            Ok(())
        })?;
        self.overflow |= !complete;
        for (path, blob) in full {
            self.put_column_block(code, path, blob)?;
        }
        Ok(())
    }

    fn put_column_block(&mut self, code: u8, path: PathId, blob: Vec<u8>) -> Result<(), LogError> {
        let place = self.column_ids.iter().position(|column| *column == (code, path));
        let column =
            self.columns.get(usize::from(code)).and_then(|columns| columns.get(path.0 as usize));
        let (Some(place), Some(Some(column))) = (place, column) else { return Ok(()) };
        let group = u16::try_from(place).unwrap_or(u16::MAX);
        let number = column.blocks.saturating_sub(1);
        self.put(BlobKey::new(BlobKind::ColumnBlock, group, number), blob)
    }

    fn close_directory(&mut self) -> Result<(), LogError> {
        let blob = self.directory.finish_chunk()?;
        let key = BlobKey::new(BlobKind::Directory, 0, self.directory_chunks);
        self.directory_chunks += 1;
        self.put(key, blob)
    }

    fn put(&mut self, key: BlobKey, blob: Vec<u8>) -> Result<(), LogError> {
        self.pending_bytes += blob.len();
        self.pending.push((key, blob));
        if self.pending_bytes < WRITE_BUFFER_BYTES { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<(), LogError> {
        self.pending_bytes = 0;
        self.out.put(std::mem::take(&mut self.pending))
    }

    fn finish(
        mut self,
        first_pass: &FirstPass,
        header: &RunHeader,
        rejected: u64,
    ) -> Result<Head, LogError> {
        if !self.directory.is_empty() {
            self.close_directory()?;
        }
        let times: Vec<u8> =
            self.directory.firsts.iter().flat_map(|time| time.to_le_bytes()).collect();
        self.put(
            BlobKey::new(BlobKind::Times, 0, 0),
            codec::compress(&times, codec::SEALED_LEVEL)?,
        )?;
        self.finish_blocks()?;
        let columns = self.finish_columns()?;
        self.finish_marks()?;
        let mut blobs = Vec::new();
        let written = std::mem::take(&mut self.dictionaries);
        for (dictionary, writer) in [
            (Dictionary::Order, written.order),
            (Dictionary::Symbol, written.symbol),
            (Dictionary::Position, written.position),
            (Dictionary::Indicator, written.indicator),
            (Dictionary::PositionState, written.position_state),
            (Dictionary::IndicatorState, written.indicator_state),
            (Dictionary::PnlState, written.pnl_state),
        ] {
            writer.finish(dictionary, &mut blobs)?;
            self.put_all(&mut blobs)?;
        }
        std::mem::take(&mut self.orders).finish(&mut blobs)?;
        self.put_all(&mut blobs)?;
        let index = first_pass
            .ids
            .write(|number, blob| self.put(BlobKey::new(BlobKind::IdChunk, 0, number), blob))?;
        self.put(BlobKey::new(BlobKind::IdIndex, 0, 0), index)?;
        links::write(&first_pass.parents, |number, blob| {
            self.put(BlobKey::new(BlobKind::Links, 0, number), blob)
        })?;
        let head = Head {
            format: FORMAT,
            header: header.clone(),
            events: count(first_pass.parents.len()),
            first: self.span.0,
            last: self.span.1,
            counts: self.counts.clone(),
            columns,
            overflow: self.overflow,
            in_order: self.in_order,
            rejected,
            repeated: first_pass.repeated,
            problems: [self.attributes.error.len(), self.attributes.warning.len()],
            unresolved_parents: self.unresolved_parents,
        };
        let json = serde_json::to_vec(&head).map_err(LogError::store)?;
        self.put(BlobKey::new(BlobKind::Head, 0, 0), json)?;
        self.flush()?;
        Ok(head)
    }

    fn put_all(&mut self, blobs: &mut Vec<(BlobKey, Vec<u8>)>) -> Result<(), LogError> {
        blobs.drain(..).try_for_each(|(key, blob)| self.put(key, blob))
    }

    fn finish_blocks(&mut self) -> Result<(), LogError> {
        for (code, (mut writer, number)) in (0_u16..).zip(std::mem::take(&mut self.blocks)) {
            if writer.len() > 0 {
                let blob = writer.finish()?;
                self.put(BlobKey::new(BlobKind::Block, code, number), blob)?;
            }
        }
        Ok(())
    }

    fn finish_columns(&mut self) -> Result<Vec<ColumnInfo>, LogError> {
        let mut infos = Vec::new();
        for (group, (code, path)) in (0_u16..).zip(self.column_ids.clone()) {
            let columns = self.columns.get_mut(usize::from(code));
            let Some(column) =
                columns.and_then(|columns| columns.get_mut(path.0 as usize)?.as_mut())
            else {
                continue;
            };
            let last = column.flush()?;
            let (head, total, blocks) = (column.head()?, column.total(), column.blocks);
            if let Some(blob) = last {
                self.put(BlobKey::new(BlobKind::ColumnBlock, group, blocks - 1), blob)?;
            }
            self.put(BlobKey::new(BlobKind::ColumnHead, group, 0), head)?;
            infos.push(ColumnInfo {
                event_type: code,
                path: self.properties.path(path),
                count: total.count,
                min: total.min,
                max: total.max,
            });
        }
        Ok(infos)
    }

    fn finish_marks(&mut self) -> Result<(), LogError> {
        let attributes = std::mem::take(&mut self.attributes);
        let mut named: Vec<(Attribute, &RoaringBitmap)> = Vec::new();
        named.extend(EventType::ALL.iter().map(|own| Attribute::Type(*own)).zip(&attributes.types));
        named.extend(
            Severity::ALL.iter().map(|own| Attribute::Severity(*own)).zip(&attributes.severities),
        );
        named.extend(
            Category::ALL.iter().map(|own| Attribute::Category(*own)).zip(&attributes.categories),
        );
        named.extend([
            (Attribute::Error, &attributes.error),
            (Attribute::Warning, &attributes.warning),
            (Attribute::Root, &attributes.root),
            (Attribute::OrderPlaced, &attributes.placed),
        ]);
        for (mark, bitmap) in named {
            let blob = dictionary::bitmap_blob(bitmap)?;
            self.put(mark.key(), blob)?;
        }
        self.attributes = attributes;
        Ok(())
    }
}

/// Order ids that are GUIDs are found in either case.
pub(crate) fn canonical_order_id(id: &str) -> String {
    Guid::parse(id).map_or_else(|| id.to_owned(), |guid| guid.to_string())
}
