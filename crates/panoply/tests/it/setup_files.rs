//! `panoply setup` over hostile configuration files: no byte of the user is lost.
#![cfg(target_os = "linux")]

use std::fs;

use serde_json::Value;

use crate::place::Place;

const CURSOR: &str = ".cursor/mcp.json";
const CODEX: &str = ".codex/config.toml";

/// Files that are accepted: comments, odd layout, odd line ends, odd values.
const JSON: [&str; 26] = [
    "",
    "\n",
    "  \t\r\n",
    "{}",
    "{ }\n",
    "{\n}\n",
    "\u{feff}{}",
    "// only a comment\n{}\n",
    "/* block\n */ {\n  // inside\n}\n",
    "{\"mcpServers\":{}}",
    "{\"mcpServers\": {\n}}",
    "{\"mcpServers\": { /* none yet */ }}",
    "{\"mcpServers\": {\"other\": {\"command\": \"x\"}}}",
    "{\"mcpServers\": {\"other\": {\"command\": \"x\"},}}",
    "{\n  \"mcpServers\": {\n    \"github\": {\"command\": \"g\"}, // trailing\n  },\n}\n",
    "{\n  \"mcpServers\": {\n    \"github\": {\"command\": \"g\"} // trailing\n  }\n}\n",
    "{\n  \"mcpServers\": {\n    \"a\": 1, /* x */ // y\n    // \"b\": 2,\n  }\n}\n",
    "{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {}\r\n\t}\r\n}\r\n",
    "{\r\n  \"a\": 1,\r\n}",
    "{\"n\": [1.0, 1e5, 1.50, -0, 12345678901234567890123], \"mcpServers\": {\"a\": 0.10}}",
    "{\"s\": \"}, // not a comment {\", \"t\": \"\\\"mcpServers\\\": {\"}\n",
    "{\"\\u006dcpServers\": {\"a\": 1}}",
    "{\"ชื่อ\": \"ไทย\", \"mcpServers\": {\"ค่า\": {\"command\": \"ก\"}}}\n\n\n",
    "{\n    \"deep\": {\"mcpServers\": {\"x\": {}}},\n    \"mcpServers\": {\"y\": {}}\n}",
    "{\"mcpServers\": {\"PANOPLY\": {}, \"panoply2\": {}}}",
    "{\"mcpServers\": {\"a\": 1}, \"mcpServers\": {\"b\": 2}}",
];

/// Files that are refused and not touched.
const REFUSED_JSON: [&str; 8] = [
    "{",
    "[]",
    "null",
    "{\"mcpServers\": null}",
    "{\"mcpServers\": []}",
    "{'mcpServers': {}}",
    "{} {}",
    "{\"mcpServers\": {\"a\": }}",
];

const TOML: [&str; 16] = [
    "",
    "\n\n",
    "# only a comment\n",
    "# no line end",
    "model = \"o3\"",
    "model = \"o3\" # best\n",
    "a = 1\r\n[b]\r\nc = 2\r\n",
    "\u{feff}model = 'x'\n",
    "[mcp_servers]\n",
    "[mcp_servers.other]\ncommand = \"x\"\n",
    "[mcp_servers.other]\ncommand = \"x\" # keep\n\n[profiles.p]\nx = 1_000\ndate = 2026-11-16\n",
    "mcp_servers.other.command = \"x\"\n",
    "mcp_servers = { other = { command = \"x\" } } # inline\n",
    "[[list]]\na = 1\n\n[[list]]\na = 2\n",
    "text = \"\"\"\n[mcp_servers.panoply]\n\"\"\"\n",
    "\"ชื่อ\" = '''ไทย'''\n\n\n[z]\n[a]\n",
];

const REFUSED_TOML: [&str; 5] =
    ["= 1", "[a\n", "mcp_servers = 7\n", "a = 1\r\nb = 2\n", "[mcp_servers]\npanoply = 3\n"];

#[test]
fn json_files_come_back_byte_for_byte() {
    round_trips("cursor", CURSOR, "mcpServers", &JSON);
}

#[test]
fn toml_files_come_back_byte_for_byte() {
    round_trips("codex", CODEX, "mcp_servers", &TOML);
}

#[test]
fn refused_files_are_not_touched() {
    let json = REFUSED_JSON.iter().map(|text| ("cursor", CURSOR, *text));
    let toml = REFUSED_TOML.iter().map(|text| ("codex", CODEX, *text));
    for (client, file, text) in json.chain(toml) {
        let place = Place::new();
        place.file(file, text);
        let said = place.run(&["setup", client, "--write"]);
        assert_eq!(said.status, Some(1), "{text:?}: {said:?}");
        assert!(said.err.contains("it was not touched"), "{text:?}: {}", said.err);
        assert_eq!(place.read(file), text);
        let folder = place.path(file).parent().unwrap().to_owned();
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "{text:?}: no backup");
    }
}

fn round_trips(client: &str, file: &str, section: &str, texts: &[&str]) {
    let problems: Vec<String> =
        texts.iter().filter_map(|text| round_trip(client, file, section, text).err()).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n----\n"));
}

fn round_trip(client: &str, file: &str, section: &str, text: &str) -> Result<(), String> {
    let place = Place::new();
    place.file(file, text);
    let each = ["--each-pack", "--pack", "cgt", "--pack", "rmf"];
    let run = |flags: &[&str]| place.run(&[&["setup", client], flags].concat()).good();
    run(&[&each[..], &["--write"]].concat());
    let with = place.read(file);
    let lost = |left: &str| pieces(text).find(|piece| !left.contains(*piece)).map(str::to_owned);
    if let Some(piece) = lost(&with) {
        return Err(format!("{piece:?} of {text:?} is lost in {with}"));
    }
    if with.contains("\r\n") != text.contains("\r\n") {
        return Err(format!("{text:?} has other line ends than {with:?}"));
    }
    assert!(names(file, &with, section).contains(&"panoply-cgt".to_owned()), "{with}");
    run(&[&each[..], &["--remove"]].concat());
    if place.read(file) != text {
        return Err(format!("{text:?} came back as {:?}, after {with}", place.read(file)));
    }
    // Without the backup the entry goes, and nothing else does.
    run(&["--write"]);
    for entry in fs::read_dir(place.path(file).parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().contains(".backup-") {
            fs::remove_file(path).unwrap();
        }
    }
    run(&["--remove"]);
    let left = fs::read_to_string(place.path(file)).unwrap_or_default();
    match lost(&left) {
        Some(piece) => Err(format!("{piece:?} of {text:?} is lost in {left}")),
        None if left.contains("stdio") => Err(format!("the entry is still in {left}")),
        None => Ok(()),
    }
}

/// The words of a text: what a user wrote, without punctuation that an edit may move.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || ",{}".contains(c)).filter(|piece| !piece.is_empty())
}

/// Names of the servers, by a parser that is not ours.
fn names(file: &str, text: &str, section: &str) -> Vec<String> {
    if file == CODEX {
        let document: toml::Table = toml::from_str(text.trim_start_matches('\u{feff}')).unwrap();
        return document[section].as_table().unwrap().keys().cloned().collect();
    }
    // JSON5 reads comments and trailing commas; here a plain document is enough.
    let start = text.find("\"panoply-cgt\"").unwrap_or_else(|| panic!("{text}"));
    let entry = &text[start + "\"panoply-cgt\":".len()..];
    let mut values = serde_json::Deserializer::from_str(entry).into_iter::<Value>();
    let entry = values.next().unwrap().unwrap();
    assert_eq!(entry["args"], serde_json::json!(["stdio", "cgt"]), "{text}");
    vec!["panoply-cgt".to_owned()]
}
