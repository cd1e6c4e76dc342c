//! The baseline: the same tool on plain rmcp.

use std::sync::Arc;

use axum::Router;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};

use crate::echo::{self, Text};

/// A server with one tool.
#[derive(Clone)]
pub(crate) struct Bare {
    tool: Tool,
}

impl Bare {
    pub(crate) fn new() -> Self {
        let schema = |required: bool| {
            let mut schema = JsonObject::new();
            schema.insert("type".to_owned(), "object".into());
            schema.insert("properties".to_owned(), json!({"text": {"type": "string"}}));
            if required {
                schema.insert("required".to_owned(), json!(["text"]));
            }
            Arc::new(schema)
        };
        let tool = Tool::new(echo::NAME, "Returns its input.", schema(true))
            .with_raw_output_schema(schema(false));
        Self { tool }
    }

    /// Configured like Panoply: without sessions, JSON replies.
    pub(crate) fn router(self) -> Router {
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true);
        let service = StreamableHttpService::new(
            move || Ok(self.clone()),
            Arc::new(NeverSessionManager::default()),
            config,
        );
        Router::new().nest_service("/mcp", service)
    }
}

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![self.tool.clone()]))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == echo::NAME).then(|| self.tool.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let Text { text } = serde_json::from_value(arguments)
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let content = vec![ContentBlock::text(format!("You said: {text}"))];
        let mut result = CallToolResult::success(content);
        result.structured_content = Some(json!({"text": text}));
        Ok(result.into())
    }
}
