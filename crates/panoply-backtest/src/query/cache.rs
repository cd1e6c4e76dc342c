//! Unpacked blobs that were used lately, up to a number of bytes. Sealed runs never change, so
//! nothing here is ever stale.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::LogError;
use crate::event::Guid;
use crate::store::BlobKey;

type Key = (Guid, BlobKey);
type Kept = (Arc<dyn Any + Send + Sync>, usize);

/// A bounded memory of two generations: what is used moves to the young one, and when that has
/// had its half of the room, the old one is let go.
pub struct Cache {
    room: usize,
    generations: Mutex<Generations>,
}

#[derive(Default)]
struct Generations {
    young: HashMap<Key, Kept>,
    old: HashMap<Key, Kept>,
    young_bytes: usize,
}

impl Cache {
    /// A memory of at most so many bytes.
    pub fn new(room: usize) -> Arc<Self> {
        Arc::new(Self { room, generations: Mutex::default() })
    }

    /// What is kept under this key, or what `load` gives, with its weight in bytes.
    pub(crate) fn get_or_load<T: Any + Send + Sync>(
        &self,
        run: Guid,
        key: BlobKey,
        load: impl FnOnce() -> Result<(T, usize), LogError>,
    ) -> Result<Arc<T>, LogError> {
        let key = (run, key);
        if let Some(found) = self.find(key).and_then(|found| found.downcast::<T>().ok()) {
            return Ok(found);
        }
        let (value, weight) = load()?;
        let value = Arc::new(value);
        let mut generations = self.lock();
        generations.insert(
            key,
            (Arc::clone(&value) as Arc<dyn Any + Send + Sync>, weight),
            self.room,
        );
        Ok(value)
    }

    /// Lets go of everything about a run.
    pub fn forget(&self, run: Guid) {
        let mut generations = self.lock();
        generations.young.retain(|(kept, _), _| *kept != run);
        generations.old.retain(|(kept, _), _| *kept != run);
    }

    fn find(&self, key: Key) -> Option<Arc<dyn Any + Send + Sync>> {
        let mut generations = self.lock();
        if let Some((found, _)) = generations.young.get(&key) {
            return Some(Arc::clone(found));
        }
        let kept = generations.old.remove(&key)?;
        let found = Arc::clone(&kept.0);
        generations.insert(key, kept, self.room);
        Some(found)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Generations> {
        self.generations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Generations {
    fn insert(&mut self, key: Key, kept: Kept, room: usize) {
        if self.young_bytes + kept.1 > room / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += kept.1;
        self.young.insert(key, kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::BlobKind;

    #[test]
    fn what_is_used_stays_and_the_rest_goes() {
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
        let generations = cache.lock();
        assert!(generations.young.len() + generations.old.len() <= 11);
    }
}
