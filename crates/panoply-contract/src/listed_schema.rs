//! Compact schemas for `tools/list`.
//!
//! A model reads the input schemas of all listed tools in every session, so the list has what it
//! needs to write a call: names, types, choices, defaults, and one sentence per argument. The
//! complete schema, with limits and nested descriptions, is that of `describe-tool`; calls are
//! validated against it. Both lists leave out keywords that a widely used client cannot parse:
//! Booleans as `additionalProperties` (googleapis/python-genai 2393) and `examples`.
//!
//! The keyword `x-listed` of a property changes what the list has: `false` leaves the property out
//! and names it in the schema's description, a schema replaces the property's own.

use serde_json::{Map, Value};

/// Keyword that changes what the list has.
const LISTED: &str = "x-listed";
/// Keywords that an error message explains when a call violates them.
const LIMITS: [&str; 9] = [
    "minimum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "pattern",
    "format",
    "examples",
];
/// Higher maxima are left out: nobody reaches them by chance.
const MAX_LISTED_LIMIT: u64 = 10_000;
/// From this depth on, members are listed without descriptions, defaults and limits.
const MAX_DESCRIBED_DEPTH: usize = 1;
/// From this depth on, objects in output schemas are listed without their members.
const MAX_OUTPUT_DEPTH: usize = 2;

/// The input schema for the list.
pub fn input(schema: &Value) -> Value {
    input_below(schema, 0)
}

/// The output schema for the list: every reply that matches the complete one matches it.
pub fn output(schema: &Value) -> Value {
    output_below(schema, 0)
}

fn input_below(schema: &Value, depth: usize) -> Value {
    let Some(schema) = schema.as_object() else { return schema.clone() };
    if let Some(Value::Object(replacement)) = schema.get(LISTED) {
        let mut listed = replacement.clone();
        if let Some(text) = schema.get("description").and_then(Value::as_str) {
            listed.entry("description").or_insert_with(|| brief(text, None).into());
        }
        return Value::Object(listed);
    }
    let mut listed = Map::new();
    for (keyword, value) in schema {
        let value = match (keyword.as_str(), value) {
            (LISTED, _) | ("additionalProperties", Value::Bool(_)) => continue,
            (name, _) if LIMITS.contains(&name) => continue,
            ("description" | "default" | "maximum", _) if depth > MAX_DESCRIBED_DEPTH => continue,
            ("maximum", limit) if limit.as_u64().is_none_or(|limit| limit > MAX_LISTED_LIMIT) => {
                continue;
            }
            ("anyOf", Value::Array(choices)) if accepts_text(choices) => {
                listed.insert("type".to_owned(), "string".into());
                continue;
            }
            ("description", Value::String(text)) => brief(text, schema.get("enum")).into(),
            ("properties", Value::Object(members)) => {
                let shown = members.iter().filter(|(_, member)| is_listed(member));
                shown.map(|(name, member)| (name.clone(), input_below(member, depth + 1))).collect()
            }
            ("items" | "additionalProperties", inner) => input_below(inner, depth + 1),
            ("anyOf" | "oneOf", Value::Array(choices)) => {
                choices.iter().map(|choice| input_below(choice, depth + 1)).collect()
            }
            (_, other) => other.clone(),
        };
        listed.insert(keyword.clone(), value);
    }
    if let Some(text) = unlisted(schema) {
        listed.insert("description".to_owned(), text.into());
    }
    Value::Object(listed)
}

/// Whether the choices are a text or another scalar, which a text can express.
fn accepts_text(choices: &[Value]) -> bool {
    let kind = |choice: &Value| choice.get("type").and_then(Value::as_str).map(str::to_owned);
    let kinds: Vec<Option<String>> = choices.iter().map(kind).collect();
    kinds.iter().any(|kind| kind.as_deref() == Some("string"))
        && kinds.iter().all(|kind| {
            matches!(kind.as_deref(), Some("string" | "number" | "integer" | "boolean"))
        })
}

fn is_listed(member: &Value) -> bool {
    member.get(LISTED) != Some(&Value::Bool(false))
}

/// Names the members that are left out.
fn unlisted(schema: &Map<String, Value>) -> Option<String> {
    let members = schema.get("properties")?.as_object()?;
    let left_out: Vec<&str> = members
        .iter()
        .filter(|(_, member)| !is_listed(member))
        .map(|(name, _)| name.as_str())
        .collect();
    (!left_out.is_empty()).then(|| format!("Also {}: see describe-tool", left_out.join(", ")))
}

/// The first sentence, without the explanations of choices that speak for themselves.
fn brief(text: &str, choices: Option<&Value>) -> String {
    let first = choices.and_then(Value::as_array).and_then(|choices| choices.first());
    let explained = first
        .and_then(Value::as_str)
        .and_then(|first| text.find(&format!("`{first}`: ")).filter(|place| *place > 0));
    let text = &text[..explained.unwrap_or(text.len())];
    let ends = [". ", ".\n", "; ", ";\n"].iter().filter_map(|end| text.find(end));
    text[..ends.min().unwrap_or(text.len())]
        .replace('\n', " ")
        .trim_end_matches(['.', ';', ' '])
        .to_owned()
}

fn output_below(schema: &Value, depth: usize) -> Value {
    const KEPT: [&str; 3] = ["type", "required", "title"];
    let Some(schema) = schema.as_object() else { return schema.clone() };
    let cut = depth >= MAX_OUTPUT_DEPTH && schema.contains_key("properties");
    let mut listed = Map::new();
    for (keyword, value) in schema {
        let value = match (keyword.as_str(), value) {
            ("type", kind) if cut => kind.clone(),
            _ if cut => continue,
            ("properties", Value::Object(members)) => members
                .iter()
                .map(|(name, member)| (name.clone(), output_below(member, depth + 1)))
                .collect(),
            ("items", inner) | ("additionalProperties", inner @ Value::Object(_)) => {
                output_below(inner, depth)
            }
            // Nullable values are left open.
            ("anyOf" | "oneOf", Value::Array(choices)) if !is_nullable(choices) => {
                choices.iter().map(|choice| output_below(choice, depth)).collect()
            }
            (name, kept) if KEPT.contains(&name) => kept.clone(),
            _ => continue,
        };
        listed.insert(keyword.clone(), value);
    }
    Value::Object(listed)
}

fn is_nullable(choices: &[Value]) -> bool {
    choices.iter().any(|choice| choice.get("type").is_some_and(|kind| kind == "null"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn listed_input_has_one_sentence_per_argument_and_no_limits() {
        let full = json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["id"],
            "properties": {
                "id": {"type": "string", "pattern": "^d_", "description": "A deck. By id only."},
                "sort": {"type": "string", "enum": ["due", "new"], "description": "Order. `due`: Due first; `new`: New first."},
                "top": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5, "description": "How many."},
                "amount": {"anyOf": [{"type": "string"}, {"type": "number"}], "description": "Pounds; NIL for zero."},
                "rare": {"type": "string", "description": "Rarely used.", "x-listed": false},
                "money": {"type": "object", "description": "Money.", "x-listed": {"type": "string"}},
                "filter": {"type": "object", "description": "Filter.", "properties": {
                    "year": {"type": "integer", "maximum": 9999, "description": "Year."}}},
            },
        });
        assert_eq!(
            input(&full),
            json!({
                "type": "object",
                "required": ["id"],
                "description": "Also rare: see describe-tool",
                "properties": {
                    "id": {"type": "string", "description": "A deck"},
                    "sort": {"type": "string", "enum": ["due", "new"], "description": "Order"},
                    "top": {"type": "integer", "maximum": 50, "default": 5, "description": "How many"},
                    "amount": {"type": "string", "description": "Pounds"},
                    "money": {"type": "string", "description": "Money"},
                    "filter": {"type": "object", "description": "Filter", "properties": {"year": {"type": "integer"}}},
                },
            })
        );
    }

    #[test]
    fn listed_output_is_cut_below_two_levels() {
        let leaf =
            json!({"type": "object", "properties": {"d": {"type": "string"}}, "required": ["d"]});
        let full = json!({"type": "object", "required": ["a"], "properties": {
            "a": {"type": "array", "description": "Rows.", "items": {"type": "object", "properties": {
                "b": {"anyOf": [leaf.clone(), {"type": "null"}]}, "c": {"type": "integer", "minimum": 0}, "e": leaf}}}}});
        assert_eq!(
            output(&full),
            json!({"type": "object", "required": ["a"], "properties": {
                "a": {"type": "array", "items": {"type": "object", "properties": {
                    "b": {}, "c": {"type": "integer"}, "e": {"type": "object"}}}}}})
        );
    }
}
