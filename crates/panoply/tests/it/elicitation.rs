//! Approval of drafts by elicitation, end to end: over stdio, over HTTP with an event stream, and
//! in the round trips of 2026-07-28.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use panoply_testkit::client::{HttpClient, HttpServer, StdioClient};
use serde_json::{Value, json};

use crate::place::Place;

const TOOL: &str = "approve-drafts";

/// Creates a draft in a new deck; returns the id of its card.
fn draft(place: &Place) -> String {
    let made = place.run(&["call", "create-deck", "--arg", "name=Thai", "--json"]).json();
    let deck = made["data"]["deck"]["deckId"].as_str().or(made["data"]["deckId"].as_str()).unwrap();
    let input = json!({"deckId": deck, "front": "capital of Thailand?", "back": "Bangkok"});
    let made = place.run(&["call", "create-card", &input.to_string(), "--json"]).json();
    made["data"]["note"]["cardIds"][0].as_str().unwrap().to_owned()
}

fn state(place: &Place, card: &str) -> Value {
    let card = place.run(&["call", "get-card", "--arg", &format!("cardId={card}"), "--json"]);
    card.json()["data"]["schedule"]["state"].clone()
}

fn agent_key(place: &Place) -> String {
    place.run(&["keys", "create", "agent", "--profile", "agent"]).good().trim().to_owned()
}

fn initialize(capabilities: &Value) -> Value {
    let client = json!({"name": "tester", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
}

fn call(id: u64, card: &str) -> Value {
    let params =
        json!({"name": TOOL, "arguments": {"cardIds": [card]}, "_meta": {"progressToken": 1}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

fn code(reply: &Value) -> &str {
    let error = &reply["result"]["_meta"]["panoply/error"]["error"];
    error["code"].as_str().unwrap_or_else(|| panic!("{reply}"))
}

fn shaken(place: &Place, capabilities: &Value) -> StdioClient {
    let mut client = place.stdio(&["noema", "--profile", "agent"]);
    client.send(&initialize(capabilities));
    assert_eq!(client.next()["result"]["protocolVersion"], "2025-11-25");
    client.notify("notifications/initialized", json!({}));
    client
}

#[test]
fn stdio_elicitation_requires_the_users_consent() {
    let place = Place::new();
    let card = draft(&place);
    let mut client = shaken(&place, &json!({"elicitation": {}}));
    for (action, expected) in [("decline", "APPROVAL_DECLINED"), ("cancel", "APPROVAL_CANCELLED")] {
        client.send(&call(1, &card));
        let asked = client.next();
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        let message = asked["params"]["message"].as_str().unwrap();
        assert!(message.contains("“capital of Thailand?”"), "{message}");
        client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": action}}));
        assert_eq!(code(&client.next()), expected);
        assert_eq!(state(&place, &card), "draft");
    }
    // Other calls are answered while the question is pending.
    client.send(&call(2, &card));
    let asked = client.next();
    let search = json!({"name": "search-tools", "arguments": {"query": "approve drafts"}});
    client.send(&json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": search}));
    let found = client.next();
    assert_eq!(found["id"], 3);
    assert!(found["result"].to_string().contains(TOOL), "the agent finds the tool: {found}");
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept"}}));
    let approved = client.next();
    assert_eq!(approved["result"]["structuredContent"]["data"]["changed"], 1, "{approved}");
    assert_eq!(state(&place, &card), "new");
    client.end();
    let log = place.run(&["audit", "show"]).good();
    assert!(log.contains("elicitation/create"), "{log}");
}

#[test]
fn client_without_elicitation_gets_a_refusal_with_alternatives() {
    let place = Place::new();
    let card = draft(&place);
    let mut client = shaken(&place, &json!({}));
    client.send(&call(1, &card));
    let refused = client.next();
    assert_eq!(code(&refused), "FORBIDDEN");
    assert!(refused.to_string().contains("panoply call approve-drafts"), "{refused}");
}

#[test]
fn elicitation_can_be_turned_off() {
    let place = Place::new();
    let card = draft(&place);
    std::fs::write(place.home().join("config.toml"), "[elicitation]\nseconds = 0\n").unwrap();
    let mut client = shaken(&place, &json!({"elicitation": {}}));
    client.send(&call(1, &card));
    assert_eq!(code(&client.next()), "FORBIDDEN");
}

/// A call whose reply is a stream of events.
struct EventStream(BufReader<TcpStream>);

impl EventStream {
    fn open(server: &HttpServer, headers: &[(&str, &str)], body: &Value) -> Self {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let body = body.to_string();
        let mut head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: {}\r\nconnection: close\r\n",
            server.address,
            body.len()
        );
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
        Self(BufReader::new(stream))
    }

    fn next(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended");
            if let Some(data) = line.strip_prefix("data: ") {
                return serde_json::from_str(data).unwrap();
            }
        }
    }

    fn rest(mut self) -> String {
        let mut rest = String::new();
        self.0.read_to_string(&mut rest).unwrap();
        rest
    }
}

/// A client with a session id that announces elicitation.
fn agent(server: &HttpServer, key: &str) -> (HttpClient, String) {
    let client = server.client().with_header("authorization", &format!("Bearer {key}"));
    let hello = client.post("/mcp", &initialize(&json!({"elicitation": {}})));
    let session = hello.header("mcp-session-id").unwrap_or_else(|| panic!("{hello:?}")).to_owned();
    let client = client
        .with_header("mcp-session-id", &session)
        .with_header("mcp-protocol-version", "2025-11-25");
    (client, session)
}

#[test]
fn http_elicitation_is_an_event_and_only_the_asked_caller_can_answer() {
    let place = Place::new();
    let card = draft(&place);
    let (key, other_key) = (agent_key(&place), agent_key(&place));
    let server = place.http(&["noema"]);
    let (client, session) = agent(&server, &key);
    let plain = server.client().with_header("authorization", &format!("Bearer {key}"));
    assert_eq!(plain.post("/mcp", &initialize(&json!({}))).header("mcp-session-id"), None);
    assert_eq!(code(&plain.post("/mcp", &call(1, &card)).json()), "FORBIDDEN");
    let authorization = format!("Bearer {key}");
    let headers = [
        ("authorization", authorization.as_str()),
        ("mcp-session-id", session.as_str()),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    for (action, expected) in [("decline", "APPROVAL_DECLINED"), ("accept", "")] {
        let mut events = EventStream::open(&server, &headers, &call(2, &card));
        let asked = events.next();
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        let answer = |id: &Value| json!({"jsonrpc": "2.0", "id": id, "result": {"action": action}});
        let (other, _) = agent(&server, &other_key);
        assert_eq!(other.post("/mcp", &answer(&asked["id"])).status, 400);
        assert_eq!(client.post("/mcp", &answer(&json!("elicit-0"))).status, 400);
        assert_eq!(state(&place, &card), "draft");
        assert_eq!(client.post("/mcp/noema", &answer(&asked["id"])).status, 202);
        let reply = events.next();
        assert_eq!(reply["id"], 2);
        match expected {
            "" => assert_eq!(reply["result"]["structuredContent"]["data"]["changed"], 1, "{reply}"),
            code_expected => assert_eq!(code(&reply), code_expected),
        }
        assert!(!events.rest().contains("data:"));
        assert_eq!(client.post("/mcp", &answer(&asked["id"])).status, 400);
    }
    assert_eq!(state(&place, &card), "new");
}

#[test]
fn round_trip_elicitation_of_2026_07_28_uses_a_second_call() {
    let place = Place::new();
    let card = draft(&place);
    let key = agent_key(&place);
    let server = place.http(&["noema"]);
    let client = server
        .client()
        .with_header("authorization", &format!("Bearer {key}"))
        .with_header("mcp-protocol-version", "2026-07-28")
        .with_header("mcp-method", "tools/call")
        .with_header("mcp-name", TOOL);
    let round = |capabilities: Value, more: Value| {
        let mut params = json!({
            "name": TOOL,
            "arguments": {"cardIds": [card]},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": capabilities,
                "panoply/idempotencyKey": "one",
            },
        });
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        client.post("/mcp", &body).json()
    };
    let forms = || json!({"elicitation": {"form": {}}});
    assert_eq!(code(&round(json!({}), json!({}))), "FORBIDDEN");
    let asked = round(forms(), json!({}));
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let state_of = asked["result"]["requestState"].clone();
    let answer = |action: &str, state: &Value| {
        let responses = json!({"consent": {"action": action}});
        round(forms(), json!({"inputResponses": responses, "requestState": state}))
    };
    assert_eq!(code(&answer("accept", &json!("9999999999.00"))), "APPROVAL_STALE");
    assert_eq!(code(&answer("decline", &state_of)), "APPROVAL_DECLINED");
    assert_eq!(state(&place, &card), "draft");
    let approved = answer("accept", &state_of);
    assert_eq!(approved["result"]["structuredContent"]["data"]["changed"], 1, "{approved}");
    assert_eq!(state(&place, &card), "new");
    // The same idempotency key is replayed without a question.
    let again = round(forms(), json!({}));
    assert_eq!(again["result"]["structuredContent"]["data"]["changed"], 1, "{again}");
}
