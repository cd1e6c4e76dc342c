//! Tampering with the rows of a chain: verification reports the same row and kind as for the log in
//! SQLite after the same attack.

use std::sync::Arc;

use panoply_contract::audit::AuditLog as _;
use panoply_postgres::audit_verify::{Place, verify};
use panoply_postgres::{Postgres, PostgresAuditLog};
use panoply_store::SqliteAuditLog;
use panoply_store::audit_log::{self, Fault};
use rusqlite::Connection;

use crate::audit::entry;
use crate::database::Database;

const ROWS: u64 = 12;
const COLUMNS: [(&str, &str); 19] = [
    ("at", "at || ' '"),
    ("tool", "tool || ' '"),
    ("tool_version", "tool_version || ' '"),
    ("partition", "partition || ' '"),
    ("agent_id", "agent_id || ' '"),
    ("trace_id", "trace_id || ' '"),
    ("in_hash", "in_hash || ' '"),
    ("out_hash", "out_hash || ' '"),
    ("seed", "seed || ' '"),
    ("status", "status || ' '"),
    ("error_code", "coalesce(error_code, '') || ' '"),
    ("address", "coalesce(address, '') || ' '"),
    ("credential", "coalesce(credential, '') || ' '"),
    ("latency_ms", "latency_ms + 1"),
    ("mutation", "mutation + 1"),
    ("count", "count + 1"),
    ("format", "format + 1"),
    ("previous", "hash"),
    ("hash", "previous"),
];
const ALL: &str = "at, tool, tool_version, partition, agent_id, trace_id, in_hash, out_hash, \
    latency_ms, seed, status, error_code, mutation, address, credential, count, format, previous, hash";

/// Attacks in SQL that both databases understand; `AUDIT` and `HEAD` are the tables.
fn attacks() -> Vec<String> {
    let mut attacks: Vec<String> = COLUMNS
        .iter()
        .zip((1..=ROWS).cycle())
        .map(|((column, value), row)| {
            format!("UPDATE AUDIT SET {column} = {value} WHERE sequence = {row}")
        })
        .collect();
    for row in [1, 5, ROWS] {
        attacks.push(format!("DELETE FROM AUDIT WHERE sequence = {row}"));
        attacks.push(format!("DELETE FROM AUDIT WHERE sequence >= {row}"));
        attacks.push(format!(
            "UPDATE AUDIT SET sequence = -sequence WHERE sequence >= {row}; \
             UPDATE AUDIT SET sequence = 1 - sequence WHERE sequence < 0; \
             INSERT INTO AUDIT (CHAIN sequence, {ALL}) \
                SELECT CHAIN {row}, {ALL} FROM AUDIT WHERE sequence = {row} + 1"
        ));
    }
    for (row, other) in [(1, 2), (3, 9), (11, 12)] {
        attacks.push(format!(
            "UPDATE AUDIT SET sequence = -1 WHERE sequence = {row}; \
             UPDATE AUDIT SET sequence = {row} WHERE sequence = {other}; \
             UPDATE AUDIT SET sequence = {other} WHERE sequence = -1"
        ));
    }
    attacks.push(format!(
        "INSERT INTO AUDIT (CHAIN sequence, {ALL}) SELECT CHAIN {ROWS} + 1, {ALL} FROM AUDIT WHERE sequence = {ROWS}"
    ));
    attacks.push(format!(
        "INSERT INTO AUDIT (CHAIN sequence, {ALL}) SELECT CHAIN 0, {ALL} FROM AUDIT WHERE sequence = 1"
    ));
    attacks.push("DELETE FROM HEAD".to_owned());
    attacks.push("UPDATE HEAD SET sequence = sequence - 1".to_owned());
    attacks.push("UPDATE HEAD SET sequence = sequence + 1".to_owned());
    attacks.push("UPDATE HEAD SET hash = (SELECT hash FROM AUDIT WHERE sequence = 3)".to_owned());
    attacks
}

fn on_sqlite(file: &std::path::Path, attack: &str) -> Option<Fault> {
    let copy = file.with_extension("attacked");
    std::fs::copy(file, &copy).unwrap();
    let connection = Connection::open(&copy).unwrap();
    connection.pragma_update(None, "journal_mode", "DELETE").unwrap();
    for trigger in [
        "audit_rows_are_never_changed",
        "audit_rows_are_removed_when_sealed",
        "head_only_moves_on",
        "head_is_never_removed",
    ] {
        connection.execute_batch(&format!("DROP TRIGGER {trigger}")).unwrap();
    }
    let sql = attack.replace("AUDIT", "audit").replace("HEAD", "head").replace("CHAIN ", "");
    connection.execute_batch(&sql).unwrap();
    drop(connection);
    let found = audit_log::verify(&copy, None).unwrap();
    std::fs::remove_file(&copy).unwrap();
    found.fault
}

fn on_postgres(database: &Database, postgres: &Arc<Postgres>, attack: &str) -> Option<Fault> {
    let sql = attack
        .replace("AUDIT", "kernel.audit")
        .replace("HEAD", "kernel.audit_chain")
        .replace("CHAIN ", "chain, ");
    let unarmed = "SET session_replication_role = replica;";
    database.admin(&format!("{unarmed} {sql}"));
    let found = verify(postgres, None).unwrap();
    database.admin(&format!(
        "{unarmed} TRUNCATE kernel.audit, kernel.audit_chain; \
         INSERT INTO kernel.audit OVERRIDING SYSTEM VALUE TABLE public.audit_copy; \
         INSERT INTO kernel.audit_chain TABLE public.chain_copy"
    ));
    found.fault.map(|(place, fault)| {
        assert!(matches!(place, Place::Chain(_)), "{place:?}");
        fault
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn every_attack_is_found_as_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.db");
    let database = Database::start();
    let sqlite = SqliteAuditLog::open(&file).unwrap();
    let log = PostgresAuditLog::start(Arc::clone(&database.postgres), "one").unwrap();
    for number in 1..=ROWS {
        sqlite.append(entry(number, true)).await.unwrap();
        log.append(entry(number, true)).await.unwrap();
    }
    sqlite.close();
    drop(sqlite);
    // Without a checkpoint, which would find some attacks as another fault.
    database.admin(
        "CREATE TABLE public.audit_copy AS TABLE kernel.audit; \
         CREATE TABLE public.chain_copy AS TABLE kernel.audit_chain",
    );
    let replica = database.replica();
    assert_eq!(verify(&replica, None).unwrap().fault, None);
    for attack in attacks() {
        let expected = on_sqlite(&file, &attack);
        assert!(expected.is_some(), "{attack}");
        assert_eq!(on_postgres(&database, &replica, &attack), expected, "{attack}");
    }
    assert_eq!(verify(&replica, None).unwrap().fault, None);
    // A row of one chain does not fit into another: the chains begin with different hashes.
    let other = PostgresAuditLog::start(database.replica(), "two").unwrap();
    other.append(entry(1, true)).await.unwrap();
    let sql = "SET session_replication_role = replica; \
        CREATE TEMP TABLE pair AS SELECT chain, row_number() OVER () AS number FROM kernel.audit WHERE sequence = 1; \
        UPDATE kernel.audit SET sequence = -(SELECT number FROM pair WHERE pair.chain = audit.chain) WHERE sequence = 1; \
        UPDATE kernel.audit SET chain = (SELECT pair.chain FROM pair WHERE pair.chain <> audit.chain) WHERE sequence < 0; \
        UPDATE kernel.audit SET sequence = 1 WHERE sequence < 0";
    database.admin(sql);
    assert!(verify(&replica, None).unwrap().fault.is_some(), "rows were exchanged between chains");
}
