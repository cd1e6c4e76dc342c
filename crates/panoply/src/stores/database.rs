//! The stores on a PostgreSQL server.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use panoply_backtest::store::Store as RunStore;
use panoply_cgt::store::PortfolioStore;
use panoply_contract::audit::AuditLog;
use panoply_contract::tenant::TenantId;
use panoply_noema::fsrs::Zone;
use panoply_noema::store::Store as CardStore;
use panoply_postgres::audit_verify::{self, Verification};
use panoply_postgres::schema::{self, Names};
pub(crate) use panoply_postgres::schema::{Finding, Verdict};
use panoply_postgres::tenant_data;
pub(crate) use panoply_postgres::tenant_data::TableRows;
use panoply_postgres::{
    Postgres, PostgresApiKeys, PostgresAuditLog, PostgresCards, PostgresDocuments,
    PostgresKernelStore, PostgresPortfolios, PostgresRuns, PostgresUsers, Settings, transfer,
    working_copy,
};
use panoply_store::audit_log::Head;
use panoply_store::transfer::{Direction, Transferred};
use panoply_store::users::UsersError;
use panoply_store::{ApiKeys, Home, KernelStore, StoreError, Users};
use panoply_ttm::jobs::JobStore;

use super::WithLog;
use crate::cli::Administrator;
use crate::config::StoreSettings;

static SERVER: OnceLock<Server> = OnceLock::new();

/// The server of this program; `None` for files.
pub(crate) fn server() -> Option<&'static Server> {
    SERVER.get()
}

/// Chooses the server. No connection is opened yet.
pub(crate) fn choose(store: &StoreSettings) -> Result<(), StoreError> {
    let server = Server(Postgres::new(&settings(store)?)?);
    // A program runs one command.
    let _ = SERVER.set(server);
    Ok(())
}

fn settings(store: &StoreSettings) -> Result<Settings, StoreError> {
    let known = ["postgres://", "postgresql://"].iter().any(|scheme| store.url.starts_with(scheme));
    if !known {
        return Err(StoreError::NotSetUp(
            "the store is not a URL that starts with `postgres://`".to_owned(),
        ));
    }
    let mut settings = Settings::of(&store.url);
    settings.password = store.password_file.as_deref().map(password_in).transpose()?;
    settings.authorities.clone_from(&store.authorities);
    settings.connections = store.connections;
    Ok(settings)
}

/// Creates roles, database and tables.
pub(crate) fn init(
    store: &StoreSettings,
    admin: &Administrator,
) -> Result<Vec<String>, StoreError> {
    let app = settings(store)?;
    schema::init(&administrator(&app, admin)?, &Names::of(&app)?)
}

/// Applies the missing migrations.
pub(crate) fn migrate(
    store: &StoreSettings,
    admin: &Administrator,
) -> Result<Vec<String>, StoreError> {
    let app = settings(store)?;
    schema::migrate(&administrator(&app, admin)?, &Names::of(&app)?)
}

fn administrator(app: &Settings, admin: &Administrator) -> Result<Settings, StoreError> {
    let password = admin.password_file.as_deref().map(password_in).transpose()?;
    let authorities = app.authorities.clone();
    Ok(Settings { authorities, password, ..Settings::of(&admin.url) })
}

fn password_in(file: &Path) -> Result<String, StoreError> {
    let password = std::fs::read_to_string(file)
        .map_err(|source| StoreError::Unopenable { file: file.to_owned(), source })?;
    Ok(password.trim_end_matches(['\r', '\n']).to_owned())
}

/// Checks the database.
pub(crate) fn check(store: &StoreSettings) -> Result<Vec<Finding>, StoreError> {
    schema::check(&Postgres::new(&settings(store)?)?)
}

/// Moves the data of a user between the files of a home and the database.
pub(crate) fn transfer(
    store: &StoreSettings,
    direction: Direction,
    home: &Home,
    user: &str,
    now: Timestamp,
) -> Result<Vec<Transferred>, UsersError> {
    let server = Postgres::new(&settings(store)?)?;
    let users = PostgresUsers(Arc::clone(&server));
    let tenant = match users.person(user) {
        Err(UsersError::UnknownUser(_)) if direction == Direction::ToServer => {
            users.add(user, None, now)?.id
        }
        found => found?.id,
    };
    let in_home = super::tenant_in_files(home, user)?;
    let kernel = super::kernel_in_files(home)?;
    let moving = transfer::Move {
        direction,
        server: &server,
        tenant: &tenant,
        home,
        in_home: &in_home,
        kernel: kernel.as_ref(),
    };
    Ok(moving.run()?)
}

/// A server with its pool of connections.
#[derive(Debug)]
pub(crate) struct Server(Arc<Postgres>);

impl Server {
    pub(crate) fn keys(&self) -> Arc<dyn ApiKeys> {
        Arc::new(PostgresApiKeys(Arc::clone(&self.0)))
    }

    pub(crate) fn users(&self) -> Arc<dyn Users> {
        Arc::new(PostgresUsers(Arc::clone(&self.0)))
    }

    /// All rows of a tenant.
    pub(crate) fn rows(&self, tenant: &TenantId) -> Result<Vec<TableRows>, StoreError> {
        tenant_data::rows(&self.0, tenant)
    }

    /// Deletes the data of packs of a tenant.
    pub(crate) fn erase(&self, tenant: &TenantId) -> Result<(), StoreError> {
        tenant_data::erase(&self.0, tenant)
    }

    pub(crate) fn kernel(&self) -> Arc<dyn KernelStore> {
        Arc::new(PostgresKernelStore(Arc::clone(&self.0)))
    }

    pub(crate) fn audit_log(&self) -> Result<Arc<dyn AuditLog>, StoreError> {
        let replica = format!("process {}", std::process::id());
        Ok(Arc::new(PostgresAuditLog::start(Arc::clone(&self.0), &replica)?))
    }

    /// The cards of a tenant, with copies in the cache of its home.
    pub(crate) fn cards(&self, home: &Home, tenant: &TenantId, zone: Zone) -> Arc<dyn CardStore> {
        let cards = PostgresCards::builder(Arc::clone(&self.0), tenant.clone(), copies(home));
        Arc::new(cards.with_default_zone(zone).build())
    }

    /// The portfolios of a tenant, with copies in the cache of its home.
    pub(crate) fn portfolios(&self, home: &Home, tenant: &TenantId) -> Arc<dyn PortfolioStore> {
        Arc::new(PostgresPortfolios::new(Arc::clone(&self.0), tenant.clone(), copies(home)))
    }

    /// The documents of a tenant, with copies in the cache of its home.
    pub(crate) fn documents(&self, home: &Home, tenant: &TenantId) -> WithLog<dyn JobStore> {
        let store = PostgresDocuments::new(Arc::clone(&self.0), tenant.clone(), copies(home));
        WithLog { log: store.mutation_log(), store: Arc::new(store) }
    }

    /// The runs of a tenant, with sealed runs in its home.
    pub(crate) fn runs(&self, home: &Home, tenant: &TenantId) -> WithLog<dyn RunStore> {
        let folder = home.packs().join("backtest");
        let store = Arc::new(PostgresRuns::new(Arc::clone(&self.0), tenant.clone(), folder));
        WithLog { log: store.mutation_log(), store }
    }
}

/// Folder of this process for the copies of a tenant.
fn copies(home: &Home) -> PathBuf {
    working_copy::copies_of_this_process(&home.folder().join("cache"))
}

/// The audit log of the server.
pub(crate) struct AuditServer(Arc<Postgres>);

/// The audit log of the server of this program.
pub(crate) fn audit_server() -> Option<AuditServer> {
    server().map(|server| AuditServer(Arc::clone(&server.0)))
}

impl AuditServer {
    /// Verifies all chains and checkpoints.
    pub(crate) fn verify(&self, noted: Option<Head>) -> Result<Verification, StoreError> {
        audit_verify::verify(&self.0, noted)
    }
}
