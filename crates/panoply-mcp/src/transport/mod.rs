//! How messages reach the server: lines on standard input, or HTTP.

pub(crate) mod frame;
pub mod http;
pub(crate) mod lines;
pub mod stdio;

pub use lines::LineLimits;
