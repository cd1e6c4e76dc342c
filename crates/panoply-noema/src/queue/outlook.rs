//! What follows when the queue is empty: the next card, and cards that wait for something else.

use crate::card::Hold;
use crate::collection;
use crate::deck::Deck;
use crate::error::Result;
use crate::fsrs::{Micros, Phase};
use crate::ids::DeckId;
use crate::store::StoreReader;

/// The state of a deck, or of the collection, beyond today's queue.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Outlook {
    /// When the next card can come: a due time after today, or the next day if today's limits or
    /// burials hold cards back. `None` if no card will come by itself.
    pub next: Option<Micros>,
    /// Drafts that wait for approval.
    pub drafts: i64,
    /// All cards.
    pub cards: i64,
}

/// Looks beyond today's queue of a deck and its subdecks, or of the collection.
pub fn outlook(reader: &dyn StoreReader, root: Option<DeckId>, now: Micros) -> Result<Outlook> {
    let decks = reader.decks()?;
    let home = reader.learner_zone()?;
    let root = root.map(|id| collection::deck(reader, id)).transpose()?;
    // A filtered deck shows cards of all decks.
    let root = root.filter(|root| root.filter.is_none());
    let inside = |deck: &&Deck| root.as_ref().is_none_or(|root| deck.name.is_within(&root.name));
    let mut outlook = Outlook::default();
    for deck in decks.iter().filter(inside) {
        let options = collection::options_among(deck, &decks);
        let calendar = options.calendar(home);
        let today_ends = calendar.due_cutoff(now);
        let mut held_back = false;
        for lane in reader.lanes(deck.id, today_ends)? {
            outlook.cards += lane.cards;
            held_back |= match (lane.hold, lane.phase) {
                (Hold::None, Phase::New) => options.new_per_day > 0,
                (Hold::None, Phase::Review) => lane.due > 0 && options.reviews_per_day > 0,
                (Hold::BuriedByHand | Hold::BuriedAsSibling, _) => true,
                (Hold::None, _) | (Hold::Suspended, _) => false,
                (Hold::Draft, _) => {
                    outlook.drafts += lane.cards;
                    false
                }
            };
        }
        let tomorrow = held_back.then(|| calendar.next_start(now));
        let due = reader.next_due(deck.id, today_ends)?;
        outlook.next = outlook.next.into_iter().chain(tomorrow).chain(due).min();
    }
    Ok(outlook)
}
