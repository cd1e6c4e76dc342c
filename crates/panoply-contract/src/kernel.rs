//! The registry with everything a call needs: time, log, limits, cache and counters.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use uuid::Uuid;

use crate::audit::AuditLog;
use crate::clock::Clock;
use crate::compliance::{Line, Violation};
use crate::consent::OpenQuestions;
use crate::context::{CallContext, Caller, Lang};
use crate::error::{ErrorKind, ToolError};
use crate::ids::CallId;
use crate::kernel_tools::{self, Catalog};
use crate::mutation::{MutationLog, RunningKeys};
use crate::observe::Observer;
use crate::pack::Pack;
use crate::permission::{Grants, Profile};
use crate::pipeline::{Lane, ReplyCache, Throttle, guarded, within};
use crate::registry::{PackEntry, Registry, ToolEntry};
use crate::resource::{
    Completer, Completion, Resource, ResourceContent, ResourceProvider, ResourceTemplate,
};
use crate::spec::{Listing, ResponseTime};

/// What the kernel needs from outside.
pub struct World {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where every call is recorded.
    pub audit: Arc<dyn AuditLog>,
    /// The records of mutations of packs that have no store of their own.
    pub mutations: Arc<dyn MutationLog>,
    /// Drawn at random when the process starts; call ids are made from it.
    pub incarnation: Uuid,
    /// Who is told about calls.
    pub observers: Vec<Arc<dyn Observer>>,
}

/// What an operator can choose.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Version of the program, for metadata.
    pub service_version: &'static str,
    /// Which tools are listed.
    pub offer: Offer,
    /// Hide and refuse every mutation.
    pub read_only: bool,
    /// The largest input, in bytes of canonical JSON.
    pub largest_input: usize,
    /// The most memory that kept replies may take, in bytes.
    pub cache_bytes: u64,
    /// The language of replies to calls that ask for none.
    pub lang: Lang,
    /// How long a person may take to answer a question; zero to ask nobody. No deadline of a tool
    /// runs meanwhile.
    pub consent_time: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            service_version: env!("CARGO_PKG_VERSION"),
            offer: Offer::Core,
            read_only: false,
            largest_input: 4 << 20,
            cache_bytes: 64 << 20,
            lang: Lang::En,
            consent_time: Duration::from_secs(300),
        }
    }
}

/// Which tools a server lists. What is not listed can still be found and called.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Offer {
    /// The core tools of its packs.
    #[default]
    Core,
    /// Everything.
    All,
    /// Only `search-tools` and `describe-tool`.
    Lazy,
}

/// Which packs a connection sees: all, or one and the kernel's own tools.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Scope {
    /// Every pack.
    #[default]
    All,
    /// One pack.
    Pack(String),
}

/// The house: every surface holds one of these and calls tools through
/// [`pipeline::call`](crate::pipeline::call).
pub struct Kernel {
    pub(crate) registry: Registry,
    pub(crate) world: World,
    pub(crate) settings: Settings,
    pub(crate) throttle: Throttle,
    pub(crate) cache: ReplyCache,
    pub(crate) running_keys: RunningKeys,
    pub(crate) open_questions: OpenQuestions,
    /// This kernel: a call outlives its caller when it runs in a lane.
    own: Weak<Self>,
    mutations_begun: AtomicU64,
    epochs: HashMap<&'static str, AtomicU64>,
}

impl Kernel {
    /// A kernel over these packs and its own tools, or everything that is wrong with them.
    pub fn new(
        packs: Vec<Pack>,
        world: World,
        settings: Settings,
    ) -> Result<Arc<Self>, Vec<Violation>> {
        let kernel_handle = Arc::new(OnceLock::new());
        let mut all = vec![kernel_tools::pack(
            Catalog::new(Arc::clone(&kernel_handle)),
            Arc::clone(&world.audit),
        )];
        all.extend(packs);
        let registry = Registry::new(all)?;
        prove_permissions(&registry)?;
        let kernel = Arc::new_cyclic(|own| Self {
            throttle: Throttle::new(&registry, &world.clock),
            cache: ReplyCache::new(settings.cache_bytes),
            running_keys: RunningKeys::default(),
            open_questions: OpenQuestions::default(),
            own: Weak::clone(own),
            mutations_begun: AtomicU64::new(0),
            epochs: registry
                .get_all()
                .iter()
                .flat_map(|entry| entry.spec.data)
                .map(|name| (*name, AtomicU64::new(0)))
                .collect(),
            registry,
            world,
            settings,
        });
        // The kernel's own tools look at the kernel, which exists only now. Weakly, or neither
        // would ever be dropped.
        let _ = kernel_handle.set(Arc::downgrade(&kernel));
        Ok(kernel)
    }

    /// Every tool.
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What the operator chose.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The time.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.world.clock
    }

    /// The audit log.
    pub fn audit(&self) -> &Arc<dyn AuditLog> {
        &self.world.audit
    }

    pub(crate) fn shared(&self) -> Option<Arc<Self>> {
        self.own.upgrade()
    }

    /// The id of a call that changes data.
    pub(crate) fn call_id(&self, entry: &ToolEntry, cx: &CallContext) -> Option<CallId> {
        let is_mutation = entry.spec.category.mutates() && !cx.dry_run;
        is_mutation.then(|| self.next_call_id())
    }

    pub(crate) fn next_call_id(&self) -> CallId {
        let number = self.mutations_begun.fetch_add(1, Ordering::Relaxed);
        CallId::new(self.world.incarnation, number)
    }

    /// Where calls of this tool run; `None` for those that only compute, which run where they are
    /// polled.
    pub(crate) fn lane(&self, entry: &ToolEntry) -> Option<&Lane> {
        let spec = entry.spec;
        let pack = self.registry.pack_of(entry)?;
        let blocks =
            pack.blocks || spec.category.mutates() || spec.response_time != ResponseTime::Fast;
        blocks.then(|| pack.lanes.of(spec.response_time))
    }

    /// Where the mutations of this tool are recorded.
    pub(crate) fn mutation_log(&self, entry: &ToolEntry) -> &dyn MutationLog {
        self.mutation_log_of(entry.pack)
    }

    /// Where the mutations of this pack are recorded.
    pub(crate) fn mutation_log_of(&self, pack: &str) -> &dyn MutationLog {
        let pack = self.registry.packs().iter().find(|one| one.info.name == pack);
        pack.and_then(|pack| pack.mutation_log.as_ref()).unwrap_or(&self.world.mutations).as_ref()
    }

    /// Appends to the audit log what was committed without it, because the process or the log
    /// ended in between; gives how many entries that were. To be called before serving.
    pub async fn recover_audit(&self) -> Result<usize, ToolError> {
        let packs = self.registry.packs().iter().filter_map(|pack| pack.mutation_log.as_ref());
        let mut recovered = 0;
        for log in packs.chain(std::iter::once(&self.world.mutations)) {
            for record in log.unaudited()? {
                let call_id = record.entry.call_id;
                self.world.audit.append(record.entry).await?;
                call_id.into_iter().for_each(|call_id| log.audited(call_id));
                recovered += 1;
            }
        }
        Ok(recovered)
    }

    /// The tools that `tools/list` shows this caller, in a fixed order.
    pub fn listed(&self, scope: &Scope, caller: &Caller) -> Vec<&ToolEntry> {
        let listed = |entry: &&ToolEntry| match self.settings.offer {
            Offer::All => true,
            Offer::Core => entry.spec.listing == Listing::Core,
            Offer::Lazy => kernel_tools::FINDERS.contains(&entry.spec.name),
        };
        self.callable(scope, caller).filter(listed).collect()
    }

    /// The tools this caller may call, listed or not.
    pub fn callable(&self, scope: &Scope, caller: &Caller) -> impl Iterator<Item = &ToolEntry> {
        let today = self.world.clock.now().to_string();
        self.registry.get_all().iter().filter(move |entry| {
            in_scope(entry.pack, scope)
                && self.is_open_to(entry, &caller.grants)
                && !(self.settings.read_only && entry.spec.category.mutates())
                && entry
                    .spec
                    .deprecated
                    .as_ref()
                    .is_none_or(|deprecation| *today < *deprecation.removal_date)
        })
    }

    /// Whether these grants suffice for the tool, with the consent of a person if need be.
    pub(crate) fn is_open_to(&self, entry: &ToolEntry, grants: &Grants) -> bool {
        grants.allow_all(entry.spec.permissions) || self.takes_consent(entry, grants)
    }

    /// Whether the consent of a person is all that these grants lack for the tool.
    pub fn takes_consent(&self, entry: &ToolEntry, grants: &Grants) -> bool {
        let rule = entry.handler.consent_rule().filter(|_| !self.settings.consent_time.is_zero());
        rule.is_some_and(|rule| rule.covers(grants, entry.spec.permissions))
    }

    /// The tool of this name or alias, if it is in scope.
    pub fn resolve(&self, name: &str, scope: &Scope) -> Option<&ToolEntry> {
        self.registry.get(name).filter(|entry| in_scope(entry.pack, scope))
    }

    /// The packs in scope.
    pub fn packs<'a>(&'a self, scope: &'a Scope) -> impl Iterator<Item = &'a PackEntry> {
        self.registry.packs().iter().filter(move |pack| in_scope(pack.info.name, scope))
    }

    /// Every address that is always there.
    pub fn resources(&self, scope: &Scope, caller: &Caller) -> Vec<Resource> {
        let providers = self.packs(scope).flat_map(|pack| &pack.resources);
        let visible = providers.filter(|provider| caller.grants.allow_all(provider.permissions()));
        visible.flat_map(|provider| provider.resources()).collect()
    }

    /// Every family of addresses.
    pub fn resource_templates(&self, scope: &Scope, caller: &Caller) -> Vec<ResourceTemplate> {
        let providers = self.packs(scope).flat_map(|pack| &pack.resources);
        let visible = providers.filter(|provider| caller.grants.allow_all(provider.permissions()));
        visible.flat_map(|provider| provider.templates()).collect()
    }

    /// What is at `uri`.
    pub async fn read_resource(
        &self,
        scope: &Scope,
        uri: &str,
        cx: &CallContext,
    ) -> Result<ResourceContent, ToolError> {
        let providers =
            self.packs(scope).flat_map(|pack| pack.resources.iter().map(move |one| (pack, one)));
        // Who may not read here is not told that there is something to read.
        let visible: Vec<(&PackEntry, &Arc<dyn ResourceProvider>)> = providers
            .filter(|(_, provider)| cx.caller.grants.allow_all(provider.permissions()))
            .collect();
        for (pack, provider) in visible {
            let started = self.world.clock.monotonic();
            let Some(found) = read(pack, provider, uri, cx).await? else { continue };
            return match provider.recorded_as(uri) {
                None => found,
                Some(name) => {
                    let read = crate::pipeline::Reading { name, uri, started, cx };
                    crate::pipeline::recorded(self, &read, found).await
                }
            };
        }
        let shown: String = uri.chars().take(200).collect();
        Err(ToolError::not_found("RESOURCE_NOT_FOUND", format!("no resource at `{shown}`"))
            .hint("list what there is with `resources/list` and `resources/templates/list`"))
    }

    /// Suggestions for an argument that a person is typing: of the first completer that knows it.
    pub async fn complete(
        &self,
        scope: &Scope,
        asked: &Completion,
        cx: &CallContext,
    ) -> Result<Vec<String>, ToolError> {
        let packs: Vec<&PackEntry> = self.packs(scope).collect();
        for pack in packs {
            for completer in &pack.completers {
                if let Some(found) = complete(pack, completer, asked, cx).await? {
                    return Ok(found);
                }
            }
        }
        Ok(Vec::new())
    }

    /// A number that changes whenever data that this tool reads may have changed.
    pub(crate) fn epoch(&self, entry: &ToolEntry) -> (u64, u64) {
        let epochs = entry.spec.data.iter().filter_map(|name| self.epochs.get(name));
        let changes = epochs.map(|epoch| epoch.load(Ordering::Acquire)).sum();
        let version = self.registry.pack_of(entry).and_then(|pack| pack.data_version.as_ref());
        (changes, version.map_or(0, |version| version()))
    }

    /// Says that the data a mutation touches may have changed.
    pub(crate) fn advance_epochs(&self, entry: &ToolEntry) {
        self.advance_epochs_of(entry.spec.data);
    }

    pub(crate) fn advance_epochs_of(&self, data: &[&str]) {
        for epoch in data.iter().filter_map(|name| self.epochs.get(name)) {
            epoch.fetch_add(1, Ordering::AcqRel);
        }
    }
}

/// Reads in the lane of the pack, if its store may block.
async fn read(
    pack: &PackEntry,
    provider: &Arc<dyn ResourceProvider>,
    uri: &str,
    cx: &CallContext,
) -> Result<Option<Result<ResourceContent, ToolError>>, ToolError> {
    if !pack.blocks {
        return guarded(provider.read(uri, cx)).await;
    }
    let (provider, uri, own) = (Arc::clone(provider), uri.to_owned(), cx.clone());
    let work = async move { guarded(provider.read(&uri, &own)).await };
    let lane = pack.lanes.of(ResponseTime::Medium);
    let deadline = ResponseTime::Medium.deadline();
    within(cx, "reading a resource", deadline, async { lane.run(work).await? }).await
}

/// Completes in the lane of the pack, if its store may block.
async fn complete(
    pack: &PackEntry,
    completer: &Arc<dyn Completer>,
    asked: &Completion,
    cx: &CallContext,
) -> Result<Option<Vec<String>>, ToolError> {
    let (completer, own) = (Arc::clone(completer), asked.clone());
    let work = async move {
        guarded(async { completer.complete(own.of.target(), &own.argument, &own.typed) }).await
    };
    if !pack.blocks {
        return work.await;
    }
    let lane = pack.lanes.of(ResponseTime::Fast);
    let deadline = ResponseTime::Fast.deadline();
    within(cx, "completing an argument", deadline, async { lane.run(work).await? }).await
}

fn in_scope(pack: &str, scope: &Scope) -> bool {
    match scope {
        Scope::All => true,
        Scope::Pack(name) => pack == name || pack == kernel_tools::PACK,
    }
}

pub(crate) fn read_only(name: &str) -> ToolError {
    ToolError::new(
        ErrorKind::Forbidden,
        "READ_ONLY",
        format!("`{name}` changes data, and this server is read-only"),
    )
    .hint("ask the operator to start the server without `--read-only`")
}

pub(crate) fn forbidden(caller: &Caller, required: &[&str]) -> ToolError {
    let missing = caller.grants.missing(required);
    ToolError::new(
        ErrorKind::Forbidden,
        "FORBIDDEN",
        format!("this caller lacks the permission `{}`", missing.join("`, `")),
    )
    .hint("ask the operator for a key whose profile grants it")
    .detail("missingPermissions", missing)
}

/// At start: each permission that a tool asks for is granted by some profile.
fn prove_permissions(registry: &Registry) -> Result<(), Vec<Violation>> {
    let profiles: Vec<Grants> = Profile::ALL.into_iter().map(Grants::of).collect();
    let granted = |permission: &str| profiles.iter().any(|grants| grants.allow(permission));
    let violations: Vec<Violation> = registry
        .get_all()
        .iter()
        .flat_map(|entry| entry.spec.permissions.iter().map(move |permission| (entry, permission)))
        .filter(|(_, permission)| !granted(permission))
        .map(|(entry, permission)| {
            Violation::new(
                entry.spec.name,
                Line::Permissions,
                format!("no profile grants `{permission}`"),
            )
        })
        .collect();
    if violations.is_empty() { Ok(()) } else { Err(violations) }
}
