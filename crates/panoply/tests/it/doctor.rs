//! `panoply doctor`: findings and hints.

use serde_json::{Value, json};

use crate::place::Place;

#[test]
fn a_fresh_place_is_well_and_stays_untouched() {
    let place = Place::new();
    let said = place.run(&["doctor", "--json"]);
    assert_eq!(said.status, Some(0), "{said:?}");
    let report = said.json();
    assert_eq!(report["healthy"], json!(true));
    assert!(finding(&report, "home")["says"].as_str().unwrap().contains("will be made"));
    assert!(!place.home().exists());
    let text = place.run(&["doctor"]).good();
    assert!(text.contains("✓ program") && text.contains("Claude Desktop"), "{text}");
}

#[test]
fn a_place_in_use_shows_its_files_and_the_state_of_the_chain() {
    let place = Place::new();
    place.run(&["call", "search-tools", "--arg", "query=x"]).good();
    place.run(&["keys", "create", "k"]).good();
    let report = place.run(&["doctor", "--json"]).json();
    assert!(finding(&report, "audit log")["says"].as_str().unwrap().contains("schema "));
    assert_eq!(finding(&report, "audit chain")["says"], "1 rows, intact");
    assert_eq!(finding(&report, "keys")["says"], "1 of 1 work");
}

#[test]
fn each_thing_that_is_wrong_comes_with_what_to_do() {
    let place = Place::new();
    place.file("home/config.toml", "tols = 'all'");
    place.file("home/audit.db", "this is not a database, whatever its name says");
    place.file(".cursor/mcp.json", "{ not json");
    let said = place.run(&["doctor", "--json"]);
    assert_eq!(said.status, Some(1), "{said:?}");
    let report = said.json();
    for about in ["settings", "audit log", "audit chain", "Cursor"] {
        let finding = finding(&report, about);
        assert_ne!(finding["state"], "well", "{finding}");
        assert!(finding["todo"].is_string(), "{finding}");
    }
}

#[test]
fn a_home_that_cannot_be_written_is_told() {
    let place = Place::new();
    let blocked = place.file("blocked", "");
    let said = place.run(&["doctor", "--json", "--home", &blocked.display().to_string()]);
    assert_eq!(said.status, Some(1));
    assert_eq!(finding(&said.json(), "home")["state"], "ill");
}

#[test]
fn a_client_that_starts_a_program_which_is_gone_is_told() {
    let place = Place::new();
    place.file(
        ".cursor/mcp.json",
        r#"{"mcpServers": {"panoply": {"command": "/no/such/program"}}}"#,
    );
    let report = place.run(&["doctor", "--json"]).json();
    assert_eq!(finding(&report, "Cursor")["state"], "ill");
}

fn finding<'a>(report: &'a Value, about: &str) -> &'a Value {
    let findings = report["findings"].as_array().unwrap();
    findings.iter().find(|finding| finding["about"] == about).unwrap_or_else(|| panic!("{report}"))
}
