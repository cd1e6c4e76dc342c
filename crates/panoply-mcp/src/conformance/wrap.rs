//! Wraps the real handler with the fixture, so that the suites test the real transports and limits.

use std::collections::BTreeMap;
use std::sync::Arc;

use panoply_contract::consent::Elicitor;
use panoply_contract::context::Caller;
use panoply_contract::dialect::Unified;
use panoply_contract::kernel::{Kernel, Scope};
use panoply_contract::pack::{Pack, PackInfo};
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, ErrorData, GetPromptRequestParams, GetPromptResponse, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerConfig, SubscribeRequestParams, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer};

use http::request::Parts;
use tokio_util::sync::CancellationToken;

use super::PACK;
use crate::transport::tool_call::{Answer, AnswerToolCalls, ToolCall};

/// An empty pack: its presence turns the fixture on.
pub fn pack() -> Pack {
    let info = PackInfo {
        name: PACK,
        title: "Conformance fixture",
        instructions: "Tools that the official conformance suites ask for. Of no use to anybody else.",
    };
    Pack::new(info, Unified)
}

/// A handler with the fixture's tools, prompts and resources in addition to its own.
#[derive(Clone)]
pub(crate) struct WithFixture<H> {
    inner: H,
    /// Whether the pack is served; without it all requests go to the inner handler.
    on: bool,
}

/// Wraps all handlers of an HTTP server.
pub(crate) fn over<H>(
    all: H,
    packs: BTreeMap<&'static str, H>,
    kernel: &Kernel,
) -> (WithFixture<H>, BTreeMap<&'static str, WithFixture<H>>) {
    let on = kernel.packs(&Scope::All).any(|pack| pack.info.name == PACK);
    let wrap = |inner| WithFixture { inner, on };
    (wrap(all), packs.into_iter().map(|(name, inner)| (name, wrap(inner))).collect())
}

/// With the fixture enabled, all calls pass through rmcp: some belong to the fixture.
impl<H: AnswerToolCalls> AnswerToolCalls for WithFixture<H> {
    fn accepts(&self, call: &ToolCall, parts: Option<&Parts>) -> bool {
        !self.on && self.inner.accepts(call, parts)
    }

    fn may_elicit(&self, call: &ToolCall, parts: Option<&Parts>) -> bool {
        self.inner.may_elicit(call, parts)
    }

    fn can_elicit(&self) -> bool {
        self.inner.can_elicit()
    }

    fn answer(
        &self,
        call: ToolCall,
        parts: Option<Parts>,
        cancel: CancellationToken,
        elicitor: Option<Arc<dyn Elicitor>>,
    ) -> Answer {
        self.inner.answer(call, parts, cancel, elicitor)
    }

    fn missing_scopes(&self, tool: &str, caller: &Caller) -> Vec<&'static str> {
        self.inner.missing_scopes(tool, caller)
    }
}

impl<H: ServerHandler> ServerHandler for WithFixture<H> {
    fn get_info(&self) -> ServerConfig {
        self.inner.get_info()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.inner.initialize(request, context).await
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut result = self.inner.list_tools(request, context).await?;
        if self.on {
            result.tools.extend(super::tools());
        }
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let found = super::tool(name).filter(|_| self.on);
        found.or_else(|| self.inner.get_tool(name))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.on
            && let Some(response) = super::call(&request, &context).await
        {
            return response;
        }
        self.inner.call_tool(request, context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut result = self.inner.list_resources(request, context).await?;
        if self.on {
            result.resources.extend(super::resources());
        }
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut result = self.inner.list_resource_templates(request, context).await?;
        if self.on {
            result.resource_templates.extend(super::templates());
        }
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match super::read(&request.uri).filter(|_| self.on) {
            Some(result) => result.map(ReadResourceResponse::Complete),
            None => self.inner.read_resource(request, context).await,
        }
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut result = self.inner.list_prompts(request, context).await?;
        if self.on {
            result.prompts.extend(super::prompts());
        }
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        match super::prompt(&request).filter(|_| self.on) {
            Some(response) => response,
            None => self.inner.get_prompt(request, context).await,
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.inner.complete(request, context).await
    }

    #[expect(deprecated, reason = "2026-07-28 retires logging/setLevel, older clients send it")]
    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.inner.set_level(request, context).await
    }

    #[expect(deprecated, reason = "2026-07-28 retires resources/subscribe, older clients send it")]
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if self.on { Ok(()) } else { self.inner.subscribe(request, context).await }
    }

    #[expect(
        deprecated,
        reason = "2026-07-28 retires resources/unsubscribe, older clients send it"
    )]
    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if self.on { Ok(()) } else { self.inner.unsubscribe(request, context).await }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.inner.on_custom_request(request, context).await
    }
}
