//! Portable JSON Schemas.
//!
//! A single unsupported keyword makes some clients refuse the whole tool list. Therefore schemas
//! from schemars are rewritten: references are inlined, nullable types expanded, uncommon formats
//! dropped. [`lint`] rejects what rewriting cannot fix.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// Formats that all major clients accept.
const KNOWN_FORMATS: &[&str] = &["date-time"];
/// Deeper schemas are considered recursive.
const MAX_DEPTH: usize = 32;
/// Maximum description length that clients display.
const MAX_DESCRIPTION_BYTES: usize = 2048;
/// Maximum length of a property name.
const MAX_PROPERTY_BYTES: usize = 50;

/// The portable schema of an output type.
pub fn of<T: JsonSchema>() -> Value {
    portable(generate::<T>(), Direction::Out)
}

/// The portable schema of a parameter type: without `null`, and every object has `properties`,
/// because some clients require it.
pub fn of_params<T: JsonSchema>() -> Value {
    let mut schema = portable(generate::<T>(), Direction::In);
    if let Some(object) = schema.as_object_mut() {
        object.entry("type").or_insert_with(|| "object".into());
        object.entry("properties").or_insert_with(|| json!({}));
    }
    schema
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    In,
    Out,
}

fn generate<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = false;
    });
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

fn portable(schema: Value, direction: Direction) -> Value {
    let Value::Object(mut root) = schema else { return json!({}) };
    let definitions = match root.shift_remove("$defs") {
        Some(Value::Object(definitions)) => definitions,
        _ => Map::new(),
    };
    let mut rewritten = rewrite(Value::Object(root), &definitions, direction, 0);
    if let Some(object) = rewritten.as_object_mut() {
        object.shift_remove("title");
        // The doc comment of the type is for developers, not for the agent.
        object.shift_remove("description");
    }
    rewritten
}

fn rewrite(
    schema: Value,
    definitions: &Map<String, Value>,
    direction: Direction,
    depth: usize,
) -> Value {
    let Value::Object(mut object) = schema else { return json!({}) };
    if depth > MAX_DEPTH {
        return json!({"description": "nested further"});
    }
    if let Some(Value::String(reference)) = object.shift_remove("$ref") {
        let name = reference.trim_start_matches("#/$defs/");
        let mut target = match definitions.get(name) {
            Some(Value::Object(target)) => target.clone(),
            _ => Map::new(),
        };
        // Siblings of the reference (a field's own description) take precedence.
        target.extend(object);
        return rewrite(Value::Object(target), definitions, direction, depth + 1);
    }
    object.shift_remove("$schema");
    object.shift_remove("title");
    drop_unknown_format(&mut object);
    merge_constant_choices(&mut object);
    spell_out_null(&mut object, direction);
    if let Some(constant) = object.shift_remove("const") {
        object.insert("enum".to_owned(), json!([constant]));
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.shift_remove("default");
    }
    let rewritten: Map<String, Value> = object
        .into_iter()
        .map(|(keyword, value)| {
            let value = rewrite_keyword(&keyword, value, definitions, direction, depth);
            (keyword, value)
        })
        .collect();
    unwrap_single_choice(rewritten)
}

fn rewrite_keyword(
    keyword: &str,
    value: Value,
    definitions: &Map<String, Value>,
    direction: Direction,
    depth: usize,
) -> Value {
    let again = |schema| rewrite(schema, definitions, direction, depth + 1);
    match (keyword, value) {
        ("properties" | "patternProperties", Value::Object(members)) => {
            Value::Object(members.into_iter().map(|(name, schema)| (name, again(schema))).collect())
        }
        ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
            Value::Array(schemas.into_iter().map(again).collect())
        }
        ("items" | "not", schema @ (Value::Object(_) | Value::Bool(_))) => again(schema),
        ("additionalProperties", schema @ Value::Object(_)) => again(schema),
        (_, other) => other,
    }
}

fn drop_unknown_format(object: &mut Map<String, Value>) {
    let unknown = object
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(|format| !KNOWN_FORMATS.contains(&format));
    if unknown {
        object.shift_remove("format");
    }
}

/// Converts `oneOf` constants (an enum with documented variants) to `enum`, which clients expect.
/// The variants' descriptions move into the description of the enum.
fn merge_constant_choices(object: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = object.get("oneOf") else { return };
    let mut values = Vec::new();
    let mut explained = Vec::new();
    for choice in choices {
        let constants = match (choice.get("const"), choice.get("enum")) {
            (Some(constant), _) => vec![constant.clone()],
            (None, Some(Value::Array(constants))) => constants.clone(),
            _ => return,
        };
        if let (Some(description), [Value::String(name)]) =
            (choice.get("description").and_then(Value::as_str), constants.as_slice())
        {
            explained.push(format!("`{name}`: {}", description.trim_end_matches('.')));
        }
        values.extend(constants);
    }
    object.shift_remove("oneOf");
    object.insert("type".to_owned(), "string".into());
    object.insert("enum".to_owned(), Value::Array(values));
    if !explained.is_empty() {
        let own = object.get("description").and_then(Value::as_str).unwrap_or_default();
        let text = format!("{own} {}.", explained.join("; "));
        object.insert("description".to_owned(), text.trim().into());
    }
}

/// Rewrites `type: [x, null]` to `x` in inputs (callers omit the argument instead) and to `anyOf`
/// in outputs. `anyOf: [x, null]` loses its `null` in inputs.
fn spell_out_null(object: &mut Map<String, Value>, direction: Direction) {
    if let Some(Value::Array(types)) = object.get("type").cloned() {
        let real: Vec<Value> = types.iter().filter(|name| *name != "null").cloned().collect();
        let nullable = real.len() < types.len();
        object.shift_remove("type");
        if let ([only], true) = (real.as_slice(), direction == Direction::Out && nullable) {
            let description = object.shift_remove("description");
            let mut inner = std::mem::take(object);
            inner.insert("type".to_owned(), only.clone());
            if let Some(Value::Array(values)) = inner.get_mut("enum") {
                values.retain(|value| !value.is_null());
            }
            object.extend(description.map(|text| ("description".to_owned(), text)));
            object.insert("anyOf".to_owned(), json!([inner, {"type": "null"}]));
        } else if let [only] = real.as_slice() {
            object.insert("type".to_owned(), only.clone());
        } else {
            let choices: Vec<Value> = real.iter().map(|name| json!({"type": name})).collect();
            object.insert("anyOf".to_owned(), Value::Array(choices));
        }
    }
    if direction == Direction::In {
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(choices)) = object.get_mut(keyword) {
                choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
            }
        }
        if let Some(Value::Array(values)) = object.get_mut("enum") {
            values.retain(|value| !value.is_null());
        }
    }
}

/// Unwraps a choice with a single alternative; siblings take precedence.
fn unwrap_single_choice(mut object: Map<String, Value>) -> Value {
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let single = match object.get(keyword) {
            Some(Value::Array(choices)) if choices.len() == 1 => {
                choices.first().and_then(Value::as_object).cloned()
            }
            _ => None,
        };
        if let Some(mut inner) = single {
            object.shift_remove(keyword);
            inner.extend(object);
            object = inner;
        }
    }
    Value::Object(object)
}

/// Constructs of a published schema that some client refuses, as `pointer: reason`.
pub fn lint(schema: &Value, input: bool) -> Vec<String> {
    let mut found = Vec::new();
    for combinator in ["anyOf", "oneOf", "allOf", "not", "enum"] {
        if schema.get(combinator).is_some() {
            found.push(format!("/: `{combinator}` at the top makes clients refuse the whole list"));
        }
    }
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        found.push("/: the top of a schema is an object".to_owned());
    }
    lint_below(schema, "", input, &mut found);
    found
}

fn lint_below(schema: &Value, pointer: &str, input: bool, found: &mut Vec<String>) {
    let Some(object) = schema.as_object() else {
        found.push(format!("{pointer}: a bare `{schema}` is not a schema that clients read"));
        return;
    };
    for keyword in ["$ref", "$defs", "$schema", "const"] {
        if object.contains_key(keyword) {
            found.push(format!("{pointer}: `{keyword}` is left"));
        }
    }
    if object.get("type").is_some_and(Value::is_array) {
        found.push(format!("{pointer}: a list of types"));
    }
    if let Some(format) = object.get("format").and_then(Value::as_str)
        && !KNOWN_FORMATS.contains(&format)
    {
        found.push(format!("{pointer}: format `{format}`"));
    }
    if object
        .get("description")
        .and_then(Value::as_str)
        .is_some_and(|text| text.len() > MAX_DESCRIPTION_BYTES)
    {
        found.push(format!("{pointer}: a description over {MAX_DESCRIPTION_BYTES} bytes"));
    }
    if let Some(Value::Object(properties)) = object.get("properties") {
        for (name, property) in properties {
            let below = format!("{pointer}/{name}");
            if name.len() > MAX_PROPERTY_BYTES {
                found.push(format!("{below}: a name over {MAX_PROPERTY_BYTES} characters"));
            }
            if input && property.get("description").is_none() {
                found.push(format!("{below}: no description"));
            }
            lint_below(property, &below, input, found);
        }
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        if let Some(Value::Array(choices)) = object.get(keyword) {
            choices.iter().for_each(|choice| lint_below(choice, pointer, input, found));
        }
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(inner @ Value::Object(_)) = object.get(keyword) {
            lint_below(inner, &format!("{pointer}/{keyword}"), input, found);
        }
    }
}

/// Integers, texts and lists of an input schema without limits, and ids without a pattern, as
/// `pointer has no limit`. The contract requires them.
pub fn unbounded(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect_unbounded(schema, &Value::Null, "", &mut found);
    found
}

/// `around` is the schema of which this one is a choice; its limits hold too.
fn collect_unbounded(schema: &Value, around: &Value, pointer: &str, found: &mut Vec<String>) {
    let has = |keyword: &str| schema.get(keyword).or_else(|| around.get(keyword)).is_some();
    let closed = has("enum");
    let missing = match schema.get("type").and_then(Value::as_str) {
        Some("integer") if !(closed || has("minimum") && has("maximum")) => {
            Some("no minimum and maximum")
        }
        Some("string") if is_id(pointer) && !(closed || has("pattern")) => Some("no pattern"),
        Some("string") if !(closed || has("maxLength") || has("pattern")) => Some("no maxLength"),
        Some("array") if !(closed || has("maxItems")) => Some("no maxItems"),
        _ => None,
    };
    found.extend(missing.map(|missing| format!("`{pointer}` has {missing}")));
    if let Some(Value::Object(properties)) = schema.get("properties") {
        for (name, property) in properties {
            collect_unbounded(property, &Value::Null, &format!("{pointer}/{name}"), found);
        }
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(inner @ Value::Object(_)) = schema.get(keyword) {
            collect_unbounded(inner, &Value::Null, &format!("{pointer}/{keyword}"), found);
        }
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(choices)) = schema.get(keyword) {
            for choice in choices {
                collect_unbounded(choice, schema, pointer, found);
            }
        }
    }
}

/// Whether the property at this pointer, or the list that it is an item of, has the name of an id.
fn is_id(pointer: &str) -> bool {
    let name = pointer.trim_end_matches("/items").rsplit('/').next().unwrap_or_default();
    ["Id", "Ids", "_id", "_ids"].iter().any(|end| name.ends_with(end))
        || ["id", "token"].contains(&name)
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::*;

    /// How to sort.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Order {
        /// Smallest first.
        Asc,
        /// Largest first.
        Desc,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Inner {
        /// A number.
        n: u32,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Params {
        /// How to sort.
        order: Option<Order>,
        /// Inside.
        inner: Option<Inner>,
        /// A share.
        #[schemars(range(min = 0.0, max = 1.0))]
        share: Option<f64>,
        /// A text.
        text: String,
        /// Anything.
        anything: Option<Value>,
    }

    #[test]
    fn input_schemas_have_no_references_nulls_or_uncommon_formats() {
        let schema = of_params::<Params>();
        assert_eq!(lint(&schema, true), Vec::<String>::new(), "{schema:#}");
        assert_eq!(schema["properties"]["order"]["enum"], json!(["asc", "desc"]));
        assert_eq!(schema["properties"]["inner"]["properties"]["n"]["type"], "integer");
        assert_eq!(schema["properties"]["share"]["type"], "number");
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["required"], json!(["text"]));
    }

    #[test]
    fn output_schemas_declare_nullable_values() {
        let schema = of::<Params>();
        assert_eq!(lint(&schema, false), Vec::<String>::new(), "{schema:#}");
        assert_eq!(schema["properties"]["share"]["anyOf"][1]["type"], "null", "{schema:#}");
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert!(validator.is_valid(
            &json!({"text": "x", "share": null, "order": null, "inner": null, "anything": null})
        ));
        assert!(!validator.is_valid(&json!({"text": "x", "share": 2})));
        assert!(!validator.is_valid(&json!({"text": "x", "order": "sideways"})));
    }

    #[test]
    fn texts_and_lists_need_a_limit_and_ids_a_pattern() {
        let schema = json!({"type": "object", "properties": {
            "text": {"type": "string"},
            "short": {"type": "string", "maxLength": 9},
            "cardIds": {"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 9}},
            "deckId": {"type": "string", "pattern": "^deck_[0-9]{1,20}$"},
            "list": {"type": "array", "items": {"type": "integer", "minimum": 0}},
            "either": {"anyOf": [{"type": "string"}, {"type": "number"}]},
        }});
        assert_eq!(
            unbounded(&schema),
            [
                "`/text` has no maxLength",
                "`/cardIds/items` has no pattern",
                "`/list` has no maxItems",
                "`/list/items` has no minimum and maximum",
                "`/either` has no maxLength",
            ]
        );
    }

    #[test]
    fn lint_reports_constructs_that_clients_refuse() {
        let cases = [
            (json!({"type": "object", "anyOf": []}), "`anyOf` at the top"),
            (json!({"type": "array"}), "the top of a schema is an object"),
            (
                json!({"type": "object", "properties": {"a": {"$ref": "#/x", "description": "d"}}}),
                "`$ref` is left",
            ),
            (
                json!({"type": "object", "properties": {"a": {"type": ["string", "null"], "description": "d"}}}),
                "a list of types",
            ),
            (
                json!({"type": "object", "properties": {"a": {"type": "integer", "format": "uint32", "description": "d"}}}),
                "uint32",
            ),
            (json!({"type": "object", "properties": {"a": {"type": "string"}}}), "no description"),
            (json!({"type": "object", "properties": {"a": true}}), "a bare `true`"),
        ];
        for (schema, expected) in cases {
            let found = lint(&schema, true).join("\n");
            assert!(found.contains(expected), "expected {expected:?} in {found:?}");
        }
    }
}
