//! Crash safety: after `kill -9` the chain is valid and no acknowledged row is lost.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use panoply_contract::audit::{AuditFilter, AuditLog};
use panoply_store::SqliteAuditLog;
use panoply_store::audit_log::verify;

use crate::entries::entry;

const KILLS: u64 = 12;

#[tokio::test]
async fn no_acknowledged_row_is_lost_when_the_process_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.db");
    let mut acknowledged = Vec::new();
    for kill in 0..KILLS {
        // Vary the number of acknowledgements before the kill; some kills interrupt a write.
        let (first, acks) = (kill * 10_000, 1 + (kill * 7) % 23);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crash::writes_until_killed", "--ignored", "--nocapture"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let order = format!("{}\n{first}\n", file.display());
        child.stdin.take().unwrap().write_all(order.as_bytes()).unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let acked = lines
            .map_while(Result::ok)
            .filter_map(|line| line.strip_prefix("acked ")?.parse::<u64>().ok());
        acknowledged.extend(acked.take(usize::try_from(acks).unwrap()));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = verify(&file, None).unwrap();
        assert!(found.is_intact(), "after kill {kill}: {found:?}");
    }
    let log = SqliteAuditLog::open(&file).unwrap();
    let all = AuditFilter { limit: 1_000_000, ..AuditFilter::default() };
    let rows = log.read(all).await.unwrap();
    let written: std::collections::BTreeSet<u64> =
        rows.iter().map(|row| row.entry.audit.latency_ms).collect();
    assert!(acknowledged.len() as u64 >= KILLS);
    for number in acknowledged {
        assert!(written.contains(&number), "{number} was acknowledged and is missing");
    }
    assert_eq!(written.len(), rows.len(), "no row is duplicated");
}

#[tokio::test]
#[ignore = "child process of the test above; reads the file path from standard input"]
async fn writes_until_killed() {
    let mut lines = std::io::stdin().lines().map_while(Result::ok);
    let (Some(file), Some(first)) = (lines.next(), lines.next()) else { return };
    let log = SqliteAuditLog::open(file.as_ref()).unwrap();
    let first: u64 = first.parse().unwrap();
    for number in first..first + 9_999 {
        let mutation = number % 3 != 1;
        log.append(entry(number, mutation)).await.unwrap();
        if mutation {
            let mut out = std::io::stdout().lock();
            writeln!(out, "\nacked {number}").unwrap();
            out.flush().unwrap();
        }
    }
}
