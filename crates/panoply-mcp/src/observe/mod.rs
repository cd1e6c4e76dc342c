//! What operators see: one JSON line at the start and at the end of each call, and metrics.

pub mod calls;
pub mod lines;
pub mod metrics;
mod queue;

pub use calls::CallLog;
pub use lines::{LogError, LogFormat, LogSettings, start};
pub use queue::LogGuard;
