//! Opens the stores of a home. The only module that chooses their backend; all others know the
//! traits, except for what works on the files themselves: `backup`, `restore`, `doctor`, `audit
//! verify|seal|export|checkpoint`, the tables in `users export` and the supervisor of packs.
//!
//! A program has one backend, chosen before its command runs ([`choose`]): files in the home, or a
//! PostgreSQL server. What the server does not have yet is refused, and never taken from files.

use std::sync::Arc;

use panoply_backtest::error::LogError;
use panoply_backtest::store::Store as RunStore;
use panoply_backtest::store::sqlite::SqliteStore as SqliteRuns;
use panoply_cgt::store::{PortfolioStore, SqlitePortfolios};
use panoply_contract::audit::AuditLog;
use panoply_contract::mutation::MutationLog;
use panoply_contract::tenant::TenantId;
use panoply_noema::store::{OpenError, SqliteStore as SqliteCards, Store as CardStore};
use panoply_store::mutations::SqliteMutationLog;
use panoply_store::users::UsersError;
use panoply_store::{
    ApiKeys, DeferredAuditLog, Home, KernelDb, KernelStore, SqliteApiKeys, SqliteAuditLog,
    SqliteUsers, StoreError, Users,
};
use panoply_ttm::eval::ReportStore;
use panoply_ttm::jobs::JobStore;
use panoply_ttm::search::PaperImport;
use panoply_ttm::store::{SqliteReportStore, SqliteUserStore};

use crate::cli::{self, Command};
use crate::commands::Session;
use crate::failure::Failure;

#[cfg(feature = "postgres")]
pub(crate) mod database;
#[cfg(not(feature = "postgres"))]
#[path = "stores/no_database.rs"]
pub(crate) mod database;

/// Chooses the backend for a command; refuses a command that a database server cannot serve.
pub(crate) fn choose(command: &Command, session: &Session) -> Result<(), Failure> {
    // Commands that need valid settings report invalid ones themselves.
    let Some(store) = session.config().ok().and_then(|config| config.store) else { return Ok(()) };
    if let Some(what) = not_served(command) {
        return Err(Failure::usage(format!("{what}, and PANOPLY_STORE names a database server"))
            .hint("unset PANOPLY_STORE to work on the files of the home"));
    }
    database::choose(&store).map_err(|error| Failure::usage(error.chain()))
}

/// Why a command works on files only; `None` for one that a database server serves.
fn not_served(command: &Command) -> Option<&'static str> {
    const LOCAL: &str = "this command acts on the local tenant, which a database server has not";
    const FILES: &str = "this command works on files of the home";
    match command {
        Command::Stdio(_) | Command::Call(_) => Some(LOCAL),
        Command::Backup(_) | Command::Restore(_) | Command::Doctor(_) => Some(FILES),
        // Started by a server, for one file.
        Command::Ttm(cli::Ttm::ReadDocument(_)) => None,
        Command::Noema(_) | Command::Cgt(_) | Command::Backtest(_) | Command::Ttm(_) => Some(LOCAL),
        Command::Audit(cli::Audit::Verify { .. } | cli::Audit::Show { .. }) => None,
        Command::Audit(_) => Some(FILES),
        Command::Http(_)
        | Command::Tools(_)
        | Command::Describe(_)
        | Command::Docs(_)
        | Command::Contract(_)
        | Command::Keys(_)
        | Command::Users(_)
        | Command::Data(_)
        | Command::Db(_)
        | Command::Migrate(_)
        | Command::Health(_)
        | Command::Setup(_)
        | Command::Rmf(_)
        | Command::Completions(_)
        | Command::Man(_) => None,
    }
}

/// The tenant of a home that a name stands for: the user of this name, and the local tenant of a
/// home without users.
pub(crate) fn tenant_in_files(home: &Home, name: &str) -> Result<TenantId, UsersError> {
    if !home.keys().exists() {
        return Ok(TenantId::local());
    }
    let users = SqliteUsers::open(&home.keys())?;
    match users.list()?.is_empty() {
        true => Ok(TenantId::local()),
        false => Ok(users.person(name)?.id),
    }
}

/// The kernel's store in the files of a home, whatever the backend is.
pub(crate) fn kernel_in_files(home: &Home) -> Result<Arc<dyn KernelStore>, StoreError> {
    Ok(KernelDb::open(&home.kernel())?.0)
}

/// Whether the stores are on a database server.
pub(crate) fn is_server() -> bool {
    database::server().is_some()
}

/// Whether a tenant may have data of a pack. `home` is that of the tenant.
pub(crate) fn has_data(home: &Home, pack: &str) -> bool {
    is_server() || home.pack(pack).exists()
}

/// A store of a pack with its mutation log.
pub(crate) struct WithLog<S: ?Sized> {
    pub(crate) store: Arc<S>,
    pub(crate) log: Arc<dyn MutationLog>,
}

/// Portfolios of the cgt pack. `home` is that of the tenant.
pub(crate) fn portfolios(home: &Home, tenant: &TenantId) -> Arc<dyn PortfolioStore> {
    if let Some(server) = database::server() {
        return server.portfolios(home, tenant);
    }
    Arc::new(SqlitePortfolios::at(home.pack("cgt")))
}

/// Cards of the noema pack. A learner without a time zone has that of this machine. `home` is that
/// of the tenant.
pub(crate) fn cards(home: &Home, tenant: &TenantId) -> Result<Arc<dyn CardStore>, OpenError> {
    if let Some(server) = database::server() {
        return Ok(server.cards(home, tenant, machine_zone()));
    }
    let store = SqliteCards::open(&home.pack("noema"))?;
    Ok(Arc::new(store.with_default_zone(machine_zone())))
}

/// A collection in memory.
pub(crate) fn cards_in_memory() -> panoply_noema::error::Result<Arc<dyn CardStore>> {
    Ok(Arc::new(SqliteCards::in_memory()?))
}

fn machine_zone() -> panoply_noema::fsrs::Zone {
    let now = crate::app::clock().now();
    panoply_noema::fsrs::Zone::of(&crate::env_vars::time_zone(), now)
}

/// Runs of the backtest pack. `home` is that of the tenant.
pub(crate) fn runs(home: &Home, tenant: &TenantId) -> Result<WithLog<dyn RunStore>, Failure> {
    if let Some(server) = database::server() {
        return Ok(server.runs(home, tenant));
    }
    let store = SqliteRuns::open(&home.pack("backtest")).map_err(|error| {
        let failure = Failure::work(format!("the backtest runs cannot be opened: {error}"));
        match error {
            LogError::Store(cause) => match cause.downcast::<StoreError>() {
                Ok(error) => failure.of_store(*error),
                Err(_) => failure,
            },
            _ => failure,
        }
    })?;
    let store = Arc::new(store);
    Ok(WithLog { log: Arc::new(SqliteMutationLog(Arc::clone(&store))), store })
}

/// Documents and jobs of the ttm pack. `home` is that of the tenant.
pub(crate) fn documents(home: &Home, tenant: &TenantId) -> WithLog<dyn JobStore> {
    if let Some(server) = database::server() {
        return server.documents(home, tenant);
    }
    let store = Arc::new(SqliteUserStore::at(home.pack("ttm")));
    WithLog { log: Arc::new(SqliteMutationLog(Arc::clone(&store))), store }
}

/// Papers of the ttm pack, to import more.
pub(crate) fn papers(home: &Home) -> Arc<dyn PaperImport> {
    Arc::new(SqliteUserStore::at(home.pack("ttm")))
}

/// Evaluation reports of the ttm pack.
pub(crate) fn reports(home: &Home) -> Arc<dyn ReportStore> {
    Arc::new(SqliteReportStore::at(home.pack("ttm-eval")))
}

/// API keys; the store is created if it does not exist.
pub(crate) fn keys(home: &Home) -> Result<Arc<dyn ApiKeys>, StoreError> {
    if let Some(server) = database::server() {
        return Ok(server.keys());
    }
    Ok(Arc::new(SqliteApiKeys::open(&home.keys())?))
}

/// Users and workspaces; the store is created if it does not exist.
pub(crate) fn users(home: &Home) -> Result<Arc<dyn Users>, StoreError> {
    if let Some(server) = database::server() {
        return Ok(server.users());
    }
    Ok(Arc::new(SqliteUsers::open(&home.keys())?))
}

/// The audit log.
pub(crate) fn audit_log(home: &Home) -> Result<Arc<dyn AuditLog>, StoreError> {
    if let Some(server) = database::server() {
        return server.audit_log();
    }
    Ok(Arc::new(SqliteAuditLog::open(&home.audit_log())?))
}

/// The audit log that could not be opened, for this reason; opening is retried.
pub(crate) fn deferred_audit_log(home: &Home, error: StoreError) -> Arc<dyn AuditLog> {
    Arc::new(DeferredAuditLog::new(&home.audit_log(), error, crate::app::clock()))
}

/// Shares, preferences and the mutation log of packs without a database.
pub(crate) fn kernel(home: &Home) -> Result<Arc<dyn KernelStore>, StoreError> {
    if let Some(server) = database::server() {
        return Ok(server.kernel());
    }
    Ok(KernelDb::open(&home.kernel())?.0)
}

/// As [`kernel`]; a store that cannot be opened now is opened when it is used.
pub(crate) fn kernel_or_retry(home: &Home) -> Arc<dyn KernelStore> {
    kernel(home).unwrap_or_else(|_| KernelDb::open_lazily(&home.kernel()).0)
}
