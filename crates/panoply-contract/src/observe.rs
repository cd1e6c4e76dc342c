//! Observers of calls, such as request logging; provided by the binary.

use std::time::Duration;

use serde_json::Value;

use crate::audit::Audit;
use crate::context::CallContext;
use crate::error::ToolError;

/// Notified when a call starts and ends. Must be fast: it runs inside the call.
pub trait Observer: Send + Sync + 'static {
    /// A call starts.
    fn started(&self, call: &CallStarted<'_>);

    /// A call has ended, successfully or not.
    fn finished(&self, call: &CallFinished<'_>);
}

/// A call that starts.
#[derive(Debug)]
pub struct CallStarted<'a> {
    /// The tool's published name.
    pub tool: &'static str,
    /// Its pack.
    pub pack: &'static str,
    /// Caller and ids.
    pub cx: &'a CallContext,
    /// The arguments. May contain secrets: redact before logging.
    pub input: &'a Value,
}

/// A call that ended.
#[derive(Debug)]
pub struct CallFinished<'a> {
    /// The tool's published name.
    pub tool: &'static str,
    /// Its pack.
    pub pack: &'static str,
    /// Caller and ids.
    pub cx: &'a CallContext,
    /// Duration.
    pub elapsed: Duration,
    /// Hashes and status.
    pub audit: &'a Audit,
    /// Size of the canonical JSON of the output.
    pub output_bytes: usize,
    /// Whether the reply came from the cache.
    pub cached: bool,
    /// The text of the reply, for a summary; empty for an error.
    pub text: &'a str,
    /// The error with its cause.
    pub error: Option<&'a ToolError>,
}
