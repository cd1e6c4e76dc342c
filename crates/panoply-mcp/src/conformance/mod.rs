//! Fixture of the official conformance suites; compiled only by `./test`.
//!
//! It shows parts of the protocol that the kernel deliberately does not offer to packs (sampling,
//! elicitation, audio, input-required results), so it uses rmcp directly and bypasses the
//! contract. Names, texts and schemas are given by the suites, as data in `fixture.json`.

mod ask;
mod data;
mod input;
mod wrap;

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, ProgressNotificationParam, Prompt, ReadResourceResult,
    Resource, ResourceTemplate, ServerNotification, Tool,
};
use rmcp::service::RequestContext;
use serde_json::json;

use data::{Data, complete};
pub(crate) use wrap::over;
pub use wrap::pack;

/// The pack's name on the command line: `panoply http conformance`.
pub const PACK: &str = "conformance";

type Context = RequestContext<RoleServer>;

/// All tools of the fixture.
pub fn tools() -> Vec<Tool> {
    Data::get().list("tools", "tool")
}

/// One tool of the fixture.
pub fn tool(name: &str) -> Option<Tool> {
    tools().into_iter().find(|tool| tool.name == name)
}

/// All prompts of the fixture.
pub fn prompts() -> Vec<Prompt> {
    Data::get().list("prompts", "prompt")
}

/// All resources of the fixture.
pub fn resources() -> Vec<Resource> {
    Data::get().list("resources", "resource")
}

/// All resource templates of the fixture.
pub fn templates() -> Vec<ResourceTemplate> {
    Data::get().section("templates")
}

/// Reads a resource of the fixture, or `None` when it is not one.
pub fn read(uri: &str) -> Option<Result<ReadResourceResult, ErrorData>> {
    let contents =
        match uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data")) {
            Some(id) => {
                let text =
                    json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                json!({"uri": uri, "mimeType": "application/json", "text": text.to_string()})
            }
            None => Data::get().find("resources", "/resource/uri", uri)?.get("contents")?.clone(),
        };
    Some(complete(json!({"contents": [contents]})))
}

/// Gets a prompt of the fixture, or `None` when it is not one.
pub fn prompt(request: &GetPromptRequestParams) -> Option<Result<GetPromptResponse, ErrorData>> {
    let entry = Data::get().find("prompts", "/prompt/name", &request.name)?;
    let Some(result) = entry.get("result") else {
        return Some(input::prompt(request));
    };
    let mut text = result.to_string();
    for (name, value) in request.arguments.iter().flatten() {
        let value = json!(value.as_str().unwrap_or_default()).to_string();
        text = text.replace(&format!("{{{name}}}"), value.trim_matches('"'));
    }
    let result = serde_json::from_str(&text).map_err(data::broken);
    let result: Result<GetPromptResult, ErrorData> = result.and_then(complete);
    Some(result.map(GetPromptResponse::Complete))
}

/// Calls a tool of the fixture, or `None` when it is not one.
pub async fn call(
    request: &CallToolRequestParams,
    context: &Context,
) -> Option<Result<CallToolResponse, ErrorData>> {
    let entry = Data::get().find("tools", "/tool/name", &request.name)?;
    if let Some(result) = entry.get("result") {
        return Some(complete::<CallToolResult>(result.clone()).map(CallToolResponse::Complete));
    }
    Some(behave(request, context).await)
}

/// Tools without a fixed result.
async fn behave(
    request: &CallToolRequestParams,
    context: &Context,
) -> Result<CallToolResponse, ErrorData> {
    match request.name.as_ref() {
        "test_tool_with_logging" => {
            for line in
                ["Tool execution started", "Tool processing data", "Tool execution completed"]
            {
                log(context, line).await;
                pause().await;
            }
            done("Logging test completed")
        }
        "test_logging_tool" => {
            if context.meta.log_level().is_some() {
                log(context, "A line that was asked for").await;
            }
            done("Logging test completed")
        }
        "test_tool_with_progress" => {
            for percent in [0.0, 50.0, 100.0] {
                progress(context, percent).await;
                pause().await;
            }
            done("Progress test completed")
        }
        "test_reconnection" => {
            pause().await;
            done("Reconnection test completed")
        }
        "test_streaming_elicitation" => {
            progress(context, 0.0).await;
            input::tool(request, context)
        }
        "test_missing_capability" => ask::needs_sampling(context),
        "test_sampling" => ask::sampling(request, context).await,
        name if name.starts_with("test_elicitation") => ask::elicitation(request, context).await,
        _ => input::tool(request, context),
    }
}

/// A result of one text.
fn done(text: &str) -> Result<CallToolResponse, ErrorData> {
    let result = complete::<CallToolResult>(json!({"content": [{"type": "text", "text": text}]}));
    result.map(CallToolResponse::Complete)
}

/// The suites require notifications to arrive one by one.
async fn pause() {
    tokio::time::sleep(Duration::from_millis(50)).await;
}

/// Built from JSON, because rmcp marks its types for logging as deprecated.
async fn log(context: &Context, line: &str) {
    let note =
        json!({"method": "notifications/message", "params": {"level": "info", "data": line}});
    if let Ok(note) = data::from_json::<ServerNotification>(note) {
        // The client may have disconnected.
        let _ = context.peer.send_notification(note).await;
    }
}

async fn progress(context: &Context, percent: f64) {
    if let Some(token) = context.meta.get_progress_token() {
        let note = ProgressNotificationParam::new(token, percent).with_total(100.0);
        // The client may have disconnected.
        let _ = context.peer.notify_progress(note).await;
    }
}
