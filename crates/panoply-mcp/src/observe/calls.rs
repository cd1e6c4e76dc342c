//! Call log: one line at the start and one at the end of each call, with the same trace id.
//!
//! Argument values are not logged, because they may hold secrets. The log has the names of the
//! arguments and the sizes of their values; the audit log has a hash.

use panoply_contract::error::ErrorClass;
use panoply_contract::observe::{CallFinished, CallStarted, Observer};
use serde_json::Value;

/// Logs calls through `tracing`, under the target `panoply::call`.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallLog;

/// Arguments named in a line. The schema refuses calls with more.
const MAX_ARGUMENTS: usize = 16;

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
            arguments = shape(call.input),
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

/// Formats the shape of the arguments, such as `symbol:4 years:number`.
fn shape(input: &Value) -> String {
    use std::fmt::Write;

    let Some(arguments) = input.as_object() else { return String::new() };
    let mut shape = String::with_capacity(64);
    for (name, value) in arguments.iter().take(MAX_ARGUMENTS) {
        if !shape.is_empty() {
            shape.push(' ');
        }
        shape.extend(name.chars().take(40));
        let _infallible = match value {
            Value::Null => shape.write_str(":null"),
            Value::Bool(_) => shape.write_str(":bool"),
            Value::Number(_) => shape.write_str(":number"),
            Value::String(text) => write!(shape, ":{}", text.len()),
            Value::Array(items) => write!(shape, ":[{}]", items.len()),
            Value::Object(members) => write!(shape, ":{{{}}}", members.len()),
        };
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn argument_values_are_logged_by_size_only() {
        let input = json!({"symbol": "K-USA", "years": 5, "tags": ["a", "b"], "deep": {"x": 1}, "no": null, "yes": true});
        assert_eq!(shape(&input), "symbol:5 years:number tags:[2] deep:{1} no:null yes:bool");
        assert_eq!(shape(&json!("secret")), "");
    }
}
