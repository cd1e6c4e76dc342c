//! Reply format of this pack: structured content at the top level, and errors as JSON-RPC errors
//! whose `data` has line, column, value, hint and example.

use panoply_contract::dialect::{CallFailure, Dialect, Envelope, Fault, error_result};
use panoply_contract::error::{ErrorClass, ErrorKind, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

/// Internal key of an error's working example. On the wire it is `example`; internally that name is
/// reserved for example calls, which the kernel turns into suggestions.
pub(super) const EXAMPLE_KEY: &str = "working_example";

/// Code of the kernel for arguments above the size limit. Its general advice, to split the input,
/// would split a pool.
const TOO_LARGE: &str = "INPUT_TOO_LARGE";
const TOO_LARGE_HINT: &str = "give fewer holdings at once, each with its whole history, or run `panoply cgt report`, which reads files of any size; a holding must not be divided";
const TOO_LARGE_EXAMPLE: &str = "panoply cgt report trades.cgt --year 2024 --json";

/// How errors are sent.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum ErrorForm {
    /// As JSON-RPC errors.
    #[default]
    Protocol,
    /// As results with `isError`.
    Result,
}

pub(super) struct CgtDialect {
    errors: ErrorForm,
}

impl CgtDialect {
    pub(super) fn new(errors: ErrorForm) -> Self {
        Self { errors }
    }
}

impl Dialect for CgtDialect {
    fn failure(&self, failed: &CallFailure<'_>) -> Envelope {
        match self.errors {
            ErrorForm::Result => error_result(&self.error_body(failed.error), failed, true),
            ErrorForm::Protocol => {
                let mut data = data_of(failed.error);
                if let Some(object) = data.as_object_mut() {
                    object.insert("trace_id".to_owned(), failed.metadata.trace_id.clone().into());
                    object.insert("agentHints".to_owned(), failed.hints.value());
                }
                Envelope::Refusal {
                    fault: fault_of(failed.error.kind),
                    message: message_of(failed.error),
                    data,
                }
            }
        }
    }

    fn error_body(&self, error: &ToolError) -> Value {
        let mut body = data_of(error);
        if let Some(object) = body.as_object_mut() {
            object.insert("message".to_owned(), error.message.clone().into());
        }
        json!({"error": body})
    }
}

const fn fault_of(kind: ErrorKind) -> Fault {
    match kind.class() {
        ErrorClass::Validation | ErrorClass::Business => Fault::Input,
        ErrorClass::System => Fault::Server,
    }
}

/// Message with hint and example appended: many clients show nothing else.
fn message_of(error: &ToolError) -> String {
    let mut message = error.message.clone();
    if error.code == TOO_LARGE {
        return format!("{message}\nhint: {TOO_LARGE_HINT}\nexample: {TOO_LARGE_EXAMPLE}");
    }
    if let Some(hint) = &error.hint {
        message += &format!("\nhint: {hint}");
    }
    match error.details.get(EXAMPLE_KEY).or_else(|| error.details.get("example")) {
        Some(Value::String(example)) => message += &format!("\nexample: {example}"),
        Some(example) => message += &format!("\nexample: {example}"),
        None => {}
    }
    message
}

fn data_of(error: &ToolError) -> Value {
    let mut data = json!({"code": error.code, "class": error.kind.class().as_str()});
    if let Some(object) = data.as_object_mut() {
        if let Some(hint) = &error.hint {
            object.insert("hint".to_owned(), hint.clone().into());
        }
        if let Some(Value::Object(details)) = error.wire_details() {
            object.extend(details);
            if let Some(example) = object.shift_remove(EXAMPLE_KEY) {
                object.insert("example".to_owned(), example);
            }
        }
        if error.code == TOO_LARGE {
            object.insert("hint".to_owned(), TOO_LARGE_HINT.into());
            object.insert("example".to_owned(), TOO_LARGE_EXAMPLE.into());
        }
        object.insert("retryable".to_owned(), error.kind.retryable().into());
    }
    data
}
