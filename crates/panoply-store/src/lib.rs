//! Persistence: SQLite files, the audit log, the mutation log, API keys, users and tenants.
//!
//! Every SQLite file, of the kernel and of the packs, is opened through [`sqlite`] and [`migrate`].
//! This crate contains no domain SQL and does not read the environment: the binary passes the
//! location of the files ([`home`]).

pub mod audit_log;
pub mod backup;
pub mod check;
pub mod clock;
pub mod dump;
pub mod error;
pub mod files;
pub mod home;
pub mod kernel_db;
pub mod keys;
pub mod migrate;
pub mod mutations;
pub mod page_checksums;
mod preferences;
pub mod roots;
mod shares;
pub mod sqlite;
pub mod tenants;
pub mod transfer;
pub mod users;
mod write_ahead_log;

pub use self::audit_log::{DeferredAuditLog, SqliteAuditLog};
pub use self::clock::SystemClock;
pub use self::error::StoreError;
pub use self::home::Home;
pub use self::kernel_db::{KernelDb, KernelStore};
pub use self::keys::ApiKeys;
pub use self::sqlite::{SqliteApiKeys, SqliteUsers};
pub use self::tenants::TenantStores;
pub use self::users::Users;
