//! The second pass of sealing: writes blocks, columns, bitmaps, dictionaries and the other blobs.

use roaring::RoaringBitmap;

use super::super::block::{BLOCK_EVENTS, Block, BlockWriter, Link, Row};
use super::super::books::{Booked, Books, prices};
use super::super::checksum::ChecksummedBlobs;
use super::super::codec::{self, count};
use super::super::column::ColumnWriter;
use super::super::dictionary::{self, Dictionary, DictionaryWriter, GROUPED};
use super::super::digest::DigestWriter;
use super::super::directory::{DirectoryWriter, Kind};
use super::super::group_stats::NO_GROUP;
use super::super::head::{Attribute, ColumnInfo, FORMAT, Head, TextColumnInfo};
use super::super::links::{self, NO_EVENT};
use super::super::orders::{self, Effect, OrderTracker, canonical_order_id};
use super::super::properties::{PathId, PathTable, numeric_text};
use super::super::text_column::TextColumnWriter;
use super::first_pass::FirstPass;
use crate::error::LogError;
use crate::event::{Category, EventType, Severity};
use crate::number::Number;
use crate::run::RunHeader;
use crate::scan::Token;
use crate::scan::outline::Outline;
use crate::store::{BlobKey, BlobKind, Blobs};
use crate::timestamp::Timestamp;
use crate::validate::{self, Flags};

/// Blobs are buffered up to this many bytes before they are stored.
const WRITE_BUFFER_BYTES: usize = 4 << 20;
/// Numeric properties of one event type that get a column; the rest are found by a full scan.
const MAX_COLUMNS_PER_TYPE: usize = 512;
/// Text and boolean properties of one event type that get a text column.
const MAX_TEXT_COLUMNS_PER_TYPE: usize = 64;

pub(super) struct SealWriter<'a> {
    out: ChecksummedBlobs<&'a dyn Blobs>,
    blobs: u64,
    pending: Vec<(BlobKey, Vec<u8>)>,
    pending_bytes: usize,
    period: (Timestamp, Timestamp),
    parents: &'a [u32],
    circular: &'a [u32],
    /// Whether events arrived in order of time.
    in_order: bool,
    directory: DirectoryWriter,
    directory_chunks: u32,
    /// By event type: the open block and its number.
    blocks: Vec<(BlockWriter, u32)>,
    properties: PathTable,
    /// By event type and [`PathId`].
    columns: Vec<Vec<Option<ColumnWriter>>>,
    /// The event type and path of each column, by its group number.
    column_ids: Vec<(u8, PathId)>,
    overflow: bool,
    /// By event type and [`PathId`].
    text_columns: Vec<Vec<Option<TextColumnWriter>>>,
    /// The event type and path of each text column, by its number.
    text_column_ids: Vec<(u8, PathId)>,
    attributes: AttributeBitmaps,
    dictionaries: Dictionaries,
    orders: OrderTracker,
    books: Books,
    digest: DigestWriter,
    /// Events by type and severity.
    counts: Vec<[u32; 4]>,
    span: (i64, i64),
    /// Reused buffer for keys of [`Dictionary::IndicatorState`].
    key: String,
    /// Missing parents, and circular links.
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
    price_state: DictionaryWriter,
    fill_state: DictionaryWriter,
}

impl<'a> SealWriter<'a> {
    pub(super) fn new(out: &'a dyn Blobs, first_pass: &'a FirstPass, header: &RunHeader) -> Self {
        let bitmaps = |length: usize| vec![RoaringBitmap::new(); length];
        Self {
            out: ChecksummedBlobs::new(out),
            blobs: 0,
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
            text_columns: EventType::ALL.iter().map(|_| Vec::new()).collect(),
            text_column_ids: Vec::new(),
            attributes: AttributeBitmaps {
                types: bitmaps(EventType::ALL.len()),
                severities: bitmaps(Severity::ALL.len()),
                categories: bitmaps(Category::ALL.len()),
                ..AttributeBitmaps::default()
            },
            dictionaries: Dictionaries::default(),
            orders: OrderTracker::default(),
            books: Books::default(),
            digest: DigestWriter::default(),
            counts: vec![[0; 4]; EventType::ALL.len()],
            span: (0, 0),
            key: String::new(),
            unresolved_parents: [0, 0],
        }
    }

    pub(super) fn event(&mut self, block: &Block, row: &Row, seq: u32) -> Result<(), LogError> {
        let outline = Outline::of(block.properties(row));
        let (parent, mut flags) = self.resolve_parent(row, seq, &outline);
        if let Some(original) = block.original(row) {
            flags.insert(Flags::of_producer(&validate::producer_problems(original)));
        }
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
        self.digest.push(row, &outline);
        if self.directory.is_full() {
            self.close_directory()?;
        }
        self.record_attributes(row, seq, kind, flags);
        if let Some(effect) = effect {
            self.orders.apply(seq, effect, &outline);
        }
        let entities = self.record_entities(row, seq, flags, &outline)?;
        self.record_properties(row.event_type, rank, entities, &outline)?;

        let mut entry = block.entry(row);
        // An export restores the order of arrival where it differs from the order of time.
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

    /// The resolved parent link of an event, and its validation flags.
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

    fn record_attributes(&mut self, row: &Row, seq: u32, kind: Kind, flags: Flags) {
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

    /// Adds an event to the books, to the dictionaries of entities and of states for snapshots.
    /// Returns the codes of its [`GROUPED`] entities.
    fn record_entities(
        &mut self,
        row: &Row,
        seq: u32,
        flags: Flags,
        outline: &Outline<'_>,
    ) -> Result<[u32; GROUPED.len()], LogError> {
        let mut codes = [NO_GROUP; GROUPED.len()];
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
                        codes[1] = self.dictionaries.position.push(&id, seq);
                    }
                }
                "StateType" => pnl |= token == Token::Text("PnL"),
                _ => {}
            }
        }
        if let Some(symbol) = &symbol {
            codes[0] = self.dictionaries.symbol.push(symbol, seq);
        }
        if let Some(indicator) = &indicator {
            codes[2] = self.dictionaries.indicator.push(indicator, seq);
        }
        // An order that is not a GUID does not make a fill unusable; a number that is none does.
        // A bar with an error is no price of the state, and none of the curve.
        let is_market = row.event_type == EventType::MarketDataEvent;
        let is_priced = is_market && symbol.is_some() && !flags.contains(Flags::PROPERTY_ERROR);
        let price = if is_priced { prices::last_price(outline) } else { None };
        let security = symbol.as_deref().map(|symbol| (symbol, codes[0]));
        let booked = match (security, price) {
            (Some(own), Some(price)) => self.books.market(row.timestamp, own, price, outline),
            _ if is_market => Booked::default(),
            _ => self.books.event(seq, row.timestamp, row.event_type, security, outline)?,
        };
        let listing = symbol.as_deref().map(|symbol| self.books.key(booked, symbol));
        if let (true, Some(listing)) = (booked.is_fill, listing) {
            self.dictionaries.fill_state.push(listing, seq);
        }
        // An event with a property error is stored and found, but is no source of state.
        if flags.contains(Flags::PROPERTY_ERROR) {
            return Ok(codes);
        }
        if pnl && row.event_type == EventType::StateChange {
            let currency = outline
                .member_of("StateAfter", "Currency")
                .or_else(|| outline.member("Currency"))
                .and_then(|token| token.text());
            self.dictionaries.pnl_state.push(currency.as_deref().unwrap_or_default(), seq);
        }
        match (row.event_type, listing, indicator) {
            (EventType::PositionUpdate, Some(listing), _) => {
                self.dictionaries.position_state.push(listing, seq);
            }
            (EventType::MarketDataEvent, Some(listing), _) if price.is_some() => {
                self.dictionaries.price_state.push(listing, seq);
            }
            (EventType::IndicatorCalculation, _, Some(indicator)) => {
                self.key.clear();
                self.key.push_str(&indicator);
                self.key.push('\u{1}');
                self.key.push_str(symbol.as_deref().unwrap_or_default());
                self.dictionaries.indicator_state.push(&self.key, seq);
            }
            _ => {}
        }
        Ok(codes)
    }

    /// Adds the numbers of an event to the columns, its texts and booleans to the text columns.
    fn record_properties(
        &mut self,
        event_type: EventType,
        rank: u32,
        entities: [u32; GROUPED.len()],
        outline: &Outline<'_>,
    ) -> Result<(), LogError> {
        let code = event_type.code();
        let (Some(columns), Some(texts)) =
            (self.columns.get_mut(usize::from(code)), self.text_columns.get_mut(usize::from(code)))
        else {
            return Ok(());
        };
        let mut full = Vec::new();
        let (numbers, overflow) = (&mut self.column_ids, &mut self.overflow);
        let text_ids = &mut self.text_column_ids;
        let complete = self.properties.walk(outline, |path, token| {
            if matches!(token, Token::Text(_) | Token::Bool(_)) {
                record_text(texts, text_ids, (code, path), rank, token)?;
            }
            let Some(number) = numeric_text(token).and_then(Number::parse) else { return Ok(()) };
            let place = path.0 as usize;
            if columns.len() <= place {
                columns.resize_with(place + 1, || None);
            }
            // Columns are counted only for a new property: this runs for every number.
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
            if let Some(blob) = slot.get_or_insert_default().push(rank, number, entities)? {
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
        self.digest.end_chunk();
        let blob = self.directory.finish_chunk()?;
        let key = BlobKey::new(BlobKind::Directory, 0, self.directory_chunks);
        self.directory_chunks += 1;
        self.put(key, blob)
    }

    fn put(&mut self, key: BlobKey, blob: Vec<u8>) -> Result<(), LogError> {
        self.pending_bytes += blob.len();
        self.blobs += 1;
        self.pending.push((key, blob));
        if self.pending_bytes < WRITE_BUFFER_BYTES { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<(), LogError> {
        self.pending_bytes = 0;
        self.out.put(std::mem::take(&mut self.pending))
    }

    pub(super) fn finish(
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
        let text_columns = self.finish_text_columns()?;
        self.finish_attributes()?;
        let mut blobs = Vec::new();
        let span = (Timestamp::from_nanos(self.span.0), Timestamp::from_nanos(self.span.1));
        let books = std::mem::take(&mut self.books).finish(span, &mut blobs)?;
        let digest = self.digest.finish()?;
        blobs.push((BlobKey::new(BlobKind::Digest, 0, 0), digest));
        let written = std::mem::take(&mut self.dictionaries);
        for (dictionary, writer) in [
            (Dictionary::Order, written.order),
            (Dictionary::Symbol, written.symbol),
            (Dictionary::Position, written.position),
            (Dictionary::Indicator, written.indicator),
            (Dictionary::PositionState, written.position_state),
            (Dictionary::IndicatorState, written.indicator_state),
            (Dictionary::PnlState, written.pnl_state),
            (Dictionary::PriceState, written.price_state),
            (Dictionary::FillState, written.fill_state),
        ] {
            writer.finish(dictionary, &mut blobs)?;
            self.put_all(&mut blobs)?;
        }
        std::mem::take(&mut self.orders).finish(self.directory_chunks, &mut blobs)?;
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
            text_columns,
            trades: books.trades,
            curves: books.curves,
            summary: books.summary,
            // The head itself, and the report of sealing.
            blobs: self.blobs + 2,
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
            let total = column.total();
            let mut blobs = vec![(BlobKey::new(BlobKind::ColumnHead, group, 0), column.head()?)];
            if let Some(blob) = last {
                let number = column.blocks - 1;
                blobs.push((BlobKey::new(BlobKind::ColumnBlock, group, number), blob));
            }
            let entities = [
                &self.dictionaries.symbol,
                &self.dictionaries.position,
                &self.dictionaries.indicator,
            ];
            let mut grouped_by = Vec::new();
            for ((groups, entity), dictionary) in column.groups().iter().zip(entities).zip(GROUPED)
            {
                let name = |code| entity.value(code).unwrap_or_default().to_owned();
                if let Some(blob) = groups.finish(name)? {
                    let number = u32::from(dictionary.code());
                    blobs.push((BlobKey::new(BlobKind::GroupStats, group, number), blob));
                    grouped_by.push(dictionary.code());
                }
            }
            self.put_all(&mut blobs)?;
            infos.push(ColumnInfo {
                event_type: code,
                path: self.properties.path(path),
                count: total.count,
                min: total.min,
                max: total.max,
                grouped_by,
            });
        }
        Ok(infos)
    }

    fn finish_text_columns(&mut self) -> Result<Vec<TextColumnInfo>, LogError> {
        let (mut infos, mut blobs) = (Vec::new(), Vec::new());
        for (number, (code, path)) in (0_u16..).zip(std::mem::take(&mut self.text_column_ids)) {
            let columns = self.text_columns.get_mut(usize::from(code));
            let column = columns.and_then(|columns| columns.get_mut(path.0 as usize)?.take());
            let Some(column) = column else { continue };
            let values = (!column.is_dropped).then(|| column.distinct());
            column.finish(number, &mut blobs)?;
            self.put_all(&mut blobs)?;
            let path = self.properties.path(path);
            infos.push(TextColumnInfo { event_type: code, path, values });
        }
        Ok(infos)
    }

    fn finish_attributes(&mut self) -> Result<(), LogError> {
        let attributes = std::mem::take(&mut self.attributes);
        let mut bitmaps: Vec<(Attribute, &RoaringBitmap)> = Vec::new();
        bitmaps
            .extend(EventType::ALL.iter().map(|own| Attribute::Type(*own)).zip(&attributes.types));
        bitmaps.extend(
            Severity::ALL.iter().map(|own| Attribute::Severity(*own)).zip(&attributes.severities),
        );
        bitmaps.extend(
            Category::ALL.iter().map(|own| Attribute::Category(*own)).zip(&attributes.categories),
        );
        bitmaps.extend([
            (Attribute::Error, &attributes.error),
            (Attribute::Warning, &attributes.warning),
            (Attribute::Root, &attributes.root),
            (Attribute::OrderPlaced, &attributes.placed),
        ]);
        for (attribute, bitmap) in bitmaps {
            let blob = dictionary::bitmap_blob(bitmap)?;
            self.put(attribute.key(), blob)?;
        }
        self.attributes = attributes;
        Ok(())
    }
}

/// Adds a text or boolean to its column. Beyond the limit the property gets a dropped column.
fn record_text(
    columns: &mut Vec<Option<TextColumnWriter>>,
    ids: &mut Vec<(u8, PathId)>,
    (code, path): (u8, PathId),
    rank: u32,
    token: Token<'_>,
) -> Result<(), LogError> {
    let place = path.0 as usize;
    if columns.len() <= place {
        columns.resize_with(place + 1, || None);
    }
    let is_new = columns.get(place).is_some_and(Option::is_none);
    let is_full = is_new && columns.iter().flatten().count() >= MAX_TEXT_COLUMNS_PER_TYPE;
    let Some(slot) = columns.get_mut(place) else { return Ok(()) };
    if is_new {
        if ids.len() >= usize::from(u16::MAX) {
            return Ok(());
        }
        ids.push((code, path));
    }
    let column = slot.get_or_insert_default();
    column.is_dropped |= is_full;
    column.push(rank, token)
}
