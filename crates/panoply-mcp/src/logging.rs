//! `notifications/message`: one log message per call, for clients that requested a level.
//!
//! Protocol version 2026-07-28 sets the level per request (`_meta`), older versions per session
//! (`logging/setLevel`), which requires a session. The operator's log is separate and goes to
//! standard error.

#![expect(deprecated, reason = "2026-07-28 retires logging, older clients still use it")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use panoply_contract::dialect::Envelope;
use panoply_contract::ids::TraceId;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde_json::json;

use crate::context::Surface;

/// Maximum delay of a reply by its log message.
const LOG_MESSAGE_TIMEOUT: Duration = Duration::from_secs(2);

/// Log level of a session; silent until the client sets one.
#[derive(Clone, Default)]
pub(crate) struct SessionLevel(Arc<AtomicU8>);

impl SessionLevel {
    pub(crate) fn set(&self, level: LoggingLevel) {
        self.0.store(rank(level), Ordering::Relaxed);
    }

    pub(crate) fn is_silent(&self) -> bool {
        self.get().is_none()
    }

    fn get(&self) -> Option<u8> {
        Some(self.0.load(Ordering::Relaxed)).filter(|rank| *rank > 0)
    }
}

/// Returns the least severe level that the client requested; `None` for no messages.
pub(crate) fn requested_level(
    surface: &Surface,
    request: &RequestContext<RoleServer>,
) -> Option<u8> {
    let of_session = match surface {
        Surface::Lines(session) => session.level.get(),
        Surface::Http => None,
    };
    request.meta.log_level().map(rank).or(of_session)
}

/// Sends the outcome of a call if it reaches the requested level.
pub(crate) async fn send_outcome(
    surface: &Surface,
    peer: &Peer<RoleServer>,
    wanted: u8,
    tool: &str,
    trace_id: TraceId,
    envelope: &Envelope,
) {
    let failed = match envelope {
        Envelope::Result { is_error, .. } => *is_error,
        Envelope::Refusal { .. } => true,
    };
    let level = if failed { LoggingLevel::Warning } else { LoggingLevel::Info };
    if rank(level) < wanted {
        return;
    }
    let ended = if failed { "failed" } else { "answered" };
    let data = json!({"message": format!("`{tool}` {ended}"), "tool": tool, "traceId": trace_id.to_string()});
    let message = LoggingMessageNotificationParam::new(level, data).with_logger("panoply");
    let telling = peer.notify_logging_message(message);
    // The client may have disconnected.
    surface.deliver(LOG_MESSAGE_TIMEOUT, async { drop(telling.await) }).await;
}

/// Severity, from 1; 0 means that no level was set.
const fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 1,
        LoggingLevel::Info => 2,
        LoggingLevel::Notice => 3,
        LoggingLevel::Warning => 4,
        LoggingLevel::Error => 5,
        LoggingLevel::Critical => 6,
        LoggingLevel::Alert => 7,
        LoggingLevel::Emergency => 8,
    }
}
