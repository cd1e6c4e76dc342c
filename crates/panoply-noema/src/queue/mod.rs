//! What comes next, in Anki's order.
//!
//! Cards in steps that are due come first. Then reviews by due date, with new cards spread
//! evenly among them, both within the day's limits of their deck and of every deck above it
//! (a new card also uses up a review). Of each note only one card is shown a day. When nothing
//! else is left, cards in steps that are due soon are shown ahead of time.
//!
//! A [`DayQueue`] is gathered once and stays right as its cards are answered: an answer takes its
//! card out and the others keep their order, because new cards are spread over the whole day
//! and not over what is left of it. So a program that starts anew goes on where another stopped.

mod build;
mod cache;

use std::collections::{BTreeMap, VecDeque};

pub use self::build::build;
pub use self::cache::QueueCache;

use crate::deck::DeckName;
use crate::fsrs::{Micros, Phase, SECOND};
use crate::ids::{CardId, DeckId};
use crate::review::ReviewOutcome;
use crate::store::QueuedCard;

/// Cards in steps may be shown so much earlier when nothing else is left.
const LEARN_AHEAD_LIMIT: Micros = 20 * 60 * SECOND;

/// What is to be studied on a day in a deck and those under it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DayQueue {
    /// In steps, by when they are due.
    learning: Vec<QueuedCard>,
    /// In order.
    reviews: VecDeque<QueuedCard>,
    /// In order.
    new: VecDeque<QueuedCard>,
    /// How new cards are spread among reviews.
    interleaving: Interleaving,
    decks: BTreeMap<DeckId, QueuedDeck>,
    /// Whether siblings wait for one another in all of these decks, in none, or in some.
    sibling_burying: SiblingBurying,
    /// When the first of the decks has its next day.
    expires: Micros,
}

#[derive(Clone, Debug, PartialEq)]
struct QueuedDeck {
    name: DeckName,
    /// Up to then what is due counts as due today.
    due_cutoff: Micros,
}

/// How reviews and new cards follow one another.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Interleaving {
    /// Evenly over the day, of which so many reviews and new cards are done.
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

/// What there is to study at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue<'a> {
    /// In steps, and due.
    pub learning: &'a [QueuedCard],
    /// In steps, due soon.
    pub learn_ahead: &'a [QueuedCard],
    /// How many reviews there are.
    pub reviews: usize,
    /// How many new cards there are.
    pub new: usize,
    /// When the next card in steps is due that is in none of these.
    pub next_step: Option<Micros>,
    day: &'a DayQueue,
}

impl<'a> Queue<'a> {
    /// All of it, in order.
    pub fn in_order(&self) -> impl Iterator<Item = &'a QueuedCard> + use<'a> {
        self.learning.iter().chain(self.day.reviews_and_new()).chain(self.learn_ahead)
    }

    /// How many cards it has.
    pub const fn len(&self) -> usize {
        self.learning.len() + self.learn_ahead.len() + self.reviews + self.new
    }

    /// Whether there is nothing to study.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl DayQueue {
    /// What there is to study at a moment of this day.
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

    /// The name of a deck that it has cards of.
    pub fn deck_name(&self, deck: DeckId) -> Option<&DeckName> {
        self.decks.get(&deck).map(|deck| &deck.name)
    }

    /// Reviews and new cards, in order.
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

    /// Takes an answer into account. False when that is not possible and the day has to be
    /// gathered again.
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
            let place = self
                .learning
                .partition_point(|other| (other.due, other.card) < (card.due, card.card));
            self.learning.insert(place, card);
        }
        let due_again = !in_steps && outcome.due <= due_cutoff;
        // Where some decks bury siblings and others do not, which cards come back is not said
        // by the outcome.
        !due_again && self.sibling_burying != SiblingBurying::SomeDecks
    }

    fn remove(&mut self, card: CardId) -> Option<QueuedCard> {
        if let Some(place) = self.learning.iter().position(|waiting| waiting.card == card) {
            return Some(self.learning.remove(place));
        }
        [&mut self.reviews, &mut self.new].into_iter().find_map(|list| {
            let place = list.iter().position(|waiting| waiting.card == card)?;
            list.remove(place)
        })
    }
}
