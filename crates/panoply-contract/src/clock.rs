//! The clock interface: the kernel never reads the system clock, so that tests control time.

use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;

/// Source of time for the kernel.
pub trait Clock: Send + Sync + 'static {
    /// The wall clock, for timestamps.
    fn now(&self) -> Timestamp;

    /// Monotonic time since an arbitrary origin. For limits, caches and durations.
    fn monotonic(&self) -> Duration;

    /// Completes after `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}
