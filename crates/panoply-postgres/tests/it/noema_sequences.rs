//! Random sequences of calls, on a collection in SQLite and on one in PostgreSQL that two replicas
//! use in turns: every reply is the same.

use std::sync::Arc;
use std::time::Duration;

use panoply_contract::kernel::Kernel;
use panoply_contract::tenant::{TenantId, TenantKind};
use panoply_contract::testing::{FixedClock, noon};
use serde_json::{Value, json};

use crate::database::Database;
use crate::noema::{cards, kernel, on_sqlite, reply};
use crate::random::Random;

/// Calls of a sequence. A kernel takes longer to build than all of them.
const CALLS: usize = 64;

/// Ids that earlier replies had.
#[derive(Default)]
struct Known {
    decks: Vec<Value>,
    cards: Vec<Value>,
    actions: Vec<Value>,
    front: Option<Value>,
    back: Option<Value>,
}

impl Known {
    fn learn(&mut self, reply: &Value) {
        self.decks.extend(reply.pointer("/deck/deckId").cloned());
        self.actions.extend(reply.get("actionId").cloned());
        let cards = reply.pointer("/note/cardIds").or_else(|| reply.get("cardIds"));
        self.cards.extend(cards.and_then(Value::as_array).into_iter().flatten().cloned());
        if let Some(token) = reply.pointer("/card/token") {
            self.front = Some(token.clone());
        }
        if reply.get("back").is_some() {
            self.back = reply.get("token").cloned();
        }
    }
}

const WORDS: [&str; 8] =
    ["ขมิ้นชัน", "<b>Zürich</b>", "7 × 8", "a&amp;b", "naïve", "x_y%", "Straße", "plain"];
const SEARCHES: [&str; 14] = [
    "",
    "is:new",
    "is:due",
    "tag:t1",
    "tag:none",
    "ขมิ้น",
    "front:*x*",
    "re:z.r",
    "w:plain",
    "nc:naive",
    "-is:suspended",
    "prop:reps>0",
    "added:1",
    "\"7 × 8\" or plain",
];

/// The next call: mostly one that can succeed.
fn next(random: &mut Random, known: &mut Known) -> (&'static str, Value) {
    let deck = random.pick(&known.decks).unwrap_or(json!("deck_1"));
    let card = random.pick(&known.cards).unwrap_or(json!("card_1"));
    let word = |random: &mut Random| random.pick(&WORDS).unwrap_or_default();
    match random.below(24) {
        0 | 1 => {
            let parent = ["", "A::", "B::"][random.below(3)];
            ("create-deck", json!({"name": format!("{parent}{}", word(random))}))
        }
        2..=5 => {
            let (front, back) = (word(random), word(random));
            let tags = if random.below(2) == 0 { json!(["T1", "Geo::x"]) } else { json!([]) };
            (
                "create-card",
                json!({"deckId": deck, "front": front, "back": back, "tags": tags, "draft": random.below(4) == 0}),
            )
        }
        6 | 7 => ("get-next-card", json!({"deckId": deck})),
        8 => ("reveal-answer", json!({"token": known.front.clone().unwrap_or(json!("front.1"))})),
        9..=11 => {
            let rating = ["again", "hard", "good", "easy"][random.below(4)];
            (
                "submit-review",
                json!({"token": known.back.clone().unwrap_or(json!("back.1")), "rating": rating}),
            )
        }
        12 => (
            "undo-action",
            random.pick(&known.actions).map_or(json!({}), |id| json!({"actionId": id})),
        ),
        13 => ("undo-review", json!({})),
        14 => ("search-cards", json!({"query": random.pick(&SEARCHES)})),
        15 => ("bury-cards", json!({"cardIds": [card]})),
        16 => ("suspend-cards", json!({"cardIds": [card]})),
        17 => (
            "tag-cards",
            json!({"cardIds": [card], "tags": ["T1", word(random).replace([' ', '<', '>', '&', ';'], "")]}),
        ),
        18 => ("delete-cards", json!({"cardIds": [card]})),
        19 => ("restore-cards", json!({"cardIds": [card]})),
        20 => ("move-cards", json!({"cardIds": [card], "deckId": deck})),
        21 => {
            let content = format!("{},{}\n{},x", word(random), word(random), word(random));
            ("import-cards", json!({"deckId": deck, "content": content}))
        }
        22 => ("update-card", json!({"cardId": card, "back": word(random)})),
        _ => [
            ("get-stats", json!({})),
            ("list-decks", json!({})),
            ("get-queue", json!({"deckId": deck})),
        ][random.below(3)]
        .clone(),
    }
}

/// Runs one sequence; returns how many calls succeeded.
async fn run(
    seed: u64,
    database: &Database,
    replicas: [&Arc<panoply_postgres::Postgres>; 2],
) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let clock = FixedClock::at(noon());
    let mut number = [0; 16];
    number[..8].copy_from_slice(&seed.to_be_bytes());
    let tenant = TenantId::new(TenantKind::Person, number);
    let expected = kernel(on_sqlite(), &clock);
    let kernels: [Arc<Kernel>; 2] =
        replicas.map(|replica| kernel(cards(replica, &tenant, folder.path()), &clock));
    let (mut random, mut known, mut succeeded) = (Random(seed), Known::default(), 0);
    for step in 0..CALLS {
        clock.advance(Duration::from_secs(90));
        let (tool, input) = next(&mut random, &mut known);
        let on_sqlite = reply(&expected, tool, input.clone()).await;
        let on_postgres = reply(&kernels[random.below(2)], tool, input.clone()).await;
        assert_eq!(on_postgres, on_sqlite, "seed {seed}, step {step}: {tool} {input}");
        if let Ok(reply) = on_sqlite {
            succeeded += 1;
            known.learn(&reply);
        }
    }
    // A replica that reads all of it has the same collection as one that followed.
    let fresh = kernel(cards(&database.postgres, &tenant, folder.path()), &clock);
    for tool in ["get-stats", "list-decks", "search-cards", "list-note-types"] {
        let on_sqlite = reply(&expected, tool, json!({})).await;
        assert_eq!(
            reply(&fresh, tool, json!({})).await,
            on_sqlite,
            "seed {seed}: {tool} at the end"
        );
    }
    succeeded
}

async fn run_all(seeds: std::ops::Range<u64>) {
    let database = Database::start();
    let other = database.replica();
    let count = seeds.end - seeds.start;
    let mut succeeded = 0;
    for seed in seeds {
        succeeded += run(seed, &database, [&database.postgres, &other]).await;
    }
    let calls = usize::try_from(count).unwrap() * CALLS;
    eprintln!("{count} sequences, {calls} calls, {succeeded} of them succeeded");
    assert!(succeeded * 2 > calls, "most calls do something: {succeeded} of {calls}");
}

#[tokio::test(flavor = "multi_thread")]
async fn random_sequences_have_the_replies_of_sqlite() {
    run_all(1..5).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; `./test --long` runs it"]
async fn three_hundred_random_sequences_have_the_replies_of_sqlite() {
    run_all(1_000..1_300).await;
}
