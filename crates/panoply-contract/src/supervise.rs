//! Supervised packs: when a pack's data are unusable, its tools stay listed and return a typed
//! error while other packs remain available.
//!
//! A [`Supervisor`] is consulted before each call. It returns the pack opened at startup, a pack
//! reopened later, or the error.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;

use crate::consent::{ConsentRule, Question};
use crate::context::CallContext;
use crate::error::{ErrorKind, ToolError};
use crate::ids::CallId;
use crate::mutation::{IdempotencyKey, MutationLog, MutationRecord};
use crate::pack::Pack;
use crate::resource::{
    Completer, CompletionTarget, Resource, ResourceContent, ResourceProvider, ResourceTemplate,
};
use crate::spec::ToolSpec;
use crate::tool::{AnyTool, HandlerFuture};

/// Decides whether the data of a pack are usable.
pub trait Supervisor: Send + Sync + 'static {
    /// The pack over its current data. Called before each call, so it must be cheap.
    fn pack(&self) -> Result<Arc<Pack>, ToolError>;

    /// Checks the data after an internal error; returns the damage found.
    fn examine(&self) -> Result<(), ToolError>;
}

impl Pack {
    /// Creates a supervised pack. `shape` provides names, schemas and prompts; calls go to the pack
    /// returned by the supervisor, which has the same tools in the same order.
    #[must_use]
    pub fn supervised(shape: &Self, supervisor: Arc<dyn Supervisor>) -> Self {
        let tools = shape.tools.iter().enumerate().map(|(index, shape)| {
            let (shape, supervisor) = (Arc::clone(shape), Arc::clone(&supervisor));
            Arc::new(SupervisedTool { shape, index, supervisor }) as Arc<dyn AnyTool>
        });
        let resources = shape.resources.iter().enumerate().map(|(index, shape)| {
            let (shape, supervisor) = (Arc::clone(shape), Arc::clone(&supervisor));
            Arc::new(SupervisedResources { shape, index, supervisor }) as Arc<dyn ResourceProvider>
        });
        let completers = (0..shape.completers.len()).map(|index| {
            let supervisor = Arc::clone(&supervisor);
            Arc::new(SupervisedCompleter { index, supervisor }) as Arc<dyn Completer>
        });
        let mutation_log = shape.mutation_log.as_ref().map(|_| {
            let supervisor = Arc::clone(&supervisor);
            Arc::new(SupervisedMutations { supervisor }) as Arc<dyn MutationLog>
        });
        Self {
            info: shape.info,
            dialect: Arc::clone(&shape.dialect),
            tools: tools.collect(),
            resources: resources.collect(),
            prompts: shape.prompts.clone(),
            completers: completers.collect(),
            // Do not serve replies cached before the data became unusable.
            data_version: Some(Arc::new(move || match supervisor.pack() {
                Ok(pack) => pack.data_version.as_ref().map_or(0, |version| version()),
                Err(_) => u64::MAX,
            })),
            mutation_log,
            blocks: shape.blocks,
        }
    }
}

struct SupervisedTool {
    shape: Arc<dyn AnyTool>,
    index: usize,
    supervisor: Arc<dyn Supervisor>,
}

impl AnyTool for SupervisedTool {
    fn spec(&self) -> &'static ToolSpec {
        self.shape.spec()
    }

    fn input_schema(&self) -> Value {
        self.shape.input_schema()
    }

    fn output_schema(&self) -> Value {
        self.shape.output_schema()
    }

    fn consent_rule(&self) -> Option<&'static ConsentRule> {
        self.shape.consent_rule()
    }

    fn question(
        &self,
        input: &Value,
        cx: &CallContext,
    ) -> Result<Result<Question, ToolError>, serde_json::Error> {
        let tool = match self.tool() {
            Ok(tool) => tool,
            Err(error) => return Ok(Err(error)),
        };
        Ok(tool.question(input, cx)?.map_err(|error| self.examined(error)))
    }

    fn call(
        self: Arc<Self>,
        input: &Value,
        cx: Arc<CallContext>,
    ) -> Result<HandlerFuture, serde_json::Error> {
        let tool = match self.tool() {
            Ok(tool) => tool,
            Err(error) => return Ok(Box::pin(std::future::ready(Err(error)))),
        };
        let handling = tool.call(input, cx)?;
        Ok(Box::pin(async move { handling.await.map_err(|error| self.examined(error)) }))
    }
}

impl SupervisedTool {
    fn tool(&self) -> Result<Arc<dyn AnyTool>, ToolError> {
        let pack = self.supervisor.pack()?;
        let tool = pack.tools.get(self.index).map(Arc::clone);
        tool.ok_or_else(|| ToolError::system("a supervised pack has fewer tools than its shape"))
    }

    /// Replaces an internal error with the damage found in the data, if any.
    fn examined(&self, error: ToolError) -> ToolError {
        if !matches!(error.kind, ErrorKind::System | ErrorKind::Storage) {
            return error;
        }
        match self.supervisor.examine() {
            Err(found) => found.cause(error.cause_chain()),
            Ok(()) => error,
        }
    }
}

/// Mutation log of the pack returned by the supervisor.
struct SupervisedMutations {
    supervisor: Arc<dyn Supervisor>,
}

impl SupervisedMutations {
    fn log(&self) -> Result<Arc<dyn MutationLog>, ToolError> {
        let pack = self.supervisor.pack()?;
        let log = pack.mutation_log.as_ref().map(Arc::clone);
        log.ok_or_else(|| ToolError::system("a supervised pack lost its mutation log"))
    }
}

impl MutationLog for SupervisedMutations {
    fn find(
        &self,
        key: &IdempotencyKey,
        now: jiff::Timestamp,
    ) -> Result<Option<MutationRecord>, ToolError> {
        self.log()?.find(key, now)
    }

    fn find_call(&self, call_id: CallId) -> Result<Option<MutationRecord>, ToolError> {
        self.log()?.find_call(call_id)
    }

    fn commit(&self, record: &MutationRecord) -> Result<(), ToolError> {
        self.log()?.commit(record)
    }

    /// A pack that cannot be opened must not block the recovery of others: its records stay
    /// unaudited until the next start.
    fn unaudited(&self) -> Result<Vec<MutationRecord>, ToolError> {
        self.log().map_or_else(|_| Ok(Vec::new()), |log| log.unaudited())
    }

    fn audited(&self, call_id: CallId) {
        if let Ok(log) = self.log() {
            log.audited(call_id);
        }
    }
}

struct SupervisedResources {
    shape: Arc<dyn ResourceProvider>,
    index: usize,
    supervisor: Arc<dyn Supervisor>,
}

impl ResourceProvider for SupervisedResources {
    fn permissions(&self) -> &'static [&'static str] {
        self.shape.permissions()
    }

    fn resources(&self) -> Vec<Resource> {
        self.shape.resources()
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        self.shape.templates()
    }

    fn recorded_as(&self, uri: &str) -> Option<&'static str> {
        self.shape.recorded_as(uri)
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Option<Result<ResourceContent, ToolError>>> {
        Box::pin(async move {
            match self.supervisor.pack() {
                Ok(pack) => pack.resources.get(self.index)?.read(uri, cx).await,
                // Without the pack, the shape decides whether the URI belongs to this provider.
                Err(error) => self.shape.read(uri, cx).await.map(|_| Err(error)),
            }
        })
    }
}

struct SupervisedCompleter {
    index: usize,
    supervisor: Arc<dyn Supervisor>,
}

impl Completer for SupervisedCompleter {
    fn complete(
        &self,
        of: CompletionTarget<'_>,
        argument: &str,
        typed: &str,
    ) -> Option<Vec<String>> {
        let pack = self.supervisor.pack().ok()?;
        pack.completers.get(self.index)?.complete(of, argument, typed)
    }
}
