//! For tests only: a scripted MCP client, and the rules this repository keeps about itself.
//!
//! - [`client`] starts the real binary and talks to it as an agent would, over stdio or HTTP.
//! - [`postgres`] starts a throw-away PostgreSQL.
//! - [`redis`](mod@redis) starts a throw-away Redis.
//! - [`published`] says what would break those who call a published tool.
//! - [`storm`] starts replicas, kills them under load and checks what is left.
//! - [`tidy`] reads the sources and says where they break a habit that no compiler checks.
#![expect(
    clippy::panic,
    clippy::expect_used,
    reason = "a test helper that cannot go on must fail the test and say why"
)]

pub mod client;
pub mod measures;
#[cfg(unix)]
pub mod postgres;
pub mod published;
#[cfg(unix)]
pub mod redis;
#[cfg(unix)]
pub mod storm;
pub mod tidy;
