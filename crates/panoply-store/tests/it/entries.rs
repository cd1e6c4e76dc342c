//! Audit entry fixtures.

use std::path::Path;

use panoply_contract::audit::{Audit, AuditEntry, AuditLog, Status};
use panoply_contract::context::Provenance;
use panoply_contract::testing::noon;
use panoply_store::SqliteAuditLog;

/// An entry derived from `number`.
pub(crate) fn entry(number: u64, mutation: bool) -> AuditEntry {
    let failed = number.is_multiple_of(3);
    AuditEntry {
        call_id: None,
        at: noon() + std::time::Duration::from_nanos(number * 1_000_001),
        tool: format!("tool-{}", number % 5).into(),
        tool_version: "1.2.0".into(),
        partition: if number.is_multiple_of(2) { "local" } else { "key:ก" }.to_owned(),
        agent_id: "agent, \"quoted\"\n".to_owned(),
        trace_id: format!("trace-{number}"),
        provenance: Provenance {
            address: number.is_multiple_of(2).then(|| "192.0.2.7".parse().unwrap()),
            credential: number.is_multiple_of(4).then(|| "key laptop (ab12)".into()),
        },
        count: 1 + number % 3,
        audit: Audit {
            in_hash: format!("{number:064x}").into(),
            out_hash: format!("{:064x}", number * 7).into(),
            latency_ms: number,
            seed: u64::MAX - number,
            status: if failed { Status::Error } else { Status::Ok },
        },
        error_code: failed.then(|| "NOT_FOUND".to_owned()),
        mutation,
    }
}

/// Creates a closed log with this many rows.
pub(crate) async fn log_with(file: &Path, rows: u64) {
    let log = SqliteAuditLog::open(file).unwrap();
    for number in 1..=rows {
        log.append(entry(number, false)).await.unwrap();
    }
    log.close();
}
