//! Who is told about calls: a line in the log, and whatever else the binary plugs in.

use std::time::Duration;

use serde_json::Value;

use crate::audit::Audit;
use crate::context::CallContext;
use crate::error::ToolError;

/// Is told when a call starts and when it ends. Must be quick: it runs inside the call.
pub trait Observer: Send + Sync + 'static {
    /// A call was accepted and starts.
    fn started(&self, call: &CallStarted<'_>);

    /// A call has ended, well or badly.
    fn finished(&self, call: &CallFinished<'_>);
}

/// A call that starts.
#[derive(Debug)]
pub struct CallStarted<'a> {
    /// The tool's published name.
    pub tool: &'static str,
    /// Its pack.
    pub pack: &'static str,
    /// Who calls, under which ids.
    pub cx: &'a CallContext,
    /// What they said. May hold secrets: log it only redacted.
    pub input: &'a Value,
}

/// A call that ended.
#[derive(Debug)]
pub struct CallFinished<'a> {
    /// The tool's published name.
    pub tool: &'static str,
    /// Its pack.
    pub pack: &'static str,
    /// Who called, under which ids.
    pub cx: &'a CallContext,
    /// How long it took.
    pub elapsed: Duration,
    /// Hashes and status.
    pub audit: &'a Audit,
    /// Size of the canonical JSON of the output.
    pub output_bytes: usize,
    /// Whether the reply came from the cache.
    pub cached: bool,
    /// What went wrong, with its cause.
    pub error: Option<&'a ToolError>,
}
