//! Cache of built queues.
//!
//! An entry is valid for one version of the collection. A review submitted through this process
//! updates the entries and their version; any other change, also by another process, makes the
//! versions differ and the queue is rebuilt.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{DayQueue, build};
use crate::error::Result;
use crate::fsrs::Micros;
use crate::ids::DeckId;
use crate::review::ReviewOutcome;
use crate::store::StoreReader;

/// Learners study one or a few decks.
const MAX_CACHED_DAYS: usize = 8;

/// Built queues by root deck.
#[derive(Debug, Default)]
pub struct QueueCache {
    days: Mutex<BTreeMap<Option<DeckId>, CachedDay>>,
    builds: AtomicU64,
}

#[derive(Debug)]
struct CachedDay {
    version: u64,
    built: Micros,
    day: DayQueue,
}

impl QueueCache {
    /// Passes the queue of a deck, or of the whole collection, to `inspect`.
    pub fn day<T>(
        &self,
        reader: &dyn StoreReader,
        root: Option<DeckId>,
        now: Micros,
        inspect: impl FnOnce(&DayQueue) -> T,
    ) -> Result<T> {
        let version = reader.version()?;
        let mut days = self.lock();
        let fits = |cached: &&CachedDay| {
            // An exhausted queue is rebuilt: the limits may have hidden a card.
            cached.version == version
                && (cached.built..cached.day.expires).contains(&now)
                && !cached.day.at(now).is_empty()
        };
        if let Some(cached) = days.get(&root).filter(fits) {
            return Ok(inspect(&cached.day));
        }
        let day = build(reader, root, now)?;
        self.builds.fetch_add(1, Ordering::Relaxed);
        let result = inspect(&day);
        if days.len() >= MAX_CACHED_DAYS {
            days.clear();
        }
        days.insert(root, CachedDay { version, built: now, day });
        Ok(result)
    }

    /// How often a queue was built.
    pub fn builds(&self) -> u64 {
        self.builds.load(Ordering::Relaxed)
    }

    /// Applies a review that advanced the collection from `version` to the next one.
    pub fn apply_answer(&self, version: u64, outcome: &ReviewOutcome) {
        self.lock().retain(|_, cached| {
            let still_valid = cached.version == version && cached.day.apply_answer(outcome);
            cached.version += 1;
            still_valid
        });
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Option<DeckId>, CachedDay>> {
        self.days.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
