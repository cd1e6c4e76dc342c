//! What comes next, in Anki's order.
//!
//! Cards in steps that are due come first. Then reviews by due date, with new cards spread
//! evenly among them, both within the day's limits of their deck and of every deck above it
//! (a new card also uses up a review). Of each note only one card is shown a day. When nothing
//! else is left, cards in steps that are due soon are shown ahead of time.

use std::collections::{BTreeMap, BTreeSet};

use crate::deck::{Deck, DeckOptions};
use crate::fsrs::{Micros, Phase, SECOND};
use crate::ids::{CardId, DeckId, NoteId};
use crate::library;
use crate::problem::Problem;
use crate::search;
use crate::store::{Order, Records, Timing, Waiting};

/// Cards in steps may be shown so much earlier when nothing else is left.
const AHEAD: Micros = 20 * 60 * SECOND;
/// More than this is never gathered for a day.
const MOST: u64 = 10_000;

/// What is to be studied, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queue {
    /// In steps, and due.
    pub learning: Vec<Waiting>,
    /// Reviews and new cards.
    pub main: Vec<Waiting>,
    /// In steps, due soon.
    pub ahead: Vec<Waiting>,
    /// How many of `main` are new.
    pub new: usize,
    /// How many of `main` are reviews.
    pub reviews: usize,
    /// When the next card in steps is due that is in none of these.
    pub next_step: Option<Micros>,
}

impl Queue {
    /// All of it, in order.
    pub fn in_order(&self) -> impl Iterator<Item = &Waiting> {
        self.learning.iter().chain(&self.main).chain(&self.ahead)
    }

    /// How many cards it has.
    pub fn len(&self) -> usize {
        self.learning.len() + self.main.len() + self.ahead.len()
    }

    /// Whether there is nothing to study.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Builds the queue of a deck and those under it, or of everything.
pub fn build(records: &dyn Records, root: Option<DeckId>, now: Micros) -> Result<Queue, Problem> {
    let decks = records.decks()?;
    let root = root.map(|id| library::deck(records, id)).transpose()?;
    if let Some(deck) = root.as_ref().filter(|deck| deck.filter.is_some()) {
        return filtered(records, deck, now);
    }
    let inside = |deck: &&Deck| {
        deck.filter.is_none() && root.as_ref().is_none_or(|root| deck.name.is_within(&root.name))
    };
    let chosen: Vec<&Deck> = decks.iter().filter(inside).collect();
    let mut gathering = Gathering::new(records, &chosen, &decks, now)?;
    gathering.steps()?;
    let reviews = gathering.reviews()?;
    let new = gathering.new_cards()?;
    Ok(Queue {
        new: new.len(),
        reviews: reviews.len(),
        main: interspersed(reviews, new),
        learning: gathering.learning,
        ahead: gathering.ahead,
        next_step: gathering.next_step,
    })
}

/// A filtered deck shows what its search finds, whatever the limits.
fn filtered(records: &dyn Records, deck: &Deck, now: Micros) -> Result<Queue, Problem> {
    let Some(filter) = &deck.filter else { return Ok(Queue::default()) };
    let calendar = DeckOptions::default().calendar();
    let query = search::parse(&filter.search)?;
    let found =
        records.search(&query, Timing { now, calendar }, Order::Due, 0, u64::from(filter.limit))?;
    let mut queue = Queue::default();
    for id in found.cards {
        let card = library::card(records, id)?;
        if card.held(now) != crate::card::Hold::None {
            continue;
        }
        let waiting = Waiting {
            card: id,
            note: card.note,
            deck: card.deck,
            ordinal: card.ordinal,
            due: card.schedule.due,
        };
        match card.schedule.phase {
            Phase::New => queue.new += 1,
            Phase::Review => queue.reviews += 1,
            Phase::Learning | Phase::Relearning if card.schedule.due <= now => {
                queue.learning.push(waiting);
                continue;
            }
            Phase::Learning | Phase::Relearning => {
                queue.ahead.push(waiting);
                continue;
            }
        }
        queue.main.push(waiting);
    }
    Ok(queue)
}

struct Gathering<'a> {
    records: &'a dyn Records,
    decks: &'a [&'a Deck],
    options: BTreeMap<DeckId, DeckOptions>,
    left: BTreeMap<DeckId, Left>,
    now: Micros,
    seen: BTreeSet<NoteId>,
    learning: Vec<Waiting>,
    ahead: Vec<Waiting>,
    next_step: Option<Micros>,
}

/// What a deck's limits leave for today, and which decks are above it.
struct Left {
    new: u32,
    reviews: u32,
    above: Vec<DeckId>,
}

impl<'a> Gathering<'a> {
    fn new(
        records: &'a dyn Records,
        decks: &'a [&'a Deck],
        all: &[Deck],
        now: Micros,
    ) -> Result<Self, Problem> {
        let (mut options, mut left) = (BTreeMap::new(), BTreeMap::new());
        for deck in decks {
            let own = library::options_among(deck, all);
            let tally = records.tally(deck.id, own.calendar().day(now))?;
            let above = decks
                .iter()
                .filter(|other| other.id != deck.id && deck.name.is_within(&other.name))
                .map(|other| other.id)
                .collect();
            left.insert(
                deck.id,
                Left {
                    new: own.new_per_day.saturating_sub(tally.new),
                    reviews: own.reviews_per_day.saturating_sub(tally.reviews),
                    above,
                },
            );
            options.insert(deck.id, own);
        }
        Ok(Self {
            records,
            decks,
            options,
            left,
            now,
            seen: BTreeSet::new(),
            learning: Vec::new(),
            ahead: Vec::new(),
            next_step: None,
        })
    }

    /// Cards in steps know no limits; those of another day wait for their day.
    fn steps(&mut self) -> Result<(), Problem> {
        let mut waiting = Vec::new();
        for deck in self.decks {
            for phase in [Phase::Learning, Phase::Relearning] {
                let until = self.horizon(deck.id).max(self.now + AHEAD);
                waiting.extend(self.records.waiting(deck.id, phase, self.now, until, MOST)?);
            }
        }
        waiting.sort_by_key(|card| (card.due, card.card));
        for card in waiting {
            if card.due <= self.now {
                self.seen.insert(card.note);
                self.learning.push(card);
            } else if card.due <= self.now + AHEAD {
                self.seen.insert(card.note);
                self.ahead.push(card);
            } else if self.next_step.is_none() {
                self.next_step = Some(card.due);
            }
        }
        Ok(())
    }

    fn reviews(&mut self) -> Result<Vec<Waiting>, Problem> {
        let mut waiting = Vec::new();
        for deck in self.decks {
            let most = self.left.get(&deck.id).map_or(0, |left| u64::from(left.reviews));
            // Twice as many as may be shown, because siblings drop out.
            let limit = (most * 2).min(MOST);
            waiting.extend(self.records.waiting(
                deck.id,
                Phase::Review,
                self.now,
                self.horizon(deck.id),
                limit,
            )?);
        }
        // Of those due on one day the order is mixed, but the same all day.
        let day = |card: &Waiting| card.due.div_euclid(crate::fsrs::DAY);
        waiting.sort_by_key(|card| {
            (day(card), mixed(card.card, self.now.div_euclid(crate::fsrs::DAY)), card.card)
        });
        Ok(self.within_limits(waiting, false))
    }

    fn new_cards(&mut self) -> Result<Vec<Waiting>, Problem> {
        let mut waiting = Vec::new();
        for deck in self.decks {
            let most = self.left.get(&deck.id).map_or(0, |left| u64::from(left.new));
            let mut found = self.records.waiting(
                deck.id,
                Phase::New,
                self.now,
                Micros::MAX,
                (most * 4).min(MOST),
            )?;
            found.sort_by_key(|card| (card.due, card.card));
            waiting.extend(found);
        }
        let mut shown = self.within_limits(waiting, true);
        // First cards of notes before second ones, otherwise as gathered.
        shown.sort_by_key(|card| card.ordinal);
        Ok(shown)
    }

    fn within_limits(&mut self, waiting: Vec<Waiting>, new: bool) -> Vec<Waiting> {
        let mut shown = Vec::new();
        for card in waiting {
            let buries = self.options.get(&card.deck).is_none_or(|options| options.bury_siblings);
            if buries && self.seen.contains(&card.note) || !self.spend(card.deck, new) {
                continue;
            }
            self.seen.insert(card.note);
            shown.push(card);
        }
        shown
    }

    /// Takes one from the limits of a deck and of those above it, if all have one left.
    fn spend(&mut self, deck: DeckId, new: bool) -> bool {
        let Some(own) = self.left.get(&deck) else { return false };
        let touched: Vec<DeckId> = std::iter::once(deck).chain(own.above.iter().copied()).collect();
        let enough = |left: &Left| left.reviews > 0 && (!new || left.new > 0);
        if !touched.iter().all(|deck| self.left.get(deck).is_some_and(enough)) {
            return false;
        }
        for deck in touched {
            if let Some(left) = self.left.get_mut(&deck) {
                left.reviews -= 1;
                left.new -= u32::from(new);
            }
        }
        true
    }

    fn horizon(&self, deck: DeckId) -> Micros {
        self.options.get(&deck).map_or(self.now, |options| options.calendar().horizon(self.now))
    }
}

/// A number that looks like chance and stays the same for a card on a day.
fn mixed(card: CardId, day: i64) -> u64 {
    let mut state =
        (card.0 ^ day.rotate_left(32)).cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state = (state ^ (state >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state ^ (state >> 32)
}

/// Spreads the second list evenly over the first.
fn interspersed(reviews: Vec<Waiting>, new: Vec<Waiting>) -> Vec<Waiting> {
    let (many, few) = (reviews.len() + 1, new.len() + 1);
    let mut out = Vec::with_capacity(many + few);
    let (mut reviews, mut new) = (reviews.into_iter().peekable(), new.into_iter().peekable());
    let (mut shown_reviews, mut shown_new) = (1, 1);
    loop {
        // The list that is further behind its share goes next.
        let review_next = match (reviews.peek().is_some(), new.peek().is_some()) {
            (true, true) => shown_reviews * few <= shown_new * many,
            (more_reviews, more_new) if more_reviews || more_new => more_reviews,
            _ => return out,
        };
        if review_next {
            shown_reviews += 1;
            out.extend(reviews.next());
        } else {
            shown_new += 1;
            out.extend(new.next());
        }
    }
}
