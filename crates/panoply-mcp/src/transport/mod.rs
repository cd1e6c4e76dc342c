//! How messages reach the server: lines on standard input, or HTTP.

pub(crate) mod frame;
pub mod http;
mod in_flight;
pub(crate) mod lines;
pub(crate) mod methods;
pub(crate) mod plain_call;
pub mod stdio;
mod writer;

pub use lines::LineLimits;
