//! Recovery of the audit row of a committed mutation after a crash.

use std::sync::Arc;

use panoply_contract::audit::{AuditFilter, AuditLog};
use panoply_contract::dialect::Unified;
use panoply_contract::ids::CallId;
use panoply_contract::kernel::{Kernel, KernelServices, Settings};
use panoply_contract::mutation::{MutationLog, MutationRecord};
use panoply_contract::pack::{Pack, PackInfo};
use panoply_contract::testing::{FixedClock, noon};
use panoply_store::{KernelDb, SqliteAuditLog};
use uuid::Uuid;

use crate::entries::entry;

/// Starts a kernel over the files in `folder`.
fn start(folder: &std::path::Path) -> (Arc<Kernel>, Arc<SqliteAuditLog>, Arc<dyn MutationLog>) {
    let audit = Arc::new(SqliteAuditLog::open(&folder.join("audit.db")).unwrap());
    // Stands for a pack's store: only the mutation table matters here.
    let records: Arc<dyn MutationLog> = Arc::new(KernelDb::open(&folder.join("pack.db")).unwrap());
    let info = PackInfo { name: "cards", title: "Cards", instructions: "Keeps cards." };
    let pack = Pack::new(info, Unified).with_mutation_log(Arc::clone(&records));
    let services = KernelServices {
        audit: Arc::clone(&audit) as Arc<dyn AuditLog>,
        mutations: Arc::new(KernelDb::open(&folder.join("kernel.db")).unwrap()),
        ..KernelServices::in_memory(FixedClock::at(noon()))
    };
    (Kernel::new(vec![pack], services, Settings::default()).unwrap(), audit, records)
}

async fn tools(audit: &SqliteAuditLog) -> Vec<String> {
    let rows = audit.read(AuditFilter { limit: 100, ..AuditFilter::default() }).await.unwrap();
    rows.into_iter().rev().map(|row| row.entry.tool.into_owned()).collect()
}

#[tokio::test]
async fn recovery_appends_a_missing_audit_row_exactly_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut lost = entry(4, true);
    lost.call_id = Some(CallId::new(Uuid::from_u128(7), 1));
    lost.tool = "create-card".into();
    let mut recorded = entry(5, true);
    recorded.call_id = Some(CallId::new(Uuid::from_u128(7), 2));
    {
        let (_kernel, audit, records) = start(folder.path());
        for entry in [&lost, &recorded] {
            let record = MutationRecord { key: None, entry: entry.clone(), reply: None };
            records.commit(&record).unwrap();
        }
        // Crash before the first row; the second row is written but not marked as audited.
        audit.append(recorded.clone()).await.unwrap();
        assert_eq!(tools(&audit).await, ["tool-0"]);
    }
    for _ in 0..2 {
        let (kernel, audit, _) = start(folder.path());
        kernel.recover_audit().await.unwrap();
        assert_eq!(tools(&audit).await, ["tool-0", "create-card"], "one row each");
        kernel.recover_audit().await.unwrap();
        assert_eq!(tools(&audit).await.len(), 2);
        let found = audit.read(AuditFilter { limit: 1, ..AuditFilter::default() }).await.unwrap();
        assert_eq!(found[0].entry.provenance, lost.provenance);
    }
}
