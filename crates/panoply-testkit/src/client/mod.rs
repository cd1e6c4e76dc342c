//! Scripted MCP clients: they say exactly what a test tells them, right or wrong, and wait patiently.
//!
//! They know JSON-RPC and nothing of our types, so that a test sees what an agent would see.

mod http;
mod process;
mod stdio;

pub use http::{HttpClient, HttpReply, HttpServer};
pub use process::Ended;
pub use stdio::StdioClient;

use std::time::Duration;

/// How long a client waits before it gives up: generous, because CI shares two cores.
pub const PATIENCE: Duration = Duration::from_secs(30);
