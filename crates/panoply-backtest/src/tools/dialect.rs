//! The published shape: answers as they are, with the time they took, and errors under one of
//! the eight codes of the contract.
//!
//! `metadata.queryTimeMs` differs from call to call, so it is not part of what a tool answers and
//! not of what `out_hash` is taken of: the dialect writes it in, from the pipeline's own clock.

use panoply_contract::dialect::{Answered, Dialect};
use panoply_contract::error::{ErrorKind, ToolError};
use panoply_contract::json::Json;
use serde_json::{Value, json};

use crate::scan::{self, Token};

/// How backtest tools speak.
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

    fn structured(&self, answer: &Answered<'_>) -> Json {
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

/// The answer with the time it took as the last member of its `metadata`. Every answer of the pack
/// ends with that object, so it is found from the end; one that did not would stay as it is.
fn with_query_time(data: &Json, millis: u64) -> Json {
    const NAME: &str = r#""metadata":"#;
    let text = data.text();
    let start = text.rfind(r#""metadata":{"#).map(|place| place + NAME.len());
    let metadata = start.and_then(|start| scan::token(text.get(start..)?));
    // Only what one brace closes after it is a member of the whole and not of something inside.
    let Some((Token::Object(metadata), "}")) = metadata else { return data.clone() };
    let Some(before) = text.strip_suffix("}}") else { return data.clone() };
    let comma = if metadata == "{}" { "" } else { "," };
    Json::spliced([before, comma, &format!(r#""queryTimeMs":{millis}}}}}"#)])
}

/// The contract's code for an error of the kernel. Its own codes stay what they are, and so do
/// those of refusals that the contract does not know, such as a caller without permission.
fn code_of(error: &ToolError) -> &str {
    match &*error.code {
        "INVALID_INPUT" if is_about_path(error) => "INVALID_JSON_PATH",
        "INVALID_INPUT" | "INPUT_TOO_LARGE" => "INVALID_PARAMETER",
        "TIMEOUT" => "QUERY_TIMEOUT",
        "REPLY_TOO_LARGE" => "RESULT_TOO_LARGE",
        // The contract has one code for all that is wrong with stored runs; the message says what.
        "PACK_DAMAGED" => "DATABASE_ERROR",
        _ if error.kind == ErrorKind::System => "DATABASE_ERROR",
        code => code,
    }
}

/// Whether a text that is no path is all that is wrong.
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
