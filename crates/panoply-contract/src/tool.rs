//! The `Tool` trait, and its type-erased form for the registry.

use std::future::Future;
use std::marker::PhantomData;
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

/// A handler as a plain function: `async fn call(service: &S, params: P, cx: &CallContext)`.
///
/// A separate trait, because a bound on an `async fn` item cannot yet require its future to be
/// `Send` for every lifetime.
pub trait Handler<'a, S, P>: Send + Sync + 'static {
    /// Output data.
    type Output;

    /// Calls the function.
    fn handle(
        &self,
        service: &'a S,
        params: P,
        cx: &'a CallContext,
    ) -> impl Future<Output = Result<Reply<Self::Output>, ToolError>> + Send;
}

impl<'a, S, P, O, F, Fut> Handler<'a, S, P> for F
where
    S: 'a,
    F: Fn(&'a S, P, &'a CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Reply<O>, ToolError>> + Send,
{
    type Output = O;

    fn handle(
        &self,
        service: &'a S,
        params: P,
        cx: &'a CallContext,
    ) -> impl Future<Output = Result<Reply<O>, ToolError>> + Send {
        self(service, params, cx)
    }
}

/// A tool built from spec, service and handler function; see `Pack::tool`.
pub(crate) struct HandlerTool<S, P, O, F> {
    spec: &'static ToolSpec,
    service: Arc<S>,
    handler: F,
    types: PhantomData<fn(P) -> O>,
}

impl<S, P, O, F> HandlerTool<S, P, O, F> {
    pub(crate) const fn new(spec: &'static ToolSpec, service: Arc<S>, handler: F) -> Self {
        Self { spec, service, handler, types: PhantomData }
    }
}

impl<S, P, O, F> Tool for HandlerTool<S, P, O, F>
where
    S: Send + Sync + 'static,
    P: DeserializeOwned + JsonSchema + Send + 'static,
    O: Serialize + JsonSchema + Send + 'static,
    F: for<'a> Handler<'a, S, P, Output = O>,
{
    type Params = P;
    type Output = O;

    fn spec(&self) -> &'static ToolSpec {
        self.spec
    }

    async fn call(&self, params: P, cx: &CallContext) -> Result<Reply<O>, ToolError> {
        self.handler.handle(&self.service, params, cx).await
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
}

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
