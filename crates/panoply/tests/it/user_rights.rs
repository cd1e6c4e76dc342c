//! A person's rights: export in open formats, erasure, and quotas.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::place::Place;
use crate::tenants::two_tenants::{self, Actor, RUN, TwoTenants};

/// All bytes of the files below a folder that contain a text.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if contains(&fs::read(&path).unwrap(), text) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn an_export_has_everything_of_a_person_and_nothing_of_another() {
    let world = TwoTenants::separate();
    let (ann, bob) = (&world.actors[0], &world.actors[1]);
    let target = world.place.path("export");
    world.place.run(&["users", "export", "ann", target.to_str().unwrap()]).good();
    let read = |name: &str| fs::read_to_string(target.join(name)).unwrap();
    assert!(read("cards.csv").contains(&ann.canary));
    assert!(fs::read(target.join("cards.apkg")).unwrap().starts_with(b"PK"));
    assert!(read("runs.jsonl").contains(RUN));
    let events: Vec<Value> = read(&format!("runs/{RUN}.jsonl"))
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events.len(), 3);
    assert_eq!(events[0]["properties"]["RiskType"], json!(ann.canary));
    let account: Value = serde_json::from_str(&read("account.json")).unwrap();
    assert_eq!((&account["name"], &account["tenant"]), (&json!("ann"), &json!(ann.tenant)));
    assert!(read("audit.jsonl").contains("create-cards"));
    assert!(!read("audit.jsonl").contains(&bob.tenant));
    assert_eq!(files_with(&target, &bob.canary), Vec::<String>::new());
    let again = world.place.run(&["users", "export", "ann", target.to_str().unwrap()]);
    assert_eq!(again.status, Some(1), "an existing folder is not written into");
}

#[test]
fn erasing_a_person_deletes_all_data_and_keeps_the_audit_chain() {
    let mut world = TwoTenants::separate();
    let canary = world.actors[0].canary.clone();
    let tenant = world.actors[0].tenant.clone();
    world.place.run(&["keys", "create", "zqlabelzq", "--user", "ann"]).good();
    let said = world.place.run(&["users", "erase", "ann", "--yes"]).good();
    assert!(said.contains(&tenant), "{said}");
    // The key is gone, also in the running server.
    assert_eq!(world.actors[0].client.get("/metrics").status, 401);
    assert!(world.actors[1].call("list-decks", json!({})).to_string().contains("Same name"));
    world.server.signal("TERM");
    world.server.wait();
    for text in [canary.as_str(), "zqlabelzq"] {
        assert_eq!(files_with(&world.place.home(), text), Vec::<String>::new(), "{text}");
    }
    assert!(!world.place.home().join("tenants").join(&tenant).exists());
    let users = world.place.run(&["users", "list", "--json"]).json();
    assert_eq!(users.as_array().unwrap().len(), 1, "{users}");
    world.place.run(&["audit", "verify"]).good();
    let rows = world.place.run(&["audit", "show", "--limit", "1000", "--json"]).good();
    assert!(rows.contains(&tenant) && rows.contains("panoply users erase"), "{rows}");
    assert!(!rows.contains("\"ann\""), "{rows}");
    let gone = world.place.run(&["users", "erase", "ann", "--yes"]);
    assert!(gone.err.contains("there is no user `ann`"), "{gone:?}");
}

/// Killed after the data are gone and before the name is: the command goes on where it stopped.
#[test]
fn an_interrupted_erasure_can_be_repeated() {
    let place = Place::new();
    let added = place.run(&["users", "add", "ann", "--json"]).json();
    let tenant = added["tenant"].as_str().unwrap();
    place.file(&format!("home/tenants/{tenant}.erased"), "");
    place.file(&format!("home/tenants/{tenant}/packs/rest.db-wal"), "rest");
    place.run(&["users", "remove", "ann"]).good();
    let list = place.run(&["users", "list"]).good();
    assert!(list.contains("removed"), "{list}");
    place.run(&["users", "erase", "ann", "--yes"]).good();
    assert!(!place.home().join("tenants").join(tenant).exists());
    assert!(!place.run(&["users", "list"]).good().contains("ann"));
}

#[test]
fn a_tenant_over_its_quota_can_delete_but_not_add() {
    let place = Place::new();
    place.file("home/config.toml", "[tenants.quota]\ncards = 2\nruns = 1\ntransactions = 2\n");
    let world = TwoTenants::in_place(place);
    let ann = &world.actors[0];
    let cards = json!({"deckId": ann.deck(), "notes": [{"front": "one more"}]});
    let refused = ann.call("create-cards", cards.clone()).to_string();
    assert!(refused.contains("QUOTA_EXCEEDED") && refused.contains("2 cards"), "{refused}");
    let more = "/backtest/runs/77777777-7777-4777-8777-777777777777";
    let put = ann.client.request("PUT", more, &[], b"");
    assert_eq!(put.status, 403, "{}", put.text());
    assert_eq!(put.json()["error"]["code"], "QUOTA_EXCEEDED");
    let refused = ann.call("create_portfolio", json!({"name": "one more"})).to_string();
    assert!(refused.contains("QUOTA_EXCEEDED") && refused.contains("2 transactions"), "{refused}");
    let card = ann.ids("search-cards", "card_").remove(0);
    let deleted = ann.call("delete-cards", json!({"cardIds": [card]}));
    assert_eq!(deleted["isError"], json!(false), "{deleted}");
    let added = ann.call("create-cards", cards);
    assert_eq!(added["isError"], json!(false), "{added}");
}

#[test]
fn a_backup_and_the_doctor_cover_all_tenants() {
    let world = TwoTenants::separate();
    let backup = world.place.path("backup");
    world.place.run(&["backup", backup.to_str().unwrap()]).good();
    for actor in &world.actors {
        let packs = backup.join("tenants").join(&actor.tenant).join("packs");
        for file in ["noema.db", "backtest.db", "cgt.db"] {
            assert!(packs.join(file).exists(), "{file}");
        }
        let found = files_with(&packs, &actor.canary);
        assert!(!found.is_empty(), "{}", actor.canary);
    }
    let told = world.place.run(&["doctor", "--json"]).json();
    let about = told["findings"].to_string();
    assert!(world.actors.iter().all(|actor| about.contains(&actor.tenant)), "{about}");
}

/// A damaged file is one tenant's problem.
#[test]
fn damage_of_one_tenant_does_not_affect_another() {
    let mut world = TwoTenants::separate();
    world.server.signal("TERM");
    world.server.wait();
    let packs = world.place.home().join("tenants").join(&world.actors[0].tenant).join("packs");
    let file = packs.join("noema.db");
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let server = world.place.http(&["--tools", "all"]);
    let actors = ["ann", "bob"].map(|name| {
        let key = world.place.run(&["keys", "create", "again", "--user", name]).good();
        Actor {
            client: two_tenants::bearer(&server, key.trim()),
            canary: String::new(),
            tenant: String::new(),
        }
    });
    let damaged = actors[0].call("search-cards", json!({"query": ""})).to_string();
    assert!(damaged.contains("PACK_DAMAGED"), "{damaged}");
    let intact = actors[1].call("search-cards", json!({"query": ""})).to_string();
    assert!(intact.contains(&world.actors[1].canary), "{intact}");
    assert_eq!(server.client().get("/readyz").status, 200);
}
