//! The MCP server: rmcp, transports, authentication.
//!
//! This is the only crate that knows MCP and JSON-RPC. The rest of the program
//! hands it a registry and gets a server back.

pub mod auth;
pub mod lifecycle;
pub mod transport;
