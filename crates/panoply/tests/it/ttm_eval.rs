//! `panoply ttm eval`: output, report and errors.

use serde_json::Value;

use crate::place::Place;

#[test]
fn eval_prints_figures_and_writes_the_report() {
    let place = Place::new();
    let run = ["ttm", "eval", "--set", "smoke", "--metrics", "R@k,MRR", "--k", "5"];
    let said = place.run(&[&run[..], &["--report", "report.md"]].concat()).good();
    assert!(said.contains("12 questions of `smoke`: R@5 "), "{said}");
    assert!(place.read("report.md").starts_with("# Evaluation of `smoke`"));
    let reply = place.run(&[&run[..], &["--json", "--report", "report.json"]].concat()).json();
    let report: Value = serde_json::from_str(&place.read("report.json")).unwrap();
    let uri = reply["report_uri"].as_str().unwrap();
    assert_eq!(uri, format!("ttm://eval/{}", report["id"].as_str().unwrap()));
    assert_eq!(reply["metrics"][0]["value"], report["metrics"][0]["value"]);
    assert!(said.contains(uri), "the same run is the same report: {said}");
}

#[test]
fn custom_questions_are_read_from_a_file_with_errors_by_line() {
    let place = Place::new();
    place.file("own.jsonl", "{\"query\": \"ขิง\", \"relevant\": [\"H:ginger\"]}\n");
    let reply = place.run(&["ttm", "eval", "--file", "own.jsonl", "--json"]).json();
    assert_eq!(reply["metrics"][1]["name"], "MRR");
    assert_eq!(reply["metrics"][1]["value"], 1.0);
    place.file("bad.jsonl", "{\"query\": \"ขิง\", \"relevant\": [\"H:ginger\"]}\n{\"query\": 1}\n");
    let cases = [
        (vec!["--file", "bad.jsonl"], "line 2: not a valid question"),
        (vec!["--file", "gone.jsonl"], "gone.jsonl"),
        (vec!["--k", "0"], "k must be >0"),
        (vec!["--metrics", "BLEU"], "there is no metric `BLEU`"),
        (vec!["--set", "golden"], "set"),
    ];
    for (arguments, expected) in cases {
        let told = place.run(&[&["ttm", "eval"], &arguments[..]].concat()).failed();
        assert!(told.contains(expected), "{arguments:?}: {told}");
    }
}
