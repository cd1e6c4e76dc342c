//! `panoply ttm`: searching from the command line.

use serde_json::json;

use crate::place::Place;

#[test]
fn search_prints_hits_with_explanations() {
    let place = Place::new();
    let said = place.run(&["ttm", "search", "ฟ้าทะลายโจร", "--top-k", "2"]).good();
    let first: Vec<&str> = said.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(first[1..], ["H:andrographis", "herb", "ฟ้าทะลายโจร"], "{said}");
    assert!(said.lines().nth(1).unwrap().contains("ฟ้าทะลายโจร"), "{said}");
    assert!(!said.contains("**"), "marks are for programs: {said}");
    assert!(said.contains("medical advice"), "{said}");
}

#[test]
fn search_accepts_unquoted_words_kind_and_language() {
    let place = Place::new();
    let search = ["ttm", "search", "ริดสีดวง", "ทวาร", "--kind", "formulation", "--lang", "en"];
    let said = place.run(&search).good();
    let heads: Vec<&str> = said.lines().filter(|line| line.contains("  F:nlem-")).collect();
    assert!(!heads.is_empty() && heads.iter().all(|line| line.contains("formulation")), "{said}");
    assert!(!said.contains("  H:"), "{said}");
}

#[test]
fn json_flag_prints_the_structured_reply() {
    let place = Place::new();
    let searched = place.run(&["ttm", "search", "ginger", "--top-k", "3", "--json"]).json();
    let input = json!({"query": "ginger", "lang": "auto", "top_k": 3}).to_string();
    let called = place.run(&["call", "hybrid_search", &input, "--json"]).json();
    assert_eq!(searched["hits"], called["hits"]);
    assert_eq!(searched["audit"]["in_hash"], called["audit"]["in_hash"]);
    assert_eq!(searched["audit"]["out_hash"], called["audit"]["out_hash"]);
}

#[test]
fn unsearchable_query_is_reported() {
    let place = Place::new();
    let cases: [(&[&str], i32, &str); 5] = [
        (&["--top-k", "0", "ginger"], 1, "top_k must be >0"),
        (&[" "], 1, "`query` is empty"),
        (&["--kind", "tree", "ginger"], 2, "tree"),
        (&["--lang", "fr", "ginger"], 2, "fr"),
        (&[], 2, "QUERY"),
    ];
    for (arguments, status, why) in cases {
        let all: Vec<&str> = ["ttm", "search"].iter().chain(arguments).copied().collect();
        let said = place.run(&all);
        assert_eq!(said.status, Some(status), "{said:?}");
        assert!(said.err.contains(why), "{said:?}");
    }
    let nothing = place.run(&["ttm", "search", "🙂"]).good();
    assert!(nothing.contains("nothing was found"), "{nothing}");
}
