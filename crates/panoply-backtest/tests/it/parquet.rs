//! Parquet files of a run: nothing is lost, and foreign files are refused.

use std::path::Path;
use std::sync::Arc;

use panoply_backtest::columns;
use panoply_backtest::event::Guid;
use panoply_backtest::import::ImportControl;
use panoply_backtest::run::RunHeader;
use panoply_backtest::store::Store;
use panoply_backtest::store::memory::MemoryStore;

use crate::helpers::{OWN_RUN, REAL, RUN_A, data, import, line, open, sealed};

/// The lines of a run as they were imported.
fn lines(store: &dyn Store, id: Guid) -> Vec<String> {
    let mut found = Vec::new();
    open(store, id)
        .export(|line| {
            found.push(line.to_owned());
            Ok(())
        })
        .unwrap();
    found
}

/// Writes a run as Parquet files and imports them into a new store.
fn through_parquet(store: &dyn Store, id: Guid, folder: &Path) -> Arc<dyn Store> {
    let mut files = columns::write(&open(store, id), folder, &|| false).unwrap();
    // The order of the files does not matter.
    files.reverse();
    let copy: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let mut own = import(Arc::clone(&copy), None, RunHeader::default());
    let files: Vec<&Path> = files.iter().map(|file| file.as_path()).collect();
    let mut control = ImportControl { progress: &mut |_| {}, stop: &|| false };
    columns::read(&files, &mut own, &mut control).unwrap();
    own.seal(&mut |_, _| {}, &|| false).unwrap();
    copy
}

#[test]
fn run_is_the_same_after_export_and_import() {
    let folder = tempfile::tempdir().unwrap();
    let id = Guid::parse(RUN_A).unwrap();
    let copy = through_parquet(REAL.as_ref(), id, folder.path());
    let expected = lines(REAL.as_ref(), id);
    assert!(expected.len() > 5000);
    assert_eq!(lines(copy.as_ref(), id), expected);
    let names: Vec<String> = std::fs::read_dir(folder.path().join(format!("runId={RUN_A}")))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.contains(&"eventType=TradeExecution".to_owned()), "{names:?}");
}

#[test]
fn odd_events_are_the_same_after_export_and_import() {
    // Out of order, unreadable parent, problems of the producer, names that collide, odd values.
    let odd = [
        line(
            OWN_RUN,
            1,
            "2025-01-02T00:00:00.000Z",
            "RiskEvent",
            r#"{"Value":1,"value":"x","timestamp":"t","A":{"B":1.5}}"#,
            None,
        ),
        line(
            OWN_RUN,
            2,
            "2025-01-01T00:00:00.000Z",
            "RiskEvent",
            r#"{"Value":"abc","eventId":7,"Flag":true,"N":123456789012345678901234567890}"#,
            Some(1),
        ),
        line(OWN_RUN, 3, "2025-01-01T00:00:00.000Z", "StateChange", "{}", None)
            .replace(r#""parentEventId":null"#, r#""parentEventId":"not a GUID""#),
        line(OWN_RUN, 4, "2025-01-01T00:00:00.123456789Z", "MarketDataEvent", "[1,2]", None)
            .replace(
                r#""validationErrors":null"#,
                r#""validationErrors":[{"Field":"F","Error":"E"}]"#,
            ),
    ];
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    sealed(Arc::clone(&store), RunHeader::default(), odd.join("\n").as_bytes());
    let id = Guid::parse(OWN_RUN).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let copy = through_parquet(store.as_ref(), id, folder.path());
    assert_eq!(lines(store.as_ref(), id), odd, "the export itself");
    assert_eq!(lines(copy.as_ref(), id), odd);
    let again = columns::write(&open(store.as_ref(), id), folder.path(), &|| false);
    assert!(again.unwrap_err().to_string().contains("exists"), "no file is overwritten");
}

#[test]
fn damaged_and_foreign_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let id = Guid::parse(RUN_A).unwrap();
    let files = columns::write(&open(REAL.as_ref(), id), folder.path(), &|| false).unwrap();
    let whole = std::fs::read(&files[0]).unwrap();
    let damaged = folder.path().join("damaged.parquet");
    for kept in [0, 4, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&damaged, &whole[..kept]).unwrap();
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        let mut own = import(store, None, RunHeader::default());
        let mut control = ImportControl { progress: &mut |_| {}, stop: &|| false };
        let outcome = columns::read(&[damaged.as_path()], &mut own, &mut control);
        assert!(outcome.is_err(), "{kept} bytes");
    }
    assert!(data("ema_cross.jsonl.zst").len() > whole.len(), "columns are smaller than lines");
}

#[test]
fn description_of_a_run_is_the_same_after_export_and_import() {
    let folder = tempfile::tempdir().unwrap();
    let header: RunHeader = serde_json::from_str(
        r#"{"strategyName": "ค่าเฉลี่ย", "parameters": {"fast": 5, "stop": {"atr": 1.5}}, "tags": {"sweep": "May"}, "owner": "desk 3"}"#,
    )
    .unwrap();
    let id = Guid::parse(OWN_RUN).unwrap();
    let properties =
        r#"{"OrderId":"x","SecuritySymbol":"A","Direction":"Buy","Quantity":1,"Price":1}"#;
    let one = line(OWN_RUN, 1, "2024-03-01T10:00:00Z", "TradeExecution", properties, None);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    sealed(Arc::clone(&store), header.clone(), one.as_bytes());
    let copy = through_parquet(store.as_ref(), id, folder.path());
    assert_eq!(open(copy.as_ref(), id).head().header, header);
}
