//! Unit tests of write failures, which need access to the writer's connection.

use panoply_contract::audit::{Audit, Status};
use panoply_contract::context::Provenance;
use panoply_contract::testing::noon;

use super::row::StoredRow;
use super::*;

fn entry(tool: &str, mutation: bool) -> AuditEntry {
    AuditEntry {
        call_id: None,
        at: noon(),
        tool: tool.to_owned().into(),
        tool_version: "1.0.0".into(),
        partition: "local".to_owned(),
        agent_id: "test".to_owned(),
        trace_id: "t".to_owned(),
        provenance: Provenance::default(),
        count: 1,
        audit: Audit {
            in_hash: "a".repeat(64).into(),
            out_hash: "b".repeat(64).into(),
            latency_ms: 1,
            seed: u64::MAX,
            status: Status::Ok,
        },
        error_code: None,
        mutation,
    }
}

fn log() -> (tempfile::TempDir, SqliteAuditLog) {
    let folder = tempfile::tempdir().unwrap();
    let log = SqliteAuditLog::open(&folder.path().join("audit.db")).unwrap();
    (folder, log)
}

async fn tools(log: &SqliteAuditLog) -> Vec<String> {
    let filter = AuditFilter { limit: 100_000, ..AuditFilter::default() };
    let rows = log.read(filter).await.unwrap();
    rows.into_iter().rev().map(|row| row.entry.tool.into_owned()).collect()
}

/// SQL that makes every write on the writer's connection fail, and the SQL that reverts it.
const FAILURES: [(&str, &str, &str); 2] = [
    // SQLite reports a full disk at the page limit.
    ("DISK_FULL", "PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1000000"),
    ("STORE_READ_ONLY", "PRAGMA query_only = ON", "PRAGMA query_only = OFF"),
];

async fn run_sql(log: &SqliteAuditLog, sql: &'static str) {
    let run = move |connection: &Connection| {
        connection.prepare(sql).unwrap().query(()).unwrap().next().unwrap();
    };
    log.queue.tamper(Box::new(run)).await;
}

#[tokio::test]
async fn mutations_are_refused_and_query_rows_buffered_while_writes_fail() {
    for (code, breaks, heals) in FAILURES {
        let (_folder, log) = log();
        log.append(entry("before", true)).await.unwrap();
        run_sql(&log, breaks).await;
        // Large enough to need a page of its own.
        let large = AuditEntry { agent_id: "x".repeat(100_000), ..entry("changed", true) };
        let error = log.append(large).await.unwrap_err();
        assert_eq!(error.code, code);
        assert_eq!(
            log.ready().unwrap_err().code,
            code,
            "the next change is refused before it runs"
        );
        log.append(entry("asked", false)).await.unwrap();
        assert_eq!(tools(&log).await, ["before"], "what is on disk can be read: {code}");

        run_sql(&log, heals).await;
        log.flush().await;
        log.ready().unwrap();
        assert_eq!(tools(&log).await, ["before", "changed", "asked"], "nothing was lost: {code}");
        assert_eq!(log.lost_rows(), 0);
        log.append(entry("after", true)).await.unwrap();
        log.close();
        let found = verify(log.file(), None).unwrap();
        assert!(found.is_intact(), "{found:?}");
        assert_eq!(found.rows, 4);
    }
}

#[tokio::test]
async fn failed_writes_are_retried_without_a_new_append() {
    let (_folder, log) = log();
    let (_, breaks, heals) = FAILURES[1];
    run_sql(&log, breaks).await;
    log.append(entry("asked", false)).await.unwrap();
    log.flush().await;
    assert!(log.ready().is_err());
    run_sql(&log, heals).await;
    for _ in 0..200 {
        if log.ready().is_ok() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("the log did not try again");
}

#[tokio::test]
async fn queries_continue_without_a_disk_and_lost_rows_are_counted() {
    let (_folder, log) = log();
    run_sql(&log, FAILURES[1].1).await;
    for number in 0..MAX_BUFFERED_ROWS + 100 {
        log.append(entry(&number.to_string(), false)).await.unwrap();
        if number % 500 == 0 {
            log.flush().await;
        }
    }
    log.flush().await;
    assert_eq!(log.lost_rows(), 100);
    run_sql(&log, FAILURES[1].2).await;
    log.flush().await;
    let kept = tools(&log).await;
    assert_eq!(kept.len(), MAX_BUFFERED_ROWS, "the oldest are kept, in order");
    assert_eq!(kept[0], "0");
    assert_eq!(kept[MAX_BUFFERED_ROWS - 1], (MAX_BUFFERED_ROWS - 1).to_string());
}

#[tokio::test]
async fn a_dead_writer_refuses_mutations_and_accepts_queries() {
    let (_folder, log) = log();
    log.queue.tamper(Box::new(|_| panic!("a bug in the writer"))).await;
    // The flush inside `tamper` returns when the writer ends.
    let error = log.append(entry("changed", true)).await.unwrap_err();
    assert_eq!(error.code, "DATABASE_ERROR");
    assert!(log.ready().is_err());
    log.append(entry("asked", false)).await.unwrap();
    assert_eq!(log.lost_rows(), 1);
    log.flush().await;
    log.close();
}

#[tokio::test]
async fn mutations_are_refused_after_close() {
    let (_folder, log) = log();
    log.close();
    assert!(log.ready().is_err());
    assert!(log.append(entry("late", true)).await.is_err());
}

#[tokio::test]
async fn rows_of_format_1_and_format_2_verify_in_one_chain() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.db");
    // Schema and row written by a version before format 2.
    let old = StoredRow { format: 1, ..StoredRow::new(1, &entry("old", false)) };
    let hash = old.hash(ChainHash::GENESIS).unwrap();
    let connection = migrate::open(&file, Durability::Full, &MIGRATIONS[..2]).unwrap();
    connection
        .execute(
            "INSERT INTO audit VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, \
             ?14, ?15, ?16)",
            rusqlite::params![
                old.sequence,
                old.at,
                old.tool,
                old.tool_version,
                old.partition,
                old.agent_id,
                old.trace_id,
                old.in_hash,
                old.out_hash,
                old.latency_ms,
                old.seed,
                old.status,
                old.error_code,
                old.mutation,
                ChainHash::GENESIS.0,
                hash.0,
            ],
        )
        .unwrap();
    connection.execute("INSERT INTO head VALUES (1, 1, ?1)", [hash.0]).unwrap();
    drop(connection);
    // Verification is read-only, so it must support the old schema without a migration.
    let found = verify(&file, None).unwrap();
    assert!(found.is_intact() && found.rows == 1, "{found:?}");
    let log = SqliteAuditLog::open(&file).unwrap();
    log.append(entry("new", true)).await.unwrap();
    drop(log);
    let found = verify(&file, None).unwrap();
    assert!(found.is_intact() && found.rows == 2, "{found:?}");
    // Format 1 does not hash the new columns, so they must be empty.
    for forgery in ["address = '192.0.2.9'", "credential = 'key x (y)'", "count = 2", "format = 2"]
    {
        let copy = folder.path().join("copy.db");
        std::fs::copy(&file, &copy).unwrap();
        let connection = sqlite::open(&copy, Durability::Full).unwrap();
        connection.execute_batch("DROP TRIGGER audit_rows_are_never_changed").unwrap();
        connection.execute(&format!("UPDATE audit SET {forgery} WHERE sequence = 1"), ()).unwrap();
        drop(connection);
        let fault = verify(&copy, None).unwrap().fault;
        assert_eq!(fault, Some(Fault { sequence: 1, kind: FaultKind::Altered }), "{forgery}");
    }
    let log = SqliteAuditLog::open(&file).unwrap();
    assert_eq!(tools(&log).await, ["old", "new"]);
}
