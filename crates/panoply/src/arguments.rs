//! Tool arguments from the command line: `--arg name=value`, typed by the tool's schema.
//!
//! The schema decides the type of `7`: a number for a limit, a string for a fund code. Dots address
//! nested objects (`range.from=2024-01-01`), commas or repetition form lists, and a list or object
//! can also be written as JSON.

use panoply_contract::registry::nearest;
use serde_json::{Map, Value};

use crate::failure::Failure;

/// Merges `name=value` pairs into the arguments object `base`.
pub(crate) fn build(
    schema: &Value,
    base: Map<String, Value>,
    pairs: &[Argument],
) -> Result<Value, Failure> {
    let mut object = base;
    for pair in pairs {
        let path = path(schema, &pair.name);
        let expected = schema_at(schema, &path, &pair.name)?;
        let value = match &pair.value {
            RawValue::Word(word) => {
                parse(expected, word).map_err(|kind| pair.refused(word, kind))?
            }
            RawValue::Text(text) => Value::String(text.clone()),
        };
        place(&mut object, &path, value, is_list(expected))
            .map_err(|message| Failure::usage(format!("`--arg {}=…`: {message}", pair.name)))?;
    }
    Ok(Value::Object(object))
}

/// One `--arg` or `--arg-file`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Argument {
    pub(crate) name: String,
    pub(crate) value: RawValue,
}

/// Unparsed value of an argument.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum RawValue {
    /// Text of the command line, typed by the schema.
    Word(String),
    /// Text of a file, always a string.
    Text(String),
}

impl Argument {
    /// Parses `name=value`.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => {
                Ok(Self { name: name.trim().to_owned(), value: RawValue::Word(value.to_owned()) })
            }
            _ => Err(Failure::usage(format!("`--arg {text}` is not a name and a value"))
                .hint("write it as `--arg limit=5`")),
        }
    }

    fn refused(&self, word: &str, kind: &str) -> Failure {
        let shown: String = word.chars().take(80).collect();
        Failure::usage(format!("`--arg {}={shown}`: expected {kind}", self.name))
            .hint("see what the tool takes with `panoply describe`")
    }
}

/// Splits a dotted name. A property whose own name has a dot is not split.
fn path(schema: &Value, name: &str) -> Vec<String> {
    if schema.pointer("/properties").and_then(|properties| properties.get(name)).is_some() {
        return vec![name.to_owned()];
    }
    name.split('.').map(str::to_owned).collect()
}

/// Returns the schema at a path. An object without declared properties accepts anything.
fn schema_at<'a>(schema: &'a Value, path: &[String], name: &str) -> Result<&'a Value, Failure> {
    let mut here = schema;
    for part in path {
        let properties = here.get("properties").and_then(Value::as_object);
        here = match (properties.and_then(|properties| properties.get(part)), here) {
            (Some(below), _) => below,
            (None, here) if here.get("additionalProperties") == Some(&Value::Bool(false)) => {
                let known = properties.into_iter().flat_map(Map::keys).map(String::as_str);
                let failure =
                    Failure::usage(format!("`--arg {name}=…`: there is no argument `{part}`"));
                let names: Vec<&str> = known.collect();
                return Err(match nearest(part, names.iter().copied()).first() {
                    Some(near) => failure.hint(format!("did you mean `{near}`?")),
                    None if names.is_empty() => failure.hint("omit it: the tool has no arguments"),
                    None => failure.hint(format!("use one of: {}", names.join(", "))),
                });
            }
            (None, here) => here.get("additionalProperties").unwrap_or(&Value::Null),
        };
    }
    Ok(here)
}

/// Parses a value by the schema; the error names the expected type.
fn parse(schema: &Value, word: &str) -> Result<Value, &'static str> {
    match kind(schema) {
        Some("string") => Ok(Value::String(word.to_owned())),
        Some("integer") => number(word).filter(is_whole).ok_or("a whole number, such as 5"),
        Some("number") => number(word).ok_or("a number, such as 2.5"),
        Some("boolean") => match word {
            "true" | "yes" | "1" => Ok(Value::Bool(true)),
            "false" | "no" | "0" => Ok(Value::Bool(false)),
            _ => Err("true or false"),
        },
        Some("array") => list(schema, word),
        Some("object") => serde_json::from_str(word)
            .ok()
            .filter(Value::is_object)
            .ok_or("a JSON object, or dotted names such as `range.from=2024-01-01`"),
        // Several types are possible: valid JSON is parsed, anything else is a string.
        _ => Ok(serde_json::from_str(word).unwrap_or_else(|_| Value::String(word.to_owned()))),
    }
}

fn list(schema: &Value, word: &str) -> Result<Value, &'static str> {
    if word.trim_start().starts_with('[') {
        return serde_json::from_str(word).map_err(|_| "a JSON array, or values with commas");
    }
    let items = schema.get("items").unwrap_or(&Value::Null);
    // A list of objects is not split at commas, which occur inside the objects.
    if kind(items) == Some("object") {
        return Ok(Value::Array(vec![parse(items, word)?]));
    }
    let words = word.split(',').map(str::trim).filter(|word| !word.is_empty());
    words.map(|word| parse(items, word)).collect::<Result<_, _>>().map(Value::Array)
}

/// Returns the single type of a schema, ignoring `null`.
fn kind(schema: &Value) -> Option<&str> {
    if let Some(kind) = schema.get("type").and_then(Value::as_str) {
        return Some(kind);
    }
    let choices = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    let mut kinds = choices.iter().filter_map(kind).filter(|kind| *kind != "null");
    let first = kinds.next()?;
    kinds.all(|other| other == first).then_some(first)
}

fn is_list(schema: &Value) -> bool {
    kind(schema) == Some("array")
}

fn number(word: &str) -> Option<Value> {
    serde_json::from_str(word.trim()).ok().filter(Value::is_number)
}

fn is_whole(number: &Value) -> bool {
    number.is_i64() || number.is_u64()
}

/// Inserts a value at a path; a list is extended, any other duplicate is an error.
fn place(
    object: &mut Map<String, Value>,
    path: &[String],
    value: Value,
    grows: bool,
) -> Result<(), &'static str> {
    let [name, below @ ..] = path else { return Err("the name is empty") };
    if !below.is_empty() {
        let inner = object.entry(name.clone()).or_insert_with(|| Value::Object(Map::new()));
        let inner = inner.as_object_mut().ok_or("a part of the name is not an object")?;
        return place(inner, below, value, grows);
    }
    match (object.get_mut(name), value) {
        (Some(Value::Array(there)), Value::Array(more)) if grows => there.extend(more),
        (Some(_), _) => return Err("it was given already"),
        (None, value) => _ = object.insert(name.clone(), value),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "query": {"type": "string"},
                "limit": {"type": "integer"},
                "risk": {"anyOf": [{"type": "number"}, {"type": "null"}]},
                "exact": {"type": "boolean"},
                "symbols": {"type": "array", "items": {"type": "string"}},
                "years": {"type": "array", "items": {"type": "integer"}},
                "rows": {"type": "array", "items": {"type": "object"}},
                "range": {"type": "object", "additionalProperties": false, "properties": {
                    "from": {"type": "string"},
                    "to": {"type": "string"},
                }},
                "free": {"type": "object"},
                "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            },
        })
    }

    fn built(arguments: &[&str]) -> Result<Value, String> {
        let pairs: Result<Vec<Argument>, Failure> =
            arguments.iter().map(|text| Argument::parse(text)).collect();
        let tell = |failure: Failure| {
            format!("{} ({})", failure.message(), failure.what_to_do().unwrap_or("-"))
        };
        build(&schema(), Map::new(), &pairs.map_err(tell)?).map_err(tell)
    }

    #[test]
    fn values_are_typed_by_the_schema() {
        let cases: [(&[&str], Value); 13] = [
            (&["query=7"], json!({"query": "7"})),
            (&["query=a=b, c"], json!({"query": "a=b, c"})),
            (&["query="], json!({"query": ""})),
            (&["limit=7", "exact=true"], json!({"limit": 7, "exact": true})),
            (&["risk=2.5"], json!({"risk": 2.5})),
            (&["symbols=A,B"], json!({"symbols": ["A", "B"]})),
            (&["symbols=A", "symbols=B, C"], json!({"symbols": ["A", "B", "C"]})),
            (&["symbols=[\"A,B\"]"], json!({"symbols": ["A,B"]})),
            (&["years=2023,2024"], json!({"years": [2023, 2024]})),
            (&["rows={\"a\":1,\"b\":2}"], json!({"rows": [{"a": 1, "b": 2}]})),
            (
                &["range.from=2024-01-01", "range.to=2024-12-31"],
                json!({"range": {"from": "2024-01-01", "to": "2024-12-31"}}),
            ),
            (&["free.a.b=1"], json!({"free": {"a": {"b": 1}}})),
            (&["either=7"], json!({"either": 7})),
        ];
        for (arguments, expected) in cases {
            assert_eq!(built(arguments), Ok(expected), "arguments: {arguments:?}");
        }
    }

    #[test]
    fn invalid_argument_is_refused_with_a_hint() {
        let cases: [(&[&str], &str); 9] = [
            (&["limit"], "is not a name and a value (write it as `--arg limit=5`)"),
            (&["=5"], "is not a name and a value"),
            (&["limit=many"], "`--arg limit=many`: expected a whole number"),
            (&["limit=2.5"], "expected a whole number"),
            (&["exact=maybe"], "expected true or false"),
            (&["limt=5"], "there is no argument `limt` (did you mean `limit`?)"),
            (&["range.form=x"], "there is no argument `form` (did you mean `from`?)"),
            (&["limit=1", "limit=2"], "it was given already"),
            (&["range=x"], "expected a JSON object, or dotted names"),
        ];
        for (arguments, expected) in cases {
            let told = built(arguments).unwrap_err();
            assert!(told.contains(expected), "{arguments:?}: {told}");
        }
    }

    #[test]
    fn file_argument_is_always_a_string() {
        let pair = Argument { name: "query".to_owned(), value: RawValue::Text("[1]\n".to_owned()) };
        assert_eq!(build(&schema(), Map::new(), &[pair]).unwrap(), json!({"query": "[1]\n"}));
    }

    #[test]
    fn pairs_are_merged_into_json_arguments() {
        let Value::Object(base) = json!({"query": "x", "symbols": ["A"]}) else { unreachable!() };
        let pairs = [Argument::parse("limit=3").unwrap(), Argument::parse("symbols=B").unwrap()];
        let expected = json!({"query": "x", "symbols": ["A", "B"], "limit": 3});
        assert_eq!(build(&schema(), base, &pairs).unwrap(), expected);
    }
}
