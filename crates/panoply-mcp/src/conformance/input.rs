//! Tools and a prompt with input-required results, as in 2026-07-28 (SEP-2322).
//!
//! The server holds no state between rounds: it travels in a signed state.

use std::sync::LazyLock;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, GetPromptRequestParams, GetPromptResponse,
    InputRequiredResult, InputResponses,
};
use serde_json::{Map, Value, json};

use super::data::{Data, broken, complete};
use super::{Context, done};
use crate::elicit::round_trip;
use crate::elicit::signed_state::StateSigner;

static SIGNER: LazyLock<StateSigner> = LazyLock::new(StateSigner::random);
/// Tools whose first round carries a state.
const STATEFUL: [&str; 4] = [
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
];

/// One round of a tool.
pub(super) fn tool(
    request: &CallToolRequestParams,
    context: &Context,
) -> Result<CallToolResponse, ErrorData> {
    let step = round(request.request_state.as_deref())?;
    let wanted = requests(&request.name, step).unwrap_or_default();
    let wanted =
        if request.name.ends_with("_capabilities") { supported(wanted, context) } else { wanted };
    let answers = request.input_responses.as_ref();
    if !is_answered(&wanted, answers) {
        return required(&request.name, step, wanted).map(CallToolResponse::InputRequired);
    }
    if let Some(next) = self::requests(&request.name, step + 1) {
        return required(&request.name, step + 1, next).map(CallToolResponse::InputRequired);
    }
    done(&answers_text(&request.name, answers))
}

/// One round of the prompt.
pub(super) fn prompt(request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let wanted = requests(&request.name, 0).unwrap_or_default();
    if !is_answered(&wanted, request.input_responses.as_ref()) {
        return required(&request.name, 0, wanted).map(GetPromptResponse::InputRequired);
    }
    let text = answers_text(&request.name, request.input_responses.as_ref());
    let message = json!({"role": "user", "content": {"type": "text", "text": text}});
    complete(json!({"messages": [message]})).map(GetPromptResponse::Complete)
}

/// Requests of a round, by key.
fn requests(name: &str, step: usize) -> Option<Map<String, Value>> {
    Data::get().named("rounds", name)?.get(step)?.as_object().cloned()
}

/// Removes requests that the client does not support.
fn supported(wanted: Map<String, Value>, context: &Context) -> Map<String, Value> {
    let declared = context.client_capabilities();
    let declared = declared.and_then(|capabilities| serde_json::to_value(capabilities).ok());
    let can = |method: &str| {
        let capability = method.split('/').next().unwrap_or_default();
        declared.as_ref().is_some_and(|declared| declared.get(capability).is_some())
    };
    let asked = |request: &Value| request.get("method").and_then(Value::as_str).is_some_and(can);
    wanted.into_iter().filter(|(_, request)| asked(request)).collect()
}

/// Whether every request has an answer of the expected shape.
fn is_answered(wanted: &Map<String, Value>, answers: Option<&InputResponses>) -> bool {
    let Some(answers) = answers else { return false };
    wanted.iter().all(|(key, request)| {
        let Some(answer) = answers.get(key) else { return false };
        match request.get("method").and_then(Value::as_str) {
            Some("elicitation/create") => answer.get("action").is_some_and(Value::is_string),
            Some("sampling/createMessage") => answer.get("content").is_some(),
            Some("roots/list") => answer.get("roots").is_some_and(Value::is_array),
            Some(_) | None => false,
        }
    })
}

fn required(
    name: &str,
    step: usize,
    wanted: Map<String, Value>,
) -> Result<InputRequiredResult, ErrorData> {
    let state = STATEFUL.contains(&name).then(|| sealed(step)).flatten();
    round_trip::required(wanted, state).map_err(broken)
}

/// Formats the answers for the final text.
fn answers_text(name: &str, answers: Option<&InputResponses>) -> String {
    let answers = serde_json::to_value(answers).unwrap_or_default();
    match answers.pointer("/user_name/content/name").and_then(Value::as_str) {
        Some(user) => format!("Hello, {user}!"),
        None if name.ends_with("_state") => format!("state-ok: {answers}"),
        None => format!("Answered: {answers}"),
    }
}

/// Returns the round of a signed state; the first round without state.
fn round(state: Option<&str>) -> Result<usize, ErrorData> {
    let Some(state) = state else { return Ok(0) };
    let step = SIGNER.verify(state, "").and_then(|step| step.parse().ok());
    step.ok_or_else(|| ErrorData::invalid_params("requestState was altered", None))
}

fn sealed(step: usize) -> Option<String> {
    SIGNER.sign(&step.to_string(), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_signed_state_is_trusted() {
        assert_eq!(round(None).unwrap(), 0);
        let state = sealed(1).unwrap();
        assert_eq!(round(Some(&state)).unwrap(), 1);
        let altered = state.replacen('1', "2", 1);
        for state in ["", "1", "1.", altered.as_str()] {
            assert!(round(Some(state)).is_err(), "state: {state:?}");
        }
    }

    #[test]
    fn answer_of_the_wrong_shape_is_ignored() {
        let wanted = requests("test_input_required_result_elicitation", 0).unwrap();
        let cases = [
            (json!({"user_name": {"action": "accept", "content": {"name": "A"}}}), true),
            (json!({"user_name": {"action": "accept"}, "extra": 1}), true),
            (json!({"user_name": "A"}), false),
            (json!({"other": {"action": "accept"}}), false),
        ];
        for (answers, expected) in cases {
            let parsed: InputResponses = serde_json::from_value(answers.clone()).unwrap();
            assert_eq!(is_answered(&wanted, Some(&parsed)), expected, "answers: {answers}");
        }
    }
}
