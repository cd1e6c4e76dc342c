//! Commands in the documents are valid, and every command has a manual page.

use std::fs;
use std::path::Path;

use clap::{CommandFactory as _, Parser as _};
use panoply::cli::Cli;

use crate::place::Place;

const DOCUMENTS: [&str; 8] = [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "SUPPORT.md",
    "docs/install.md",
    "docs/operating.md",
    "docs/troubleshooting.md",
    "docs/upgrading.md",
];

#[test]
fn every_command_in_the_documents_is_valid() {
    let mut commands = Vec::new();
    for document in DOCUMENTS {
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

/// Splits a command as a shell does: at spaces outside quotation marks.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in command.chars() {
        match quote {
            None if c == '\'' || c == '"' => quote = Some(c),
            None if c.is_whitespace() => words.push(String::new()),
            Some(open) if c == open => quote = None,
            _ => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn text(document: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(document)).unwrap()
}

#[test]
fn every_command_has_a_manual_page() {
    fn pages(command: &clap::Command, parents: &str) -> Vec<String> {
        let name = format!("{parents}{}", command.get_name());
        let below = command.get_subcommands().filter(|command| !command.is_hide_set());
        let mut found: Vec<String> =
            below.flat_map(|command| pages(command, &format!("{name}-"))).collect();
        found.push(format!("{name}.1"));
        found
    }
    let place = Place::new();
    fs::create_dir(place.path("man1")).unwrap();
    place.run(&["man", &place.path("man1").display().to_string()]).good();
    let expected = pages(&Cli::command(), "");
    assert!(expected.len() > 40, "{expected:?}");
    for page in expected {
        let text = place.read(&format!("man1/{page}"));
        assert!(text.contains("\n.SH SYNOPSIS\n"), "{page}: {text}");
    }
    let missing = place.run(&["man", "/no/such/folder"]).failed();
    assert!(missing.contains("create the folder first"), "{missing}");
}

/// A command in a comment of README.md and the line that is quoted of its output.
#[test]
fn answers_in_the_readme_are_those_of_the_tools() {
    let readme = text("README.md");
    let mut lines = readme.lines();
    let place = Place::new();
    place.run(&["call", "create-deck", "--arg", "name=Capitals"]).good();
    let decks = place.run(&["call", "list-decks", "--json"]).out;
    let deck: String = decks[decks.find("deck_").unwrap()..]
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect();
    let mut asked = 0;
    while let Some(line) = lines.next() {
        let comment = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"));
        let Some(command) = comment else { continue };
        let quoted = lines.next().and_then(|line| line.strip_prefix("> "));
        let quoted = quoted.unwrap_or_else(|| panic!("no answer below `{command}`"));
        let command = words(&command.replace("DECK", &deck));
        let arguments: Vec<&str> = command.iter().skip(1).map(String::as_str).collect();
        let answer = place.run(&arguments).good();
        assert!(answer.contains(quoted), "{quoted}\nis not in\n{answer}");
        asked += 1;
    }
    assert_eq!(asked, 6);
}
