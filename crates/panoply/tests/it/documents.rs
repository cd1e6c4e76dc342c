//! Commands in README.md and docs/operating.md are valid.

use std::fs;
use std::path::Path;

use clap::Parser as _;
use panoply::cli::Cli;

use crate::place::Place;

#[test]
fn every_command_in_the_documents_is_valid() {
    let mut commands = Vec::new();
    for document in ["README.md", "docs/operating.md", "CONTRIBUTING.md", "SECURITY.md"] {
        commands
            .extend(commands_of(&text(document)).into_iter().map(|command| (document, command)));
    }
    assert!(commands.len() > 20, "{commands:?}");
    for (document, command) in commands {
        let refused = Cli::try_parse_from(words(&command)).err();
        // clap reports `--help` as an error with status 0.
        let refused = refused.filter(|error| error.exit_code() != 0);
        assert!(refused.is_none(), "{document}: `{command}`: {}", refused.unwrap());
    }
}

#[test]
fn settings_in_the_documents_are_valid() {
    let operating = text("docs/operating.md");
    let settings =
        operating.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let place = Place::new();
    // Pack names are not checked here.
    place.file("home/config.toml", &settings.replacen("packs =", "# packs =", 1));
    let report = place.run(&["doctor", "--json"]).json();
    let finding = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["about"] == "settings");
    assert_eq!(finding.unwrap()["state"], "well", "{report}");
}

/// Finds `panoply …` in backquotes and in code fences. A capitalised word is a placeholder, and
/// `…` stands for more.
fn commands_of(document: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in document.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            let command = line.split(" #").next().unwrap_or_default().trim();
            let ours = command
                .strip_prefix("cargo run --release -- ")
                .map(|rest| format!("panoply {rest}"));
            found.extend(
                ours.or_else(|| command.starts_with("panoply ").then(|| command.to_owned())),
            );
        } else {
            let quoted = line.split('`').skip(1).step_by(2);
            found.extend(quoted.filter(|text| text.starts_with("panoply ")).map(str::to_owned));
        }
    }
    found.retain(|command| !command.contains('…') && !command.contains('|'));
    found
}

fn words(command: &str) -> Vec<String> {
    command.split_whitespace().map(|word| word.replace('"', "")).collect()
}

fn text(document: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(document)).unwrap()
}
