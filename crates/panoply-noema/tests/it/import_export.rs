//! Import and export through the tools.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use panoply_contract::dialect::Envelope;
use panoply_contract::kernel::{Kernel, Settings};
use panoply_contract::testing::{FixedClock, call_as_owner, kernel_in_memory, noon};
use panoply_noema::anki::{self, Package, PackagedCard, PackagedDeck, PackagedNote};
use panoply_noema::card::{Review, ReviewKind};
use panoply_noema::fsrs::{DAY, Memory, Parameters, Rating, SECOND};
use panoply_noema::ids::{CardId, NoteTypeId, ReviewId};
use panoply_noema::note::Form;
use panoply_noema::store::{SqliteStore, Store};
use panoply_noema::tools::pack;
use serde_json::{Value, json};

use crate::study::{NOON, act};
use crate::tools::call;

const LATEST: &[u8] = include_bytes!("../golden/sample_anki26_latest.apkg");

fn kernel_over(store: SqliteStore) -> Arc<Kernel> {
    let pack = pack(Arc::new(store));
    kernel_in_memory(vec![pack], FixedClock::at(noon()), Settings::default()).unwrap()
}

fn empty() -> Arc<Kernel> {
    kernel_over(SqliteStore::in_memory().unwrap())
}

async fn total(kernel: &Kernel) -> u64 {
    let found = call(kernel, "search-cards", json!({})).await.unwrap();
    found.get("total").and_then(Value::as_u64).unwrap()
}

#[tokio::test]
async fn package_tools_round_trip_and_undo() {
    let kernel = empty();
    let package = json!({"contentBase64": STANDARD.encode(LATEST)});
    let preview = call(&kernel, "preview-import", package.clone()).await.unwrap();
    assert_eq!(total(&kernel).await, 0, "a preview changes nothing: {preview}");
    let imported = call(&kernel, "import-package", package.clone()).await.unwrap();
    let counts = |reply: &Value| {
        ["notesAdded", "cards", "reviews", "media"].map(|name| reply[name].as_u64().unwrap())
    };
    assert_eq!(counts(&imported), [8, 15, 12, 1]);
    assert_eq!(total(&kernel).await, 15);
    let again = call(&kernel, "import-package", package).await.unwrap();
    assert_eq!((&again["notesAdded"], &again["notesUnchanged"]), (&json!(0), &json!(8)));
    let exported = call(&kernel, "export-package", json!({})).await.unwrap();
    let other = empty();
    let target = json!({"contentBase64": exported["contentBase64"]});
    assert_eq!(counts(&call(&other, "import-package", target).await.unwrap()), [8, 15, 12, 1]);
    call(&kernel, "undo-action", json!({"actionId": imported["actionId"]})).await.unwrap();
    assert_eq!(total(&kernel).await, 0, "the whole batch is undone");
}

#[tokio::test]
async fn text_formats_round_trip_with_preview_and_undo() {
    let kernel = empty();
    let deck = call(&kernel, "create-deck", json!({"name": "Words"})).await.unwrap();
    let home = deck["deck"]["deckId"].clone();
    let cards = json!([
        {"front": "Thailand", "back": "Bangkok, the capital", "tags": ["geo"]},
        {"front": "a \"quoted\" word", "back": "line one<br>line two"},
        {"front": "The {{c1::heart}} beats", "back": "anatomy", "form": "cloze"},
    ]);
    let made = call(&kernel, "create-cards", json!({"deckId": home, "notes": cards})).await;
    made.unwrap_or_else(|error| panic!("{error}"));
    for format in ["csv", "tsv", "json", "markdown"] {
        let out = json!({"deckId": home, "format": format});
        let text = call(&kernel, "export-package", out).await.unwrap()["text"].clone();
        let other = empty();
        let deck = call(&other, "create-deck", json!({"name": "Words"})).await.unwrap();
        let target = deck["deck"]["deckId"].clone();
        let seen = json!({"content": text, "format": format});
        let preview = call(&other, "preview-import", seen).await.unwrap();
        assert_eq!(total(&other).await, 0, "{format}: {preview}");
        let input = json!({"deckId": target, "content": text, "format": format});
        let imported = call(&other, "import-cards", input).await.unwrap();
        assert_eq!(imported["cards"], 3, "{format}: {text} {imported}");
        let again = json!({"deckId": target, "format": format});
        let back = call(&other, "export-package", again).await.unwrap()["text"].clone();
        assert_eq!(back, text, "{format} round-trips");
        call(&other, "undo-action", json!({"actionId": imported["actionId"]})).await.unwrap();
        assert_eq!(total(&other).await, 0, "the {format} import is undone");
    }
}

/// The log of a simulated learner who forgets faster than the default weights predict.
fn forgetful() -> Package {
    let mut weights = panoply_noema::fsrs::parameters::DEFAULT_WEIGHTS;
    weights[2] = 0.8;
    weights[20] = 0.35;
    let truth = Parameters::new(&weights).unwrap();
    let mut state = 11_u64;
    let mut chance = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        f64::from(u32::try_from(state >> 33).unwrap()) / f64::from(u32::MAX >> 1)
    };
    let note_type = NoteTypeId(1_500_000_000_000);
    let mut package = Package {
        created: (NOON - 700 * DAY) / SECOND,
        note_types: vec![panoply_noema::note::NoteType {
            id: note_type,
            ..Form::Basic.note_type()
        }],
        decks: vec![PackagedDeck {
            id: 9,
            name: "Log".to_owned(),
            search: None,
            description: String::new(),
            options: None,
        }],
        ..Package::default()
    };
    for number in 1..=150 {
        let id = 1_600_000_000_000 + number;
        package.notes.push(PackagedNote {
            id,
            guid: format!("guid{number}"),
            note_type: note_type.0,
            modified: 0,
            tags: String::new(),
            fields: format!("front {number}\u{1f}back"),
        });
        let mut at = NOON - 300 * DAY + number * SECOND;
        let mut memory = Memory::first(&truth, Rating::Good);
        for repetition in 0..7 {
            let days = if repetition == 0 {
                0
            } else {
                1 + panoply_noema::numbers::round_to_u32(memory.stability * chance() * 2.0)
            };
            let days = days.min(40);
            at += i64::from(days) * DAY;
            let recalled =
                days == 0 || chance() < truth.retrievability(f64::from(days), memory.stability);
            let rating = if recalled { Rating::Good } else { Rating::Again };
            if repetition > 0 {
                memory = memory.after(&truth, rating, days);
            }
            package.reviews.push(Review {
                id: ReviewId(at / 1000),
                card: CardId(id),
                rating: rating.ordinal(),
                kind: ReviewKind::Review,
                interval: 1,
                last_interval: 1,
                factor: 500,
                taken_ms: 5000,
                predicted: None,
                felt: None,
                stored_outcome: None,
            });
        }
        package.cards.push(PackagedCard {
            id,
            note: id,
            deck: 9,
            ordinal: 0,
            modified: 0,
            kind: 2,
            queue: 2,
            due: 700,
            interval: 10,
            ease: 0,
            reps: 7,
            lapses: 0,
            left: 0,
            own_due: 0,
            own_deck: 0,
            flags: 0,
            data: String::new(),
        });
    }
    package.reviews.sort_by_key(|review| review.id);
    package
}

#[tokio::test]
async fn weights_fitted_to_a_log_can_be_applied_to_the_deck() {
    let store = SqliteStore::in_memory().unwrap();
    let package = forgetful();
    let target: &dyn Store = &store;
    act(target, NOON, |writer| anki::import(writer, &package, NOON, &mut |_, _| Ok(())));
    let kernel = kernel_over(store);
    let found = call(&kernel, "search-decks", json!({"query": "Log"})).await.unwrap();
    let deck = found["decks"][0]["deckId"].clone();
    let fitted = call(&kernel, "optimize-parameters", json!({"deckId": deck})).await.unwrap();
    assert_eq!((&fitted["better"], &fitted["reviews"]), (&json!(true), &json!(1050)));
    let loss = |name: &str| fitted[name].as_f64().unwrap();
    assert!(loss("logLossProposed") < loss("logLossNow"), "{fitted}");
    assert!(loss("rmseProposed") < loss("rmseNow"), "{fitted}");
    assert_eq!(fitted["parameters"].as_array().unwrap().len(), 21);
    let options = json!({"deckId": deck, "options": {"parameters": fitted["parameters"]}});
    call(&kernel, "update-deck", options).await.unwrap();
    let again = call(&kernel, "optimize-parameters", json!({"deckId": deck})).await.unwrap();
    assert!(
        (again["logLossNow"].as_f64().unwrap() - loss("logLossProposed")).abs() < 1e-4,
        "the deck uses them: {again}"
    );
}

#[tokio::test]
async fn study_guidance_is_quantified_from_the_learners_log() {
    let store = SqliteStore::in_memory().unwrap();
    let package = forgetful();
    act(&store as &dyn Store, NOON, |writer| {
        anki::import(writer, &package, NOON, &mut |_, _| Ok(()))
    });
    let kernel = kernel_over(store);
    let hints = |envelope: Envelope| match envelope {
        Envelope::Result { structured: Some(structured), is_error: false, .. } => {
            structured.value()
        }
        other => panic!("{other:?}"),
    };
    let whole = hints(call_as_owner(&kernel, "get-study-guidance", json!({})).await);
    let choices = whole["data"]["choices"].as_array().unwrap();
    let column = |name: &str| -> Vec<f64> {
        choices.iter().map(|choice| choice[name].as_f64().unwrap()).collect()
    };
    let (retention, minutes, known) =
        (column("desiredRetention"), column("minutesPerDay"), column("remembered"));
    assert!(retention.is_sorted() && known.is_sorted(), "more is remembered: {choices:?}");
    assert!(minutes.first() < minutes.last(), "and costs more: {choices:?}");
    let advice = whole["data"]["advice"].to_string();
    assert!(advice.contains("minutes a day") && advice.contains("cards"), "{advice}");
    assert_eq!(whole["data"]["logSize"], 900, "answers a day or more after the one before");
    let risks = whole["agentHints"]["riskFactors"].to_string();
    assert!(risks.contains("fitted long ago or never"), "{risks}");
    let next = &whole["agentHints"]["suggestedNextActions"];
    assert!(next.to_string().contains("optimize-parameters"), "{next}");
    let confidence = |whole: &Value| whole["agentHints"]["confidence"].as_f64().unwrap();
    let without_log = hints(call_as_owner(&empty(), "get-study-guidance", json!({})).await);
    assert!(
        (confidence(&whole) - confidence(&without_log)).abs() > 0.01,
        "a log makes a difference: {} and {}",
        confidence(&whole),
        confidence(&without_log)
    );
}
