//! Time, handed in: the kernel reads no clock of its own, so that a test can hold it still.

use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;

/// Where the kernel gets the time from.
pub trait Clock: Send + Sync + 'static {
    /// The wall clock, for people and for data.
    fn now(&self) -> Timestamp;

    /// Time since some fixed moment; never goes back. For limits, caches and durations.
    fn monotonic(&self) -> Duration;

    /// Completes after `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}
