//! SIGKILL during an import: every acknowledged event is present after a restart, exactly once.
//!
//! The test starts itself as a child process that imports without end, and kills it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;

use panoply_backtest::event::Guid;
use panoply_backtest::import::native;
use panoply_backtest::ingest::OpenRun;
use panoply_backtest::run::RunHeader;
use panoply_backtest::store::Store;
use panoply_backtest::store::sqlite::SqliteStore;
use panoply_backtest::timestamp::Timestamp;

use crate::helpers::{OWN_RUN, import, line};

/// Environment variable with the child's directory.
const FOLDER: &str = "BACKTEST_CRASH_FOLDER";

#[expect(clippy::disallowed_methods, reason = "how the child of a test is told its folder")]
#[test]
fn acknowledged_events_survive_sigkill_exactly_once() {
    if let Ok(folder) = std::env::var(FOLDER) {
        return write_until_killed(&folder);
    }
    for kill_after in [1_u64, 4, 9] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "crash::acknowledged_events_survive_sigkill_exactly_once",
                "--exact",
                "--nocapture",
            ])
            .env(FOLDER, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut acknowledged = 0;
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        for output_text in lines.map_while(Result::ok) {
            if let Some(count) = output_text.strip_prefix("acknowledged ") {
                acknowledged = count.parse().unwrap();
                if acknowledged >= kill_after * 1000 {
                    break;
                }
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let store: Arc<dyn Store> =
            Arc::new(SqliteStore::open(&folder.path().join("backtest.db")).unwrap());
        let id = Guid::parse(OWN_RUN).unwrap();
        let run =
            OpenRun::open(Arc::clone(&store), id, RunHeader::default(), Timestamp::from_nanos(0));
        let run = run.unwrap();
        let kept = run.acknowledged();
        assert!(kept >= acknowledged, "{kept} kept of {acknowledged} acknowledged");
        // The last batch is sent again, as by a client without an acknowledgement.
        let mut again = import(Arc::clone(&store), Some(id), RunHeader::default());
        drop(run);
        native::read(batch(kept / 1000).as_bytes(), &mut again, &mut |_| {}, &|| false).unwrap();
        native::read(batch(0).as_bytes(), &mut again, &mut |_| {}, &|| false).unwrap();
        let report = again.seal(&mut |_, _| {}, &|| false).unwrap().remove(0).1;
        assert_eq!(report.events, (kept / 1000 + 1) * 1000);
        assert_eq!((report.repeated, report.rejected), (1000 + kept % 1000, 0));
    }
}

fn write_until_killed(folder: &str) {
    let store: Arc<dyn Store> =
        Arc::new(SqliteStore::open(&std::path::Path::new(folder).join("backtest.db")).unwrap());
    let mut own = import(store, Some(Guid::parse(OWN_RUN).unwrap()), RunHeader::default());
    for number in 0.. {
        native::read(batch(number).as_bytes(), &mut own, &mut |_| {}, &|| false).unwrap();
        let kept = own.acknowledge().unwrap()[0].1;
        let mut out = std::io::stdout().lock();
        writeln!(out, "acknowledged {kept}").unwrap();
        out.flush().unwrap();
    }
}

fn batch(number: u64) -> String {
    let first = u32::try_from(number * 1000).unwrap();
    let one = |n: u32| {
        line(
            OWN_RUN,
            first + n,
            "2025-01-01T00:00:00.000Z",
            "RiskEvent",
            r#"{"RiskType":"x"}"#,
            None,
        ) + "\n"
    };
    (0..1000).map(one).collect()
}
