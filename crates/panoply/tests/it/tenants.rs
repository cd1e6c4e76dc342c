//! Separation of tenants: two callers of one server with the same names, ids and documents.
//!
//! Each tenant has a canary, a word that occurs in its cards, events and documents only. A reply to
//! the other tenant that contains it is a leak.

mod examples;
mod random_calls;
mod shares;
mod sharing;
mod surfaces;
pub(crate) mod two_tenants;

use panoply_testkit::postgres::PostgresServer;
use serde_json::{Value, json};

use self::random_calls::RandomCalls;
use self::two_tenants::{Actor, RUN, TwoTenants};
use crate::place::Place;

#[test]
fn no_canary_of_a_tenant_is_in_a_reply_to_another() {
    let world = TwoTenants::separate().with_documents().with_package();
    let items = shares::items(&world);
    let found = RandomCalls::new(&world, 0x5eed).with_items(items).run(1_500);
    assert_eq!(found.leaks, Vec::<String>::new());
    found.assert_coverage();
    found.assert_shared();
}

/// Run by `./test --long`.
#[test]
#[ignore = "10,000 calls take minutes"]
fn no_canary_of_a_tenant_is_in_a_reply_to_another_long() {
    let world = TwoTenants::separate().with_documents().with_package();
    let items = shares::items(&world);
    let found = RandomCalls::new(&world, 0xf00d).with_items(items).run(10_000);
    assert_eq!(found.leaks, Vec::<String>::new());
    found.assert_coverage();
    found.assert_shared();
}

/// A home whose stores are on a server.
fn on_postgresql(database: &PostgresServer) -> Place {
    let place = Place::new();
    place.file("home/config.toml", &format!("[store]\nurl = '{}'\n", database.app_url()));
    place.run(&["db", "init", "--admin", &database.admin_url()]).good();
    place
}

#[test]
fn no_canary_of_a_tenant_is_in_a_reply_to_another_on_postgresql() {
    let database = PostgresServer::start();
    let world = TwoTenants::in_place(on_postgresql(&database)).with_documents().with_package();
    let items = shares::items(&world);
    let found = RandomCalls::new(&world, 0x5eed).with_items(items).run(60);
    assert_eq!(found.leaks, Vec::<String>::new());
}

/// Run by `./test --long`.
#[test]
#[ignore = "2,000 calls take minutes"]
fn no_canary_of_a_tenant_is_in_a_reply_to_another_long_on_postgresql() {
    let database = PostgresServer::start();
    let world = TwoTenants::in_place(on_postgresql(&database)).with_documents().with_package();
    let items = shares::items(&world);
    let found = RandomCalls::new(&world, 0xf00d).with_items(items).run(2_000);
    assert_eq!(found.leaks, Vec::<String>::new());
    found.assert_coverage();
    found.assert_shared();
}

/// Control: the same calls by two keys of one tenant do find each other's canaries.
#[test]
fn canaries_are_found_where_callers_share_a_tenant() {
    let world = TwoTenants::shared();
    let found = RandomCalls::new(&world, 0x5eed).run(300);
    assert!(!found.leaks.is_empty());
}

/// What a second owner did before tenants were separate: read, delete, undo, seal.
#[test]
fn a_second_owner_cannot_read_or_change_what_is_not_theirs() {
    let world = TwoTenants::separate();
    let (ann, bob) = (&world.actors[0], &world.actors[1]);
    let (decks, cards) = (ann.call("list-decks", json!({})), ann.ids("search-cards", "card_"));
    let deck = ann.deck();
    for card in &cards {
        let reply = bob.call("get-card", json!({"cardId": card}));
        assert_eq!(code(&reply), "CARD_NOT_FOUND", "{reply}");
    }
    assert_eq!(code(&bob.call("delete-deck", json!({"deckId": deck}))), "DECK_NOT_FOUND");
    let exported = bob.call("export-package", json!({"format": "csv"}));
    assert!(!exported.to_string().contains(&ann.canary), "{exported}");
    for _ in 0..5 {
        bob.call("undo-action", json!({}));
    }
    let unchanged = ann.call("list-decks", json!({}));
    assert_eq!(unchanged["structuredContent"]["data"], decks["structuredContent"]["data"]);
    assert_eq!(ann.ids("search-cards", "card_"), cards);
    let found = ann.call("describe_run", json!({"runId": RUN}));
    assert!(found.to_string().contains(&ann.canary), "{found}");
}

/// A note's GUID identifies it within a collection, not on the server.
#[test]
fn notes_of_one_package_are_separate_in_each_collection() {
    let world = TwoTenants::separate();
    let (ann, bob) = (&world.actors[0], &world.actors[1]);
    let first = ann.import_package();
    let second = bob.import_package();
    assert!(first["notesAdded"].as_u64().is_some_and(|notes| notes > 0), "{first}");
    for count in ["notesAdded", "cards", "reviews", "decks", "media"] {
        assert_eq!(first[count], second[count], "{count}: {first} {second}");
    }
    assert_eq!(second["notesUnchanged"], json!(0), "{second}");
    let again = bob.import_package();
    assert_eq!(again["notesAdded"], json!(0), "the GUIDs are equal: {again}");
    let before = bob.ids("search-cards", "card_");
    let deleted = ann.call("delete-cards", json!({"cardIds": ann.ids("search-cards", "card_")}));
    assert_eq!(deleted["isError"], json!(false), "{deleted}");
    assert_eq!(bob.ids("search-cards", "card_"), before);
}

/// An id of another tenant is answered as an unknown one: same code, same words, same shape.
#[test]
fn an_id_of_another_tenant_is_answered_as_an_unknown_id() {
    let world = TwoTenants::separate();
    let (ann, bob) = (&world.actors[0], &world.actors[1]);
    let own_run = "33333333-3333-4333-8333-333333333333";
    ann.fill_run(own_run);
    let card = ann.ids("search-cards", "card_").into_iter().next().unwrap();
    let cases = [
        ("get-card", "cardId", card, "card_1794744000000"),
        ("get-deck", "deckId", ann.deck(), "deck_1794744000000"),
        ("delete-deck", "deckId", ann.deck(), "deck_1794744000000"),
        ("describe_run", "runId", own_run.to_owned(), "44444444-4444-4444-8444-444444444444"),
    ];
    for (tool, argument, known, unknown) in cases {
        let asked = |id: &str| {
            let reply = bob.call(tool, json!({argument: id}));
            without_time(&reply).to_string().replace(id, "ID")
        };
        assert_eq!(asked(&known), asked(unknown), "{tool}");
    }
    let status = |id: &str| {
        let reply = bob.client.get(&format!("/backtest/runs/{id}"));
        (reply.status, reply.text().replace(id, "ID"))
    };
    assert_eq!(status(own_run), status("44444444-4444-4444-8444-444444444444"));
    let seal = bob.client.request("POST", &format!("/backtest/runs/{own_run}/seal"), &[], b"");
    assert_eq!(seal.status, 404, "{}", seal.text());
}

#[test]
fn a_portfolio_of_another_tenant_is_answered_as_an_unknown_one() {
    let world = TwoTenants::separate();
    let (ann, bob) = (&world.actors[0], &world.actors[1]);
    let list = || ann.call("list_portfolios", json!({}))["structuredContent"]["portfolios"].clone();
    let before = list();
    let known = before[0]["portfolio_id"].as_str().unwrap();
    for (tool, more) in [
        ("calculate_report", json!({})),
        ("list_portfolio_transactions", json!({})),
        ("add_transactions", json!({"cgt_content": "2024-01-15 BUY A 1 @ 1"})),
        ("edit_transactions", json!({"edits": [{"id": 1, "remove": true}]})),
        ("undo_portfolio_change", json!({})),
        ("delete_portfolio", json!({})),
    ] {
        let asked = |id: &str| {
            let mut arguments = more.clone();
            arguments["portfolio_id"] = id.into();
            let reply = bob.call(tool, arguments);
            assert_eq!(reply["error"]["data"]["code"], "PORTFOLIO_NOT_FOUND", "{tool}: {reply}");
            reply["error"]["message"].to_string().replace(id, "ID")
        };
        assert_eq!(asked(known), asked("pf_000000000000000000000000"), "{tool}");
    }
    assert_eq!((list(), &before[0]["transactions"]), (before.clone(), &json!(2)));
}

#[test]
fn agents_and_readers_act_within_their_tenant() {
    let world = TwoTenants::separate();
    let ann = &world.actors[0];
    for profile in ["agent", "reader"] {
        let own = world.key(&["--user", "ann", "--profile", profile]);
        let found = own.call("search-cards", json!({"query": ""}));
        assert!(found.to_string().contains(&ann.canary), "{profile}: {found}");
        let other = world.key(&["--user", "bob", "--profile", profile]);
        let found = other.call("search-cards", json!({"query": ""}));
        assert!(!found.to_string().contains(&ann.canary), "{profile}: {found}");
        let refused = other.call("delete-deck", json!({"deckId": ann.deck()}));
        assert_eq!(code(&refused), "FORBIDDEN", "{profile}");
    }
}

#[test]
fn an_operator_sees_metrics_and_all_audit_rows_but_no_data() {
    let world = TwoTenants::separate();
    let operator = world.key(&["--profile", "operator"]);
    let rows = operator.call("get-audit-trail", json!({"limit": 100}));
    let rows = rows["structuredContent"]["data"]["rows"].clone();
    let callers: std::collections::BTreeSet<&str> =
        rows.as_array().unwrap().iter().filter_map(|row| row["caller"].as_str()).collect();
    assert!(callers.len() >= 2, "{callers:?}");
    assert!(!rows.to_string().contains("\"ann\""), "rows name no person: {rows}");
    assert_eq!(operator.client.get("/metrics").status, 200);
    for tool in ["list-decks", "search-cards", "list_backtest_runs", "hybrid_search"] {
        let reply = operator.call(tool, json!({"query": "x"}));
        assert!(reply.to_string().contains("FORBIDDEN"), "{tool}: {reply}");
    }
    for actor in &world.actors {
        assert_eq!(actor.client.get("/metrics").status, 403);
        assert_eq!(code(&actor.call("get-tool-metrics", json!({}))), "FORBIDDEN");
        let own = actor.call("get-audit-trail", json!({"limit": 100}));
        let rows = own["structuredContent"]["data"]["rows"].as_array().unwrap().clone();
        assert!(!rows.is_empty());
        let all_own = rows.iter().all(|row| {
            row["caller"].as_str().is_some_and(|caller| caller.starts_with(&actor.tenant))
        });
        assert!(all_own, "{rows:?}");
    }
}

#[test]
fn an_operator_sees_the_users_and_nobody_else_does() {
    let world = TwoTenants::separate();
    let list = |actor: &Actor| actor.client.get("/users");
    for key in [&["--profile", "operator"][..], &["--profile", "owner"]] {
        let found = list(&world.key(key)).json();
        let users = found["users"].as_array().unwrap();
        let names: Vec<&str> = users.iter().filter_map(|user| user["name"].as_str()).collect();
        assert_eq!(names, ["ann", "bob"], "{found}");
        let tenants = users.iter().map(|user| user["tenant"].as_str().unwrap());
        assert!(tenants.eq(world.actors.iter().map(|actor| actor.tenant.as_str())), "{found}");
    }
    for key in [
        &["--profile", "reader"][..],
        &["--profile", "agent"],
        &["--profile", "owner", "--user", "ann"],
    ] {
        let refused = list(&world.key(key));
        assert_eq!(refused.status, 403, "{key:?}: {}", refused.text());
        assert!(!refused.text().contains("bob"));
    }
    assert_eq!(world.server.client().get("/users").status, 401);
}

/// "No tenant's data unless granted": an operator with a user of its own can receive shares.
#[test]
fn an_operator_reads_what_is_shared_with_it_and_nothing_else() {
    let world = TwoTenants::separate();
    let added = world.place.run(&["users", "add", "ops", "--json"]).json();
    let tenant = added["tenant"].as_str().unwrap().to_owned();
    let key = |profile: &str| Actor {
        tenant: tenant.clone(),
        ..world.key(&["--user", "ops", "--profile", profile])
    };
    let (operator, owner) = (key("operator"), key("owner"));
    let listed = operator.call("list-shares", json!({}));
    assert_eq!(listed["structuredContent"]["data"]["person"], json!(tenant), "{listed}");
    let own_deck = owner.call("create-deck", json!({"name": "zqopszq"}));
    assert_eq!(own_deck["isError"], json!(false), "{own_deck}");
    // A reply to the owner of the same tenant must not be served to the operator from a cache.
    assert!(owner.call("list-decks", json!({})).to_string().contains("zqopszq"));
    for item in shares::items(&world) {
        let read = |(method, params): (&'static str, Value)| {
            operator.client.rpc("/mcp", method, params).to_string()
        };
        let tools = || item.reads().into_iter().filter(|(method, _)| *method == "tools/call");
        for call in tools() {
            let reply = read(call);
            assert!(reply.contains("FORBIDDEN"), "{}: {reply}", item.pack);
        }
        assert_eq!(item.share(&world.actors[0], &operator)["isError"], json!(false));
        for call in tools() {
            let reply = read(call);
            assert!(reply.contains(&item.canary), "{}: {reply}", item.pack);
            assert!(!reply.contains(&world.actors[0].canary), "{reply}");
        }
        for (tool, arguments) in [
            ("list-decks", json!({})),
            ("search-cards", json!({"query": ""})),
            ("list_backtest_runs", json!({})),
        ] {
            let reply = operator.call(tool, arguments).to_string();
            assert!(!reply.contains("zqopszq"), "own data: {reply}");
            assert!(world.actors.iter().all(|actor| !reply.contains(&actor.canary)), "{reply}");
        }
        item.withdraw(&world.actors[0], &operator);
        for call in tools() {
            let reply = read(call);
            assert!(reply.contains("FORBIDDEN"), "{}: {reply}", item.pack);
        }
    }
    let deck = world.actors[0].deck();
    for (tool, arguments) in [
        ("delete-deck", json!({"deckId": deck})),
        ("create-deck", json!({"name": "Mine"})),
        ("export-package", json!({"format": "csv"})),
    ] {
        assert_eq!(code(&operator.call(tool, arguments)), "FORBIDDEN", "{tool}");
    }
}

#[test]
fn members_of_a_workspace_share_runs_and_not_cards() {
    let world = TwoTenants::separate();
    for user in ["ann", "bob"] {
        world.place.run(&["users", "grant", user, "--workspace", "blue"]).good();
    }
    let ann = world.key(&["--user", "ann", "--workspace", "blue", "--profile", "owner"]);
    let bob = world.key(&["--user", "bob", "--workspace", "blue", "--profile", "owner"]);
    let run = "55555555-5555-4555-8555-555555555555";
    let ann = Actor { canary: "zqsharedzq".to_owned(), ..ann };
    ann.fill_run(run);
    let found = bob.call("describe_run", json!({"runId": run}));
    assert!(found.to_string().contains("zqsharedzq"), "{found}");
    let cards = bob.call("search-cards", json!({"query": ""}));
    assert!(!cards.to_string().contains(&world.actors[0].canary));
    assert!(cards.to_string().contains(&world.actors[1].canary));
    world.place.run(&["users", "grant", "bob", "--workspace", "blue", "--withdraw"]).good();
    assert_eq!(bob.client.get(&format!("/backtest/runs/{run}")).status, 401);
}

#[test]
fn grpc_answers_from_the_data_of_the_callers_tenant() {
    let world = TwoTenants::separate();
    let (ann, bob) = (&world.actors[0], &world.actors[1]);
    let job = world.ingest_files(ann, &[("own.txt", "Ginger contains zqgrpczq.\n")]);
    let call = |actor: &Actor, method: &str, text: &str| {
        let headers = [("content-type", "application/grpc"), ("te", "trailers")];
        let path = format!("/ttm.core.v1.{method}");
        let reply = actor.client.request("POST", &path, &headers, &surfaces::frame(text));
        (reply.header("grpc-status").map(str::to_owned), reply.text())
    };
    for (method, text) in [("SearchService/HybridSearch", "zqgrpczq"), ("JobService/GetJob", &job)]
    {
        let (_, own) = call(ann, method, text);
        assert!(
            own.contains("own.txt") || own.contains("contains **zqgrpczq**"),
            "{method}: {own}"
        );
        let (_, others) = call(bob, method, text);
        assert!(
            !others.contains("own.txt") && !others.contains("contains **"),
            "{method}: {others}"
        );
    }
    let unknown = "J-00000000000000000000000000000000";
    assert_eq!(call(bob, "JobService/GetJob", &job), call(bob, "JobService/GetJob", unknown));
}

/// The code of a failed call.
pub(crate) fn code(reply: &Value) -> String {
    let found = ["/structuredContent/error/code", "/_meta/panoply~1error/error/code"];
    let code = found.iter().find_map(|place| reply.pointer(place)?.as_str());
    code.unwrap_or_else(|| panic!("no error: {reply}")).to_owned()
}

/// A reply without what differs between two calls at different times.
fn without_time(reply: &Value) -> Value {
    const VARIES: [&str; 10] = [
        "timestamp",
        "traceId",
        "correlationId",
        "executionTime",
        "generatedAt",
        "in_hash",
        "out_hash",
        "latency_ms",
        "seed",
        "queryTimeMs",
    ];
    match reply {
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| !VARIES.contains(&name.as_str()));
            kept.map(|(name, value)| (name.clone(), without_time(value))).collect()
        }
        Value::Array(items) => items.iter().map(without_time).collect(),
        // The text of a reply is its JSON.
        Value::String(text) if text.starts_with('{') => {
            serde_json::from_str(text).map_or_else(|_| reply.clone(), |json| without_time(&json))
        }
        other => other.clone(),
    }
}
