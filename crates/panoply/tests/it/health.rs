//! Damaged, deleted, replaced, read-only and full stores: readiness and replies of a server.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use panoply_testkit::client::{HttpClient, HttpServer};
use serde_json::{Value, json};

use crate::place::Place;

/// A home with data in each database.
fn furnished() -> Place {
    let place = Place::new();
    let deck = place.run(&["call", "create-deck", "--arg", "name=Thai", "--json"]).json();
    let deck = format!("deckId={}", deck_id(&deck));
    for word in ["one", "two", "three"] {
        let (front, back) = (format!("front={word}"), format!("back={word} back"));
        place.run(&["call", "create-card", "--arg", &deck, "--arg", &front, "--arg", &back]).good();
    }
    place.run(&["call", "list_backtest_runs"]).good();
    place.run(&["call", "create_portfolio", "--arg", "name=Shares"]).good();
    place
}

/// Deck id in a reply.
fn deck_id(reply: &Value) -> String {
    let text = reply.to_string();
    let start = text.find("deck_").unwrap_or_else(|| panic!("{reply}"));
    text[start..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
}

fn call(client: &HttpClient, tool: &str, arguments: Value) -> Value {
    client.rpc("/mcp", "tools/call", json!({"name": tool, "arguments": arguments}))
}

/// Error code in any dialect.
fn code(reply: &Value) -> String {
    let text = reply["result"]["content"][0]["text"].as_str().unwrap_or_default();
    let body: Value = serde_json::from_str(text).unwrap_or_default();
    let code = body["error"]["code"].as_str().or(reply["error"]["data"]["code"].as_str());
    code.unwrap_or_else(|| panic!("no error: {reply}")).to_owned()
}

fn retryable(reply: &Value) -> bool {
    let text = reply["result"]["content"][0]["text"].as_str().unwrap_or_default();
    let body: Value = serde_json::from_str(text).unwrap_or_default();
    body["error"]["retryable"] == json!(true)
}

fn is_good(reply: &Value) -> bool {
    reply["result"]["isError"] == json!(false)
}

/// Reads `/readyz`: HTTP status, state, and each problem as `name: CODE`.
fn ready(client: &HttpClient) -> (u16, String, Vec<String>) {
    // Readiness is cached for half a second.
    std::thread::sleep(std::time::Duration::from_millis(600));
    let reply = client.get("/readyz");
    let body = reply.json();
    let problems = body["problems"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let named =
        problems.iter().map(|one| format!("{}: {}", text(&one["name"]), text(&one["code"])));
    (reply.status, text(&body["status"]), named.collect())
}

fn cut_in_half(file: &Path) {
    let bytes = fs::read(file).unwrap();
    fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
}

fn findings(place: &Place, arguments: &[&str]) -> (Option<i32>, Vec<String>) {
    let all: Vec<&str> = ["doctor", "--json"].iter().chain(arguments).copied().collect();
    let said = place.run(&all);
    let ill = said.json()["findings"].as_array().unwrap().clone();
    let ill = ill.iter().filter(|one| one["state"] == "ill");
    (said.status, ill.map(|one| one["about"].as_str().unwrap().to_owned()).collect())
}

#[test]
fn doctor_checks_every_file_and_names_the_damaged_one() {
    let place = furnished();
    place.run(&["keys", "create", "k"]).good();
    assert_eq!(findings(&place, &[]), (Some(0), vec![]));
    assert_eq!(findings(&place, &["--deep"]), (Some(0), vec![]));
    let files = [
        ("packs/noema.db", "noema: cards"),
        ("packs/cgt.db", "cgt: portfolios"),
        ("packs/backtest.db", "backtest: catalog of runs"),
        ("kernel.db", "idempotency keys"),
        ("keys.db", "API keys"),
        ("audit.db", "audit log"),
    ];
    for (name, about) in files {
        let file = place.home().join(name);
        let whole = fs::read(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        cut_in_half(&file);
        for depth in [&[][..], &["--deep"]] {
            let (status, ill) = findings(&place, depth);
            assert_eq!(status, Some(1), "{name} {depth:?}");
            assert!(ill.iter().any(|one| one == about), "{name} {depth:?}: {ill:?}");
        }
        fs::write(&file, whole).unwrap();
    }
    place.file("home/packs/rmf.tsv", "half a fi");
    let (status, ill) = findings(&place, &[]);
    assert_eq!((status, ill), (Some(1), vec!["rmf: synced figures".to_owned()]));
}

#[test]
fn damaged_pack_returns_errors_while_other_packs_serve() {
    let place = furnished();
    cut_in_half(&place.home().join("packs/noema.db"));
    place.file("home/packs/rmf.tsv", "half a fi");
    let server = place.http(&[]);
    let client = server.client();
    let decks = call(&client, "list-decks", json!({}));
    assert_eq!((code(&decks).as_str(), retryable(&decks)), ("PACK_DAMAGED", false), "{decks}");
    assert!(decks.to_string().contains("panoply doctor"), "{decks}");
    let changed = call(&client, "create-deck", json!({"name": "x"}));
    assert_eq!(code(&changed), "PACK_DAMAGED");
    let funds = call(&client, "get_rmf_funds", json!({}));
    assert!(funds.to_string().contains("PACK_DAMAGED"), "{funds}");
    assert!(is_good(&call(&client, "list_backtest_runs", json!({}))));
    let (status, word, problems) = ready(&client);
    assert_eq!((status, word.as_str()), (200, "degraded"));
    assert_eq!(problems, ["rmf: PACK_DAMAGED", "noema: PACK_DAMAGED"]);
}

#[test]
fn repaired_pack_serves_again_without_restart() {
    let place = furnished();
    let file = place.home().join("packs/noema.db");
    let whole = fs::read(&file).unwrap();
    cut_in_half(&file);
    let server = place.http(&[]);
    let client = server.client();
    assert_eq!(code(&call(&client, "list-decks", json!({}))), "PACK_DAMAGED");
    fs::write(&file, whole).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1200));
    let decks = call(&client, "list-decks", json!({}));
    assert!(is_good(&decks) && decks.to_string().contains("Thai"), "{decks}");
    assert_eq!(ready(&client).1, "ready");
}

#[test]
fn store_that_failed_to_open_is_retried() {
    let place = furnished();
    let (audit, away) = (place.home().join("audit.db"), place.path("away"));
    fs::rename(&audit, &away).unwrap();
    // A folder in place of the file cannot be opened.
    fs::create_dir(&audit).unwrap();
    let server = place.http(&[]);
    let client = server.client();
    assert!(is_good(&call(&client, "list-decks", json!({}))), "reads go on");
    let refused = call(&client, "create-deck", json!({"name": "late"}));
    assert!(!is_good(&refused), "{refused}");
    assert_eq!(ready(&client).0, 503);
    fs::remove_dir(&audit).unwrap();
    fs::rename(&away, &audit).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1200));
    let made = call(&client, "create-deck", json!({"name": "late"}));
    assert!(is_good(&made), "{made}");
    assert_eq!(ready(&client).1, "ready");
    drop(server);
    let shown = place.run(&["audit", "show", "--tool", "list-decks"]).good();
    assert!(shown.contains("list-decks"), "the read before is recorded too: {shown}");
}

#[test]
fn deleted_or_replaced_file_refuses_reads_and_writes() {
    let place = furnished();
    let server = place.http(&[]);
    let client = server.client();
    let (file, away) = (place.home().join("packs/noema.db"), place.path("away"));
    let whole = fs::read(&file).unwrap();
    fs::rename(&file, &away).unwrap();
    for replaced in [false, true] {
        if replaced {
            fs::write(&file, &whole).unwrap();
        }
        let made = call(&client, "create-deck", json!({"name": "lost"}));
        assert_eq!((code(&made).as_str(), retryable(&made)), ("STORE_REPLACED", false));
        assert_eq!(code(&call(&client, "list-decks", json!({}))), "STORE_REPLACED");
        assert_eq!(ready(&client).2, ["noema: STORE_REPLACED"]);
    }
    fs::rename(&away, &file).unwrap();
    assert!(is_good(&call(&client, "create-deck", json!({"name": "kept"}))));
    assert_eq!(ready(&client).1, "ready");
}

#[test]
fn deleted_home_acknowledges_nothing() {
    let place = furnished();
    let server = place.http(&[]);
    let client = server.client();
    assert!(is_good(&call(&client, "create-deck", json!({"name": "before"}))));
    fs::remove_dir_all(place.home()).unwrap();
    let made = call(&client, "create-deck", json!({"name": "lost"}));
    assert!(!is_good(&made), "{made}");
    let (status, _, problems) = ready(&client);
    assert_eq!(status, 503);
    for name in ["home", "audit log", "idempotency keys", "noema"] {
        let expected = format!("{name}: STORE_REPLACED");
        assert!(problems.contains(&expected), "{expected} in {problems:?}");
    }
}

#[test]
fn broken_audit_chain_is_reported_at_startup() {
    let place = furnished();
    let file = place.home().join("audit.db");
    let mut bytes = fs::read(&file).unwrap();
    let at = bytes.windows(11).rposition(|window| window == b"create-card").unwrap();
    bytes[at] = b'C';
    fs::write(&file, bytes).unwrap();
    let server = place.http(&[]);
    let client = server.client();
    let (status, _, problems) = ready(&client);
    let told = problems.iter().any(|one| one.starts_with("audit"));
    assert!(told, "{status} {problems:?}");
    assert!(server.log().contains("audit"), "{}", server.log());
}

/// A small file system, unmounted on drop. `None` without the right to mount.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: PathBuf, size: &str) -> Option<Self> {
        fs::create_dir_all(&at).unwrap();
        let mut mount = Command::new("mount");
        let done = mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(&at);
        if done.output().is_ok_and(|done| done.status.success()) {
            return Some(Self(at));
        }
        let skipped = "SKIPPED: this user may not mount a tmpfs, so a full disk is not tested";
        let _ = writeln!(std::io::stderr(), "{skipped}");
        None
    }

    fn remount(&self, how: &str) {
        let done =
            Command::new("mount").args(["-o", &format!("remount,{how}")]).arg(&self.0).output();
        assert!(done.as_ref().is_ok_and(|done| done.status.success()), "{done:?}");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}

fn server_on(disk: &SmallDisk, place: &Place) -> HttpServer {
    let home = disk.0.join("home");
    place.http(&["--home", &home.display().to_string()])
}

#[test]
fn full_disk_is_reported_and_recovers_without_restart() {
    let place = Place::new();
    let Some(disk) = SmallDisk::mount(place.path("disk"), "6m") else { return };
    let server = server_on(&disk, &place);
    let client = server.client();
    let deck = deck_id(&call(&client, "create-deck", json!({"name": "Thai"})));
    assert_eq!(ready(&client).1, "ready");
    let ballast = disk.0.join("ballast");
    let filled = fs::write(&ballast, vec![0; 16 << 20]);
    assert!(filled.is_err(), "the disk is small");
    let mut codes = Vec::new();
    for number in 0..40 {
        let card =
            json!({"deckId": deck, "front": format!("{number} {}", "x".repeat(3000)), "back": "b"});
        let made = call(&client, "create-card", card);
        if !is_good(&made) {
            assert!(!retryable(&made), "{made}");
            codes.push(code(&made));
        }
    }
    assert!(!codes.is_empty() && codes.iter().all(|code| code == "DISK_FULL"), "{codes:?}");
    assert!(is_good(&call(&client, "list-decks", json!({}))), "reads go on");
    let (status, _, problems) = ready(&client);
    assert_eq!(status, 503);
    assert!(problems.contains(&"home: DISK_FULL".to_owned()), "{problems:?}");
    fs::remove_file(&ballast).unwrap();
    let card = json!({"deckId": deck, "front": "room again", "back": "b"});
    let made = (0..10).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(300));
        let made = call(&client, "create-card", card.clone());
        is_good(&made).then_some(made)
    });
    assert!(made.is_some(), "it recovers");
    assert_eq!(ready(&client).1, "ready");
}

#[test]
fn read_only_home_serves_reads_and_is_reported() {
    let place = Place::new();
    let Some(disk) = SmallDisk::mount(place.path("disk"), "16m") else { return };
    {
        let server = server_on(&disk, &place);
        let client = server.client();
        assert!(is_good(&call(&client, "create-deck", json!({"name": "Thai"}))));
    }
    disk.remount("ro");
    let server = server_on(&disk, &place);
    let client = server.client();
    let (status, _, problems) = ready(&client);
    assert_eq!(status, 503, "{problems:?}");
    assert!(problems.contains(&"home: STORE_READ_ONLY".to_owned()), "{problems:?}");
    assert!(is_good(&call(&client, "get_rmf_funds", json!({}))), "packs without files serve");
    let decks = call(&client, "list-decks", json!({}));
    // Either the data or an error, never an empty collection.
    assert!(decks.to_string().contains("Thai") || !is_good(&decks), "{decks}");
    let made = call(&client, "create-deck", json!({"name": "x"}));
    assert!(!is_good(&made) && !retryable(&made), "{made}");
    disk.remount("rw");
    drop(server);
    let server = server_on(&disk, &place);
    let client = server.client();
    assert!(is_good(&call(&client, "create-deck", json!({"name": "again"}))), "{}", server.log());
    let decks = call(&client, "list-decks", json!({})).to_string();
    assert!(decks.contains("Thai") && decks.contains("again"), "{decks}");
}

#[test]
fn health_command_exits_with_the_state_of_the_server() {
    let place = Place::new();
    let server = place.http(&["--lame-duck", "60"]);
    let ready = place.run(&["health", &server.address]);
    assert_eq!((ready.status, &ready.json()["status"]), (Some(0), &json!("ready")));
    server.signal("TERM");
    let draining = (0..50).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        Some(place.run(&["health", &server.address])).filter(|said| said.status != Some(0))
    });
    let draining = draining.unwrap_or_else(|| panic!("still ready: {}", server.log()));
    assert_eq!((draining.status, &draining.json()["status"]), (Some(1), &json!("not ready")));
    let address = server.address.clone();
    drop(server);
    let gone = place.run(&["health", &address]).failed();
    assert!(gone.starts_with("1\n") && gone.contains("`panoply http`"), "{gone}");
}
