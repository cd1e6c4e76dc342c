//! Two processes writing to one run: neither loses an acknowledged event of the other.

use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use panoply_backtest::error::LogError;
use panoply_backtest::event::Guid;
use panoply_backtest::import::{Import, native};
use panoply_backtest::ingest::OpenRun;
use panoply_backtest::run::RunHeader;
use panoply_backtest::store::Store;
use panoply_backtest::store::sqlite::SqliteStore;
use panoply_backtest::timestamp::Timestamp;

use crate::helpers::{OWN_RUN, call_tool, import, kernel, line};

/// A separate store on the same files, as in another process.
fn process(folder: &Path) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(&folder.join("backtest.db")).unwrap())
}

fn writer(folder: &Path) -> Import {
    import(process(folder), Some(Guid::parse(OWN_RUN).unwrap()), RunHeader::default())
}

/// Writes events with these numbers; a full batch is acknowledged automatically.
fn write_events(writer: &mut Import, numbers: std::ops::Range<u32>) -> Result<(), LogError> {
    let lines: String = numbers
        .map(|n| line(OWN_RUN, n, "2025-01-01T00:00:00.000Z", "StateChange", "{}", None) + "\n")
        .collect();
    native::read(lines.as_bytes(), writer, &mut |_| {}, &|| false).map(drop)
}

fn is_concurrent_writer(outcome: Result<impl Sized, LogError>) -> bool {
    matches!(outcome, Err(LogError::ConcurrentWriter))
}

#[test]
fn seal_detects_events_added_by_another_writer() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = writer(folder.path());
    // Opened before the batch is stored, so its head is outdated.
    let (id, now) = (Guid::parse(OWN_RUN).unwrap(), Timestamp::from_nanos(0));
    let other = OpenRun::open(process(folder.path()), id, RunHeader::default(), now).unwrap();
    write_events(&mut one, 0..1000).unwrap();
    assert!(is_concurrent_writer(other.seal(&mut |_, _| {}, &|| false)));
    write_events(&mut one, 1000..2000).unwrap();
    let report = one.seal(&mut |_, _| {}, &|| false).unwrap().remove(0).1;
    assert_eq!(report.events, 2000);
}

#[test]
fn sealing_excludes_other_writers_and_sealers() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = writer(folder.path());
    write_events(&mut one, 0..3000).unwrap();
    let mut late = Some(writer(folder.path()));
    let mut second = Some(writer(folder.path()));
    write_events(second.as_mut().unwrap(), 0..0).unwrap();
    let mut asked = 0;
    let sealed = one.seal(
        &mut |_, _| {
            if let Some(mut late) = late.take() {
                asked += 1;
                assert!(
                    is_concurrent_writer(write_events(&mut late, 3000..4000)),
                    "an event was taken and would be lost"
                );
                assert!(is_concurrent_writer(writer_seals(&mut second)), "two seals at once");
            }
        },
        &|| false,
    );
    assert_eq!(sealed.unwrap().remove(0).1.events, 3000);
    assert_eq!(asked, 1);
    let mut after = writer(folder.path());
    assert!(write_events(&mut after, 4000..5000).is_err(), "a sealed run takes no more");
}

fn writer_seals(writer: &mut Option<Import>) -> Result<(), LogError> {
    let mut writer = writer.take().unwrap();
    // Opens the run in order to seal it.
    write_events(&mut writer, 2999..3000)?;
    writer.seal(&mut |_, _| {}, &|| false).map(drop)
}

/// A server has a run open while the command line deletes it and imports another with its id.
#[tokio::test]
async fn reimported_run_replaces_the_deleted_one() {
    let folder = tempfile::tempdir().unwrap();
    let other = || process(folder.path());
    let import = |price: u8, at: i64| {
        let properties = format!(r#"{{"Price":{price}}}"#);
        let time = "2025-01-01T00:00:00.000Z";
        let text = line(OWN_RUN, 1, time, "TradeExecution", &properties, None);
        let (now, clock) = (Timestamp::from_nanos(at), Arc::new(|| Duration::ZERO));
        let mut import = Import::new(other(), None, RunHeader::default(), now, clock);
        native::read(BufReader::new(text.as_bytes()), &mut import, &mut |_| {}, &|| false).unwrap();
        import.seal(&mut |_, _| {}, &|| false).unwrap();
    };
    import(1, 1);
    let kernel = kernel(other());
    let question = serde_json::json!({"runId": OWN_RUN, "eventType": "TradeExecution"});
    let price = async || {
        let reply = call_tool(&kernel, "get_events_by_type", question.clone()).await;
        reply.map(|reply| reply["events"][0]["properties"]["Price"].clone())
    };
    assert_eq!(price().await.unwrap(), 1);
    other().delete(Guid::parse(OWN_RUN).unwrap()).unwrap();
    assert_eq!(price().await.unwrap_err()["code"], "RUN_NOT_FOUND");
    import(2, 2);
    assert_eq!(price().await.unwrap(), 2);
}
