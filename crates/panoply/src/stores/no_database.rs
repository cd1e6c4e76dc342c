//! A program that was built without PostgreSQL: a database server in the settings is refused.

use std::convert::Infallible;
use std::sync::Arc;

use jiff::Timestamp;
use panoply_backtest::store::Store as RunStore;
use panoply_cgt::store::PortfolioStore;
use panoply_contract::audit::AuditLog;
use panoply_contract::tenant::TenantId;
use panoply_noema::fsrs::Zone;
use panoply_noema::store::Store as CardStore;
use panoply_store::audit_log::{Fault, Head};
use panoply_store::transfer::{Direction, Transferred};
use panoply_store::users::UsersError;
use panoply_store::{ApiKeys, Home, KernelStore, StoreError, Users};
use panoply_ttm::jobs::JobStore;

use super::WithLog;
use crate::cli::Administrator;
use crate::config::StoreSettings;

fn refused<T>() -> Result<T, StoreError> {
    let message = "this program was built without PostgreSQL (cargo feature `postgres`)";
    Err(StoreError::NotSetUp(message.to_owned()))
}

pub(crate) fn choose(_: &StoreSettings) -> Result<(), StoreError> {
    refused()
}

pub(crate) fn init(_: &StoreSettings, _: &Administrator) -> Result<Vec<String>, StoreError> {
    refused()
}

pub(crate) fn migrate(_: &StoreSettings, _: &Administrator) -> Result<Vec<String>, StoreError> {
    refused()
}

pub(crate) fn check(_: &StoreSettings) -> Result<Vec<Finding>, StoreError> {
    refused()
}

pub(crate) fn transfer(
    _: &StoreSettings,
    _: Direction,
    _: &Home,
    _: &str,
    _: Timestamp,
) -> Result<Vec<Transferred>, UsersError> {
    Ok(refused()?)
}

pub(crate) const fn server() -> Option<&'static Server> {
    None
}

pub(crate) const fn audit_server() -> Option<AuditServer> {
    None
}

/// There is none.
#[derive(Debug)]
pub(crate) struct Server(Infallible);

impl Server {
    pub(crate) fn keys(&self) -> Arc<dyn ApiKeys> {
        match self.0 {}
    }

    pub(crate) fn users(&self) -> Arc<dyn Users> {
        match self.0 {}
    }

    pub(crate) fn rows(&self, _: &TenantId) -> Result<Vec<TableRows>, StoreError> {
        match self.0 {}
    }

    pub(crate) fn erase(&self, _: &TenantId) -> Result<(), StoreError> {
        match self.0 {}
    }

    pub(crate) fn kernel(&self) -> Arc<dyn KernelStore> {
        match self.0 {}
    }

    pub(crate) fn audit_log(&self) -> Result<Arc<dyn AuditLog>, StoreError> {
        match self.0 {}
    }

    pub(crate) fn cards(&self, _: &Home, _: &TenantId, _: Zone) -> Arc<dyn CardStore> {
        match self.0 {}
    }

    pub(crate) fn portfolios(&self, _: &Home, _: &TenantId) -> Arc<dyn PortfolioStore> {
        match self.0 {}
    }

    pub(crate) fn documents(&self, _: &Home, _: &TenantId) -> WithLog<dyn JobStore> {
        match self.0 {}
    }

    pub(crate) fn runs(&self, _: &Home, _: &TenantId) -> WithLog<dyn RunStore> {
        match self.0 {}
    }
}

/// Rows of a table.
pub(crate) struct TableRows {
    pub(crate) schema: String,
    pub(crate) table: String,
    pub(crate) rows: Vec<String>,
}

/// There is none.
pub(crate) struct AuditServer(Infallible);

impl AuditServer {
    pub(crate) fn verify(&self, _: Option<Head>) -> Result<Verification, StoreError> {
        match self.0 {}
    }
}

/// Result of a verification.
pub(crate) struct Verification {
    pub(crate) rows: u64,
    pub(crate) chains: usize,
    pub(crate) checkpoints: u64,
    pub(crate) last: Option<Head>,
    pub(crate) fault: Option<(String, Fault)>,
}

/// A finding of `panoply db check`.
pub(crate) struct Finding {
    pub(crate) name: &'static str,
    pub(crate) verdict: Verdict,
    pub(crate) detail: String,
}

/// Verdict of a check.
#[derive(Clone, Copy, Eq, PartialEq)]
#[expect(dead_code, reason = "no check runs without a database")]
pub(crate) enum Verdict {
    Good,
    Warning,
    Bad,
}
