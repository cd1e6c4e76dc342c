//! Who computes when: handlers of medium length take turns, first come, first served.
//!
//! A hundred calls that compute at once would each get a fiftieth of two cores, and the first of
//! them would be done hardly before the last. In turns each is done as early as it can be, and
//! nobody later than before. A few handlers that compute for seconds must not hold up the others:
//! who has waited long enough goes on without a turn, and slow handlers take none.

use std::sync::OnceLock;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::clock::Clock;

/// After this nobody waits any longer.
const PATIENCE: Duration = Duration::from_millis(250);

/// The turns of a kernel: two for each worker of the runtime, so that one handler that waits for
/// a disk leaves no core idle.
#[derive(Debug, Default)]
pub(crate) struct Turns(OnceLock<Semaphore>);

impl Turns {
    /// Waits for a turn; it ends when what is given back is dropped.
    pub(super) async fn take(&self, clock: &dyn Clock) -> Option<SemaphorePermit<'_>> {
        let turns = self.0.get_or_init(|| {
            let workers = tokio::runtime::Handle::current().metrics().num_workers();
            Semaphore::new(workers.max(2) * 2)
        });
        if let Ok(turn) = turns.try_acquire() {
            return Some(turn);
        }
        tokio::select! {
            biased;
            turn = turns.acquire() => turn.ok(),
            () = clock.sleep(PATIENCE) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::testing::{FixedClock, noon};

    #[tokio::test]
    async fn who_comes_first_is_first_and_nobody_waits_for_ever() {
        let (turns, clock) = (Arc::new(Turns::default()), FixedClock::at(noon()));
        let mut taken = Vec::new();
        for _ in 0..4 {
            taken.push(turns.take(clock.as_ref()).await.unwrap());
        }
        let served = Arc::new(Mutex::new(Vec::new()));
        for number in 0..6 {
            let (turns, own_clock) = (Arc::clone(&turns), Arc::clone(&clock));
            let served = Arc::clone(&served);
            tokio::spawn(async move {
                let turn = turns.take(own_clock.as_ref()).await;
                served.lock().unwrap().push((number, turn.is_some()));
            });
            while clock.sleeping() <= number {
                tokio::task::yield_now().await;
            }
        }
        assert!(served.lock().unwrap().is_empty(), "all turns are taken");
        // One turn ends: each of six has it after the other, and gives it back.
        taken.pop();
        while served.lock().unwrap().len() < 6 {
            tokio::task::yield_now().await;
        }
        assert_eq!(
            *served.lock().unwrap(),
            (0..6).map(|number| (number, true)).collect::<Vec<_>>()
        );

        // Nobody gives a turn back, and time passes.
        taken.push(turns.take(clock.as_ref()).await.unwrap());
        let late = {
            let (turns, clock) = (Arc::clone(&turns), Arc::clone(&clock));
            tokio::spawn(async move { turns.take(clock.as_ref()).await.is_some() })
        };
        while clock.sleeping() == 0 {
            tokio::task::yield_now().await;
        }
        clock.advance(PATIENCE);
        assert!(!late.await.unwrap(), "it goes on without a turn");
    }
}
