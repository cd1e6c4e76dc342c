//! Sharing of a run, a deck and documents with another tenant, read-only, and its end.

use serde_json::{Value, json};

use super::shares::{self, Item};
use super::two_tenants::{Actor, TwoTenants, strings};
use super::{code, without_time};

/// Every way to read an item by its ids; the text of each reply.
fn reads(item: &Item, reader: &Actor) -> Vec<(String, String)> {
    let read = |(method, params): (&'static str, Value)| {
        let call = format!("{method} {params}");
        let reply = reader.client.rpc("/mcp", method, params);
        (call, without_time(&reply["result"]).to_string())
    };
    item.reads().into_iter().map(read).collect()
}

/// Every way to change an item; the code of each refusal.
fn changes(item: &Item, caller: &Actor) -> Vec<String> {
    let refused = |tool: &str, arguments: Value| code(&caller.call(tool, arguments));
    match item.pack {
        "backtest" => {
            let path = format!("/backtest/runs/{}", item.id);
            let seal = caller.client.request("POST", &format!("{path}/seal"), &[], b"");
            vec![seal.status.to_string()]
        }
        "noema" => vec![
            refused("delete-deck", json!({"deckId": item.id})),
            refused("update-deck", json!({"deckId": item.id, "name": "Mine"})),
            refused("create-card", json!({"deckId": item.id, "front": "x", "back": "y"})),
            refused("update-card", json!({"cardId": item.ids[0], "tags": ["mine"]})),
        ],
        _ => vec![refused("ingest_undo", json!({"job_id": item.id}))],
    }
}

#[test]
fn a_shared_item_is_read_from_its_grant_to_its_withdrawal_and_never_changed() {
    let world = TwoTenants::separate();
    let (ann, bob) = (&world.actors[0], &world.actors[1]);
    for item in shares::items(&world) {
        let before = reads(&item, bob);
        for (call, reply) in &before {
            assert!(!reply.contains(&item.canary), "not shared yet: {call} {reply}");
        }
        let own = reads(&item, ann);
        let shared = item.share(ann, bob);
        assert_eq!(shared["structuredContent"]["data"]["wasShared"], json!(false), "{shared}");
        let seen = reads(&item, bob);
        for ((call, seen), (_, own)) in seen.iter().zip(&own) {
            assert!(seen.contains(&item.canary), "{call}: {seen}");
            assert_eq!(structured(seen), structured(own), "{call}");
            assert!(!seen.contains(&ann.canary), "{call}: {seen}");
        }
        for refused in changes(&item, bob) {
            let unknown = refused == "404" || refused.contains("NOT_FOUND");
            assert!(unknown, "{}: {refused}", item.pack);
        }
        assert_eq!(reads(&item, ann).len(), own.len());
        let ended = item.withdraw(ann, bob);
        assert_eq!(ended["isError"], json!(false), "{ended}");
        assert_eq!(reads(&item, bob), before, "{}", item.pack);
        assert_eq!(code(&item.withdraw(ann, bob)), "SHARE_NOT_FOUND");
    }
    assert_audited(ann);
}

/// The data of a reply, without hints, which depend on the caller.
fn structured(reply: &str) -> Value {
    let reply: Value = serde_json::from_str(reply).unwrap();
    match &reply["structuredContent"]["data"] {
        Value::Null => reply["structuredContent"].clone(),
        data => data.clone(),
    }
}

fn assert_audited(owner: &Actor) {
    for tool in ["share-item", "withdraw-share"] {
        let rows = owner.call("get-audit-trail", json!({"tool": tool, "limit": 100}));
        let rows = rows["structuredContent"]["data"]["rows"].as_array().unwrap().clone();
        let good = rows.iter().filter(|row| row["errorCode"].is_null()).count();
        assert_eq!(good, 3, "{tool}: {rows:?}");
    }
}

#[test]
fn only_an_owner_shares_and_only_what_is_theirs() {
    let world = TwoTenants::separate();
    let (ann, bob) = (&world.actors[0], &world.actors[1]);
    let items = shares::run_and_deck(&world);
    let (agent, operator) = (
        world.key(&["--user", "ann", "--profile", "agent"]),
        world.key(&["--profile", "operator"]),
    );
    for item in &items {
        assert_eq!(code(&item.share(&agent, bob)), "FORBIDDEN");
        assert_eq!(code(&item.share(&operator, bob)), "FORBIDDEN");
        assert_eq!(code(&item.share(bob, ann)), "ITEM_NOT_FOUND");
        assert_eq!(code(&item.share(ann, ann)), "BAD_RECIPIENT");
        item.share(ann, bob);
        // What was received cannot be passed on.
        assert_eq!(
            code(&item.share(
                bob,
                &Actor { tenant: format!("person-{}", "0".repeat(32)), ..world.key(&[]) }
            )),
            "ITEM_NOT_FOUND"
        );
        assert_eq!(item.share(ann, bob)["structuredContent"]["data"]["wasShared"], json!(true));
    }
    let reader = world.key(&["--user", "bob", "--profile", "reader"]);
    let found = reader.call("describe_run", json!({"runId": items[0].id}));
    assert!(found.to_string().contains(&items[0].canary), "{found}");
    let listed = bob.call("list-shares", json!({}));
    let listed = &listed["structuredContent"]["data"];
    assert_eq!(listed["received"].as_array().unwrap().len(), 2, "{listed}");
    assert_eq!((&listed["person"], &listed["granted"]), (&json!(bob.tenant), &json!([])));
    // Listings and searches without an id are of one's own data.
    for (tool, arguments) in [
        ("list-decks", json!({})),
        ("list_backtest_runs", json!({})),
        ("search-cards", json!({"query": ""})),
    ] {
        let found = bob.call(tool, arguments).to_string();
        assert!(items.iter().all(|item| !found.contains(&item.canary)), "{tool}: {found}");
    }
}

#[test]
fn shares_end_with_the_owners_access_and_data() {
    let world = TwoTenants::separate();
    let (ann, bob) = (&world.actors[0], &world.actors[1]);
    let [_, deck] = &shares::run_and_deck(&world);
    deck.share(ann, bob);
    let read = |word: &str| {
        let found = bob.call("search-cards", json!({"query": word, "deckId": deck.id}));
        found.to_string().contains(&deck.canary)
    };
    assert!(read(""));
    ann.call("delete-deck", json!({"deckId": deck.id}));
    assert!(!read("in"), "a deleted deck is shared no longer");
    ann.call("undo-action", json!({}));
    assert!(read(""));
    let exported = world.place.path("export");
    world.place.run(&["users", "export", "ann", exported.to_str().unwrap()]).good();
    let account = std::fs::read_to_string(exported.join("account.json")).unwrap();
    assert!(account.contains(&deck.id) && account.contains(&bob.tenant), "{account}");
    world.place.run(&["users", "remove", "ann"]).good();
    assert!(!read(""));
    let mut ids = 0;
    strings(&bob.call("list-shares", json!({})), &mut |text| ids += usize::from(text == deck.id));
    assert_eq!(ids, 0);
}
