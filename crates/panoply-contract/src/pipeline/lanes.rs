//! Lanes: where handlers may block. Each pack has one lane for calls that should be quick and one
//! for slow calls, so that a pack whose store is locked or whose disk hangs holds up no other.
//!
//! A lane is a fair semaphore over threads of the runtime's blocking pool, with a bound on how
//! many calls wait for it. No handler that touches a store or a file runs on a runtime worker:
//! there its deadline could not fire, and two of them would stop a server on two cores.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::error::{ErrorKind, ToolError};
use crate::spec::ResponseTime;

/// Calls that wait for a lane. More are refused at once: they would only time out.
const MAX_WAITING: usize = 1024;
/// Slow handlers wait for processes and other threads more than they compute.
const SLOW_THREADS: usize = 32;

/// The lanes of one pack.
#[derive(Debug)]
pub(crate) struct Lanes {
    quick: Lane,
    slow: Lane,
}

impl Lanes {
    /// Two threads for each core, so that a handler that waits for a disk leaves no core idle.
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

/// A bounded number of threads, first come, first served.
#[derive(Debug)]
pub(crate) struct Lane {
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
}

impl Lane {
    fn new(threads: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(threads)), waiting: AtomicUsize::new(0) }
    }

    /// Runs `work` on a thread of its own once there is a permit. When the caller gives up before
    /// that, `work` is dropped; afterwards it runs to its end and holds the permit until then.
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
        let place = Waiting::take(&self.waiting).ok_or_else(busy)?;
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        drop(place);
        permit.map_err(|error| ToolError::system("a lane was closed").cause(error))
    }
}

/// A place in the queue, given back when the caller gives up too.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn take(waiting: &'a AtomicUsize) -> Option<Self> {
        let place = Self(waiting);
        (waiting.fetch_add(1, Ordering::AcqRel) < MAX_WAITING).then_some(place)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn busy() -> ToolError {
    ToolError::new(
        ErrorKind::RateLimited,
        "BUSY",
        format!("{MAX_WAITING} calls are waiting already"),
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
    async fn a_lane_is_first_come_first_served_and_bounded() {
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
        // A caller who gives up leaves the queue.
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
