//! Observability: call log and metrics.

pub mod calls;
pub mod lines;
pub mod metrics;
mod queue;

pub use calls::CallLog;
pub use lines::{LogError, LogFormat, LogSettings, start};
pub use queue::LogGuard;
