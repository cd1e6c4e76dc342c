//! Metrics of every tool: calls, durations and outcomes. Read by `get-tool-metrics`, by `/metrics`,
//! and by the hints, which estimate the duration of a suggested tool.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::error::ErrorClass;

/// Upper bounds of the histogram buckets in microseconds; the last bucket is unbounded.
pub const BUCKETS_MICROS: [u64; 16] = [
    10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 500_000, 1_000_000,
    10_000_000, 60_000_000,
];

/// The counters of one tool.
#[derive(Debug, Default)]
pub struct Meter {
    calls: AtomicU64,
    errors: [AtomicU64; 3],
    rate_limited: AtomicU64,
    cache_hits: AtomicU64,
    cache_misses: AtomicU64,
    total_micros: AtomicU64,
    buckets: [AtomicU64; BUCKETS_MICROS.len() + 1],
}

/// Outcome of a cache lookup.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CacheUse {
    /// The tool is not cached.
    None,
    /// Hit: a cached reply was served.
    Hit,
    /// Miss: the handler ran.
    Miss,
}

impl Meter {
    /// Counts a call that ended.
    pub fn count(
        &self,
        elapsed: Duration,
        error: Option<ErrorClass>,
        cache: CacheUse,
        rate_limited: bool,
    ) {
        let micros = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        self.calls.fetch_add(1, Relaxed);
        self.total_micros.fetch_add(micros, Relaxed);
        let bucket =
            BUCKETS_MICROS.iter().position(|end| micros <= *end).unwrap_or(BUCKETS_MICROS.len());
        if let Some(counter) = self.buckets.get(bucket) {
            counter.fetch_add(1, Relaxed);
        }
        if let Some(class) = error
            && let Some(counter) = self.errors.get(place_of(class))
        {
            counter.fetch_add(1, Relaxed);
        }
        match cache {
            CacheUse::None => {}
            CacheUse::Hit => _ = self.cache_hits.fetch_add(1, Relaxed),
            CacheUse::Miss => _ = self.cache_misses.fetch_add(1, Relaxed),
        }
        if rate_limited {
            self.rate_limited.fetch_add(1, Relaxed);
        }
    }

    /// A snapshot of the counters.
    pub fn snapshot(&self) -> MeterSnapshot {
        let load = |counter: &AtomicU64| counter.load(Relaxed);
        let [validation, business, system] = &self.errors;
        MeterSnapshot {
            calls: load(&self.calls),
            errors: [load(validation), load(business), load(system)],
            rate_limited: load(&self.rate_limited),
            cache_hits: load(&self.cache_hits),
            cache_misses: load(&self.cache_misses),
            total: Duration::from_micros(load(&self.total_micros)),
            buckets: self.buckets.iter().map(load).collect(),
        }
    }
}

const fn place_of(class: ErrorClass) -> usize {
    match class {
        ErrorClass::Validation => 0,
        ErrorClass::Business => 1,
        ErrorClass::System => 2,
    }
}

/// Snapshot of the counters of one tool.
#[derive(Clone, Debug, PartialEq)]
pub struct MeterSnapshot {
    /// Calls that ended.
    pub calls: u64,
    /// Errors by class, in the order of [`ErrorClass::ALL`].
    pub errors: [u64; 3],
    /// Calls refused by the rate limit.
    pub rate_limited: u64,
    /// Replies served from the cache.
    pub cache_hits: u64,
    /// Cache misses.
    pub cache_misses: u64,
    /// Time spent in all calls.
    pub total: Duration,
    /// Calls per bucket; one more than [`BUCKETS_MICROS`] for the unbounded bucket.
    pub buckets: Vec<u64>,
}

impl MeterSnapshot {
    /// Quantile of the duration, as the upper bound of its bucket; `None` before the first call.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let calls: u64 = self.buckets.iter().sum();
        if calls == 0 {
            return None;
        }
        let mut seen = 0;
        for (count, end) in self.buckets.iter().zip(BUCKETS_MICROS) {
            seen += count;
            if ratio(seen, calls) >= share {
                return Some(Duration::from_micros(end));
            }
        }
        Some(Duration::from_secs(60))
    }

    /// The share of calls that failed; 0 before the first.
    pub fn error_rate(&self) -> f64 {
        ratio(self.errors.iter().sum(), self.calls)
    }

    /// The share of cacheable calls served from the cache; `None` before the first.
    pub fn cache_hit_rate(&self) -> Option<f64> {
        let looked = self.cache_hits + self.cache_misses;
        (looked > 0).then(|| ratio(self.cache_hits, looked))
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts beyond 2^53 do not occur")]
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_class_and_bucket() {
        let meter = Meter::default();
        assert_eq!(meter.snapshot().quantile(0.5), None);
        for _ in 0..9 {
            meter.count(Duration::from_micros(20), None, CacheUse::Miss, false);
        }
        meter.count(Duration::from_millis(3), Some(ErrorClass::Business), CacheUse::Hit, true);
        let snapshot = meter.snapshot();
        assert_eq!((snapshot.calls, snapshot.errors, snapshot.rate_limited), (10, [0, 1, 0], 1));
        assert_eq!(snapshot.quantile(0.5), Some(Duration::from_micros(25)));
        assert_eq!(snapshot.quantile(0.99), Some(Duration::from_millis(5)));
        assert!((snapshot.error_rate() - 0.1).abs() < 1e-9);
        assert_eq!(snapshot.cache_hit_rate(), Some(0.1));
    }
}
