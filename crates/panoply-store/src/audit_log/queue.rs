//! Bounded queue between callers and the writer thread. Callers wait asynchronously.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use panoply_contract::audit::AuditEntry;
use tokio::sync::{Semaphore, oneshot};

use crate::error::StoreError;

/// Rows in the queue before callers have to wait.
const QUEUE_CAPACITY: usize = 4096;
/// Maximum number of rows in one transaction.
const MAX_BATCH_ROWS: usize = 512;
/// How long the writer collects query rows into a batch. No caller waits for them.
pub(super) const BATCH_DELAY: Duration = Duration::from_millis(20);
/// How long the writer waits before it retries a failed write.
const WRITE_RETRY_DELAY: Duration = Duration::from_millis(500);

/// Outcome of a write, shared by all callers of the batch.
pub type WriteResult = Result<(), Arc<StoreError>>;

/// A queued row, with a channel for a caller that waits until the row is durable.
pub struct PendingRow {
    /// The entry.
    pub entry: AuditEntry,
    /// Notified when the row is durable.
    pub done: Option<oneshot::Sender<WriteResult>>,
}

/// The writer's next unit of work.
#[derive(Default)]
pub struct Batch {
    /// The rows, oldest first.
    pub rows: Vec<PendingRow>,
    /// Notified after the rows have been committed or have failed.
    pub flushes: Vec<oneshot::Sender<()>>,
    /// The queue is closed and empty after this batch.
    pub last: bool,
    #[cfg(test)]
    pub(super) tampering: Vec<ConnectionHook>,
}

/// Runs on the writer's connection, to inject failures.
#[cfg(test)]
pub(super) type ConnectionHook = Box<dyn FnOnce(&rusqlite::Connection) + Send>;

/// Queue between the callers of [`AuditLog::append`](panoply_contract::audit::AuditLog::append) and a
/// writer thread.
pub struct Queue {
    state: Mutex<State>,
    wake: Condvar,
    /// One permit for each free slot.
    capacity: Semaphore,
}

struct State {
    rows: VecDeque<PendingRow>,
    /// Number of rows the writer has dequeued.
    taken: u64,
    /// Pending flushes, each with the value of `taken` that completes it.
    flushes: Vec<(u64, oneshot::Sender<()>)>,
    /// A caller waits, so the writer must not delay the batch.
    urgent: bool,
    closing: bool,
    health: WriteResult,
    /// Set once the writer has ended.
    writer_error: Option<Arc<StoreError>>,
    lost: u64,
    #[cfg(test)]
    tampering: Vec<ConnectionHook>,
}

impl Queue {
    /// An empty queue.
    #[expect(clippy::new_without_default, reason = "a queue is made for one writer")]
    pub fn new() -> Self {
        let state = State {
            rows: VecDeque::new(),
            taken: 0,
            flushes: Vec::new(),
            urgent: false,
            closing: false,
            health: Ok(()),
            writer_error: None,
            lost: 0,
            #[cfg(test)]
            tampering: Vec::new(),
        };
        Self {
            state: Mutex::new(state),
            wake: Condvar::new(),
            capacity: Semaphore::new(QUEUE_CAPACITY),
        }
    }

    /// Queues a row without waiting for it to be durable; returns the row when the queue is full.
    pub fn try_push(&self, entry: AuditEntry) -> Option<AuditEntry> {
        match self.capacity.try_acquire() {
            Ok(permit) => {
                permit.forget();
                self.add(PendingRow { entry, done: None });
                None
            }
            Err(tokio::sync::TryAcquireError::NoPermits) => Some(entry),
            // The writer has ended. Queries continue and their unrecorded rows are counted.
            Err(tokio::sync::TryAcquireError::Closed) => {
                self.count_lost(1);
                None
            }
        }
    }

    /// Queues a row without waiting for it to be durable; waits while the queue is full.
    pub async fn push(&self, entry: AuditEntry) {
        match self.capacity.acquire().await {
            Ok(permit) => {
                permit.forget();
                self.add(PendingRow { entry, done: None });
            }
            Err(_) => self.count_lost(1),
        }
    }

    /// Queues a row and waits until it is durable.
    pub async fn push_and_wait(&self, entry: AuditEntry) -> WriteResult {
        let Ok(permit) = self.capacity.acquire().await else { return self.health() };
        permit.forget();
        let (done, written) = oneshot::channel();
        self.add(PendingRow { entry, done: Some(done) });
        match written.await {
            Ok(written) => written,
            Err(_) => self.health(),
        }
    }

    /// Waits until every row queued before has been committed or has failed.
    pub async fn flush(&self) {
        let (done, flushed) = oneshot::channel();
        {
            let mut state = self.lock();
            if state.writer_error.is_some() {
                return;
            }
            let until = state.taken + state.rows.len() as u64;
            state.flushes.push((until, done));
            state.urgent = true;
        }
        self.wake.notify_one();
        let _ = flushed.await;
    }

    /// Refuses further rows; the writer ends with the next batch.
    pub fn close(&self) {
        self.lock().closing = true;
        self.wake.notify_one();
    }

    /// Outcome of the last write, or the error that ended the writer.
    pub fn health(&self) -> WriteResult {
        let state = self.lock();
        match &state.writer_error {
            Some(error) => Err(Arc::clone(error)),
            None => state.health.clone(),
        }
    }

    /// Number of rows dropped.
    pub fn lost(&self) -> u64 {
        self.lock().lost
    }

    /// For the writer: reports the outcome of a write and frees the slots of the dequeued rows.
    pub fn report_outcome(&self, outcome: WriteResult, taken: usize) {
        self.lock().health = outcome;
        self.capacity.add_permits(taken);
    }

    /// Counts rows that could not be kept.
    pub fn count_lost(&self, rows: u64) {
        self.lock().lost += rows;
    }

    /// For the writer: reports that it has ended.
    pub fn end(&self, error: StoreError) {
        let mut state = self.lock();
        state.writer_error = Some(Arc::new(error));
        self.capacity.close();
        state.lost += state.rows.iter().filter(|row| row.done.is_none()).count() as u64;
        // Dropping the senders wakes the callers that wait.
        state.rows.clear();
        state.flushes.clear();
    }

    /// For the writer: waits for the next batch. While rows are `buffered` after a failed write, it
    /// returns after [`WRITE_RETRY_DELAY`] at the latest so that the write is retried.
    pub fn next(&self, buffered: bool) -> Batch {
        let mut state = self.lock();
        if buffered {
            let idle = |state: &mut State| !(state.urgent || state.closing);
            state = self
                .wake
                .wait_timeout_while(state, WRITE_RETRY_DELAY, idle)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        } else {
            let idle =
                |state: &mut State| state.rows.is_empty() && !(state.urgent || state.closing);
            state = self.wake.wait_while(state, idle).unwrap_or_else(PoisonError::into_inner);
            let gathering = |state: &mut State| {
                state.rows.len() < MAX_BATCH_ROWS && !(state.urgent || state.closing)
            };
            state = self
                .wake
                .wait_timeout_while(state, BATCH_DELAY, gathering)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        state.take()
    }

    fn add(&self, row: PendingRow) {
        let mut state = self.lock();
        if state.writer_error.is_some() {
            state.lost += u64::from(row.done.is_none());
            return;
        }
        let urgent = row.done.is_some();
        state.urgent |= urgent;
        state.rows.push_back(row);
        // Wake the writer for the first row, an urgent row and a full batch.
        let wake = urgent || state.rows.len() == 1 || state.rows.len() == MAX_BATCH_ROWS;
        drop(state);
        if wake {
            self.wake.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) async fn tamper(&self, tampering: ConnectionHook) {
        self.lock().tampering.push(tampering);
        self.flush().await;
    }
}

impl State {
    fn take(&mut self) -> Batch {
        let count = self.rows.len().min(MAX_BATCH_ROWS);
        let rows: Vec<PendingRow> = self.rows.drain(..count).collect();
        self.taken += count as u64;
        let taken = self.taken;
        let flushes = self.flushes.extract_if(.., |(until, _)| *until <= taken);
        let flushes = flushes.map(|(_, done)| done).collect();
        let drained = self.rows.is_empty();
        if drained {
            self.urgent = false;
        }
        Batch {
            rows,
            flushes,
            last: self.closing && drained,
            #[cfg(test)]
            tampering: std::mem::take(&mut self.tampering),
        }
    }
}
