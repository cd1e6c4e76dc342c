//! Replies of the fast path are identical to those of rmcp.

use serde_json::{Value, json};

use crate::support::{http, initialize, request, session};

const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// The same call twice: plain, and with a progress token, which only rmcp handles.
fn with_and_without_rmcp(name: &str, arguments: &Value, meta: &Value) -> [Value; 2] {
    let with = |token: Option<u64>| {
        let mut meta = meta.clone();
        meta["traceparent"] = json!(TRACE);
        if let Some(token) = token {
            meta["progressToken"] = json!(token);
        }
        request(7, "tools/call", json!({"name": name, "arguments": arguments, "_meta": meta}))
    };
    [with(None), with(Some(1))]
}

fn cases() -> Vec<[Value; 2]> {
    let none = json!({});
    vec![
        with_and_without_rmcp("echo-text", &json!({"text": "สวัสดี \u{1f33f}"}), &none),
        with_and_without_rmcp(
            "tool.echo",
            &json!({"text": "hi"}),
            &json!({"openai/locale": "th-TH"}),
        ),
        with_and_without_rmcp("echo-text", &json!({"text": 5, "more": true}), &none),
        with_and_without_rmcp("echo-text", &Value::Null, &none),
        with_and_without_rmcp("echo-texd", &json!({"text": "hi"}), &none),
        with_and_without_rmcp("panic-now", &json!({"text": "hi"}), &none),
        with_and_without_rmcp(
            "keep-note",
            &json!({"text": "hi"}),
            &json!({"panoply/dryRun": true}),
        ),
        with_and_without_rmcp(
            "keep-note",
            &json!({"text": "hi"}),
            &json!({"panoply/idempotencyKey": 5}),
        ),
    ]
}

#[tokio::test]
async fn stdio_replies_are_identical_with_and_without_rmcp() {
    let mut session = session();
    session.ask(&initialize("2025-11-25")).await;
    for [plain, long] in cases() {
        let (plain_reply, long_reply) = (session.ask(&plain).await, session.ask(&long).await);
        assert_eq!(plain_reply, long_reply, "asked: {plain}");
    }
}

#[tokio::test]
async fn http_replies_are_identical_with_and_without_rmcp() {
    let server = http(|_| {}).await;
    for version in [None, Some("2025-06-18"), Some("2025-11-25")] {
        let headers: Vec<_> =
            version.into_iter().map(|version| ("MCP-Protocol-Version", version)).collect();
        for [plain, long] in cases() {
            let plain_reply = server.post("/mcp", &headers, &plain).await;
            let long_reply = server.post("/mcp", &headers, &long).await;
            assert_eq!(plain_reply.json(), long_reply.json(), "asked: {plain}");
            assert_eq!(plain_reply.status, long_reply.status, "asked: {plain}");
            let kind = |reply: &crate::support::Reply| reply.headers["content-type"].clone();
            assert_eq!(kind(&plain_reply), kind(&long_reply), "asked: {plain}");
        }
    }
}

#[tokio::test]
async fn unknown_protocol_version_is_refused_for_calls() {
    let server = http(|_| {}).await;
    let [plain, _] = with_and_without_rmcp("echo-text", &json!({"text": "hi"}), &json!({}));
    let reply = server.post("/mcp", &[("MCP-Protocol-Version", "1999-01-01")], &plain).await;
    assert_eq!(reply.status, 400, "{reply:?}");
}
