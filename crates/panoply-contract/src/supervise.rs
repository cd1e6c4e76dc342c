//! Supervised packs: when a pack's data are unusable, its tools stay listed and return a typed
//! error while other packs remain available.
//!
//! A [`Supervisor`] is consulted before each call. It returns the pack over the data of the caller's
//! tenant, opened now or before, or the error. Each tenant has a pack of its own: tools, resources,
//! completion, caches and mutation log are made over its store only, so a handler cannot reach the
//! data of another.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;

use crate::consent::{ConsentRule, Question};
use crate::context::CallContext;
use crate::error::{ErrorKind, ToolError};
use crate::pack::{Growth, Pack};
use crate::resource::{
    Completer, CompletionTarget, Resource, ResourceContent, ResourceProvider, ResourceTemplate,
};
use crate::sharing::SharedItems;
use crate::spec::ToolSpec;
use crate::tenant::{Tenancy, TenantId, Tenants};
use crate::tool::{AnyTool, HandlerFuture, SharedFuture};

/// Decides whether the data of a pack are usable.
pub trait Supervisor: Send + Sync + 'static {
    /// The pack over the current data of a tenant. Called before each call, so it must be cheap.
    /// The data stay open as long as the pack is held.
    fn pack(&self, tenant: &TenantId) -> Result<Arc<Pack>, ToolError>;

    /// Checks the data of a tenant after an internal error; returns the damage found.
    fn examine(&self, tenant: &TenantId) -> Result<(), ToolError>;

    /// The items of this pack that others share with a tenant. Nothing is shared while that cannot
    /// be read.
    fn received(&self, _recipient: &TenantId) -> Vec<SharedItems> {
        Vec::new()
    }

    /// Closes the data of erased tenants, so that their files can go.
    fn close_erased(&self) {}

    /// All tenants with data.
    fn tenants(&self) -> Vec<TenantId> {
        vec![TenantId::local()]
    }
}

impl Pack {
    /// Creates a supervised pack. `shape` provides names, schemas and prompts; calls go to the pack
    /// returned by the supervisor, which has the same tools in the same order.
    #[must_use]
    pub fn supervised(shape: &Self, supervisor: Arc<dyn Supervisor>) -> Self {
        let tenancy = shape.tenancy;
        let tools = shape.tools.iter().enumerate().map(|(index, shape)| {
            let (shape, supervisor) = (Arc::clone(shape), Arc::clone(&supervisor));
            Arc::new(SupervisedTool { shape, index, tenancy, supervisor }) as Arc<dyn AnyTool>
        });
        let resources = shape.resources.iter().enumerate().map(|(index, shape)| {
            let (shape, supervisor) = (Arc::clone(shape), Arc::clone(&supervisor));
            Arc::new(SupervisedResources { shape, index, tenancy, supervisor })
                as Arc<dyn ResourceProvider>
        });
        let completers = (0..shape.completers.len()).map(|index| {
            let supervisor = Arc::clone(&supervisor);
            Arc::new(SupervisedCompleter { index, tenancy, supervisor }) as Arc<dyn Completer>
        });
        Self {
            info: shape.info,
            dialect: Arc::clone(&shape.dialect),
            tools: tools.collect(),
            resources: resources.collect(),
            prompts: shape.prompts.clone(),
            completers: completers.collect(),
            // Those of the tenant's pack are used, see `PackEntry`.
            data_version: shape.data_version.clone(),
            mutation_log: shape.mutation_log.clone(),
            blocks: shape.blocks,
            tenancy,
            supervisor: Some(supervisor),
            // Each tenant's pack has its own.
            quota: None,
            sharing: shape.sharing.clone(),
            search_terms: shape.search_terms,
            samples: shape.samples,
            listed_texts: shape.listed_texts,
            preferred_arguments: shape.preferred_arguments,
        }
    }
}

struct SupervisedTool {
    shape: Arc<dyn AnyTool>,
    index: usize,
    tenancy: Tenancy,
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
        let tenant = self.tenancy.tenant(&cx.caller.tenants);
        let (_pack, tool) = match self.tool(&tenant) {
            Ok(found) => found,
            Err(error) => return Ok(Err(error)),
        };
        Ok(tool.question(input, cx)?.map_err(|error| self.examined(error, &tenant)))
    }

    fn call_shared(self: Arc<Self>, input: &Value, cx: Arc<CallContext>) -> Option<SharedFuture> {
        let received = self.supervisor.received(&self.tenancy.tenant(&cx.caller.tenants));
        if received.is_empty() {
            return None;
        }
        let input = input.clone();
        Some(Box::pin(async move {
            for view in views(Arc::clone(&self.supervisor), received) {
                let Some(tool) = view.pack.tools.get(self.index).map(Arc::clone) else { continue };
                let Ok(handling) = tool.call(&input, Arc::clone(&cx)) else { continue };
                match handling.await {
                    Err(error) if error.kind == ErrorKind::NotFound => {}
                    handled => return handled.map(Some),
                }
            }
            Ok(None)
        }))
    }

    fn call(
        self: Arc<Self>,
        input: &Value,
        cx: Arc<CallContext>,
    ) -> Result<HandlerFuture, serde_json::Error> {
        let tenant = self.tenancy.tenant(&cx.caller.tenants);
        let (pack, tool) = match self.tool(&tenant) {
            Ok(found) => found,
            Err(error) => return Ok(Box::pin(std::future::ready(Err(error)))),
        };
        if let Some(growth) = growth_by(self.shape.spec())
            && !cx.dry_run
            && let Err(error) = pack.check_quota(growth)
        {
            return Ok(Box::pin(std::future::ready(Err(error))));
        }
        let handling = tool.call(input, cx)?;
        Ok(Box::pin(async move {
            let handled = handling.await.map_err(|error| self.examined(error, &tenant));
            // Keeps the data of the tenant open until the handler has ended.
            drop(pack);
            handled
        }))
    }
}

/// The packs over what others share with a tenant. One that cannot be opened is left out: it is the
/// owner whose calls report why.
fn views(
    supervisor: Arc<dyn Supervisor>,
    received: Vec<SharedItems>,
) -> impl Iterator<Item = View> + Send {
    received.into_iter().filter_map(move |shared| {
        let owner = supervisor.pack(&shared.owner).ok()?;
        let pack = owner.sharing.as_ref()?.view(&shared.items).ok()?;
        Some(View { pack, _owner: owner })
    })
}

/// A view on shared items. The owner's data stay open as long as it is held.
struct View {
    pack: Arc<Pack>,
    _owner: Arc<Pack>,
}

/// How a tool may make a tenant's data grow. Every mutation may, except a destructive one, which
/// frees space whatever permission it needs: a longer field and a restored card are growth too.
fn growth_by(spec: &ToolSpec) -> Option<Growth> {
    if !spec.category.mutates() || spec.annotations.destructive {
        return None;
    }
    let adds = ["create", "import", "export", "write", "run"];
    let permissions = || spec.permissions.iter().filter_map(|one| one.split_once(':'));
    Some(if permissions().all(|(resource, _)| RECORDS.contains(&resource)) {
        Growth::Bytes
    } else if permissions().any(|(_, action)| adds.contains(&action)) {
        Growth::Item
    } else {
        Growth::Update
    })
}

/// Resources that record how things are used, and of which no quota counts the items: with as many
/// cards as allowed, or more, a learner still studies.
const RECORDS: [&str; 4] = ["reviews", "sessions", "schedule", "settings"];

impl SupervisedTool {
    fn tool(&self, tenant: &TenantId) -> Result<(Arc<Pack>, Arc<dyn AnyTool>), ToolError> {
        let pack = self.supervisor.pack(tenant)?;
        let tool = pack.tools.get(self.index).map(Arc::clone);
        let fewer = || ToolError::system("a supervised pack has fewer tools than its shape");
        Ok((pack, tool.ok_or_else(fewer)?))
    }

    /// Replaces an internal error with the damage found in the data, if any.
    fn examined(&self, error: ToolError, tenant: &TenantId) -> ToolError {
        if !matches!(error.kind, ErrorKind::System | ErrorKind::Storage) {
            return error;
        }
        match self.supervisor.examine(tenant) {
            Err(found) => found.cause(error.cause_chain()),
            Ok(()) => error,
        }
    }
}

struct SupervisedResources {
    shape: Arc<dyn ResourceProvider>,
    index: usize,
    tenancy: Tenancy,
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
            let tenant = self.tenancy.tenant(&cx.caller.tenants);
            let own = match self.supervisor.pack(&tenant) {
                Ok(pack) => pack.resources.get(self.index)?.read(uri, cx).await,
                // Without the pack, the shape decides whether the URI belongs to this provider.
                Err(error) => self.shape.read(uri, cx).await.map(|_| Err(error)),
            };
            match own {
                Some(Err(error)) if error.kind == ErrorKind::NotFound => {
                    let shared = self.read_shared(uri, cx, &tenant).await;
                    Some(shared.transpose().unwrap_or(Err(error)))
                }
                own => own,
            }
        })
    }
}

impl SupervisedResources {
    /// Reads from what others share with the tenant; `None` if none of them has it.
    async fn read_shared(
        &self,
        uri: &str,
        cx: &CallContext,
        tenant: &TenantId,
    ) -> Result<Option<ResourceContent>, ToolError> {
        let received = self.supervisor.received(tenant);
        for view in views(Arc::clone(&self.supervisor), received) {
            let Some(provider) = view.pack.resources.get(self.index) else { continue };
            match provider.read(uri, cx).await {
                Some(Err(error)) if error.kind == ErrorKind::NotFound => {}
                Some(read) => return read.map(Some),
                None => {}
            }
        }
        Ok(None)
    }
}

struct SupervisedCompleter {
    index: usize,
    tenancy: Tenancy,
    supervisor: Arc<dyn Supervisor>,
}

impl Completer for SupervisedCompleter {
    fn complete(
        &self,
        of: CompletionTarget<'_>,
        argument: &str,
        typed: &str,
        tenants: &Tenants,
    ) -> Option<Vec<String>> {
        let pack = self.supervisor.pack(&self.tenancy.tenant(tenants)).ok()?;
        pack.completers.get(self.index)?.complete(of, argument, typed, tenants)
    }
}
