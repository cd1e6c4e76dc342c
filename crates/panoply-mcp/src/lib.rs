//! The MCP server: rmcp, transports, authentication.
//!
//! This is the only crate that depends on MCP and JSON-RPC. The entry point is [`McpServer`],
//! which serves a kernel.

pub mod auth;
mod completion;
#[cfg(feature = "conformance")]
pub mod conformance;
mod context;
mod dispatch;
mod elicit;
mod instructions;
pub mod lifecycle;
mod logging;
pub mod observe;
mod pagination;
pub mod presentation;
mod progress;
mod prompts;
mod resources;
mod server;
mod tools;
pub mod transport;
mod widgets;

pub use server::McpServer;
