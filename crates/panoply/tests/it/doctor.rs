//! `panoply doctor`: findings and hints.

use serde_json::{Value, json};

use crate::place::Place;

#[test]
fn doctor_on_a_new_home_finds_no_problem_and_writes_nothing() {
    let place = Place::new();
    let said = place.run(&["doctor", "--json"]);
    assert_eq!(said.status, Some(0), "{said:?}");
    let report = said.json();
    assert_eq!(report["healthy"], json!(true));
    assert!(finding(&report, "home")["says"].as_str().unwrap().contains("created on first use"));
    assert!(!place.home().exists());
    let text = place.run(&["doctor"]).good();
    assert!(text.contains("✓ program") && text.contains("`panoply setup` lists them"), "{text}");
}

#[test]
fn doctor_lists_files_and_chain_state_of_a_used_home() {
    let place = Place::new();
    place.run(&["call", "search-tools", "--arg", "query=x"]).good();
    place.run(&["keys", "create", "k"]).good();
    let report = place.run(&["doctor", "--json"]).json();
    assert!(finding(&report, "audit log")["says"].as_str().unwrap().contains("schema "));
    assert_eq!(finding(&report, "audit chain")["says"], "2 rows, intact");
    assert_eq!(finding(&report, "keys")["says"], "1 of 1 work");
}

#[test]
fn every_problem_has_a_hint() {
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
fn doctor_reports_an_unwritable_home() {
    let place = Place::new();
    let blocked = place.file("blocked", "");
    let said = place.run(&["doctor", "--json", "--home", &blocked.display().to_string()]);
    assert_eq!(said.status, Some(1));
    assert_eq!(finding(&said.json(), "home")["state"], "ill");
}

#[test]
fn doctor_reports_a_client_entry_with_a_missing_program() {
    let place = Place::new();
    place.file(
        ".cursor/mcp.json",
        r#"{"mcpServers": {"panoply": {"command": "/no/such/program"}}}"#,
    );
    let report = place.run(&["doctor", "--json"]).json();
    assert_eq!(finding(&report, "Cursor")["state"], "ill");
}

#[test]
fn doctor_and_setup_agree_on_the_clients() {
    let place = Place::new();
    place.file(".codex/config.toml", "model = 'x'\n");
    place.file(".config/Code/User/mcp.json", "{}");
    let codex = "Codex: not connected: panoply setup codex --write";
    assert!(place.run(&["setup"]).good().contains(codex));
    let report = place.run(&["doctor", "--json"]).json();
    assert_eq!(finding(&report, "Codex")["state"], "note");
    assert_eq!(finding(&report, "Codex")["todo"], "run `panoply setup codex --write`");
    place
        .run(&["setup", "codex", "--write", "--each-pack", "--pack", "cgt", "--pack", "rmf"])
        .good();
    place.run(&["setup", "vscode", "--write", "--name", "tax"]).good();
    let listed = place.run(&["setup"]).good();
    assert!(listed.contains("Codex: connected as panoply-cgt, panoply-rmf\n"), "{listed}");
    assert!(listed.contains("VS Code: connected as tax\n"), "{listed}");
    assert!(listed.contains("Not found here: claude, claude-code, gemini,"), "{listed}");
    let report = place.run(&["doctor", "--json"]).json();
    assert!(
        finding(&report, "Codex")["says"]
            .as_str()
            .unwrap()
            .ends_with("as panoply-cgt, panoply-rmf")
    );
    assert_eq!(finding(&report, "VS Code")["state"], "well");
}

fn finding<'a>(report: &'a Value, about: &str) -> &'a Value {
    let findings = report["findings"].as_array().unwrap();
    findings.iter().find(|finding| finding["about"] == about).unwrap_or_else(|| panic!("{report}"))
}
