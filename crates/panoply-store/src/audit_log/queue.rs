//! Between the callers and the writer: a bounded queue that callers never block a thread on.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use panoply_contract::audit::AuditEntry;
use tokio::sync::{Semaphore, oneshot};

use crate::error::StoreError;

/// How many rows may wait before callers do.
const ROOM: usize = 4096;
/// The most rows in one transaction.
const BATCH: usize = 512;
/// How long the writer lets rows of queries gather. Nobody waits for those.
pub(super) const LINGER: Duration = Duration::from_millis(20);
/// How long the writer waits before it tries a failing disk again.
const RETRY: Duration = Duration::from_millis(500);

/// The outcome of a write, shared by everyone who waits for it.
pub(super) type Written = Result<(), Arc<StoreError>>;

/// A row on its way, and who waits for it.
pub(super) struct Job {
    pub(super) entry: AuditEntry,
    pub(super) done: Option<oneshot::Sender<Written>>,
}

/// What the writer is to do next.
#[derive(Default)]
pub(super) struct Work {
    pub(super) jobs: Vec<Job>,
    /// Who wants to know when these have been tried.
    pub(super) flushes: Vec<oneshot::Sender<()>>,
    /// Nothing comes after this.
    pub(super) last: bool,
    #[cfg(test)]
    pub(super) tampering: Vec<Tampering>,
}

/// Something a test does to the writer's connection.
#[cfg(test)]
pub(super) type Tampering = Box<dyn FnOnce(&rusqlite::Connection) + Send>;

pub(super) struct Queue {
    state: Mutex<State>,
    wake: Condvar,
    /// One permit for each row that may still wait.
    room: Semaphore,
}

struct State {
    jobs: VecDeque<Job>,
    /// How many rows the writer has taken so far.
    taken: u64,
    /// Who waits for rows to be tried, and for how many in all.
    flushes: Vec<(u64, oneshot::Sender<()>)>,
    /// Someone waits, so the writer must not linger.
    urgent: bool,
    closing: bool,
    health: Written,
    /// Why nothing will be written any more.
    gone: Option<Arc<StoreError>>,
    lost: u64,
    #[cfg(test)]
    tampering: Vec<Tampering>,
}

impl Queue {
    pub(super) fn new() -> Self {
        let state = State {
            jobs: VecDeque::new(),
            taken: 0,
            flushes: Vec::new(),
            urgent: false,
            closing: false,
            health: Ok(()),
            gone: None,
            lost: 0,
            #[cfg(test)]
            tampering: Vec::new(),
        };
        Self { state: Mutex::new(state), wake: Condvar::new(), room: Semaphore::new(ROOM) }
    }

    /// Queues a row that nobody waits for; gives it back when there is no room right now.
    pub(super) fn try_push(&self, entry: AuditEntry) -> Option<AuditEntry> {
        match self.room.try_acquire() {
            Ok(permit) => {
                permit.forget();
                self.add(Job { entry, done: None });
                None
            }
            Err(tokio::sync::TryAcquireError::NoPermits) => Some(entry),
            // The writer is gone. Queries go on; that they are not recorded is counted.
            Err(tokio::sync::TryAcquireError::Closed) => {
                self.lose(1);
                None
            }
        }
    }

    /// Queues a row that nobody waits for, as soon as there is room.
    pub(super) async fn push(&self, entry: AuditEntry) {
        match self.room.acquire().await {
            Ok(permit) => {
                permit.forget();
                self.add(Job { entry, done: None });
            }
            Err(_) => self.lose(1),
        }
    }

    /// Queues a row and waits until it is on disk.
    pub(super) async fn push_and_wait(&self, entry: AuditEntry) -> Written {
        let Ok(permit) = self.room.acquire().await else { return self.health() };
        permit.forget();
        let (done, written) = oneshot::channel();
        self.add(Job { entry, done: Some(done) });
        match written.await {
            Ok(written) => written,
            Err(_) => self.health(),
        }
    }

    /// Waits until what was queued before has been tried.
    pub(super) async fn flush(&self) {
        let (done, flushed) = oneshot::channel();
        {
            let mut state = self.lock();
            if state.gone.is_some() {
                return;
            }
            let until = state.taken + state.jobs.len() as u64;
            state.flushes.push((until, done));
            state.urgent = true;
        }
        self.wake.notify_one();
        let _ = flushed.await;
    }

    pub(super) fn close(&self) {
        self.lock().closing = true;
        self.wake.notify_one();
    }

    /// Whether a row could be written now, as far as is known.
    pub(super) fn health(&self) -> Written {
        let state = self.lock();
        match &state.gone {
            Some(error) => Err(Arc::clone(error)),
            None => state.health.clone(),
        }
    }

    pub(super) fn lost(&self) -> u64 {
        self.lock().lost
    }

    /// For the writer: what came of the last try, and how many rows it has taken over.
    pub(super) fn tried(&self, outcome: Written, taken: usize) {
        self.lock().health = outcome;
        self.room.add_permits(taken);
    }

    pub(super) fn lose(&self, rows: u64) {
        self.lock().lost += rows;
    }

    /// For the writer: nothing will be written any more.
    pub(super) fn end(&self, error: StoreError) {
        let mut state = self.lock();
        state.gone = Some(Arc::new(error));
        self.room.close();
        state.lost += state.jobs.iter().filter(|job| job.done.is_none()).count() as u64;
        // Whoever waits learns it from the end of its channel.
        state.jobs.clear();
        state.flushes.clear();
    }

    /// For the writer: waits for something to do. While rows are being `held` because the disk
    /// takes nothing, it comes back after a while in any case, to try again.
    pub(super) fn next(&self, held: bool) -> Work {
        let mut state = self.lock();
        if held {
            let idle = |state: &mut State| !(state.urgent || state.closing);
            state = self
                .wake
                .wait_timeout_while(state, RETRY, idle)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        } else {
            let idle =
                |state: &mut State| state.jobs.is_empty() && !(state.urgent || state.closing);
            state = self.wake.wait_while(state, idle).unwrap_or_else(PoisonError::into_inner);
            let gathering =
                |state: &mut State| state.jobs.len() < BATCH && !(state.urgent || state.closing);
            state = self
                .wake
                .wait_timeout_while(state, LINGER, gathering)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        state.take()
    }

    fn add(&self, job: Job) {
        let mut state = self.lock();
        if state.gone.is_some() {
            state.lost += u64::from(job.done.is_none());
            return;
        }
        let urgent = job.done.is_some();
        state.urgent |= urgent;
        state.jobs.push_back(job);
        // A waiting writer must hear of the first row, of an urgent one and of a full batch.
        let wake = urgent || state.jobs.len() == 1 || state.jobs.len() == BATCH;
        drop(state);
        if wake {
            self.wake.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) async fn tamper(&self, tampering: Tampering) {
        self.lock().tampering.push(tampering);
        self.flush().await;
    }
}

impl State {
    fn take(&mut self) -> Work {
        let count = self.jobs.len().min(BATCH);
        let jobs: Vec<Job> = self.jobs.drain(..count).collect();
        self.taken += count as u64;
        let taken = self.taken;
        let flushes = self.flushes.extract_if(.., |(until, _)| *until <= taken);
        let flushes = flushes.map(|(_, done)| done).collect();
        let drained = self.jobs.is_empty();
        if drained {
            self.urgent = false;
        }
        Work {
            jobs,
            flushes,
            last: self.closing && drained,
            #[cfg(test)]
            tampering: std::mem::take(&mut self.tampering),
        }
    }
}
