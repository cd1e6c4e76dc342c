//! Lanes (bulkheads) for blocking handlers. Each pack has one lane for fast calls and one for slow
//! calls, so that a pack with a locked store or a hanging disk does not block the others.
//!
//! A lane is a fair semaphore over threads of the runtime's blocking pool, with a bounded wait
//! queue. No handler that accesses a store or file runs on an async worker: there its deadline
//! could not fire, and two blocked handlers would stop a server with two cores.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;

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
    /// Two threads per core, so that a handler waiting for the disk does not idle a core.
    pub(crate) fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Self { quick: Lane::new(cores.max(2) * 2), slow: Lane::new(SLOW_THREADS) }
    }

    pub(crate) const fn of(&self, response_time: ResponseTime) -> &Lane {
        match response_time {
            ResponseTime::Fast | ResponseTime::Medium => &self.quick,
            ResponseTime::Slow => &self.slow,
        }
    }
}

/// A bounded number of threads with a FIFO queue.
#[derive(Debug)]
pub(crate) struct Lane {
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
}

impl Lane {
    fn new(threads: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(threads)), waiting: AtomicUsize::new(0) }
    }

    /// Runs `work` on a blocking thread once a permit is free. Cancellation before that drops
    /// `work`; afterwards it runs to completion and holds the permit.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, ToolError> {
        let permit = match Arc::clone(&self.permits).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => self.wait().await?,
        };
        let runtime = tokio::runtime::Handle::current();
        let thread = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            runtime.block_on(work)
        });
        thread
            .await
            .map_err(|error| ToolError::system("the blocking pool lost a call").cause(error))
    }

    async fn wait(&self) -> Result<tokio::sync::OwnedSemaphorePermit, ToolError> {
        let slot = QueueSlot::acquire(&self.waiting).ok_or_else(busy)?;
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        drop(slot);
        permit.map_err(|error| ToolError::system("a lane was closed").cause(error))
    }
}

/// A slot in the wait queue, released on drop.
struct QueueSlot<'a>(&'a AtomicUsize);

impl<'a> QueueSlot<'a> {
    fn acquire(waiting: &'a AtomicUsize) -> Option<Self> {
        let slot = Self(waiting);
        (waiting.fetch_add(1, Ordering::AcqRel) < MAX_WAITING).then_some(slot)
    }
}

impl Drop for QueueSlot<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
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
        let own = Arc::clone(&lane);
        let first =
            tokio::spawn(async move { own.run(async move { stopped.recv().is_ok() }).await });
        while lane.permits.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let served = Arc::new(Mutex::new(Vec::new()));
        let mut calls = Vec::new();
        for number in 0..6 {
            let (own, served) = (Arc::clone(&lane), Arc::clone(&served));
            let work = async move { served.lock().unwrap().push(number) };
            calls.push(tokio::spawn(async move { own.run(work).await }));
            while lane.waiting.load(Ordering::SeqCst) <= number {
                tokio::task::yield_now().await;
            }
        }
        // Cancellation releases the queue slot.
        calls.remove(2).abort();
        while lane.waiting.load(Ordering::SeqCst) > 5 {
            tokio::task::yield_now().await;
        }
        lane.waiting.fetch_add(MAX_WAITING, Ordering::SeqCst);
        assert_eq!(lane.run(async {}).await.unwrap_err().code, "BUSY");
        lane.waiting.fetch_sub(MAX_WAITING, Ordering::SeqCst);
        stop.send(()).unwrap();
        assert!(first.await.unwrap().unwrap());
        for call in calls {
            call.await.unwrap().unwrap();
        }
        assert_eq!(*served.lock().unwrap(), [0, 1, 3, 4, 5]);
    }
}
