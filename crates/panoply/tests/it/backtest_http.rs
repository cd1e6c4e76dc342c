//! `/backtest/runs`: event streams, with disconnects, duplicates and crashes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use panoply_testkit::client::{HttpClient, HttpReply, HttpServer};
use serde_json::{Value, json};

use crate::place::Place;

const RUN: &str = "11111111-1111-4111-8111-111111111111";

fn event(run: &str, number: u64) -> String {
    format!(
        r#"{{"eventId":"00000000-0000-4000-8000-{number:012x}","runId":"{run}","timestamp":"2025-01-01T00:00:00.000Z","eventType":"RiskEvent","severity":"Info","category":"Risk","properties":{{"RiskType":"x"}},"parentEventId":null,"validationErrors":null}}"#
    ) + "\n"
}

fn events(range: std::ops::Range<u64>) -> String {
    range.map(|number| event(RUN, number)).collect()
}

/// Sends the first events of a run and gives the lines of the reply.
fn post(client: &HttpClient, run: &str, body: &str) -> (HttpReply, Vec<Value>) {
    send(client, &format!("/backtest/runs/{run}/events"), body)
}

/// Sends events whose first line is the `sequence`th of the producer.
fn resume(client: &HttpClient, sequence: u64, body: &str) -> (HttpReply, Vec<Value>) {
    send(client, &format!("/backtest/runs/{RUN}/events?sequence={sequence}"), body)
}

fn send(client: &HttpClient, path: &str, body: &str) -> (HttpReply, Vec<Value>) {
    let reply =
        client.request("POST", path, &[("content-type", "application/x-ndjson")], body.as_bytes());
    let lines = reply.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (reply, lines)
}

fn put(client: &HttpClient, run: &str, header: &str) -> HttpReply {
    client.request("PUT", &format!("/backtest/runs/{run}"), &[], header.as_bytes())
}

fn seal(client: &HttpClient, run: &str) -> HttpReply {
    client.request("POST", &format!("/backtest/runs/{run}/seal"), &[], b"")
}

/// Asks a tool of the server.
fn total(client: &HttpClient) -> Value {
    let arguments = json!({"runId": RUN, "eventType": "RiskEvent", "pageSize": 1});
    let reply = client.rpc(
        "/mcp",
        "tools/call",
        json!({"name": "get_events_by_type", "arguments": arguments}),
    );
    let result = &reply["result"];
    match result["structuredContent"]["metadata"]["totalCount"].as_u64() {
        Some(total) => total.into(),
        None => result["_meta"]["panoply/error"]["error"].clone(),
    }
}

#[test]
fn run_is_created_filled_sealed_and_queried_over_http() {
    let place = Place::new();
    let server = place.http(&["backtest"]);
    let client = server.client();
    let early = post(&client, RUN, &events(0..1)).0;
    assert_eq!((early.status, &early.json()["error"]["code"]), (404, &json!("RUN_NOT_FOUND")));
    let made =
        put(&client, RUN, r#"{"strategyName": "Streamed", "startTime": "2025-01-01T00:00:00Z"}"#);
    assert_eq!(made.status, 201, "{}", made.text());
    assert_eq!(put(&client, RUN, "").status, 200, "it is there already");
    let (reply, lines) = post(
        &client,
        RUN,
        &(events(0..2500) + "nonsense\n" + &event("22222222-2222-4222-8222-222222222222", 1)),
    );
    assert_eq!(reply.status, 200);
    assert_eq!(lines[0], json!({"acknowledgedEvents": 1000, "lastSequence": 1000}), "{lines:?}");
    let last = lines.last().unwrap();
    assert_eq!(last["acknowledgedEvents"], 2500);
    assert_eq!((&last["rejected"], &last["complete"]), (&json!(2), &json!(true)));
    assert_eq!(last["rejectedLines"][0], json!({"line": 2501, "reason": "not a JSON object"}));
    assert_eq!(last["rejectedLines"][1]["line"], 2502);
    let looked = client.get(&format!("/backtest/runs/{RUN}")).json();
    assert_eq!(
        (&looked["status"], &looked["acknowledgedEvents"], &looked["lastSequence"]),
        (&json!("running"), &json!(2500), &json!(2502))
    );
    assert_eq!(total(&client)["details"]["status"], "running");
    let sealed = seal(&client, RUN).json();
    assert_eq!(
        (&sealed["report"]["events"], &sealed["report"]["rejected"]),
        (&json!(2500), &json!(2))
    );
    assert_eq!(seal(&client, RUN).json(), sealed, "asked again, it says the same");
    assert_eq!(total(&client), json!(2500));
    let late = post(&client, RUN, &events(0..1)).0;
    assert_eq!((late.status, &late.json()["error"]["code"]), (409, &json!("RUN_COMPLETED")));
    // Mutations are in the audit log.
    let shown = place.run(&["audit", "show", "--limit", "20"]).good();
    for what in ["backtest/runs PUT", "backtest/runs events", "backtest/runs seal"] {
        assert!(shown.contains(what), "{shown}");
    }
}

#[test]
fn invalid_requests_are_refused_with_the_reason() {
    let place = Place::new();
    let server = place.http(&["backtest"]);
    let client = server.client();
    let cases = [
        (put(&client, "nonsense", ""), 400, "INVALID_PARAMETER", "`nonsense` is not a GUID"),
        (put(&client, RUN, "{"), 400, "INVALID_PARAMETER", "line 1 column 1"),
        (
            put(&client, RUN, r#"{"runId": "22222222-2222-4222-8222-222222222222"}"#),
            400,
            "INVALID_PARAMETER",
            "but the address says",
        ),
        (put(&client, RUN, r#"{"startTime": 7}"#), 400, "INVALID_PARAMETER", "expected a string"),
        (seal(&client, RUN), 404, "RUN_NOT_FOUND", "there is no run"),
        (client.get(&format!("/backtest/runs/{RUN}")), 404, "RUN_NOT_FOUND", "there is no run"),
    ];
    for (reply, status, code, said) in cases {
        let error = reply.json()["error"].clone();
        assert_eq!((reply.status, &error["code"]), (status, &json!(code)), "{error}");
        assert!(error["message"].as_str().unwrap().contains(said), "{error}");
    }
    assert_eq!(put(&client, RUN, "").status, 201);
    let path = format!("/backtest/runs/{RUN}/events");
    let packed = client.request("POST", &path, &[("content-encoding", "gzip")], b"\x1f\x8b");
    assert_eq!(packed.status, 415, "{}", packed.text());
    assert_eq!(client.request("DELETE", &path, &[], b"").status, 405);
}

#[test]
fn run_writes_need_permission_and_a_writable_server() {
    let place = Place::new();
    let reader = place.run(&["keys", "create", "r", "--profile", "reader"]).good();
    let agent = place.run(&["keys", "create", "a", "--profile", "agent"]).good();
    let server = place.http(&["backtest"]);
    let client = server.client();
    let with =
        |key: &str| client.clone().with_header("authorization", &format!("Bearer {}", key.trim()));
    assert_eq!(put(&client, RUN, "").status, 401, "without a key");
    let refused = put(&with(&reader), RUN, "");
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (403, &json!("FORBIDDEN")));
    assert_eq!(put(&with(&agent), RUN, "").status, 201);
    assert_eq!(with(&reader).get(&format!("/backtest/runs/{RUN}")).status, 200);
    drop(server);
    let closed = place.http(&["backtest", "--read-only"]);
    let refused = put(
        &closed.client().with_header("authorization", &format!("Bearer {}", agent.trim())),
        RUN,
        "",
    );
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (403, &json!("READ_ONLY")));
    drop(closed);
    let other = place.http(&["cgt"]);
    let nowhere = put(
        &other.client().with_header("authorization", &format!("Bearer {}", agent.trim())),
        RUN,
        "",
    );
    assert_eq!(nowhere.status, 404, "the pack is not served");
}

/// A stream whose body is still being sent.
struct Stream(BufReader<TcpStream>);

impl Stream {
    fn open(server: &HttpServer) -> Self {
        let stream = TcpStream::connect(&server.address).unwrap();
        let mut own = Self(BufReader::new(stream));
        let head = format!(
            "POST /backtest/runs/{RUN}/events HTTP/1.1\r\nhost: {}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n",
            server.address
        );
        own.0.get_mut().write_all(head.as_bytes()).unwrap();
        own
    }

    fn send(&mut self, text: &str) {
        let chunk = format!("{:x}\r\n{text}\r\n", text.len());
        self.0.get_mut().write_all(chunk.as_bytes()).unwrap();
    }

    /// Reads until this number of events is acknowledged.
    fn wait_for(&mut self, events: u64) {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(
                self.0.read_line(&mut line).unwrap() > 0,
                "the stream ended before {events} events"
            );
            let said: Value = serde_json::from_str(line.trim()).unwrap_or_default();
            if said["acknowledgedEvents"].as_u64().is_some_and(|seen| seen >= events) {
                return;
            }
        }
    }

    fn finish(mut self) -> String {
        self.0.get_mut().write_all(b"0\r\n\r\n").unwrap();
        let mut rest = String::new();
        self.0.read_to_string(&mut rest).unwrap();
        rest
    }
}

#[test]
fn second_writer_of_a_run_gets_retry_after() {
    let place = Place::new();
    let server = place.http(&["backtest"]);
    let client = server.client();
    put(&client, RUN, "");
    let mut first = Stream::open(&server);
    first.send(&events(0..1000));
    first.wait_for(1000);
    for busy in
        [post(&client, RUN, &events(5000..5010)).0, seal(&client, RUN), put(&client, RUN, "")]
    {
        assert_eq!((busy.status, &busy.json()["error"]["code"]), (409, &json!("RUN_BUSY")));
        assert!(busy.header("retry-after").is_some());
    }
    // Another process is refused too: it must not overwrite acknowledged events.
    let file = place.file("more.jsonl", &events(7000..7010));
    place.run(&["backtest", "import", file.to_str().unwrap(), "--open"]).good();
    first.send(&events(1000..2000));
    let said = first.finish();
    assert!(said.contains("RUN_BUSY") && said.contains("\"acknowledgedEvents\":1000"), "{said}");
    let (_, lines) = resume(&client, 1001, &events(1000..2500));
    assert_eq!(lines.last().unwrap()["complete"], true, "{lines:?}");
    let report = seal(&client, RUN).json()["report"].clone();
    assert_eq!((&report["events"], &report["repeated"]), (&json!(2510), &json!(0)), "{report}");
}

#[test]
fn disconnect_preserves_complete_lines() {
    let place = Place::new();
    let server = place.http(&["backtest"]);
    let client = server.client();
    put(&client, RUN, "");
    let mut stream = Stream::open(&server);
    stream.send(&events(0..1200));
    stream.wait_for(1000);
    let half = event(RUN, 1200);
    stream.send(&half[..80]);
    drop(stream);
    // The lease is released once the server has detected the disconnect.
    let (_, lines) = loop {
        let (reply, lines) = resume(&client, 1001, &events(1000..1500));
        if reply.status == 200 {
            break (reply, lines);
        }
        assert_eq!(reply.status, 409, "{}", reply.text());
    };
    let last = lines.last().unwrap();
    assert_eq!(last["rejected"], 0, "half a line is no line: {last}");
    let report = seal(&client, RUN).json()["report"].clone();
    assert_eq!((&report["events"], &report["rejected"]), (&json!(1500), &json!(0)), "{report}");
}

#[cfg(unix)]
#[test]
fn acknowledged_events_survive_a_kill_exactly_once() {
    let place = Place::new();
    let mut server = place.http(&["backtest"]);
    put(&server.client(), RUN, "");
    let mut stream = Stream::open(&server);
    stream.send(&events(0..3400));
    stream.wait_for(3000);
    server.signal("KILL");
    server.wait();
    drop(stream);
    let server = place.http(&["backtest"]);
    let client = server.client();
    let kept =
        client.get(&format!("/backtest/runs/{RUN}")).json()["lastSequence"].as_u64().unwrap();
    assert!(kept >= 3000, "{kept} of 3000");
    // The client resends from its last acknowledgement; stored lines are skipped.
    let (_, lines) = resume(&client, 3001, &events(3000..5000));
    assert_eq!(lines.last().unwrap()["complete"], true, "{lines:?}");
    let report = seal(&client, RUN).json()["report"].clone();
    assert_eq!((&report["events"], &report["rejected"]), (&json!(5000), &json!(0)), "{report}");
    assert_eq!(total(&client), json!(5000));
}

#[test]
fn resent_lines_are_counted_once() {
    let place = Place::new();
    let server = place.http(&["backtest"]);
    let client = server.client();
    put(&client, RUN, "");
    post(&client, RUN, &events(0..1000));
    let on_disk = || client.get(&format!("/backtest/runs/{RUN}")).json()["lastSequence"].clone();
    // Without a sequence number a second stream is ambiguous and is refused.
    let (unsaid, _) = post(&client, RUN, &events(0..1000));
    assert_eq!((unsaid.status, &unsaid.json()["error"]["code"]), (409, &json!("OUT_OF_SEQUENCE")));
    let (gap, _) = resume(&client, 1002, &events(1001..1100));
    assert_eq!((gap.status, &gap.json()["error"]["code"]), (409, &json!("OUT_OF_SEQUENCE")));
    assert_eq!(resume(&client, 0, "").0.status, 400);
    assert_eq!(on_disk(), json!(1000));
    let (_, lines) = resume(&client, 1, &events(0..1500));
    assert_eq!(lines.last().unwrap()["lastSequence"], 1500, "{lines:?}");
    assert_eq!(on_disk(), json!(1500));
    let report = seal(&client, RUN).json()["report"].clone();
    assert_eq!((&report["events"], &report["repeated"]), (&json!(1500), &json!(0)), "{report}");
}

#[cfg(unix)]
#[test]
fn shutdown_acknowledges_received_events() {
    let place = Place::new();
    let mut server = place.http(&["backtest"]);
    put(&server.client(), RUN, "");
    let mut stream = Stream::open(&server);
    stream.send(&events(0..1003));
    stream.wait_for(1000);
    server.signal("TERM");
    let mut rest = String::new();
    stream.0.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("STOPPING") && rest.contains("\"acknowledgedEvents\":1003"), "{rest}");
    assert_eq!(server.wait().status.code(), Some(0));
    drop(stream);
    let listed = place.run(&["backtest", "list", "--json"]).json();
    assert_eq!((&listed[0]["events"], &listed[0]["status"]), (&json!(1003), &json!("running")));
}
