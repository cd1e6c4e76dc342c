//! Commands that change data go the way of the tools: refused on a read-only installation, and one
//! audit row for each change.

use std::collections::BTreeSet;
use std::path::Path;

use crate::place::{Place, Said};

const RUN: &str = "11111111-1111-4111-8111-111111111111";

/// Arguments of the command, the tool or operation of its audit row.
fn commands(place: &Place) -> Vec<(Vec<String>, &'static str)> {
    let golden = |path: &str| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
        file.display().to_string()
    };
    let papers = "PMID- 90000001\nTI  - Ginger in rats\nAB  - Rats were given ginger.\n\n";
    let papers = place.file("papers.nbib", papers).display().to_string();
    let event = serde_json::json!({
        "eventId": "00000000-0000-4000-8000-000000000001",
        "runId": RUN,
        "timestamp": "2025-01-01T00:00:00.000Z",
        "eventType": "RiskEvent",
        "severity": "Info",
        "category": "Risk",
        "properties": {"RiskType": "x"},
        "parentEventId": null,
        "validationErrors": null,
    });
    let events = place.file("events.jsonl", &format!("{event}\n")).display().to_string();
    let package = golden("panoply-noema/tests/golden/sample_anki26_latest.apkg");
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    vec![
        (words(&["noema", "import", &package]), "import-package"),
        (words(&["ttm", "import-papers", &papers]), "ttm/import-papers"),
        (words(&["backtest", "import", &events, "--open"]), "backtest/import"),
        (words(&["backtest", "seal", RUN]), "backtest/seal"),
        (words(&["backtest", "delete", RUN]), "backtest/delete"),
    ]
}

fn run(place: &Place, arguments: &[String], read_only: bool) -> Said {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut command = place.panoply(&arguments);
    place.said(command.env("PANOPLY_READ_ONLY", if read_only { "1" } else { "0" }))
}

/// The tools of audit rows of changes that succeeded.
fn changes(place: &Place) -> Vec<String> {
    let rows = place.run(&["audit", "show", "--json"]).json();
    let rows = rows.as_array().unwrap().iter();
    rows.filter(|row| row["mutation"] == true && row["audit"]["status"] == "ok")
        .map(|row| row["tool"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn commands_that_change_data_are_audited_and_refused_when_read_only() {
    let place = Place::new();
    let mut expected = BTreeSet::new();
    for (arguments, operation) in commands(&place) {
        let refused = run(&place, &arguments, true);
        assert_eq!(refused.status, Some(1), "{arguments:?}: {refused:?}");
        assert!(refused.err.contains("read-only"), "{arguments:?}: {}", refused.err);
        assert_eq!(changes(&place).len(), expected.len(), "{arguments:?} changed nothing");
        run(&place, &arguments, false).good();
        expected.insert(operation.to_owned());
        assert_eq!(changes(&place).into_iter().collect::<BTreeSet<_>>(), expected, "{arguments:?}");
    }
}
