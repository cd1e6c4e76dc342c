//! `panoply noema`: replay, import and export.

use serde_json::Value;

use crate::place::Place;

/// Ten histories of py-fsrs 6.3.2 with the schedule after each answer.
const HISTORIES: &str = include_str!("../../../panoply-noema/tests/golden/fsrs_sequences.json");
const PACKAGE: &[u8] =
    include_bytes!("../../../panoply-noema/tests/golden/sample_anki26_latest.apkg");

#[test]
fn replay_matches_py_fsrs_to_nine_digits() {
    let place = Place::new();
    place.file("histories.json", HISTORIES);
    let ours = place.run(&["noema", "replay", "histories.json", "--json"]).json();
    let theirs: Value = serde_json::from_str(HISTORIES).unwrap();
    let (ours, theirs) =
        (ours["sequences"].as_array().unwrap(), theirs["sequences"].as_array().unwrap());
    assert_eq!(ours.len(), theirs.len());
    let mut compared = 0;
    for (our, their) in ours.iter().zip(theirs) {
        assert_eq!(our["name"], their["name"]);
        let (answers, expected) =
            (our["reviews"].as_array().unwrap(), their["reviews"].as_array().unwrap());
        assert_eq!(answers.len(), expected.len());
        for (answer, expected) in answers.iter().zip(expected) {
            let expected = &expected["expect"];
            let at = format!("{}: {answer} and {expected}", our["name"]);
            for exact in ["state", "step", "due"] {
                assert_eq!(answer[exact], expected[exact], "{at}");
            }
            for close in ["stability", "difficulty", "interval_seconds"] {
                let (one, two) =
                    (answer[close].as_f64().unwrap(), expected[close].as_f64().unwrap());
                assert!((one - two).abs() <= 1e-9 * two.abs(), "{close} of {at}");
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 111);
}

#[test]
fn invalid_history_is_refused_with_the_reason() {
    let place = Place::new();
    place.file(
        "histories.json",
        r#"{"sequences": [{"reviews": [{"at": "yesterday", "rating": 3}]}]}"#,
    );
    let said = place.run(&["noema", "replay", "histories.json", "--json"]);
    assert_eq!(said.status, Some(1), "{said:?}");
    assert!(said.err.contains("histories.json"), "{said:?}");
    assert_eq!(said.out, "");
}

#[test]
fn collection_is_imported_and_exported() {
    let place = Place::new();
    std::fs::write(place.path("in.apkg"), PACKAGE).unwrap();
    let said = place.run(&["noema", "import", "in.apkg"]).good();
    assert!(
        said.contains("8 new notes") && said.contains("15 cards, 12 reviews, 1 media"),
        "{said}"
    );
    let said = place.run(&["noema", "export", "out.apkg"]).good();
    assert!(said.contains("8 notes in out.apkg"), "{said}");
    let elsewhere = Place::new();
    std::fs::copy(place.path("out.apkg"), elsewhere.path("in.apkg")).unwrap();
    let said = elsewhere.run(&["noema", "import", "in.apkg"]).good();
    assert!(
        said.contains("8 new notes") && said.contains("15 cards, 12 reviews, 1 media"),
        "{said}"
    );
    place.run(&["noema", "export", "words.csv"]).good();
    assert!(place.read("words.csv").lines().count() >= 9);
    let said = elsewhere.run(&["noema", "import", "in.apkg"]).good();
    assert!(said.contains("8 unchanged"), "{said}");
    std::fs::write(place.path("cut.apkg"), &PACKAGE[..PACKAGE.len() / 2]).unwrap();
    let refused = place.run(&["noema", "import", "cut.apkg"]);
    assert_eq!(refused.status, Some(1), "{refused:?}");
    assert!(refused.err.contains("not an Anki package"), "{refused:?}");
}
