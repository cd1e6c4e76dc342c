//! Retention of deleted cards and undo, through the tools, with a controlled clock.

use std::sync::Arc;
use std::time::Duration;

use panoply_contract::kernel::{Kernel, Settings};
use panoply_contract::prelude::Category;
use panoply_contract::testing::{FixedClock, kernel_in_memory, noon};
use panoply_noema::ids::CardId;
use panoply_noema::store::Store;
use panoply_noema::tools::{pack, sample};
use serde_json::json;

use crate::tools::call;

const DAY: Duration = Duration::from_secs(86_400);

struct World {
    store: Arc<dyn Store>,
    clock: Arc<FixedClock>,
    kernel: Arc<Kernel>,
}

fn world() -> World {
    let store = sample::store().unwrap();
    let clock = FixedClock::at(noon());
    let pack = pack(Arc::clone(&store));
    let kernel =
        kernel_in_memory(vec![pack], Arc::<FixedClock>::clone(&clock), Settings::default());
    World { store, clock, kernel: kernel.unwrap() }
}

fn is_there(world: &World, card: i64) -> bool {
    world.store.read(|reader| reader.card(CardId(card))).unwrap().is_some()
}

#[tokio::test]
async fn deleted_cards_are_restorable_for_30_days_then_purged() {
    let world = world();
    for card in ["card_123", "card_124"] {
        call(&world.kernel, "delete-cards", json!({"cardIds": [card]})).await.unwrap();
    }
    world.clock.advance(DAY * 29);
    let back =
        call(&world.kernel, "restore-cards", json!({"cardIds": ["card_123"]})).await.unwrap();
    assert_eq!(back["items"][0]["outcome"], "done");
    assert!(is_there(&world, 124), "still restorable");
    world.clock.advance(DAY * 2);
    let late =
        call(&world.kernel, "restore-cards", json!({"cardIds": ["card_124"]})).await.unwrap();
    assert_eq!(late["items"][0]["outcome"], "failed");
    assert!(!is_there(&world, 124), "the card is purged");
    assert!(is_there(&world, 123) && is_there(&world, 125), "other cards remain");
    let old = call(&world.kernel, "undo-action", json!({"actionId": "action_1794571200000"})).await;
    assert_eq!(old, Err("ACTION_NOT_FOUND".to_owned()), "older actions are purged");
}

/// The whole visible content of a collection.
fn picture(world: &World) -> String {
    let store: &dyn Store = &*world.store;
    let seen = store.read(|reader| {
        let decks = reader.decks()?;
        let mut seen = format!("{decks:?}\n{:?}\n{:?}\n", reader.tags()?, reader.media_files()?);
        for deck in &decks {
            let lanes = reader.lanes(deck.id, 0)?;
            seen += &format!("{:?}\n{lanes:?}\n", reader.cards_in(deck.id)?);
        }
        reader.for_each_note(&mut |note| {
            seen += &format!("{note:?}\n");
            Ok(())
        })?;
        seen += &format!("{:?}\n", reader.reviews_between(0, i64::MAX)?);
        Ok(seen)
    });
    seen.unwrap()
}

#[tokio::test]
async fn every_example_mutation_can_be_undone() {
    let mut shared = world();
    let names: Vec<&str> = shared
        .kernel
        .registry()
        .get_by_category(Category::Mutation)
        .filter(|entry| entry.spec.data.contains(&"cards") || entry.spec.data.contains(&"decks"))
        .map(|entry| entry.spec.name)
        .collect();
    let mut undone = Vec::new();
    for name in names {
        if name.starts_with("undo-") || name == "submit-review" {
            // These undo the last action on the sample.
            shared = world();
        }
        if name == "restore-cards" {
            call(&shared.kernel, "delete-cards", json!({"cardIds": ["card_123"]})).await.unwrap();
        }
        let examples = shared.kernel.registry().get(name).unwrap().spec.examples;
        for example in examples {
            let before = picture(&shared);
            let input = serde_json::from_str(example.params).unwrap();
            let Ok(reply) = call(&shared.kernel, name, input).await else { continue };
            if reply["actionId"].is_null() || picture(&shared) == before {
                continue;
            }
            let undo = json!({"actionId": reply["actionId"]});
            call(&shared.kernel, "undo-action", undo).await.unwrap();
            assert_eq!(picture(&shared), before, "{name}: {}", example.shows);
            undone.push(name);
        }
        if name == "restore-cards" {
            shared = world();
        }
    }
    undone.dedup();
    for name in [
        "create-deck",
        "update-deck",
        "delete-deck",
        "create-card",
        "create-cards",
        "update-card",
        "delete-cards",
        "restore-cards",
        "move-cards",
        "bury-cards",
        "suspend-cards",
        "unsuspend-cards",
        "tag-cards",
        "untag-cards",
        "approve-drafts",
        "reschedule-cards",
        "import-cards",
        "undo-review",
    ] {
        assert!(undone.contains(&name), "{name} was not tried: {undone:?}");
    }
}

#[tokio::test]
async fn reads_never_purge_deleted_cards() {
    let world = world();
    call(&world.kernel, "delete-cards", json!({"cardIds": ["card_124"]})).await.unwrap();
    world.clock.advance(DAY * 40);
    for (tool, input) in [("list-decks", json!({})), ("search-cards", json!({}))] {
        call(&world.kernel, tool, input).await.unwrap();
    }
    assert!(is_there(&world, 124));
    call(&world.kernel, "create-deck", json!({"name": "Another"})).await.unwrap();
    assert!(!is_there(&world, 124), "the first change does");
}

#[tokio::test]
async fn buried_card_returns_the_next_day() {
    let world = world();
    let deck = json!({"deckId": "deck_456"});
    let asked = call(&world.kernel, "get-next-card", deck.clone()).await.unwrap();
    assert_eq!(asked["card"]["cardId"], "card_123");
    let buried = call(&world.kernel, "bury-cards", json!({"cardIds": ["card_123"]})).await.unwrap();
    assert_eq!(buried["items"][0]["outcome"], "done");
    let asked = call(&world.kernel, "get-next-card", deck.clone()).await.unwrap();
    assert!(asked["card"].is_null(), "{asked}");
    let query = json!({"query": "is:buried-manually"});
    let found = call(&world.kernel, "search-cards", query.clone()).await.unwrap();
    assert_eq!(found["total"], 1);
    world.clock.advance(DAY);
    let asked = call(&world.kernel, "get-next-card", deck).await.unwrap();
    assert_eq!(asked["card"]["cardId"], "card_123");
    let found = call(&world.kernel, "search-cards", query).await.unwrap();
    assert_eq!(found["total"], 0, "the burial has expired");
}
