//! An open run: stores events in batches, survives a crash, and is sealed when complete.
//!
//! An event is acknowledged once its batch is stored: after 1000 events, after 30 seconds, or on
//! request. A crash loses at most the batch that was not yet stored.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::{LogError, Stop};
use crate::event::{Event, Guid, Parent};
use crate::line::{self, Rejection};
use crate::run::{RunHeader, RunRecord, Status};
use crate::sealed::block::{Block, BlockWriter, Entry, Link, Row, batch_keys};
use crate::sealed::checksum::ChecksummedBlobs;
use crate::sealed::codec;
use crate::sealed::head::Head;
use crate::sealed::seal::{self, Progress, Source};
use crate::store::{BlobKey, BlobKind, Blobs, Store};
use crate::timestamp::Timestamp;
use crate::validate::Flags;

/// Maximum events in a batch.
pub const BATCH_EVENTS: usize = 1000;
/// A batch is stored after this time even when it is not full.
pub const BATCH_INTERVAL: Duration = Duration::from_secs(30);
/// A batch is stored when its texts reach this size: a single event may have a megabyte.
const BATCH_BYTES: usize = 8 << 20;
/// Rejected lines that are listed; all are counted.
pub const MAX_REJECTIONS: usize = 10_000;

/// The head of an open run, stored with every batch.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct OpenHead {
    batches: u32,
    events: u32,
    rejected: u64,
    /// The producer's last line such that it and all earlier ones are stored.
    #[serde(default)]
    sequence: u64,
}

/// How much of an open run is stored.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct PersistedProgress {
    /// Stored events.
    pub events: u64,
    /// The producer's last line such that it and all earlier ones are stored.
    pub sequence: u64,
}

/// A run that accepts events.
pub struct OpenRun {
    store: Arc<dyn Store>,
    blobs: Arc<dyn Blobs>,
    record: RunRecord,
    head: OpenHead,
    writer: BlockWriter,
    rejections: Vec<Rejection>,
    batch_began: Option<Duration>,
    /// The producer's last line that was received.
    sequence: u64,
}

/// The result of sealing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SealReport {
    /// Events in the sealed run.
    pub events: u64,
    /// Duplicates with equal content, which the run has once.
    pub repeated: u64,
    /// Number of rejected lines.
    pub rejected: u64,
    /// The first rejected lines, with the reason.
    pub rejected_lines: Vec<Rejection>,
    /// Events with a validation error.
    pub errors: u64,
    /// Events with a validation warning.
    pub warnings: u64,
}

impl OpenRun {
    /// Creates a run, or reopens one that is open. Fails for a sealed run.
    pub fn open(
        store: Arc<dyn Store>,
        id: Guid,
        header: RunHeader,
        now: Timestamp,
    ) -> Result<Self, LogError> {
        let record = match store.run(id)? {
            Some(record) if record.status == Status::Completed => {
                return Err(LogError::WrongStatus { run: id, status: record.status });
            }
            Some(record) => RunRecord { header: header.or(record.header.clone()), ..record },
            None => RunRecord {
                id,
                status: Status::Running,
                header,
                created_at: now,
                events: 0,
                span: None,
                summary: None,
            },
        };
        // The id and the status of a `run.json` are columns of the catalog.
        let mut record = record;
        record.header.other.remove("runId");
        record.header.other.remove("status");
        store.save(&record)?;
        let blobs = store.open_run(id)?;
        let head = stored_head(blobs.as_ref())?;
        Ok(Self {
            store,
            blobs,
            record,
            sequence: head.sequence,
            head,
            writer: BlockWriter::default(),
            rejections: Vec::new(),
            batch_began: None,
        })
    }

    /// The run's id.
    pub const fn id(&self) -> Guid {
        self.record.id
    }

    /// Number of acknowledged events.
    pub const fn acknowledged(&self) -> u64 {
        self.head.events as u64
    }

    /// Reads how much of an open run is stored. The head is written with each batch, so this holds
    /// after a crash too.
    pub fn persisted(store: &dyn Store, id: Guid) -> Result<PersistedProgress, LogError> {
        let head = stored_head(store.open_run(id)?.as_ref())?;
        Ok(PersistedProgress { events: u64::from(head.events), sequence: head.sequence })
    }

    /// Yields every stored line of an open run as it was received, in order of arrival.
    pub fn export(
        store: &dyn Store,
        id: Guid,
        mut write: impl FnMut(&str) -> Result<(), LogError>,
    ) -> Result<(), LogError> {
        let blobs = store.open_run(id)?;
        let missing = || LogError::Damaged("a batch is missing");
        for number in 0..stored_head(blobs.as_ref())?.batches {
            let [rows, texts] = batch_keys(number).map(|key| blobs.get(key));
            let (rows, texts) = (rows?.ok_or_else(missing)?, texts?.ok_or_else(missing)?);
            let batch = Block::read_batch(&rows, &texts)?;
            for row in &batch.rows {
                match batch.original(row) {
                    Some(original) => write(original)?,
                    None => write(&line::format_line(id, &event(&batch, row)?))?,
                }
            }
        }
        Ok(())
    }

    /// The producer's last stored line; all earlier ones are stored too.
    pub const fn sequence(&self) -> u64 {
        self.head.sequence
    }

    /// Records that the producer's line `sequence` was received; the next batch stores it.
    pub const fn set_sequence(&mut self, sequence: u64) {
        self.sequence = sequence;
    }

    /// Adds an event. It is acknowledged by the next [`flush`](Self::flush), which a full or
    /// overdue batch triggers. `now` is a monotonic clock.
    pub fn push(&mut self, line: u64, event: &Event<'_>, now: Duration) -> Result<(), LogError> {
        let pending = codec::count(self.writer.len());
        let arrival = self.head.events.checked_add(pending).filter(|next| *next < u32::MAX - 1);
        let arrival = arrival.ok_or(LogError::TooManyEvents)?;
        self.writer.push(&Entry {
            seq: arrival,
            arrival,
            line,
            timestamp: event.timestamp,
            event_type: event.event_type,
            severity: event.severity,
            category: event.category,
            flags: Flags::default(),
            id: event.id,
            parent: match event.parent {
                Parent::None => Link::None,
                Parent::Id(id) => Link::Id(id),
                Parent::Unreadable => Link::Unreadable,
            },
            properties: &event.properties,
            original: event.original.as_deref(),
        });
        self.batch_began.get_or_insert(now);
        let full = self.writer.len() >= BATCH_EVENTS || self.writer.weight() >= BATCH_BYTES;
        if full || self.is_due(now) { self.flush() } else { Ok(()) }
    }

    /// Records a rejected line.
    pub fn reject(&mut self, line: u64, reason: String) {
        self.head.rejected += 1;
        if self.rejections.len() < MAX_REJECTIONS {
            self.rejections.push(Rejection { line, reason });
        }
    }

    /// Stores the pending batch atomically.
    pub fn flush(&mut self) -> Result<(), LogError> {
        let has_lines = self.sequence != self.head.sequence;
        if self.writer.len() == 0 && self.rejections.is_empty() && !has_lines {
            return Ok(());
        }
        let mut head = self.head.clone();
        let mut blobs = Vec::new();
        let number = head.batches;
        head.events += codec::count(self.writer.len());
        head.batches += 1;
        head.sequence = self.sequence;
        blobs.extend(self.writer.finish_batch(number)?);
        if !self.rejections.is_empty() {
            let json = serde_json::to_vec(&self.rejections).map_err(LogError::store)?;
            blobs.push((BlobKey::new(BlobKind::Rejections, 0, number), json));
        }
        blobs.push((HEAD, serde_json::to_vec(&head).map_err(LogError::store)?));
        self.blobs.put(blobs)?;
        self.head = head;
        self.rejections.clear();
        self.batch_began = None;
        Ok(())
    }

    /// Whether the pending batch has reached [`BATCH_INTERVAL`].
    pub fn is_due(&self, now: Duration) -> bool {
        self.batch_began.is_some_and(|began| now.saturating_sub(began) >= BATCH_INTERVAL)
    }

    /// Stores the pending batch durably. Returns the number of acknowledged events.
    pub fn acknowledge(&mut self) -> Result<u64, LogError> {
        self.flush()?;
        self.make_durable()
    }

    /// Syncs stored batches to disk. Returns the number of acknowledged events.
    pub fn make_durable(&mut self) -> Result<u64, LogError> {
        self.store.make_durable(self.record.id)?;
        self.record.events = self.acknowledged();
        self.store.save(&self.record)?;
        Ok(self.acknowledged())
    }

    /// Seals the run: it can be queried from now on and never changes again.
    pub fn seal(mut self, progress: Progress<'_>, stop: Stop<'_>) -> Result<SealReport, LogError> {
        self.acknowledge()?;
        let mut rejected = Vec::new();
        for number in 0..self.head.batches {
            if let Some(json) = self.blobs.get(BlobKey::new(BlobKind::Rejections, 0, number))? {
                let lines: Vec<Rejection> = serde_json::from_slice(&json)
                    .map_err(|_| LogError::Damaged("unreadable list of rejected lines"))?;
                rejected.extend(lines);
            }
        }
        let unlisted = self.head.rejected.saturating_sub(rejected.len() as u64);
        let written = self.write_sealed(rejected, unlisted, progress, stop);
        let (head, report) = match written {
            Ok(written) => written,
            Err(error) => {
                // Frees the disk space of the failed seal. Its own error would hide the cause.
                let _ = self.store.abandon_seal(self.record.id);
                return Err(error);
            }
        };
        self.record.status = Status::Completed;
        self.record.events = report.events;
        let span = (Timestamp::from_nanos(head.first), Timestamp::from_nanos(head.last));
        self.record.span = (head.events > 0).then_some(span);
        self.record.summary = Some(head.summary);
        self.store.finish_seal(&self.record)?;
        Ok(report)
    }

    fn write_sealed(
        &self,
        rejected: Vec<Rejection>,
        unlisted: u64,
        progress: Progress<'_>,
        stop: Stop<'_>,
    ) -> Result<(Head, SealReport), LogError> {
        let out = self.store.begin_seal(self.record.id)?;
        // `begin_seal` excludes other writers from here on; a batch stored before that is not in
        // this writer's head.
        let stored = stored_head(self.blobs.as_ref())?;
        if (stored.batches, stored.events) != (self.head.batches, self.head.events) {
            return Err(LogError::ConcurrentWriter);
        }
        let source = Source {
            blobs: self.blobs.as_ref(),
            batches: self.head.batches,
            events: self.head.events,
            rejected,
            header: &self.record.header,
        };
        let (head, mut lines) = seal::seal(source, out.as_ref(), progress, stop)?;
        let rejected = unlisted + lines.len() as u64;
        lines.truncate(MAX_REJECTIONS);
        let report = SealReport {
            events: u64::from(head.events),
            repeated: head.repeated,
            rejected,
            rejected_lines: lines,
            errors: head.problems[0],
            warnings: head.problems[1],
        };
        let json = serde_json::to_vec(&report).map_err(LogError::store)?;
        ChecksummedBlobs::new(out.as_ref()).put(vec![(REPORT, json)])?;
        Ok((head, report))
    }
}

/// The event of a row of a batch.
fn event<'a>(batch: &'a Block, row: &Row) -> Result<Event<'a>, LogError> {
    let parent = match row.parent {
        Link::None => Parent::None,
        Link::Unreadable => Parent::Unreadable,
        Link::Id(id) => Parent::Id(id),
        Link::Seq(_) => return Err(LogError::Damaged("a batch refers to a sealed event")),
    };
    Ok(Event {
        id: row.id,
        timestamp: row.timestamp,
        event_type: row.event_type,
        severity: row.severity,
        category: row.category,
        properties: batch.properties(row).into(),
        parent,
        original: None,
    })
}

const HEAD: BlobKey = BlobKey::new(BlobKind::Head, 0, 0);
fn stored_head(blobs: &dyn Blobs) -> Result<OpenHead, LogError> {
    match blobs.get(HEAD)? {
        None => Ok(OpenHead::default()),
        Some(json) => serde_json::from_slice(&json)
            .map_err(|_| LogError::Damaged("unreadable head of an open run")),
    }
}

/// Key of the seal report in a sealed run.
pub(crate) const REPORT: BlobKey = BlobKey::new(BlobKind::Rejections, 0, 0);
