//! Import, rejection and export of events; recovery of open runs.

use std::sync::Arc;

use panoply_backtest::event::Guid;
use panoply_backtest::run::{RunHeader, Status};
use panoply_backtest::store::Store;
use panoply_backtest::store::memory::MemoryStore;
use panoply_backtest::store::sqlite::SqliteStore;

use crate::helpers::{OWN_RUN, RUN_A, data, import, line, open, sealed};

fn exported(store: &dyn Store, id: Guid) -> Vec<u8> {
    let mut out = Vec::new();
    open(store, id)
        .export(|line| {
            out.extend_from_slice(line.as_bytes());
            out.push(b'\n');
            Ok(())
        })
        .unwrap();
    out
}

#[test]
fn export_reproduces_the_imported_lines() {
    let lines = data("ema_cross.jsonl.zst");
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> =
        Arc::new(SqliteStore::open(&folder.path().join("backtest.db")).unwrap());
    let reports = sealed(Arc::clone(&store), RunHeader::default(), &lines);
    assert_eq!(reports[0].1.events, 7923);
    assert_eq!(exported(store.as_ref(), Guid::parse(RUN_A).unwrap()), lines);
    let run = std::fs::metadata(folder.path().join(format!("backtest/{RUN_A}.run"))).unwrap().len();
    let share = run as f64 / lines.len() as f64;
    assert!(share < 0.25, "a sealed run takes {share:.3} of its JSONL");
}

#[test]
fn unordered_lines_are_sorted_for_queries_and_exported_in_arrival_order() {
    let t = |second: u32| format!("2025-01-01T00:00:{second:02}.000Z");
    let lines = [
        line(OWN_RUN, 1, &t(9), "RiskEvent", r#"{"RiskType":"a"}"#, Some(3)),
        line(OWN_RUN, 2, &t(3), "RiskEvent", r#"{"RiskType":"b"}"#, Some(1)),
        line(OWN_RUN, 3, &t(3), "RiskEvent", r#"{ "RiskType" : "c" }"#, None),
        format!(" {}", line(OWN_RUN, 4, &t(1), "RiskEvent", r#"{"RiskType":1.50}"#, None)),
    ];
    let text = lines.join("\n") + "\n";
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    sealed(Arc::clone(&store), RunHeader::default(), text.as_bytes());
    let id = Guid::parse(OWN_RUN).unwrap();
    assert_eq!(String::from_utf8(exported(store.as_ref(), id)).unwrap(), text);
    let run = open(store.as_ref(), id);
    let order: Vec<u128> = (0..4).map(|seq| run.id_at(seq).unwrap().bits() & 0xF).collect();
    assert_eq!(order, [4, 2, 3, 1], "by time, and by arrival where the time is the same");
    let parent = run.event(1).unwrap().parent_seq();
    assert_eq!(parent, Some(3), "a parent may come later than its child");
}

#[test]
fn unreadable_lines_are_reported_and_the_rest_imported() {
    let good = |n: u32| {
        line(OWN_RUN, n, "2025-01-01T00:00:00.000Z", "RiskEvent", r#"{"RiskType":"x"}"#, None)
    };
    let lines = [
        good(1),
        "not json".to_owned(),
        good(2).replace("00000000-0000-4000-8000-000000000002", "nonsense"),
        good(3),
        good(1),
        good(3).replace("\"x\"", "\"y\""),
        good(4).replace("RiskEvent", "PartyEvent"),
        good(5).replace(r#""RiskType":"x""#, r#""RiskType":NaN"#),
        good(6)[..80].to_owned(),
    ];
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let reports = sealed(Arc::clone(&store), RunHeader::default(), lines.join("\n").as_bytes());
    let report = &reports[0].1;
    assert_eq!((report.events, report.repeated, report.rejected), (2, 1, 6));
    let numbers: Vec<u64> = report.rejected_lines.iter().map(|line| line.line).collect();
    assert_eq!(numbers, [2, 3, 6, 7, 8, 9]);
    let reasons: Vec<&str> =
        report.rejected_lines.iter().map(|line| line.reason.as_str()).collect();
    assert!(reasons[2].contains("already with different content"), "{reasons:?}");
    assert!(reasons[5].contains("ends in the middle"), "{reasons:?}");
    assert_eq!(open(store.as_ref(), Guid::parse(OWN_RUN).unwrap()).report().unwrap(), *report);
}

#[test]
fn parent_cycles_are_broken_and_flagged() {
    let at = |n: u32| format!("2025-01-01T00:00:0{n}.000Z");
    let risk = r#"{"RiskType":"x"}"#;
    let lines = [
        line(OWN_RUN, 1, &at(1), "RiskEvent", risk, Some(2)),
        line(OWN_RUN, 2, &at(2), "RiskEvent", risk, Some(1)),
        line(OWN_RUN, 3, &at(3), "RiskEvent", risk, Some(3)),
        line(OWN_RUN, 4, &at(4), "RiskEvent", risk, Some(1)),
        line(OWN_RUN, 5, &at(5), "RiskEvent", risk, Some(99)),
    ];
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let reports = sealed(Arc::clone(&store), RunHeader::default(), lines.join("\n").as_bytes());
    assert_eq!((reports[0].1.errors, reports[0].1.warnings), (3, 1));
    let run = open(store.as_ref(), Guid::parse(OWN_RUN).unwrap());
    let problem = |seq| {
        let problems = run.event(seq).unwrap().problems();
        problems.first().map(|problem| problem.error.to_string())
    };
    assert_eq!(problem(0).as_deref(), Some("Circular reference"));
    assert_eq!(problem(2).as_deref(), Some("Circular reference"));
    assert_eq!(problem(3), None);
    assert_eq!(problem(4).as_deref(), Some("Parent event not found"));
    let parent = run.parent_id(&run.event(0).unwrap()).unwrap();
    assert_eq!(parent, Some(run.id_at(1).unwrap()), "what the line says is kept");
}

#[test]
fn open_run_resumes_after_a_crash_with_all_acknowledged_events() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("backtest.db");
    let lines = data("sma_cross.jsonl.zst");
    let text = String::from_utf8(lines.clone()).unwrap();
    let all: Vec<&str> = text.lines().collect();
    {
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&file).unwrap());
        let mut first = import(store, None, RunHeader::default());
        let part = all[..1500].join("\n");
        panoply_backtest::import::native::read(part.as_bytes(), &mut first, &mut |_| {}, &|| false)
            .unwrap();
        // The first batch of 1000 is stored; the rest is lost with the process.
        std::mem::forget(first);
    }
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&file).unwrap());
    let id = store.runs().unwrap()[0].id;
    assert_eq!(store.run(id).unwrap().unwrap().status, Status::Running);
    // The whole file again: known events are recognised as repeated.
    let reports = sealed(Arc::clone(&store), RunHeader::default(), &lines);
    assert_eq!((reports[0].1.events, reports[0].1.repeated), (2712, 1000));
    assert_eq!(exported(store.as_ref(), id), lines);
}

#[test]
fn seal_interrupted_around_its_rename_leaves_an_intact_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("backtest.db");
    let lines = data("sma_cross.jsonl.zst");
    let id = {
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&file).unwrap());
        let mut open = import(Arc::clone(&store), None, RunHeader::default());
        panoply_backtest::import::native::read(lines.as_slice(), &mut open, &mut |_| {}, &|| false)
            .unwrap();
        let id = open.acknowledge().unwrap()[0].0;
        // Cancelled half way.
        let seal = open.seal(&mut |_, _| {}, &|| true);
        assert!(seal.is_err());
        assert_eq!(store.run(id).unwrap().unwrap().status, Status::Running);
        id
    };
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&file).unwrap());
    let again = panoply_backtest::ingest::OpenRun::open(
        Arc::clone(&store),
        id,
        RunHeader::default(),
        panoply_backtest::timestamp::Timestamp::from_nanos(0),
    )
    .unwrap();
    assert_eq!(again.acknowledged(), 2712);
    assert_eq!(again.seal(&mut |_, _| {}, &|| false).unwrap().events, 2712);
    // As after a crash between the rename and the update of the catalog.
    let mut record = store.run(id).unwrap().unwrap();
    record.status = Status::Running;
    store.save(&record).unwrap();
    drop(store);
    let store = SqliteStore::open(&file).unwrap();
    assert_eq!(store.run(id).unwrap().unwrap().status, Status::Completed);
    assert_eq!(exported(&store, id), lines);
    store.delete(id).unwrap();
    assert_eq!(
        std::fs::read_dir(folder.path().join("backtest")).unwrap().count(),
        0,
        "one file less"
    );
    assert!(store.run(id).unwrap().is_none());
}

#[test]
fn sealed_run_rejects_new_events() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let text = line(OWN_RUN, 1, "2025-01-01T00:00:00.000Z", "RiskEvent", "{}", None);
    sealed(Arc::clone(&store), RunHeader::default(), text.as_bytes());
    let mut again = import(store, None, RunHeader::default());
    let refused =
        panoply_backtest::import::native::read(text.as_bytes(), &mut again, &mut |_| {}, &|| false);
    assert!(refused.unwrap_err().to_string().contains("is completed"));
}
