//! Sessions, filtered decks, typed answers, batches and warnings, through the tools.

#![expect(clippy::panic, clippy::indexing_slicing, reason = "helpers of tests fail tests")]

use std::sync::Arc;

use panoply_contract::dialect::Envelope;
use panoply_contract::kernel::Kernel;
use panoply_contract::testing::call_as_owner;
use serde_json::{Value, json};

use crate::tools::{call, kernel};

/// The structured reply.
async fn whole(kernel: &Kernel, tool: &str, input: Value) -> Value {
    match call_as_owner(kernel, tool, input).await {
        Envelope::Result { structured: Some(structured), is_error: false, .. } => {
            structured.value()
        }
        other => panic!("{tool}: {other:?}"),
    }
}

/// Asks, reveals and rates the next card; returns the reply of `submit-review`.
async fn study(kernel: &Arc<Kernel>, of: Value, rating: &str) -> Value {
    let asked = call(kernel, "get-next-card", of.clone()).await.unwrap();
    let input = json!({"token": asked["card"]["token"]});
    let turned = call(kernel, "reveal-answer", input).await.unwrap();
    let mut answer = json!({"token": turned["token"], "rating": rating, "takenMs": 6000});
    if let Some(session) = of.get("sessionId") {
        answer["sessionId"] = session.clone();
    }
    whole(kernel, "submit-review", answer).await
}

#[tokio::test]
async fn filtered_deck_ignores_limits_and_contains_no_cards() {
    let kernel = kernel();
    let none = json!({"deckId": "deck_458", "options": {"reviewsPerDay": 0, "newPerDay": 0}});
    call(&kernel, "update-deck", none).await.unwrap();
    let usual = call(&kernel, "get-next-card", json!({"deckId": "deck_458"})).await.unwrap();
    assert_eq!(usual["card"], Value::Null, "the limits leave nothing");
    let input = json!({"name": "Now", "search": "tag:geo::capital is:review", "searchLimit": 1});
    let made = call(&kernel, "create-deck", input).await.unwrap();
    let deck = made["deck"]["deckId"].clone();
    let queue = call(&kernel, "get-queue", json!({"deckId": deck})).await.unwrap();
    assert_eq!(queue["reviews"], 1, "two are found, one is let in: {queue}");
    let done = study(&kernel, json!({"deckId": deck}), "good").await;
    assert_eq!(done["data"]["cardId"], "card_124", "the one that is due first");
    let found = call(&kernel, "search-cards", json!({"query": "deck:Now"})).await.unwrap();
    assert_eq!(found["total"], 0, "it stays where it was");
    let own = call(&kernel, "search-cards", json!({"query": "deck:Capitals cid:124"})).await;
    let full = call(&kernel, "search-cards", json!({"query": "deck:Geography::Capitals cid:124"}));
    assert_eq!((&own.unwrap()["total"], &full.await.unwrap()["total"]), (&json!(0), &json!(1)));
    let card = json!({"deckId": deck, "front": "a", "back": "b"});
    assert_eq!(call(&kernel, "create-card", card).await, Err("FILTERED_DECK".to_owned()));
}

#[tokio::test]
async fn session_stops_at_its_card_limit_and_is_summarised() {
    let kernel = kernel();
    let input = json!({"deckId": "deck_457", "cardLimit": 2});
    let begun = call(&kernel, "start-session", input).await.unwrap();
    let session = json!({"sessionId": begun["sessionId"]});
    study(&kernel, session.clone(), "good").await;
    study(&kernel, session.clone(), "again").await;
    let over = whole(&kernel, "get-next-card", session.clone()).await;
    assert_eq!(over["data"]["card"], Value::Null);
    // It changes data, so it is offered and not suggested.
    let offered = over["agentHints"]["alternatives"][0]["approach"].as_str().unwrap();
    assert!(offered.starts_with(&format!("`end-session` {session}")), "{offered}");
    assert_eq!(over["agentHints"]["suggestedNextActions"], json!([]));
    let sum = call(&kernel, "end-session", session.clone()).await.unwrap();
    assert_eq!(
        (&sum["answered"], &sum["recalled"], &sum["minutes"]),
        (&json!(2), &json!(0.5), &json!(0.2)),
        "{sum}"
    );
    assert_eq!(call(&kernel, "get-next-card", session).await, Err("SESSION_NOT_FOUND".to_owned()));
}

#[tokio::test]
async fn typed_answer_is_compared_with_the_expected_one() {
    let kernel = kernel();
    let made = call(&kernel, "create-deck", json!({"name": "Spelling"})).await.unwrap();
    let deck = made["deck"]["deckId"].clone();
    let input = json!({"deckId": deck, "form": "typed", "front": "7 × 8", "back": "Fifty-six", "draft": false});
    call(&kernel, "create-card", input).await.unwrap();
    let asked = call(&kernel, "get-next-card", json!({"deckId": deck})).await.unwrap();
    assert_eq!(asked["card"]["typeAnswer"], true);
    assert!(!asked.to_string().contains("Fifty"), "no answer in it: {asked}");
    for (typed, right) in [("Fifty-six", true), ("Fifty-four", false), ("", false)] {
        let input = json!({"token": asked["card"]["token"], "typed": typed});
        let turned = call(&kernel, "reveal-answer", input).await.unwrap();
        assert_eq!(turned["typedRight"], right, "typed: {typed:?}");
    }
}

#[tokio::test]
async fn batch_tools_report_an_outcome_per_card() {
    let kernel = kernel();
    let input = json!({"cardIds": ["card_999", "card_126", "card_123", "card_127"]});
    let reply = call(&kernel, "suspend-cards", input).await.unwrap();
    let items = reply["items"].as_array().unwrap();
    let outcomes: Vec<_> = items.iter().map(|item| (&item["cardId"], &item["outcome"])).collect();
    let expected = [
        (json!("card_999"), json!("failed")),
        (json!("card_126"), json!("unchanged")),
        (json!("card_123"), json!("done")),
        (json!("card_127"), json!("failed")),
    ];
    assert_eq!(outcomes, expected.each_ref().map(|(card, outcome)| (card, outcome)));
    assert_eq!(reply["changed"], 1);
    let why = items[3]["message"].as_str().unwrap();
    assert!(why.contains("draft"), "{why}");
}

#[tokio::test]
async fn create_cards_accepts_at_most_500_notes() {
    let kernel = kernel();
    let notes = |count: usize| -> Value {
        let notes: Vec<Value> =
            (0..count).map(|n| json!({"front": format!("q{n}"), "back": "a"})).collect();
        json!({"deckId": "deck_456", "notes": notes})
    };
    let made = call(&kernel, "create-cards", notes(500)).await.unwrap();
    assert_eq!((&made["made"], &made["failed"]), (&json!(500), &json!(0)));
    let refused = call(&kernel, "create-cards", notes(501)).await;
    assert_eq!(refused, Err("INVALID_INPUT".to_owned()));
}

#[tokio::test]
async fn leech_and_overload_risks_suggest_a_remedy() {
    let kernel = kernel();
    let limit = json!({"deckId": "deck_457", "options": {"reviewsPerDay": 1}});
    call(&kernel, "update-deck", limit).await.unwrap();
    let guidance = whole(&kernel, "get-study-guidance", json!({"deckId": "deck_457"})).await;
    let risks = guidance["agentHints"]["riskFactors"].to_string();
    assert!(risks.contains("1 cards are due today, the limit is 1"), "{risks}");
    assert!(risks.contains("take fewer new cards"), "{risks}");
    // The eighth lapse of this card reaches the threshold.
    let done = study(&kernel, json!({"deckId": "deck_457"}), "again").await;
    assert_eq!((&done["data"]["leech"], &done["data"]["lapses"]), (&json!(true), &json!(8)));
    let risks = done["agentHints"]["riskFactors"].to_string();
    assert!(risks.contains("forgotten repeatedly") && risks.contains("split it"), "{risks}");
    let next = done["agentHints"]["suggestedNextActions"].as_array().unwrap();
    let look = next.iter().find(|action| action["action"] == "get-card").unwrap();
    assert_eq!(look["data"]["cardId"], "card_124");
}
