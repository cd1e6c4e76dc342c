//! Streamable HTTP for clients, browsers, operators and attackers.

use std::time::Duration;

use axum::Extension;
use axum::routing::get;
use panoply_contract::context::Caller;
use panoply_mcp::transport::http::HttpError;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Http, REPLY_TIMEOUT, call, http, initialize, modern, request, try_http};

#[tokio::test]
async fn handshake_and_stateless_versions_share_one_endpoint() {
    let server = http(|_| {}).await;
    let begun = server.post("/mcp", &[], &initialize("2025-06-18")).await;
    assert_eq!(begun.status, 200);
    assert_eq!(begun.headers["content-type"], "application/json");
    assert_eq!(begun.headers.get("mcp-session-id"), None);
    assert_eq!(begun.json()["result"]["protocolVersion"], "2025-06-18");
    let legacy = [("MCP-Protocol-Version", "2025-06-18")];
    let reply = server.post("/mcp", &legacy, &call(1, "echo-text", json!({"text": "old"}))).await;
    assert_eq!(reply.json()["result"]["structuredContent"]["text"], "old");
    let params = json!({"name": "echo-text", "arguments": {"text": "new"}});
    let headers = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "echo-text"),
    ];
    let reply = server.post("/mcp", &headers, &modern(2, "tools/call", params)).await;
    assert_eq!(reply.json()["result"]["structuredContent"]["text"], "new", "{reply:?}");
    assert_eq!(reply.json()["result"]["structuredContent"]["agentId"], "tester");
}

#[tokio::test]
async fn console_is_public_with_a_strict_content_security_policy() {
    let server = http(|_| {}).await;
    let files = [
        ("/console", "text/html"),
        ("/console.js", "text/javascript"),
        ("/console.css", "text/css"),
    ];
    for (path, kind) in files {
        let file = server.get(path).await;
        assert_eq!(file.status, 200, "{path}");
        assert!(file.headers["content-type"].starts_with(kind), "{path}: {:?}", file.headers);
        let policy = &file.headers["content-security-policy"];
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{path}: {policy}");
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{path}: {policy}");
        assert_eq!(file.headers["x-content-type-options"], "nosniff");
    }
    let start = server.get("/console").await.body;
    assert!(!start.contains("<style") && !start.contains("<script>"), "{start}");
    let page = server.get("/console/pages/rmf-fund-list-v1.html").await;
    let policy = &page.headers["content-security-policy"];
    assert!(policy.starts_with("sandbox allow-scripts; default-src 'none';"), "{policy}");
    for missing in ["nothing-v1.html", "rmf-fund-list.html", "..%2Fplain.html"] {
        let reply = server.get(&format!("/console/pages/{missing}")).await;
        assert_eq!(reply.status, 404, "{missing}");
    }
}

#[tokio::test]
async fn apps_are_public_with_a_strict_content_security_policy() {
    let server = http(|_| {}).await;
    let documents =
        ["/", "/rmf", "/cgt", "/study", "/runs", "/herbs"].map(|path| (path, "text/html"));
    let scripts = ["app", "app-funds", "app-herbs", "app-math", "app-runs", "app-study", "app-tax"];
    let scripts = scripts.map(|name| (format!("/app/{name}.js"), "text/javascript"));
    let files =
        documents.map(|(path, kind)| (path.to_owned(), kind)).into_iter().chain(scripts).chain([
            ("/app/app.css".to_owned(), "text/css"),
            ("/app/icon.svg".to_owned(), "image/svg+xml"),
            ("/sw.js".to_owned(), "text/javascript"),
            ("/manifest.webmanifest".to_owned(), "application/manifest+json"),
        ]);
    for (path, kind) in files {
        let file = server.get(&path).await;
        assert_eq!(file.status, 200, "{path}");
        assert!(file.headers["content-type"].starts_with(kind), "{path}: {:?}", file.headers);
        let policy = &file.headers["content-security-policy"];
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{path}: {policy}");
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{path}: {policy}");
        assert_eq!(file.headers["x-content-type-options"], "nosniff", "{path}");
        let inline = file.body.contains("<style") || file.body.contains("<script>");
        assert!(kind != "text/html" || !inline, "{path}: {}", file.body);
    }
    for missing in ["/app/none.js", "/app/console.js", "/app/..%2Fapp.js", "/rmf/x"] {
        assert_eq!(server.get(missing).await.status, 404, "{missing}");
    }
}

#[tokio::test]
async fn each_pack_has_its_own_endpoint() {
    let server = http(|_| {}).await;
    let names = |reply: Value| -> Vec<String> {
        let tools = reply["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let list = request(1, "tools/list", json!({}));
    let all = names(server.post("/mcp", &[], &list).await.json());
    let fixture = names(server.post("/mcp/fixture", &[], &list).await.json());
    let other = names(server.post("/mcp/other", &[], &list).await.json());
    assert!(all.contains(&"echo-text".to_owned()) && fixture.contains(&"echo-text".to_owned()));
    assert!(!other.contains(&"echo-text".to_owned()), "{other:?}");
    let refused = server.post("/mcp/other", &[], &call(2, "echo-text", json!({"text": "x"}))).await;
    assert_eq!(refused.json()["error"]["code"], -32602);
    let unknown = server.post("/mcp/nope", &[], &list).await;
    assert_eq!(unknown.status, 404);
    assert!(unknown.body.contains("fixture"), "{unknown:?}");
}

#[tokio::test]
async fn invalid_bodies_get_json_rpc_errors() {
    let server = http(|options| options.limits.body = 10_000).await;
    let deep = format!("{}{}", "[".repeat(4000), "]".repeat(4000));
    let long = format!("\"{}\"", "x".repeat(20_000));
    let cases: [(&str, &[u8], u16, i64); 11] = [
        ("truncated", b"{", 400, -32700),
        ("empty", b"", 400, -32700),
        ("invalid UTF-8", b"\xff", 400, -32700),
        ("1e999", br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"n":1e999}}"#, 400, -32700),
        ("too deep", deep.as_bytes(), 400, -32700),
        ("batch", br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, 400, -32600),
        ("id null", br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, 400, -32600),
        ("no version", br#"{"id":5,"method":"ping"}"#, 400, -32600),
        ("too long", long.as_bytes(), 413, -32600),
        ("unknown method", br#"{"jsonrpc":"2.0","id":5,"method":"nope"}"#, 200, -32601),
        (
            "bad params",
            br#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{}}"#,
            200,
            -32602,
        ),
    ];
    let headers =
        [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    for (name, body, status, code) in cases {
        let reply = server.send("POST", "/mcp", &headers, body).await;
        assert_eq!(reply.status, status, "body: {name}: {reply:?}");
        assert_eq!(reply.json()["error"]["code"], code, "body: {name}: {reply:?}");
        if body.starts_with(b"{\"id\":5") {
            assert_eq!(reply.json()["id"], 5, "body: {name}");
        }
    }
}

/// serde_json cannot represent these, but the caller must still get a reply.
#[tokio::test]
async fn unrepresentable_body_is_answered_with_its_id() {
    let server = http(|_| {}).await;
    let headers =
        [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let long = "9".repeat(400);
    let odd = [r#""\ud83d""#, "1e999", "-1e999", deep.as_str(), long.as_str()];
    for (number, odd) in odd.iter().enumerate() {
        for id in [json!(number), json!(format!("q-{number}"))] {
            let body = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo-text","arguments":{{"text":{odd}}}}}}}"#
            );
            let reply = server.send("POST", "/mcp", &headers, body.as_bytes()).await;
            assert_eq!(reply.status, 400, "{body}: {reply:?}");
            let answered = reply.json();
            assert_eq!(
                (&answered["id"], &answered["error"]["code"]),
                (&id, &json!(-32700)),
                "{body}"
            );
        }
    }
}

#[tokio::test]
async fn accept_header_wildcards_are_honoured() {
    let server = http(|_| {}).await;
    let ping = request(1, "ping", json!({}));
    for accept in ["*/*", "application/json", "application/json;q=0.9, */*;q=0.1", "application/*"]
    {
        assert_eq!(
            server.post("/mcp", &[("Accept", accept)], &ping).await.status,
            200,
            "accept: {accept}"
        );
    }
    assert_eq!(server.post("/mcp", &[("Accept", "text/html")], &ping).await.status, 406);
    let headers = [("Content-Type", "text/plain"), ("Accept", "*/*")];
    assert_eq!(
        server.send("POST", "/mcp", &headers, ping.to_string().as_bytes()).await.status,
        415
    );
    let headers = [("Content-Type", "Application/JSON; charset=utf-8")];
    assert_eq!(
        server.send("POST", "/mcp", &headers, ping.to_string().as_bytes()).await.status,
        200
    );
    assert_eq!(server.get("/mcp").await.status, 405);
    assert_eq!(server.send("DELETE", "/mcp", &[], b"").await.status, 405);
}

#[tokio::test]
async fn progress_turns_the_reply_into_a_stream() {
    let server = http(|_| {}).await;
    let params =
        json!({"name": "count-up", "arguments": {"text": "x"}, "_meta": {"progressToken": 9}});
    let reply = server.post("/mcp", &[], &request(1, "tools/call", params)).await;
    assert_eq!(reply.headers["content-type"], "text/event-stream");
    let events = reply.events();
    let methods: Vec<&Value> = events.iter().map(|event| &event["method"]).collect();
    assert_eq!(
        methods,
        [
            &json!("notifications/progress"),
            &json!("notifications/progress"),
            &json!("notifications/progress"),
            &Value::Null
        ]
    );
    assert_eq!(events[3]["id"], 1);
}

#[tokio::test]
async fn traceparent_becomes_the_trace_id_of_the_call() {
    let server = http(|_| {}).await;
    let header = [("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")];
    let reply = server.post("/mcp", &header, &call(1, "echo-text", json!({"text": "x"}))).await;
    assert_eq!(
        reply.json()["result"]["_meta"]["panoply/metadata"]["traceId"],
        "4bf92f35-77b3-4da6-a3ce-929d0e0e4736"
    );
}

#[tokio::test]
async fn foreign_hosts_and_origins_are_refused_on_every_route() {
    let server =
        http(|options| options.allowed_origins = vec!["https://app.example.com".to_owned()]).await;
    let ping = request(1, "ping", json!({}));
    let cases = [
        (vec![("Host", "localhost")], 200),
        (vec![("Host", "127.0.0.1:9")], 200),
        (vec![("Host", "evil.example")], 403),
        (vec![("Host", "localhost.evil.example")], 403),
        (vec![("Host", "localhost"), ("Origin", "http://localhost:5173")], 403),
        (vec![("Host", "localhost"), ("Origin", "https://app.example.com")], 200),
        (vec![("Host", "localhost"), ("Origin", "https://evil.example")], 403),
        (vec![("Host", "localhost"), ("Origin", "null")], 403),
        (
            vec![
                ("Host", "localhost"),
                ("Origin", "http://localhost"),
                ("Origin", "https://evil.example"),
            ],
            403,
        ),
    ];
    for (headers, status) in cases {
        let reply = server.post("/mcp", &headers, &ping).await;
        assert_eq!(reply.status, status, "headers: {headers:?}: {reply:?}");
    }
    let twice = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assert!([400, 403].contains(&server.send_raw(twice).await.status));
    let absolute =
        b"GET http://evil.example/metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_eq!(server.send_raw(absolute).await.status, 403);
    assert_eq!(server.send("GET", "/metrics", &[("Host", "evil.example")], b"").await.status, 403);
    assert_eq!(server.send("GET", "/healthz", &[("Host", "10.1.2.3")], b"").await.status, 200);
}

#[tokio::test]
async fn cors_preflight_is_answered_for_allowed_origins() {
    let page = "http://localhost:3000";
    let server = http(|options| options.allowed_origins = vec![page.to_owned()]).await;
    let ask = |origin: &'static str| {
        [
            ("Origin", origin),
            ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers", "authorization, mcp-param-fund"),
        ]
    };
    let allowed = server.send("OPTIONS", "/mcp", &ask(page), b"").await;
    assert_eq!(allowed.status, 204);
    assert_eq!(allowed.headers["access-control-allow-origin"], page);
    assert_eq!(allowed.headers["access-control-allow-headers"], "authorization, mcp-param-fund");
    assert_eq!(allowed.headers["vary"], "Origin");
    let refused = server.send("OPTIONS", "/mcp", &ask("https://evil.example"), b"").await;
    assert_eq!(refused.status, 403);
    assert_eq!(refused.headers.get("access-control-allow-origin"), None);
    let plain = server.get("/healthz").await;
    assert_eq!(plain.headers.get("access-control-allow-origin"), None);
}

#[tokio::test]
async fn operators_see_health_readiness_and_metrics() {
    use panoply_mcp::transport::http::{Readiness, ReadinessProblem};
    let problem = |name: &str, blocking| ReadinessProblem {
        name: name.to_owned(),
        code: "DISK_FULL".to_owned(),
        reason: "no disk".to_owned(),
        blocking,
    };
    let degraded = Readiness { problems: vec![problem("noema", false)] };
    let server =
        http(move |options| options.ready = std::sync::Arc::new(move || degraded.clone())).await;
    let ready = server.get("/readyz").await;
    assert_eq!((ready.status, &ready.json()["status"]), (200, &json!("degraded")));
    let broken = Readiness { problems: vec![problem("noema", false), problem("home", true)] };
    let server =
        http(move |options| options.ready = std::sync::Arc::new(move || broken.clone())).await;
    assert_eq!(server.get("/healthz").await.json()["status"], "ok");
    let ready = server.get("/readyz").await;
    assert_eq!((ready.status, &ready.json()["reason"]), (503, &json!("no disk")));
    assert_eq!(
        ready.json()["problems"][1],
        json!({"name": "home", "code": "DISK_FULL", "reason": "no disk"})
    );
    server.post("/mcp", &[], &call(1, "echo-text", json!({"text": "x"}))).await;
    server.post("/mcp", &[], &call(1, "echo-text", json!({"txt": "x"}))).await;
    let page = server.get("/metrics").await;
    assert!(page.headers["content-type"].starts_with("text/plain; version=0.0.4"));
    let wanted = [
        "panoply_tool_calls_total{pack=\"fixture\",tool=\"echo-text\"} 2",
        "panoply_tool_errors_total{pack=\"fixture\",tool=\"echo-text\",class=\"validation\"} 1",
        "panoply_tool_duration_seconds_count{pack=\"fixture\",tool=\"echo-text\"} 2",
    ];
    for line in wanted {
        assert!(page.body.contains(line), "{line} in {}", page.body);
    }
    let nowhere = server.get("/nowhere").await;
    assert_eq!(nowhere.status, 404);
    assert!(nowhere.body.contains("/mcp"), "{nowhere:?}");
}

#[tokio::test]
async fn public_and_authenticated_routes_can_be_added() {
    let server = http(|options| {
        options.public = axum::Router::new().route("/hello", get(async || "hello"));
        let whoami = async |Extension(caller): Extension<Caller>| caller.partition;
        options.protected = axum::Router::new().route("/whoami", get(whoami));
    })
    .await;
    assert_eq!(server.get("/hello").await.body, "hello");
    assert_eq!(server.get("/whoami").await.body, "local");
}

#[tokio::test]
async fn unauthenticated_server_binds_only_to_loopback() {
    for address in ["0.0.0.0:0", "[::]:0"] {
        let outcome = try_http(|options| options.listen = address.parse().unwrap()).await;
        let error = outcome.err().unwrap();
        assert!(matches!(error, HttpError::Unprotected(_)) && error.is_usage(), "{error}");
        assert!(error.to_string().contains("127.0.0.1"), "{error}");
    }
    let outcome = try_http(|options| options.allowed_hosts = vec!["http://x".to_owned()]).await;
    assert!(outcome.err().unwrap().is_usage());
    let taken = http(|_| {}).await;
    let outcome = try_http(|options| options.listen = taken.address).await;
    assert!(!outcome.err().unwrap().is_usage());
}

/// Reads until the server closes.
async fn read_until_closed(mut stream: TcpStream) -> String {
    let mut said = Vec::new();
    // A reset counts as a close.
    let _reset = tokio::time::timeout(REPLY_TIMEOUT, stream.read_to_end(&mut said))
        .await
        .expect("closed in time");
    String::from_utf8_lossy(&said).into_owned()
}

#[tokio::test]
async fn slow_clients_are_dropped_without_affecting_others() {
    let server = http(|options| {
        options.limits.header_time = Duration::from_secs(1);
        options.limits.body_time = Duration::from_secs(1);
    })
    .await;
    let mut slow = Vec::new();
    for opening in [
        "",
        "P",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\n",
        "PRI * HTTP/2.0\r\n\r\n",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
    ] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(opening.as_bytes()).await.unwrap();
        slow.push((opening, stream));
    }
    assert_eq!(server.post("/mcp", &[], &request(1, "ping", json!({}))).await.status, 200);
    for (opening, stream) in slow {
        let said = read_until_closed(stream).await;
        assert!(!said.contains(" 200 "), "opening: {opening:?}: {said}");
    }
}

#[tokio::test]
async fn header_count_and_size_are_limited() {
    let server = http(|_| {}).await;
    let many: String = (0..200).map(|number| format!("X-{number}: y\r\n")).collect();
    let reply = server
        .send_raw(format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\n{many}\r\n").as_bytes())
        .await;
    assert_eq!(reply.status, 431);
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let long =
        format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "y".repeat(1 << 20));
    // The server may close before the whole request is written.
    let _closed = stream.write_all(long.as_bytes()).await;
    assert!(!read_until_closed(stream).await.contains(" 200 "));
}

#[tokio::test]
async fn requests_over_the_concurrency_cap_get_retry_after() {
    let server = http(|options| options.limits.requests = 1).await;
    let mut busy = TcpStream::connect(server.address).await.unwrap();
    let body = call(1, "wait-long", json!({"text": "never"})).to_string();
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\n";
    busy.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())
        .await
        .unwrap();
    let ping = request(2, "ping", json!({}));
    let refused = loop {
        let reply = server.post("/mcp", &[], &ping).await;
        if reply.status != 200 {
            break reply;
        }
    };
    assert_eq!((refused.status, refused.headers["retry-after"].as_str()), (503, "1"));
    // A disconnect cancels the call and releases its permit.
    drop(busy);
    tokio::time::timeout(REPLY_TIMEOUT, async {
        while server.post("/mcp", &[], &ping).await.status != 200 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await
    .expect("room again");
}

#[tokio::test]
async fn in_flight_reply_is_sent_before_shutdown() {
    let server = http(|options| options.limits.requests = 1).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let body = call(1, "wait-long", json!({"text": "1000"})).to_string();
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\n";
    stream
        .write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())
        .await
        .unwrap();
    let mut idle = TcpStream::connect(server.address).await.unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    idle.read_u8().await.unwrap();
    // The cap is one request, so a refusal shows that the call is running.
    while server.post("/mcp", &[], &request(2, "ping", json!({}))).await.status == 200 {}
    let Http { address, stop, served } = server;
    stop.cancel();
    let said = read_until_closed(stream).await;
    assert!(said.contains("You said: 1000"), "{said}");
    tokio::time::timeout(REPLY_TIMEOUT, served).await.expect("an end in time").unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}
