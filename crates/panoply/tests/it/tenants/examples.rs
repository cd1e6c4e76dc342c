//! Calls of tools with the examples of their contracts, after the calls that prepare them.

use serde_json::{Value, json};

use super::two_tenants::Actor;

/// Whether the contract expects the example to succeed.
pub(super) fn succeeds(example: &Value) -> bool {
    example["expectedResult"]["error"].is_null()
}

/// Calls a tool with an example: the call and its reply.
pub(super) fn call(actor: &Actor, tool: &str, example: &Value) -> (String, Value) {
    let mut values: Vec<(String, Value)> = Vec::new();
    for step in example["prepare"].as_array().into_iter().flatten() {
        let Some(tool) = step["tool"].as_str() else { continue };
        let made = prepare(actor, tool, &replaced(&step["params"], &values));
        for (literal, pointer) in step["literals"].as_object().into_iter().flatten() {
            let found = pointer.as_str().filter(|pointer| !pointer.is_empty());
            if let Some(value) = found.and_then(|pointer| made.pointer(pointer)) {
                values.push((literal.clone(), value.clone()));
            }
        }
    }
    let arguments = replaced(&example["params"], &values);
    (format!("{tool} {arguments}"), actor.call(tool, arguments))
}

/// The data of the reply. A deck of an earlier example is deleted first.
fn prepare(actor: &Actor, tool: &str, params: &Value) -> Value {
    if tool == "create-deck" {
        let listed = actor.call("list-decks", json!({}));
        let decks = listed["structuredContent"]["data"]["decks"].as_array().cloned();
        for deck in decks.into_iter().flatten().filter(|deck| deck["name"] == params["name"]) {
            actor.call("delete-deck", json!({"deckId": deck["deckId"]}));
        }
    }
    actor.call(tool, params.clone())["structuredContent"]["data"].clone()
}

/// The value with the latest value of each literal in its place.
fn replaced(value: &Value, values: &[(String, Value)]) -> Value {
    match value {
        Value::String(text) => {
            let found = values.iter().rev().find(|(literal, _)| literal == text);
            found.map_or_else(|| value.clone(), |(_, value)| value.clone())
        }
        Value::Array(items) => items.iter().map(|item| replaced(item, values)).collect(),
        Value::Object(members) => {
            let members = members.iter();
            members.map(|(name, value)| (name.clone(), replaced(value, values))).collect()
        }
        other => other.clone(),
    }
}
