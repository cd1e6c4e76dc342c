//! A stream of JSONL into an open run: byte chunks in, acknowledgements out.
//!
//! Independent of sockets and clocks. A batch is stored durably after 1000 events or 30 seconds,
//! whether or not another line arrives, and is acknowledged only then. Memory holds at most one
//! batch and one line.

use std::time::Duration;

use crate::error::LogError;
use crate::ingest::OpenRun;
use crate::line::{self, Rejection};

/// Longer lines are rejected: the current line of every stream is held in memory.
pub const MAX_LINE_BYTES: usize = 4 << 20;
/// Rejected lines that are listed; all are counted.
const MAX_LISTED_REJECTIONS: usize = 100;

/// One producer's stream of lines into an open run.
pub struct EventStream {
    run: OpenRun,
    /// The incomplete current line.
    line: Vec<u8>,
    too_long: bool,
    /// Sequence number of the last received line, counted over all lines of the producer.
    number: u64,
    /// The last stored line when the stream began; lines up to it are skipped.
    already_persisted: u64,
    /// The last line that a stored batch covers.
    flushed_sequence: u64,
    rejected: u64,
    rejections: Vec<Rejection>,
}

/// The acknowledgement of a durable batch.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Acknowledged {
    /// Acknowledged events of the run, from this and all earlier streams.
    pub events: u64,
    /// The producer's last stored line; it resumes after this one.
    pub sequence: u64,
}

impl EventStream {
    /// Starts a stream. Its first line has sequence number `first`, which starts at 1 and is at
    /// most one more than the run's stored sequence.
    pub const fn new(run: OpenRun, first: u64) -> Self {
        let already_persisted = run.sequence();
        Self {
            run,
            line: Vec::new(),
            too_long: false,
            number: first.saturating_sub(1),
            already_persisted,
            flushed_sequence: already_persisted,
            rejected: 0,
            rejections: Vec::new(),
        }
    }

    /// The last acknowledgement.
    pub const fn acknowledged(&self) -> Acknowledged {
        Acknowledged { events: self.run.acknowledged(), sequence: self.run.sequence() }
    }

    /// Adds a chunk of bytes. Returns an acknowledgement if it completed a batch.
    pub fn push(&mut self, chunk: &[u8], now: Duration) -> Result<Option<Acknowledged>, LogError> {
        let before = self.flushed_sequence;
        let mut rest = chunk;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (head, tail) = rest.split_at(end);
            self.append(head);
            self.end_of_line(now)?;
            rest = tail.get(1..).unwrap_or_default();
        }
        self.append(rest);
        if self.flushed_sequence == before { Ok(None) } else { self.make_durable().map(Some) }
    }

    /// Advances time. Returns an acknowledgement if the pending batch was due.
    pub fn tick(&mut self, now: Duration) -> Result<Option<Acknowledged>, LogError> {
        if !self.run.is_due(now) {
            return Ok(None);
        }
        self.run.flush()?;
        self.flushed_sequence = self.run.sequence();
        self.make_durable().map(Some)
    }

    /// Ends the stream. If the connection was cut, an incomplete last line is discarded: it was
    /// not acknowledged, so the producer sends it again.
    pub fn finish(&mut self, was_cut: bool, now: Duration) -> Result<Acknowledged, LogError> {
        if !was_cut && (!self.line.is_empty() || self.too_long) {
            self.end_of_line(now)?;
        }
        self.run.flush()?;
        self.flushed_sequence = self.run.sequence();
        self.make_durable()
    }

    /// Number of rejected lines, and the first of them.
    pub fn rejected(&self) -> (u64, &[Rejection]) {
        (self.rejected, &self.rejections)
    }

    fn make_durable(&mut self) -> Result<Acknowledged, LogError> {
        let events = self.run.make_durable()?;
        Ok(Acknowledged { events, sequence: self.run.sequence() })
    }

    fn append(&mut self, chunk: &[u8]) {
        if self.line.len() + chunk.len() > MAX_LINE_BYTES {
            self.too_long = true;
            self.line.clear();
        }
        if !self.too_long {
            self.line.extend_from_slice(chunk);
        }
    }

    fn end_of_line(&mut self, now: Duration) -> Result<(), LogError> {
        self.number += 1;
        let line = std::mem::take(&mut self.line);
        let is_duplicate = self.number <= self.already_persisted;
        if !is_duplicate {
            self.run.set_sequence(self.number);
        }
        let outcome = if is_duplicate {
            self.too_long = false;
            Ok(())
        } else if std::mem::take(&mut self.too_long) {
            Err("the line is longer than 4 MiB".to_owned())
        } else {
            self.push_line(&line, now)?
        };
        if let Err(reason) = outcome {
            self.run.reject(self.number, reason.clone());
            self.rejected += 1;
            if self.rejections.len() < MAX_LISTED_REJECTIONS {
                self.rejections.push(Rejection { line: self.number, reason });
            }
        }
        // Reuses the buffer, unless one long line made it large.
        self.line = line;
        self.line.clear();
        self.line.shrink_to(64 << 10);
        Ok(())
    }

    fn push_line(&mut self, line: &[u8], now: Duration) -> Result<Result<(), String>, LogError> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.trim_ascii().is_empty() {
            return Ok(Ok(()));
        }
        let Ok(text) = std::str::from_utf8(line) else {
            return Ok(Err("the line is not UTF-8".to_owned()));
        };
        let (run, event) = match line::parse(text) {
            Ok(parsed) => parsed,
            Err(reason) => return Ok(Err(reason)),
        };
        if let Some(other) = run.filter(|run| *run != self.run.id()) {
            let own = self.run.id();
            return Ok(Err(format!("the event belongs to run `{other}`, not to `{own}`")));
        }
        self.run.push(self.number, &event, now)?;
        self.flushed_sequence = self.run.sequence();
        Ok(Ok(()))
    }
}
