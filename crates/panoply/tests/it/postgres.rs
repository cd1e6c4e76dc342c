//! Two servers over one PostgreSQL: the same data, keys and audit log.

use std::time::{Duration, Instant};

use panoply_testkit::client::{HttpClient, HttpServer};
use panoply_testkit::postgres::PostgresServer;
use serde_json::{Value, json};

use crate::place::Place;

/// A home whose settings name the database.
fn home_of(server: &PostgresServer) -> Place {
    let place = Place::new();
    place.file("home/config.toml", &format!("[store]\nurl = '{}'\n", server.app_url()));
    place
}

fn call(client: &HttpClient, tool: &str, arguments: Value) -> Value {
    let reply = client.rpc("/mcp", "tools/call", json!({"name": tool, "arguments": arguments}));
    assert_eq!(reply["result"]["isError"], json!(false), "{tool}: {reply}");
    reply["result"]["structuredContent"]["data"].clone()
}

fn with_key(server: &HttpServer, key: &str) -> HttpClient {
    server.client().with_header("Authorization", &format!("Bearer {}", key.trim()))
}

fn status(server: &HttpServer) -> u16 {
    server.client().get("/readyz").status
}

#[expect(clippy::disallowed_methods, reason = "a test measures the time that really passes")]
fn wait_for(what: &str, check: impl Fn() -> bool) {
    let started = Instant::now();
    while !check() {
        assert!(started.elapsed() < Duration::from_secs(10), "{what} within 10 s");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn two_servers_share_a_database_and_survive_its_crash() {
    let mut database = PostgresServer::start();
    let (one, two) = (home_of(&database), home_of(&database));
    let empty = one.run(&["db", "check"]);
    assert_eq!(empty.status, Some(1), "{empty:?}");
    one.run(&["db", "init", "--admin", &database.admin_url()]).good();
    let again = two.run(&["db", "migrate", "--admin", &database.admin_url()]).good();
    assert!(again.contains("up to date"), "{again}");
    assert!(one.run(&["db", "check"]).good().contains("row-level security is forced"));

    one.run(&["users", "add", "ann"]).good();
    one.run(&["users", "add", "bob"]).good();
    let without_user = one.run(&["keys", "create", "x"]);
    assert!(without_user.err.contains("--user"), "{without_user:?}");
    let ann = two.run(&["keys", "create", "laptop", "--user", "ann"]).good();
    let bob = two.run(&["keys", "create", "laptop", "--user", "bob"]).good();

    let packs = ["rmf", "cgt", "backtest", "noema", "ttm"];
    let servers = [one.http(&packs), two.http(&packs)];
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let anonymous = servers[0].client().post("/mcp", &list);
    assert_eq!(anonymous.status, 401, "nobody is the local owner: {}", anonymous.text());
    let made = call(&with_key(&servers[0], &ann), "create-deck", json!({"name": "Thai"}));
    let decks = |server: &HttpServer, key: &str| {
        let listed = call(&with_key(server, key), "list-decks", json!({}));
        listed["decks"].as_array().unwrap().len()
    };
    assert_eq!((decks(&servers[1], &ann), decks(&servers[1], &bob)), (1, 0));
    let portfolios = |server: &HttpServer, key: &str, tool: &str, arguments: Value| {
        let asked = json!({"name": tool, "arguments": arguments});
        let reply = with_key(server, key).rpc("/mcp", "tools/call", asked);
        reply["result"]["structuredContent"]["portfolios"].as_array().map_or(0, Vec::len)
    };
    portfolios(&servers[0], &ann, "create_portfolio", json!({"name": "Shares"}));
    let portfolios =
        |server: &HttpServer, key: &str| portfolios(server, key, "list_portfolios", json!({}));
    assert_eq!((portfolios(&servers[1], &ann), portfolios(&servers[1], &bob)), (1, 0));
    assert!(!one.home().join("audit.db").exists(), "no file stands in for the database");
    assert!(!one.home().join("keys.db").exists() && !one.home().join("kernel.db").exists());

    database.kill();
    wait_for("a server without its database is not ready", || status(&servers[0]) == 503);
    // A server that starts meanwhile waits for the database too.
    let third = one.http(&packs);
    assert_eq!(status(&third), 503);
    database.restart();
    wait_for("the third is ready", || status(&third) == 200);
    assert_eq!(decks(&third, &ann), 1);
    wait_for("it is ready again", || status(&servers[0]) == 200 && status(&servers[1]) == 200);
    let card = json!({"deckId": made["deck"]["deckId"], "front": "a", "back": "b"});
    call(&with_key(&servers[1], &ann), "create-card", card);
    drop((servers, third));

    let exported = one.path("exported");
    one.run(&["users", "export", "ann", &exported.display().to_string()]).good();
    let written = |name: &str| std::fs::read_to_string(exported.join(name)).unwrap();
    assert!(written("tables/noema/deck.jsonl").contains("Thai"));
    assert!(written("portfolios.jsonl").contains("Shares"));
    assert!(written("audit.jsonl").contains("create-card"));
    assert!(exported.join("cards.apkg").exists());
    one.run(&["users", "erase", "ann", "--yes"]).good();
    let left = "SELECT (SELECT count(*) FROM noema.card) + (SELECT count(*) FROM cgt.portfolio)";
    assert_eq!(database.psql("postgres", "panoply", left).unwrap(), "0");
    let refused = one.run(&["users", "export", "ann", &exported.display().to_string()]);
    assert_eq!(refused.status, Some(1), "{refused:?}");

    let shown = one.run(&["audit", "show", "--tool", "create-card"]).good();
    assert!(shown.contains("create-card"), "{shown}");
    let verified = two.run(&["audit", "verify"]).good();
    assert!(verified.contains("intact"), "{verified}");
    let noted = verified.lines().last().unwrap();
    assert!(two.run(&["audit", "verify", "--noted", noted]).good().contains("intact"));
}

#[test]
fn home_moves_into_a_database_and_a_difference_ends_with_status_1() {
    let database = PostgresServer::start();
    let (files, server) = (Place::new(), home_of(&database));
    server.run(&["db", "init", "--admin", &database.admin_url()]).good();
    files.run(&["call", "create-deck", r#"{"name": "Thai"}"#]).good();
    let home = format!("sqlite:{}", files.home().display());
    let url = database.app_url();
    let there = ["migrate", "--from", &home, "--to", &url, "--user", "ann"];
    let copied = files.run(&there).good();
    assert!(copied.contains("copied") && copied.contains("Both sides are the same"), "{copied}");
    let again = files.run(&there).good();
    assert!(again.contains("unchanged") && !again.contains("copied"), "{again}");
    let key = server.run(&["keys", "create", "laptop", "--user", "ann"]).good();
    let running = server.http(&["noema"]);
    let decks = call(&with_key(&running, &key), "list-decks", json!({}));
    assert_eq!(decks["decks"][0]["name"], json!("Thai"));
    call(&with_key(&running, &key), "create-deck", json!({"name": "Added later"}));
    drop(running);
    let differs = files.run(&there);
    assert_eq!(differs.status, Some(1), "{differs:?}");
    assert!(differs.out.contains("The sides differ: noema"), "{differs:?}");
    let back = Place::new();
    let to = format!("sqlite:{}", back.home().display());
    back.run(&["migrate", "--from", &url, "--to", &to, "--user", "ann"]).good();
    let listed = back.run(&["call", "list-decks"]).good();
    assert!(listed.contains("Added later"), "{listed}");
    let wrong = files.run(&["migrate", "--from", &home, "--to", &to, "--user", "ann"]);
    assert_eq!(wrong.status, Some(2), "{wrong:?}");
}

#[test]
fn what_the_database_does_not_have_is_refused_by_name() {
    // Refused before a connection is opened.
    let place = Place::new();
    place.file("home/config.toml", "[store]\nurl = 'postgres://a@127.0.0.1:1/b'\n");
    let refused: [&[&str]; 5] = [
        &["stdio"],
        &["backup", "x"],
        &["call", "list-decks"],
        &["backtest", "list"],
        &["audit", "seal"],
    ];
    for arguments in refused {
        let said = place.run(arguments);
        assert_eq!(said.status, Some(2), "{arguments:?}: {said:?}");
        assert!(said.err.contains("PANOPLY_STORE"), "{arguments:?}: {said:?}");
    }
    let other = Place::new();
    other.file("home/config.toml", "[store]\nurl = 'mysql://a@b/c'\n");
    let said = other.run(&["keys", "list"]);
    assert!(said.err.contains("postgres://"), "{said:?}");
}
