//! Decoded blobs in memory: a CLOCK (second-chance) cache bounded by bytes.
//!
//! Sealed runs never change, so no entry is ever stale. `moka` would also fit, but its default
//! TinyLFU admission may refuse a block that the next event of the same page needs again.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::LogError;
use crate::event::Guid;
use crate::sealed::Weight;
use crate::store::BlobKey;

type Key = (Guid, BlobKey);
type Value = Arc<dyn Any + Send + Sync>;

/// A cache shared by all runs. Eviction is incremental: an insertion evicts only as much as it
/// adds, so no query pays for evicting the entries of many others.
pub struct Cache {
    capacity: usize,
    clock: Mutex<Clock>,
}

#[derive(Default)]
struct Clock {
    entries: HashMap<Key, Entry>,
    /// The clock hand: each key once, oldest first.
    queue: VecDeque<Key>,
    bytes: usize,
}

struct Entry {
    value: Value,
    weight: usize,
    /// Set on access; buys one more pass of the clock hand.
    referenced: bool,
}

impl Cache {
    /// A cache of at most `capacity` bytes, by the entries' own estimates.
    pub fn new(capacity: usize) -> Arc<Self> {
        Arc::new(Self { capacity, clock: Mutex::default() })
    }

    /// Returns the cached value, or loads and caches it.
    pub(crate) fn get_or_load<T: Weight>(
        &self,
        run: Guid,
        key: BlobKey,
        load: impl FnOnce() -> Result<T, LogError>,
    ) -> Result<Arc<T>, LogError> {
        let key = (run, key);
        if let Some(found) = self.lock().get(key).and_then(|found| found.downcast::<T>().ok()) {
            return Ok(found);
        }
        let value = Arc::new(load()?);
        let weight = value.weight();
        let evicted = self.lock().insert(key, Arc::clone(&value) as Value, weight, self.capacity);
        // Freed after the lock is released.
        drop(evicted);
        Ok(value)
    }

    /// Removes all entries of a run.
    pub fn forget(&self, run: Guid) {
        let mut clock = self.lock();
        let own: Vec<Key> = clock.entries.keys().filter(|(id, _)| *id == run).copied().collect();
        own.into_iter().for_each(|key| drop(clock.remove(key)));
        clock.queue.retain(|(id, _)| *id != run);
    }

    fn lock(&self) -> MutexGuard<'_, Clock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock {
    fn get(&mut self, key: Key) -> Option<Value> {
        let entry = self.entries.get_mut(&key)?;
        entry.referenced = true;
        Some(Arc::clone(&entry.value))
    }

    /// Inserts a value and returns the evicted ones.
    fn insert(&mut self, key: Key, value: Value, weight: usize, capacity: usize) -> Vec<Value> {
        // Two threads may have loaded the same blob. A second queue slot for one key would
        // consume the second chance that its use earned at the first, and evict hot entries.
        if self.entries.contains_key(&key) {
            return vec![value];
        }
        let mut evicted = Vec::new();
        self.entries.insert(key, Entry { value, weight, referenced: false });
        self.queue.push_back(key);
        self.bytes += weight;
        while self.bytes > capacity {
            let Some(oldest) = self.queue.pop_front() else { break };
            match self.entries.get_mut(&oldest) {
                Some(entry) if entry.referenced => {
                    entry.referenced = false;
                    self.queue.push_back(oldest);
                }
                Some(_) | None => evicted.extend(self.remove(oldest)),
            }
        }
        evicted
    }

    fn remove(&mut self, key: Key) -> Option<Value> {
        let entry = self.entries.remove(&key)?;
        self.bytes -= entry.weight;
        Some(entry.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::BlobKind;

    struct Hundred(u32);

    impl Weight for Hundred {
        fn weight(&self) -> usize {
            100
        }
    }

    #[test]
    fn clock_cache_keeps_entries_in_use() {
        let cache = Cache::new(1000);
        let key = |number| BlobKey::new(BlobKind::Block, 0, number);
        let mut loads = 0;
        let mut get = |number| {
            let loaded = cache.get_or_load(Guid::new(1), key(number), || {
                loads += 1;
                Ok(Hundred(number))
            });
            assert_eq!(loaded.unwrap().0, number);
            loads
        };
        for number in 0..100 {
            get(number);
            get(0);
        }
        let before = get(0);
        assert_eq!(before, 100, "0 was never loaded again");
        assert_eq!(get(50), 101, "50 was");
        let clock = cache.lock();
        assert_eq!((clock.entries.len(), clock.bytes), (10, 1000));
        drop(clock);
        cache.forget(Guid::new(1));
        assert_eq!(cache.lock().bytes, 0);
    }

    #[test]
    fn concurrent_loads_of_one_key_keep_it_cached() {
        let mut clock = Clock::default();
        let key = |number| (Guid::new(1), BlobKey::new(BlobKind::Block, 0, number));
        for _ in 0..8 {
            clock.insert(key(0), Arc::new(()), 100, 1000);
        }
        assert_eq!((clock.bytes, clock.queue.len()), (100, 1));
        for number in 1..100 {
            assert!(clock.get(key(0)).is_some(), "in use but evicted at {number}");
            clock.insert(key(number), Arc::new(()), 100, 1000);
        }
        assert_eq!((clock.entries.len(), clock.queue.len(), clock.bytes), (10, 10, 1000));
    }
}
