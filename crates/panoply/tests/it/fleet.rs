//! Three servers share the rate limits of a Redis, which is killed, frozen and started again.

use std::time::{Duration, Instant};

use panoply_testkit::client::{HttpClient, HttpServer};
use panoply_testkit::redis::RedisServer;
use serde_json::{Value, json};

use crate::place::Place;

/// A tool with a limit of 30 calls a minute.
const TOOL: &str = "export-package";
const LIMIT: u64 = 30;

fn replicas(place: &Place, cache: &RedisServer) -> [HttpServer; 3] {
    ["a", "b", "c"].map(|name| {
        let mut command = place.panoply(&["http", "noema", "--listen", "127.0.0.1:0"]);
        command.env("PANOPLY_CACHE", cache.url()).env("PANOPLY_REPLICA", name);
        HttpServer::spawn(command.env("PANOPLY_REPLICA_COUNT", "3"))
    })
}

/// Whether a call passes the limit. What comes after the limit refuses it, so nothing is exported.
fn passes(client: &HttpClient) -> bool {
    let reply = client.rpc("/mcp", "tools/call", json!({"name": TOOL, "arguments": {"x": 1}}));
    let text = reply.to_string();
    let limited = text.contains("RATE_LIMITED");
    assert!(limited || text.contains("VALIDATION") || text.contains("INVALID"), "{text}");
    !limited
}

/// Number of calls that pass when the servers are asked in turn.
fn passed(servers: &[HttpServer; 3], calls: usize) -> u64 {
    let clients: Vec<HttpClient> = servers.iter().map(HttpServer::client).collect();
    let passed = clients.iter().cycle().take(calls).filter(|client| passes(client)).count();
    u64::try_from(passed).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "a test measures the time that really passes")]
fn now() -> Instant {
    Instant::now()
}

/// Checks a count against the limit; a call is refilled every two seconds.
fn assert_near_limit(what: &str, passed: u64, more: u64, started: Instant) {
    let refilled = started.elapsed().as_secs() / 2 + 1;
    let range = LIMIT - 1..=LIMIT + more + refilled;
    assert!(range.contains(&passed), "{what}: {passed} calls passed in {:?}", started.elapsed());
}

fn ready(server: &HttpServer) -> (u16, Value) {
    let reply = server.client().get("/readyz");
    (reply.status, reply.json())
}

fn wait_for(what: &str, check: impl Fn() -> bool) {
    let started = now();
    while !check() {
        assert!(started.elapsed() < Duration::from_secs(10), "{what} within 10 s");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn three_servers_let_one_limit_pass() {
    let (place, cache) = (Place::new(), RedisServer::start());
    let servers = replicas(&place, &cache);
    let started = now();
    assert_near_limit("with the cache", passed(&servers, 60), 0, started);
    let metrics = servers[1].client().get("/metrics").text();
    assert!(metrics.contains("panoply_replica_info{replica=\"b\"} 1"), "{metrics}");
    assert!(metrics.contains("panoply_limit_checks_total{by=\"cache\"} "), "{metrics}");
    assert!(!metrics.contains("panoply_limit_checks_total{by=\"cache\"} 0"), "{metrics}");
    wait_for("it is ready", || ready(&servers[0]) == (200, json!({"status": "ready"})));
}

#[test]
fn three_servers_without_the_cache_let_one_limit_and_two_pass() {
    let (place, cache) = (Place::new(), RedisServer::stopped());
    let servers = replicas(&place, &cache);
    let (status, answer) = ready(&servers[0]);
    assert_eq!((status, &answer["status"]), (200, &json!("degraded")), "{answer}");
    assert_eq!(answer["problems"][0]["name"], json!("cache"), "{answer}");
    let started = now();
    assert_near_limit("without the cache", passed(&servers, 60), 2, started);
}

#[test]
fn cache_killed_under_three_servers_leaves_the_limit() {
    let (place, mut cache) = (Place::new(), RedisServer::start());
    let servers = replicas(&place, &cache);
    let started = now();
    let before = passed(&servers, 15);
    assert_eq!(before, 15);
    cache.kill();
    assert_near_limit("killed in the middle", before + passed(&servers, 60), 2, started);
    wait_for("it says so", || ready(&servers[2]).1["problems"][0]["name"] == json!("cache"));
    assert_eq!(ready(&servers[2]).0, 200, "it still serves");
    cache.restart();
    wait_for("it is ready again", || ready(&servers[2]) == (200, json!({"status": "ready"})));
}

#[test]
fn cache_that_is_no_url_is_refused_at_the_start() {
    let place = Place::new();
    place.file("home/config.toml", "[cache]\nurl = 'memcached://h'\n");
    let said = place.run(&["http", "--listen", "127.0.0.1:0"]);
    assert_eq!(said.status, Some(2), "{said:?}");
    assert!(said.err.contains("redis://host:6379/0"), "{said:?}");
}
