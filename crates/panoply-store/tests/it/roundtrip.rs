//! Reading the log: round trip, filters and order.

use panoply_contract::audit::{AuditFilter, AuditLog, AuditView};
use panoply_contract::tenant::{TenantId, TenantKind};
use panoply_store::SqliteAuditLog;
use panoply_store::audit_log::verify;

use crate::entries::{entry, log_with};

async fn sequences(log: &SqliteAuditLog, filter: AuditFilter) -> Vec<u64> {
    let rows = log.read(AuditFilter { limit: filter.limit.max(100), ..filter }).await.unwrap();
    rows.iter().map(|row| row.sequence).collect()
}

#[tokio::test]
async fn rows_round_trip_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let log = SqliteAuditLog::open(&folder.path().join("audit.db")).unwrap();
    for number in 1..=20 {
        log.append(entry(number, number % 4 == 0)).await.unwrap();
    }
    let rows = log.read(AuditFilter { limit: 100, ..AuditFilter::default() }).await.unwrap();
    assert_eq!(rows.len(), 20);
    for (row, number) in rows.iter().zip((1..=20).rev()) {
        assert_eq!(row.sequence, number);
        assert_eq!(row.entry, entry(number, number % 4 == 0));
    }
}

#[tokio::test]
async fn each_filter_returns_only_matching_rows() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.db");
    log_with(&file, 12).await;
    let log = SqliteAuditLog::open(&file).unwrap();
    let none = AuditFilter::default;
    let text = |text: &str| Some(text.to_owned());
    let stranger = TenantId::new(TenantKind::Person, [1; 16]);
    let every = || (1..=12).rev().collect::<Vec<u64>>();
    let only = |partition: &str| AuditView::Partition(partition.to_owned());
    let cases = [
        (AuditFilter { tool: text("tool-1"), ..none() }, vec![11, 6, 1]),
        (AuditFilter { trace_id: text("trace-7"), ..none() }, vec![7]),
        (AuditFilter { trace_id: text("' OR 1=1 --"), ..none() }, vec![]),
        (AuditFilter { view: only("key:ก"), ..none() }, vec![11, 9, 7, 5, 3, 1]),
        (AuditFilter { errors_only: true, ..none() }, vec![12, 9, 6, 3]),
        (AuditFilter { before: Some(3), ..none() }, vec![2, 1]),
        (AuditFilter { before: Some(u64::MAX), errors_only: true, ..none() }, vec![12, 9, 6, 3]),
        (
            AuditFilter { errors_only: true, view: only("local"), before: Some(12), ..none() },
            vec![6],
        ),
        (AuditFilter { view: AuditView::Person(TenantId::local()), ..none() }, every()),
        (AuditFilter { view: AuditView::All, ..none() }, every()),
        (AuditFilter { view: AuditView::Person(stranger), ..none() }, vec![]),
    ];
    for (filter, expected) in cases {
        assert_eq!(sequences(&log, filter.clone()).await, expected, "{filter:?}");
    }
    let two = log.read(AuditFilter { limit: 2, ..none() }).await.unwrap();
    assert_eq!(two.len(), 2);
}

#[tokio::test]
async fn dropping_the_log_flushes_all_rows() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.db");
    for number in 1..=3 {
        let log = SqliteAuditLog::open(&file).unwrap();
        log.append(entry(number, false)).await.unwrap();
        drop(log);
    }
    let found = verify(&file, None).unwrap();
    assert!(found.is_intact(), "{found:?}");
    assert_eq!(found.rows, 3);
}

#[tokio::test]
async fn rows_beyond_the_queue_capacity_are_all_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.db");
    log_with(&file, 20_000).await;
    let found = verify(&file, None).unwrap();
    assert!(found.is_intact(), "{found:?}");
    assert_eq!(found.rows, 20_000);
}
