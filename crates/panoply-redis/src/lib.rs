//! Rate limits that all replicas share, in Redis or Valkey.
//!
//! A call costs one round trip with one script ([`limiter`]). While the server is gone or slow, each
//! replica enforces its share of every limit from what it knows ([`accounts`]): calls are neither
//! unbounded nor refused for the server's sake, and none waits for it ([`connection`]). Nothing else
//! is kept there, so a server that forgets everything costs nothing but exactness.

mod accounts;
mod connection;
pub mod limiter;
mod tls;

pub use self::connection::{Settings, SettingsError};
pub use self::limiter::{SharedLimiter, Status};
