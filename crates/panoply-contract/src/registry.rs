//! The registry of all tools by name and alias, with their schemas.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use foldhash::fast::RandomState;
use serde_json::Value;

use crate::compliance::{self, Line, Violation};
use crate::context::Caller;
use crate::dialect::Dialect;
use crate::error::{ErrorKind, ToolError};
use crate::lazy_schema::LazySchema;
use crate::meters::Meter;
use crate::mutation::MutationLog;
use crate::pack::{DataVersion, Growth, Pack, PackInfo};
use crate::pipeline::Lanes;
use crate::preferences::PreferredArgument;
use crate::prompt::Prompt;
use crate::resource::{Completer, ResourceProvider};
use crate::sharing::Sharing;
use crate::spec::{CachePolicy, Category, SampleCall, ToolSpec};
use crate::supervise::Supervisor;
use crate::tenant::{Tenancy, TenantId};
use crate::tool::AnyTool;

/// The tools of all packs. Immutable after startup.
pub struct Registry {
    packs: Vec<PackEntry>,
    tools: Vec<ToolEntry>,
    /// Names and aliases.
    by_name: HashMap<&'static str, ToolIndex, RandomState>,
}

/// A registered pack.
pub struct PackEntry {
    /// Its name and purpose.
    pub info: PackInfo,
    /// Its prompts.
    pub prompts: Vec<Prompt>,
    pub(crate) dialect: Arc<dyn Dialect>,
    pub(crate) resources: Vec<Arc<dyn ResourceProvider>>,
    pub(crate) completers: Vec<Arc<dyn Completer>>,
    pub(crate) data_version: Option<DataVersion>,
    pub(crate) mutation_log: Option<Arc<dyn MutationLog>>,
    pub(crate) blocks: bool,
    pub(crate) tenancy: Tenancy,
    pub(crate) supervisor: Option<Arc<dyn Supervisor>>,
    pub(crate) sharing: Option<Arc<Sharing>>,
    pub(crate) search_terms: &'static str,
    pub(crate) samples: &'static [SampleCall],
    pub(crate) preferred_arguments: &'static [PreferredArgument],
    pub(crate) lanes: Lanes,
}

impl PackEntry {
    /// Refuses a caller whose data this pack cannot keep apart from those of others.
    pub(crate) fn serves(&self, caller: &Caller) -> Result<(), ToolError> {
        if self.supervisor.is_some() || self.tenancy.tenant(&caller.tenants).is_local() {
            return Ok(());
        }
        let message = format!("the pack `{}` has no storage for your data here", self.info.name);
        Err(ToolError::new(ErrorKind::Forbidden, "TENANT_UNAVAILABLE", message)
            .hint("ask the operator to start the server with a home folder"))
    }

    /// Refuses when the quota of the caller's tenant is used up.
    pub(crate) fn check_quota(&self, caller: &Caller, growth: Growth) -> Result<(), ToolError> {
        let tenant = self.tenancy.tenant(&caller.tenants);
        match &self.supervisor {
            Some(supervisor) if !tenant.is_local() => supervisor.pack(&tenant)?.check_quota(growth),
            Some(_) | None => Ok(()),
        }
    }

    /// Version of a tenant's data. Cached replies are not served while the data are unusable.
    pub(crate) fn data_version(&self, tenant: &TenantId) -> u64 {
        let version = |version: &Option<DataVersion>| version.as_ref().map_or(0, |of| of());
        match &self.supervisor {
            None => version(&self.data_version),
            Some(supervisor) => {
                supervisor.pack(tenant).map_or(u64::MAX, |pack| version(&pack.data_version))
            }
        }
    }

    /// What a tenant can share; `None` for a pack without shareable items.
    pub(crate) fn sharing(&self, tenant: &TenantId) -> Result<Option<Arc<Sharing>>, ToolError> {
        match &self.supervisor {
            Some(supervisor) if self.sharing.is_some() => {
                Ok(supervisor.pack(tenant)?.sharing.clone())
            }
            Some(_) | None => Ok(self.sharing.clone()),
        }
    }

    /// Mutation log of a tenant; `None` for packs without a store.
    pub(crate) fn mutation_log(
        &self,
        tenant: &TenantId,
    ) -> Result<Option<Arc<dyn MutationLog>>, ToolError> {
        match &self.supervisor {
            Some(supervisor) if self.mutation_log.is_some() => {
                Ok(supervisor.pack(tenant)?.mutation_log.clone())
            }
            Some(_) | None => Ok(self.mutation_log.clone()),
        }
    }
}

/// Index of a tool. Only the registry creates one, so it is always valid.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct ToolIndex(pub(crate) usize);

/// The text of a tool in lines of `tool<TAB>text`.
fn listed_text(texts: &'static str, tool: &str) -> Option<&'static str> {
    texts
        .lines()
        .find_map(|line| line.split_once('\t').filter(|(name, _)| *name == tool))
        .map(|(_, text)| text)
}

/// A registered tool. Only the pipeline can call it.
pub struct ToolEntry {
    /// Its spec.
    pub spec: &'static ToolSpec,
    /// The pack it belongs to.
    pub pack: &'static str,
    /// Description text for agents.
    pub description: String,
    /// Shorter description for `tools/list`, if the pack has one.
    pub listed_text: Option<&'static str>,
    /// Its counters.
    pub meter: Meter,
    pub(crate) index: ToolIndex,
    pub(crate) pack_index: usize,
    pub(crate) input: LazySchema,
    pub(crate) data: LazySchema,
    output: LazySchema,
    pub(crate) handler: Arc<dyn AnyTool>,
}

impl ToolEntry {
    /// Published input schema.
    pub fn input_schema(&self) -> &Value {
        self.input.schema()
    }

    /// Published output schema.
    pub fn output_schema(&self) -> &Value {
        self.output.schema()
    }
}

impl Registry {
    /// Registers these packs, or returns all violations.
    pub fn new(packs: Vec<Pack>) -> Result<Self, Vec<Violation>> {
        let mut registry =
            Self { packs: Vec::new(), tools: Vec::new(), by_name: HashMap::default() };
        let violations: Vec<Violation> =
            packs.into_iter().flat_map(|pack| registry.register(pack)).collect();
        if violations.is_empty() { Ok(registry) } else { Err(violations) }
    }

    /// Adds a pack and returns its violations; a tool with violations is not registered.
    pub fn register(&mut self, pack: Pack) -> Vec<Violation> {
        let pack_index = self.packs.len();
        let Pack {
            info,
            dialect,
            tools,
            resources,
            prompts,
            completers,
            data_version,
            mutation_log,
            blocks,
            tenancy,
            supervisor,
            quota: _of_one_tenant,
            sharing,
            search_terms,
            samples,
            listed_texts,
            preferred_arguments,
        } = pack;
        let mut violations = Vec::new();
        if self.packs.iter().any(|other| other.info.name == info.name) {
            violations.push(Violation::new(
                info.name,
                Line::UniqueName,
                "a pack of this name is already registered",
            ));
        }
        for handler in tools {
            let mut entry = self.entry(handler, info.name, pack_index, &dialect);
            entry.listed_text = listed_text(listed_texts, entry.spec.name);
            let mut found = self.violations(&entry);
            found.extend(shared_reply(entry.spec, tenancy));
            if found.is_empty() {
                self.insert(entry);
            }
            violations.extend(found);
        }
        self.packs.push(PackEntry {
            info,
            prompts,
            dialect,
            resources,
            completers,
            data_version,
            mutation_log,
            blocks,
            tenancy,
            supervisor,
            sharing,
            search_terms,
            samples,
            preferred_arguments,
            lanes: Lanes::new(),
        });
        violations
    }

    /// The tool with this name or alias. Accepts `-` for `_` and the reverse, because some clients
    /// rename tools, and the pack's name as a prefix (`cgt_calculate_report`).
    pub fn get(&self, name: &str) -> Option<&ToolEntry> {
        self.spelled(name).or_else(|| {
            self.packs.iter().find_map(|pack| {
                let rest = name.strip_prefix(pack.info.name)?.strip_prefix(['_', '-'])?;
                self.spelled(rest).filter(|entry| entry.pack == pack.info.name)
            })
        })
    }

    fn spelled(&self, name: &str) -> Option<&ToolEntry> {
        let exact = |name: &str| self.by_name.get(name).map(|index| self.at(*index));
        exact(name)
            .or_else(|| name.contains('_').then(|| exact(&name.replace('_', "-"))).flatten())
            .or_else(|| name.contains('-').then(|| exact(&name.replace('-', "_"))).flatten())
    }

    /// All tools in registration order.
    pub fn get_all(&self) -> &[ToolEntry] {
        &self.tools
    }

    /// The tools of a category.
    pub fn get_by_category(&self, category: Category) -> impl Iterator<Item = &ToolEntry> {
        self.tools.iter().filter(move |entry| entry.spec.category == category)
    }

    /// The tools with a tag.
    pub fn get_by_tag<'a>(&'a self, tag: &'a str) -> impl Iterator<Item = &'a ToolEntry> {
        self.tools.iter().filter(move |entry| entry.spec.tags.contains(&tag))
    }

    /// Violations of a registered tool that are detectable without calling it.
    pub fn validate(&self, entry: &ToolEntry) -> Vec<Violation> {
        compliance::static_violations(entry.spec, entry.input_schema(), entry.output_schema())
    }

    /// Every pack.
    pub fn packs(&self) -> &[PackEntry] {
        &self.packs
    }

    /// Tool names similar to a mistyped `name`, limited to tools the caller may call.
    pub fn suggest_similar(&self, name: &str, caller: &Caller) -> Vec<&'static str> {
        let candidates =
            self.tools.iter().filter(|entry| caller.grants.allow_all(entry.spec.permissions));
        suggest_similar(name, candidates.map(|entry| entry.spec.name))
    }

    #[expect(clippy::indexing_slicing, reason = "an index is made by `entry` for this list only")]
    pub(crate) fn at(&self, index: ToolIndex) -> &ToolEntry {
        &self.tools[index.0]
    }

    pub(crate) fn pack_of(&self, entry: &ToolEntry) -> Option<&PackEntry> {
        self.packs.get(entry.pack_index)
    }

    fn entry(
        &self,
        handler: Arc<dyn AnyTool>,
        pack: &'static str,
        pack_index: usize,
        dialect: &Arc<dyn Dialect>,
    ) -> ToolEntry {
        let spec = handler.spec();
        let (input, data) = (Arc::clone(&handler), Arc::clone(&handler));
        let (output, dialect) = (Arc::clone(&handler), Arc::clone(dialect));
        ToolEntry {
            spec,
            pack,
            description: spec.description.text(),
            listed_text: None,
            meter: Meter::default(),
            index: ToolIndex(self.tools.len()),
            pack_index,
            input: LazySchema::new(move || input.input_schema()),
            data: LazySchema::new(move || data.output_schema()),
            output: LazySchema::new(move || dialect.output_schema(output.output_schema())),
            handler,
        }
    }

    /// Violations of a tool. Schemas are checked in debug builds only: they are derived from types,
    /// so the tests cover them.
    fn violations(&self, entry: &ToolEntry) -> Vec<Violation> {
        let spec = entry.spec;
        let taken = std::iter::once(&spec.name)
            .chain(spec.aliases)
            .filter(|name| self.by_name.contains_key(*name))
            .map(|name| format!("the name `{name}` is taken"))
            .map(|message| Violation::new(spec.name, Line::UniqueName, message));
        let mut violations: Vec<Violation> = taken.collect();
        if cfg!(debug_assertions) {
            violations.extend(self.validate(entry));
            for (schema, line) in
                [(&entry.input, Line::Parameters), (&entry.data, Line::ToolResult)]
            {
                if let Err(error) = schema.compile() {
                    let message = format!("the schema does not compile: {error}");
                    violations.push(Violation::new(spec.name, line, message));
                }
            }
        }
        violations
    }

    fn insert(&mut self, entry: ToolEntry) {
        self.by_name.insert(entry.spec.name, entry.index);
        self.by_name.extend(entry.spec.aliases.iter().map(|alias| (*alias, entry.index)));
        self.tools.push(entry);
    }
}

/// A reply that all callers share must not contain data of a tenant.
fn shared_reply(spec: &ToolSpec, tenancy: Tenancy) -> Option<Violation> {
    let leaks = matches!(spec.cache, CachePolicy::Shared(_)) && tenancy != Tenancy::Global;
    leaks.then(|| {
        let message = "cache: replies of a pack with data of tenants cannot be shared by all \
                       callers; use `CachePolicy::Tenant`";
        Violation::new(spec.name, Line::Cacheable, message)
    })
}

pub use self::suggest_similar as nearest;

/// Up to three `candidates` similar to `name`, most similar first.
pub fn suggest_similar<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    // Truncate long names: the edit distance is quadratic.
    let wanted: String = name.chars().take(80).flat_map(char::to_lowercase).collect();
    let mut scored: Vec<(f64, &str)> = candidates
        .map(|candidate| (strsim::jaro_winkler(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(score, _)| *score > 0.7)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.tools.iter().map(|entry| entry.spec.name)).finish()
    }
}
