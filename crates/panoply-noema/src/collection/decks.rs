//! Creating, changing and deleting decks.

use super::{cards, deck, deck_by_name, subdecks};
use crate::deck::{Deck, DeckName, DeckOptions, Filter};
use crate::error::{NoemaError, Result};
use crate::fsrs::Micros;
use crate::ids::DeckId;
use crate::search;
use crate::store::StoreWriter;

/// Changes to a deck; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default)]
pub struct DeckChanges {
    /// New name; subdecks are renamed too.
    pub name: Option<DeckName>,
    /// Description.
    pub description: Option<String>,
    /// Deck options.
    pub options: Option<DeckOptions>,
    /// Search of a filtered deck.
    pub filter: Option<Filter>,
}

/// Creates a deck and its missing parents.
pub fn create_deck(
    writer: &mut dyn StoreWriter,
    name: &DeckName,
    changes: DeckChanges,
    now: Micros,
) -> Result<Deck> {
    if deck_by_name(writer, name)?.is_some() {
        return Err(NoemaError::DeckExists(name.to_string()));
    }
    if let Some(filter) = &changes.filter {
        search::parse(&filter.search)?;
    }
    let parents: Vec<DeckName> = name.parents().collect();
    for parent in parents {
        match deck_by_name(writer, &parent)? {
            Some(deck) if deck.filter.is_some() => return Err(NoemaError::FilteredDeck(deck.id)),
            Some(_) => {}
            None => {
                let empty = DeckChanges::default();
                let parent = new_deck(writer, parent, empty, now)?;
                writer.put_deck(&parent)?;
            }
        }
    }
    let deck = new_deck(writer, name.clone(), changes, now)?;
    writer.put_deck(&deck)?;
    Ok(deck)
}

fn new_deck(
    writer: &mut dyn StoreWriter,
    name: DeckName,
    changes: DeckChanges,
    now: Micros,
) -> Result<Deck> {
    Ok(Deck {
        id: DeckId(writer.next_id(now)?),
        name,
        description: changes.description.unwrap_or_default(),
        options: changes.options,
        filter: changes.filter,
        created: now,
        modified: now,
        version: 1,
        deleted: None,
    })
}

/// Updates a deck.
pub fn update_deck(
    writer: &mut dyn StoreWriter,
    id: DeckId,
    changes: DeckChanges,
    now: Micros,
) -> Result<Deck> {
    let mut deck = deck(writer, id)?;
    if let Some(filter) = changes.filter {
        search::parse(&filter.search)?;
        deck.filter = Some(filter);
    }
    if let Some(name) = changes.name.filter(|name| *name != deck.name) {
        rename(writer, &deck, &name, now)?;
        deck.name = name;
    }
    deck.description = changes.description.unwrap_or(deck.description);
    deck.options = changes.options.or(deck.options);
    deck.modified = now;
    deck.version += 1;
    writer.put_deck(&deck)?;
    Ok(deck)
}

fn rename(writer: &mut dyn StoreWriter, deck: &Deck, name: &DeckName, now: Micros) -> Result<()> {
    if let Some(other) = deck_by_name(writer, name)?.filter(|other| other.id != deck.id) {
        return Err(NoemaError::DeckExists(other.name.to_string()));
    }
    for mut subdecks in subdecks(writer, deck)? {
        subdecks.name =
            DeckName::parse(subdecks.name.with_prefix_replaced(&deck.name, name).as_str())?;
        subdecks.modified = now;
        subdecks.version += 1;
        writer.put_deck(&subdecks)?;
    }
    Ok(())
}

/// Deletes a deck with its subdecks and cards; returns the number of each.
pub fn delete_deck(
    writer: &mut dyn StoreWriter,
    id: DeckId,
    now: Micros,
) -> Result<(usize, usize)> {
    let deck = deck(writer, id)?;
    let mut decks = subdecks(writer, &deck)?;
    decks.push(deck);
    let mut cards = 0;
    for deck in &mut decks {
        for card in writer.cards_in(deck.id)? {
            cards += usize::from(cards::delete_card(writer, card.id, now)?);
        }
        deck.deleted = Some(now);
        deck.version += 1;
        writer.put_deck(deck)?;
    }
    Ok((decks.len(), cards))
}
