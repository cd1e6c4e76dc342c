//! `panoply stdio` from the client's view.

use panoply_testkit::client::{PATIENCE, StdioClient};
use serde_json::{Value, json};

use crate::place::Place;

const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

#[test]
fn every_handshake_version_is_supported() {
    for version in VERSIONS {
        let place = Place::new();
        let mut client = place.stdio(&[]);
        let welcome = client.initialize(version);
        assert_eq!(welcome["protocolVersion"], version);
        assert_eq!(welcome["serverInfo"]["name"], "panoply", "version: {version}");
        let names = tool_names(&client.result("tools/list", json!({})));
        assert!(names.contains(&"search-tools".to_owned()), "{version}: {names:?}");
        assert_eq!(client.end().status.code(), Some(0), "version: {version}");
    }
}

/// Clients truncate instructions; the last pack's would be lost first.
#[test]
fn instructions_cover_every_pack() {
    let place = Place::new();
    let mut client = place.stdio(&[]);
    let welcome = client.initialize("2025-11-25");
    let told = welcome["instructions"].as_str().unwrap();
    let packs = ["calc_rmf_tax_benefit", "cgt_content", "describe_run", "submit-review"];
    for word in packs.into_iter().chain(["never turn it into a prescription"]) {
        assert!(told.contains(word), "{word} is missing in: {told}");
    }
}

#[test]
fn stateless_version_is_supported() {
    let place = Place::new();
    let mut client = place.stdio(&[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    let discovered = client.result("server/discover", json!({"_meta": meta}));
    assert!(discovered["supportedVersions"].to_string().contains("2026-07-28"), "{discovered}");
    let listed = client.result("tools/list", json!({"_meta": meta}));
    assert!(tool_names(&listed).contains(&"describe-tool".to_owned()));
    let arguments = json!({"query": "tools"});
    let called = client.result(
        "tools/call",
        json!({"name": "search-tools", "arguments": arguments, "_meta": meta}),
    );
    assert_eq!(called["isError"], json!(false), "{called}");
    assert_eq!(client.end().status.code(), Some(0));
}

#[test]
fn listed_tool_has_schemas_and_annotations() {
    let place = Place::new();
    let mut client = place.stdio(&["cgt"]);
    client.initialize("2025-11-25");
    let listed = client.result("tools/list", json!({}));
    let tools = listed["tools"].as_array().unwrap();
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        assert!(name.len() <= 50 && !name.contains('.'), "{name}");
        assert!(tool["description"].as_str().unwrap().len() > 50, "{name}");
        for part in ["title", "inputSchema", "outputSchema", "annotations"] {
            // `call-tool` returns what its target returns.
            let optional = name == "call-tool" && part == "outputSchema";
            assert!(optional || !tool[part].is_null(), "{name} lacks {part}");
        }
        assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
    }
    // The order is fixed, so that a client's cached list stays valid.
    let again = client.result("tools/list", json!({}));
    assert_eq!(tool_names(&listed), tool_names(&again));
}

#[test]
fn listed_tools_follow_the_settings() {
    let place = Place::new();
    let names = |arguments: &[&str]| {
        let mut client = place.stdio(arguments);
        client.initialize("2025-11-25");
        tool_names(&client.result("tools/list", json!({})))
    };
    let lazy = names(&["--tools", "lazy"]);
    assert_eq!(lazy, ["search-tools", "describe-tool", "call-tool"]);
    let (core, all) = (names(&["cgt"]), names(&["cgt", "--tools", "all"]));
    assert!(all.len() > core.len() && core.len() >= lazy.len(), "{core:?} {all:?}");
    // Unlisted tools can still be called.
    let mut client = place.stdio(&["--tools", "lazy"]);
    client.initialize("2025-11-25");
    assert_eq!(client.call_tool("get-tool-metrics", json!({}))["isError"], json!(false));
}

#[test]
fn kernel_tools_answer_and_are_audited() {
    let place = Place::new();
    let mut client = place.stdio(&["cgt"]);
    client.initialize("2025-11-25");
    let found = client.call_tool("search-tools", json!({"query": "audit"}));
    assert!(found["structuredContent"].to_string().contains("get-audit-trail"), "{found}");
    assert!(found["content"][0]["text"].is_string());
    let described = client.call_tool("describe-tool", json!({"name": "search-tools"}));
    assert_eq!(described["structuredContent"]["data"]["name"], "search-tools");
    let wrong = client.call_tool("describe-tool", json!({"name": 7, "more": 1}));
    assert_eq!(wrong["isError"], json!(true));
    assert!(wrong.get("structuredContent").is_none(), "{wrong}");
    let trail = client.call_tool("get-audit-trail", json!({"limit": 10}));
    let rows = &trail["structuredContent"]["data"]["rows"];
    assert_eq!(rows.as_array().unwrap().len(), 3, "{rows}");
    assert_eq!(rows[0]["errorCode"], wrong["_meta"]["panoply/error"]["error"]["code"]);
    client.end();
    assert!(
        place.run(&["audit", "verify"]).good().contains("4 rows"),
        "the trail's own call counts"
    );
}

#[test]
fn malformed_line_is_answered_and_the_session_continues() {
    let place = Place::new();
    let mut client = place.stdio(&[]);
    client.initialize("2025-11-25");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let cases: [(&[u8], i64); 9] = [
        (b"{", -32700),
        (b"nonsense", -32700),
        (b"\xff\xfe{}", -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\",\"params\":{\"x\":1e999}}", -32700),
        (deep.as_bytes(), -32700),
        (b"[]", -32600),
        (b"7", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":6}", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"no/such\"}", -32601),
    ];
    for (line, code) in cases {
        let shown = String::from_utf8_lossy(&line[..line.len().min(60)]).into_owned();
        client.send_raw(&[line, b"\n"].concat());
        assert_eq!(client.next()["error"]["code"], json!(code), "line: {shown}");
        assert_eq!(client.result("ping", json!({})), json!({}), "after: {shown}");
    }
    let unknown = client.request("tools/call", json!({"name": "serch-tools", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], json!(-32602), "{unknown}");
    assert!(unknown.to_string().contains("search-tools"), "{unknown}");
    assert_eq!(client.end().status.code(), Some(0));
}

#[test]
fn overlong_line_is_answered() {
    let place = Place::new();
    let mut client = place.stdio(&[]);
    client.initialize("2025-11-25");
    let mut line = vec![b'x'; 17 * 1024 * 1024];
    line.push(b'\n');
    client.send_raw(&line);
    assert!(client.next()["error"]["code"].is_i64());
    assert_eq!(client.result("ping", json!({})), json!({}));
}

#[test]
fn closing_stdin_ends_the_server_with_status_0() {
    let openings: [&[u8]; 4] = [
        b"",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,",
        b"{\n",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
    ];
    for opening in openings {
        let place = Place::new();
        let mut client = place.stdio(&[]);
        client.send_raw(opening);
        let shown = String::from_utf8_lossy(opening);
        assert_eq!(client.end().status.code(), Some(0), "after: {shown}");
    }
}

#[test]
fn replies_in_flight_are_delivered_before_shutdown() {
    let place = Place::new();
    let mut client = place.stdio(&[]);
    client.initialize("2025-11-25");
    for id in 100..200 {
        let arguments = json!({"query": "tools"});
        client.send(&json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "search-tools", "arguments": arguments},
        }));
    }
    client.close_input();
    let mut seen: Vec<i64> = (100..200).filter_map(|_| client.next()["id"].as_i64()).collect();
    seen.sort_unstable();
    assert_eq!(seen, (100..200).collect::<Vec<i64>>());
    assert_eq!(client.wait().status.code(), Some(0));
}

#[cfg(unix)]
#[test]
fn signals_end_the_server_with_status_0() {
    for signal in ["TERM", "INT", "HUP"] {
        let place = Place::new();
        let mut client = place.stdio(&[]);
        client.initialize("2025-11-25");
        client.signal(signal);
        assert_eq!(client.wait().status.code(), Some(0), "signal: {signal}");
    }
}

/// A shell starts the server and is killed. The test holds the input open, so only the death of
/// the parent can end the server.
#[cfg(unix)]
#[test]
fn server_exits_when_its_parent_dies() {
    let place = Place::new();
    let mut shell = std::process::Command::new("sh");
    let server = place.panoply(&[]);
    shell.args(["-c", "exec 3<&0; \"$0\" stdio <&3 & wait"]).arg(server.get_program());
    shell.envs(server.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut client = StdioClient::spawn(&mut shell);
    client.initialize("2025-11-25");
    client.signal("KILL");
    // EOF means that the server has closed its output.
    assert_eq!(client.next_within(PATIENCE), None);
    assert!(client.log().contains("Orphaned"), "{}", client.log());
}

#[test]
fn stdout_carries_only_the_protocol() {
    let place = Place::new();
    let mut command = place.panoply(&["stdio"]);
    command.env("PANOPLY_LOG", "trace");
    let mut client = StdioClient::spawn(&mut command);
    client.initialize("2025-11-25");
    // The client fails the test when a line is not JSON.
    client.call_tool("search-tools", json!({"query": "anything"}));
    assert_eq!(client.end().status.code(), Some(0));
}

#[test]
fn each_call_logs_a_start_and_an_end_line() {
    let place = Place::new();
    let mut client = place.stdio(&[]);
    client.initialize("2025-11-25");
    let long = format!("{} confidential", "text ".repeat(20));
    client.call_tool("search-tools", json!({"query": long}));
    client.end();
    let log = client.log();
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
        .collect();
    let of_call: Vec<&Value> =
        lines.iter().filter(|line| line["tool"] == json!("search-tools")).collect();
    assert_eq!(of_call.len(), 2, "{log}");
    assert_eq!(of_call[0]["traceId"], of_call[1]["traceId"]);
    assert_eq!(of_call[0]["arguments"], "query=<113 chars>", "{log}");
    assert!(of_call[1]["summary"].is_string(), "{log}");
    assert!(!log.contains("confidential"), "long texts are not logged: {log}");
}

#[test]
fn unwritable_home_still_serves_reads() {
    let place = Place::new();
    // A file in place of the folder: not even root can write into it.
    let blocked = place.file("blocked", "");
    let home = format!("{}/home", blocked.display());
    let mut client = place.stdio(&["--home", &home]);
    client.initialize("2025-11-25");
    assert_eq!(client.call_tool("search-tools", json!({"query": "x"}))["isError"], json!(false));
    client.end();
    assert!(client.log().contains("the home is unavailable"), "{}", client.log());
}

fn tool_names(listed: &Value) -> Vec<String> {
    let tools = listed["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// A lone surrogate, as JavaScript clients send for a cut emoji, and an unrepresentable number.
#[test]
fn unrepresentable_message_is_answered_with_its_id() {
    let place = Place::new();
    let mut client = place.stdio(&["rmf"]);
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let long = "9".repeat(400);
    for (id, limit) in [r#""\ud83d""#, "1e999", &deep, &long].iter().enumerate() {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"get_rmf_funds","arguments":{{"limit":{limit}}}}}}}"#
        );
        client.send_raw(format!("{call}\n").as_bytes());
        let reply = client.next();
        assert_eq!(
            (&reply["id"], &reply["error"]["code"]),
            (&json!(id), &json!(-32700)),
            "{reply}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_client_that_never_reads_costs_at_most_64_mb() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::Stdio;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    let place = Place::new();
    let mut command = place.panoply(&["stdio", "--tools", "all"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = command.spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    let list = |id: usize| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
    writeln!(input, "{}", list(0)).unwrap();
    output.read_line(&mut String::new()).unwrap();
    let megabytes = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() / 1024
    };
    let before = megabytes();
    let sent = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&sent);
    let writing = std::thread::spawn(move || {
        for id in 1..20_000 {
            if writeln!(input, "{}", list(id)).is_err() {
                return;
            }
            counter.fetch_add(1, Ordering::Relaxed);
        }
    });
    let mut last = usize::MAX;
    while last != sent.load(Ordering::Relaxed) {
        last = sent.load(Ordering::Relaxed);
        std::thread::sleep(Duration::from_secs(2));
    }
    let after = megabytes();
    server.kill().unwrap();
    server.wait().unwrap();
    writing.join().unwrap();
    assert!(last < 19_999, "reading never stopped");
    assert!(after - before <= 64, "{before} MB became {after} MB after {last} requests");
}
