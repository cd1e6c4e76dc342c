//! Methods by protocol version, and the error for a request that matches none.

#![expect(deprecated, reason = "2026-07-28 retires logging/setLevel, older clients still send it")]

use rmcp::model::{
    CallToolRequestParams, CompleteRequestParams, CustomRequest, ErrorCode, ErrorData,
    GetPromptRequestParams, InitializeRequestParams, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, SetLevelRequestParams,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Returns the error for a request that rmcp could not match: unknown method or invalid params.
/// `version` is the protocol version that the request states.
pub(crate) fn unmatched_request(
    request: &CustomRequest,
    version: Option<&ProtocolVersion>,
) -> ErrorData {
    let params = request.params.clone().unwrap_or_else(|| Value::Object(Map::new()));
    let method = request.method.as_str();
    if is_retired(method, version) {
        return unknown_method(method);
    }
    let reason = match method {
        "initialize" => params_error::<InitializeRequestParams>(params),
        "tools/call" => params_error::<CallToolRequestParams>(params),
        "prompts/get" => params_error::<GetPromptRequestParams>(params),
        "resources/read" => params_error::<ReadResourceRequestParams>(params),
        "completion/complete" => params_error::<CompleteRequestParams>(params),
        "logging/setLevel" => params_error::<SetLevelRequestParams>(params),
        "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => {
            params_error::<PaginatedRequestParams>(params)
        }
        "ping"
        | "server/discover"
        | "resources/subscribe"
        | "resources/unsubscribe"
        | "subscriptions/listen"
        | "tasks/get"
        | "tasks/update"
        | "tasks/cancel" => "params do not have the shape this method asks for".to_owned(),
        _ => return unknown_method(method),
    };
    ErrorData::invalid_params(format!("invalid params for `{method}`: {reason}"), None)
}

/// Whether this protocol version has removed the method: 2026-07-28 removed five.
pub(crate) fn is_retired(method: &str, version: Option<&ProtocolVersion>) -> bool {
    let retired = matches!(
        method,
        "initialize"
            | "ping"
            | "logging/setLevel"
            | "resources/subscribe"
            | "resources/unsubscribe"
    );
    retired && version.is_some_and(|version| !version.has_initialize())
}

/// JSON-RPC error for an unknown method.
pub(crate) fn unknown_method(method: &str) -> ErrorData {
    let message = format!("unknown method `{}`", truncated(method));
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

fn params_error<T: DeserializeOwned>(params: Value) -> String {
    if !params.is_object() {
        return "params must be an object".to_owned();
    }
    match serde_json::from_value::<T>(params) {
        Err(error) => error.to_string(),
        Ok(_) => "`_meta` must be an object".to_owned(),
    }
}

/// Fuzzers send names of ten thousand characters; the reply echoes only the start.
fn truncated(name: &str) -> String {
    const MAX_ECHOED_CHARS: usize = 80;
    match name.char_indices().nth(MAX_ECHOED_CHARS) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
        None => name.to_owned(),
    }
}
