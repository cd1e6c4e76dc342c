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

/// Ids of all tenants.
fn server_tenants(place: &Place) -> Vec<String> {
    let list = place.run(&["users", "list", "--json"]).json();
    let ids = list.as_array().unwrap().iter().filter_map(|one| one["tenant"].as_str());
    ids.map(str::to_owned).collect()
}
