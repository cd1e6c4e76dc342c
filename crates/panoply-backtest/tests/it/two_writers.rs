//! Two programs on one run: none loses what the other was told is safe.

use std::path::Path;
use std::sync::Arc;

use panoply_backtest::error::LogError;
use panoply_backtest::event::Guid;
use panoply_backtest::import::{Import, native};
use panoply_backtest::ingest::OpenRun;
use panoply_backtest::run::RunHeader;
use panoply_backtest::store::Store;
use panoply_backtest::store::sqlite::SqliteStore;
use panoply_backtest::timestamp::Timestamp;

use crate::helpers::{OWN_RUN, import, line};

/// A store of its own over the same files, as another process has it.
fn process(folder: &Path) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(&folder.join("backtest.db")).unwrap())
}

fn writer(folder: &Path) -> Import {
    import(process(folder), Some(Guid::parse(OWN_RUN).unwrap()), RunHeader::default())
}

/// Takes events of these numbers; a whole batch is acknowledged by itself.
fn take(writer: &mut Import, numbers: std::ops::Range<u32>) -> Result<(), LogError> {
    let lines: String = numbers
        .map(|n| line(OWN_RUN, n, "2025-01-01T00:00:00.000Z", "StateChange", "{}", None) + "\n")
        .collect();
    native::read(lines.as_bytes(), writer, &mut |_| {}, &|| false).map(drop)
}

fn is_told(outcome: Result<impl Sized, LogError>) -> bool {
    matches!(outcome, Err(LogError::OtherWriter))
}

#[test]
fn who_seals_a_run_that_another_has_added_to_is_told_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = writer(folder.path());
    // Opened before the batch: it does not know of it, and has nothing of its own to put.
    let (id, now) = (Guid::parse(OWN_RUN).unwrap(), Timestamp::from_nanos(0));
    let other = OpenRun::open(process(folder.path()), id, RunHeader::default(), now).unwrap();
    take(&mut one, 0..1000).unwrap();
    assert!(is_told(other.seal(&mut |_, _| {}, &|| false)));
    take(&mut one, 1000..2000).unwrap();
    let report = one.seal(&mut |_, _| {}, &|| false).unwrap().remove(0).1;
    assert_eq!(report.events, 2000);
}

#[test]
fn while_a_run_is_sealed_nobody_else_adds_to_it_or_seals_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = writer(folder.path());
    take(&mut one, 0..3000).unwrap();
    let mut late = Some(writer(folder.path()));
    let mut second = Some(writer(folder.path()));
    take(second.as_mut().unwrap(), 0..0).unwrap();
    let mut asked = 0;
    let sealed = one.seal(
        &mut |_, _| {
            if let Some(mut late) = late.take() {
                asked += 1;
                assert!(
                    is_told(take(&mut late, 3000..4000)),
                    "an event was taken and would be lost"
                );
                assert!(is_told(writer_seals(&mut second)), "two seals at once");
            }
        },
        &|| false,
    );
    assert_eq!(sealed.unwrap().remove(0).1.events, 3000);
    assert_eq!(asked, 1);
    let mut after = writer(folder.path());
    assert!(take(&mut after, 4000..5000).is_err(), "a sealed run takes no more");
}

fn writer_seals(writer: &mut Option<Import>) -> Result<(), LogError> {
    let mut writer = writer.take().unwrap();
    // It has to know the run to seal it.
    take(&mut writer, 2999..3000)?;
    writer.seal(&mut |_, _| {}, &|| false).map(drop)
}
