//! A pack: the tools, resources and prompts of one domain, with their result dialect.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::dialect::Dialect;
use crate::error::ToolError;
use crate::mutation::MutationLog;
use crate::preferences::PreferredArgument;
use crate::prompt::Prompt;
use crate::resource::{Completer, ResourceProvider};
use crate::sharing::{Shareable, Sharing};
use crate::spec::{SampleCall, ToolSpec};
use crate::supervise::Supervisor;
use crate::tenant::Tenancy;
use crate::tool::{AnyTool, Handler, HandlerTool, Tool};

/// Name and purpose of a pack.
#[derive(Clone, Copy, Debug)]
pub struct PackInfo {
    /// Identifier on the command line and in URLs.
    pub name: &'static str,
    /// Display name.
    pub title: &'static str,
    /// Instructions for agents, part of the server's instructions: a few sentences.
    pub instructions: &'static str,
}

/// The tools, resources and prompts of one domain.
pub struct Pack {
    pub(crate) info: PackInfo,
    pub(crate) dialect: Arc<dyn Dialect>,
    pub(crate) tools: Vec<Arc<dyn AnyTool>>,
    pub(crate) resources: Vec<Arc<dyn ResourceProvider>>,
    pub(crate) prompts: Vec<Prompt>,
    pub(crate) completers: Vec<Arc<dyn Completer>>,
    pub(crate) data_version: Option<DataVersion>,
    pub(crate) mutation_log: Option<Arc<dyn MutationLog>>,
    pub(crate) blocks: bool,
    pub(crate) tenancy: Tenancy,
    /// Finds the pack over the data of a tenant.
    pub(crate) supervisor: Option<Arc<dyn Supervisor>>,
    pub(crate) quota: Option<Quota>,
    pub(crate) sharing: Option<Arc<Sharing>>,
    pub(crate) search_terms: &'static str,
    pub(crate) samples: &'static [SampleCall],
    pub(crate) listed_texts: &'static str,
    pub(crate) preferred_arguments: &'static [PreferredArgument],
}

/// How a change makes the data of a tenant grow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Growth {
    /// By a new thing, such as a card or a run.
    Item,
    /// What there is changes and may become larger or more. It is refused only above the quota, so
    /// that a tenant with as many things as allowed can still edit them.
    Update,
    /// What there is becomes larger.
    Bytes,
    /// A stream wrote a batch: the size is measured again.
    Batch,
}

/// Refuses when the tenant's quota is used up.
pub(crate) type Quota = Arc<dyn Fn(Growth) -> Result<(), ToolError> + Send + Sync>;

/// Changes whenever any process changes the pack's data.
pub(crate) type DataVersion = Arc<dyn Fn() -> u64 + Send + Sync>;

impl Pack {
    /// An empty pack.
    pub fn new(info: PackInfo, dialect: impl Dialect) -> Self {
        Self {
            info,
            dialect: Arc::new(dialect),
            tools: Vec::new(),
            resources: Vec::new(),
            prompts: Vec::new(),
            completers: Vec::new(),
            data_version: None,
            mutation_log: None,
            blocks: false,
            tenancy: Tenancy::Global,
            supervisor: None,
            quota: None,
            sharing: None,
            search_terms: "",
            samples: &[],
            listed_texts: "",
            preferred_arguments: &[],
        }
    }

    /// Adds a tool.
    #[must_use]
    pub fn with(mut self, tool: impl Tool) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Adds a tool whose handler is a function of the service, the parameters and the context.
    #[must_use]
    pub fn tool<S, P, O>(
        self,
        spec: &'static ToolSpec,
        service: &Arc<S>,
        handler: Handler<S, P, O>,
    ) -> Self
    where
        S: Send + Sync + 'static,
        P: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
    {
        self.with(HandlerTool { spec, service: Arc::clone(service), handler })
    }

    /// Adds resources.
    #[must_use]
    pub fn with_resources(mut self, provider: impl ResourceProvider) -> Self {
        self.resources.push(Arc::new(provider));
        self
    }

    /// Adds a prompt.
    #[must_use]
    pub fn with_prompt(mut self, prompt: Prompt) -> Self {
        self.prompts.push(prompt);
        self
    }

    /// Adds argument completion.
    #[must_use]
    pub fn with_completer(mut self, completer: impl Completer) -> Self {
        self.completers.push(Arc::new(completer));
        self
    }

    /// Invalidates cached replies when this number changes: a data set's version, or SQLite's
    /// `data_version`, which also reflects writes of other processes.
    #[must_use]
    pub fn with_data_version(mut self, version: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.data_version = Some(Arc::new(version));
        self
    }

    /// Declares that handlers and resources of this pack block on a store or file: they run in a
    /// lane, never on an async worker.
    #[must_use]
    pub const fn with_blocking_store(mut self) -> Self {
        self.blocks = true;
        self
    }

    /// Declares whose data the tools read and change. Without a supervisor, which has one such pack
    /// for each tenant, only the local tenant is served.
    #[must_use]
    pub const fn with_tenancy(mut self, tenancy: Tenancy) -> Self {
        self.tenancy = tenancy;
        self
    }

    /// Sets a check before each change that adds data, on the pack of one tenant.
    #[must_use]
    pub fn with_quota(
        mut self,
        check: impl Fn(Growth) -> Result<(), ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.quota = Some(Arc::new(check));
        self
    }

    pub(crate) fn check_quota(&self, growth: Growth) -> Result<(), ToolError> {
        self.quota.as_ref().map_or(Ok(()), |check| check(growth))
    }

    /// Declares what of this pack, which is that of one tenant, can be shared with other tenants.
    #[must_use]
    pub fn with_sharing(mut self, items: impl Shareable) -> Self {
        self.sharing = Some(Arc::new(Sharing::new(items)));
        self
    }

    /// Sets the mutation log in the pack's own store, which commits records with the changes.
    #[must_use]
    pub fn with_mutation_log(mut self, log: Arc<dyn MutationLog>) -> Self {
        self.mutation_log = Some(log);
        self.with_blocking_store()
    }

    /// Sets everyday words by which `search-tools` finds the pack's tools: lines of
    /// `tool<TAB>term, term`, in English or Thai; `*` for all tools.
    #[must_use]
    pub const fn with_search_terms(mut self, terms: &'static str) -> Self {
        self.search_terms = terms;
        self
    }

    /// Sets the descriptions in `tools/list`: lines of `tool<TAB>text`. They say in one or two
    /// sentences what the tool does, when to use it and what it returns, with an example; the
    /// complete description is that of `describe-tool`.
    #[must_use]
    pub const fn with_listed_texts(mut self, texts: &'static str) -> Self {
        self.listed_texts = texts;
        self
    }

    /// Declares arguments whose defaults are preferences of the person.
    #[must_use]
    pub const fn with_preferred_arguments(
        mut self,
        arguments: &'static [PreferredArgument],
    ) -> Self {
        self.preferred_arguments = arguments;
        self
    }

    /// Sets the calls that create what the examples refer to, in their order.
    #[must_use]
    pub const fn with_samples(mut self, samples: &'static [SampleCall]) -> Self {
        self.samples = samples;
        self
    }

    /// Its name and purpose.
    pub const fn info(&self) -> PackInfo {
        self.info
    }
}
