//! The `Tool` trait, and its type-erased form for the registry.

use std::future::Future;
use std::sync::Arc;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::consent::{ConsentRule, Question};
use crate::context::CallContext;
use crate::error::ToolError;
use crate::json::Json;
use crate::reply::Reply;
use crate::schema;
use crate::spec::ToolSpec;

/// A capability that agents can call, in its own file.
pub trait Tool: Send + Sync + 'static {
    /// Input. Its doc comments become descriptions in the schema. Derive with
    /// `#[serde(deny_unknown_fields)]`, so that a misspelt argument is an error.
    type Params: DeserializeOwned + JsonSchema + Send + 'static;
    /// Output data.
    type Output: Serialize + JsonSchema + Send + 'static;

    /// The permission that user consent can replace.
    const CONSENT: Option<&'static ConsentRule> = None;

    /// The tool's `SPEC`.
    fn spec(&self) -> &'static ToolSpec;

    /// Builds the consent question of a tool with [`CONSENT`](Self::CONSENT). Runs in the tool's
    /// lane before any change.
    fn question(&self, _params: &Self::Params, _cx: &CallContext) -> Result<Question, ToolError> {
        Err(ToolError::system("this tool has no consent question"))
    }

    /// Executes the call. The pipeline has checked permissions, limits and the schema, and handles
    /// panics and deadlines. The handler parses, calls the domain and builds the reply.
    fn call(
        &self,
        params: Self::Params,
        cx: &CallContext,
    ) -> impl Future<Output = Result<Reply<Self::Output>, ToolError>> + Send;
}

/// A handler as a plain function of the pack's service, the parameters and the context.
pub type Handler<S, P, O> = fn(&S, P, &CallContext) -> Result<Reply<O>, ToolError>;

/// A tool made of its spec, the service of its pack and its handler; see `Pack::tool`.
pub(crate) struct HandlerTool<S, P, O> {
    pub(crate) spec: &'static ToolSpec,
    pub(crate) service: Arc<S>,
    pub(crate) handler: Handler<S, P, O>,
}

impl<S, P, O> Tool for HandlerTool<S, P, O>
where
    S: Send + Sync + 'static,
    P: DeserializeOwned + JsonSchema + Send + 'static,
    O: Serialize + JsonSchema + Send + 'static,
{
    type Params = P;
    type Output = O;

    fn spec(&self) -> &'static ToolSpec {
        self.spec
    }

    async fn call(&self, params: P, cx: &CallContext) -> Result<Reply<O>, ToolError> {
        (self.handler)(&self.service, params, cx)
    }
}

/// Type-erased tool. Private to this crate: only the pipeline may call a handler.
pub(crate) trait AnyTool: Send + Sync {
    fn spec(&self) -> &'static ToolSpec;
    fn input_schema(&self) -> Value;
    fn output_schema(&self) -> Value;
    fn consent_rule(&self) -> Option<&'static ConsentRule>;
    fn question(
        &self,
        input: &Value,
        cx: &CallContext,
    ) -> Result<Result<Question, ToolError>, serde_json::Error>;
    fn call(
        self: Arc<Self>,
        input: &Value,
        cx: Arc<CallContext>,
    ) -> Result<HandlerFuture, serde_json::Error>;

    /// The same call on what other tenants share with the caller; `None` if nothing is shared.
    fn call_shared(self: Arc<Self>, _input: &Value, _cx: Arc<CallContext>) -> Option<SharedFuture> {
        None
    }
}

/// Future of a call on shared items; `None` if they do not have what the call names.
pub(crate) type SharedFuture = BoxFuture<'static, Result<Option<Reply<Json>>, ToolError>>;

/// Future of a handler.
pub(crate) type HandlerFuture = BoxFuture<'static, Result<Reply<Json>, ToolError>>;

impl<T: Tool> AnyTool for T {
    fn spec(&self) -> &'static ToolSpec {
        Tool::spec(self)
    }

    fn input_schema(&self) -> Value {
        schema::of_params::<T::Params>()
    }

    fn output_schema(&self) -> Value {
        schema::of::<T::Output>()
    }

    fn consent_rule(&self) -> Option<&'static ConsentRule> {
        T::CONSENT
    }

    fn question(
        &self,
        input: &Value,
        cx: &CallContext,
    ) -> Result<Result<Question, ToolError>, serde_json::Error> {
        let params = <T::Params as serde::Deserialize>::deserialize(input)?;
        Ok(Tool::question(self, &params, cx))
    }

    fn call(
        self: Arc<Self>,
        input: &Value,
        cx: Arc<CallContext>,
    ) -> Result<HandlerFuture, serde_json::Error> {
        let params = <T::Params as serde::Deserialize>::deserialize(input)?;
        Ok(Box::pin(async move { Tool::call(self.as_ref(), params, &cx).await?.erase() }))
    }
}
