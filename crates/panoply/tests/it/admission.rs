//! Admission and resource limits of `panoply http` under attack.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use panoply_contract::clock::Clock as _;
use panoply_store::SystemClock;
use panoply_testkit::client::{HttpClient, HttpServer};
use serde_json::{Value, json};

use crate::place::Place;

struct Stopwatch(SystemClock, Duration);

impl Stopwatch {
    fn start() -> Self {
        let clock = SystemClock::new();
        let now = clock.monotonic();
        Self(clock, now)
    }

    fn elapsed(&self) -> Duration {
        self.0.monotonic().saturating_sub(self.1)
    }
}

fn list() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
}

#[test]
fn allowed_host_without_keys_is_refused() {
    let place = Place::new();
    let said = place.run(&["http", "--listen", "127.0.0.1:0", "--allowed-host", "t.example.com"]);
    assert_eq!(said.status, Some(2), "{said:?}");
    assert!(said.err.contains("refusing to serve `t.example.com` without keys"), "{}", said.err);
}

#[test]
fn first_key_closes_an_open_server_for_good() {
    let place = Place::new();
    let server = place.http(&["cgt"]);
    assert_eq!(server.client().post("/mcp", &list()).status, 200);
    let key = place.run(&["keys", "create", "first"]).good();
    assert_eq!(server.client().post("/mcp", &list()).status, 401);
    let bearer = format!("Bearer {}", key.trim());
    let with_key = server.client().with_header("authorization", &bearer);
    assert_eq!(with_key.post("/mcp", &list()).status, 200);
    drop(server);
    for file in ["keys.db", "keys.db-wal", "keys.db-shm"] {
        let _may_not_exist = fs::remove_file(place.home().join(file));
    }
    let again = place.http(&["cgt"]);
    assert_eq!(again.client().post("/mcp", &list()).status, 401);
    let public = place.run(&["http", "--listen", "0.0.0.0:0"]);
    assert_eq!(public.status, Some(2), "{public:?}");
}

#[test]
fn loopback_allows_only_same_port_origins() {
    let place = Place::new();
    let server = place.http(&["cgt"]);
    let ask = |origin: &str| server.client().with_header("origin", origin).get("/metrics").status;
    assert_eq!(ask(&format!("http://{}", server.address)), 200);
    for origin in ["http://localhost:3000", "http://127.0.0.1:1", "https://localhost"] {
        assert_eq!(ask(origin), 403, "{origin}");
    }
}

#[test]
fn admin_address_needs_no_key() {
    let place = Place::new();
    place.run(&["keys", "create", "some"]).good();
    let server = place.http(&["cgt", "--admin-addr", "127.0.0.1:0"]);
    server.client().get("/healthz");
    let log = server.log();
    let (_, rest) = log.split_once("without a key: http://").unwrap_or_else(|| panic!("{log}"));
    let (address, _) = rest.split_once('/').unwrap();
    let admin = HttpClient::new(address);
    assert_eq!(server.client().get("/metrics").status, 401);
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(admin.get(path).status, 200, "{path}");
    }
    assert_eq!(admin.post("/mcp", &list()).status, 404);
    assert_eq!(admin.with_header("host", "evil.example").get("/metrics").status, 403);
}

#[test]
fn invalid_keys_are_throttled_and_valid_ones_are_not() {
    let place = Place::new();
    let key = place.run(&["keys", "create", "good"]).good();
    let server = place.http(&["cgt"]);
    let bad = server.client().with_header("authorization", "Bearer pnp_0000_wrong");
    let mut statuses = Vec::new();
    for _ in 0..24 {
        statuses.push(bad.post("/mcp", &list()).status);
    }
    assert!(statuses[..20].iter().all(|status| *status == 401), "{statuses:?}");
    assert!(statuses.contains(&429), "{statuses:?}");
    let good = server.client().with_header("authorization", &format!("Bearer {}", key.trim()));
    assert_eq!(good.post("/mcp", &list()).status, 200);
}

#[test]
fn exponential_graphql_query_is_refused_and_audited() {
    let place = Place::new();
    let mut server = place.http(&["ttm"]);
    let client = server.client();
    let spreads: String =
        (0..30).map(|n| format!("fragment F{n} on Query{{...F{0} ...F{0}}} ", n + 1)).collect();
    let query = format!("query{{...F0}} {spreads} fragment F30 on Query{{__typename}}");
    let started = Stopwatch::start();
    let body = json!({"query": query}).to_string();
    let json = [("content-type", "application/json")];
    let refused = client.request("POST", "/graphql", &json, body.as_bytes());
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert!(refused.text().contains("at most 2000 are allowed"), "{}", refused.text());
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    let deep = json!({"query": "{a".repeat(20_000)}).to_string();
    assert_eq!(client.request("POST", "/graphql", &json, deep.as_bytes()).status, 400);
    let good = json!({"query": "{__typename}"}).to_string();
    assert_eq!(client.request("POST", "/graphql", &json, good.as_bytes()).status, 200);
    let text = [("content-type", "text/plain")];
    assert_eq!(client.request("POST", "/graphql", &text, good.as_bytes()).status, 415);
    server.signal("TERM");
    server.wait();
    let log = place.run(&["audit", "show", "--errors"]).good();
    assert!(log.contains("QUERY_TOO_COSTLY"), "{log}");
}

#[test]
fn probes_of_grpc_need_no_key() {
    let place = Place::new();
    place.run(&["keys", "create", "some"]).good();
    let server = place.http(&["ttm"]);
    let grpc = [("content-type", "application/grpc"), ("te", "trailers")];
    let health = "/grpc.health.v1.Health/Check";
    let read = "/ttm.core.v1.KGService/GetHerb";
    assert_eq!(server.client().request("POST", health, &grpc, &[0; 5]).status, 200);
    assert_eq!(server.client().request("POST", read, &grpc, &[0; 5]).status, 401);
}

/// The preface of HTTP/2 and empty settings.
const H2_HELLO: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

fn idle_h2(server: &HttpServer) -> TcpStream {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.write_all(H2_HELLO).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

#[test]
fn idle_http2_connection_gets_goaway() {
    let place = Place::new();
    place.file("home/config.toml", "[http.limits]\nidle_seconds = 1\n");
    let server = place.http(&["cgt"]);
    let mut said = Vec::new();
    idle_h2(&server).read_to_end(&mut said).unwrap();
    // Frames: three bytes of length, the type, flags and stream; GOAWAY has type 7.
    let mut rest = said.as_slice();
    let mut kinds = Vec::new();
    while rest.len() >= 9 {
        let length = usize::from(rest[0]) << 16 | usize::from(rest[1]) << 8 | usize::from(rest[2]);
        kinds.push(rest[3]);
        rest = rest.get(9 + length..).unwrap_or_default();
    }
    assert!(kinds.contains(&7), "frames: {kinds:?}");
}

#[test]
fn new_connection_evicts_an_idle_one() {
    let place = Place::new();
    place.file("home/config.toml", "[http.limits]\nconnections = 32\n");
    let server = place.http(&["cgt"]);
    let idle: Vec<TcpStream> = (0..64).map(|_| idle_h2(&server)).collect();
    for _ in 0..20 {
        let started = Stopwatch::start();
        assert_eq!(server.client().post("/mcp", &list()).status, 200);
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    }
    assert_eq!(idle.len(), 64);
}

#[test]
fn incomplete_body_times_out_on_every_route() {
    let place = Place::new();
    let server = place.http(&[]);
    let run = "/backtest/runs/6f9619ff-8b86-d011-b42d-00c04fc964ff";
    let routes = [
        ("POST", "/mcp", "application/json"),
        ("POST", "/mcp/cgt", "application/json"),
        ("POST", "/graphql", "application/json"),
        ("POST", "/ttm.core.v1.KGService/GetHerb", "application/grpc"),
        ("PUT", run, "application/json"),
    ];
    let started = Stopwatch::start();
    let slow = routes.map(|(method, path, kind)| {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: 99\r\n\r\n{{"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        (path, stream)
    });
    assert_eq!(server.client().post("/mcp", &list()).status, 200);
    for (path, mut stream) in slow {
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        assert!(said.starts_with("HTTP/1.1 408"), "{path}: {said}");
    }
    assert!(started.elapsed() < Duration::from_secs(25), "{:?}", started.elapsed());
}
