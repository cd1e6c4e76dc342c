//! Users of tokens: subjects of an issuer with data of their own.

use panoply_testkit::client::{HttpClient, HttpServer};
use serde_json::{Value, json};

use crate::issuer::{ISSUER, issuer, key_set, serve_with, token_with};
use crate::place::Place;

const SCOPE: &str = "cards:read cards:create decks:read decks:create audit:read audit:admin metrics:read backtests:read backtests:import";

fn caller(server: &HttpServer, claims: Value) -> HttpClient {
    let mut claims = claims;
    claims["scope"] = json!(SCOPE);
    let token = token_with("ed", &claims);
    server.client().with_header("authorization", &format!("Bearer {token}"))
}

fn call(client: &HttpClient, tool: &str, arguments: Value) -> Value {
    client.rpc("/mcp", "tools/call", json!({"name": tool, "arguments": arguments}))
}

fn deck_names(client: &HttpClient) -> String {
    call(client, "list-decks", json!({}))["result"]["structuredContent"]["data"].to_string()
}

#[test]
fn subjects_have_separate_data_and_cannot_become_the_local_user() {
    let (url, _) = issuer("200 OK", key_set().to_string());
    let place = Place::new();
    place.run(&["call", "create-deck", r#"{"name": "zqlocalzq"}"#]).good();
    let server =
        serve_with(&place, &["noema", "backtest"], &url, &[("PANOPLY_OAUTH_NEW_USERS", "1")]);
    let tenant = server_tenants(&place);
    assert_eq!(tenant.len(), 0);
    let ann = caller(&server, json!({"sub": "ann@example.com"}));
    call(&ann, "create-deck", json!({"name": "zqannzq"}));
    assert!(deck_names(&ann).contains("zqannzq"), "{}", deck_names(&ann));
    for subject in ["bob@example.com", "user_local", "local", "../local"] {
        let other = caller(&server, json!({"sub": subject}));
        let decks = deck_names(&other);
        assert!(!decks.contains("zqannzq") && !decks.contains("zqlocalzq"), "{subject}: {decks}");
        let trail = call(&other, "get-audit-trail", json!({})).to_string();
        assert!(!trail.contains("create-deck"), "{subject}: {trail}");
    }
    assert_eq!(server_tenants(&place).len(), 5, "one for each subject");
    assert!(!place.home().join("tenants/../local").exists());
}

#[test]
fn a_subject_without_an_account_is_refused_until_the_operator_adds_it() {
    let (url, _) = issuer("200 OK", key_set().to_string());
    let place = Place::new();
    let server = serve_with(&place, &["noema"], &url, &[]);
    let ann = caller(&server, json!({"sub": "ann@example.com"}));
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let refused = ann.post("/mcp", &list);
    assert_eq!(refused.status, 403);
    assert!(refused.text().contains("has no account on this server"), "{}", refused.text());
    let add = ["users", "add", "ann", "--issuer", ISSUER, "--subject", "ann@example.com"];
    place.run(&add).good();
    assert_eq!(ann.post("/mcp", &list).status, 200);
    place.run(&["users", "remove", "ann"]).good();
    assert_eq!(ann.post("/mcp", &list).status, 403);
}

#[test]
fn the_workspace_claim_selects_whose_runs_are_seen() {
    let (url, _) = issuer("200 OK", key_set().to_string());
    let place = Place::new();
    let variables = [("PANOPLY_OAUTH_NEW_USERS", "1"), ("PANOPLY_OAUTH_WORKSPACE_CLAIM", "org")];
    let server = serve_with(&place, &["backtest"], &url, &variables);
    let run = "/backtest/runs/11111111-1111-4111-8111-111111111111";
    let of = |subject: &str, org: Value| caller(&server, json!({"sub": subject, "org": org}));
    let ann = of("ann", json!("blue"));
    assert_eq!(ann.request("PUT", run, &[], b"").status, 201);
    let cases = [
        ("bob", json!("blue"), 200),
        ("bob", json!("red"), 404),
        ("ann", json!("red"), 404),
        ("ann", Value::Null, 404),
        ("ann", json!(["blue"]), 401),
    ];
    for (subject, org, status) in cases {
        assert_eq!(of(subject, org.clone()).get(run).status, status, "{subject} in {org}");
    }
}

/// Two subjects of one issuer over all that both have under the same name and id.
#[test]
fn two_subjects_do_not_see_change_or_replay_each_others_data() {
    let (url, _) = issuer("200 OK", key_set().to_string());
    let place = Place::new();
    let variables = [("PANOPLY_OAUTH_NEW_USERS", "1")];
    let server = serve_with(&place, &["noema", "backtest"], &url, &variables);
    let of = |subject: &str| caller(&server, json!({"sub": subject}));
    let subjects = [("ann@example.com", "zqannzq"), ("bob@example.com", "zqbobzq")];
    let run = "/backtest/runs/11111111-1111-4111-8111-111111111111";
    for (subject, canary) in subjects {
        let client = of(subject);
        // The same idempotency key must not replay the reply to another.
        let arguments = json!({"name": "Same name", "description": canary});
        let meta = json!({"panoply/idempotencyKey": "same-key"});
        let made = json!({"name": "create-deck", "arguments": arguments, "_meta": meta});
        let made = client.rpc("/mcp", "tools/call", made)["result"].clone();
        assert_eq!(made["isError"], json!(false), "{made}");
        let deck = made["structuredContent"]["data"]["deck"]["deckId"].clone();
        let notes = json!([{"front": canary, "back": canary}]);
        let cards = call(&client, "create-cards", json!({"deckId": deck, "notes": notes}));
        assert_eq!(cards["result"]["isError"], json!(false), "{cards}");
        let header = json!({"strategyName": canary}).to_string();
        assert_eq!(client.request("PUT", run, &[], header.as_bytes()).status, 201);
    }
    for (number, (subject, own)) in subjects.into_iter().enumerate() {
        let (client, other) = (of(subject), subjects[1 - number].1);
        for (tool, arguments) in [
            ("search-cards", json!({"query": ""})),
            ("search-cards", json!({"query": other})),
            ("list-decks", json!({})),
            ("list_backtest_runs", json!({})),
            ("get-audit-trail", json!({"limit": 100})),
        ] {
            let reply = call(&client, tool, arguments.clone()).to_string();
            let echo = arguments["query"] == json!(other);
            assert!(echo || !reply.contains(other), "{subject} {tool}: {reply}");
            assert!(!echo || !reply.contains("\"cardId\""), "{subject} {tool}: {reply}");
        }
        let found = call(&client, "search-cards", json!({"query": ""})).to_string();
        assert!(found.contains(own), "{subject}: {found}");
        assert_eq!(client.get(run).json()["header"]["strategyName"], json!(own));
    }
    let people = server_tenants(&place);
    assert_eq!(people.len(), 2);
    let log = place.run(&["audit", "export"]).good();
    assert!(!log.contains("example.com\"") && !log.contains("ann@"), "{log}");
    assert!(people.iter().all(|person| log.contains(person)), "{log}");
}

/// Files of more tenants than `[tenants] open` are not kept open.
#[cfg(target_os = "linux")]
#[test]
fn open_files_are_bounded_however_many_tenants_call() {
    const OPEN: usize = 3;
    let (url, _) = issuer("200 OK", key_set().to_string());
    let place = Place::new();
    place.file("home/config.toml", &format!("[tenants]\nopen = {OPEN}\n"));
    let variables = [("PANOPLY_OAUTH_NEW_USERS", "1")];
    let server = serve_with(&place, &["noema", "backtest"], &url, &variables);
    let use_all_packs = |number: usize| {
        let client = caller(&server, json!({"sub": format!("subject-{number}")}));
        let made = call(&client, "create-deck", json!({"name": format!("zq{number}zq")}));
        assert_eq!(made["result"]["isError"], json!(false), "{made}");
        let run = format!("/backtest/runs/11111111-1111-4111-8111-{number:012}");
        assert_eq!(client.request("PUT", &run, &[], b"").status, 201);
        assert!(deck_names(&client).contains(&format!("zq{number}zq")));
    };
    let database_files = || {
        let folder = format!("/proc/{}/fd", server.id());
        let links = std::fs::read_dir(folder).unwrap().filter_map(|entry| {
            std::fs::read_link(entry.unwrap().path()).ok()?.to_str().map(str::to_owned)
        });
        links.filter(|link| link.contains("/tenants/")).count()
    };
    (0..=OPEN).for_each(use_all_packs);
    let full = database_files();
    assert!(full > 0, "files of tenants are open");
    (OPEN + 1..40).for_each(use_all_packs);
    assert_eq!(server_tenants(&place).len(), 40);
    let after = database_files();
    assert!(after <= full + full / 2, "{after} files open after 40 tenants, {full} after {OPEN}");
    // A tenant whose files were closed is served again.
    use_all_packs_again(&server);
}

#[cfg(target_os = "linux")]
fn use_all_packs_again(server: &HttpServer) {
    let first = caller(server, json!({"sub": "subject-0"}));
    assert!(deck_names(&first).contains("zq0zq"), "{}", deck_names(&first));
}

/// Ids of all tenants.
fn server_tenants(place: &Place) -> Vec<String> {
    let list = place.run(&["users", "list", "--json"]).json();
    let ids = list.as_array().unwrap().iter().filter_map(|one| one["tenant"].as_str());
    ids.map(str::to_owned).collect()
}
