//! Full disks and SIGKILL: acknowledged events are present afterwards, exactly once.
//!
//! Each test starts itself as a child process. For a full disk the child runs in a mount namespace
//! with a small file system, if the system allows it; a limit on the file size, which needs no
//! privileges, is tested in any case.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use panoply_backtest::error::LogError;
use panoply_backtest::event::Guid;
use panoply_backtest::import::native;
use panoply_backtest::ingest::OpenRun;
use panoply_backtest::run::{RunHeader, Status};
use panoply_backtest::store::Store;
use panoply_backtest::store::sqlite::SqliteStore;
use panoply_backtest::timestamp::Timestamp;

use crate::helpers::{OWN_RUN, import, line, open};

/// Environment variable with the child's directory.
const FOLDER: &str = "BACKTEST_FAULT_FOLDER";
/// Events per batch.
const BATCH: u32 = 1000;

#[expect(clippy::disallowed_methods, reason = "how the child of a test is told its folder")]
fn folder_of_child() -> Option<String> {
    std::env::var(FOLDER).ok()
}

fn store(folder: &Path) -> Arc<SqliteStore> {
    Arc::new(SqliteStore::open(&folder.join("backtest.db")).unwrap())
}

fn id() -> Guid {
    Guid::parse(OWN_RUN).unwrap()
}

/// Events that hardly compress, so that files grow.
fn batch(number: u32) -> String {
    let mut noise = u64::from(number) + 1;
    let mut one = |place: u32| {
        let mut words = String::new();
        for _ in 0..8 {
            noise = noise.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            words.push_str(&format!("{noise:016x}"));
        }
        let properties = format!(r#"{{"RiskType":"{words}"}}"#);
        let time = "2025-01-01T00:00:00.000Z";
        line(OWN_RUN, number * BATCH + place, time, "RiskEvent", &properties, None) + "\n"
    };
    (0..BATCH).map(&mut one).collect()
}

/// Writes up to `most` batches, until the store fails. Returns the acknowledged events and the
/// error.
fn write_batches(store: Arc<dyn Store>, from: u32, most: u32) -> (u64, Option<LogError>) {
    let mut own = import(store, Some(id()), RunHeader::default());
    let mut acknowledged = 0;
    for number in from..from + most {
        let taken = native::read(batch(number).as_bytes(), &mut own, &mut |_| {}, &|| false)
            .and_then(|()| own.acknowledge());
        match taken {
            Ok(runs) => acknowledged = runs[0].1,
            Err(error) => return (acknowledged, Some(error)),
        }
    }
    (acknowledged, None)
}

fn reopened(store: &Arc<SqliteStore>) -> OpenRun {
    let store = Arc::clone(store) as Arc<dyn Store>;
    OpenRun::open(store, id(), RunHeader::default(), Timestamp::from_nanos(0)).unwrap()
}

/// Checks that every event of the first batches is in the sealed run exactly once, unchanged.
fn check_sealed(store: &dyn Store, batches: u32) {
    let mut lines = Vec::new();
    open(store, id())
        .export(|line| {
            lines.push(line.to_owned());
            Ok(())
        })
        .unwrap();
    let expected: String = (0..batches).map(batch).collect();
    assert!(lines.join("\n") + "\n" == expected, "{} lines", lines.len());
}

fn files(folder: &Path) -> Vec<String> {
    let mut endings: Vec<String> = std::fs::read_dir(folder.join("backtest"))
        .unwrap()
        .map(|entry| entry.unwrap().path().extension().unwrap().to_string_lossy().into_owned())
        .collect();
    endings.sort();
    endings
}

fn child(test: &str, folder: &Path, before: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", before, "sh"]);
    if before.starts_with("trap") {
        command = Command::new("sh");
        command.args(["-c", before, "sh"]);
    }
    command
        .arg(std::env::current_exe().unwrap())
        .args([&format!("faults::{test}"), "--exact", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// A file system of six megabytes.
const SMALL_DISK: &str =
    r#"mount -t tmpfs -o size=6m tmpfs "$BACKTEST_FAULT_FOLDER" || exit 77; exec "$@""#;

#[cfg(target_os = "linux")]
#[test]
fn full_disk_loses_no_acknowledged_event() {
    if let Some(folder) = folder_of_child() {
        return fill_the_disk(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let test = "full_disk_loses_no_acknowledged_event";
    let Ok(output) = child(test, folder.path(), SMALL_DISK).output() else { return };
    let output_text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    // Without mount namespaces the file size limit below covers a full disk.
    if output.status.code() == Some(77) || output_text.contains("unshare failed") {
        return;
    }
    assert!(output.status.success(), "{output_text}");
    assert!(output_text.contains("the run is whole"), "{output_text}");
}

/// In the child, on the small file system.
fn fill_the_disk(folder: &Path) {
    let ballast = folder.join("ballast");
    std::fs::write(&ballast, vec![1; 4 << 20]).unwrap();
    let (acknowledged, error) = write_batches(store(folder), 0, 200);
    let error = error.unwrap().to_string();
    assert!(error.contains("is full"), "{error}");
    assert!(acknowledged >= u64::from(BATCH), "{acknowledged}");

    // With free space again the run continues.
    std::fs::remove_file(&ballast).unwrap();
    let again = store(folder);
    let kept = reopened(&again).acknowledged();
    assert!(kept >= acknowledged, "{kept} kept of {acknowledged} acknowledged");
    let next = u32::try_from(kept).unwrap() / BATCH;
    let (now, error) = write_batches(Arc::clone(&again) as Arc<dyn Store>, next, 1);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(now, kept + u64::from(BATCH), "the batch that was refused is there, once");

    // Fills the disk again, then seals.
    let open = reopened(&again);
    fill_up(&ballast, 512 << 10);
    let error = open.seal(&mut |_, _| {}, &|| false).unwrap_err().to_string();
    assert!(error.contains("is full") || error.contains("No space left"), "{error}");
    assert_eq!(again.run(id()).unwrap().unwrap().status, Status::Running);
    assert!(
        !files(folder).iter().any(|ending| ending.starts_with("sealing")),
        "{:?}",
        files(folder)
    );

    std::fs::remove_file(&ballast).unwrap();
    let report = reopened(&again).seal(&mut |_, _| {}, &|| false).unwrap();
    assert_eq!((report.events, report.repeated, report.rejected), (now, 0, 0));
    check_sealed(again.as_ref(), next + 1);
    assert_eq!(files(folder), ["run"]);
    let mut out = std::io::stdout().lock();
    writeln!(out, "the run is whole").unwrap();
}

/// Leaves this many bytes free, for the catalog.
fn fill_up(ballast: &Path, left: u64) {
    let mut file = std::fs::File::create(ballast).unwrap();
    while file.write_all(&[1; 16 << 10]).is_ok() {}
    let full = file.metadata().unwrap().len();
    file.set_len(full.saturating_sub(left)).unwrap();
}

/// In kilobytes. SIGXFSZ is ignored, otherwise it would end the child before the write fails.
fn no_file_above(kilobytes: u32) -> String {
    format!(r#"trap "" XFSZ; ulimit -f {}; exec "$@""#, kilobytes * 2)
}

#[cfg(unix)]
#[test]
fn file_size_limit_loses_no_acknowledged_event() {
    if let Some(folder) = folder_of_child() {
        let (acknowledged, error) = write_batches(store(Path::new(&folder)), 0, 200);
        let mut out = std::io::stdout().lock();
        writeln!(out, "acknowledged {acknowledged}").unwrap();
        assert!(error.is_some(), "the limit was not reached");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let test = "file_size_limit_loses_no_acknowledged_event";
    let output = child(test, folder.path(), &no_file_above(800)).output().unwrap();
    let output_text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output_text}{}", String::from_utf8_lossy(&output.stderr));
    let acknowledged = acknowledged_in(&output_text);
    assert!(acknowledged >= u64::from(BATCH), "{output_text}");
    let store = store(folder.path());
    let kept = reopened(&store).acknowledged();
    assert!(kept >= acknowledged, "{kept} kept of {acknowledged} acknowledged");
    let report = reopened(&store).seal(&mut |_, _| {}, &|| false).unwrap();
    assert_eq!((report.events, report.repeated), (kept, 0));
    check_sealed(store.as_ref(), u32::try_from(kept).unwrap() / BATCH);
}

#[cfg(unix)]
#[test]
fn failed_seal_leaves_the_run_open_and_intact() {
    if let Some(folder) = folder_of_child() {
        let store = store(Path::new(&folder));
        let error = reopened(&store).seal(&mut |_, _| {}, &|| false).unwrap_err();
        let mut out = std::io::stdout().lock();
        writeln!(out, "refused: {error}").unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (acknowledged, error) = write_batches(store(folder.path()), 0, 4);
    assert!(error.is_none() && acknowledged == 4000, "{error:?}");
    let test = "failed_seal_leaves_the_run_open_and_intact";
    // Enough for the catalog but not for the sealed run.
    let output = child(test, folder.path(), &no_file_above(200)).output().unwrap();
    let output_text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output_text.contains("refused: "),
        "{output_text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let store = store(folder.path());
    assert_eq!(store.run(id()).unwrap().unwrap().status, Status::Running);
    assert!(!files(folder.path()).iter().any(|ending| ending.starts_with("sealing")));
    assert_eq!(reopened(&store).acknowledged(), 4000);
    assert_eq!(reopened(&store).seal(&mut |_, _| {}, &|| false).unwrap().events, 4000);
    check_sealed(store.as_ref(), 4);
}

fn acknowledged_in(output_text: &str) -> u64 {
    let mut counts = output_text.lines().filter_map(|line| line.strip_prefix("acknowledged "));
    counts.next_back().and_then(|count| count.parse().ok()).unwrap_or_default()
}

#[test]
fn sigkill_while_sealing_leaves_the_open_or_the_sealed_run() {
    const BATCHES: u32 = 8;
    if let Some(folder) = folder_of_child() {
        let store = store(Path::new(&folder));
        let mut out = std::io::stdout();
        let mut tell = |done: u64, _: u64| {
            writeln!(out, "sealed {done}").unwrap();
            out.flush().unwrap();
        };
        reopened(&store).seal(&mut tell, &|| false).unwrap();
        return;
    }
    let test = "sigkill_while_sealing_leaves_the_open_or_the_sealed_run";
    // Before the first block, between blocks, and after the last one, around the rename.
    for kill_at in [0, 4096, u64::from(BATCHES * BATCH)] {
        let folder = tempfile::tempdir().unwrap();
        let (acknowledged, error) = write_batches(store(folder.path()), 0, BATCHES);
        assert!(error.is_none(), "{error:?}");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([&format!("faults::{test}"), "--exact", "--nocapture"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let reached = format!("sealed {kill_at}");
        let found = lines.map_while(Result::ok).any(|output_text| output_text == reached);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found, "it never said `{reached}`");
        let store = store(folder.path());
        let record = store.run(id()).unwrap().unwrap();
        if record.status == Status::Running {
            assert_eq!(reopened(&store).acknowledged(), acknowledged);
            let report = reopened(&store).seal(&mut |_, _| {}, &|| false).unwrap();
            assert_eq!((report.events, report.repeated), (acknowledged, 0));
        }
        check_sealed(store.as_ref(), BATCHES);
        assert_eq!(files(folder.path()), ["run"], "killed at {kill_at}");
    }
}
