//! Tampering with the file: verification reports the first affected row.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use panoply_contract::audit::AuditLog;
use panoply_store::SqliteAuditLog;
use panoply_store::audit_log::{Fault, FaultKind, Head, Verification, verify};
use proptest::prelude::*;
use rusqlite::{Connection, OpenFlags, params};

use crate::entries::{entry, log_with};

const ROWS: u64 = 12;
const TEXTS: [&str; 13] = [
    "at",
    "tool",
    "tool_version",
    "partition",
    "agent_id",
    "trace_id",
    "in_hash",
    "out_hash",
    "seed",
    "status",
    "error_code",
    "address",
    "credential",
];
const NUMBERS: [&str; 4] = ["latency_ms", "mutation", "count", "format"];
const BLOBS: [&str; 2] = ["previous", "hash"];

/// A modification of the file.
#[derive(Clone, Debug)]
enum Attack {
    Edit { row: u64, column: usize },
    Delete { row: u64 },
    Swap { row: u64, other: u64 },
    InsertBetween { row: u64 },
    AppendForged,
    CutTail { from: u64 },
    ForgeHash { row: u64 },
}

fn attacks() -> impl Strategy<Value = Attack> {
    let columns = TEXTS.len() + NUMBERS.len() + BLOBS.len();
    prop_oneof![
        4 => (1..=ROWS, 0..columns).prop_map(|(row, column)| Attack::Edit { row, column }),
        2 => (1..=ROWS).prop_map(|row| Attack::Delete { row }),
        2 => (1..ROWS).prop_flat_map(|row| (Just(row), row + 1..=ROWS))
            .prop_map(|(row, other)| Attack::Swap { row, other }),
        1 => (1..=ROWS).prop_map(|row| Attack::InsertBetween { row }),
        1 => Just(Attack::AppendForged),
        1 => (1..=ROWS).prop_map(|from| Attack::CutTail { from }),
        1 => (1..=ROWS).prop_map(|row| Attack::ForgeHash { row }),
    ]
}

/// A connection that maintains the page checksums, like an informed attacker.
fn intruder(file: &Path) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags_and_vfs(file, flags, panoply_store::page_checksums::VFS).unwrap()
}

impl Attack {
    /// Applies the attack; returns the first affected row.
    fn run(&self, file: &Path) -> u64 {
        let connection = intruder(file);
        disarm(&connection);
        let sql = |sql: &str, row: u64| {
            connection.execute(sql, params![i64::try_from(row).unwrap()]).unwrap()
        };
        match *self {
            Self::Edit { row, column } => {
                assert_eq!(sql(&edit(column), row), 1);
                row
            }
            Self::Delete { row } => {
                sql("DELETE FROM audit WHERE sequence = ?1", row);
                row
            }
            Self::Swap { row, other } => {
                sql("UPDATE audit SET sequence = -1 WHERE sequence = ?1", row);
                let (row_id, other_id) =
                    (i64::try_from(row).unwrap(), i64::try_from(other).unwrap());
                let swap = "UPDATE audit SET sequence = ?1 WHERE sequence = ?2";
                connection.execute(swap, params![row_id, other_id]).unwrap();
                sql("UPDATE audit SET sequence = ?1 WHERE sequence = -1", other);
                row
            }
            Self::InsertBetween { row } => {
                sql("UPDATE audit SET sequence = -sequence WHERE sequence >= ?1", row);
                sql("UPDATE audit SET sequence = 1 - sequence WHERE sequence < 0 AND ?1", 1);
                copy_row(&connection, row + 1, row);
                sql("UPDATE audit SET tool = 'forged' WHERE sequence = ?1", row);
                row
            }
            Self::AppendForged => {
                copy_row(&connection, ROWS, ROWS + 1);
                ROWS + 1
            }
            Self::CutTail { from } => {
                sql("DELETE FROM audit WHERE sequence >= ?1", from);
                from
            }
            Self::ForgeHash { row } => {
                // The content matches its hash, but the successor or the head does not.
                drop(connection);
                replace_with_whole_row(file, row);
                row
            }
        }
    }
}

fn disarm(connection: &Connection) {
    for trigger in [
        "audit_rows_are_never_changed",
        "audit_rows_are_removed_when_sealed",
        "head_only_moves_on",
        "head_is_never_removed",
    ] {
        connection.execute_batch(&format!("DROP TRIGGER {trigger}")).unwrap();
    }
}

fn edit(column: usize) -> String {
    let all: Vec<&str> = TEXTS.into_iter().chain(NUMBERS).chain(BLOBS).collect();
    let name = all[column];
    let value = if TEXTS.contains(&name) {
        format!("coalesce({name}, '') || ' '")
    } else if NUMBERS.contains(&name) {
        format!("{name} + 1")
    } else {
        "randomblob(32)".to_owned()
    };
    format!("UPDATE audit SET {name} = {value} WHERE sequence = ?1")
}

fn copy_row(connection: &Connection, from: u64, to: u64) {
    connection
        .execute(
            "INSERT INTO audit SELECT ?2, at, tool, tool_version, partition, agent_id, trace_id, \
             in_hash, out_hash, latency_ms, seed, status, error_code, mutation, previous, hash, \
             address, credential, count, format FROM audit WHERE sequence = ?1",
            params![i64::try_from(from).unwrap(), i64::try_from(to).unwrap()],
        )
        .unwrap();
}

/// Replaces a row with another whose hash is valid for its position and predecessor: the log
/// itself writes the row into a truncated copy.
fn replace_with_whole_row(file: &Path, row: u64) {
    let other = file.with_extension("forged");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        log_with(&other, row - 1).await;
        let log = SqliteAuditLog::open(&other).unwrap();
        log.append(entry(row + 500, false)).await.unwrap();
        log.close();
    });
    let connection = intruder(file);
    let sequence = i64::try_from(row).unwrap();
    connection.execute("DELETE FROM audit WHERE sequence = ?1", params![sequence]).unwrap();
    connection.execute("ATTACH ?1 AS forged", params![other.to_str().unwrap()]).unwrap();
    let copy = "INSERT INTO audit SELECT * FROM forged.audit WHERE sequence = ?1";
    assert_eq!(connection.execute(copy, params![sequence]).unwrap(), 1);
}

/// Copies a log written once: writing syncs the disk, copying does not.
fn intact_log(folder: &tempfile::TempDir) -> PathBuf {
    static ORIGINAL: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("audit.db");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(log_with(&file, ROWS));
        std::fs::read(&file).unwrap()
    });
    let file = folder.path().join("audit.db");
    std::fs::write(&file, &*ORIGINAL).unwrap();
    file
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]
    #[test]
    fn every_attack_is_detected_at_its_first_row(attack in attacks()) {
        let folder = tempfile::tempdir().unwrap();
        let file = intact_log(&folder);
        prop_assert!(verify(&file, None).unwrap().is_intact());
        let first = attack.run(&file);
        let found = verify(&file, None).unwrap();
        prop_assert_eq!(found.fault.map(|fault| fault.sequence), Some(first), "{:?}", found);
        prop_assert_eq!(found.rows, first - 1);
    }
}

#[test]
fn each_kind_of_fault_is_distinguished() {
    let cases = [
        (Attack::Edit { row: 5, column: 1 }, 5, FaultKind::Altered),
        (Attack::Delete { row: 1 }, 1, FaultKind::Missing),
        (Attack::Delete { row: ROWS }, ROWS, FaultKind::Missing),
        (Attack::Swap { row: 3, other: 9 }, 3, FaultKind::Moved),
        (Attack::ForgeHash { row: 4 }, 4, FaultKind::Replaced),
        (Attack::ForgeHash { row: ROWS }, ROWS, FaultKind::Replaced),
        (Attack::CutTail { from: 1 }, 1, FaultKind::Missing),
    ];
    for (attack, sequence, kind) in cases {
        let folder = tempfile::tempdir().unwrap();
        let file = intact_log(&folder);
        attack.run(&file);
        let found = verify(&file, None).unwrap();
        assert_eq!(found.fault, Some(Fault { sequence, kind }), "{attack:?}");
    }
}

#[test]
fn triggers_reject_updates_and_deletes() {
    let folder = tempfile::tempdir().unwrap();
    let connection = intruder(&intact_log(&folder));
    for sql in [
        "UPDATE audit SET tool = 'x' WHERE sequence = 1",
        "DELETE FROM audit WHERE sequence = 12",
        "UPDATE head SET sequence = 3",
        "DELETE FROM head",
        "INSERT OR REPLACE INTO head VALUES (1, 3, x'00')",
    ] {
        let refused = connection.execute(sql, ()).is_err();
        // REPLACE deletes without firing the trigger, unless recursive triggers are enabled.
        assert!(refused || sql.contains("REPLACE"), "{sql}");
    }
}

/// Continues to write after `attack`: the evidence must remain.
fn goes_on_after(attack: &Attack) -> Verification {
    let folder = tempfile::tempdir().unwrap();
    let file = intact_log(&folder);
    attack.run(&file);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(log_with(&file, 3));
    verify(&file, None).unwrap()
}

#[test]
fn later_writes_do_not_hide_tampering() {
    let cut = goes_on_after(&Attack::CutTail { from: 10 });
    assert_eq!(cut.fault, Some(Fault { sequence: 10, kind: FaultKind::Missing }));
    let forged = goes_on_after(&Attack::AppendForged);
    assert_eq!(forged.fault.map(|fault| fault.sequence), Some(ROWS + 1), "{forged:?}");
}

#[test]
fn an_anchor_detects_a_rewritten_chain() {
    let folder = tempfile::tempdir().unwrap();
    let file = intact_log(&folder);
    let noted = verify(&file, None).unwrap().head.unwrap();
    assert_eq!(noted.sequence, ROWS);
    assert!(verify(&file, Some(noted)).unwrap().is_intact());

    // A longer, internally valid history.
    let rewritten = folder.path().join("rewritten.db");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let log = SqliteAuditLog::open(&rewritten).unwrap();
        for number in 100..120 {
            log.append(entry(number, false)).await.unwrap();
        }
    });
    assert!(verify(&rewritten, None).unwrap().is_intact(), "the file alone is valid");
    let found = verify(&rewritten, Some(noted)).unwrap();
    assert_eq!(found.fault, Some(Fault { sequence: ROWS, kind: FaultKind::NotAsNoted }));

    // A shorter one.
    let shorter = folder.path().join("shorter.db");
    runtime.block_on(log_with(&shorter, 5));
    let found = verify(&shorter, Some(noted)).unwrap();
    assert_eq!(found.fault, Some(Fault { sequence: 6, kind: FaultKind::Missing }));
    let empty = folder.path().join("empty.db");
    runtime.block_on(log_with(&empty, 0));
    assert!(verify(&empty, None).unwrap().is_intact());
    let found = verify(&empty, Some(Head { sequence: 1, ..noted })).unwrap();
    assert_eq!(found.fault, Some(Fault { sequence: 1, kind: FaultKind::Missing }));
}
