//! Who computes when: handlers of medium length take turns, first come, first served.
//!
//! A hundred calls that compute at once, each on its own thread, would each get a fiftieth of two
//! cores, and the first of them would be done hardly before the last. So a few workers take one
//! after the other from a queue, and go to the next without waiting for anybody. Handlers that
//! compute for seconds must not hold up the others: who has waited long enough brings a worker of
//! their own, and slow handlers do not queue.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::clock::Clock;
use crate::error::ToolError;

/// After this nobody waits for the workers that are there.
const PATIENCE: Duration = Duration::from_millis(250);

/// The queue of a kernel. Its workers are threads of the runtime's blocking pool, two for each of
/// its own, so that a handler that waits for a disk leaves no core idle.
#[derive(Clone, Default)]
pub(crate) struct Turns(Arc<Mutex<Queue>>);

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Box<dyn FnOnce() + Send>>,
    workers: usize,
}

impl Turns {
    /// Does `work` when its turn has come.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
        clock: &dyn Clock,
    ) -> Result<T, ToolError> {
        let (tell, mut told) = oneshot::channel();
        let most = tokio::runtime::Handle::current().metrics().num_workers().max(2) * 2;
        let is_full = {
            let mut queue = self.lock();
            queue.waiting.push_back(Box::new(move || {
                // Nobody waits for a call that was given up.
                if !tell.is_closed() {
                    let _ = tell.send(work());
                }
            }));
            queue.workers >= most
        };
        if is_full {
            tokio::select! {
                biased;
                done = &mut told => return done.map_err(lost),
                () = clock.sleep(PATIENCE) => {}
            }
        }
        self.add_worker();
        told.await.map_err(lost)
    }

    fn add_worker(&self) {
        self.lock().workers += 1;
        let turns = self.clone();
        tokio::task::spawn_blocking(move || while turns.next() {});
    }

    /// Takes the next turn; ends the worker when there is none.
    fn next(&self) -> bool {
        let mut queue = self.lock();
        let Some(work) = queue.waiting.pop_front() else {
            queue.workers -= 1;
            return false;
        };
        drop(queue);
        // Handlers that panic are caught before they come here; a worker outlives anything.
        let _ = std::panic::catch_unwind(AssertUnwindSafe(work));
        true
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn lost(error: oneshot::error::RecvError) -> ToolError {
    ToolError::system("the blocking pool lost a handler").cause(error)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::testing::{FixedClock, noon};

    #[tokio::test]
    async fn who_comes_first_is_first_and_nobody_waits_for_ever() {
        let (turns, clock) = (Turns::default(), FixedClock::at(noon()));
        // Four handlers that go on until they are told to stop: one runtime thread has four workers.
        let (mut stops, mut long) = (Vec::new(), Vec::new());
        for _ in 0..4 {
            let (stop, stopped) = mpsc::channel::<()>();
            let (turns, clock) = (turns.clone(), Arc::clone(&clock));
            stops.push(stop);
            long.push(tokio::spawn(async move {
                turns.run(move || stopped.recv().is_ok(), clock.as_ref()).await
            }));
        }
        while turns.lock().workers < 4 || !turns.lock().waiting.is_empty() {
            tokio::task::yield_now().await;
        }
        let served = Arc::new(Mutex::new(Vec::new()));
        let mut short = Vec::new();
        for number in 0..6 {
            let (own, own_clock) = (turns.clone(), Arc::clone(&clock));
            let served = Arc::clone(&served);
            short.push(tokio::spawn(async move {
                let work = move || served.lock().unwrap().push(number);
                own.run(work, own_clock.as_ref()).await
            }));
            while turns.lock().waiting.len() <= number {
                tokio::task::yield_now().await;
            }
        }
        assert!(served.lock().unwrap().is_empty(), "all workers are busy");
        // One ends, and takes what waits in the order it came.
        stops[0].send(()).unwrap();
        for call in short {
            call.await.unwrap().unwrap();
        }
        assert_eq!(*served.lock().unwrap(), [0, 1, 2, 3, 4, 5]);

        // All are busy again, nobody ends, and time passes.
        let (stop, stopped) = mpsc::channel::<()>();
        stops.push(stop);
        let again = (turns.clone(), Arc::clone(&clock));
        long.push(tokio::spawn(async move {
            again.0.run(move || stopped.recv().is_ok(), again.1.as_ref()).await
        }));
        while turns.lock().workers < 4 || !turns.lock().waiting.is_empty() {
            tokio::task::yield_now().await;
        }
        let late = (turns.clone(), Arc::clone(&clock));
        let late = tokio::spawn(async move { late.0.run(|| 7, late.1.as_ref()).await });
        while clock.sleeping() == 0 {
            tokio::task::yield_now().await;
        }
        clock.advance(PATIENCE);
        assert_eq!(late.await.unwrap().unwrap(), 7, "on a worker of its own");
        for stop in stops.iter().skip(1) {
            stop.send(()).unwrap();
        }
        for call in long {
            assert!(call.await.unwrap().unwrap());
        }
        while turns.lock().workers > 0 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn what_was_given_up_is_not_done_and_a_panic_ends_no_worker() {
        let (turns, clock) = (Turns::default(), FixedClock::at(noon()));
        let panics = turns.run(|| panic!("on purpose"), clock.as_ref()).await;
        assert!(panics.is_err());
        let done = Arc::new(Mutex::new(0));
        let count = Arc::clone(&done);
        drop(turns.run(move || *count.lock().unwrap() += 1, clock.as_ref()));
        assert_eq!(turns.run(|| 1, clock.as_ref()).await.unwrap(), 1);
        assert_eq!(*done.lock().unwrap(), 0);
    }
}
