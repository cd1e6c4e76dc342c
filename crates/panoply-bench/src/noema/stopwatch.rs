//! CPU and wall-clock times of an operation, in milliseconds.

use panoply_contract::clock::Clock;
use panoply_store::SystemClock;
use rustix::time::{ClockId, clock_gettime};

use crate::{Outcome, report};

/// In milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elapsed {
    pub(super) cpu: f64,
    pub(super) wall: f64,
}

impl Elapsed {
    /// The minimum of each.
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

/// The minimum over several runs.
pub(super) fn time_work(runs: usize, mut work: impl FnMut() -> Outcome) -> Outcome<Elapsed> {
    let mut times = Vec::new();
    for _ in 0..runs {
        let stopwatch = Stopwatch::start();
        work()?;
        times.push(stopwatch.stop());
    }
    Ok(Elapsed::least(&times))
}

/// A running measurement.
pub(super) struct Stopwatch {
    clock: SystemClock,
    /// CPU time of all threads of this process at the start, in milliseconds: work on other threads
    /// counts too.
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

/// In nanosecond resolution; `/proc/self/schedstat` has that of the 4 ms timer tick.
fn process_cpu_millis() -> f64 {
    let process_cpu_millis = clock_gettime(ClockId::ProcessCPUTime);
    let process_cpu_millis = std::time::Duration::new(
        u64::try_from(process_cpu_millis.tv_sec).unwrap_or_default(),
        u32::try_from(process_cpu_millis.tv_nsec).unwrap_or_default(),
    );
    process_cpu_millis.as_secs_f64() * 1e3
}
