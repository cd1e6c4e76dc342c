//! The study queue, in Anki's order.
//!
//! Due learning cards come first, then reviews by due date interleaved with new cards, within the
//! daily limits of their deck and its ancestors (a new card also counts as a review). One card per
//! note is shown a day. When nothing else is left, learning cards due within 20 minutes follow.
//!
//! A [`DayQueue`] is built once and updated by each review. New cards are interleaved over the
//! whole day and not over the rest of it, so a queue that is rebuilt continues in the same order.

mod build;
mod cache;
mod outlook;

use std::collections::{BTreeMap, VecDeque};

pub use self::build::build;
pub use self::cache::QueueCache;
pub use self::outlook::{Outlook, outlook};

use crate::deck::DeckName;
use crate::fsrs::{Micros, Phase, SECOND};
use crate::ids::{CardId, DeckId};
use crate::review::ReviewOutcome;
use crate::store::QueuedCard;

/// How early learning cards are shown when nothing else is left.
const LEARN_AHEAD_LIMIT: Micros = 20 * 60 * SECOND;

/// The queue of one day for a deck and its subdecks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DayQueue {
    /// Learning cards by due time.
    learning: Vec<QueuedCard>,
    /// In order.
    reviews: VecDeque<QueuedCard>,
    /// In order.
    new: VecDeque<QueuedCard>,
    /// How new cards are interleaved with reviews.
    interleaving: Interleaving,
    decks: BTreeMap<DeckId, QueuedDeck>,
    /// Whether siblings are buried in all, none or some of the decks.
    sibling_burying: SiblingBurying,
    /// The earliest next rollover of the decks.
    expires: Micros,
}

#[derive(Clone, Debug, PartialEq)]
struct QueuedDeck {
    name: DeckName,
    /// Cards due until then count as due today.
    due_cutoff: Micros,
}

/// The order of reviews and new cards.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Interleaving {
    /// Evenly over the day, counting cards already studied.
    Spread { reviews: usize, new: usize },
    /// Reviews first.
    ReviewsFirst,
}

impl Default for Interleaving {
    fn default() -> Self {
        Self::Spread { reviews: 0, new: 0 }
    }
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum SiblingBurying {
    #[default]
    AllDecks,
    NoDeck,
    SomeDecks,
}

/// The cards to study at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue<'a> {
    /// Due learning cards.
    pub learning: &'a [QueuedCard],
    /// Learning cards due soon.
    pub learn_ahead: &'a [QueuedCard],
    /// Number of reviews.
    pub reviews: usize,
    /// Number of new cards.
    pub new: usize,
    /// Due time of the next learning card outside the queue.
    pub next_step: Option<Micros>,
    day: &'a DayQueue,
}

impl<'a> Queue<'a> {
    /// All cards in order.
    pub fn in_order(&self) -> impl Iterator<Item = &'a QueuedCard> + use<'a> {
        self.learning.iter().chain(self.day.reviews_and_new()).chain(self.learn_ahead)
    }

    /// Number of cards.
    pub const fn len(&self) -> usize {
        self.learning.len() + self.learn_ahead.len() + self.reviews + self.new
    }

    /// Whether the queue is empty.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl DayQueue {
    /// The queue at `now`.
    pub fn at(&self, now: Micros) -> Queue<'_> {
        let due = self.learning.partition_point(|card| card.due <= now);
        let soon = self.learning.partition_point(|card| card.due <= now + LEARN_AHEAD_LIMIT);
        let (learning, later) = self.learning.split_at(due);
        let (learn_ahead, later) = later.split_at(soon - due);
        Queue {
            learning,
            learn_ahead,
            reviews: self.reviews.len(),
            new: self.new.len(),
            next_step: later.first().map(|card| card.due),
            day: self,
        }
    }

    /// The name of a deck in the queue.
    pub fn deck_name(&self, deck: DeckId) -> Option<&DeckName> {
        self.decks.get(&deck).map(|deck| &deck.name)
    }

    /// Reviews and new cards in order.
    fn reviews_and_new(&self) -> impl Iterator<Item = &QueuedCard> {
        let (mut reviews, mut new) = (self.reviews.iter(), self.new.iter());
        let (mut done_reviews, mut done_new) = match self.interleaving {
            Interleaving::Spread { reviews, new } => (reviews, new),
            Interleaving::ReviewsFirst => (0, 0),
        };
        let (all_reviews, all_new) = (done_reviews + reviews.len() + 1, done_new + new.len() + 1);
        std::iter::from_fn(move || {
            // The list that is further behind its share goes next.
            let review_next = match self.interleaving {
                Interleaving::Spread { .. } => {
                    (done_reviews + 1) * all_new <= (done_new + 1) * all_reviews
                }
                Interleaving::ReviewsFirst => true,
            };
            if reviews.len() > 0 && (review_next || new.len() == 0) {
                done_reviews += 1;
                reviews.next()
            } else {
                done_new += 1;
                new.next()
            }
        })
    }

    /// Applies a review. Returns false if the queue must be rebuilt.
    fn apply_answer(&mut self, outcome: &ReviewOutcome) -> bool {
        for sibling in &outcome.buried {
            self.remove(*sibling);
        }
        let Some(due_cutoff) = self.decks.get(&outcome.deck).map(|deck| deck.due_cutoff) else {
            return true;
        };
        let Some(card) = self.remove(outcome.card) else { return false };
        match (&mut self.interleaving, outcome.from) {
            (Interleaving::Spread { new, .. }, Phase::New) => *new += 1,
            (Interleaving::Spread { reviews, .. }, Phase::Review) => *reviews += 1,
            (Interleaving::Spread { .. }, Phase::Learning | Phase::Relearning)
            | (Interleaving::ReviewsFirst, _) => {}
        }
        let in_steps = matches!(outcome.to, Phase::Learning | Phase::Relearning);
        if in_steps && !outcome.suspended && outcome.due <= due_cutoff + LEARN_AHEAD_LIMIT {
            let card = QueuedCard { due: outcome.due, ..card };
            let index = self
                .learning
                .partition_point(|other| (other.due, other.card) < (card.due, card.card));
            self.learning.insert(index, card);
        }
        let due_again = !in_steps && outcome.due <= due_cutoff;
        // If only some decks bury siblings, the outcome does not tell which cards become available.
        !due_again && self.sibling_burying != SiblingBurying::SomeDecks
    }

    fn remove(&mut self, card: CardId) -> Option<QueuedCard> {
        if let Some(index) = self.learning.iter().position(|waiting| waiting.card == card) {
            return Some(self.learning.remove(index));
        }
        [&mut self.reviews, &mut self.new].into_iter().find_map(|list| {
            let index = list.iter().position(|waiting| waiting.card == card)?;
            list.remove(index)
        })
    }
}
