//! How long something takes: by the processor and by the clock, in milliseconds.

use panoply_contract::clock::Clock;
use panoply_store::SystemClock;
use rustix::time::{ClockId, clock_gettime};

use crate::{Outcome, report};

/// Milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elapsed {
    pub(super) cpu: f64,
    pub(super) wall: f64,
}

impl Elapsed {
    /// The least of each.
    pub(super) fn least(times: &[Self]) -> Self {
        let least = |of: fn(&Self) -> f64| times.iter().map(of).fold(f64::INFINITY, f64::min);
        Self { cpu: least(|time_work| time_work.cpu), wall: least(|time_work| time_work.wall) }
    }

    /// The median of each.
    pub(super) fn median(times: &[Self]) -> Self {
        let of = |of: fn(&Self) -> f64| report::median(times.iter().map(of).collect());
        Self { cpu: of(|time_work| time_work.cpu), wall: of(|time_work| time_work.wall) }
    }
}

/// Does something so many times; the least that it took.
pub(super) fn time_work(runs: usize, mut work: impl FnMut() -> Outcome) -> Outcome<Elapsed> {
    let mut times = Vec::new();
    for _ in 0..runs {
        let stopwatch = Stopwatch::start();
        work()?;
        times.push(stopwatch.stop());
    }
    Ok(Elapsed::least(&times))
}

/// Runs until it is stopped.
pub(super) struct Stopwatch {
    clock: SystemClock,
    /// Milliseconds that all threads of this process had worked: what a call hands to another
    /// thread is counted too.
    process_cpu_millis: f64,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        Self { process_cpu_millis: process_cpu_millis(), clock: SystemClock::new() }
    }

    pub(super) fn stop(self) -> Elapsed {
        let wall = self.clock.monotonic().as_secs_f64() * 1e3;
        Elapsed { cpu: process_cpu_millis() - self.process_cpu_millis, wall }
    }
}

/// To the nanosecond, unlike `/proc/self/schedstat`, which follows the timer's tick of 4 ms.
fn process_cpu_millis() -> f64 {
    let process_cpu_millis = clock_gettime(ClockId::ProcessCPUTime);
    let process_cpu_millis = std::time::Duration::new(
        u64::try_from(process_cpu_millis.tv_sec).unwrap_or_default(),
        u32::try_from(process_cpu_millis.tv_nsec).unwrap_or_default(),
    );
    process_cpu_millis.as_secs_f64() * 1e3
}
