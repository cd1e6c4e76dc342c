//! The system clock: the only module that reads the time from the operating system.

use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use jiff::Timestamp;
use panoply_contract::clock::Clock;

/// Wall clock and monotonic clock. Sleeping needs a tokio runtime.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    start: Instant,
    /// Wall time at `start`, where it is not the system's.
    wall_start: Option<Timestamp>,
}

impl SystemClock {
    /// Starts the monotonic time at zero.
    #[expect(clippy::disallowed_methods, reason = "this is where the clock comes from")]
    pub fn new() -> Self {
        Self { start: Instant::now(), wall_start: None }
    }

    /// A clock that shows `wall_start` now and runs on from there.
    pub fn starting_at(wall_start: Timestamp) -> Self {
        Self { wall_start: Some(wall_start), ..Self::new() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is where the clock comes from")]
    fn now(&self) -> Timestamp {
        match self.wall_start {
            Some(wall_start) => wall_start + self.start.elapsed(),
            None => Timestamp::now(),
        }
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn sleep_lasts_at_least_the_requested_duration() {
        let clock = SystemClock::new();
        let before = clock.monotonic();
        clock.sleep(Duration::from_millis(5)).await;
        assert!(clock.monotonic() - before >= Duration::from_millis(5));
    }

    #[test]
    fn the_wall_clock_is_plausible() {
        assert!(SystemClock::new().now() > "2025-01-01T00:00:00Z".parse::<Timestamp>().unwrap());
    }
}
