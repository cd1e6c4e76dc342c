//! The MCP server: one rmcp handler for all protocol versions and transports.
//!
//! Versions before 2026-07-28 start with `initialize`; since then each request carries its own
//! client information. rmcp distinguishes the two. The handler holds no state between requests
//! except the log level that an older client sets for its session.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use http::request::Parts;
use panoply_contract::consent::Elicitor;
use panoply_contract::context::Caller;
use panoply_contract::kernel::{Kernel, Scope};
use panoply_contract::kernel_tools::CALL_TOOL;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, ErrorData, GetPromptRequestParams, GetPromptResponse, Implementation,
    InitializeRequestParams, InitializeResult, JsonRpcError, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::context::{RequestInfo, Session, Surface};
use crate::dispatch::{Dispatched, dispatch};
use crate::elicit::signed_state::StateSigner;
use crate::elicit::{self, session_id};
use crate::instructions;
use crate::presentation::Presentation;
use crate::tools::Descriptors;
use crate::transport::http::{HttpError, HttpOptions, HttpServer};
use crate::transport::stdio;
use crate::transport::tool_call::{self, Answer, AnswerToolCalls, ToolCall};
use crate::transport::{LineLimits, methods};
use crate::{completion, context, prompts, resources, tools};

/// Serves a kernel over MCP.
#[derive(Clone)]
pub struct McpServer {
    kernel: Arc<Kernel>,
    name: &'static str,
    descriptors: Arc<Descriptors>,
    local: Caller,
    signer: Arc<StateSigner>,
    presentation: Presentation,
}

impl McpServer {
    /// Creates a server whose implementation name is `name`.
    pub fn new(kernel: Arc<Kernel>, name: &'static str) -> Self {
        let descriptors = Arc::new(Descriptors::of(&kernel));
        Self {
            kernel,
            name,
            descriptors,
            local: Caller::local_owner(),
            signer: Arc::new(StateSigner::random()),
            presentation: Presentation::default(),
        }
    }

    /// Sets how results are presented to clients.
    #[must_use]
    pub const fn with_presentation(mut self, presentation: Presentation) -> Self {
        self.presentation = presentation;
        self
    }

    /// Sets the caller of stdio sessions; the local owner by default.
    #[must_use]
    pub fn with_local_caller(mut self, caller: Caller) -> Self {
        self.local = caller;
        self
    }

    /// Serves standard input and output until either ends or `stop` is cancelled. Calls in flight
    /// are answered first.
    pub async fn serve_stdio(&self, stop: CancellationToken) {
        let (input, output) = rmcp::transport::stdio_pipes();
        self.serve_lines(input, output, LineLimits::default(), stop).await;
    }

    /// Serves one session of newline-delimited JSON over any stream.
    pub async fn serve_lines<R, W>(
        &self,
        input: R,
        output: W,
        limits: LineLimits,
        stop: CancellationToken,
    ) where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let session = Session::default();
        let handler = self.handler(Scope::All, Surface::Lines(session.clone()));
        stdio::serve_session(handler, input, output, limits, stop, session.ending).await;
    }

    /// Binds the port of an HTTP server. [`HttpServer::serve`] then serves until `stop` is
    /// cancelled.
    pub async fn bind_http(
        &self,
        options: HttpOptions,
        stop: CancellationToken,
    ) -> Result<HttpServer, HttpError> {
        let all = self.handler(Scope::All, Surface::Http);
        let packs: BTreeMap<&'static str, Handler> = self
            .kernel
            .packs(&Scope::All)
            .map(|pack| pack.info.name)
            .map(|name| (name, self.handler(Scope::Pack(name.to_owned()), Surface::Http)))
            .collect();
        #[cfg(feature = "conformance")]
        let (all, packs) = crate::conformance::over(all, packs, &self.kernel);
        HttpServer::bind(all, packs, options, Arc::clone(&self.kernel), stop).await
    }

    fn handler(&self, scope: Scope, surface: Surface) -> Handler {
        let info = server_info(&self.kernel, &scope, self.name);
        let (kernel, descriptors) = (Arc::clone(&self.kernel), Arc::clone(&self.descriptors));
        let (local, signer) = (self.local.clone(), Arc::clone(&self.signer));
        let presentation = self.presentation;
        Handler(Arc::new(Inner {
            kernel,
            scope,
            surface,
            descriptors,
            info,
            local,
            signer,
            presentation,
        }))
    }
}

/// The rmcp handler. Cloned for each HTTP request, so it is one pointer.
#[derive(Clone)]
pub(crate) struct Handler(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) scope: Scope,
    pub(crate) surface: Surface,
    pub(crate) descriptors: Arc<Descriptors>,
    /// Caller of stdio sessions.
    pub(crate) local: Caller,
    /// Signs the state of multi-round-trip elicitation.
    pub(crate) signer: Arc<StateSigner>,
    pub(crate) presentation: Presentation,
    info: ServerConfig,
}

impl Inner {
    /// Whether a call of this tool by this caller requires user consent.
    pub(crate) fn needs_consent(&self, tool: &str, parts: Option<&Parts>) -> bool {
        let Some(entry) = self.kernel.resolve(tool, &self.scope) else { return false };
        let Ok(caller) = context::caller(self, parts) else { return false };
        let takes_consent = |entry| self.kernel.takes_consent(entry, &caller.grants);
        if entry.spec.name == CALL_TOOL {
            // Its target may.
            return self.kernel.registry().get_all().iter().any(takes_consent);
        }
        takes_consent(entry)
    }
}

#[expect(deprecated, reason = "2026-07-28 retires logging, older clients still use it")]
fn server_info(kernel: &Kernel, scope: &Scope, name: &str) -> ServerConfig {
    let capabilities = ServerCapabilities::builder()
        .enable_tools()
        .enable_resources()
        .enable_prompts()
        .enable_completions()
        .enable_logging()
        .build();
    let identity = Implementation::new(name, kernel.settings().service_version)
        .with_title("Panoply")
        .with_description("Expert tools for agents, under one contract");
    ServerConfig::new(capabilities)
        .with_server_info(identity)
        .with_instructions(instructions::of(kernel, scope))
}

/// Converts a panic into a JSON-RPC internal error; rmcp would send no reply at all.
///
/// Boxed early: rmcp moves the future of each request several times on its way into a task,
/// and the future of a call has thousands of bytes.
fn catch_panic<'a, T: 'a>(
    work: impl Future<Output = Result<T, ErrorData>> + Send + 'a,
) -> BoxFuture<'a, Result<T, ErrorData>> {
    let work = AssertUnwindSafe(work).catch_unwind();
    Box::pin(work.map(|outcome| {
        outcome.unwrap_or_else(|_panic| {
            tracing::error!("a handler panicked; see the message above");
            Err(ErrorData::internal_error("the server failed to answer this request", None))
        })
    }))
}

impl Handler {
    fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        context::caller(&self.0, context::parts(context))
    }
}

impl AnswerToolCalls for Handler {
    /// Requires a protocol version with handshake, a completed handshake, and no requested log
    /// messages.
    fn accepts(&self, call: &ToolCall, parts: Option<&Parts>) -> bool {
        let has_handshake = match &self.0.surface {
            Surface::Lines(session) => session.has_handshake() && session.level.is_silent(),
            Surface::Http => parts.is_some_and(|parts| tool_call::stated_version(parts).is_some()),
        };
        if !has_handshake {
            return false;
        }
        match &self.0.surface {
            // Only rmcp can send requests to a stdio client.
            Surface::Lines(_) => call.wants_only_a_reply() && !self.may_elicit(call, parts),
            // rmcp drops the responses over HTTP, so the fast path elicits. It reports no progress.
            Surface::Http => {
                call.wants_only_a_reply() || (!call.is_stateless() && self.may_elicit(call, parts))
            }
        }
    }

    fn may_elicit(&self, call: &ToolCall, parts: Option<&Parts>) -> bool {
        let can_elicit = match &self.0.surface {
            Surface::Lines(session) => session.supports_forms(),
            Surface::Http => {
                parts.is_some_and(|parts| session_id::says_elicitation(&parts.headers))
            }
        };
        (can_elicit || call.announces_forms()) && self.0.needs_consent(&call.name, parts)
    }

    fn can_elicit(&self) -> bool {
        !self.0.kernel.settings().consent_time.is_zero()
    }

    fn answer(
        &self,
        call: ToolCall,
        parts: Option<Parts>,
        cancel: CancellationToken,
        elicitor: Option<Arc<dyn Elicitor>>,
    ) -> Answer {
        let server = Arc::clone(&self.0);
        Box::pin(async move {
            let ToolCall { id, name, arguments, meta } = call;
            let (surface, meta, parts) = (&server.surface, meta.as_ref(), parts.as_ref());
            let info = RequestInfo::of_call(surface, meta, parts, cancel, elicitor);
            match catch_panic(dispatch(&server, &name, arguments, info, None)).await {
                Ok(dispatched) => dispatched.to_message(&id),
                Err(error) => serde_json::to_vec(&JsonRpcError::new(Some(id), error)),
            }
        })
    }

    fn missing_scopes(&self, tool: &str, caller: &Caller) -> Vec<&'static str> {
        let entry = self.0.kernel.resolve(tool, &self.0.scope);
        entry.map_or_else(Vec::new, |entry| caller.grants.missing(entry.spec.permissions))
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.0.info.clone()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let result = self.negotiate_initialize(&request)?;
        // Later requests of the session use the negotiated version, not the requested one.
        let mut peer = request;
        peer.protocol_version = result.protocol_version.clone();
        if let Surface::Lines(session) = &self.0.surface {
            session.record_handshake(peer.clone());
        }
        context.peer.set_peer_info(peer);
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        catch_panic(async { tools::list(&self.0, request, &self.caller(&context)?) }).await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.descriptors.get(self.0.kernel.registry(), name)
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut info = RequestInfo::of(&context);
        elicit::attach(&self.0, &mut info, &mut request, &context);
        let CallToolRequestParams { name, arguments, .. } = request;
        let dispatched = dispatch(&self.0, &name, arguments, info, Some(&context));
        catch_panic(dispatched).await.map(Dispatched::into_response)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        catch_panic(async { resources::list(&self.0, request, &self.caller(&context)?) }).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        catch_panic(async { resources::templates(&self.0, request, &self.caller(&context)?) }).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        catch_panic(async {
            let cx = context::of_call(&self.0, RequestInfo::of(&context))?;
            resources::read(&self.0, &request.uri, cx).await
        })
        .await
    }

    // Providers announce no changes, so a subscription is accepted without effect and the
    // capability is not advertised. An error would break clients that subscribe regardless.
    async fn subscribe(
        &self,
        _request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        catch_panic(async { prompts::list(&self.0, request) }).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        catch_panic(async { prompts::get(&self.0, request) }).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        catch_panic(async {
            let cx = context::of_call(&self.0, RequestInfo::of(&context))?;
            completion::complete(&self.0, request, cx).await
        })
        .await
    }

    #[expect(
        deprecated,
        reason = "2026-07-28 retires logging/setLevel, older clients still send it"
    )]
    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if methods::is_retired("logging/setLevel", context.meta.protocol_version().as_ref()) {
            return Err(methods::unknown_method("logging/setLevel"));
        }
        if let Surface::Lines(session) = &self.0.surface {
            session.level.set(request.level);
        }
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(methods::unmatched_request(&request, context.meta.protocol_version().as_ref()))
    }
}
