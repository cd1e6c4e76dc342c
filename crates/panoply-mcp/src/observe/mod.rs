//! What operators see: one JSON line at the start and at the end of each call, and metrics.

pub mod calls;
pub mod lines;
pub mod metrics;

pub use calls::CallLog;
pub use lines::{LogError, LogFormat, LogGuard, LogSettings, start};
