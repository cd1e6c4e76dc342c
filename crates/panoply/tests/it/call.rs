//! `panoply call`: output for users and scripts.

use expect_test::expect;
use serde_json::json;

use crate::place::Place;

#[test]
fn reply_is_printed_as_text() {
    let place = Place::new();
    let said =
        place.run(&["call", "search-tools", "--arg", "query=audit", "--arg", "limit=1"]).good();
    assert!(said.contains("get-audit-trail"), "{said}");
    assert!(!said.contains('\u{1b}'), "no colours in a pipe: {said}");
}

#[test]
fn arguments_are_read_from_json_pairs_files_and_stdin() {
    let place = Place::new();
    place.file("name.txt", "search-tools");
    let json_flag = "--json";
    let ways = [
        place.run(&["call", "describe-tool", r#"{"name": "search-tools"}"#, json_flag]),
        place.run(&["call", "describe-tool", "--arg", "name=search-tools", json_flag]),
        place.run(&["call", "describe-tool", "--arg-file", "name=name.txt", json_flag]),
        place.run_with(&["call", "describe-tool", "-", json_flag], r#"{"name": "search-tools"}"#),
    ];
    for said in ways {
        assert_eq!(said.status, Some(0), "{said:?}");
        assert_eq!(said.json()["data"]["name"], "search-tools");
    }
}

#[test]
fn meta_flag_prints_the_meta_object() {
    let place = Place::new();
    let said = place.run(&["call", "search-tools", "--arg", "query=x", "--json", "--meta"]);
    assert_eq!(said.json()["_meta"]["panoply/audit"]["status"], "ok");
}

#[test]
fn failed_tool_gives_status_1_and_all_problems() {
    let place = Place::new();
    let said = place.run(&["call", "describe-tool", r#"{"nme": 7}"#]);
    expect![[r#"
        1
        error: INVALID_INPUT: invalid input for `describe-tool`
          `/nme`: is not an argument; did you mean `name`?; expected one of name, outputSchema
          `/name`: is required; expected a string from 1 to 128 characters, such as "search-tools"
        hint: correct the listed arguments; `example` shows a call that works"#]]
    .assert_eq(&said.failed());
    assert_eq!(said.out, "");
    let json = place.run(&["call", "describe-tool", "--arg", "name=serch-tools", "--json"]);
    assert_eq!(json.status, Some(1));
    assert_eq!(json.json()["error"]["code"], "UNKNOWN_TOOL");
}

#[test]
fn pack_errors_are_printed_in_full() {
    let place = Place::new();
    let said = place.run(&["call", "parse_transactions", "--arg", "cgt_content=2024-01-15 BUY"]);
    assert_eq!(said.status, Some(1));
    assert!(said.err.contains("line 1, column 16"), "{}", said.err);
    assert_eq!(said.err.matches("hint:").count(), 1, "{}", said.err);
}

#[test]
fn invalid_command_line_gives_status_2_and_a_hint() {
    let place = Place::new();
    let cases: [(&[&str], &str); 9] = [
        (&["call", "serch-tools"], "did you mean `search-tools`?"),
        (&["call", "search-tools", "--arg", "limit=many"], "expected a whole number"),
        (&["call", "search-tools", "--arg", "qury=x"], "did you mean `query`?"),
        (&["call", "search-tools", "[1]"], "not an object"),
        (&["call", "search-tools", "{"], "not JSON"),
        (&["call", "search-tools", "--idempotency-key", "k"], "changes nothing"),
        (&["stdio", "cgtt"], "did you mean `cgt`?"),
        (&["tols"], "tools"),
        (&["tools", "--jsn"], "--json"),
    ];
    for (arguments, expected) in cases {
        let said = place.run(arguments);
        assert_eq!(said.status, Some(2), "{arguments:?}: {said:?}");
        assert!(said.err.contains(expected), "{arguments:?}: {}", said.err);
    }
}

#[test]
fn cli_call_is_audited_like_an_agent_call() {
    let place = Place::new();
    place.run(&["call", "search-tools", "--arg", "query=x"]).good();
    let rows = place.run(&["audit", "show", "--json"]).json();
    assert_eq!(rows[0]["tool"], "search-tools");
    assert_eq!(rows[0]["agentId"], "panoply-cli");
    assert_eq!(rows.as_array().map(Vec::len), Some(1), "looking is not a call");
    assert_eq!(rows[0]["errorCode"], json!(null));
}

/// `head` closes the pipe after one line; a panic would show in standard error and in the status.
#[cfg(unix)]
#[test]
fn closed_stdout_pipe_is_not_an_error() {
    let place = Place::new();
    let program = place.panoply(&[]);
    for command in ["docs", "tools --json", "completions bash", "--help", "contract check"] {
        let mut shell = std::process::Command::new("bash");
        let script = format!("set -o pipefail; \"$0\" {command} | head -c 1 >/dev/null");
        shell.args(["-c", &script]).arg(program.get_program());
        shell.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let said = place.said(&mut shell);
        assert_eq!((said.status, said.err.as_str()), (Some(0), ""), "command: {command}");
    }
}
