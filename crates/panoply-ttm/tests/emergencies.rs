//! Emergency detection on held-out wordings in two languages, with ordinary questions that must not
//! be taken for emergencies.
#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

use std::path::Path;

use panoply_ttm::catalog::HerbCatalog;
use panoply_ttm::safety::emergency_in;
use serde_json::Value;

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect()
}

#[test]
fn held_emergencies_are_detected_and_ordinary_questions_are_not() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/emergencies_held.json");
    let held: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let catalog = HerbCatalog::bundled().unwrap();
    let found = |question: &str| {
        emergency_in(&catalog.emergencies, question).map(|one| one.id.clone()).unwrap_or_default()
    };
    let mut faults = Vec::new();
    for lang in ["th", "en"] {
        let mut asked = 0;
        for row in held["emergencies"].as_array().unwrap() {
            let kinds = texts(&row["kinds"]);
            for question in texts(&row[lang]) {
                asked += 1;
                let kind = found(question);
                if !kinds.contains(&kind.as_str()) {
                    faults.push(format!("{question}: `{kind}` instead of {kinds:?}"));
                }
            }
        }
        assert!(asked >= 30, "{lang}: {asked} emergencies");
        let ordinary = texts(&held["ordinary"][lang]);
        assert!(ordinary.len() >= 30, "{lang}: {} ordinary questions", ordinary.len());
        for question in ordinary {
            let kind = found(question);
            if !kind.is_empty() {
                faults.push(format!("{question}: an ordinary question taken for `{kind}`"));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}
