//! Compatibility: the published tool schemas of the binary against `docs/published.json`.
//!
//! After an addition, update the record with
//! `UPDATE_EXPECT=1 cargo nextest run -p panoply --test published`.
#![expect(clippy::disallowed_methods, reason = "a test may ask whether to rewrite its record")]

use std::env;
use std::fs;
use std::process::Command;

use panoply_testkit::client::StdioClient;
use panoply_testkit::published::{RECORD, Record, broken, record};
use panoply_testkit::tidy::{assert_none, root};
use serde_json::json;

#[test]
fn published_schemas_stay_compatible() {
    let home = tempfile::tempdir().unwrap();
    let mut server = StdioClient::spawn(
        Command::new(env!("CARGO_BIN_EXE_panoply"))
            .args(["stdio", "--tools", "all", "--home"])
            .arg(home.path()),
    );
    server.initialize("2025-11-25");
    let listed = server.result("tools/list", json!({}));
    let mut tools = listed["tools"].as_array().unwrap().clone();
    for tool in &mut tools {
        // The list leaves out arguments that are rarely used.
        let described = server.call_tool("describe-tool", json!({"name": tool["name"]}));
        tool["inputSchema"] = described["structuredContent"]["data"]["inputSchema"].clone();
    }
    let now = record(&tools);
    assert!(now.contains_key("search-tools"), "{listed}");

    let path = root().join(RECORD);
    let before = fs::read_to_string(&path).unwrap_or_else(|_| "{}".to_owned());
    let before: Record = serde_json::from_str(&before).unwrap();
    assert_none(&broken(&before, &now));
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, serde_json::to_string_pretty(&now).unwrap() + "\n").unwrap();
        return;
    }
    assert_eq!(
        before, now,
        "the record is out of date; update it as described at the top of this file"
    );
}
