//! Snapshots of help and other printed texts.

use crate::place::Place;

#[test]
fn help_texts_match_the_snapshot() {
    let place = Place::new();
    let commands: [&[&str]; 18] = [
        &[],
        &["stdio"],
        &["http"],
        &["call"],
        &["tools"],
        &["describe"],
        &["docs"],
        &["contract", "check"],
        &["audit", "verify"],
        &["audit", "show"],
        &["audit", "seal"],
        &["audit", "prune"],
        &["audit", "checkpoint"],
        &["keys", "create"],
        &["keys", "list"],
        &["doctor"],
        &["setup"],
        &["completions"],
    ];
    let pages = commands.map(|words| {
        let arguments: Vec<&str> = words.iter().copied().chain(["--help"]).collect();
        format!("$ panoply {}\n{}", arguments.join(" "), place.run(&arguments).good())
    });
    insta::assert_snapshot!(pages.join("\n"));
}

#[test]
fn version_is_the_crate_version() {
    let said = Place::new().run(&["--version"]).good();
    assert_eq!(said.trim(), concat!("panoply ", env!("CARGO_PKG_VERSION")));
}

#[test]
fn kernel_tools_are_listed_as_text_and_json() {
    let place = Place::new();
    let text = place.run(&["tools", "--pack", "kernel"]);
    assert_eq!(text.status, Some(0), "{text:?}");
    insta::assert_snapshot!(text.out);
    let json = place.run(&["tools", "--pack", "kernel", "--json"]).json();
    let names: Vec<&str> =
        json.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "search-tools",
            "describe-tool",
            "call-tool",
            "get-tool-metrics",
            "get-audit-trail",
            "share-item",
            "withdraw-share",
            "list-shares",
            "get-preferences",
            "set-preferences"
        ]
    );
}

#[test]
fn describe_prints_text_and_json() {
    let place = Place::new();
    insta::assert_snapshot!(place.run(&["describe", "search-tools"]).good());
    let json = place.run(&["describe", "search-tools", "--json"]).json();
    assert_eq!(json["name"], "search-tools");
    assert_eq!(json["inputSchema"]["type"], "object");
}

#[test]
fn every_tool_satisfies_the_contract() {
    let place = Place::new();
    let said = place.run(&["contract", "check"]).good();
    assert!(said.contains("keep all 29 lines"), "{said}");
    let matrix = place.run(&["contract", "check", "--json"]).json();
    assert_eq!(matrix["violations"], serde_json::json!([]));
    assert_eq!(matrix["lines"].as_object().unwrap().len(), 29);
    assert!(!place.home().exists(), "checking leaves no trace");
}

#[test]
fn tool_documentation_is_up_to_date() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let place = Place::new();
    let said = place.said(place.panoply(&["docs", "--check"]).current_dir(root));
    assert_eq!(said.status, Some(0), "{}", said.err);
}

#[test]
fn outdated_documentation_is_reported_with_a_fix() {
    let place = Place::new();
    place.file("docs/tools.md", "# Tools\n\nold\n");
    let said = place.run(&["docs", "--check"]);
    assert_eq!(said.status, Some(1));
    assert!(said.err.contains("from line 3 on"), "{}", said.err);
    assert!(said.err.contains("panoply docs > docs/tools.md"), "{}", said.err);
    let missing = Place::new().run(&["docs", "--check"]);
    assert_eq!(missing.status, Some(1));
    assert!(missing.err.contains("repository's root"), "{}", missing.err);
}

#[test]
fn completions_are_made_for_each_shell() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = place.run(&["completions", shell]).good();
        assert!(script.contains("panoply") && script.len() > 1000, "shell: {shell}");
    }
}

#[test]
fn colours_are_printed_on_terminals_or_when_forced() {
    let place = Place::new();
    let plain = place.run(&["tools"]).good();
    assert!(!plain.contains('\u{1b}'));
    let forced = place.said(place.panoply(&["tools"]).env("CLICOLOR_FORCE", "1"));
    assert!(forced.out.contains('\u{1b}'));
    let refused = place.said(place.panoply(&["tools"]).env("NO_COLOR", "1"));
    assert!(!refused.out.contains('\u{1b}'));
}
