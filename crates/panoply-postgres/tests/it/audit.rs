//! The audit log: chains, checkpoints, recovery.

use std::sync::Arc;

use panoply_contract::audit::{AuditEntry, AuditFilter, AuditLog, AuditView};
use panoply_contract::mutation::MutationLog as _;
use panoply_contract::testing::noon;
use panoply_postgres::audit_verify::{Place, checkpoint, verify};
use panoply_postgres::mutations::Scope;
use panoply_postgres::{PostgresAuditLog, PostgresMutationLog};
use panoply_store::audit_log::{FaultKind, Head};
use serde_json::json;

use crate::database::{Database, person};
use crate::kernel::record;

/// A row of a query or a mutation.
pub(crate) fn entry(number: u64, mutation: bool) -> AuditEntry {
    let mut entry = AuditEntry::of_maintenance("tool", &json!({"number": number}), noon()).unwrap();
    entry.tool = format!("tool_{number}").into();
    entry.mutation = mutation;
    if !mutation {
        entry.call_id = None;
    }
    if number.is_multiple_of(3) {
        entry.error_code = Some("NOT_FOUND".to_owned());
        entry.provenance.credential = Some("key ไทย".into());
    }
    entry
}

async fn tools(log: &PostgresAuditLog, filter: AuditFilter) -> Vec<String> {
    let filter = AuditFilter { limit: 100, ..filter };
    let rows = log.read(filter).await.unwrap();
    rows.into_iter().map(|row| row.entry.tool.to_string()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_two_replicas_are_two_chains_and_one_trail() {
    let database = Database::start();
    let first = PostgresAuditLog::start(Arc::clone(&database.postgres), "first").unwrap();
    let second = PostgresAuditLog::start(database.replica(), "second").unwrap();
    for number in 0..40 {
        let log = if number % 2 == 0 { &first } else { &second };
        log.append(entry(number, number % 5 == 0)).await.unwrap();
        if number % 5 == 0 {
            log.read(AuditFilter::default()).await.unwrap();
        }
    }
    first.read(AuditFilter::default()).await.unwrap();
    assert_eq!(tools(&second, AuditFilter::default()).await.len(), 40);
    let only = AuditFilter { tool: Some("tool_7".to_owned()), ..AuditFilter::default() };
    assert_eq!(tools(&first, only).await, ["tool_7"]);
    let view = AuditView::Partition("local".to_owned());
    assert_eq!(tools(&first, AuditFilter { view, ..AuditFilter::default() }).await.len(), 40);
    let view = AuditView::Person(person(1));
    assert_eq!(tools(&first, AuditFilter { view, ..AuditFilter::default() }).await.len(), 0);
    let page = first.read(AuditFilter { limit: 3, ..AuditFilter::default() }).await.unwrap();
    let before = AuditFilter { before: Some(page[2].sequence), limit: 1, ..AuditFilter::default() };
    assert!(first.read(before).await.unwrap()[0].sequence < page[2].sequence);
    first.close();
    second.close();
    let found = verify(&database.postgres, None).unwrap();
    assert_eq!((found.rows, found.chains, found.fault), (40, 2, None));
    assert!(found.checkpoints >= 1, "one is written at the end");
    assert_eq!(database.admin("SELECT count(*) FROM kernel.audit_chain WHERE closed IS NULL"), "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn row_of_a_mutation_is_appended_once_and_marks_its_record() {
    let database = Database::start();
    let records = PostgresMutationLog::new(Arc::clone(&database.postgres), Scope::Kernel);
    let kept = record(&format!("{}/key:1", person(1)), "add", Some("k"), noon());
    let plain = record(&format!("{}/key:1", person(2)), "add", None, noon());
    records.commit(&kept).unwrap();
    records.commit(&plain).unwrap();
    assert_eq!(records.unaudited().unwrap().len(), 2);
    let first = PostgresAuditLog::start(Arc::clone(&database.postgres), "first").unwrap();
    let second = PostgresAuditLog::start(database.replica(), "second").unwrap();
    // The call itself and the recovery of another replica.
    for log in [&first, &second, &first] {
        for one in [&kept, &plain] {
            log.append(one.entry.clone()).await.unwrap();
        }
    }
    assert_eq!(database.admin("SELECT count(*) FROM kernel.audit"), "2");
    assert_eq!(records.unaudited().unwrap(), []);
    assert!(records.find(kept.key.as_ref().unwrap(), noon()).unwrap().is_some());
    assert_eq!(database.admin("SELECT count(*) FROM kernel.mutation"), "1", "the one with a key");
    // Its chain was not begun by rows that were there already.
    second.append(entry(1, true)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn removed_chain_and_rewritten_checkpoints_are_found() {
    let database = Database::start();
    let log = PostgresAuditLog::start(Arc::clone(&database.postgres), "first").unwrap();
    log.append(entry(1, true)).await.unwrap();
    let first = checkpoint(&database.postgres).unwrap().unwrap();
    assert_eq!(checkpoint(&database.postgres).unwrap(), None, "nothing was added");
    log.append(entry(2, true)).await.unwrap();
    let second = checkpoint(&database.postgres).unwrap().unwrap();
    let faults = |noted: Option<Head>| {
        let found = verify(&database.postgres, noted).unwrap();
        found.fault.map(|(place, fault)| (place, fault.sequence, fault.kind))
    };
    assert_eq!(faults(Some(first)), None);
    assert_eq!(faults(Some(second)), None);
    let forged = Head { sequence: 2, hash: first.hash };
    assert_eq!(faults(Some(forged)), Some((Place::Checkpoints, 2, FaultKind::NotAsNoted)));
    let later = Head { sequence: 3, hash: first.hash };
    assert_eq!(faults(Some(later)), Some((Place::Checkpoints, 3, FaultKind::Missing)));
    let attack =
        |sql: &str| database.admin(&format!("SET session_replication_role = replica; {sql}"));
    attack("UPDATE kernel.audit_checkpoint SET at = at || ' ' WHERE number = 1");
    assert_eq!(faults(None), Some((Place::Checkpoints, 1, FaultKind::Altered)));
    attack("UPDATE kernel.audit_checkpoint SET at = trim(at) WHERE number = 1");
    assert_eq!(faults(None), None);
    attack("CREATE TABLE public.kept AS TABLE kernel.audit_checkpoint");
    attack("DELETE FROM kernel.audit_checkpoint WHERE number = 1");
    assert_eq!(faults(None), Some((Place::Checkpoints, 1, FaultKind::Missing)));
    attack(
        "DELETE FROM kernel.audit_checkpoint; INSERT INTO kernel.audit_checkpoint TABLE public.kept",
    );
    // The whole chain with its end: only the checkpoints remember it.
    attack("DELETE FROM kernel.audit; DELETE FROM kernel.audit_chain");
    let (place, row, kind) = faults(None).unwrap();
    assert!(matches!(place, Place::Chain(_)), "{place:?}");
    assert_eq!((row, kind), (1, FaultKind::Missing));
}

#[tokio::test(flavor = "multi_thread")]
async fn unreachable_server_refuses_mutations_and_keeps_rows_of_queries() {
    let mut database = Database::start();
    let log = PostgresAuditLog::start(Arc::clone(&database.postgres), "first").unwrap();
    log.append(entry(1, true)).await.unwrap();
    assert!(log.ready().is_ok());
    database.server.kill();
    log.append(entry(2, false)).await.unwrap();
    let refused = log.append(entry(3, true)).await.unwrap_err();
    assert_eq!(refused.code, "STORE_BUSY");
    assert_eq!(log.ready().unwrap_err().code, "STORE_BUSY");
    database.server.restart();
    let started = std::time::Instant::now();
    while log.ready().is_err() {
        assert!(started.elapsed().as_secs() < 10, "it is ready again without a restart");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    log.append(entry(4, true)).await.unwrap();
    assert_eq!(tools(&log, AuditFilter::default()).await.len(), 4, "the kept rows are written too");
    log.close();
    let found = verify(&database.postgres, None).unwrap();
    assert_eq!((found.rows, found.fault), (4, None));
}
