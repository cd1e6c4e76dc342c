//! Malformed input: the session continues and every readable id is answered.

use std::collections::HashMap;

use panoply_mcp::transport::LineLimits;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Session, call, session, session_with};

/// Sends a line and then a valid call; returns the replies to the line.
async fn answers_to(session: &mut Session, line: &[u8], id: u64) -> Vec<Value> {
    session.send_line(line).await;
    session.send_line(b"\n").await;
    session.send(&call(id, "echo-text", json!({"text": "on"}))).await;
    let mut answers = Vec::new();
    loop {
        let reply = session.receive().await;
        if reply["id"] == id && reply["result"].is_object() {
            return answers;
        }
        answers.push(reply);
    }
}

#[tokio::test]
async fn every_malformed_line_gets_its_own_error() {
    let deep = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
    let long_string = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "m".repeat(10_000));
    let digits = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"nope","params":{{"n":{}}}}}"#,
        "9".repeat(400)
    );
    let cases: Vec<(&str, Vec<u8>, Option<i64>)> = vec![
        ("truncated", br#"{"jsonrpc":"2.0","id":1"#.to_vec(), Some(-32700)),
        ("one byte", b"x".to_vec(), Some(-32700)),
        ("invalid UTF-8", b"\x80\x81".to_vec(), Some(-32700)),
        ("NUL", b"\0".to_vec(), Some(-32700)),
        (
            "NaN",
            br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"n":NaN}}"#.to_vec(),
            Some(-32700),
        ),
        (
            "1e999",
            br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"n":1e999}}"#.to_vec(),
            Some(-32700),
        ),
        ("lone surrogate", br#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#.to_vec(), Some(-32700)),
        ("depth 10", deep(10), Some(-32600)),
        ("depth 1000", deep(1000), Some(-32700)),
        ("depth 1000000", deep(1_000_000), Some(-32700)),
        ("400 digits", digits.into_bytes(), Some(-32700)),
        ("batch", br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#.to_vec(), Some(-32600)),
        ("id null", br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#.to_vec(), Some(-32600)),
        ("id float", br#"{"jsonrpc":"2.0","id":0.5,"method":"ping"}"#.to_vec(), Some(-32600)),
        ("no version", br#"{"id":1,"method":"ping"}"#.to_vec(), Some(-32600)),
        ("long name", long_string.into_bytes(), Some(-32601)),
        (
            "homoglyph",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tооls/list\"}".as_bytes().to_vec(),
            Some(-32601),
        ),
        (
            "bad params",
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#.to_vec(),
            Some(-32602),
        ),
        ("blank", b"   \t ".to_vec(), None),
        ("carriage return", b"\r".to_vec(), None),
        ("unknown notification", br#"{"jsonrpc":"2.0","method":"notifications/x"}"#.to_vec(), None),
        ("stray reply", br#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_vec(), None),
        (
            "stray error",
            br#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#.to_vec(),
            None,
        ),
    ];
    let mut session = session();
    for (number, (name, line, code)) in (1000..).zip(cases) {
        let answers = answers_to(&mut session, &line, number).await;
        let codes: Vec<Option<i64>> =
            answers.iter().map(|answer| answer["error"]["code"].as_i64()).collect();
        assert_eq!(
            codes,
            code.map(Some).into_iter().collect::<Vec<_>>(),
            "line: {name}: {answers:?}"
        );
    }
}

#[tokio::test]
async fn lines_of_many_megabytes_are_skipped() {
    let mut session = session_with(LineLimits { line: 1 << 20, ..LineLimits::default() });
    for (number, megabytes) in (1..).zip([2, 8, 64]) {
        let head = br#"{"jsonrpc":"2.0","id":"big","method":"tools/call","params":{"name":""#;
        session.send_line(head).await;
        for _ in 0..megabytes {
            session.send_line(&vec![b'x'; 1 << 20]).await;
        }
        let answers = answers_to(&mut session, b"\"}}", number).await;
        assert_eq!(answers.len(), 1, "{megabytes} MiB: {answers:?}");
        assert_eq!(
            (&answers[0]["id"], &answers[0]["error"]["code"]),
            (&json!("big"), &json!(-32600))
        );
    }
}

/// Almost valid lines: fragments of requests in wrong combinations.
fn nearly_requests() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just("{".to_owned()),
        Just("}".to_owned()),
        Just("[".to_owned()),
        Just(",".to_owned()),
        Just(":".to_owned()),
        Just("\"jsonrpc\":\"2.0\"".to_owned()),
        Just("\"method\":\"tools/call\"".to_owned()),
        Just("\"method\":\"ping\"".to_owned()),
        Just("\"params\":{\"name\":\"echo-text\",\"arguments\":{\"text\":\"x\"}}".to_owned()),
        Just("\"params\":null".to_owned()),
        (0..5u8).prop_map(|id| format!("\"id\":{id}")),
        Just("\"id\":null".to_owned()),
        Just("\"id\":1e400".to_owned()),
        Just("\"\\udc00\"".to_owned()),
        "[ -~]{0,12}",
    ];
    let glued =
        proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat().into_bytes());
    let listed = proptest::sample::subsequence(
        vec![
            "\"jsonrpc\":\"2.0\"",
            "\"id\":77",
            "\"method\":\"tools/call\"",
            "\"params\":{\"name\":\"echo-text\",\"arguments\":{\"text\":\"x\"}}",
            "\"result\":{}",
            "\"extra\":[1,2]",
        ],
        0..=6,
    )
    .prop_map(|members| format!("{{{}}}", members.join(",")).into_bytes());
    prop_oneof![glued, listed, proptest::collection::vec(any::<u8>(), 0..64)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Sends forty lines per session; a valid call at the end shows that the session still works.
    #[test]
    fn every_readable_id_is_answered(lines in proptest::collection::vec(nearly_requests(), 40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut session = session();
            let mut expected: HashMap<String, usize> = HashMap::new();
            for line in &lines {
                // A line feed would split the line.
                let line: Vec<u8> = line.iter().copied().filter(|byte| *byte != b'\n').collect();
                if let Some(id) = readable_id(&line) {
                    *expected.entry(id).or_default() += 1;
                }
                session.send_line(&line).await;
                session.send_line(b"\n").await;
            }
            session.send(&call(999_999, "echo-text", json!({"text": "on"}))).await;
            let mut answered: HashMap<String, usize> = HashMap::new();
            let mut last_seen = false;
            while !last_seen || answered.values().sum::<usize>() < expected.values().sum::<usize>() {
                let reply = session.receive().await;
                let id = &reply["id"];
                if *id == json!(999_999) {
                    last_seen = true;
                } else if !id.is_null() {
                    *answered.entry(id.to_string()).or_default() += 1;
                }
            }
            assert_eq!(answered, expected);
        });
    }
}

/// Reference implementation: the readable id of a request line.
fn readable_id(line: &[u8]) -> Option<String> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let value: Value = serde_json::from_slice(line).ok()?;
    let object = value.as_object()?;
    let is_reply = (object.contains_key("result") || object.contains_key("error"))
        && !object.contains_key("method");
    let id = object.get("id").filter(|id| id.is_string() || id.is_number())?;
    (!is_reply).then(|| id.to_string())
}
