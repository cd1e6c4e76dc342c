//! Call log: one line at the start and one at the end of each call, with the same trace id.
//!
//! The start has the arguments: secrets are redacted, of long texts and lists only the size is
//! logged. The end has a summary: the beginning of the reply's text. The audit log has hashes.

use panoply_contract::error::ErrorClass;
use panoply_contract::observe::{CallFinished, CallStarted, Observer};
use serde_json::Value;

/// Logs calls through `tracing`, under the target `panoply::call`.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallLog;

/// Arguments in a line. The schema refuses calls with more.
const MAX_ARGUMENTS: usize = 16;
/// Longer texts are logged by their length.
const MAX_TEXT_CHARS: usize = 40;
/// Characters of the reply's text in a line.
const MAX_SUMMARY_CHARS: usize = 80;
/// Parts of argument names whose values are never logged.
const SECRET_NAMES: [&str; 6] = ["token", "secret", "password", "key", "credential", "auth"];

impl Observer for CallLog {
    fn started(&self, call: &CallStarted<'_>) {
        if !tracing::enabled!(target: "panoply::call", tracing::Level::INFO) {
            return;
        }
        tracing::info!(
            target: "panoply::call",
            traceId = %call.cx.trace_id,
            correlationId = %call.cx.correlation_id,
            tool = call.tool,
            pack = call.pack,
            caller = call.cx.caller.partition,
            agentId = call.cx.agent_id,
            agentVersion = call.cx.agent_version,
            arguments = redacted(call.input),
            "call started"
        );
    }

    fn finished(&self, call: &CallFinished<'_>) {
        let micros = u64::try_from(call.elapsed.as_micros()).unwrap_or(u64::MAX);
        match call.error {
            None => tracing::info!(
                target: "panoply::call",
                traceId = %call.cx.trace_id,
                tool = call.tool,
                status = "ok",
                micros,
                cached = call.cached,
                bytes = call.output_bytes,
                summary = summary(call.text),
                "call ended"
            ),
            Some(error) if error.kind.class() == ErrorClass::System => tracing::error!(
                target: "panoply::call",
                traceId = %call.cx.trace_id,
                tool = call.tool,
                status = "error",
                micros,
                code = &*error.code,
                class = error.kind.class().as_str(),
                cause = error.cause_chain(),
                "call ended"
            ),
            Some(error) => tracing::warn!(
                target: "panoply::call",
                traceId = %call.cx.trace_id,
                tool = call.tool,
                status = "error",
                micros,
                code = &*error.code,
                class = error.kind.class().as_str(),
                "call ended"
            ),
        }
    }
}

/// The first line of a reply's text, cut.
fn summary(text: &str) -> &str {
    cut(text.lines().next().unwrap_or_default(), MAX_SUMMARY_CHARS)
}

/// The first characters of a text.
fn cut(text: &str, chars: usize) -> &str {
    if text.len() <= chars {
        return text;
    }
    text.char_indices().nth(chars).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

/// Formats the arguments, such as `symbol=K-USA years=5 content=<2048 chars> token=<secret>`.
fn redacted(input: &Value) -> String {
    use std::fmt::Write;

    let Some(arguments) = input.as_object() else { return String::new() };
    let mut line = String::with_capacity(64);
    for (name, value) in arguments.iter().take(MAX_ARGUMENTS) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(cut(name, MAX_TEXT_CHARS));
        let lower = name.to_lowercase();
        let _infallible = match value {
            _ if SECRET_NAMES.iter().any(|secret| lower.contains(secret)) => {
                line.write_str("=<secret>")
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => write!(line, "={value}"),
            Value::String(text) if cut(text, MAX_TEXT_CHARS).len() == text.len() => {
                line.push('=');
                line.push_str(text);
                Ok(())
            }
            Value::String(text) => write!(line, "=<{} chars>", text.chars().count()),
            Value::Array(items) => write!(line, "=<{} items>", items.len()),
            Value::Object(members) => write!(line, "=<{} members>", members.len()),
        };
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_and_long_arguments_are_redacted() {
        let input = json!({"symbol": "K-USA", "years": 5, "tags": ["a", "b"], "deep": {"x": 1},
            "no": null, "content": "x".repeat(2000), "apiKey": "k", "token": "front.1"});
        assert_eq!(
            redacted(&input),
            "symbol=K-USA years=5 tags=<2 items> deep=<1 members> no=null content=<2000 chars> apiKey=<secret> token=<secret>"
        );
        assert_eq!(redacted(&json!("secret")), "");
    }

    #[test]
    fn a_summary_is_the_beginning_of_the_first_line() {
        assert_eq!(summary("Found 2 funds.\nA"), "Found 2 funds.");
        assert_eq!(summary(&"x".repeat(500)).len(), MAX_SUMMARY_CHARS);
    }
}
