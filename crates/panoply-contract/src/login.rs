//! Audit rows of refused logins, whose calls never reach the pipeline.

use serde_json::json;

use crate::audit::{Audit, AuditEntry, Fingerprint, Status};
use crate::context::Provenance;
use crate::kernel::Kernel;

/// Tool name of these rows in the audit log.
pub const REFUSED: &str = "login_refused";

/// Refused logins with the same reason.
#[derive(Clone, Debug)]
pub struct RefusedLogin {
    /// Error code, such as `KEY_EXPIRED`.
    pub reason: &'static str,
    /// The address, and the id of a known key; never the presented secret.
    pub provenance: Provenance,
    /// Number of attempts.
    pub count: u64,
}

impl Kernel {
    /// Appends a row for refused logins. The login is refused even if the log cannot be written,
    /// which the readiness check reports.
    pub async fn record_refused_login(&self, refused: RefusedLogin) {
        let RefusedLogin { reason, provenance, count } = refused;
        let Ok((hash, _)) = Fingerprint::of(&json!({"reason": reason, "count": count})) else {
            return;
        };
        let entry = AuditEntry {
            call_id: None,
            at: self.services.clock.now(),
            tool: REFUSED.into(),
            tool_version: self.settings.service_version.into(),
            partition: "unauthenticated".to_owned(),
            agent_id: "unknown".to_owned(),
            trace_id: String::new(),
            provenance,
            count,
            audit: Audit {
                in_hash: hash.hex(),
                out_hash: hash.hex(),
                latency_ms: 0,
                seed: hash.seed(),
                status: Status::Error,
            },
            error_code: Some(reason.to_owned()),
            mutation: false,
        };
        let _unrecorded = self.services.audit.append(entry).await;
    }
}
