//! The kernel: registry, clock, audit log, rate limits, reply cache and metrics.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use uuid::Uuid;

use crate::audit::{AuditLog, MemoryAuditLog};
use crate::clock::Clock;
use crate::compliance::{Line, Violation};
use crate::consent::OpenQuestions;
use crate::context::{CallContext, Caller, Lang};
use crate::error::{ErrorKind, ToolError};
use crate::ids::CallId;
use crate::kernel_tools::{self, KernelHandle};
use crate::mutation::{MemoryMutationLog, MutationLog, RunningKeys};
use crate::observe::Observer;
use crate::pack::{Growth, Pack};
use crate::permission::{Grants, Profile};
use crate::pipeline::{Lane, Limiter, LocalLimiter, ReplyCache, guarded, within};
use crate::preferences::{
    MemoryPreferenceStore, PreferenceCache, PreferenceStore, StoredPreferences,
};
use crate::registry::{PackEntry, Registry, ToolEntry};
use crate::resource::{
    Completer, Completion, Resource, ResourceContent, ResourceProvider, ResourceTemplate,
};
use crate::sharing::{MemoryShareStore, ShareStore};
use crate::spec::{Listing, ResponseTime};
use crate::tenant::{TenantId, Tenants};

/// External services that the kernel depends on.
pub struct KernelServices {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Records every call.
    pub audit: Arc<dyn AuditLog>,
    /// Mutation log of packs without a store.
    pub mutations: Arc<dyn MutationLog>,
    /// Who may read what of whom.
    pub shares: Arc<dyn ShareStore>,
    /// What persons have set.
    pub preferences: Arc<dyn PreferenceStore>,
    /// Limits how often a person calls a tool.
    pub limiter: Arc<dyn Limiter>,
    /// Random per process; prefix of call ids.
    pub incarnation: Uuid,
    /// Notified about calls.
    pub observers: Vec<Arc<dyn Observer>>,
}

impl KernelServices {
    /// Services without storage, limited to this process.
    pub fn in_memory(clock: Arc<dyn Clock>) -> Self {
        Self {
            audit: Arc::new(MemoryAuditLog::default()),
            mutations: Arc::new(MemoryMutationLog::default()),
            shares: Arc::new(MemoryShareStore::default()),
            preferences: Arc::new(MemoryPreferenceStore::default()),
            limiter: Arc::new(LocalLimiter::new(&clock)),
            incarnation: Uuid::from_u128(1),
            observers: Vec::new(),
            clock,
        }
    }
}

pub use self::{KernelServices as World, ListingMode as Offer};

/// Operator settings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Version of the program, for metadata.
    pub service_version: &'static str,
    /// Which tools are listed.
    pub offer: ListingMode,
    /// Hide and refuse every mutation.
    pub read_only: bool,
    /// The largest input, in bytes of canonical JSON.
    pub largest_input: usize,
    /// Capacity of the reply cache in bytes.
    pub cache_bytes: u64,
    /// Default language of replies.
    pub lang: Lang,
    /// Timeout of consent questions; zero disables them. The tool's deadline is paused meanwhile.
    pub consent_time: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            service_version: env!("CARGO_PKG_VERSION"),
            offer: ListingMode::Core,
            read_only: false,
            largest_input: 4 << 20,
            cache_bytes: 64 << 20,
            lang: Lang::En,
            consent_time: Duration::from_secs(300),
        }
    }
}

/// Which tools a server lists. Unlisted tools can still be searched for and called.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ListingMode {
    /// The core tools of its packs.
    #[default]
    Core,
    /// Everything.
    All,
    /// Only `search-tools` and `describe-tool`.
    Lazy,
}

/// Longest wait for the preferences of a caller.
const MAX_PREFERENCE_WAIT: Duration = Duration::from_millis(200);

/// Which packs a connection sees: all, or one and the kernel's own tools.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Scope {
    /// Every pack.
    #[default]
    All,
    /// One pack.
    Pack(String),
}

/// Shared state of all surfaces, which call tools through
/// [`pipeline::call`](crate::pipeline::call).
pub struct Kernel {
    pub(crate) registry: Registry,
    pub(crate) services: KernelServices,
    pub(crate) settings: Settings,
    pub(crate) cache: ReplyCache,
    pub(crate) running_keys: RunningKeys,
    pub(crate) open_questions: OpenQuestions,
    pub(crate) preference_cache: PreferenceCache,
    /// Self reference: a call that runs in a lane may outlive its caller.
    own: Weak<Self>,
    mutations_begun: AtomicU64,
    epochs: HashMap<&'static str, Epochs>,
}

impl Kernel {
    /// Creates a kernel with these packs and the kernel tools, or returns all violations.
    pub fn new(
        packs: Vec<Pack>,
        services: KernelServices,
        settings: Settings,
    ) -> Result<Arc<Self>, Vec<Violation>> {
        let kernel_handle = Arc::new(OnceLock::new());
        let mut all = vec![kernel_tools::pack(
            KernelHandle::new(Arc::clone(&kernel_handle)),
            Arc::clone(&services.audit),
        )];
        all.extend(packs);
        let registry = Registry::new(all)?;
        prove_permissions(&registry)?;
        let kernel = Arc::new_cyclic(|own| Self {
            cache: ReplyCache::new(settings.cache_bytes),
            running_keys: RunningKeys::default(),
            open_questions: OpenQuestions::default(),
            preference_cache: PreferenceCache::default(),
            own: Weak::clone(own),
            mutations_begun: AtomicU64::new(0),
            epochs: registry
                .get_all()
                .iter()
                .flat_map(|entry| entry.spec.data)
                .map(|name| (*name, Epochs::default()))
                .collect(),
            registry,
            services,
            settings,
        });
        // The kernel tools refer to the kernel, which exists only now. A weak reference avoids a
        // cycle.
        let _ = kernel_handle.set(Arc::downgrade(&kernel));
        Ok(kernel)
    }

    /// Every tool.
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The operator settings.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The time.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.services.clock
    }

    /// The audit log.
    pub fn audit(&self) -> &Arc<dyn AuditLog> {
        &self.services.audit
    }

    pub(crate) fn shared(&self) -> Option<Arc<Self>> {
        self.own.upgrade()
    }

    /// Preferences of a person. If they cannot be read, the default ones: a preference is never
    /// worth a failed call, and `get-preferences` reports the error.
    pub(crate) async fn preferences(&self, tenant: &TenantId) -> Arc<StoredPreferences> {
        let now = self.services.clock.monotonic();
        if let Some(cached) = self.preference_cache.get(tenant, now) {
            return cached;
        }
        let (store, of) = (Arc::clone(&self.services.preferences), tenant.clone());
        let pack = self.registry.packs().first().filter(|_| store.blocks());
        let read = match pack {
            Some(pack) => {
                let lane = pack.lanes.of(ResponseTime::Fast);
                let read = Box::pin(lane.run(async move { store.get(&of) }));
                // A locked database must not hold up calls that do not need it.
                match tokio::time::timeout(MAX_PREFERENCE_WAIT, read).await {
                    Ok(read) => read.and_then(|read| read),
                    Err(_) => Ok(StoredPreferences::default()),
                }
            }
            None => store.get(&of),
        };
        self.preference_cache.insert(tenant.clone(), now, read.unwrap_or_default())
    }

    /// Id of a mutating call or its dry run.
    pub(crate) fn call_id(&self, entry: &ToolEntry) -> Option<CallId> {
        entry.spec.category.mutates().then(|| self.next_call_id())
    }

    pub(crate) fn next_call_id(&self) -> CallId {
        let number = self.mutations_begun.fetch_add(1, Ordering::Relaxed);
        CallId::new(self.services.incarnation, number)
    }

    /// Lane of the tool's handler; `None` for handlers that never block, which run on the async
    /// worker.
    pub(crate) fn lane(&self, entry: &ToolEntry) -> Option<&Lane> {
        let spec = entry.spec;
        let pack = self.registry.pack_of(entry)?;
        let blocks =
            pack.blocks || spec.category.mutates() || spec.response_time != ResponseTime::Fast;
        blocks.then(|| pack.lanes.of(spec.response_time))
    }

    /// Mutation log of a pack for the caller's tenant.
    pub(crate) fn mutation_log(
        &self,
        pack: &str,
        tenants: &Tenants,
    ) -> Result<Arc<dyn MutationLog>, ToolError> {
        let pack = self.registry.packs().iter().find(|one| one.info.name == pack);
        let log = match pack {
            Some(pack) => pack.mutation_log(&pack.tenancy.tenant(tenants))?,
            None => None,
        };
        Ok(log.unwrap_or_else(|| Arc::clone(&self.services.mutations)))
    }

    /// Appends the audit entries of mutations of the local tenant that were committed before a
    /// crash or a log failure; returns their number. Call it before serving.
    pub async fn recover_audit(&self) -> Result<usize, ToolError> {
        let local = TenantId::local();
        let mut recovered = self.recover_log(self.services.mutations.as_ref()).await?;
        for pack in self.registry.packs() {
            recovered += self.recover_pack(pack, &local).await?;
        }
        Ok(recovered)
    }

    /// [`recover_audit`](Self::recover_audit) for all other tenants. It opens their files one by
    /// one, so a server runs it in the background.
    pub async fn recover_tenants(&self) -> Result<usize, ToolError> {
        let mut recovered = 0;
        for pack in self.registry.packs() {
            let tenants = pack.supervisor.as_ref().map(|one| one.tenants()).unwrap_or_default();
            for tenant in tenants.iter().filter(|tenant| !tenant.is_local()) {
                recovered += self.recover_pack(pack, tenant).await?;
            }
        }
        Ok(recovered)
    }

    /// Refuses when the quota of the caller's tenant has no room for such growth in this pack.
    /// Blocks on the pack's store.
    pub fn check_quota(
        &self,
        pack: &str,
        caller: &Caller,
        growth: Growth,
    ) -> Result<(), ToolError> {
        let pack = self.registry.packs().iter().find(|one| one.info.name == pack);
        pack.map_or(Ok(()), |pack| pack.check_quota(caller, growth))
    }

    /// Closes the data of erased tenants, so that their files can go.
    pub fn close_erased(&self) {
        let supervisors = self.registry.packs().iter().filter_map(|pack| pack.supervisor.as_ref());
        supervisors.for_each(|supervisor| supervisor.close_erased());
    }

    async fn recover_pack(&self, pack: &PackEntry, tenant: &TenantId) -> Result<usize, ToolError> {
        // A pack that cannot be opened must not block the recovery of others: its records stay
        // unaudited until the next start.
        match pack.mutation_log(tenant) {
            Ok(Some(log)) => self.recover_log(log.as_ref()).await,
            Ok(None) | Err(_) => Ok(0),
        }
    }

    async fn recover_log(&self, log: &dyn MutationLog) -> Result<usize, ToolError> {
        let mut recovered = 0;
        for record in log.unaudited()? {
            let call_id = record.entry.call_id;
            self.services.audit.append(record.entry).await?;
            call_id.into_iter().for_each(|call_id| log.audited(call_id));
            recovered += 1;
        }
        Ok(recovered)
    }

    /// The tools that `tools/list` shows this caller, in a fixed order.
    pub fn listed(&self, scope: &Scope, caller: &Caller) -> Vec<&ToolEntry> {
        let listed = |entry: &&ToolEntry| match self.settings.offer {
            ListingMode::All => true,
            ListingMode::Core => entry.spec.listing == Listing::Core,
            ListingMode::Lazy => kernel_tools::DISCOVERY_TOOLS.contains(&entry.spec.name),
        };
        self.callable(scope, caller).filter(listed).collect()
    }

    /// The tools this caller may call, including unlisted ones.
    pub fn callable(&self, scope: &Scope, caller: &Caller) -> impl Iterator<Item = &ToolEntry> {
        let today = self.services.clock.now().to_string();
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

    /// Whether these grants suffice for the tool, possibly with user consent.
    pub(crate) fn is_open_to(&self, entry: &ToolEntry, grants: &Grants) -> bool {
        grants.allow_all(entry.spec.permissions) || self.takes_consent(entry, grants)
    }

    /// Whether user consent is the only thing these grants lack for the tool.
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

    /// All static resources.
    pub fn resources(&self, scope: &Scope, caller: &Caller) -> Vec<Resource> {
        let providers = self.packs(scope).flat_map(|pack| &pack.resources);
        let visible = providers.filter(|provider| caller.grants.allow_all(provider.permissions()));
        visible.flat_map(|provider| provider.resources()).collect()
    }

    /// All resource templates.
    pub fn resource_templates(&self, scope: &Scope, caller: &Caller) -> Vec<ResourceTemplate> {
        let providers = self.packs(scope).flat_map(|pack| &pack.resources);
        let visible = providers.filter(|provider| caller.grants.allow_all(provider.permissions()));
        visible.flat_map(|provider| provider.templates()).collect()
    }

    /// Reads the resource at `uri`.
    pub async fn read_resource(
        &self,
        scope: &Scope,
        uri: &str,
        cx: &CallContext,
    ) -> Result<ResourceContent, ToolError> {
        let providers =
            self.packs(scope).flat_map(|pack| pack.resources.iter().map(move |one| (pack, one)));
        // Do not reveal the existence of resources to callers without the permission.
        let visible: Vec<(&PackEntry, &Arc<dyn ResourceProvider>)> = providers
            .filter(|(_, provider)| cx.caller.grants.allow_all(provider.permissions()))
            .collect();
        for (pack, provider) in visible {
            if pack.serves(&cx.caller).is_err() {
                continue;
            }
            let started = self.services.clock.monotonic();
            let Some(found) = read(pack, provider, uri, cx).await? else { continue };
            return match provider.recorded_as(uri) {
                None => found,
                Some(name) => {
                    let read = crate::pipeline::ResourceRead { name, uri, started, cx };
                    crate::pipeline::recorded(self, &read, found).await
                }
            };
        }
        let shown: String = uri.chars().take(200).collect();
        Err(ToolError::not_found("RESOURCE_NOT_FOUND", format!("no resource at `{shown}`"))
            .hint("list what there is with `resources/list` and `resources/templates/list`"))
    }

    /// Completes an argument with the first completer that supports it.
    pub async fn complete(
        &self,
        scope: &Scope,
        asked: &Completion,
        cx: &CallContext,
    ) -> Result<Vec<String>, ToolError> {
        let packs: Vec<&PackEntry> =
            self.packs(scope).filter(|pack| pack.serves(&cx.caller).is_ok()).collect();
        for pack in packs {
            for completer in &pack.completers {
                if let Some(found) = complete(pack, completer, asked, cx).await? {
                    return Ok(found);
                }
            }
        }
        Ok(Vec::new())
    }

    /// Cache epoch and data version: change whenever data that this tool reads may have changed.
    pub(crate) fn epoch(&self, entry: &ToolEntry, caller: &Caller) -> (u64, u64) {
        let Some(pack) = self.registry.pack_of(entry) else { return (0, 0) };
        let tenant = pack.tenancy.tenant(&caller.tenants);
        let epochs = entry.spec.data.iter().filter_map(|name| self.epochs.get(name));
        let changes = epochs.map(|epochs| epochs.of(&tenant).load(Ordering::Acquire)).sum();
        let version = caller.data_versions.of(pack.info.name);
        (changes, version.unwrap_or_else(|| pack.data_version(&tenant)))
    }

    /// Invalidates cached replies about the data that a mutation of a pack changes.
    pub(crate) fn advance_epochs(&self, pack: &str, data: &[&str], tenants: &Tenants) {
        let pack = self.registry.packs().iter().find(|one| one.info.name == pack);
        let tenant = pack.map_or_else(TenantId::local, |pack| pack.tenancy.tenant(tenants));
        for epochs in data.iter().filter_map(|name| self.epochs.get(name)) {
            epochs.of(&tenant).fetch_add(1, Ordering::AcqRel);
        }
    }
}

/// Number of changes of one kind of data. A slot may stand for several tenants: sharing one only
/// discards cached replies early, and the number of tenants is not bounded.
struct Epochs {
    local: AtomicU64,
    others: [AtomicU64; EPOCH_SLOTS],
}

const EPOCH_SLOTS: usize = 64;

impl Default for Epochs {
    fn default() -> Self {
        Self { local: AtomicU64::new(0), others: std::array::from_fn(|_| AtomicU64::new(0)) }
    }
}

impl Epochs {
    fn of(&self, tenant: &TenantId) -> &AtomicU64 {
        if tenant.is_local() {
            return &self.local;
        }
        let sum = tenant
            .as_str()
            .bytes()
            .fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte)));
        self.others.get(sum % EPOCH_SLOTS).unwrap_or(&self.local)
    }
}

/// Reads in the pack's lane if its store may block.
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

/// Completes in the pack's lane if its store may block.
async fn complete(
    pack: &PackEntry,
    completer: &Arc<dyn Completer>,
    asked: &Completion,
    cx: &CallContext,
) -> Result<Option<Vec<String>>, ToolError> {
    let (completer, own, tenants) =
        (Arc::clone(completer), asked.clone(), cx.caller.tenants.clone());
    let work = async move {
        guarded(async { completer.complete(own.of.target(), &own.argument, &own.typed, &tenants) })
            .await
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

/// Checks that some profile grants each permission required by a tool.
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
