//! How long something takes: by the processor and by the clock, in milliseconds.

use panoply_contract::clock::Clock;
use panoply_store::SystemClock;
use rustix::time::{ClockId, clock_gettime};

use crate::{Outcome, report};

/// Milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spent {
    pub(super) cpu: f64,
    pub(super) wall: f64,
}

impl Spent {
    /// The least of each.
    pub(super) fn least(times: &[Self]) -> Self {
        let least = |of: fn(&Self) -> f64| times.iter().map(of).fold(f64::INFINITY, f64::min);
        Self { cpu: least(|spent| spent.cpu), wall: least(|spent| spent.wall) }
    }

    /// The median of each.
    pub(super) fn middle(times: &[Self]) -> Self {
        let of = |of: fn(&Self) -> f64| report::median(times.iter().map(of).collect());
        Self { cpu: of(|spent| spent.cpu), wall: of(|spent| spent.wall) }
    }
}

/// Does something so many times; the least that it took.
pub(super) fn spent(runs: usize, mut work: impl FnMut() -> Outcome) -> Outcome<Spent> {
    let mut times = Vec::new();
    for _ in 0..runs {
        let watch = Watch::start();
        work()?;
        times.push(watch.stop());
    }
    Ok(Spent::least(&times))
}

/// Runs until it is stopped.
pub(super) struct Watch {
    clock: SystemClock,
    /// Milliseconds that all threads of this process had worked: what a call hands to another
    /// thread is counted too.
    worked: f64,
}

impl Watch {
    pub(super) fn start() -> Self {
        Self { worked: worked(), clock: SystemClock::new() }
    }

    pub(super) fn stop(self) -> Spent {
        let wall = self.clock.monotonic().as_secs_f64() * 1e3;
        Spent { cpu: worked() - self.worked, wall }
    }
}

/// To the nanosecond, unlike `/proc/self/schedstat`, which follows the timer's tick of 4 ms.
fn worked() -> f64 {
    let worked = clock_gettime(ClockId::ProcessCPUTime);
    let worked = std::time::Duration::new(
        u64::try_from(worked.tv_sec).unwrap_or_default(),
        u32::try_from(worked.tv_nsec).unwrap_or_default(),
    );
    worked.as_secs_f64() * 1e3
}
