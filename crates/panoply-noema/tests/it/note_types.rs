//! Note types, templates and image occlusion, through the tools.

use panoply_contract::dialect::Envelope;
use panoply_contract::testing::call_as_owner;
use serde_json::{Value, json};

use crate::tools::{call, kernel};

fn vocabulary() -> Value {
    json!({"name": "Vocabulary", "fields": ["Word", "Meaning"], "templates": [
        {"name": "Recognise", "question": "{{Word}}", "answer": "{{FrontSide}}<hr id=answer>{{Meaning}}"}]})
}

#[tokio::test]
async fn notes_and_cards_follow_a_changed_type_and_its_undo() {
    let kernel = kernel();
    let made = call(&kernel, "create-note-type", vocabulary()).await.unwrap();
    let id = made["noteType"]["noteTypeId"].clone();
    let note = json!({"deckId": "deck_456", "noteType": "vocabulary", "fields": {"word": "ม้า", "Meaning": "horse"}, "draft": false});
    let card = call(&kernel, "create-card", note).await.unwrap()["note"]["cardIds"][0].clone();
    let change = json!({
        "noteTypeId": id,
        "fields": [{"name": "Sound"}, {"name": "Thai", "renamedFrom": "Word"}, {"name": "Meaning"}],
    });
    let changed = call(&kernel, "update-note-type", change).await.unwrap();
    assert_eq!(changed["changedNotes"], 1);
    assert_eq!(changed["noteType"]["templates"][0]["question"], "{{Thai}}", "the template follows");
    let seen = call(&kernel, "get-card", json!({"cardId": card})).await.unwrap();
    assert_eq!(seen["fields"], json!({"Sound": "", "Thai": "ม้า", "Meaning": "horse"}));
    assert_eq!(seen["front"], "ม้า");
    // A new first template: the old card keeps its schedule under its new index.
    let recall = json!({"name": "Recall", "question": "{{Meaning}}", "answer": "{{Thai}}"});
    let recognise = json!({"name": "Recognise", "question": "{{Thai}}!", "answer": "{{Meaning}}"});
    let both = json!({"noteTypeId": id, "templates": [recall, recognise]});
    let changed = call(&kernel, "update-note-type", both).await.unwrap();
    assert_eq!((&changed["createdCards"], &changed["deletedCards"]), (&json!(1), &json!(0)));
    let seen = call(&kernel, "get-card", json!({"cardId": card})).await.unwrap();
    assert_eq!(seen["front"], "ม้า!");
    let only = json!({"noteTypeId": id, "templates": [recall]});
    let changed = call(&kernel, "update-note-type", only).await.unwrap();
    assert_eq!(changed["deletedCards"], 1);
    let gone = call(&kernel, "get-card", json!({"cardId": card})).await;
    assert_eq!(gone, Err("CARD_NOT_FOUND".to_owned()));
    call(&kernel, "undo-action", json!({"actionId": changed["actionId"]})).await.unwrap();
    let back = call(&kernel, "get-card", json!({"cardId": card})).await.unwrap();
    assert_eq!(back["front"], "ม้า!");
    let used = call(&kernel, "delete-note-type", json!({"noteTypeId": id})).await;
    assert_eq!(used, Err("NOTE_TYPE_IN_USE".to_owned()));
}

#[tokio::test]
async fn invalid_types_are_refused() {
    let kernel = kernel();
    call(&kernel, "create-note-type", vocabulary()).await.unwrap();
    let template = json!([{"name": "1", "question": "{{A}}", "answer": ""}]);
    let bad = [
        (vocabulary(), "NOTE_TYPE_IN_USE"),
        (json!({"name": "a", "fields": [], "templates": template}), "BAD_NOTE_TYPE"),
        (json!({"name": "a", "fields": ["A", "a"], "templates": template}), "BAD_NOTE_TYPE"),
        (json!({"name": "a", "fields": ["A", "#b"], "templates": template}), "BAD_NOTE_TYPE"),
        (
            json!({"name": "a", "kind": "cloze", "fields": ["A"], "templates": template}),
            "BAD_NOTE_TYPE",
        ),
        (
            json!({"name": "a", "fields": ["A"], "templates": [{"name": "1", "question": "text", "answer": "{{A}}"}]}),
            "BAD_NOTE_TYPE",
        ),
    ];
    for (input, code) in bad {
        let refused = call(&kernel, "create-note-type", input.clone()).await;
        assert_eq!(refused, Err(code.to_owned()), "{input}");
    }
    let unknown = json!({"deckId": "deck_456", "noteType": "Vocabulary", "fields": {"Wort": "x"}});
    assert_eq!(call(&kernel, "create-card", unknown).await, Err("NO_CARDS".to_owned()));
}

#[tokio::test]
async fn image_occlusion_hides_the_picture_until_the_answer() {
    let kernel = kernel();
    let deck = call(&kernel, "create-deck", json!({"name": "Anatomy"})).await.unwrap();
    let deck = deck["deck"]["deckId"].clone();
    let regions = json!([
        {"left": 0.1, "top": 0.1, "width": 0.3, "height": 0.2},
        {"left": 0.6, "top": 0.1, "width": 0.3, "height": 0.2, "shape": "ellipse"}]);
    let new = json!({"deckId": deck, "image": "dot.gif", "regions": regions, "hideAll": true, "header": "The heart", "extra": "aorta", "draft": false});
    let made = call(&kernel, "create-occlusion", new).await.unwrap();
    assert_eq!(made["note"]["cardIds"].as_array().unwrap().len(), 2);
    let Envelope::Result { attachments, structured: Some(structured), .. } =
        call_as_owner(&kernel, "get-next-card", json!({"deckId": deck})).await
    else {
        panic!("no reply")
    };
    assert!(attachments.is_empty(), "the picture would show the answer");
    let card = structured.value()["data"]["card"].clone();
    assert!(card["front"].as_str().unwrap().starts_with("The heart\n[image: dot.gif]"), "{card}");
    assert!(!card.to_string().contains("image-occlusion:"), "{card}");
    let regions = card["occlusion"]["regions"].as_array().unwrap();
    let asked: Vec<bool> = regions.iter().map(|one| one["asked"].as_bool().unwrap()).collect();
    assert_eq!(asked, [true, false]);
    assert!(regions.iter().all(|one| one["hidden"] == true));
    let Envelope::Result { attachments, structured: Some(structured), .. } =
        call_as_owner(&kernel, "reveal-answer", json!({"token": card["token"]})).await
    else {
        panic!("no reply")
    };
    assert_eq!(attachments.len(), 1);
    assert!(structured.value()["data"]["back"].as_str().unwrap().ends_with("aorta"));
}

#[tokio::test]
async fn html_of_a_card_contains_nothing_that_runs_and_speech_is_given_apart() {
    let kernel = kernel();
    let made = json!({"name": "Spoken", "fields": ["Word", "Reading"], "templates": [
        {"name": "Listen", "question": "{{tts th_TH:Word}}<script>alert(1)</script>{{kana:Reading}}", "answer": "{{Word}} {{furigana:Reading}}"}]});
    call(&kernel, "create-note-type", made).await.unwrap();
    let deck = call(&kernel, "create-deck", json!({"name": "Listening"})).await.unwrap();
    let deck = deck["deck"]["deckId"].clone();
    let note = json!({"deckId": deck, "noteType": "Spoken", "fields": {"Word": "<b onclick=x()>ม้า</b>", "Reading": "日本[にほん]"}, "draft": false});
    call(&kernel, "create-card", note).await.unwrap();
    let asked = call(&kernel, "get-next-card", json!({"deckId": deck})).await.unwrap();
    assert_eq!(asked["card"]["speech"], json!([{"language": "th_TH", "text": "ม้า"}]));
    assert_eq!(asked["card"]["front"], "[speech]にほん");
    let token = json!({"token": asked["card"]["token"]});
    let turned = call(&kernel, "reveal-answer", token).await.unwrap();
    for html in [&asked["card"]["frontHtml"], &turned["backHtml"]] {
        let html = html.as_str().unwrap();
        assert!(!html.contains("script") && !html.contains("onclick"), "{html}");
    }
    assert!(turned["backHtml"].as_str().unwrap().contains("<rt>にほん</rt>"));
}
