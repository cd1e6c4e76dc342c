//! Days that were gathered, kept while they are right.
//!
//! A kept day belongs to one version of the collection. An answer given here brings both
//! forward; any other change, by whomever, makes the versions differ, and the day is gathered
//! again.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Day, build};
use crate::fsrs::Micros;
use crate::ids::DeckId;
use crate::problem::Problem;
use crate::review::Outcome;
use crate::store::Records;

/// A learner studies one deck, or a few.
const MOST: usize = 8;

/// Days that were gathered, by deck.
#[derive(Debug, Default)]
pub struct Warm {
    days: Mutex<BTreeMap<Option<DeckId>, Kept>>,
    gathered: AtomicU64,
}

#[derive(Debug)]
struct Kept {
    version: u64,
    gathered: Micros,
    day: Day,
}

impl Warm {
    /// Lets `look` see the day of a deck and those under it, or of everything.
    pub fn day<T>(
        &self,
        records: &dyn Records,
        root: Option<DeckId>,
        now: Micros,
        look: impl FnOnce(&Day) -> T,
    ) -> Result<T, Problem> {
        let version = records.version()?;
        let mut days = self.lock();
        let fits = |kept: &&Kept| {
            // One that has run out is gathered again: the limits may have hidden a card.
            kept.version == version
                && (kept.gathered..kept.day.until).contains(&now)
                && !kept.day.at(now).is_empty()
        };
        if let Some(kept) = days.get(&root).filter(fits) {
            return Ok(look(&kept.day));
        }
        let day = build(records, root, now)?;
        self.gathered.fetch_add(1, Ordering::Relaxed);
        let seen = look(&day);
        if days.len() >= MOST {
            days.clear();
        }
        days.insert(root, Kept { version, gathered: now, day });
        Ok(seen)
    }

    /// How often a day had to be gathered.
    pub fn gathered(&self) -> u64 {
        self.gathered.load(Ordering::Relaxed)
    }

    /// Takes an answer into account that made `version` into the next one.
    pub fn answered(&self, version: u64, outcome: &Outcome) {
        self.lock().retain(|_, kept| {
            let right = kept.version == version && kept.day.answered(outcome);
            kept.version += 1;
            right
        });
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Option<DeckId>, Kept>> {
        self.days.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
