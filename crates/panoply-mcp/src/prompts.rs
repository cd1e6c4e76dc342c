//! `prompts/list` and `prompts/get`.

use std::collections::BTreeMap;

use panoply_contract::prompt::Prompt;
use panoply_contract::registry::nearest;
use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, JsonObject,
    ListPromptsResult, PaginatedRequestParams, PromptMessage, Role,
};
use serde_json::Value;

use crate::pagination::{ListPage, PAGE_SIZE, page};
use crate::server::Inner;
use crate::tools::LIST_TTL_MS;

/// Lists the prompts of the packs in scope.
pub(crate) fn list(
    server: &Inner,
    request: Option<PaginatedRequestParams>,
) -> Result<ListPromptsResult, ErrorData> {
    let ListPage { items, next } = page(prompts(server).collect(), request, PAGE_SIZE)?;
    let mut result = ListPromptsResult::with_all_items(items.into_iter().map(listed).collect())
        .with_ttl_ms(LIST_TTL_MS)
        .with_cache_scope(rmcp::model::CacheScope::Public);
    result.next_cursor = next;
    Ok(result)
}

/// Renders a prompt with its arguments.
pub(crate) fn get(
    server: &Inner,
    request: GetPromptRequestParams,
) -> Result<GetPromptResponse, ErrorData> {
    let prompt = prompts(server)
        .find(|prompt| prompt.name == request.name)
        .ok_or_else(|| unknown(server, &request.name))?;
    let given = texts(request.arguments.unwrap_or_default());
    let text = prompt.fill(&given).map_err(|missing| {
        let message =
            format!("prompt `{}` needs the argument `{}`", prompt.name, missing.join("`, `"));
        ErrorData::invalid_params(message, None)
    })?;
    let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
    result.description = Some(prompt.description.to_owned());
    Ok(result.into())
}

fn prompts(server: &Inner) -> impl Iterator<Item = &Prompt> {
    server.kernel.packs(&server.scope).flat_map(|pack| &pack.prompts)
}

fn unknown(server: &Inner, name: &str) -> ErrorData {
    let shown: String = name.chars().take(100).collect();
    let hint = match nearest(name, prompts(server).map(|prompt| prompt.name)).first() {
        Some(name) => format!("did you mean `{name}`?"),
        None => "list them with `prompts/list`".to_owned(),
    };
    ErrorData::invalid_params(format!("unknown prompt: `{shown}`; {hint}"), None)
}

/// Arguments are strings; other JSON values are converted to their text.
fn texts(arguments: JsonObject) -> BTreeMap<String, String> {
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    arguments
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name, text(value)))
        .collect()
}

fn listed(prompt: &Prompt) -> rmcp::model::Prompt {
    let arguments = prompt.arguments.iter().map(|argument| {
        rmcp::model::PromptArgument::new(argument.name)
            .with_description(argument.description)
            .with_required(argument.default.is_none())
    });
    rmcp::model::Prompt::new(prompt.name, Some(prompt.description), Some(arguments.collect()))
        .with_title(prompt.title)
}
