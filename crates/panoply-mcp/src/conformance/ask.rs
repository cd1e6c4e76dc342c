//! Tools that send requests to the client, as in versions before 2026-07-28.

use std::time::Duration;

use rmcp::model::{CallToolRequestParams, CallToolResponse, ClientCapabilities, ErrorData};
use serde_json::{Value, json};

use super::data::{Data, broken, from_json};
use super::{Context, done};
use crate::elicit;

/// Without a session no answer can arrive, and the suite should not wait for a minute.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

/// Refuses a client without the sampling capability.
pub(super) fn needs_sampling(context: &Context) -> Result<CallToolResponse, ErrorData> {
    let declared =
        context.client_capabilities().and_then(|capabilities| to_json(&capabilities).ok());
    if declared.is_some_and(|capabilities| capabilities.get("sampling").is_some()) {
        return done("The client can sample");
    }
    let needed: ClientCapabilities = from_json(json!({"sampling": {}}))?;
    Err(ErrorData::missing_required_client_capability(needed))
}

/// Sends a sampling request.
pub(super) async fn sampling(
    request: &CallToolRequestParams,
    context: &Context,
) -> Result<CallToolResponse, ErrorData> {
    let message =
        json!({"role": "user", "content": {"type": "text", "text": argument(request, "prompt")}});
    let params = json!({"messages": [message], "maxTokens": 100});
    let answer =
        ask(context, json!({"method": "sampling/createMessage", "params": params})).await?;
    let content = answer.get("content");
    let text =
        content.and_then(|content| content.get("text").or_else(|| content.pointer("/0/text")));
    done(&format!("LLM response: {}", text.and_then(Value::as_str).unwrap_or("(not a text)")))
}

/// Sends the elicitation form of the tool.
pub(super) async fn elicitation(
    request: &CallToolRequestParams,
    context: &Context,
) -> Result<CallToolResponse, ErrorData> {
    let fields = Data::get().named("forms", &request.name).cloned().unwrap_or_default();
    let mut schema = json!({"type": "object", "properties": fields});
    if request.name == "test_elicitation"
        && let Some(schema) = schema.as_object_mut()
    {
        schema.insert("required".to_owned(), json!(["username", "email"]));
    }
    let message = match argument(request, "message") {
        "" => "Please fill in the form",
        message => message,
    };
    let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
    let answer = ask(context, json!({"method": "elicitation/create", "params": params})).await?;
    let action = answer.get("action").and_then(Value::as_str).unwrap_or_default();
    let content = answer.get("content").cloned().unwrap_or_default();
    if request.name == "test_elicitation" {
        return done(&format!("User response: action={action}, content={content}"));
    }
    done(&format!("Elicitation completed: action={action}, content={content}"))
}

async fn ask(context: &Context, request: Value) -> Result<Value, ErrorData> {
    elicit::request(&context.peer, request, ANSWER_TIMEOUT)
        .await
        .map_err(|why| ErrorData::internal_error(format!("the client did not answer: {why}"), None))
}

fn to_json(value: &impl serde::Serialize) -> Result<Value, ErrorData> {
    serde_json::to_value(value).map_err(broken)
}

fn argument<'a>(request: &'a CallToolRequestParams, name: &str) -> &'a str {
    let value = request.arguments.as_ref().and_then(|arguments| arguments.get(name));
    value.and_then(Value::as_str).unwrap_or_default()
}
