//! `panoply http` for clients, browsers and operators.

use panoply_testkit::client::HttpServer;
use serde_json::{Value, json};

use crate::place::Place;

#[test]
fn startup_message_has_urls_and_client_configuration() {
    let place = Place::new();
    let server = place.http(&[]);
    let url = format!("http://{}/mcp", server.address);
    // The address comes first; the rest of the text follows in the same write.
    let client = server.client();
    client.get("/healthz");
    let log = server.log();
    let start = log.find("{\n").unwrap();
    let end = log.find("\n}\n").unwrap();
    let configuration: Value = serde_json::from_str(&log[start..end + 2]).unwrap();
    assert_eq!(configuration["mcpServers"]["panoply"], json!({"type": "http", "url": url}));
}

#[test]
fn handshake_and_stateless_clients_share_one_endpoint() {
    let place = Place::new();
    let server = place.http(&["cgt"]);
    let client = server.client();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let welcome = client.rpc(
            "/mcp",
            "initialize",
            json!({
                "protocolVersion": version,
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }),
        );
        assert_eq!(welcome["result"]["protocolVersion"], version, "{welcome}");
    }
    let called = client.rpc(
        "/mcp",
        "tools/call",
        json!({"name": "search-tools", "arguments": {"query": "x"}}),
    );
    assert_eq!(called["result"]["isError"], json!(false), "{called}");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    let modern = client
        .clone()
        .with_header("mcp-protocol-version", "2026-07-28")
        .with_header("mcp-method", "tools/list");
    let listed = modern.rpc("/mcp", "tools/list", json!({"_meta": meta}));
    assert!(listed["result"]["tools"].is_array(), "{listed}");
    let of_pack = client.rpc("/mcp/cgt", "tools/list", json!({}));
    assert!(of_pack["result"]["tools"].is_array(), "{of_pack}");
    assert_eq!(client.post("/mcp/nonsense", &json!({})).status, 404);
}

#[test]
fn invalid_request_bodies_are_answered() {
    let place = Place::new();
    let server = place.http(&[]);
    let client = server.client();
    let headers =
        [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    for (body, code) in [(&b"{"[..], -32700), (b"\xff", -32700), (b"7", -32600)] {
        let reply = client.request("POST", "/mcp", &headers, body);
        assert_eq!(reply.status, 400, "{}", reply.text());
        assert_eq!(reply.json()["error"]["code"], json!(code), "body: {body:?}");
    }
    assert_eq!(client.get("/nowhere").status, 404);
}

#[test]
fn operators_see_health_readiness_and_metrics() {
    let place = Place::new();
    let server = place.http(&[]);
    let client = server.client();
    assert_eq!(client.get("/healthz").json()["status"], "ok");
    assert_eq!(client.get("/readyz").json()["status"], "ready");
    client.rpc("/mcp", "tools/call", json!({"name": "search-tools", "arguments": {"query": "x"}}));
    let metrics = client.get("/metrics").text();
    let counted = metrics.lines().any(|line| line.contains("search-tools") && line.ends_with(" 1"));
    assert!(counted, "{metrics}");
}

#[test]
fn foreign_hosts_and_origins_are_refused_unless_allowed() {
    let place = Place::new();
    let key = place.run(&["keys", "create", "proxy"]).good();
    let server = place.http(&[
        "--allowed-host",
        "tools.example.com",
        "--allowed-origin",
        "https://app.example.com",
    ]);
    let client = server.client().with_header("authorization", &format!("Bearer {}", key.trim()));
    let status = |headers: &[(&str, &str)]| client.request("GET", "/metrics", headers, b"").status;
    assert_eq!(status(&[("host", "evil.example")]), 403);
    assert_eq!(status(&[("host", "tools.example.com")]), 200);
    assert_eq!(status(&[("origin", "https://evil.example")]), 403);
    assert_eq!(status(&[("origin", "https://app.example.com")]), 200);
}

#[test]
fn a_public_address_without_keys_is_refused() {
    let place = Place::new();
    let said = place.run(&["http", "--listen", "0.0.0.0:0"]);
    assert_eq!(said.status, Some(2), "{said:?}");
    assert!(said.err.contains("refusing to listen on `0.0.0.0:0` without keys"), "{}", said.err);
    assert!(said.err.contains("panoply keys create"), "{}", said.err);
}

#[test]
fn key_admits_on_a_public_address_until_revoked() {
    let place = Place::new();
    let key = place.run(&["keys", "create", "ci", "--profile", "reader"]).good();
    let start = ["http", "--listen", "0.0.0.0:0", "--allowed-host", "127.0.0.1"];
    let server = HttpServer::spawn(&mut place.panoply(&start));
    let address = server.address.replace("0.0.0.0", "127.0.0.1");
    let client = panoply_testkit::client::HttpClient::new(&address);
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let without = client.post("/mcp", &list);
    assert_eq!(without.status, 401);
    assert!(without.header("www-authenticate").is_some());
    assert_eq!(client.get("/metrics").status, 401);
    assert_eq!(client.get("/healthz").status, 200);
    let with = client.clone().with_header("authorization", &format!("Bearer {}", key.trim()));
    assert_eq!(with.post("/mcp", &list).status, 200);
    let id = key.split('_').nth(1).unwrap();
    place.run(&["keys", "revoke", id]).good();
    assert_eq!(with.post("/mcp", &list).status, 401);
}

#[test]
fn server_stays_closed_when_the_last_key_is_gone() {
    let place = Place::new();
    let key = place.run(&["keys", "create", "only"]).good();
    place.run(&["keys", "revoke", key.split('_').nth(1).unwrap()]).good();
    let refused = place.run(&["http", "--listen", "0.0.0.0:0"]);
    assert_eq!(refused.status, Some(2), "{refused:?}");
    let local = place.http(&[]);
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    assert_eq!(local.client().post("/mcp", &list).status, 401);
}

#[test]
fn challenge_names_the_token_issuer() {
    let place = Place::new();
    place.file(
        "home/config.toml",
        "[oauth]\nissuer = 'https://login.example.com'\nresource = 'https://tools.example.com/mcp'\njwks_url = 'https://login.example.com/keys'\n",
    );
    let server = place.http(&[]);
    let client = server.client();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let reply = client.post("/mcp", &list);
    assert_eq!(reply.status, 401);
    assert!(reply.header("www-authenticate").unwrap().contains("resource_metadata"));
    let metadata = client.get("/.well-known/oauth-protected-resource/mcp").json();
    assert_eq!(metadata["authorization_servers"], json!(["https://login.example.com"]));
}

#[test]
fn occupied_address_is_reported() {
    let place = Place::new();
    let server = place.http(&[]);
    let said = place.run(&["http", "--listen", &server.address]);
    assert_eq!(said.status, Some(1), "{said:?}");
    assert!(said.err.contains("cannot listen on"), "{}", said.err);
}

#[cfg(unix)]
#[test]
fn signals_end_the_server_with_status_0() {
    for signal in ["TERM", "INT", "HUP"] {
        let place = Place::new();
        let mut server = place.http(&[]);
        assert_eq!(server.client().get("/healthz").status, 200);
        server.signal(signal);
        assert_eq!(server.wait().status.code(), Some(0), "signal: {signal}");
    }
}
