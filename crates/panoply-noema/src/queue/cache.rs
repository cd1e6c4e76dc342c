//! Days that were gathered, kept while they are still_valid.
//!
//! A kept day belongs to one version of the collection. An answer given here brings both
//! forward; any other change, by whomever, makes the versions differ, and the day is gathered
//! again.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{DayQueue, build};
use crate::error::NoemaError;
use crate::fsrs::Micros;
use crate::ids::DeckId;
use crate::review::ReviewOutcome;
use crate::store::StoreReader;

/// A learner studies one deck, or a few.
const MAX_CACHED_DAYS: usize = 8;

/// Days that were gathered, by deck.
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
    /// Lets `inspect` see the day of a deck and those under it, or of everything.
    pub fn day<T>(
        &self,
        reader: &dyn StoreReader,
        root: Option<DeckId>,
        now: Micros,
        inspect: impl FnOnce(&DayQueue) -> T,
    ) -> Result<T, NoemaError> {
        let version = reader.version()?;
        let mut days = self.lock();
        let fits = |cached: &&CachedDay| {
            // One that has run out is gathered again: the limits may have hidden a card.
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

    /// How often a day had to be gathered.
    pub fn builds(&self) -> u64 {
        self.builds.load(Ordering::Relaxed)
    }

    /// Takes an answer into account that made `version` into the next one.
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
