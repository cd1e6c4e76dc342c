//! Event streams, with a simulated clock.

use std::sync::Arc;
use std::time::Duration;

use panoply_backtest::event::Guid;
use panoply_backtest::ingest::OpenRun;
use panoply_backtest::run::RunHeader;
use panoply_backtest::store::Store;
use panoply_backtest::store::memory::MemoryStore;
use panoply_backtest::stream::{Acknowledged, EventStream, MAX_LINE_BYTES};
use panoply_backtest::timestamp::Timestamp;

use crate::helpers::{OWN_RUN, line};

fn run(store: &Arc<dyn Store>) -> OpenRun {
    let id = Guid::parse(OWN_RUN).unwrap();
    OpenRun::open(Arc::clone(store), id, RunHeader::default(), Timestamp::from_nanos(0)).unwrap()
}

fn store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::default())
}

fn events(range: std::ops::Range<u32>) -> String {
    let one = |n| {
        line(OWN_RUN, n, "2025-01-01T00:00:00.000Z", "RiskEvent", r#"{"RiskType":"x"}"#, None)
            + "\n"
    };
    range.map(one).collect()
}

const fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn batch_is_acknowledged_after_1000_events() {
    let mut stream = EventStream::new(run(&store()), 1);
    assert_eq!(stream.push(events(0..999).as_bytes(), at(0)).unwrap(), None);
    let full = stream.push(events(999..1500).as_bytes(), at(0)).unwrap();
    assert_eq!(full, Some(Acknowledged { events: 1000, sequence: 1000 }));
    let end = stream.finish(false, at(0)).unwrap();
    assert_eq!(end, Acknowledged { events: 1500, sequence: 1500 });
}

#[test]
fn batch_is_acknowledged_after_30_seconds_without_further_input() {
    let store = store();
    let mut stream = EventStream::new(run(&store), 1);
    stream.push(events(0..3).as_bytes(), at(100)).unwrap();
    for seconds in [100, 115, 129] {
        assert_eq!(stream.tick(at(seconds)).unwrap(), None, "at {seconds} s");
    }
    let due = stream.tick(at(130)).unwrap();
    assert_eq!(due, Some(Acknowledged { events: 3, sequence: 3 }));
    assert_eq!(stream.tick(at(500)).unwrap(), None, "nothing is waiting");
    // Acknowledged events are visible when the run is opened again.
    drop(stream);
    assert_eq!(run(&store).acknowledged(), 3);
}

#[test]
fn batch_interval_starts_with_the_first_event() {
    let store = store();
    let mut own = run(&store);
    let mut push = |n: u32, seconds: u64| {
        let text = events(n..n + 1);
        let (_, event) = panoply_backtest::line::parse(text.trim_end()).unwrap();
        own.push(u64::from(n), &event, at(seconds)).unwrap();
        own.acknowledged()
    };
    assert_eq!(push(0, 7), 0);
    assert_eq!(push(1, 36), 0);
    assert_eq!(push(2, 37), 3, "thirty seconds after the first");
    assert_eq!(push(3, 60), 3, "a new batch has its own thirty seconds");
    assert_eq!(push(4, 90), 5);
}

#[test]
fn lines_may_be_split_across_chunks() {
    let text = events(0..40);
    for size in [1, 7, 64, 1000, text.len()] {
        let store = store();
        let mut stream = EventStream::new(run(&store), 1);
        for piece in text.as_bytes().chunks(size) {
            stream.push(piece, at(0)).unwrap();
        }
        assert_eq!(stream.finish(false, at(0)).unwrap().events, 40, "pieces of {size}");
    }
}

#[test]
fn rejected_lines_are_reported_with_line_numbers() {
    let store = store();
    let mut stream = EventStream::new(run(&store), 1);
    let other = events(7..8).replace(OWN_RUN, "22222222-2222-4222-8222-222222222222");
    stream.push(events(0..1).as_bytes(), at(0)).unwrap();
    stream.push(b"\nnot json\n\xff\n", at(0)).unwrap();
    stream.push(other.as_bytes(), at(0)).unwrap();
    stream.push(&vec![b' '; MAX_LINE_BYTES], at(0)).unwrap();
    stream.push(b" and more\n", at(0)).unwrap();
    // The last line has no line break but is complete.
    stream.push(events(1..2).trim_end().as_bytes(), at(0)).unwrap();
    let end = stream.finish(false, at(0)).unwrap();
    assert_eq!(end, Acknowledged { events: 2, sequence: 7 });
    let (count, reported) = stream.rejected();
    assert_eq!(count, 4);
    let lines: Vec<u64> = reported.iter().map(|rejection| rejection.line).collect();
    assert_eq!(lines, [3, 4, 5, 6]);
    assert!(reported[2].reason.contains("belongs to run"), "{reported:?}");
    assert!(reported[3].reason.contains("longer than 4 MiB"), "{reported:?}");
}

#[test]
fn cut_off_last_line_is_not_rejected() {
    let store = store();
    let mut stream = EventStream::new(run(&store), 1);
    let text = events(0..3);
    stream.push(&text.as_bytes()[..text.len() - 20], at(0)).unwrap();
    assert_eq!(stream.finish(true, at(0)).unwrap(), Acknowledged { events: 2, sequence: 2 });
    assert_eq!(stream.rejected().0, 0);
    // Sent again from the start, the run has each event once.
    let mut again = EventStream::new(run(&store), 1);
    again.push(text.as_bytes(), at(1)).unwrap();
    again.finish(false, at(1)).unwrap();
    let report = run(&store).seal(&mut |_, _| {}, &|| false).unwrap();
    assert_eq!((report.events, report.repeated, report.rejected), (3, 0, 0));
}
