//! Unpacked blobs that were used lately, up to a number of bytes. Sealed runs never change, so
//! nothing here is ever stale.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::LogError;
use crate::event::Guid;
use crate::store::BlobKey;

type Key = (Guid, BlobKey);
type Value = Arc<dyn Any + Send + Sync>;

/// A bounded memory in a ring: what is to go is the oldest, but what was used since it was last
/// looked at gets another round. A little goes with everything that comes, so that no question
/// pays for the memory of a hundred others.
pub struct Cache {
    room: usize,
    ring: Mutex<Ring>,
}

#[derive(Default)]
struct Ring {
    kept: HashMap<Key, Kept>,
    /// What is kept, each once, oldest first.
    order: VecDeque<Key>,
    bytes: usize,
}

struct Kept {
    value: Value,
    weight: usize,
    used: bool,
}

impl Cache {
    /// A memory of at most so many bytes.
    pub fn new(room: usize) -> Arc<Self> {
        Arc::new(Self { room, ring: Mutex::default() })
    }

    /// What is kept under this key, or what `load` gives, with its weight in bytes.
    pub(crate) fn get_or_load<T: Any + Send + Sync>(
        &self,
        run: Guid,
        key: BlobKey,
        load: impl FnOnce() -> Result<(T, usize), LogError>,
    ) -> Result<Arc<T>, LogError> {
        let key = (run, key);
        if let Some(found) = self.lock().find(key).and_then(|found| found.downcast::<T>().ok()) {
            return Ok(found);
        }
        let (value, weight) = load()?;
        let value = Arc::new(value);
        let gone = self.lock().insert(key, Arc::clone(&value) as Value, weight, self.room);
        // Freed only now, while nobody waits for the lock.
        drop(gone);
        Ok(value)
    }

    /// Lets go of everything about a run.
    pub fn forget(&self, run: Guid) {
        let mut ring = self.lock();
        let own: Vec<Key> = ring.kept.keys().filter(|(kept, _)| *kept == run).copied().collect();
        own.into_iter().for_each(|key| drop(ring.remove(key)));
        ring.order.retain(|(kept, _)| *kept != run);
    }

    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    fn find(&mut self, key: Key) -> Option<Value> {
        let kept = self.kept.get_mut(&key)?;
        kept.used = true;
        Some(Arc::clone(&kept.value))
    }

    /// Keeps a value and gives back what had to go for it.
    fn insert(&mut self, key: Key, value: Value, weight: usize, room: usize) -> Vec<Value> {
        // Two may have loaded the same at once. Were it in the ring twice, its second place would
        // take the round that its use gave it at the first, and what is used most would go.
        if self.kept.contains_key(&key) {
            return vec![value];
        }
        let mut gone = Vec::new();
        self.kept.insert(key, Kept { value, weight, used: false });
        self.order.push_back(key);
        self.bytes += weight;
        while self.bytes > room {
            let Some(oldest) = self.order.pop_front() else { break };
            match self.kept.get_mut(&oldest) {
                Some(kept) if kept.used => {
                    kept.used = false;
                    self.order.push_back(oldest);
                }
                Some(_) | None => gone.extend(self.remove(oldest)),
            }
        }
        gone
    }

    fn remove(&mut self, key: Key) -> Option<Value> {
        let kept = self.kept.remove(&key)?;
        self.bytes -= kept.weight;
        Some(kept.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::BlobKind;

    #[test]
    fn clock_cache_keeps_entries_in_use() {
        let cache = Cache::new(1000);
        let key = |number| BlobKey::new(BlobKind::Block, 0, number);
        let mut loads = 0;
        let mut get = |number| {
            let loaded = cache.get_or_load(Guid::new(1), key(number), || {
                loads += 1;
                Ok((number, 100))
            });
            assert_eq!(*loaded.unwrap(), number);
            loads
        };
        for number in 0..100 {
            get(number);
            get(0);
        }
        let before = get(0);
        assert_eq!(before, 100, "0 was never loaded again");
        assert_eq!(get(50), 101, "50 was");
        let ring = cache.lock();
        assert_eq!((ring.kept.len(), ring.bytes), (10, 1000));
        drop(ring);
        cache.forget(Guid::new(1));
        assert_eq!(cache.lock().bytes, 0);
    }

    #[test]
    fn concurrent_loads_of_one_key_keep_it_cached() {
        let mut ring = Ring::default();
        let key = |number| (Guid::new(1), BlobKey::new(BlobKind::Block, 0, number));
        for _ in 0..8 {
            ring.insert(key(0), Arc::new(()), 100, 1000);
        }
        assert_eq!((ring.bytes, ring.order.len()), (100, 1));
        for number in 1..100 {
            assert!(ring.find(key(0)).is_some(), "used all the time, gone at {number}");
            ring.insert(key(number), Arc::new(()), 100, 1000);
        }
        assert_eq!((ring.kept.len(), ring.order.len(), ring.bytes), (10, 10, 1000));
    }
}
