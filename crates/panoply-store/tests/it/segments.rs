//! Sealed segments: chain verification across segments, and detection of tampering.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use panoply_contract::audit::{AuditFilter, AuditLog, AuditView};
use panoply_contract::testing::noon;
use panoply_store::SqliteAuditLog;
use panoply_store::audit_log::{
    Fault, FaultKind, SealError, export, prune, seal, segment_files, segment_folder, verify,
    verify_tail,
};
use rusqlite::{Connection, OpenFlags};

use crate::entries::{entry, log_with};

/// A log with rows 1 to 30, of which 1 to 25 are in segments of ten.
async fn sealed_log() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.db");
    log_with(&file, 30).await;
    let before = entry(26, false).at;
    let sealed = seal(&file, Some(before), 10, noon()).unwrap();
    let ranges: Vec<_> = sealed.iter().map(|segment| (segment.first, segment.last)).collect();
    assert_eq!(ranges, [(1, 10), (11, 20), (21, 25)]);
    (folder, file)
}

fn fault_of(file: &Path) -> Option<(Fault, String)> {
    let found = verify(file, None).unwrap();
    found.fault.zip(found.fault_file)
}

fn intruder(file: &Path) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags_and_vfs(file, flags, panoply_store::page_checksums::VFS).unwrap()
}

/// Replaces a read-only file with these bytes.
fn exchange(file: &Path, bytes: &[u8]) {
    fs::remove_file(file).unwrap();
    fs::write(file, bytes).unwrap();
}

#[tokio::test]
async fn the_chain_verifies_across_segments_and_rows() {
    let (_folder, file) = sealed_log().await;
    let found = verify(&file, None).unwrap();
    assert!(found.is_intact(), "{found:?}");
    // Thirty rows, and one audit row per sealed segment.
    assert_eq!((found.rows, found.segments.len()), (33, 3));
    assert!(verify_tail(&file, 5).unwrap().is_intact());
    assert!(verify_tail(&file, 1000).unwrap().is_intact());
    let log = SqliteAuditLog::open(&file).unwrap();
    log.append(entry(40, true)).await.unwrap();
    let rows = log.read(AuditFilter { limit: 100, ..AuditFilter::default() }).await.unwrap();
    let sequences: Vec<u64> = rows.iter().map(|row| row.sequence).collect();
    assert_eq!(sequences, [34, 33, 32, 31, 30, 29, 28, 27, 26]);
    assert_eq!(rows[1].entry.tool, "panoply audit seal");
    assert!(rows[1].entry.mutation);
    log.close();
    assert_eq!(verify(&file, None).unwrap().rows, 34);
    #[cfg(unix)]
    for file in segment_files(&file) {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o400);
    }
}

#[tokio::test]
async fn a_removed_changed_or_replaced_segment_is_reported() {
    let (_folder, file) = sealed_log().await;
    let files = segment_files(&file);
    let contents: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    let name = |index: usize| files[index].file_name().unwrap().to_str().unwrap().to_owned();

    fs::remove_file(&files[1]).unwrap();
    let missing = Fault { sequence: 11, kind: FaultKind::SegmentMissing };
    assert_eq!(fault_of(&file), Some((missing, name(1))));
    assert_eq!(verify_tail(&file, 5).unwrap().fault, Some(missing));
    fs::write(&files[1], &contents[1]).unwrap();
    assert_eq!(fault_of(&file), None);

    let mut flipped = contents[1].clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    let altered = |sequence| Fault { sequence, kind: FaultKind::SegmentAltered };
    exchange(&files[1], &flipped);
    assert_eq!(fault_of(&file), Some((altered(11), name(1))));

    exchange(&files[0], &contents[1]);
    exchange(&files[1], &contents[0]);
    assert_eq!(fault_of(&file), Some((altered(1), name(0))));
}

#[tokio::test]
async fn a_header_forged_to_match_another_file_breaks_the_chain() {
    let (_folder, file) = sealed_log().await;
    let files = segment_files(&file);
    // The first segment's content under the second's header, with a matching checksum.
    exchange(&files[1], &fs::read(&files[0]).unwrap());
    let connection = intruder(&file);
    connection
        .execute_batch(
            "DROP TRIGGER segments_are_pruned_once;
             UPDATE segment SET sha256 = (SELECT sha256 FROM segment WHERE first = 1)
             WHERE first = 11;",
        )
        .unwrap();
    drop(connection);
    let found = verify(&file, None).unwrap();
    assert_eq!(found.fault, Some(Fault { sequence: 1, kind: FaultKind::Unrecorded }));
    assert!(found.fault_file.is_some());
}

#[tokio::test]
async fn a_row_reinserted_next_to_its_segment_is_detected() {
    let (_folder, file) = sealed_log().await;
    let connection = intruder(&file);
    connection
        .execute_batch(
            "INSERT INTO audit SELECT 7, at, tool, tool_version, partition, agent_id, trace_id, \
             in_hash, out_hash, latency_ms, seed, status, error_code, mutation, previous, hash, \
             address, credential, count, format FROM audit WHERE sequence = 28;",
        )
        .unwrap();
    drop(connection);
    let found = verify(&file, None).unwrap();
    assert_eq!(found.fault, Some(Fault { sequence: 7, kind: FaultKind::Unrecorded }));
}

#[tokio::test]
async fn pruning_leaves_the_header_and_an_audit_row() {
    let (_folder, file) = sealed_log().await;
    let noted = verify(&file, None).unwrap().head;
    // All rows of the first two segments are older than row 25.
    let pruned = prune(&file, entry(25, false).at, noon()).unwrap();
    assert_eq!(pruned.iter().map(|segment| segment.first).collect::<Vec<_>>(), [1, 11]);
    assert_eq!(segment_files(&file).len(), 1);
    let found = verify(&file, noted).unwrap();
    assert!(found.is_intact(), "{found:?}");
    assert_eq!(found.rows, 35);
    let gone: Vec<bool> = found.segments.iter().map(|it| it.pruned_at.is_some()).collect();
    assert_eq!(gone, [true, true, false]);
    assert!(prune(&file, entry(25, false).at, noon()).unwrap().is_empty(), "not twice");

    // Deleting the file and marking the header without the command is detected.
    let files = segment_files(&file);
    fs::remove_file(&files[0]).unwrap();
    let connection = intruder(&file);
    connection
        .execute_batch("UPDATE segment SET pruned_at = 'x', pruned_by = 34 WHERE first = 21;")
        .unwrap();
    drop(connection);
    let fault = Fault { sequence: 21, kind: FaultKind::PruningUnrecorded };
    assert_eq!(verify(&file, None).unwrap().fault, Some(fault));
}

#[tokio::test]
async fn audit_rows_of_pruning_can_be_sealed_and_pruned() {
    let (_folder, file) = sealed_log().await;
    for _ in 0..3 {
        seal(&file, None, 10, noon()).unwrap();
        prune(&file, noon() + Duration::from_secs(3600), noon()).unwrap();
        let found = verify(&file, None).unwrap();
        assert!(found.is_intact(), "{found:?}");
    }
    assert!(segment_files(&file).is_empty());
}

#[tokio::test]
async fn crash_leftovers_are_replaced_and_files_of_other_logs_remain() {
    let (_folder, file) = sealed_log().await;
    let (files, folder) = (segment_files(&file), segment_folder(&file));
    // A crash before the commit leaves a segment file whose rows are still in the log.
    let late = {
        fs::create_dir(folder.parent().unwrap().join("other")).unwrap();
        let other = folder.parent().unwrap().join("other/audit.db");
        fs::copy(&file, &other).unwrap();
        let dummy = segment_folder(&other);
        fs::create_dir(&dummy).unwrap();
        for file in &files {
            fs::copy(file, dummy.join(file.file_name().unwrap())).unwrap();
        }
        seal(&other, None, 100, noon()).unwrap();
        segment_files(&other).last().unwrap().clone()
    };
    let leftover = folder.join(late.file_name().unwrap());
    fs::copy(&late, &leftover).unwrap();
    fs::write(folder.join("26.partial"), "half").unwrap();
    let foreign = folder.join("audit-000000000001-000000000030-0123456789abcdef.jsonl.gz");
    fs::write(&foreign, "evidence of another log").unwrap();
    assert!(verify(&file, None).unwrap().is_intact(), "leftovers do not matter");
    let sealed = seal(&file, Some(entry(29, false).at), 100, noon()).unwrap();
    assert_eq!((sealed[0].first, sealed[0].last), (26, 28));
    assert!(!leftover.exists() && !folder.join("26.partial").exists());
    assert!(foreign.exists());
    assert!(verify(&file, None).unwrap().is_intact());
}

#[tokio::test]
async fn a_broken_chain_is_not_sealed() {
    let (_folder, file) = sealed_log().await;
    let connection = intruder(&file);
    connection
        .execute_batch(
            "DROP TRIGGER audit_rows_are_never_changed;
             UPDATE audit SET tool = 'forged' WHERE sequence = 27;",
        )
        .unwrap();
    drop(connection);
    let error = seal(&file, None, 10, noon()).unwrap_err();
    assert!(matches!(error, SealError::Broken(Fault { sequence: 27, .. })), "{error}");
    assert_eq!(segment_files(&file).len(), 3);
}

#[tokio::test]
async fn an_export_contains_every_existing_row_in_order() {
    let (_folder, file) = sealed_log().await;
    prune(&file, entry(11, false).at, noon()).unwrap();
    let mut lines = Vec::new();
    let pruned = export(&file, &AuditView::All, &mut lines).unwrap();
    assert_eq!(pruned.iter().map(|segment| segment.last).collect::<Vec<_>>(), [10]);
    let rows: Vec<serde_json::Value> = String::from_utf8(lines)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let sequences: Vec<u64> = rows.iter().map(|row| row["sequence"].as_u64().unwrap()).collect();
    assert_eq!(sequences, (11..=34).collect::<Vec<_>>());
    assert_eq!((&rows[1]["address"], &rows[1]["format"]), (&"192.0.2.7".into(), &2.into()));
}

#[tokio::test]
async fn sealing_during_concurrent_writes_loses_no_row() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.db");
    let log = SqliteAuditLog::open(&file).unwrap();
    let sealing = {
        let file = file.clone();
        tokio::task::spawn_blocking(move || {
            (0..10).map(|_| seal(&file, None, 100, noon()).unwrap().len()).sum::<usize>()
        })
    };
    let appended = 400;
    for number in 1..=appended {
        log.append(entry(number, number % 50 == 0)).await.unwrap();
        // A writer faster than sealing would never let it finish.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let segments = sealing.await.unwrap() as u64;
    log.close();
    let found = verify(&file, None).unwrap();
    assert!(found.is_intact(), "{found:?}");
    assert_eq!(found.rows, appended + segments);
}
