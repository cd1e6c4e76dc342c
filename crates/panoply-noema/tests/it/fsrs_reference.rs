//! The scheduler against the authors' Python reference, and against their Rust crate.

use fsrs::{FSRS, MemoryState};
use panoply_noema::fsrs::replay::{Histories, replay};
use panoply_noema::fsrs::{Memory, Parameters, Rating};
use serde_json::Value;

const SEQUENCES: &str = include_str!("../golden/fsrs_sequences.json");

fn close(ours: f64, theirs: &Value) -> bool {
    let theirs = theirs.as_f64().unwrap();
    (ours - theirs).abs() <= 1e-9 * theirs.abs()
}

#[test]
fn ten_histories_come_out_exactly_as_in_the_python_reference() {
    let golden: Value = serde_json::from_str(SEQUENCES).unwrap();
    let histories: Histories = serde_json::from_str(SEQUENCES).unwrap();
    let replayed = replay(&histories).unwrap();
    let mut compared = 0;
    for (ours, theirs) in replayed.sequences.iter().zip(golden["sequences"].as_array().unwrap()) {
        assert_eq!(ours.name, theirs["name"]);
        for (place, (our, their)) in
            ours.reviews.iter().zip(theirs["reviews"].as_array().unwrap()).enumerate()
        {
            let their = &their["expect"];
            let at = format!("{} review {}: {our:?} and {their}", ours.name, place + 1);
            assert_eq!(our.state.as_str(), their["state"], "{at}");
            assert_eq!(our.step.map(u64::from), their["step"].as_u64(), "{at}");
            assert!(close(our.stability, &their["stability"]), "{at}");
            assert!(close(our.difficulty, &their["difficulty"]), "{at}");
            assert_eq!(our.due, their["due"], "{at}");
            assert_eq!(Some(our.interval_seconds), their["interval_seconds"].as_f64(), "{at}");
            compared += 1;
        }
    }
    assert_eq!(compared, 111);
}

#[test]
fn the_forgetting_curve_is_that_of_the_python_reference() {
    let golden: Value = serde_json::from_str(SEQUENCES).unwrap();
    for sequence in golden["sequences"].as_array().unwrap() {
        let parameters: Parameters =
            serde_json::from_value(sequence["scheduler"]["parameters"].clone()).unwrap();
        let last = sequence["reviews"].as_array().unwrap().last().unwrap();
        let moment = |value: &Value| value.as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
        for query in sequence["retrievability_queries"].as_array().unwrap() {
            let elapsed = moment(&query["at"]).duration_since(moment(&last["at"])).as_hours() / 24;
            let days = f64::from(i32::try_from(elapsed).unwrap());
            let ours =
                parameters.retrievability(days, last["expect"]["stability"].as_f64().unwrap());
            assert!(close(ours, &query["retrievability"]), "{} {query}: {ours}", sequence["name"]);
        }
    }
}

#[test]
fn the_authors_rust_crate_agrees_to_its_own_precision() {
    let parameters = Parameters::default();
    let theirs = FSRS::new(&[]).unwrap();
    let mut ours = Memory::first(&parameters, Rating::Good);
    let mut state: Option<MemoryState> = None;
    let history = [(0, Rating::Good), (2, Rating::Good), (9, Rating::Hard), (0, Rating::Again)];
    let history =
        history.into_iter().chain([(1, Rating::Good), (40, Rating::Easy), (3, Rating::Again)]);
    for (place, (days, rating)) in history.enumerate() {
        if place > 0 {
            ours = ours.after(&parameters, rating, days);
        }
        let next = theirs.next_states(state, 0.9, days).unwrap();
        let next = match rating {
            Rating::Again => next.again,
            Rating::Hard => next.hard,
            Rating::Good => next.good,
            Rating::Easy => next.easy,
        };
        state = Some(next.memory);
        let (s, d) = (f64::from(next.memory.stability), f64::from(next.memory.difficulty));
        assert!((ours.stability - s).abs() <= 1e-4 * s, "{place}: {ours:?} and {s}");
        assert!((ours.difficulty - d).abs() <= 1e-4 * d, "{place}: {ours:?} and {d}");
    }
}
