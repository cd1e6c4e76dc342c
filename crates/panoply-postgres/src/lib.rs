//! The stores on PostgreSQL, of the kernel and of the packs.
//!
//! The traits are those of `panoply-contract`, `panoply-store` and the packs; only the binary knows
//! this crate, and only when its settings name a server. Every statement names its columns; every
//! table with data of tenants has the tenant first in its key and row-level security, with the
//! tenant set for one transaction at a time ([`server`]). A transaction is committed in one place,
//! which resolves a commit that the connection did not survive ([`transaction`]).

pub mod audit_log;
pub mod audit_verify;
pub mod backtest;
pub mod cgt;
mod errors;
pub mod kernel;
pub mod keys;
pub mod mutations;
pub mod noema;
mod nul;
pub mod schema;
pub mod server;
pub mod tenant_data;
mod tls;
pub mod transaction;
pub mod transfer;
pub mod ttm;
pub mod users;
pub mod working_copy;

pub use self::audit_log::PostgresAuditLog;
pub use self::backtest::PostgresRuns;
pub use self::cgt::PostgresPortfolios;
pub use self::kernel::PostgresKernelStore;
pub use self::keys::PostgresApiKeys;
pub use self::mutations::PostgresMutationLog;
pub use self::noema::PostgresCards;
pub use self::server::{Postgres, Settings};
pub use self::ttm::PostgresDocuments;
pub use self::users::PostgresUsers;
