//! Builds the queue of a study day from the collection.

use std::collections::{HashSet, VecDeque};

use super::{DayQueue, Interleaving, LEARN_AHEAD_LIMIT, QueuedDeck, SiblingBurying};
use crate::collection;
use crate::deck::{Deck, DeckOptions};
use crate::error::Result;
use crate::fsrs::{Calendar, Micros, Phase, Zone};
use crate::ids::{CardId, DeckId, NoteId};
use crate::search;
use crate::store::{QueuedCard, SearchContext, SortOrder, StoreReader};

/// Most cards loaded per deck and phase.
const MAX_CARDS: u64 = 10_000;

/// Builds the queue of a deck and its subdecks, or of the whole collection.
pub fn build(reader: &dyn StoreReader, root: Option<DeckId>, now: Micros) -> Result<DayQueue> {
    let decks = reader.decks()?;
    let root = root.map(|id| collection::deck(reader, id)).transpose()?;
    if let Some(deck) = root.as_ref().filter(|deck| deck.filter.is_some()) {
        return filtered(reader, deck, now);
    }
    let inside = |deck: &&Deck| {
        deck.filter.is_none() && root.as_ref().is_none_or(|root| deck.name.is_within(&root.name))
    };
    let chosen: Vec<&Deck> = decks.iter().filter(inside).collect();
    let mut builder = QueueBuilder::new(reader, &chosen, &decks, now)?;
    let learning = builder.learning()?;
    let reviews = builder.reviews()?;
    let new = builder.new_cards()?;
    // Imported burials end at the default rollover hour, whatever the deck options.
    let default_rollover = DeckOptions::default().calendar(builder.home).next_start(now);
    let next_days = builder.decks.iter().map(|limits| limits.calendar.next_start(now));
    let buries = |wanted: bool| builder.decks.iter().any(|limits| limits.buries == wanted);
    Ok(DayQueue {
        learning,
        reviews,
        new,
        interleaving: builder.interleaving,
        sibling_burying: match (buries(true), buries(false)) {
            (true, true) => SiblingBurying::SomeDecks,
            (false, true) => SiblingBurying::NoDeck,
            (_, false) => SiblingBurying::AllDecks,
        },
        expires: next_days.min().unwrap_or(default_rollover).min(default_rollover),
        decks: builder
            .decks
            .iter()
            .zip(&chosen)
            .map(|(limits, deck)| {
                let due_cutoff = limits.calendar.due_cutoff(now);
                (limits.deck, QueuedDeck { name: deck.name.clone(), due_cutoff })
            })
            .collect(),
    })
}

/// A filtered deck shows the matches of its search regardless of limits.
fn filtered(reader: &dyn StoreReader, deck: &Deck, now: Micros) -> Result<DayQueue> {
    let Some(filter) = &deck.filter else { return Ok(DayQueue::default()) };
    let calendar = collection::calendar(reader)?;
    let query = search::parse(&filter.search)?;
    let context = SearchContext { now, calendar };
    let found = reader.search(&query, context, SortOrder::Due, 0, u64::from(filter.limit))?;
    // Expires immediately: a review may change what the search matches.
    let mut day =
        DayQueue { interleaving: Interleaving::ReviewsFirst, expires: now, ..DayQueue::default() };
    for id in found.cards {
        let card = collection::card(reader, id)?;
        if card.active_hold(now) != crate::card::Hold::None {
            continue;
        }
        let waiting = QueuedCard {
            card: id,
            note: card.note,
            deck: card.deck,
            ordinal: card.ordinal,
            due: card.schedule.due,
        };
        match card.schedule.phase {
            Phase::New => day.new.push_back(waiting),
            Phase::Review => day.reviews.push_back(waiting),
            Phase::Learning | Phase::Relearning => day.learning.push(waiting),
        }
    }
    day.learning.sort_by_key(|card| (card.due, card.card));
    Ok(day)
}

struct QueueBuilder<'a> {
    reader: &'a dyn StoreReader,
    /// Sorted by name.
    decks: Vec<DeckLimits>,
    interleaving: Interleaving,
    home: Zone,
    now: Micros,
    seen: HashSet<NoteId>,
}

/// Remaining limits of a deck for today, and its ancestors.
struct DeckLimits {
    deck: DeckId,
    calendar: Calendar,
    buries: bool,
    /// The lowest daily limit of the deck and its ancestors.
    most_new: u64,
    most_reviews: u64,
    /// Remainder of the deck's own limits.
    new: u32,
    reviews: u32,
    /// Indexes of the ancestors.
    above: Vec<usize>,
}

/// A card with the index of its deck.
type IndexedCard = (usize, QueuedCard);

impl<'a> QueueBuilder<'a> {
    fn new(
        reader: &'a dyn StoreReader,
        decks: &[&Deck],
        all: &[Deck],
        now: Micros,
    ) -> Result<Self> {
        let mut limits_by_deck: Vec<DeckLimits> = Vec::with_capacity(decks.len());
        let (mut done_reviews, mut done_new) = (0, 0);
        let home = reader.learner_zone()?;
        for deck in decks {
            let own = collection::options_among(deck, all);
            let calendar = own.calendar(home);
            let tally = reader.tally(deck.id, calendar.day(now))?;
            // Decks are sorted by name, so ancestors come first.
            let above: Vec<usize> = (0..limits_by_deck.len())
                .filter(|index| {
                    decks.get(*index).is_some_and(|other| deck.name.is_within(&other.name))
                })
                .collect();
            if above.is_empty() {
                // The tally of an ancestor includes its descendants, so only top decks count.
                done_new += tally.new as usize;
                done_reviews += tally.reviews.saturating_sub(tally.new) as usize;
            }
            let least = |own: u32, of: fn(&DeckLimits) -> u64| {
                let others = above.iter().filter_map(|index| limits_by_deck.get(*index)).map(of);
                others.fold(u64::from(own), u64::min)
            };
            limits_by_deck.push(DeckLimits {
                deck: deck.id,
                calendar,
                buries: own.bury_siblings,
                most_new: least(own.new_per_day, |limits| limits.most_new),
                most_reviews: least(own.reviews_per_day, |limits| limits.most_reviews),
                new: own.new_per_day.saturating_sub(tally.new),
                reviews: own.reviews_per_day.saturating_sub(tally.reviews),
                above,
            });
        }
        let interleaving = Interleaving::Spread { reviews: done_reviews, new: done_new };
        Ok(Self { reader, decks: limits_by_deck, interleaving, home, now, seen: HashSet::new() })
    }

    /// Cards in learning steps are exempt from limits.
    fn learning(&mut self) -> Result<Vec<QueuedCard>> {
        let mut waiting = Vec::new();
        for limits in &self.decks {
            let until = limits.calendar.due_cutoff(self.now) + LEARN_AHEAD_LIMIT;
            for phase in [Phase::Learning, Phase::Relearning] {
                waiting.extend(self.reader.queued_cards(
                    limits.deck,
                    phase,
                    self.now,
                    until,
                    MAX_CARDS,
                )?);
            }
        }
        waiting.sort_by_key(|card| (card.due, card.card));
        self.seen.extend(waiting.iter().map(|card| card.note));
        Ok(waiting)
    }

    fn reviews(&mut self) -> Result<VecDeque<QueuedCard>> {
        let mut waiting: Vec<((i64, u64, CardId), IndexedCard)> = Vec::new();
        for (index, limits) in self.decks.iter().enumerate().filter(|(_, deck)| deck.reviews > 0) {
            // Load twice the limit, because siblings are dropped later.
            let limit = (limits.most_reviews * 2).min(MAX_CARDS);
            let (calendar, today) = (limits.calendar, limits.calendar.day(self.now));
            let until = calendar.due_cutoff(self.now);
            let found =
                self.reader.queued_cards(limits.deck, Phase::Review, self.now, until, limit)?;
            // Cards due on the same day are shuffled, in the same order all day.
            let key =
                |card: &QueuedCard| (calendar.day(card.due), day_hash(card.card, today), card.card);
            waiting.extend(found.into_iter().map(|card| (key(&card), (index, card))));
        }
        waiting.sort_unstable_by_key(|(key, _)| *key);
        Ok(self.within_limits(waiting.into_iter().map(|(_, placed)| placed), false).into())
    }

    fn new_cards(&mut self) -> Result<VecDeque<QueuedCard>> {
        let mut waiting: Vec<IndexedCard> = Vec::new();
        for (index, limits) in self.decks.iter().enumerate().filter(|(_, deck)| deck.new > 0) {
            let limit = (limits.most_new * 2).min(MAX_CARDS);
            let mut found =
                self.reader.queued_cards(limits.deck, Phase::New, self.now, Micros::MAX, limit)?;
            found.sort_by_key(|card| (card.due, card.card));
            waiting.extend(found.into_iter().map(|card| (index, card)));
        }
        let mut shown = self.within_limits(waiting.into_iter(), true);
        // First cards of notes before second ones, otherwise in order of position.
        shown.sort_by_key(|card| card.ordinal);
        Ok(shown.into())
    }

    fn within_limits(
        &mut self,
        waiting: impl Iterator<Item = IndexedCard>,
        new: bool,
    ) -> Vec<QueuedCard> {
        let mut shown = Vec::new();
        for (index, card) in waiting {
            let buries = self.decks.get(index).is_none_or(|limits| limits.buries);
            if buries && self.seen.contains(&card.note) || !self.take_from_limits(index, new) {
                continue;
            }
            self.seen.insert(card.note);
            shown.push(card);
        }
        shown
    }

    /// Takes one card from the limits of a deck and its ancestors, if all have one left.
    fn take_from_limits(&mut self, index: usize, new: bool) -> bool {
        let enough = |limits: &DeckLimits| limits.reviews > 0 && (!new || limits.new > 0);
        let Some(own) = self.decks.get_mut(index).filter(|own| enough(own)) else { return false };
        // Moved out to allow mutable access to the other decks.
        let above = std::mem::take(&mut own.above);
        let all = above.iter().all(|index| self.decks.get(*index).is_some_and(enough));
        if all {
            for index in above.iter().chain([&index]) {
                if let Some(limits) = self.decks.get_mut(*index) {
                    limits.reviews -= 1;
                    limits.new -= u32::from(new);
                }
            }
        }
        if let Some(own) = self.decks.get_mut(index) {
            own.above = above;
        }
        all
    }
}

/// A hash that shuffles cards, stable for one day.
fn day_hash(card: CardId, day: i64) -> u64 {
    let mut state =
        (card.0 ^ day.rotate_left(32)).cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state = (state ^ (state >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state ^ (state >> 32)
}
