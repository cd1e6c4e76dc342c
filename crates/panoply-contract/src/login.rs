//! Audit rows for logins that were refused: no call of theirs ever reaches the pipeline.

use serde_json::json;

use crate::audit::{Audit, AuditEntry, Fingerprint, Status};
use crate::context::Provenance;
use crate::kernel::Kernel;

/// The name of these rows in the audit log.
pub const REFUSED: &str = "login_refused";

/// Logins that were refused for one reason.
#[derive(Clone, Debug)]
pub struct RefusedLogin {
    /// The code of the reason, such as `KEY_EXPIRED`.
    pub reason: &'static str,
    /// The address, and the id of the key if it is one of ours; never what was presented.
    pub provenance: Provenance,
    /// How many there were.
    pub count: u64,
}

impl Kernel {
    /// Writes a row for refused logins. A log that takes nothing makes the server not ready; the
    /// refusal stands all the same.
    pub async fn record_refused_login(&self, refused: RefusedLogin) {
        let RefusedLogin { reason, provenance, count } = refused;
        let Ok((hash, _)) = Fingerprint::of(&json!({"reason": reason, "count": count})) else {
            return;
        };
        let entry = AuditEntry {
            call_id: None,
            at: self.world.clock.now(),
            tool: REFUSED.to_owned(),
            tool_version: self.settings.service_version.to_owned(),
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
        let _unrecorded = self.world.audit.append(entry).await;
    }
}
