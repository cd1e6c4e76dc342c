//! Studying with cards that have no text, are long, have choices, or are none at all.

#![expect(clippy::indexing_slicing, reason = "tests index replies")]

use std::sync::Arc;

use panoply_contract::kernel::{Kernel, Settings};
use panoply_contract::testing::{FixedClock, kernel_in_memory, noon};
use panoply_noema::fsrs::Zone;
use panoply_noema::store::SqliteStore;
use panoply_noema::tools::pack;
use serde_json::{Value, json};

use crate::tools::{call, kernel};

fn empty_kernel(zone: &str) -> Arc<Kernel> {
    let store = SqliteStore::in_memory().unwrap().with_default_zone(Zone::parse(zone).unwrap());
    let pack = pack(Arc::new(store));
    kernel_in_memory(vec![pack], FixedClock::at(noon()), Settings::default()).unwrap()
}

async fn new_deck(kernel: &Kernel, name: &str) -> Value {
    let made = call(kernel, "create-deck", json!({"name": name})).await.unwrap();
    made["deck"]["deckId"].clone()
}

#[tokio::test]
async fn card_whose_sides_have_no_text_is_asked_and_answered() {
    let kernel = empty_kernel("UTC");
    let deck = new_deck(&kernel, "Anatomy").await;
    for back in ["<img src='heart.png'>", ""] {
        let card = json!({"deckId": deck, "front": "<img src=\"front.png\">", "back": back, "draft": false});
        call(&kernel, "create-card", card).await.unwrap();
        let asked = call(&kernel, "get-next-card", json!({})).await.unwrap();
        assert_eq!(asked["card"]["front"], "[image: front.png]");
        assert_eq!(asked["card"]["frontHtml"], "<img src=\"front.png\">");
        let token = json!({"token": asked["card"]["token"]});
        let turned = call(&kernel, "reveal-answer", token).await.unwrap();
        let easy = json!({"token": turned["token"], "rating": "easy"});
        call(&kernel, "submit-review", easy).await.unwrap();
    }
    let none = call(&kernel, "get-next-card", json!({})).await.unwrap();
    assert_eq!(none["card"], Value::Null);
}

#[tokio::test]
async fn long_card_is_cut_instead_of_blocking_the_queue() {
    let kernel = empty_kernel("UTC");
    let deck = new_deck(&kernel, "Long").await;
    let picture = format!("<img src=\"data:image/png;base64,{}\">", "A".repeat(19_000));
    let long =
        json!({"deckId": deck, "front": picture, "back": "ก".repeat(19_900), "draft": false});
    let made = call(&kernel, "create-card", long).await.unwrap();
    let again =
        json!({"cardId": made["note"]["cardIds"][0], "fields": {"Front": picture.repeat(4)}});
    call(&kernel, "update-card", again).await.unwrap();
    let asked = call(&kernel, "get-next-card", json!({})).await.unwrap();
    assert!(asked["card"]["front"].as_str().unwrap().starts_with("[image]"));
    let token = json!({"token": asked["card"]["token"]});
    let turned = call(&kernel, "reveal-answer", token).await.unwrap();
    assert!(turned["back"].as_str().unwrap().ends_with("(cut)"));
}

#[tokio::test]
async fn empty_collection_and_waiting_drafts_are_reported() {
    let kernel = empty_kernel("UTC");
    let nothing = call(&kernel, "get-next-card", json!({})).await.unwrap();
    assert_eq!((&nothing["cards"], &nothing["nextAt"]), (&json!(0), &Value::Null));
    let deck = new_deck(&kernel, "A").await;
    call(&kernel, "create-card", json!({"deckId": deck, "front": "a", "back": "b"})).await.unwrap();
    let drafts = call(&kernel, "get-next-card", json!({})).await.unwrap();
    assert_eq!((&drafts["cards"], &drafts["drafts"]), (&json!(1), &json!(1)));
}

#[tokio::test]
async fn finished_day_names_the_time_of_the_next_card() {
    let kernel = empty_kernel("Asia/Bangkok");
    let deck = new_deck(&kernel, "A").await;
    let card = json!({"deckId": deck, "front": "a", "back": "b", "draft": false});
    call(&kernel, "create-card", card).await.unwrap();
    let asked = call(&kernel, "get-next-card", json!({})).await.unwrap();
    let token = json!({"token": asked["card"]["token"]});
    let turned = call(&kernel, "reveal-answer", token).await.unwrap();
    let easy = json!({"token": turned["token"], "rating": "easy"});
    let done = call(&kernel, "submit-review", easy).await.unwrap();
    let next = call(&kernel, "get-next-card", json!({})).await.unwrap();
    assert_eq!(next["nextAt"], done["due"]);
    // 04:00 in Bangkok is 21:00 UTC of the day before.
    assert!(next["nextAt"].as_str().unwrap().ends_with("T21:00:00Z"), "{next}");
    let limited = json!({"deckId": deck, "options": {"newPerDay": 1}});
    call(&kernel, "update-deck", limited).await.unwrap();
    let second = json!({"deckId": deck, "front": "c", "back": "d", "draft": false});
    call(&kernel, "create-card", second).await.unwrap();
    let tomorrow = call(&kernel, "get-next-card", json!({})).await.unwrap();
    assert_eq!(tomorrow["nextAt"], "2026-11-15T21:00:00Z", "the limit of new cards is reached");
}

#[tokio::test]
async fn days_follow_the_time_zone_of_the_learner() {
    let kernel = empty_kernel("Asia/Bangkok");
    let settings = call(&kernel, "get-settings", json!({})).await.unwrap();
    assert_eq!(
        (&settings["timeZone"], &settings["chosen"]),
        (&json!("Asia/Bangkok"), &json!(false))
    );
    assert_eq!(settings["nextDay"], "2026-11-15T21:00:00Z");
    let london = json!({"timeZone": "europe/london"});
    let changed = call(&kernel, "update-settings", london.clone()).await.unwrap();
    assert_eq!(changed["settings"]["timeZone"], "Europe/London");
    assert_eq!(changed["settings"]["nextDay"], "2026-11-16T04:00:00Z");
    let again = call(&kernel, "update-settings", london).await.unwrap();
    assert_eq!(again["actionId"], Value::Null, "nothing changed");
    call(&kernel, "undo-action", json!({"actionId": changed["actionId"]})).await.unwrap();
    let back = call(&kernel, "get-settings", json!({})).await.unwrap();
    assert_eq!(back, settings);
    let bad = call(&kernel, "update-settings", json!({"timeZone": "Bangkok"})).await;
    assert_eq!(bad, Err("BAD_TIME_ZONE".to_owned()));
}

#[tokio::test]
async fn batch_that_changes_nothing_returns_no_action() {
    let kernel = kernel();
    let cards = json!({"cardIds": ["card_1", "card_126"]});
    let tagged = json!({"cardIds": ["card_123"], "tags": ["arithmetic"]});
    let moved = json!({"cardIds": ["card_123"], "deckId": "deck_456"});
    let calls = [
        ("suspend-cards", cards.clone()),
        ("restore-cards", cards.clone()),
        ("approve-drafts", cards.clone()),
        ("unsuspend-cards", json!({"cardIds": ["card_123"]})),
        ("delete-cards", json!({"cardIds": ["card_1"]})),
        ("bury-cards", json!({"cardIds": ["card_1"]})),
        ("tag-cards", tagged),
        ("untag-cards", json!({"cardIds": ["card_123"], "tags": ["none"]})),
        ("move-cards", moved),
        ("reschedule-cards", json!({"cardIds": ["card_123"], "how": "forget"})),
    ];
    for (tool, input) in calls {
        let done = call(&kernel, tool, input).await.unwrap();
        assert_eq!(
            (&done["changed"], &done["actionId"]),
            (&json!(0), &Value::Null),
            "{tool}: {done}"
        );
    }
    let done = call(&kernel, "suspend-cards", json!({"cardIds": ["card_123"]})).await.unwrap();
    call(&kernel, "undo-action", json!({"actionId": done["actionId"]})).await.unwrap();
}

#[tokio::test]
async fn choices_are_checked_and_shuffled_for_each_review() {
    let kernel = empty_kernel("UTC");
    let deck = new_deck(&kernel, "A").await;
    let choice = |back: &str, choices: &[&str]| json!({"deckId": deck, "form": "choice", "front": "Capital of Thailand?", "back": back, "choices": choices, "draft": false});
    for (back, choices) in [("Z", vec!["A", "B"]), ("A", vec!["A"]), ("A", vec!["A", "a"])] {
        let refused = call(&kernel, "create-card", choice(back, &choices)).await;
        assert_eq!(refused, Err("BAD_CHOICES".to_owned()), "{back} of {choices:?}");
    }
    let options = ["Bangkok", "Hanoi", "Vientiane", "Yangon"];
    let mut orders = std::collections::BTreeSet::new();
    for _ in 0..12 {
        let made = call(&kernel, "create-card", choice("Bangkok", &options)).await.unwrap();
        assert_eq!(made["note"]["fields"][2], "Bangkok");
    }
    let mut places = [0; 4];
    loop {
        let asked = call(&kernel, "get-next-card", json!({})).await.unwrap();
        let Some(front) = asked["card"]["front"].as_str() else { break };
        let lines: Vec<&str> = front.lines().skip(1).collect();
        let place = lines.iter().position(|line| line.ends_with("Bangkok")).unwrap();
        places[place] += 1;
        orders.insert(front.to_owned());
        let token = json!({"token": asked["card"]["token"]});
        let turned = call(&kernel, "reveal-answer", token).await.unwrap();
        let back = turned["back"].as_str().unwrap();
        assert!(back.starts_with(front) && back.ends_with("\nBangkok"), "{back}");
        let rated = json!({"token": turned["token"], "rating": "easy"});
        call(&kernel, "submit-review", rated).await.unwrap();
    }
    assert!(
        orders.len() > 3 && places.iter().filter(|times| **times > 0).count() > 1,
        "{places:?}"
    );
}

#[tokio::test]
async fn searches_for_custom_data_and_their_negations_answer() {
    let kernel = kernel();
    let total = |query: &'static str| {
        let kernel = Arc::clone(&kernel);
        async move {
            let found = call(&kernel, "search-cards", json!({"query": query})).await;
            found.unwrap_or_else(|code| panic!("{query}: {code}"))["total"].as_u64().unwrap()
        }
    };
    let all = total("").await;
    assert_eq!((total("has-cd:x").await, total("-has-cd:x").await), (0, all));
    // As in Anki, a card without the property matches neither a comparison nor its negation.
    for query in ["-prop:cdn:x>1", "-prop:cds:x=a", "prop:cdn:x>1"] {
        assert_eq!(total(query).await, 0, "{query}");
    }
    let (above, below) = (total("prop:s>5").await, total("-prop:s>5").await);
    assert_eq!(above + below, 2, "two cards of the sample have a memory state");
    assert_eq!(total("-(prop:s>5 or is:new)").await, below);
}
