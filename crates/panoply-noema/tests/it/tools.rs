//! The tools, called through the kernel.

use std::sync::Arc;

use panoply_contract::dialect::Envelope;
use panoply_contract::kernel::{Kernel, Settings};
use panoply_contract::testing::{FixedClock, call_as_owner, kernel_in_memory, noon};
use panoply_noema::tools::{pack, sample};
use serde_json::{Value, json};

pub(crate) fn kernel() -> Arc<Kernel> {
    let pack = pack(sample::store().unwrap());
    kernel_in_memory(vec![pack], FixedClock::at(noon()), Settings::default()).unwrap()
}

/// The data of a reply, or its error code.
pub(crate) async fn call(kernel: &Kernel, tool: &str, input: Value) -> Result<Value, String> {
    let envelope = call_as_owner(kernel, tool, input).await;
    match &envelope {
        Envelope::Result { structured: Some(structured), is_error: false, .. } => {
            Ok(structured.value().get("data").cloned().unwrap_or_default())
        }
        _ => Err(panoply_contract::compliance::error_code(&envelope).unwrap_or_default()),
    }
}

#[tokio::test]
async fn study_flow_asks_reveals_and_schedules() {
    let kernel = kernel();
    let asked = call(&kernel, "review-next-card", json!({"deckId": "deck_456"})).await.unwrap();
    assert_eq!(asked["card"]["front"], "What is 7 × 8?");
    assert!(!asked.to_string().contains("56\\"), "no answer in it");
    let front = asked["card"]["token"].clone();
    let early = call(&kernel, "submit-review", json!({"token": front, "rating": "good"})).await;
    assert_eq!(early, Err("ANSWER_NOT_REVEALED".to_owned()));
    let turned = call(&kernel, "reveal-answer", json!({"token": front})).await.unwrap();
    assert_eq!(turned["back"], "What is 7 × 8?\n56");
    let promised = turned["previews"][2]["due"].clone();
    let answer = json!({"token": turned["token"], "rating": "good"});
    let done = call(&kernel, "review-card", answer.clone()).await.unwrap();
    assert_eq!((&done["due"], &done["replayed"]), (&promised, &json!(false)));
    let again = call(&kernel, "submit-review", answer).await.unwrap();
    assert_eq!((&again["due"], &again["replayed"]), (&promised, &json!(true)));
    let spent = call(&kernel, "reveal-answer", json!({"token": front})).await;
    assert_eq!(spent, Err("TOKEN_SPENT".to_owned()));
    let undone = call(&kernel, "undo-review", json!({})).await.unwrap();
    assert_eq!(undone["cardId"], "card_123");
    let next = call(&kernel, "get-next-card", json!({"deckId": "deck_456"})).await.unwrap();
    assert_eq!(next["card"]["cardId"], "card_123", "it is asked again");
}

#[tokio::test]
async fn large_cards_are_prepared_in_pages_that_fit_a_reply() {
    let kernel = kernel();
    let deck = call(&kernel, "create-deck", json!({"name": "Large"})).await.unwrap();
    let deck = deck["deck"]["deckId"].clone();
    // 13 KB a side and card, with markup; Thai letters have three bytes.
    let side = |n: usize, side: &str| format!("<b>{side} {n}</b> {}", "ก".repeat(4000));
    for n in 0..20 {
        let card = json!({"deckId": deck, "front": side(n, "front"), "back": side(n, "back"), "draft": false});
        call(&kernel, "create-card", card).await.unwrap();
    }
    let mut seen = Vec::new();
    let mut page = json!({"deckId": deck});
    loop {
        let reply = call(&kernel, "prepare-offline-study", page.clone()).await.unwrap();
        assert_eq!(reply["total"], 20);
        let cards = reply["cards"].as_array().unwrap();
        assert!((1..20).contains(&cards.len()), "{} cards", cards.len());
        seen.extend(cards.iter().map(|card| card["cardId"].as_str().unwrap().to_owned()));
        assert_eq!(reply["hasMore"], json!(reply.get("nextOffset").is_some()));
        let Some(next) = reply.get("nextOffset") else { break };
        page["offset"] = next.clone();
    }
    let distinct: std::collections::BTreeSet<&String> = seen.iter().collect();
    assert_eq!((seen.len(), distinct.len()), (20, 20));
}

#[tokio::test]
async fn listings_never_contain_answers() {
    let kernel = kernel();
    let listings = [
        ("search-cards", json!({"query": "deck:\"Math Deck\""})),
        ("get-queue", json!({"deckId": "deck_456"})),
        ("get-next-card", json!({"deckId": "deck_456"})),
        ("preview-review", json!({"cardId": "card_123"})),
        ("list-leeches", json!({"minLapses": 1})),
    ];
    for (tool, input) in listings {
        let reply = call(&kernel, tool, input).await.unwrap().to_string();
        assert!(!reply.contains("\"56\"") && !reply.contains("Astana"), "{tool}: {reply}");
    }
}

#[tokio::test]
async fn drafts_are_studied_only_after_approval() {
    let kernel = kernel();
    let made =
        call(&kernel, "create-card", json!({"deckId": "deck_456", "front": "1+1", "back": "2"}))
            .await
            .unwrap();
    let cards = made["note"]["cardIds"].clone();
    let count = |reply: &Value| reply["new"].as_u64().unwrap();
    let before = call(&kernel, "get-queue", json!({"deckId": "deck_456"})).await.unwrap();
    call(&kernel, "approve-drafts", json!({"cardIds": cards})).await.unwrap();
    let after = call(&kernel, "get-queue", json!({"deckId": "deck_456"})).await.unwrap();
    assert_eq!(count(&after), count(&before) + 1);
    call(&kernel, "undo-action", json!({})).await.unwrap();
    let undone = call(&kernel, "get-queue", json!({"deckId": "deck_456"})).await.unwrap();
    assert_eq!(count(&undone), count(&before));
}

#[tokio::test]
async fn mutation_invalidates_cached_replies() {
    let kernel = kernel();
    let total = |reply: Value| reply["total"].as_u64().unwrap();
    let before = total(call(&kernel, "search-cards", json!({})).await.unwrap());
    let input = json!({"deckId": "deck_456", "content": "a,b\nc,d"});
    let imported = call(&kernel, "import-cards", input).await.unwrap();
    assert_eq!(imported["cards"], 2);
    assert_eq!(total(call(&kernel, "search-cards", json!({})).await.unwrap()), before + 2);
    call(&kernel, "undo-action", json!({"actionId": imported["actionId"]})).await.unwrap();
    assert_eq!(total(call(&kernel, "search-cards", json!({})).await.unwrap()), before);
}

#[test]
fn hint_actions_resolve_to_tools() {
    let kernel = kernel();
    let cases = [
        ("review-next-card", "get-next-card"),
        ("adjust-difficulty", "update-deck"),
        ("review-card", "submit-review"),
        ("create-card", "create-card"),
        ("search-decks", "search-decks"),
        ("get-card", "get-card"),
    ];
    for (action, tool) in cases {
        assert_eq!(kernel.registry().get(action).unwrap().spec.name, tool, "{action}");
    }
}

#[test]
fn all_documented_tools_are_registered() {
    let kernel = kernel();
    let promised = "list-decks get-deck search-decks create-deck update-deck delete-deck \
        create-card create-cards get-card search-cards update-card delete-cards restore-cards \
        move-cards suspend-cards unsuspend-cards tag-cards untag-cards approve-drafts \
        find-duplicates start-session get-next-card reveal-answer submit-review undo-review \
        preview-review end-session get-queue forecast-reviews predict-retention \
        simulate-workload optimize-parameters reschedule-cards list-leeches get-stats \
        get-progress get-study-guidance preview-import import-cards import-package \
        export-package undo-action";
    for name in promised.split_whitespace() {
        let tool = kernel.registry().get(name).map(|entry| entry.spec.name);
        assert_eq!(tool, Some(name));
    }
}
