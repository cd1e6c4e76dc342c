//! Where Panoply keeps things: SQLite files, the audit log, the mutation log and API keys.
//!
//! [`sqlite`] and [`migrate`] are the one way every file is opened, by the kernel's stores here
//! and by the packs' own stores: there is no domain SQL in this crate. The binary says where
//! files live ([`home`]); nothing here reads the environment.

pub mod audit_log;
pub mod backup;
pub mod check;
pub mod clock;
pub mod error;
pub mod home;
pub mod kernel_db;
pub mod keys;
pub mod migrate;
pub mod mutations;
pub mod pages;
pub mod roots;
pub mod sqlite;

pub use self::audit_log::{LateAuditLog, SqliteAuditLog};
pub use self::clock::SystemClock;
pub use self::error::StoreError;
pub use self::home::Home;
pub use self::kernel_db::KernelDb;
pub use self::keys::ApiKeys;
