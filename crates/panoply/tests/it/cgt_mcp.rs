//! `cgt-mcp`, the server with the cgt pack alone.

use panoply_testkit::client::StdioClient;
use serde_json::json;

use crate::place::Place;

#[test]
fn cgt_mcp_serves_only_the_cgt_pack() {
    let place = Place::new();
    // Settings about packs do not apply to `cgt-mcp`.
    let mut client = StdioClient::spawn(place.cgt_mcp().env("PANOPLY_PACKS", "nonsense"));
    let welcome = client.initialize("2025-06-18");
    assert_eq!(welcome["serverInfo"]["name"], "cgt-mcp");
    let listed = client.result("tools/list", json!({}));
    let tools = listed["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"parse_transactions") && names.contains(&"search-tools"), "{names:?}");
    assert!(!names.iter().any(|name| name.contains("rmf")), "{names:?}");
    let bought = json!({"cgt_content": "2024-01-15 BUY AAPL 100 @ 150 USD"});
    assert_eq!(client.call_tool("parse_transactions", bought)["isError"], json!(false));
    // This pack reports invalid input as JSON-RPC errors.
    let wrong =
        json!({"name": "parse_transactions", "arguments": {"cgt_content": "2024-01-15 BUY"}});
    assert_eq!(client.request("tools/call", wrong)["error"]["code"], json!(-32602));
    assert_eq!(client.end().status.code(), Some(0));
}

#[test]
fn help_and_version_are_printed() {
    let place = Place::new();
    let said = |word: &str| {
        let output = place.cgt_mcp().arg(word).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{word}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(said("--help").contains("mcpServers") && said("--help").contains("panoply cgt"));
    assert!(said("--version").starts_with("cgt-mcp "));
    let wrong = place.cgt_mcp().arg("--nonsense").output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn end_of_input_before_the_handshake_gives_status_0() {
    for opening in [&b""[..], b"{\"jsonrpc\"", b"junk\n"] {
        let place = Place::new();
        let mut client = StdioClient::spawn(&mut place.cgt_mcp());
        client.send_raw(opening);
        assert_eq!(client.end().status.code(), Some(0), "after {opening:?}");
    }
}

#[cfg(unix)]
#[test]
fn signals_end_the_server_with_status_0() {
    for signal in ["TERM", "INT", "HUP"] {
        let place = Place::new();
        let mut client = StdioClient::spawn(&mut place.cgt_mcp());
        client.initialize("2025-11-25");
        client.signal(signal);
        assert_eq!(client.wait().status.code(), Some(0), "signal: {signal}");
    }
}
