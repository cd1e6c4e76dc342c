//! Sharing of decks with other tenants.

use std::collections::BTreeSet;
use std::sync::Arc;

use panoply_contract::error::ToolError;
use panoply_contract::pack::Pack;
use panoply_contract::sharing::Shareable;
use panoply_store::roots::Roots;

use super::wire::DeckId;
use crate::ids;
use crate::store::Store;

/// The decks of a collection.
pub(super) struct ShareableDecks {
    pub(super) store: Arc<dyn Store>,
}

impl Shareable for ShareableDecks {
    fn kind(&self) -> &'static str {
        "deck"
    }

    fn name_of(&self, item: &str) -> Result<Option<String>, ToolError> {
        let Some(id) = deck(item) else { return Ok(None) };
        let found = self.store.read(|reader| reader.deck(id))?;
        Ok(found.filter(|deck| deck.deleted.is_none()).map(|deck| deck.name.to_string()))
    }

    fn view(&self, items: &BTreeSet<String>) -> Result<Pack, ToolError> {
        let decks: Vec<ids::DeckId> = items.iter().filter_map(|item| deck(item)).collect();
        let shared = self.store.shared(&decks).map_err(|error| {
            ToolError::system("the shared decks cannot be opened").cause(error.to_string())
        })?;
        Ok(super::pack_of(shared, Roots::default()))
    }
}

fn deck(item: &str) -> Option<ids::DeckId> {
    DeckId::parse(item).ok().map(|deck| deck.domain())
}
