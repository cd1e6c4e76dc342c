//! Transports: stdio and HTTP.

pub(crate) mod frame;
pub mod http;
mod in_flight;
pub(crate) mod lines;
pub(crate) mod methods;
mod recover;
pub mod stdio;
pub(crate) mod tool_call;
mod writer;

pub use lines::LineLimits;
