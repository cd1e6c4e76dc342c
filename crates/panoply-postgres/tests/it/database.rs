//! A database of its own for each test.

use std::sync::Arc;

use panoply_contract::tenant::{TenantId, TenantKind};
use panoply_postgres::schema::{self, Names};
use panoply_postgres::{Postgres, Settings};
use panoply_testkit::postgres::PostgresServer;

/// A throw-away server with the tables, and a pool as the application role.
pub(crate) struct Database {
    pub(crate) postgres: Arc<Postgres>,
    pub(crate) server: PostgresServer,
}

impl Database {
    pub(crate) fn start() -> Self {
        let server = PostgresServer::start();
        let app = Settings::of(&server.app_url());
        schema::init(&Settings::of(&server.admin_url()), &Names::of(&app).unwrap()).unwrap();
        Self { postgres: Postgres::new(&app).unwrap(), server }
    }

    /// Another pool, as another replica has.
    pub(crate) fn replica(&self) -> Arc<Postgres> {
        Postgres::new(&Settings::of(&self.server.app_url())).unwrap()
    }

    /// Runs SQL as the superuser.
    pub(crate) fn admin(&self, sql: &str) -> String {
        self.server.psql("postgres", "panoply", sql).unwrap()
    }

    /// Runs SQL as the application role.
    pub(crate) fn app(&self, sql: &str) -> Result<String, String> {
        self.server.psql("panoply_app", "panoply", sql)
    }
}

/// A person, by number.
pub(crate) fn person(number: u8) -> TenantId {
    TenantId::new(TenantKind::Person, [number; 16])
}
