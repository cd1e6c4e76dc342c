//! Validates the input against the tool's schema and reports every problem with a valid value.

use std::borrow::Cow;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::{Map, Value};

use super::Call;
use super::wording::Wording;
use crate::context::Lang;
use crate::error::{Problem, ToolError};
use crate::registry::{ToolEntry, suggest_similar};

/// Maximum number of reported problems.
const MAX_PROBLEMS: usize = 20;
/// Maximum length of a quoted value.
const MAX_SHOWN_CHARS: usize = 120;

/// Returns the normalised input, or an error with all problems.
pub(super) fn validate(call: &Call) -> Result<Cow<'_, Value>, ToolError> {
    let input = without_nulls(&call.input, call.entry().input_schema());
    if call.entry().input.is_valid(&input)? {
        return Ok(with_whole_numbers(input));
    }
    let unquoted = unquoted(call.entry(), &input)?;
    if call.entry().input.is_valid(&unquoted)? {
        return Ok(with_whole_numbers(Cow::Owned(unquoted)));
    }
    let wording = Wording(call.cx.lang);
    Err(invalid(call.entry(), wording, problems(call.entry(), wording, &input)?))
}

/// The input without arguments that the schema does not have, if that makes it valid.
pub(super) fn without_unknown(call: &Call) -> Option<Value> {
    let known = call.entry().input_schema().get("properties")?.as_object()?;
    let arguments = call.input.as_object()?;
    let kept = arguments.iter().filter(|(name, _)| known.contains_key(*name));
    let repaired: Map<String, Value> =
        kept.map(|(name, value)| (name.clone(), value.clone())).collect();
    let changed = repaired.len() < arguments.len();
    let repaired = Value::Object(repaired);
    (changed && matches!(call.entry().input.is_valid(&repaired), Ok(true))).then_some(repaired)
}

/// The input with strings replaced by the number, Boolean, list or object that they are the exact
/// JSON of (`"5"`, `"[1, 2]"`), where the schema does not accept the string.
fn unquoted(entry: &ToolEntry, input: &Value) -> Result<Value, ToolError> {
    let mut output = input.clone();
    for error in entry.input.validator()?.iter_errors(input).take(MAX_PROBLEMS) {
        let pointer = error.instance_path().as_str();
        if let Some(value) = output.pointer_mut(pointer)
            && let Some(parsed) = value.as_str().and_then(exact_json)
        {
            *value = parsed;
        }
    }
    Ok(output)
}

fn exact_json(text: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(text).ok()?;
    match &value {
        Value::Array(_) | Value::Object(_) => Some(value),
        // `1e3` and `0.10` may have been meant as text.
        Value::Number(_) | Value::Bool(_) => {
            let written = value.to_string();
            (written == text).then_some(value)
        }
        Value::Null | Value::String(_) => None,
    }
}

/// Error of deserialising validated input: the schema was too permissive.
pub(super) fn unparsed(entry: &ToolEntry, lang: Lang, error: &serde_json::Error) -> ToolError {
    let message = error.to_string();
    let expected = message.clone();
    invalid(
        entry,
        Wording(lang),
        vec![Problem {
            pointer: String::new(),
            message,
            seen: Value::Null,
            expected,
            example: None,
        }],
    )
}

fn invalid(entry: &ToolEntry, wording: Wording, problems: Vec<Problem>) -> ToolError {
    let listed: Vec<String> = problems.iter().map(describe).collect();
    let message = wording.invalid_input(entry.spec.name, &listed.join("; "));
    let mut error = ToolError::validation("INVALID_INPUT", message).hint(wording.hint());
    if let Some(example) = working_example(entry) {
        error = error.detail("example", example);
    }
    error.problems = problems;
    error
}

fn describe(problem: &Problem) -> String {
    if problem.pointer.is_empty() {
        problem.message.clone()
    } else {
        format!("`{}` {}", problem.pointer, problem.message)
    }
}

/// Removes optional arguments that are null: agents often send `null` for an omitted argument.
fn without_nulls<'a>(input: &'a Value, schema: &Value) -> Cow<'a, Value> {
    let Value::Object(arguments) = input else {
        // `null` instead of an object means no arguments.
        return if input.is_null() {
            Cow::Owned(Value::Object(Map::new()))
        } else {
            Cow::Borrowed(input)
        };
    };
    if !arguments.values().any(Value::is_null) {
        return Cow::Borrowed(input);
    }
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let kept = arguments
        .iter()
        .filter(|(name, value)| !value.is_null() || required.contains(&name.as_str()));
    Cow::Owned(Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect()))
}

/// Converts `2.0` to `2`: JSON Schema accepts it as an integer, serde does not.
fn with_whole_numbers(input: Cow<'_, Value>) -> Cow<'_, Value> {
    if !has_whole_float(&input) {
        return input;
    }
    let mut input = input.into_owned();
    write_whole(&mut input);
    Cow::Owned(input)
}

fn has_whole_float(value: &Value) -> bool {
    match value {
        Value::Number(number) => whole(number).is_some(),
        Value::Array(items) => items.iter().any(has_whole_float),
        Value::Object(members) => members.values().any(has_whole_float),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

fn write_whole(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(integer) = whole(number) {
                *number = integer.into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(write_whole),
        Value::Object(members) => members.values_mut().for_each(write_whole),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Converts an integral float that a double represents exactly.
fn whole(number: &serde_json::Number) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = number.as_f64().filter(|float| number.is_f64() && float.abs() <= EXACT)?;
    #[expect(clippy::cast_possible_truncation, reason = "whole and small enough, as just checked")]
    (float.fract() == 0.0).then_some(float as i64)
}

fn problems(entry: &ToolEntry, wording: Wording, input: &Value) -> Result<Vec<Problem>, ToolError> {
    let example = working_example(entry);
    let errors = entry.input.validator()?.iter_errors(input);
    Ok(errors
        .flat_map(|error| explain(&error, wording, input, entry.input_schema(), example.as_ref()))
        .take(MAX_PROBLEMS)
        .collect())
}

fn explain(
    error: &ValidationError<'_>,
    wording: Wording,
    input: &Value,
    schema: &Value,
    example: Option<&Value>,
) -> Vec<Problem> {
    let pointer = error.instance_path().as_str().to_owned();
    let seen = input.pointer(&pointer).map(shortened).unwrap_or_default();
    let subschema = schema_at(schema, &pointer);
    let example_at = |pointer: &str| example.and_then(|example| example.pointer(pointer)).cloned();
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let below = format!("{pointer}/{name}");
            let expected = schema_at(schema, &below).map_or_else(
                || wording.a_value().to_owned(),
                |schema| expectation(wording, schema),
            );
            let example =
                example_at(&below).or_else(|| schema_at(schema, &below).and_then(sample_value));
            vec![Problem {
                message: wording.is_required().to_owned(),
                seen: Value::Null,
                expected,
                example,
                pointer: below,
            }]
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let known =
                subschema.and_then(|schema| schema.get("properties")).and_then(Value::as_object);
            let unknown = |name: &String| unknown_argument(name, wording, &pointer, input, known);
            unexpected.iter().map(unknown).collect()
        }
        _ => {
            let expected = subschema.map_or_else(
                || wording.something_else().to_owned(),
                |schema| expectation(wording, schema),
            );
            let example = example_at(&pointer).or_else(|| subschema.and_then(sample_value));
            let message = if pointer.is_empty() {
                wording.arguments_are_not(&expected)
            } else {
                wording.not_as_expected(&seen.to_string(), &expected)
            };
            vec![Problem { pointer, message, seen, expected, example }]
        }
    }
}

fn unknown_argument(
    name: &str,
    wording: Wording,
    pointer: &str,
    input: &Value,
    known: Option<&Map<String, Value>>,
) -> Problem {
    let below = format!("{pointer}/{}", escape(name));
    let seen = input.pointer(&below).map(shortened).unwrap_or_default();
    let names: Vec<&str> =
        known.into_iter().flat_map(|known| known.keys()).map(String::as_str).collect();
    let close = suggest_similar(name, names.iter().copied());
    let message = wording.not_an_argument(close.first().copied());
    let expected = if names.is_empty() {
        wording.no_arguments().to_owned()
    } else {
        wording.one_of(&names.join(", "))
    };
    let pointer: String = below.chars().take(MAX_SHOWN_CHARS).collect();
    Problem { pointer, message, seen, expected, example: None }
}

fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The subschema of the value at `pointer`.
fn schema_at<'a>(schema: &'a Value, pointer: &str) -> Option<&'a Value> {
    pointer.split('/').skip(1).try_fold(schema, |schema, part| {
        let name = part.replace("~1", "/").replace("~0", "~");
        schema
            .get("properties")
            .and_then(|properties| properties.get(&name))
            .or_else(|| schema.get("items"))
            .or_else(|| schema.get("additionalProperties").filter(|inner| inner.is_object()))
    })
}

/// Describes the values a schema accepts.
fn expectation(wording: Wording, schema: &Value) -> String {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let listed: Vec<String> = values.iter().map(ToString::to_string).collect();
        return wording.one_of(&listed.join(", "));
    }
    let number = |keyword: &str| {
        schema.get(keyword).filter(|value| value.is_number()).map(ToString::to_string)
    };
    let range = |least: &str, most: &str, unit| {
        wording.range(number(least).as_deref(), number(most).as_deref(), unit)
    };
    let mut text = wording.kind(schema.get("type").and_then(Value::as_str).unwrap_or("value"));
    text += &range("minimum", "maximum", ["", ""]);
    text += &range("minLength", "maxLength", [" characters", " ตัวอักษร"]);
    text += &range("minItems", "maxItems", [" items", " รายการ"]);
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        text += &wording.that_matches(pattern);
    }
    text
}

/// A valid value from the schema's default, example or enum.
fn sample_value(schema: &Value) -> Option<Value> {
    let first = |keyword: &str| {
        schema.get(keyword).and_then(Value::as_array).and_then(|values| values.first())
    };
    first("examples")
        .or_else(|| schema.get("default"))
        .or_else(|| first("enum"))
        .or_else(|| schema.get("minimum"))
        .cloned()
}

/// The input of the tool's first example.
fn working_example(entry: &ToolEntry) -> Option<Value> {
    entry.spec.examples.first().and_then(|example| serde_json::from_str(example.params).ok())
}

fn shortened(value: &Value) -> Value {
    let text = value.to_string();
    if text.len() <= MAX_SHOWN_CHARS {
        return value.clone();
    }
    let start: String = text.chars().take(MAX_SHOWN_CHARS).collect();
    Value::String(format!("{start}…"))
}
