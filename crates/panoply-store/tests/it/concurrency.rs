//! Concurrent writers on one file, such as a server and a command.

use panoply_contract::audit::{AuditEntry, AuditFilter, AuditLog};
use panoply_contract::ids::CallId;
use panoply_store::SqliteAuditLog;
use panoply_store::audit_log::verify;

use crate::entries::entry;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_writers_produce_one_valid_chain() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.db");
    // Each writer opens the file separately, which SQLite treats like separate processes.
    let writers: Vec<_> = (0..4u64)
        .map(|writer| {
            let file = file.clone();
            tokio::spawn(async move {
                let log = SqliteAuditLog::open(&file).unwrap();
                for number in 0..50 {
                    log.append(entry(writer * 1000 + number, number % 10 == 0)).await.unwrap();
                    // Rows of the other writers interleave.
                    if number % 7 == 0 {
                        log.flush().await;
                    }
                }
                log.close();
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let found = verify(&file, None).unwrap();
    assert!(found.is_intact(), "{found:?}");
    assert_eq!(found.rows, 200);
}

#[tokio::test]
async fn verification_succeeds_during_concurrent_writes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.db");
    let log = SqliteAuditLog::open(&file).unwrap();
    for number in 1..=200 {
        log.append(entry(number, false)).await.unwrap();
        if number % 20 == 0 {
            let found = verify(&file, None).unwrap();
            assert!(found.is_intact(), "{found:?}");
        }
    }
}

#[tokio::test]
async fn the_row_of_a_mutation_is_appended_exactly_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.db");
    let id = CallId::new(uuid::Uuid::from_u128(7), 1);
    let sent = AuditEntry { call_id: Some(id), ..entry(1, true) };
    // Sent by the call, by the recovery of another process, and by a process started later.
    let (first, second) =
        (SqliteAuditLog::open(&file).unwrap(), SqliteAuditLog::open(&file).unwrap());
    first.append(sent.clone()).await.unwrap();
    second.append(sent.clone()).await.unwrap();
    drop((first, second));
    let third = SqliteAuditLog::open(&file).unwrap();
    third.append(sent).await.unwrap();
    third.append(entry(2, true)).await.unwrap();
    let rows = third.read(AuditFilter { limit: 10, ..AuditFilter::default() }).await.unwrap();
    let sequences: Vec<u64> = rows.iter().map(|row| row.sequence).collect();
    assert_eq!(sequences, [2, 1]);
    drop(third);
    assert!(verify(&file, None).unwrap().fault.is_none());
}
