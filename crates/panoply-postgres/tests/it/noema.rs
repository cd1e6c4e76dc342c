//! Flashcards: round trips, two replicas, sharing.

use std::path::Path;
use std::sync::Arc;

use panoply_contract::kernel::{Kernel, Settings as KernelSettings};
use panoply_contract::tenant::TenantId;
use panoply_contract::testing::{FixedClock, call_as_owner, kernel_in_memory, noon};
use panoply_noema::store::Store;
use panoply_noema::tools::pack;
use panoply_postgres::{Postgres, PostgresCards};
use serde_json::{Value, json};

use crate::database::{Database, person};

const SECRET: &[u8] = b"a secret of thirty-two bytes ...";

pub(crate) fn cards(postgres: &Arc<Postgres>, tenant: &TenantId, folder: &Path) -> Arc<dyn Store> {
    let builder = PostgresCards::builder(Arc::clone(postgres), tenant.clone(), folder.to_owned());
    Arc::new(builder.with_secret(SECRET).build())
}

pub(crate) fn on_sqlite() -> Arc<dyn Store> {
    panoply_noema::store::in_memory(SECRET).unwrap()
}

pub(crate) fn kernel(store: Arc<dyn Store>, clock: &Arc<FixedClock>) -> Arc<Kernel> {
    let clock = Arc::clone(clock);
    kernel_in_memory(vec![pack(store)], clock, KernelSettings::default()).unwrap()
}

/// The structured reply without its latency, or the error code.
pub(crate) async fn reply(kernel: &Kernel, tool: &str, input: Value) -> Result<Value, String> {
    let envelope = call_as_owner(kernel, tool, input).await;
    match &envelope {
        panoply_contract::dialect::Envelope::Result {
            structured: Some(structured),
            is_error: false,
            ..
        } => {
            let value = structured.value();
            Ok(value.get("data").cloned().unwrap_or(value))
        }
        _ => Err(panoply_contract::compliance::error_code(&envelope).unwrap_or_default()),
    }
}

pub(crate) fn make_cards(store: &Arc<dyn Store>, count: usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let kernel = kernel(Arc::clone(store), &FixedClock::at(noon()));
        let made = reply(&kernel, "create-deck", json!({"name": "Deck"})).await.unwrap();
        let deck = made["deck"]["deckId"].clone();
        for number in 0..count {
            let card = json!({"deckId": deck, "front": format!("front {number}"), "back": "back", "draft": false});
            reply(&kernel, "create-card", card).await.unwrap();
        }
    });
}

/// Asks, reveals and rates the next card.
pub(crate) async fn review(kernel: &Kernel, deck: &Value) -> Result<Value, String> {
    let asked = reply(kernel, "get-next-card", json!({"deckId": deck})).await?;
    let token = json!({"token": asked["card"]["token"]});
    let turned = reply(kernel, "reveal-answer", token).await?;
    reply(kernel, "submit-review", json!({"token": turned["token"], "rating": "good"})).await
}

#[tokio::test(flavor = "multi_thread")]
async fn round_trips_are_few_however_many_rows_are_read() {
    let database = Database::start();
    let folder = tempfile::tempdir().unwrap();
    let postgres = Arc::clone(&database.postgres);
    let store = cards(&postgres, &person(1), folder.path());
    let kernel = kernel(Arc::clone(&store), &FixedClock::at(noon()));
    let made = reply(&kernel, "create-deck", json!({"name": "Deck"})).await.unwrap();
    let deck = made["deck"]["deckId"].clone();
    let lines: Vec<String> =
        (0..200).map(|number| format!("front {number},back {number}")).collect();
    let import = json!({"deckId": deck, "content": lines.join("\n"), "draft": false});
    reply(&kernel, "import-cards", import).await.unwrap();
    // Statements are prepared once for each connection, so all connections of the pool are warm.
    for _ in 0..8 {
        review(&kernel, &deck).await.unwrap();
    }
    let count = async |tool: &str, input: Value| {
        let before = postgres.round_trips();
        let reply = reply(&kernel, tool, input).await.unwrap();
        (postgres.round_trips() - before, reply)
    };
    let (next, asked) = count("get-next-card", json!({"deckId": deck})).await;
    let token = json!({"token": asked["card"]["token"]});
    let (_, turned) = count("reveal-answer", token).await;
    let answer = json!({"token": turned["token"], "rating": "good"});
    let (submit, _) = count("submit-review", answer).await;
    let (list, listed) = count("list-decks", json!({})).await;
    assert_eq!(listed["decks"].as_array().map(Vec::len), Some(1));
    let (search, _) = count("search-cards", json!({"query": "front"})).await;
    eprintln!("round trips: next {next}, review {submit}, list {list}, search {search}");
    assert!(
        next <= 2 && list <= 4 && submit <= 7 && search <= 4,
        "next {next}, review {submit}, list {list}, search {search}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn two_replicas_see_each_other_at_once() {
    let database = Database::start();
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let clock = FixedClock::at(noon());
    let first = kernel(cards(&database.postgres, &person(1), one.path()), &clock);
    let second = kernel(cards(&database.replica(), &person(1), two.path()), &clock);
    let other = kernel(cards(&database.replica(), &person(2), two.path()), &clock);
    let made = reply(&first, "create-deck", json!({"name": "Deck"})).await.unwrap();
    let deck = made["deck"]["deckId"].clone();
    let total = async |kernel: &Kernel, query: &str| {
        let found = reply(kernel, "search-cards", json!({"query": query})).await.unwrap();
        found["total"].as_u64().unwrap()
    };
    for number in 0..10 {
        let (writer, reader) = if number % 2 == 0 { (&first, &second) } else { (&second, &first) };
        let card = json!({"deckId": deck, "front": format!("คำ {number}"), "back": "b", "draft": false, "tags": ["T::x"]});
        reply(writer, "create-card", card).await.unwrap();
        assert_eq!(total(reader, "คำ").await, number + 1, "the text index follows");
        assert_eq!(total(reader, "tag:t").await, number + 1, "the tags follow");
        review(reader, &deck).await.unwrap();
        let queue = |kernel: &Arc<Kernel>| {
            let (kernel, deck) = (Arc::clone(kernel), deck.clone());
            async move { reply(&kernel, "get-queue", json!({"deckId": deck})).await.unwrap() }
        };
        assert_eq!(queue(writer).await, queue(reader).await, "the counts follow");
    }
    reply(&second, "undo-action", json!({})).await.unwrap();
    assert_eq!(
        reply(&first, "get-stats", json!({})).await.unwrap(),
        reply(&second, "get-stats", json!({})).await.unwrap()
    );
    assert_eq!(total(&other, "").await, 0, "another tenant has nothing");
    assert_eq!(
        reply(&other, "get-deck", json!({"deckId": deck})).await,
        Err("DECK_NOT_FOUND".to_owned())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn shared_decks_are_read_only_and_follow_the_owner() {
    let database = Database::start();
    let folder = tempfile::tempdir().unwrap();
    let store = cards(&database.postgres, &person(1), folder.path());
    let owner = kernel(Arc::clone(&store), &FixedClock::at(noon()));
    let mut decks = Vec::new();
    for name in ["Shown", "Hidden"] {
        let made = reply(&owner, "create-deck", json!({"name": name})).await.unwrap();
        decks.push(made["deck"]["deckId"].clone());
    }
    let digits = decks[0].as_str().unwrap().trim_start_matches("deck_");
    let id = panoply_noema::ids::DeckId(digits.parse().unwrap());
    let view = store.shared(&[id]).unwrap();
    let names = || {
        view.read(|reader| {
            Ok(reader.decks()?.iter().map(|deck| deck.name.to_string()).collect::<Vec<_>>())
        })
        .unwrap()
    };
    assert_eq!(names(), ["Shown"]);
    reply(&owner, "create-deck", json!({"name": "Shown::More"})).await.unwrap();
    assert_eq!(names(), ["Shown", "Shown::More"]);
}
