//! Cost of queries in blobs read: the same for a short run and a long one.
//!
//! A backend only provides get and put of blobs, so the number of gets is a measure of cost that
//! does not depend on the machine's load.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use panoply_backtest::error::LogError;
use panoply_backtest::event::{EventType, Guid};
use panoply_backtest::query::aggregate::AggregateQuery;
use panoply_backtest::query::cache::Cache;
use panoply_backtest::query::events_query::{EventQuery, GroupKey, Top};
use panoply_backtest::query::expression::Expression;
use panoply_backtest::query::reader::SealedRun;
use panoply_backtest::query::selection::{Entity, Filter};
use panoply_backtest::query::snapshot::View;
use panoply_backtest::run::RunHeader;
use panoply_backtest::store::memory::MemoryStore;
use panoply_backtest::store::sqlite::SqliteStore;
use panoply_backtest::store::{BlobKey, BlobKind, Blobs, Store};
use panoply_backtest::timestamp::Timestamp;

use crate::helpers::{OWN_RUN, line, sealed};

/// Bars of the short and the long run; a bar yields 2.5 events on average.
const SHORT: u32 = 2_000;
const LONG: u32 = 16_000;

/// Blobs that record the keys of all gets.
struct Counted {
    blobs: Arc<dyn Blobs>,
    read: Arc<Mutex<BTreeMap<BlobKind, usize>>>,
}

impl Blobs for Counted {
    fn get(&self, key: BlobKey) -> Result<Option<Vec<u8>>, LogError> {
        *self.read.lock().unwrap().entry(key.kind).or_default() += 1;
        self.blobs.get(key)
    }

    fn put(&self, _: Vec<(BlobKey, Vec<u8>)>) -> Result<(), LogError> {
        unreachable!("a question changes nothing")
    }

    fn keys(&self) -> Result<Vec<BlobKey>, LogError> {
        self.blobs.keys()
    }
}

/// A sealed run. Each bar has a price and an indicator of one of four securities, and every fourth
/// places an order that the next one fills.
struct Run {
    blobs: Arc<dyn Blobs>,
    id: Guid,
    bars: u32,
}

impl Run {
    fn of(bars: u32) -> Self {
        let mut lines = String::new();
        let mut number = 0;
        for bar in 0..bars {
            let time = Timestamp::from_nanos(i64::from(bar) * 60_000_000_000).with_millis();
            let symbol = bar % 4;
            let mut event = |kind: &str, properties: &str, parent: Option<u32>| {
                number += 1;
                let own = line(OWN_RUN, number, &time, kind, properties, parent);
                let _ = writeln!(lines, "{own}");
                number
            };
            let price =
                event("MarketDataEvent", &format!(r#"{{"SecuritySymbol":"S{symbol}"}}"#), None);
            let signal = event(
                "IndicatorCalculation",
                &format!(
                    r#"{{"IndicatorName":"SMA","SecuritySymbol":"S{symbol}","Value":{bar}.5}}"#
                ),
                Some(price),
            );
            let order = format!("00000000-0000-4000-9000-{:012x}", bar / 4);
            match bar % 8 {
                0 => {
                    event(
                        "StateChange",
                        &format!(
                            r#"{{"StateType":"Order","OrderStatus":"Placed","OrderId":"{order}","SecuritySymbol":"S{symbol}","Quantity":1,"Price":2}}"#
                        ),
                        Some(signal),
                    );
                }
                1 => {
                    event(
                        "TradeExecution",
                        &format!(
                            r#"{{"OrderId":"{order}","SecuritySymbol":"S{symbol}","Quantity":1,"Price":{bar}}}"#
                        ),
                        Some(signal),
                    );
                    event(
                        "PositionUpdate",
                        &format!(
                            r#"{{"SecuritySymbol":"S{symbol}","Quantity":{bar},"RealizedPnL":1,"UnrealizedPnL":2}}"#
                        ),
                        Some(signal),
                    );
                }
                2 => {
                    event(
                        "StateChange",
                        r#"{"StateType":"PnL","StateAfter":{"RealizedPnL":1,"UnrealizedPnL":2}}"#,
                        None,
                    );
                }
                _ => {}
            }
        }
        let store = Arc::new(MemoryStore::default());
        let id =
            sealed(Arc::clone(&store) as Arc<dyn Store>, RunHeader::default(), lines.as_bytes())
                .remove(0)
                .0;
        Self { blobs: store.sealed(id).unwrap(), id, bars }
    }

    fn time(&self, eighths: u32) -> Timestamp {
        Timestamp::from_nanos(i64::from(self.bars / 8 * eighths) * 60_000_000_000)
    }

    /// The blobs that a query reads from a run with an empty cache.
    fn reads(&self, call_tool: impl FnOnce(&SealedRun)) -> BTreeMap<BlobKind, usize> {
        let read = Arc::new(Mutex::new(BTreeMap::new()));
        let counted = Counted { blobs: Arc::clone(&self.blobs), read: Arc::clone(&read) };
        let run = SealedRun::open(self.id, Arc::new(counted), Cache::new(64 << 20)).unwrap();
        read.lock().unwrap().clear();
        call_tool(&run);
        drop(run);
        Arc::try_unwrap(read).unwrap().into_inner().unwrap()
    }
}

fn total(read: &BTreeMap<BlobKind, usize>) -> usize {
    read.values().sum()
}

type Ask<'a> = (&'static str, usize, Box<dyn Fn(&SealedRun) + 'a>);

/// Queries with the maximum number of blobs each may read.
fn questions(run: &Run) -> Vec<Ask<'_>> {
    let of = |event_type| Filter { types: vec![event_type], ..Filter::default() };
    let page = move |run: &SealedRun, filter: &Filter, eighths: u64| {
        let selection = run.select(filter, run.between(None, None).unwrap()).unwrap();
        let from = selection.total() * eighths / 8;
        let places = selection.page(from.min(selection.total() - 50), 50);
        assert_eq!(places.len(), 50);
        for seq in places {
            run.event(seq).unwrap();
        }
    };
    let sums = |from: u32, to: u32| {
        let (from, to) = (run.time(from), run.time(to));
        move |run: &SealedRun| {
            let range = run.between(Some(from), Some(to)).unwrap();
            let event_type = EventType::IndicatorCalculation;
            let query = AggregateQuery { event_type, path: "Value", range };
            assert!(run.aggregate(&query, &|| false).unwrap().1.count > 200);
        }
    };
    let state = |eighths: u32| {
        let timestamp = run.time(eighths);
        move |run: &SealedRun| {
            let view = View { symbol: None, indicators: true, orders: Some(100) };
            let snapshot = run.snapshot(timestamp, &view, &|| false).unwrap();
            assert_eq!((snapshot.positions.len(), snapshot.indicators.len()), (1, 4));
        }
    };
    let count = move |run: &SealedRun| {
        let filter = of(EventType::IndicatorCalculation);
        assert!(run.select(&filter, 0..run.head().events).unwrap().total() > 0);
    };
    let symbol = Filter { entity: Some((Entity::Symbol, "S3".to_owned())), ..Filter::default() };
    let id = Guid::new(0x4000_8000_0000_0000_0000 | 2_001);
    vec![
        ("a total is a rank", 1, Box::new(count)),
        // Type bitmap, one or two directory chunks, one or two blocks.
        ("first page", 5, Box::new(move |run| page(run, &of(EventType::IndicatorCalculation), 0))),
        (
            "page in the middle",
            5,
            Box::new(move |run| page(run, &of(EventType::IndicatorCalculation), 4)),
        ),
        ("last page", 5, Box::new(move |run| page(run, &of(EventType::IndicatorCalculation), 8))),
        // Dictionary index, one of its chunks, the postings, and blocks of four types.
        ("last page of a security", 9, Box::new(move |run| page(run, &symbol, 8))),
        // Type bitmap, column head, two directory chunks for the bounds, two column blocks.
        ("aggregate of a half", 6, Box::new(sums(1, 5))),
        ("aggregate of all", 4, Box::new(sums(0, 8))),
        // Five keys with postings and a block each, and the orders.
        ("snapshot early", 24, Box::new(state(1))),
        ("snapshot late", 24, Box::new(state(7))),
        // Id index, one or two id chunks, directory chunk and block of the event.
        ("an event by its id", 5, Box::new(move |run| assert!(run.find(id).unwrap().is_some()))),
    ]
}

#[test]
fn blobs_read_per_query_do_not_grow_with_the_run() {
    let (short, long) = (Run::of(SHORT), Run::of(LONG));
    for ((name, most, of_short), (_, _, of_long)) in
        questions(&short).into_iter().zip(questions(&long))
    {
        let (of_short, of_long) = (short.reads(of_short), long.reads(of_long));
        assert!(total(&of_long) <= most, "{name}: at most {most}, not {of_long:?}");
        // A page may span one block or two, depending on the run.
        assert!(total(&of_long) <= total(&of_short) + 2, "{name}: {of_short:?}, then {of_long:?}");
    }
}

#[test]
fn aggregate_reads_only_the_two_edge_column_blocks() {
    let long = Run::of(LONG);
    let (from, to) = (long.time(1), long.time(7));
    let read = long.reads(|run| {
        let range = run.between(Some(from), Some(to)).unwrap();
        let event_type = EventType::IndicatorCalculation;
        let query = AggregateQuery { event_type, path: "Value", range };
        // 12,001 values: two complete blocks of 4096 between the two edge blocks.
        assert_eq!(run.aggregate(&query, &|| false).unwrap().1.count, 12_001);
    });
    assert_eq!(read.get(&BlobKind::ColumnBlock), Some(&2), "{read:?}");
}

/// A question about the indicators of a run.
fn indicators(run: &SealedRun, filter: &str, from: Option<Timestamp>) -> EventQuery {
    EventQuery {
        event_type: EventType::IndicatorCalculation,
        range: run.between(from, None).unwrap(),
        filter: Some(Expression::parse(filter).unwrap()),
        group_by: vec![GroupKey::Property("SecuritySymbol".to_owned())],
        value: Some("Value".to_owned()),
        percentiles: Vec::new(),
        percentile_limit: 0,
        joins: Vec::new(),
        top: Top::default(),
    }
}

#[test]
fn query_looks_only_at_events_that_the_indexes_leave() {
    let long = Run::of(LONG);
    // Each bar has an indicator whose value is the number of the bar and a half.
    let cases = [
        // (filter, from, matching, scanned, blocks of the column `Value`)
        ("SecuritySymbol = 'S3'", None, 4_000, 4_000, 4),
        ("SecuritySymbol in ('S3', 'S1', 'none')", None, 8_000, 8_000, 4),
        ("SecuritySymbol = 'none'", None, 0, 0, 0),
        ("SecuritySymbol = 'S3' and Value >= 15000.5", None, 250, 928, 1),
        ("Value < 100", None, 100, 4_096, 1),
        // A block that ends with the bound itself is looked at: its extremes are rounded.
        ("8191.5 < Value and Value <= 8192.5", None, 1, 8_192, 2),
        ("8191.6 < Value and Value <= 8192.5", None, 1, 4_096, 1),
        ("Value > 1000000", None, 0, 0, 0),
        ("IndicatorName = 'SMA' and severity = 'Error'", None, 0, 0, 0),
        // Half of the events are before the range.
        ("SecuritySymbol = 'S0'", Some(4), 2_000, 2_000, 3),
        // No index decides a choice or a negation: all events of the type are looked at.
        ("SecuritySymbol = 'S3' or Value < 0", None, 4_000, 16_000, 4),
        ("not SecuritySymbol = 'S3'", None, 12_000, 16_000, 4),
        ("SecuritySymbol != 'S3'", None, 12_000, 16_000, 4),
        ("Value != 1.5", None, 15_999, 16_000, 4),
    ];
    for (filter, from, matching, scanned, blocks) in cases {
        let read = long.reads(|run| {
            let query = indicators(run, filter, from.map(|eighths| long.time(eighths)));
            let found = run.query(&query, &|| false).unwrap();
            assert_eq!((found.matched, found.scanned), (matching, scanned), "{filter}");
            assert_eq!(found.examined, if from.is_some() { 8_000 } else { 16_000 }, "{filter}");
        });
        let values = read.get(&BlobKind::ColumnBlock).copied().unwrap_or_default();
        assert_eq!(values, blocks, "{filter}: {read:?}");
        // No event is read: every property has a column.
        assert_eq!(read.get(&BlobKind::Block), None, "{filter}: {read:?}");
    }
}

#[test]
fn query_without_an_index_stops_when_the_call_does() {
    let long = Run::of(LONG);
    long.reads(|run| {
        let query = indicators(run, "not Value < 0", None);
        let asked = AtomicUsize::new(0);
        let stop = || asked.fetch_add(1, Ordering::Relaxed) == 2;
        run.query(&query, &stop).unwrap_err();
        assert_eq!(asked.into_inner(), 3, "asked once per 4096 events");
    });
}

#[test]
fn deleting_a_sealed_run_deletes_its_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> =
        Arc::new(SqliteStore::open(&folder.path().join("backtest.db")).unwrap());
    let one = |run: &str| line(run, 1, "2025-01-01T00:00:00.000Z", "RiskEvent", "{}", None);
    let other = OWN_RUN.replace('1', "2");
    sealed(Arc::clone(&store), RunHeader::default(), one(OWN_RUN).as_bytes());
    sealed(Arc::clone(&store), RunHeader::default(), one(&other).as_bytes());
    let files = || {
        let mut names: Vec<String> = std::fs::read_dir(folder.path().join("backtest"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(files(), [format!("{OWN_RUN}.run"), format!("{other}.run")]);
    store.delete(Guid::parse(OWN_RUN).unwrap()).unwrap();
    assert_eq!(files(), [format!("{other}.run")]);
}
