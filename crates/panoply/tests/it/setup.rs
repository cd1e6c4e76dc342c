//! `panoply setup`: changes one entry of a client's file after a backup, or nothing.
#![cfg(target_os = "linux")]

use std::fs;

use expect_test::expect;
use serde_json::{Value, json};

use crate::place::Place;

const CURSOR: &str = ".cursor/mcp.json";
const CLAUDE: &str = ".config/Claude/claude_desktop_config.json";
const VSCODE: &str = ".config/Code/User/mcp.json";

#[test]
fn setup_prints_the_configuration() {
    let place = Place::new();
    let pages: Vec<String> = ["claude", "cursor", "vscode", "chatgpt"]
        .iter()
        .map(|client| {
            format!(
                "$ panoply setup {client} --pack cgt\n{}",
                place.run(&["setup", client, "--pack", "cgt"]).good()
            )
        })
        .collect();
    insta::assert_snapshot!(pages.join("\n"));
    assert!(!place.path(CURSOR).exists());
}

#[test]
fn missing_file_is_created() {
    for (client, file, section) in [
        ("claude", CLAUDE, "mcpServers"),
        ("cursor", CURSOR, "mcpServers"),
        ("vscode", VSCODE, "servers"),
    ] {
        let place = Place::new();
        place.run(&["setup", client, "--write"]).good();
        let written: Value = serde_json::from_str(&place.read(file)).unwrap();
        let entry = &written[section]["panoply"];
        assert_eq!(entry["args"], json!(["stdio"]), "client: {client}");
        assert!(entry["command"].as_str().unwrap().ends_with("panoply"), "client: {client}");
        assert!(entry["env"]["PANOPLY_HOME"].as_str().unwrap().ends_with("/home"), "{entry}");
        assert_eq!(copies(&place, file), 0, "there was nothing to keep");
    }
}

#[test]
fn other_entries_are_preserved_and_a_backup_is_made() {
    let place = Place::new();
    let before = "{\n  // mine\n  \"zeta\": 1.50,\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}\n  },\n  \"alpha\": true\n}\n";
    place.file(CURSOR, before);
    place.run(&["setup", "cursor", "--pack", "cgt", "--write"]).good();
    let after = place.read(CURSOR).replace(&place.path("").display().to_string(), "[USER]/");
    let after = after.replace(env!("CARGO_BIN_EXE_panoply"), "[BIN]/panoply");
    expect![[r#"
        {
          // mine
          "zeta": 1.50,
          "mcpServers": {
            "other": {"command": "x"},
            "panoply": {
              "command": "[BIN]/panoply",
              "args": [
                "stdio",
                "cgt"
              ],
              "env": {
                "PANOPLY_HOME": "[USER]/home"
              }
            }
          },
          "alpha": true
        }
    "#]]
    .assert_eq(&after);
    assert_eq!(copies(&place, CURSOR), 1);
    assert_eq!(place.read(&copy_of(&place, CURSOR)), before);
    // The second run changes nothing and makes no backup.
    let again = place.run(&["setup", "cursor", "--pack", "cgt", "--write"]).good();
    assert!(again.contains("has it already"), "{again}");
    assert_eq!(copies(&place, CURSOR), 1);
    place.run(&["setup", "cursor", "--remove"]).good();
    assert_eq!(place.read(CURSOR), before);
    assert_eq!(copies(&place, CURSOR), 2);
    assert!(place.run(&["setup", "cursor", "--remove"]).good().contains("nothing was changed"));
}

#[test]
fn invalid_json_file_is_not_changed() {
    for text in ["{ not json", "[]", "{\"mcpServers\": 7}"] {
        let place = Place::new();
        place.file(CURSOR, text);
        for flag in ["--write", "--remove"] {
            let said = place.run(&["setup", "cursor", flag]);
            // Removing a missing entry is not an error.
            let harmless = flag == "--remove" && text != "{ not json";
            assert_eq!(said.status, Some(i32::from(!harmless)), "{text} {flag}: {said:?}");
            if !harmless {
                assert!(said.err.contains("it was not touched"), "{}", said.err);
                assert!(said.err.contains("hint:"), "{}", said.err);
            }
        }
        assert_eq!(place.read(CURSOR), text);
        assert_eq!(copies(&place, CURSOR), 0);
    }
}

#[cfg(unix)]
#[test]
fn symlink_and_permissions_are_preserved() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let place = Place::new();
    let real = place.file("dotfiles/mcp.json", "{}");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir_all(place.path(".cursor")).unwrap();
    symlink(&real, place.path(CURSOR)).unwrap();
    place.run(&["setup", "cursor", "--write"]).good();
    assert!(fs::symlink_metadata(place.path(CURSOR)).unwrap().is_symlink());
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(place.read("dotfiles/mcp.json").contains("panoply"));
}

#[test]
fn chatgpt_has_no_file() {
    let said = Place::new().run(&["setup", "chatgpt", "--write"]);
    assert_eq!(said.status, Some(2));
    assert!(said.err.contains("no file to write"), "{}", said.err);
    let steps = Place::new().run(&["setup", "chatgpt", "--url", "https://t.example/mcp"]).good();
    assert!(
        steps.contains("--allowed-host t.example") && steps.contains("https://t.example/mcp"),
        "{steps}"
    );
    // Other clients start the program themselves.
    assert_eq!(
        Place::new().run(&["setup", "cursor", "--url", "https://t.example"]).status,
        Some(2)
    );
}

fn copies(place: &Place, file: &str) -> usize {
    names_of_copies(place, file).len()
}

fn copy_of(place: &Place, file: &str) -> String {
    let folder = file.rsplit_once('/').unwrap().0;
    format!("{folder}/{}", names_of_copies(place, file).remove(0))
}

fn names_of_copies(place: &Place, file: &str) -> Vec<String> {
    let path = place.path(file);
    let mut names: Vec<String> = fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains(".backup-"))
        .collect();
    names.sort();
    assert!(!names.iter().any(|name| name.contains(".new-")), "{names:?}");
    names
}
