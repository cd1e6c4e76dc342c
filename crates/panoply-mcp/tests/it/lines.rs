//! stdio sessions: all protocol versions, every kind of request, and shutdown.

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::support::{call, initialize, modern, request, session};

#[tokio::test]
async fn every_protocol_version_is_agreed_to() {
    let cases = [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        // 2026-07-28 has no handshake; a client that tries one gets the newest version with it.
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ];
    for (asked, agreed) in cases {
        let mut session = session();
        let reply = session.ask(&initialize(asked)).await;
        assert_eq!(reply["result"]["protocolVersion"], agreed, "asked: {asked}");
        assert_eq!(reply["result"]["serverInfo"]["name"], "fixture", "asked: {asked}");
        let instructions = reply["result"]["instructions"].as_str().unwrap();
        assert!(instructions.contains("echo-text") && instructions.len() <= 2048, "{instructions}");
    }
}

#[tokio::test]
async fn client_of_2026_07_28_needs_no_handshake() {
    let mut session = session();
    let found = session.ask(&modern(1, "server/discover", json!({}))).await;
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    let listed = session.ask(&modern(2, "tools/list", json!({}))).await;
    assert_eq!(listed["result"]["resultType"], "complete");
    assert_eq!(listed["result"]["cacheScope"], "private");
    let params = json!({"name": "echo-text", "arguments": {"text": "hi"}});
    let reply = session.ask(&modern(3, "tools/call", params)).await;
    assert_eq!(reply["result"]["structuredContent"]["agentId"], "tester", "{reply}");
}

#[tokio::test]
async fn listed_tool_has_schemas_annotations_and_meta() {
    let mut session = session();
    session.ask(&initialize("2025-11-25")).await;
    let reply = session.ask(&request(1, "tools/list", json!({}))).await;
    let tools = reply["result"]["tools"].as_array().unwrap();
    let echo = tools.iter().find(|tool| tool["name"] == "echo-text").unwrap();
    assert_eq!(echo["title"], "Echo");
    assert_eq!(echo["inputSchema"]["type"], "object");
    assert_eq!(echo["outputSchema"]["type"], "object");
    assert_eq!(echo["annotations"]["readOnlyHint"], true);
    assert_eq!(echo["annotations"]["openWorldHint"], false);
    assert_eq!(echo["_meta"]["panoply/pack"], "fixture");
    let note = tools.iter().find(|tool| tool["name"] == "keep-note").unwrap();
    assert_eq!(note["annotations"]["readOnlyHint"], false);
    assert_eq!(reply["result"].get("nextCursor"), None);
    let again = session.ask(&request(2, "tools/list", json!({}))).await;
    assert_eq!(reply["result"], again["result"]);
}

#[tokio::test]
async fn a_call_answers_in_text_structure_and_attachments() {
    let mut session = session();
    session.ask(&initialize("2025-11-25")).await;
    let reply = session.ask(&call(1, "echo-text", json!({"text": "hi"}))).await;
    let result = &reply["result"];
    assert_eq!(result["isError"], false);
    assert_eq!(result["content"][0]["text"], "You said: hi");
    let repeated = result["content"][1]["text"].as_str().unwrap();
    let repeated: serde_json::Value = serde_json::from_str(repeated).unwrap();
    assert_eq!(repeated, result["structuredContent"]);
    assert_eq!(
        result["content"][2],
        json!({"type": "image", "data": "AQID", "mimeType": "image/png"})
    );
    assert_eq!(result["structuredContent"]["text"], "hi");
    assert_eq!(result["structuredContent"]["userId"], "user_local");
    assert_eq!(result["structuredContent"]["agentId"], "tester");
    assert!(result["_meta"]["panoply/audit"]["in_hash"].is_string(), "{result}");
    let by_alias = session.ask(&call(2, "tool.echo", json!({"text": "hi"}))).await;
    assert_eq!(by_alias["result"]["structuredContent"]["text"], "hi");
}

#[tokio::test]
async fn request_meta_reaches_the_call_except_identity() {
    let mut session = session();
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let meta = json!({
        "traceparent": format!("00-{trace}-00f067aa0ba902b7-01"),
        "openai/locale": "th-TH",
        "panoply/dryRun": true,
        "panoply/correlationId": "11111111-2222-4333-8444-555555555555",
        "userId": "user_somebody_else",
        "openai/userId": "user_somebody_else",
    });
    let params = json!({"name": "keep-note", "arguments": {"text": "x"}, "_meta": meta});
    let reply = session.ask(&request(1, "tools/call", params)).await;
    let data = &reply["result"]["structuredContent"];
    assert_eq!((&data["lang"], &data["userId"]), (&json!("th"), &json!("user_local")), "{reply}");
    let metadata = &reply["result"]["_meta"]["panoply/metadata"];
    assert_eq!(metadata["traceId"], "4bf92f35-77b3-4da6-a3ce-929d0e0e4736");
    assert_eq!(metadata["correlationId"], "11111111-2222-4333-8444-555555555555");
    assert_eq!(metadata["dryRun"], true);
}

#[tokio::test]
async fn idempotency_key_is_used_or_refused() {
    let mut session = session();
    let keyed = |id: u64, key: Value| {
        let meta = json!({"panoply/idempotencyKey": key});
        request(
            id,
            "tools/call",
            json!({"name": "keep-note", "arguments": {"text": "x"}, "_meta": meta}),
        )
    };
    session.ask(&keyed(1, json!("k-1"))).await;
    let repeated = session.ask(&keyed(2, json!("k-1"))).await;
    assert_eq!(repeated["result"]["_meta"]["panoply/metadata"]["replayed"], true, "{repeated}");
    for (id, bad) in [(3, json!(5)), (4, json!("")), (5, json!("x".repeat(300)))] {
        let refused = session.ask(&keyed(id, bad.clone())).await;
        assert_eq!(refused["error"]["code"], -32602, "key: {bad}");
    }
}

#[tokio::test]
async fn failures_are_answered_and_the_next_call_works() {
    let mut session = session();
    let unknown = session.ask(&call(1, "echo-txet", json!({}))).await;
    assert_eq!(unknown["error"]["code"], -32602);
    assert_eq!(unknown["error"]["data"]["nearest"][0], "echo-text", "{unknown}");
    let panicked = session.ask(&call(2, "panic-now", json!({"text": "x"}))).await;
    assert_eq!(panicked["result"]["isError"], true, "{panicked}");
    assert!(!panicked.to_string().contains("as asked"), "{panicked}");
    let invalid = session.ask(&call(3, "echo-text", json!({"txt": 5}))).await;
    assert_eq!(invalid["result"]["isError"], true, "{invalid}");
    assert_eq!(invalid["result"].get("structuredContent"), None);
    assert!(invalid["result"]["_meta"]["panoply/error"].is_object());
    let good = session.ask(&call(4, "echo-text", json!({"text": "on"}))).await;
    assert_eq!(good["result"]["structuredContent"]["text"], "on");
}

#[tokio::test]
async fn progress_comes_before_the_reply_and_only_when_asked_for() {
    let mut session = session();
    let meta = json!({"progressToken": "p1"});
    let params = json!({"name": "count-up", "arguments": {"text": "x"}, "_meta": meta});
    session.send(&request(1, "tools/call", params)).await;
    let mut steps = Vec::new();
    let reply = loop {
        let message = session.receive().await;
        if message["method"] != "notifications/progress" {
            break message;
        }
        assert_eq!(message["params"]["progressToken"], "p1");
        steps.push(message["params"]["progress"].as_f64().unwrap());
    };
    assert_eq!(reply["id"], 1);
    assert_eq!(steps, [1.0, 2.0, 3.0]);
    let silent = session.ask(&call(2, "count-up", json!({"text": "x"}))).await;
    assert_eq!(silent["id"], 2);
}

#[tokio::test]
async fn a_cancelled_call_gets_no_reply_and_stops() {
    let mut session = session();
    session.send(&call(1, "wait-long", json!({"text": "never"}))).await;
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})).await;
    let next = session.ask(&call(2, "echo-text", json!({"text": "x"}))).await;
    assert_eq!(next["id"], 2);
    // A call that still runs would delay the end by five seconds and log a warning.
    session.input.take().unwrap().shutdown().await.unwrap();
    session.ended().await;
}

#[tokio::test]
async fn log_messages_are_sent_after_set_level() {
    let mut session = session();
    assert_eq!(
        session.ask(&request(1, "logging/setLevel", json!({"level": "info"}))).await["result"],
        json!({})
    );
    session.send(&call(2, "echo-text", json!({"text": "x"}))).await;
    let message = session.receive().await;
    assert_eq!(message["method"], "notifications/message");
    assert_eq!(message["params"]["data"]["tool"], "echo-text");
    assert_eq!(session.receive().await["id"], 2);
    let bad = session.ask(&request(3, "logging/setLevel", json!({"level": "loud"}))).await;
    assert_eq!(bad["error"]["code"], -32602);
}

#[tokio::test]
async fn methods_that_2026_retired_do_not_exist_there() {
    let mut session = session();
    let cases = [
        ("ping", json!({})),
        ("initialize", json!({})),
        ("logging/setLevel", json!({"level": "info"})),
        ("logging/setLevel", json!({})),
        ("resources/subscribe", json!({"uri": "fixture://note"})),
        ("resources/unsubscribe", json!({})),
    ];
    for (number, (method, params)) in (1..).zip(cases) {
        let reply = session.ask(&modern(number, method, params.clone())).await;
        assert_eq!(reply["error"]["code"], -32601, "{method} {params}: {reply}");
    }
}

#[tokio::test]
async fn resources_are_listed_and_read() {
    let mut session = session();
    let listed = session.ask(&request(1, "resources/list", json!({}))).await;
    assert_eq!(listed["result"]["resources"][0]["uri"], "fixture://note");
    let templates = session.ask(&request(2, "resources/templates/list", json!({}))).await;
    assert_eq!(templates["result"]["resourceTemplates"][1]["uriTemplate"], "fixture://blob/{name}");
    let text = session.ask(&request(3, "resources/read", json!({"uri": "fixture://note"}))).await;
    assert_eq!(text["result"]["contents"][0]["text"], "# Hi\n");
    let blob =
        session.ask(&request(4, "resources/read", json!({"uri": "fixture://blob/ab"}))).await;
    assert_eq!(blob["result"]["contents"][0]["blob"], "YWI=");
    let missing = session.ask(&request(5, "resources/read", json!({"uri": "fixture://no"}))).await;
    assert_eq!(missing["error"]["code"], -32002);
    let modern = session.ask(&modern(6, "resources/read", json!({"uri": "fixture://no"}))).await;
    assert_eq!(modern["error"]["code"], -32602);
    let watched =
        session.ask(&request(7, "resources/subscribe", json!({"uri": "fixture://note"}))).await;
    assert_eq!(watched["result"], json!({}));
    let unwatched =
        session.ask(&request(8, "resources/unsubscribe", json!({"uri": "fixture://note"}))).await;
    assert_eq!(unwatched["result"], json!({}));
}

#[tokio::test]
async fn every_declared_widget_resource_is_readable() {
    let mut session = session();
    let tools = session.ask(&request(1, "tools/list", json!({}))).await;
    let tools = tools["result"]["tools"].as_array().unwrap();
    let counting = tools.iter().find(|tool| tool["name"] == "count-up").unwrap();
    let uri = &counting["_meta"]["ui"]["resourceUri"];
    assert_eq!(uri, &counting["_meta"]["openai/outputTemplate"]);
    let listed = session.ask(&request(2, "resources/list", json!({}))).await;
    let listed = listed["result"]["resources"].as_array().unwrap();
    assert!(listed.iter().any(|resource| &resource["uri"] == uri), "{listed:?}");
    let page = session.ask(&request(3, "resources/read", json!({"uri": uri}))).await;
    let page = &page["result"]["contents"][0];
    assert_eq!(page["mimeType"], "text/html;profile=mcp-app");
    assert!(page["text"].as_str().unwrap().starts_with("<!doctype html>"));
    assert_eq!(page["_meta"]["ui"]["csp"]["connectDomains"], json!([]));
    assert_eq!(page["_meta"]["openai/widgetCSP"]["connect_domains"], json!([]));
    let reply = session.ask(&call(5, "count-up", json!({"text": "1"}))).await;
    assert_eq!(&reply["result"]["_meta"]["ui"]["resourceUri"], uri, "{reply}");
    assert_eq!(&reply["result"]["_meta"]["openai/outputTemplate"], uri);
    let other = json!({"uri": "ui://fixture/none-v1.html"});
    assert_eq!(session.ask(&request(4, "resources/read", other)).await["error"]["code"], -32002);
}

#[tokio::test]
async fn prompts_are_listed_and_filled() {
    let mut session = session();
    let listed = session.ask(&request(1, "prompts/list", json!({}))).await;
    assert_eq!(
        listed["result"]["prompts"][0]["arguments"][0],
        json!({"name": "who", "description": "Whom.", "required": true})
    );
    let filled = session
        .ask(&request(2, "prompts/get", json!({"name": "greet", "arguments": {"who": "Ann"}})))
        .await;
    assert_eq!(filled["result"]["messages"][0]["content"]["text"], "Greet Ann warmly.");
    let missing = session.ask(&request(3, "prompts/get", json!({"name": "greet"}))).await;
    assert_eq!(missing["error"]["code"], -32602);
    assert!(missing["error"]["message"].as_str().unwrap().contains("`who`"), "{missing}");
    let unknown = session.ask(&request(4, "prompts/get", json!({"name": "great"}))).await;
    assert!(
        unknown["error"]["message"].as_str().unwrap().contains("did you mean `greet`"),
        "{unknown}"
    );
}

#[tokio::test]
async fn completions_are_capped_at_a_hundred() {
    let mut session = session();
    let params = json!({"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "who", "value": "A"}});
    let reply = session.ask(&request(1, "completion/complete", params)).await;
    let completion = &reply["result"]["completion"];
    assert_eq!(completion["values"].as_array().unwrap().len(), 100);
    assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(150), &json!(true)));
    let params = json!({"ref": {"type": "ref/resource", "uri": "x"}, "argument": {"name": "y", "value": ""}});
    let none = session.ask(&request(2, "completion/complete", params)).await;
    assert_eq!(none["result"]["completion"]["values"], json!([]));
}

#[tokio::test]
async fn a_call_in_flight_is_answered_when_the_input_ends() {
    let mut session = session();
    session.send(&call(1, "wait-long", json!({"text": "300"}))).await;
    session.input.take().unwrap().shutdown().await.unwrap();
    assert_eq!(session.receive().await["result"]["structuredContent"]["text"], "300");
    session.ended().await;
}

#[tokio::test]
async fn stop_does_not_wait_for_long_calls() {
    let mut session = session();
    session.send(&call(1, "wait-long", json!({"text": "never"}))).await;
    session.ask(&call(2, "echo-text", json!({"text": "x"}))).await;
    session.stop.cancel();
    session.ended().await;
}

#[tokio::test]
async fn session_without_requests_ends_cleanly() {
    let mut session = session();
    session.input.take().unwrap().shutdown().await.unwrap();
    session.ended().await;
}
