//! `panoply backup` and `panoply restore` of a home in use.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::place::{Place, Said};

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Runs a command over another home of the same place.
fn over(place: &Place, home: &Path, arguments: &[&str]) -> Said {
    let home = text(home);
    let all: Vec<&str> = arguments.iter().copied().chain(["--home", &home]).collect();
    place.run(&all)
}

fn decks(place: &Place, home: &Path) -> usize {
    let said = over(place, home, &["call", "list-decks", "--json"]).json();
    said["data"]["decks"].as_array().unwrap().len()
}

#[test]
fn backup_of_a_home_in_use_is_restored_completely() {
    let place = Place::new();
    let server = place.http(&[]);
    let client = server.client();
    let (made, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (folder, home) = (place.path("backup"), place.path("restored"));
    let mut before = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0.. {
                if stop.load(Ordering::SeqCst) {
                    break;
                }
                let arguments = json!({"name": format!("deck {number}")});
                let call = json!({"name": "create-deck", "arguments": arguments});
                let reply = client.rpc("/mcp", "tools/call", call);
                assert_eq!(reply["result"]["isError"], json!(false), "{reply}");
                made.fetch_add(1, Ordering::SeqCst);
            }
        });
        while made.load(Ordering::SeqCst) < 20 {
            std::thread::yield_now();
        }
        before = made.load(Ordering::SeqCst);
        place.run(&["backup", &text(&folder)]).good();
        stop.store(true, Ordering::SeqCst);
    });
    let after = made.load(Ordering::SeqCst);
    over(&place, &home, &["restore", &text(&folder)]).good();
    let found = decks(&place, &home);
    assert!((before..=after + 1).contains(&found), "{before} ≤ {found} ≤ {after}");
    assert_eq!(over(&place, &home, &["doctor", "--deep", "--json"]).json()["healthy"], json!(true));
    let verified = over(&place, &home, &["audit", "verify", "--json"]).json();
    assert_eq!(verified["intact"], json!(true), "{verified}");
    let rows: Value = over(&place, &home, &["audit", "show", "--json", "--limit", "10000"]).json();
    let of = |tool: &str| rows.as_array().unwrap().iter().filter(|row| row["tool"] == tool).count();
    assert!(of("create-deck") >= found, "no change without a row");
    assert_eq!(of("panoply restore"), 1);
    let here = place.run(&["audit", "show", "--json", "--tool", "panoply backup"]).json();
    assert_eq!(here.as_array().unwrap().len(), 1);
}

#[test]
fn restore_refuses_damaged_backup_running_server_and_existing_data() {
    let place = Place::new();
    place.run(&["call", "create-deck", "--arg", "name=Thai"]).good();
    let folder = place.path("backup");
    place.run(&["backup", &text(&folder)]).good();
    let again = place.run(&["backup", &text(&folder)]);
    assert!(again.status == Some(1) && again.err.contains("not empty"), "{again:?}");
    place.run(&["restore", "--check", &text(&folder)]).good();
    let refused = place.run(&["restore", &text(&folder)]);
    assert!(refused.status == Some(1) && refused.err.contains("--replace"), "{refused:?}");
    {
        let _server = place.http(&[]);
        let refused = place.run(&["restore", "--replace", &text(&folder)]);
        assert!(refused.status == Some(1) && refused.err.contains("in use"), "{refused:?}");
    }
    place.run(&["call", "create-deck", "--arg", "name=Later"]).good();
    assert_eq!(decks(&place, &place.home()), 2);
    place.run(&["restore", "--replace", &text(&folder)]).good();
    assert_eq!(decks(&place, &place.home()), 1);
    let kept = fs::read_dir(place.home()).unwrap().filter_map(|entry| entry.ok());
    let kept = kept.filter(|entry| entry.file_name().to_string_lossy().starts_with("replaced-"));
    assert_eq!(kept.count(), 1, "what was there is moved aside");
    let noema = folder.join("packs/noema.db");
    let mut bytes = fs::read(&noema).unwrap();
    bytes[5000] ^= 1;
    fs::write(&noema, bytes).unwrap();
    for arguments in [["restore", "--check"], ["restore", "--replace"]] {
        let refused = place.run(&[arguments[0], arguments[1], &text(&folder)]);
        assert!(refused.status == Some(1) && refused.err.contains("packs/noema.db"), "{refused:?}");
    }
    assert_eq!(decks(&place, &place.home()), 1, "nothing was touched");
}
