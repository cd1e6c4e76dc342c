//! Preferences: set once, used as defaults of later calls, in the language of the person.

use serde_json::{Value, json};

use crate::place::Place;

fn text(reply: &Value) -> String {
    reply["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

fn hints(reply: &Value) -> &Value {
    &reply["_meta"]["panoply/agentHints"]
}

#[test]
fn preferences_are_defaults_and_explicit_arguments_take_precedence() {
    let place = Place::new();
    let mut client = place.stdio(&["rmf"]);
    client.initialize("2025-06-18");
    let missing = client.call_tool("check_rmf_holding", json!({}));
    assert_eq!(missing["isError"], json!(true), "{missing}");
    let purchases = json!([{"date": "2019-11-01", "amount": 100000.0}]);
    let preferences = json!({"birthDate": "1960-05-01", "fundPurchases": purchases});
    let set = client.call_tool("set-preferences", json!({"preferences": preferences}));
    assert_eq!(set["isError"], json!(false), "{set}");
    let by_default = client.call_tool("check_rmf_holding", json!({"onDate": "2026-11-17"}));
    assert_eq!(by_default["isError"], json!(false), "{by_default}");
    let explicit = client.call_tool(
        "check_rmf_holding",
        json!({"birthDate": "1960-05-01", "purchases": purchases, "onDate": "2026-11-17"}),
    );
    assert_eq!(text(&by_default), text(&explicit));
    let later = client
        .call_tool("check_rmf_holding", json!({"birthDate": "1990-05-01", "onDate": "2026-11-17"}));
    assert_ne!(text(&later), text(&explicit), "an explicit date of birth takes precedence");
    let used = hints(&by_default)["preferenceAlignment"].to_string();
    assert!(used.contains("birthDate") && used.contains("fundPurchases"), "{by_default}");
    assert!(!hints(&explicit)["preferenceAlignment"].to_string().contains("birthDate"));
}

#[test]
fn preferred_arguments_exist_in_the_schemas_of_their_tools() {
    let place = Place::new();
    let known = place.run(&["call", "get-preferences", "--json"]).json();
    let found = serde_json::to_string(&known).unwrap();
    assert!(found.contains("check_rmf_holding") && found.contains("plan-exam"), "{found}");
    let defaults = known.pointer("/data/defaults").or_else(|| known.get("defaults"));
    for default in defaults.unwrap().as_array().unwrap() {
        let tool = default["tool"].as_str().unwrap();
        let schema = place.run(&["describe", tool, "--json"]).out;
        let argument = format!("\"{}\"", default["argument"].as_str().unwrap());
        assert!(schema.contains(&argument), "{tool} has no argument {argument}");
    }
}

#[test]
fn preferred_language_applies_where_the_client_names_none_and_outlives_the_process() {
    let place = Place::new();
    let ask = |locale: Option<&str>| {
        let mut client = place.stdio(&["rmf"]);
        client.initialize("2025-06-18");
        let mut params = json!({"name": "get_rmf_funds", "arguments": {"pageSize": 1}});
        if let Some(locale) = locale {
            params["_meta"] = json!({"openai/locale": locale});
        }
        let reply = client.request("tools/call", params);
        client.end();
        text(&reply["result"])
    };
    let is_thai = |text: &str| text.chars().any(|c| ('\u{e00}'..='\u{e7f}').contains(&c));
    let english = ask(Some("en"));
    assert_eq!(ask(None), english);
    place.run(&["call", "set-preferences", r#"{"preferences": {"language": "th"}}"#]).good();
    assert_eq!(ask(None), ask(Some("th")));
    assert!(is_thai(&ask(None)) && ask(Some("en")) == english);
    place.run(&["call", "set-preferences", r#"{"clear": ["*"]}"#]).good();
    assert_eq!(ask(None), english);
    let left = place.run(&["call", "get-preferences", "--json"]).out;
    assert!(left.contains("\"version\": 2") || left.contains("\"version\":2"), "{left}");
}
