//! Runs: random sequences beside SQLite, concurrent writers, a seal that slept.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use panoply_backtest::error::LogError;
use panoply_backtest::event::Guid;
use panoply_backtest::ingest::OpenRun;
use panoply_backtest::run::{RunHeader, RunRecord, Status};
use panoply_backtest::store::Store;
use panoply_backtest::store::sqlite::SqliteStore;
use panoply_backtest::stream::EventStream;
use panoply_backtest::timestamp::Timestamp;
use panoply_contract::kernel::{Kernel, Settings};
use panoply_contract::tenant::TenantId;
use panoply_contract::testing::{FixedClock, kernel_in_memory, noon};
use panoply_postgres::{Postgres, PostgresRuns};
use serde_json::json;

use crate::database::{Database, person};
use crate::noema::reply;
use crate::random::Random;

pub(crate) fn runs(postgres: &Arc<Postgres>, tenant: &TenantId, folder: &Path) -> Arc<dyn Store> {
    let folder = folder.join("runs");
    Arc::new(PostgresRuns::new(Arc::clone(postgres), tenant.clone(), folder))
}

fn kernel(store: Arc<dyn Store>, clock: &Arc<FixedClock>) -> Arc<Kernel> {
    let (pack, clock) = (panoply_backtest::tools::pack(store), Arc::clone(clock));
    kernel_in_memory(vec![pack], clock, Settings::default()).unwrap()
}

fn id(number: usize) -> Guid {
    Guid::new(0x1111_1111_1111_4111_8111_0000_0000_0000 + number as u128)
}

/// A line of the native format; the number is also its second.
fn line(run: Guid, number: u64) -> String {
    let (minute, second) = (number / 60 % 60, number % 60);
    let kind = ["StateChange", "RiskEvent"][usize::try_from(number % 2).unwrap()];
    format!(
        r#"{{"eventId":"00000000-0000-4000-8000-{number:012x}","runId":"{run}","timestamp":"2025-01-01T00:{minute:02}:{second:02}.000Z","eventType":"{kind}","severity":"Info","category":"Execution","properties":{{"symbol":"ขมิ้น","price":{number}.5}},"parentEventId":null,"validationErrors":null}}"#
    )
}

fn open(store: &Arc<dyn Store>, run: Guid) -> Result<OpenRun, LogError> {
    let now = Timestamp::from_nanos(i64::try_from(run.bits() & 0xff).unwrap());
    OpenRun::open(Arc::clone(store), run, RunHeader::default(), now)
}

/// Sends lines after those that are stored; returns what was acknowledged.
fn send(store: &Arc<dyn Store>, run: Guid, count: u64) -> Result<(u64, u64), LogError> {
    let open = open(store, run)?;
    let first = open.sequence() + 1;
    let mut stream = EventStream::new(open, first);
    for number in first..first + count {
        stream.push(format!("{}\n", line(run, number)).as_bytes(), Duration::ZERO)?;
    }
    let done = stream.finish(false, Duration::ZERO)?;
    Ok((done.events, done.sequence))
}

fn seal(store: &Arc<dyn Store>, run: Guid) -> Result<u64, LogError> {
    let report = open(store, run)?.seal(&mut |_, _| {}, &|| false)?;
    Ok(report.events)
}

/// Runs one operation and shows its outcome.
fn act(store: &Arc<dyn Store>, operation: usize, run: Guid, count: u64) -> String {
    match operation {
        0..=3 => format!("{:?}", send(store, run, count).map_err(|error| error.to_string())),
        4 | 5 => format!("{:?}", seal(store, run).map_err(|error| error.to_string())),
        6 => format!("{:?}", store.delete(run).map_err(|error| error.to_string())),
        7 => {
            let stored = OpenRun::persisted(store.as_ref(), run);
            format!("{:?}", stored.map_err(|error| error.to_string()))
        }
        8 => format!("{:?}", store.run(run).map_err(|error| error.to_string())),
        _ => format!("{:?}", store.runs().map_err(|error| error.to_string())),
    }
}

/// What the pack answers about a sealed run; the events of an open one may be cached.
async fn answers(kernel: &Kernel, run: Guid) -> Vec<Result<serde_json::Value, String>> {
    let run = run.to_string();
    vec![
        reply(kernel, "describe_run", json!({"runId": run})).await,
        reply(kernel, "get_events_by_type", json!({"runId": run, "eventType": "RiskEvent"})).await,
    ]
}

async fn run_all(seeds: std::ops::Range<u64>) {
    let database = Database::start();
    let (sqlite, shared) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let expected: Arc<dyn Store> =
        Arc::new(SqliteStore::open(&sqlite.path().join("backtest.db")).unwrap());
    let other = database.replica();
    let replicas =
        [&database.postgres, &other].map(|replica| runs(replica, &person(1), shared.path()));
    let clock = FixedClock::at(noon());
    let on_sqlite = kernel(Arc::clone(&expected), &clock);
    let on_postgres = replicas.clone().map(|store| kernel(store, &clock));
    let (mut good, mut all) = (0, 0);
    for seed in seeds {
        let mut random = Random(seed);
        for step in 0..10 {
            let (operation, run) = (random.below(10), id(random.below(6)));
            let count = u64::try_from(random.below(30)).unwrap();
            let found = act(&replicas[random.below(2)], operation, run, count);
            let wanted = act(&expected, operation, run, count);
            assert_eq!(found, wanted, "seed {seed}, step {step}: {operation} on {run}");
            good += usize::from(wanted.starts_with("Ok"));
            all += 1;
        }
        // Two replicas would limit the rate of calls later than one.
        clock.advance(Duration::from_secs(60));
        let run = id(random.below(6));
        let is_sealed = |run: RunRecord| run.status == Status::Completed;
        if expected.run(run).unwrap().is_some_and(is_sealed) {
            let found = answers(&on_postgres[random.below(2)], run).await;
            assert_eq!(found, answers(&on_sqlite, run).await, "seed {seed}, {run}");
            assert!(found.iter().all(Result::is_ok), "{found:?}");
        }
    }
    eprintln!("{all} operations, {good} succeeded");
    assert!(good * 2 > all, "most operations do something: {good} of {all}");
}

#[tokio::test(flavor = "multi_thread")]
async fn thirty_random_sequences_of_runs_are_those_of_sqlite() {
    run_all(1..31).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; `./test --long` runs it"]
async fn two_thousand_random_sequences_of_runs_are_those_of_sqlite() {
    run_all(10_000..12_000).await;
}

fn is_concurrent(outcome: Result<impl Sized, LogError>) -> bool {
    matches!(outcome, Err(LogError::ConcurrentWriter))
}

#[test]
fn seal_keeps_other_writers_out_and_finds_their_events() {
    let database = Database::start();
    let folder = tempfile::tempdir().unwrap();
    let one = runs(&database.postgres, &person(1), folder.path());
    let two = runs(&database.replica(), &person(1), folder.path());
    let run = id(1);
    let outdated = open(&one, run).unwrap();
    send(&two, run, 1500).unwrap();
    assert!(is_concurrent(outdated.seal(&mut |_, _| {}, &|| false)), "its head is outdated");
    let mut asked = 0;
    let sealed = open(&one, run).unwrap().seal(
        &mut |_, _| {
            if asked == 0 {
                assert!(is_concurrent(send(&two, run, 1)), "an event would be lost");
                assert!(is_concurrent(seal(&two, run)), "two seals at once");
            }
            asked += 1;
        },
        &|| false,
    );
    assert_eq!(sealed.unwrap().events, 1500);
    assert!(asked > 0);
    assert!(send(&two, run, 1).is_err(), "a sealed run takes no more");
    let left = database.admin("SELECT count(*) FROM backtest.blob");
    assert_eq!(left, "0", "a sealed run is a file");
}

#[test]
fn batch_after_the_end_of_a_lease_stops_the_seal() {
    let database = Database::start();
    let folder = tempfile::tempdir().unwrap();
    let one = runs(&database.postgres, &person(1), folder.path());
    let two = runs(&database.replica(), &person(1), folder.path());
    let run = id(1);
    send(&one, run, 10).unwrap();
    let mut slept = false;
    let sealed = open(&one, run).unwrap().seal(
        &mut |_, _| {
            if !std::mem::replace(&mut slept, true) {
                // The server slept for an hour.
                database.admin("UPDATE backtest.run SET sealing_until = now() - interval '1 hour'");
                assert_eq!(send(&two, run, 5).unwrap(), (15, 15));
            }
        },
        &|| false,
    );
    assert!(slept && is_concurrent(sealed), "it does not have the batch");
    assert_eq!(seal(&two, run).unwrap(), 15, "nothing was lost");
    let files = std::fs::read_dir(folder.path().join("runs")).unwrap().count();
    assert_eq!(files, 1, "what the first seal made is deleted");
}

#[test]
fn batch_is_three_round_trips() {
    let database = Database::start();
    let folder = tempfile::tempdir().unwrap();
    let store = runs(&database.postgres, &person(1), folder.path());
    let blobs = store.open_run(id(1)).unwrap();
    open(&store, id(1)).unwrap();
    let key = |number| {
        panoply_backtest::store::BlobKey::new(panoply_backtest::store::BlobKind::Batch, 0, number)
    };
    for number in 0..4 {
        blobs.put(vec![(key(number), vec![1, 2, 3])]).unwrap();
    }
    let before = database.postgres.round_trips();
    blobs.put(vec![(key(4), vec![4])]).unwrap();
    let put = database.postgres.round_trips() - before;
    assert_eq!(blobs.get(key(4)).unwrap(), Some(vec![4]));
    assert!(is_concurrent(blobs.put(vec![(key(4), vec![5])])), "a batch is never replaced");
    assert_eq!(blobs.get(key(4)).unwrap(), Some(vec![4]));
    assert_eq!(put, 3);
}
