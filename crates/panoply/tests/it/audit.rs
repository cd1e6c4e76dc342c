//! `panoply audit` and `panoply keys`: persistent records.

use serde_json::json;

use crate::place::Place;

#[test]
fn missing_audit_log_is_not_an_error_and_not_created() {
    let place = Place::new();
    assert!(place.run(&["audit", "verify"]).good().contains("no audit log yet"));
    assert!(place.run(&["audit", "show"]).good().contains("No matching call"));
    assert!(place.run(&["keys", "list"]).good().contains("no keys"));
    assert!(!place.home().exists());
}

#[test]
fn audit_verify_detects_a_changed_byte() {
    let place = Place::new();
    for word in ["one", "two", "three"] {
        place.run(&["call", "search-tools", "--arg", &format!("query={word}")]).good();
    }
    let intact = place.run(&["audit", "verify", "--json"]).json();
    assert_eq!((&intact["intact"], &intact["rows"]), (&json!(true), &json!(3)));
    let head = intact["head"].as_str().unwrap();
    place.run(&["audit", "verify", "--noted", head]).good();
    // Tampering: replaces the bytes of a name in the file.
    let mut changed = 0;
    for name in ["audit.db", "audit.db-wal"] {
        let path = place.home().join(name);
        let Ok(mut bytes) = std::fs::read(&path) else { continue };
        let places: Vec<usize> = (0..bytes.len().saturating_sub(12))
            .filter(|at| &bytes[*at..*at + 12] == b"search-tools")
            .collect();
        for at in &places {
            bytes[*at] = b'S';
        }
        changed += places.len();
        std::fs::write(&path, bytes).unwrap();
    }
    assert!(changed >= 3, "the log holds the names of tools");
    let broken = place.run(&["audit", "verify", "--json"]);
    assert_eq!(broken.status, Some(1), "{broken:?}");
    assert_eq!(broken.json()["intact"], json!(false), "{broken:?}");
    assert_eq!(place.run(&["doctor"]).status, Some(1));
}

#[test]
fn noted_head_detects_a_removed_log() {
    let place = Place::new();
    place.run(&["call", "search-tools", "--arg", "query=x"]).good();
    let head =
        place.run(&["audit", "verify", "--json"]).json()["head"].as_str().unwrap().to_owned();
    for name in ["audit.db", "audit.db-wal", "audit.db-shm"] {
        let _ = std::fs::remove_file(place.home().join(name));
    }
    assert_eq!(place.run(&["audit", "verify"]).status, Some(0), "no noted head");
    let found = place.run(&["audit", "verify", "--noted", &head, "--json"]);
    assert_eq!((found.status, &found.json()["intact"]), (Some(1), &json!(false)), "{found:?}");
    let told = place.run(&["audit", "verify", "--noted", &head]);
    assert!(told.out.contains("the whole log is gone"), "{told:?}");
}

#[test]
fn invalid_noted_head_is_refused() {
    let place = Place::new();
    let said = place.run(&["audit", "verify", "--noted", "12"]);
    assert_eq!(said.status, Some(2), "{said:?}");
    assert!(said.err.contains("is not a noted head"), "{}", said.err);
}

#[test]
fn a_key_is_shown_once_and_listed_without_its_secret() {
    let place = Place::new();
    let created =
        place.run(&["keys", "create", "laptop", "--profile", "reader", "--expires", "30"]);
    assert_eq!(created.status, Some(0), "{created:?}");
    let key = created.out.trim();
    assert!(key.starts_with("pnp_") && !key.contains(char::is_whitespace), "{key}");
    let listed = place.run(&["keys", "list"]).good();
    // The secret itself may have an underscore.
    let secret = key.splitn(3, '_').nth(2).unwrap();
    assert!(listed.contains("laptop") && listed.contains("reader"), "{listed}");
    assert!(!listed.contains(secret), "{listed}");
    let unknown = place.run(&["keys", "revoke", "nonsense"]);
    assert_eq!(unknown.status, Some(2), "{unknown:?}");
    let id = key.split('_').nth(1).unwrap();
    place.run(&["keys", "revoke", id]).good();
    let json = place.run(&["keys", "list", "--json"]).json();
    assert_eq!(json[0]["works"], json!(false));
}

#[test]
fn changes_of_keys_and_users_have_audit_rows() {
    let place = Place::new();
    place.run(&["users", "add", "ann"]).good();
    place.run(&["users", "grant", "ann", "--workspace", "team"]).good();
    let key = place.run(&["keys", "create", "laptop", "--user", "ann", "--json"]).json();
    place.run(&["keys", "revoke", key["id"].as_str().unwrap()]).good();
    place.run(&["users", "remove", "ann"]).good();
    let rows = place.run(&["audit", "show", "--json"]).json();
    let rows = rows.as_array().unwrap();
    let operations: Vec<&str> = rows.iter().rev().filter_map(|row| row["tool"].as_str()).collect();
    let expected = [
        "panoply users add",
        "panoply users grant",
        "panoply keys create",
        "panoply keys revoke",
        "panoply users remove",
    ];
    assert_eq!(operations, expected);
    assert!(!serde_json::to_string(rows).unwrap().contains("ann"), "rows name no person");
}
