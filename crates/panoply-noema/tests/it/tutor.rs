//! The tutor: graded answers, card quality, source anchors, exam plans and forecasts.

use serde_json::{Value, json};

use crate::tools::{call, kernel};

#[tokio::test]
async fn given_answer_is_graded_with_reasons() {
    let kernel = kernel();
    let asked = call(&kernel, "get-next-card", json!({"deckId": "deck_456"})).await.unwrap();
    for (answer, verdict) in [("56", "correct"), ("fifty-six", "wrong"), ("65", "wrong")] {
        let input = json!({"token": asked["card"]["token"], "typed": answer});
        let turned = call(&kernel, "reveal-answer", input).await.unwrap();
        assert_eq!(turned["grade"]["verdict"], verdict, "{turned}");
        assert!(!turned["grade"]["reasons"].as_array().unwrap().is_empty());
    }
    let input = json!({"token": asked["card"]["token"]});
    let turned = call(&kernel, "reveal-answer", input).await.unwrap();
    assert_eq!(turned["grade"], Value::Null);
}

#[tokio::test]
async fn drafts_carry_their_anchor_and_faults_of_wording() {
    let kernel = kernel();
    let anchor =
        json!({"document": "Biology.pdf", "page": "12", "quote": "ATP is made in mitochondria"});
    let list = "Brunei, Cambodia, Indonesia, Laos, Malaysia, Myanmar, Thailand";
    let card = json!({"deckId": "deck_456", "front": "Countries of ASEAN?", "back": list, "anchor": anchor});
    let made = call(&kernel, "create-card", card).await.unwrap();
    assert_eq!(made["quality"][0]["rule"], "one-fact", "{made}");
    let card = json!({"cardId": made["note"]["cardIds"][0]});
    let seen = call(&kernel, "get-card", card).await.unwrap();
    assert_eq!(seen["anchor"], anchor);
    let notes = json!([{"front": "Capital of Laos?", "back": "Vientiane"}, {"front": "{{c1::a}} {{c3::b}} c", "form": "cloze"}]);
    let made =
        call(&kernel, "create-cards", json!({"deckId": "deck_456", "notes": notes})).await.unwrap();
    assert_eq!(made["items"][0]["quality"], json!([]));
    assert_eq!(made["items"][1]["quality"][0]["rule"], "cloze");
}

#[tokio::test]
async fn exam_plan_states_recall_with_interval_and_options_that_update_deck_accepts() {
    let kernel = kernel();
    let notes: Vec<Value> =
        (0..60).map(|number| json!({"front": format!("q {number}"), "back": "a"})).collect();
    let deck =
        call(&kernel, "create-deck", json!({"name": "Exam"})).await.unwrap()["deck"]["deckId"]
            .clone();
    let new = json!({"deckId": deck, "notes": notes, "draft": false});
    call(&kernel, "create-cards", new).await.unwrap();
    let goal =
        json!({"deckId": deck, "date": "2026-12-15", "targetRecall": 0.85, "minutesPerDay": 60});
    let plan = call(&kernel, "plan-exam", goal).await.unwrap();
    assert_eq!((&plan["days"], &plan["feasible"]), (&json!(30), &json!(true)), "{plan}");
    let (low, recall, high) =
        (plan["recallLow"].as_f64(), plan["expectedRecall"].as_f64(), plan["recallHigh"].as_f64());
    assert!(low < recall && recall < high && recall >= Some(0.85), "{plan}");
    let new: u64 =
        plan["weeks"].as_array().unwrap().iter().map(|week| week["new"].as_u64().unwrap()).sum();
    assert_eq!(new, 60, "all are learnt before the exam");
    let options = json!({"deckId": deck, "options": {"desiredRetention": plan["desiredRetention"], "newPerDay": plan["newPerDay"], "maximumIntervalDays": plan["maximumIntervalDays"]}});
    call(&kernel, "update-deck", options).await.unwrap();
    let hurried =
        json!({"deckId": deck, "date": "2026-12-15", "targetRecall": 0.98, "minutesPerDay": 1});
    assert_eq!(call(&kernel, "plan-exam", hurried).await.unwrap()["feasible"], false);
    let empty =
        call(&kernel, "create-deck", json!({"name": "Empty"})).await.unwrap()["deck"]["deckId"]
            .clone();
    let nothing = call(&kernel, "plan-exam", json!({"deckId": empty, "date": "2026-12-15"})).await;
    assert_eq!(nothing, Err("EMPTY_DECK".to_owned()));
}

#[tokio::test]
async fn forecast_expects_more_than_is_scheduled_when_new_cards_wait() {
    let kernel = kernel();
    let forecast = call(&kernel, "forecast-reviews", json!({"days": 7})).await.unwrap();
    let days = forecast["days"].as_array().unwrap();
    let sum = |key: &str| days.iter().map(|day| day[key].as_f64().unwrap()).sum::<f64>();
    assert!(sum("expected") > sum("due"), "{forecast}");
    assert!(days.iter().all(|day| day["low"].as_f64() <= day["expected"].as_f64()
        && day["expected"].as_f64() <= day["high"].as_f64()));
}

#[tokio::test]
async fn interfering_cards_are_named_at_creation() {
    let kernel = kernel();
    let new = |name: &'static str| {
        let kernel = &kernel;
        async move {
            call(kernel, "create-deck", json!({"name": name})).await.unwrap()["deck"]["deckId"]
                .clone()
        }
    };
    let (anatomy, muscles, other) =
        (new("Anatomy").await, new("Anatomy::Muscles").await, new("Law").await);
    let create = |deck: &Value, front: &str, back: &str| {
        let card = json!({"deckId": deck, "front": front, "back": back});
        call(&kernel, "create-card", card)
    };
    let first = create(&anatomy, "Define abduction", "away from the midline").await.unwrap();
    assert_eq!(first["quality"], json!([]), "{first}");
    let card = &first["note"]["cardIds"][0];
    for (deck, front, back, interferes) in [
        (&muscles, "Define adduction", "towards the midline", true),
        (&anatomy, "What is abduction? Define", "away from the midline", true),
        (&anatomy, "Define rotation", "around the axis", false),
        (&other, "Define adduction", "bringing evidence", false),
    ] {
        let made = create(deck, front, back).await.unwrap();
        let faults = made["quality"].as_array().unwrap();
        let about = |fault: &&Value| fault["rule"] == "interference" && &fault["cardId"] == card;
        assert_eq!(faults.iter().any(|fault| about(&fault)), interferes, "{front}: {made}");
        assert!(!made["quality"].to_string().contains("midline"), "no answer is shown: {made}");
    }
    let notes = json!([
        {"front": "Capital of Slovakia?", "back": "Bratislava"},
        {"front": "Capital of France?", "back": "Paris"},
        {"front": "Capital of Slovenia?", "back": "Ljubljana"},
        {"front": "Define abduction", "back": "kidnapping"},
    ]);
    let batch = json!({"deckId": anatomy, "notes": notes});
    let made = call(&kernel, "create-cards", batch).await.unwrap();
    let items = made["items"].as_array().unwrap();
    assert_eq!((&items[0]["quality"], &items[1]["quality"]), (&json!([]), &json!([])), "{made}");
    assert_eq!(items[2]["quality"][0]["cardId"], items[0]["cardIds"][0], "{made}");
    assert_eq!(&items[3]["quality"][0]["cardId"], card, "{made}");
}
