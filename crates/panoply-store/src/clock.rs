//! The time of this machine: the one place that asks the operating system for it.

use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use jiff::Timestamp;
use panoply_contract::clock::Clock;

/// The machine's clocks. Sleeping needs a tokio runtime.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// A clock whose monotonic time starts now.
    #[expect(clippy::disallowed_methods, reason = "this is where the clock comes from")]
    pub fn new() -> Self {
        Self { start: Instant::now() }
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
        Timestamp::now()
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
    async fn a_sleeper_wakes_no_earlier_than_asked() {
        let clock = SystemClock::new();
        let before = clock.monotonic();
        clock.sleep(Duration::from_millis(5)).await;
        assert!(clock.monotonic() - before >= Duration::from_millis(5));
    }

    #[test]
    fn the_wall_clock_is_later_than_this_program() {
        assert!(SystemClock::new().now() > "2025-01-01T00:00:00Z".parse::<Timestamp>().unwrap());
    }
}
