//! The pack's dialect: replies with their query time, and errors with one of the eight codes of the
//! contract.
//!
//! `metadata.queryTimeMs` differs from call to call, so it is not part of a tool's output or of
//! `out_hash`: the dialect adds it afterwards, from the latency that the pipeline measured.

use panoply_contract::dialect::{CallSuccess, Dialect};
use panoply_contract::error::{ErrorKind, ToolError};
use panoply_contract::json::Json;
use serde_json::{Value, json};

use crate::scan::{self, Token};

/// The dialect of the backtest pack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BacktestDialect;

impl Dialect for BacktestDialect {
    fn output_schema(&self, mut data: Value) -> Value {
        let metadata = data.pointer_mut("/properties/metadata");
        if let Some(metadata) = metadata.and_then(Value::as_object_mut) {
            if let Some(Value::Object(properties)) = metadata.get_mut("properties") {
                let schema = json!({
                    "type": "integer", "minimum": 0,
                    "description": "How long the query took, in milliseconds; not part of `out_hash`.",
                });
                properties.insert("queryTimeMs".to_owned(), schema);
            }
            if let Some(Value::Array(required)) = metadata.get_mut("required") {
                required.push("queryTimeMs".into());
            }
        }
        data
    }

    fn structured(&self, answer: &CallSuccess<'_>) -> Json {
        with_query_time(answer.data, answer.audit.latency_ms)
    }

    fn error_body(&self, error: &ToolError) -> Value {
        let mut details = error.wire_details().unwrap_or_else(|| json!({}));
        if let (Some(hint), Some(details)) = (&error.hint, details.as_object_mut()) {
            details.insert("hint".to_owned(), hint.clone().into());
        }
        let details = if details.as_object().is_some_and(serde_json::Map::is_empty) {
            Value::Null
        } else {
            details
        };
        json!({"error": {"code": code_of(error), "message": error.message, "details": details}})
    }
}

/// Adds the query time to `metadata`, the last member of every reply of this pack. Any other JSON is
/// returned unchanged.
fn with_query_time(data: &Json, millis: u64) -> Json {
    let text = data.text();
    let last = scan::members(text).last();
    let (Some(("metadata", Token::Object(metadata))), Some(before)) =
        (last, text.strip_suffix("}}"))
    else {
        return data.clone();
    };
    let comma = if metadata == "{}" { "" } else { "," };
    Json::spliced([before, comma, &format!(r#""queryTimeMs":{millis}}}}}"#)])
}

/// Maps the kernel's error codes to those of the contract. The pack's own codes are unchanged, and
/// so are codes that the contract does not cover, such as a missing permission.
fn code_of(error: &ToolError) -> &str {
    match &*error.code {
        "INVALID_INPUT" if is_about_path(error) => "INVALID_JSON_PATH",
        "INVALID_INPUT" | "INPUT_TOO_LARGE" => "INVALID_PARAMETER",
        "TIMEOUT" => "QUERY_TIMEOUT",
        "REPLY_TOO_LARGE" => "RESULT_TOO_LARGE",
        // The contract has one code for all faults of stored runs; the message has the details.
        "PACK_DAMAGED" => "DATABASE_ERROR",
        _ if error.kind == ErrorKind::System => "DATABASE_ERROR",
        code => code,
    }
}

/// Whether the only problem is a text that is not a property path.
fn is_about_path(error: &ToolError) -> bool {
    let is_path = |pointer: &str| pointer == "/propertyPath";
    !error.problems.is_empty()
        && error
            .problems
            .iter()
            .all(|problem| is_path(&problem.pointer) && problem.seen.is_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_time_is_inserted_only_into_top_level_metadata() {
        let cases = [
            json!({"events": [{"metadata": {"a": 1}}], "metadata": {"b": "}"}}),
            json!({"metadata": {}}),
            json!({"x": {"metadata": {"c": 1}}}),
            json!({"x": r#""metadata":{"#}),
            json!({"x": [{"metadata": {}}]}),
        ];
        for value in cases {
            let with = with_query_time(&Json::of(&value).unwrap(), 7).value();
            let mut expected = value.clone();
            if let Some(metadata) = expected.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.insert("queryTimeMs".to_owned(), 7.into());
            }
            assert_eq!(with, expected, "{value}");
        }
    }
}
