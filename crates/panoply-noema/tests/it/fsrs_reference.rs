//! The scheduler against py-fsrs and the `fsrs` crate.

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
fn ten_histories_match_py_fsrs() {
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
fn forgetting_curve_matches_py_fsrs() {
    let golden: Value = serde_json::from_str(SEQUENCES).unwrap();
    for sequence in golden["sequences"].as_array().unwrap() {
        let parameters: Parameters =
            serde_json::from_value(sequence["scheduler"]["parameters"].clone()).unwrap();
        let last = sequence["reviews"].as_array().unwrap().last().unwrap();
        let timestamp = |value: &Value| value.as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
        for query in sequence["retrievability_queries"].as_array().unwrap() {
            let elapsed =
                timestamp(&query["at"]).duration_since(timestamp(&last["at"])).as_hours() / 24;
            let days = f64::from(i32::try_from(elapsed).unwrap());
            let ours =
                parameters.retrievability(days, last["expect"]["stability"].as_f64().unwrap());
            assert!(close(ours, &query["retrievability"]), "{} {query}: {ours}", sequence["name"]);
        }
    }
}

/// The crate computes in f32 with a relative precision of 6e-8. A review chains about ten
/// exponentials and powers, which amplify the error (the stability by the exponents 1/decay and w9
/// to w14) from review to review: 4e-6 for stabilities after ten reviews and 4e-7 for difficulties,
/// which are sums. The bounds allow for the `powf` of another platform.
#[test]
fn fsrs_crate_agrees_to_single_precision() {
    let golden: Value = serde_json::from_str(SEQUENCES).unwrap();
    let (mut worst_stability, mut worst_difficulty) = (0.0_f64, 0.0_f64);
    let mut compared = 0;
    for sequence in golden["sequences"].as_array().unwrap() {
        let parameters: Parameters =
            serde_json::from_value(sequence["scheduler"]["parameters"].clone()).unwrap();
        let singles: Vec<f32> = parameters
            .weights()
            .iter()
            .map(|weight| panoply_noema::numbers::to_f32(*weight))
            .collect();
        let theirs = FSRS::new(&singles).unwrap();
        let mut ours: Option<Memory> = None;
        let mut state: Option<MemoryState> = None;
        let mut last: Option<jiff::Timestamp> = None;
        for review in sequence["reviews"].as_array().unwrap() {
            let rating = Rating::from_ordinal(review["rating"].as_i64().unwrap()).unwrap();
            let at: jiff::Timestamp = review["at"].as_str().unwrap().parse().unwrap();
            let days = last.map_or(0, |last| at.duration_since(last).as_hours() / 24);
            let days = u32::try_from(days).unwrap();
            last = Some(at);
            let next = ours.map_or_else(
                || Memory::first(&parameters, rating),
                |memory| memory.after(&parameters, rating, days),
            );
            ours = Some(next);
            let states = theirs.next_states(state, 0.9, days).unwrap();
            let memory = match rating {
                Rating::Again => states.again,
                Rating::Hard => states.hard,
                Rating::Good => states.good,
                Rating::Easy => states.easy,
            }
            .memory;
            state = Some(memory);
            let apart = |ours: f64, theirs: f32| (ours / f64::from(theirs) - 1.0).abs();
            worst_stability = worst_stability.max(apart(next.stability, memory.stability));
            worst_difficulty = worst_difficulty.max(apart(next.difficulty, memory.difficulty));
            compared += 1;
        }
    }
    assert_eq!(compared, 111);
    assert!(worst_stability <= 1e-5, "stabilities are {worst_stability:e} apart");
    assert!(worst_difficulty <= 2e-6, "difficulties are {worst_difficulty:e} apart");
}
