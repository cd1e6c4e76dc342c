//! Lanes (bulkheads) for blocking handlers. Each pack has one lane for fast calls and one for slow
//! calls, so that a pack with a locked store or a hanging disk does not block the others.
//!
//! A lane is a bounded FIFO channel that a fixed number of threads of the runtime's blocking pool
//! drain. No handler that accesses a store or file runs on an async worker: there its deadline
//! could not fire, and two blocked handlers would stop a server with two cores. With a semaphore
//! in place of the channel every queued call woke an async worker first, which then woke a
//! thread: a third of the CPU time of a query under load.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender};
use tokio::sync::oneshot;

use crate::error::{ErrorKind, ToolError};
use crate::spec::ResponseTime;

/// Maximum number of calls waiting for a lane. Further calls are refused: they would time out.
const MAX_WAITING: usize = 1024;
/// Slow handlers mostly wait for processes and other threads.
const SLOW_THREADS: usize = 32;

/// The lanes of one pack.
#[derive(Debug)]
pub(crate) struct Lanes {
    quick: Lane,
    slow: Lane,
}

impl Lanes {
    /// One thread more than cores, so that a handler waiting for the disk does not idle a core. More
    /// only add context switches: the 95th percentile of a hundred clients rises.
    pub(crate) fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Self { quick: Lane::new(cores.max(2) + 1), slow: Lane::new(SLOW_THREADS) }
    }

    pub(crate) const fn of(&self, response_time: ResponseTime) -> &Lane {
        match response_time {
            ResponseTime::Fast | ResponseTime::Medium => &self.quick,
            ResponseTime::Slow => &self.slow,
        }
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// A bounded number of threads with a FIFO queue.
#[derive(Debug)]
pub(crate) struct Lane {
    queue: Sender<Job>,
    threads: Arc<Threads>,
}

/// The threads that drain a queue. They start on demand and end when the queue is empty.
#[derive(Debug)]
struct Threads {
    jobs: Receiver<Job>,
    active: AtomicUsize,
    max: usize,
}

impl Lane {
    fn new(threads: usize) -> Self {
        let (queue, jobs) = crossbeam_channel::bounded(MAX_WAITING);
        Self {
            queue,
            threads: Arc::new(Threads { jobs, active: AtomicUsize::new(0), max: threads }),
        }
    }

    /// Runs `work` on a thread of the lane. Cancellation before it starts drops `work`; afterwards
    /// it runs to completion.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, ToolError> {
        let queued = Queued(Arc::new(Mutex::new(Some(work))));
        let (reply, result) = oneshot::channel();
        let (work, runtime) = (Arc::clone(&queued.0), tokio::runtime::Handle::current());
        let job = move || {
            if let Some(work) = take(&work) {
                // The receiver is gone if the caller stopped waiting.
                let _ = reply.send(runtime.block_on(work));
            }
        };
        self.queue.try_send(Box::new(job)).map_err(|_| busy())?;
        self.threads.start_one();
        result.await.map_err(|error| ToolError::system("a lane lost a call").cause(error))
    }
}

impl Threads {
    /// Starts a thread unless all are active.
    fn start_one(self: &Arc<Self>) {
        let below_max = |active| (active < self.max).then_some(active + 1);
        if self.active.fetch_update(Ordering::SeqCst, Ordering::SeqCst, below_max).is_ok() {
            let threads = Arc::clone(self);
            drop(tokio::task::spawn_blocking(move || threads.drain()));
        }
    }

    fn drain(self: &Arc<Self>) {
        while let Ok(job) = self.jobs.try_recv() {
            // Handlers are guarded; this keeps the count right whatever happens.
            let _ = std::panic::catch_unwind(AssertUnwindSafe(job));
        }
        self.active.fetch_sub(1, Ordering::SeqCst);
        // A job may have been queued after the last look, when all threads still were active.
        // Sequentially consistent: the sender queues and reads the count in the other order.
        if !self.jobs.is_empty() {
            self.start_one();
        }
    }
}

/// Work that has not started; dropping it removes the work from its job.
struct Queued<W>(Arc<Mutex<Option<W>>>);

impl<W> Drop for Queued<W> {
    fn drop(&mut self) {
        drop(take(&self.0));
    }
}

fn take<W>(work: &Mutex<Option<W>>) -> Option<W> {
    work.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn busy() -> ToolError {
    ToolError::new(
        ErrorKind::RateLimited,
        "BUSY",
        format!("{MAX_WAITING} calls are already waiting"),
    )
    .hint("wait a second and call again")
    .retry_after(Duration::from_secs(1))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn a_lane_is_fifo_and_bounded() {
        let lane = Arc::new(Lane::new(1));
        let (stop, stopped) = mpsc::channel::<()>();
        let (started, has_started) = oneshot::channel();
        let own = Arc::clone(&lane);
        let first = tokio::spawn(async move {
            let work = async move {
                started.send(()).unwrap();
                stopped.recv().is_ok()
            };
            own.run(work).await
        });
        has_started.await.unwrap();
        let served = Arc::new(Mutex::new(Vec::new()));
        let mut calls = Vec::new();
        for number in 0..MAX_WAITING {
            let (own, served) = (Arc::clone(&lane), Arc::clone(&served));
            let work = async move { served.lock().unwrap().push(number) };
            calls.push(tokio::spawn(async move { own.run(work).await }));
            while lane.queue.len() <= number {
                tokio::task::yield_now().await;
            }
        }
        assert_eq!(lane.run(async {}).await.unwrap_err().code, "BUSY");
        let cancelled = calls.remove(2);
        cancelled.abort();
        assert!(cancelled.await.unwrap_err().is_cancelled());
        stop.send(()).unwrap();
        assert!(first.await.unwrap().unwrap());
        for call in calls {
            call.await.unwrap().unwrap();
        }
        let expected: Vec<usize> = (0..MAX_WAITING).filter(|number| *number != 2).collect();
        assert_eq!(*served.lock().unwrap(), expected);
    }

    #[tokio::test]
    async fn cancellation_drops_queued_work_at_once() {
        let lane = Arc::new(Lane::new(1));
        let (stop, stopped) = mpsc::channel::<()>();
        let own = Arc::clone(&lane);
        let first =
            tokio::spawn(async move { own.run(async move { stopped.recv().is_ok() }).await });
        while lane.threads.active.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        let held = Arc::new(());
        let (own, work) = (Arc::clone(&lane), Arc::clone(&held));
        let second = tokio::spawn(async move { own.run(async move { drop(work) }).await });
        while lane.queue.is_empty() {
            tokio::task::yield_now().await;
        }
        second.abort();
        assert!(second.await.unwrap_err().is_cancelled());
        assert_eq!(Arc::strong_count(&held), 1);
        stop.send(()).unwrap();
        assert!(first.await.unwrap().unwrap());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn every_call_runs_while_threads_start_and_end() {
        let lane = Arc::new(Lane::new(2));
        let callers = (0..50).map(|_| {
            let lane = Arc::clone(&lane);
            tokio::spawn(async move {
                for number in 0..200 {
                    assert_eq!(lane.run(async move { number }).await.unwrap(), number);
                }
            })
        });
        for caller in callers.collect::<Vec<_>>() {
            caller.await.unwrap();
        }
        while lane.threads.active.load(Ordering::SeqCst) > 0 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_panic_ends_the_call_and_not_the_lane() {
        let lane = Lane::new(1);
        assert!(lane.run(async { panic!("a defect") }).await.is_err());
        assert_eq!(lane.run(async { 5 }).await.unwrap(), 5);
    }
}
