//! Replays review histories with given scheduler settings.
//!
//! Input: `sequences`, each with a name, scheduler settings and reviews with `at` and `rating`.
//! Other fields are ignored, so a file with expected results can be replayed.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::calendar::SECOND;
use super::{Calendar, Parameters, Phase, Rating, Schedule, Scheduler, Seed, Zone};
use crate::numbers::to_f64;

/// Histories to replay.
#[derive(Clone, Debug, Deserialize)]
pub struct Histories {
    /// One history per card.
    pub sequences: Vec<History>,
}

/// The history of one card.
#[derive(Clone, Debug, Deserialize)]
pub struct History {
    /// Label of the history.
    #[serde(default)]
    pub name: String,
    /// Card id, which seeds the fuzz.
    #[serde(default)]
    pub card_id: i64,
    /// Scheduler settings.
    #[serde(default)]
    pub scheduler: Settings,
    /// Reviews, oldest first.
    pub reviews: Vec<Review>,
}

/// Scheduler settings; defaults are those of FSRS-6.
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The weights.
    pub parameters: Parameters,
    /// Desired retention: the probability of recall at which a card is due.
    pub desired_retention: f64,
    /// Steps in seconds.
    pub learning_steps_seconds: Vec<f64>,
    /// Steps in seconds.
    pub relearning_steps_seconds: Vec<f64>,
    /// Days.
    pub maximum_interval: u32,
    /// Whether intervals are fuzzed.
    pub enable_fuzzing: bool,
    /// Hour at which a day begins; without it a day is 24 hours.
    pub rollover_hour: Option<u8>,
    /// UTC offset in minutes, for the rollover.
    pub utc_offset_minutes: i16,
}

impl Default for Settings {
    fn default() -> Self {
        let scheduler = Scheduler::default();
        Self {
            parameters: scheduler.parameters,
            desired_retention: scheduler.desired_retention,
            learning_steps_seconds: scheduler.learning_steps,
            relearning_steps_seconds: scheduler.relearning_steps,
            maximum_interval: scheduler.maximum_interval,
            enable_fuzzing: false,
            rollover_hour: None,
            utc_offset_minutes: 0,
        }
    }
}

/// A review.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Review {
    /// Timestamp.
    pub at: Timestamp,
    /// Rating from 1 to 4.
    pub rating: i64,
}

/// Replayed histories.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replayed {
    /// In input order.
    pub sequences: Vec<ReplayedSequence>,
}

/// A replayed history.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayedSequence {
    /// Name.
    pub name: String,
    /// The schedule after each review.
    pub reviews: Vec<ReplayedReview>,
}

/// The schedule after a review.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayedReview {
    /// Phase of the card.
    pub state: Phase,
    /// Index of the learning step; null outside steps.
    pub step: Option<u32>,
    /// Days.
    pub stability: f64,
    /// Difficulty from 1 to 10.
    pub difficulty: f64,
    /// Due time as ISO 8601 UTC, in whole seconds or with six digits.
    pub due: String,
    /// Seconds from the review to the due time.
    pub interval_seconds: f64,
}

/// An invalid history.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvalidHistory {
    /// The rating is not 1 to 4.
    #[error(
        "sequence `{sequence}`, review {review}: rating {rating}; expected 1 (again) to 4 (easy)"
    )]
    Rating {
        /// Name of the sequence.
        sequence: String,
        /// Number of the review, from 1.
        review: usize,
        /// Value in the input.
        rating: i64,
    },
    /// The retention is not between 0 and 1.
    #[error(
        "sequence `{sequence}`: desired retention {retention}; expected more than 0 and less than 1"
    )]
    Retention {
        /// Name of the sequence.
        sequence: String,
        /// Value in the input.
        retention: f64,
    },
    /// The step is negative or longer than a year.
    #[error("sequence `{sequence}`: a step of {seconds} s; expected 0 or more, at most a year")]
    Step {
        /// Name of the sequence.
        sequence: String,
        /// Value in the input.
        seconds: f64,
    },
    /// The hour is not 0 to 23.
    #[error("sequence `{sequence}`: a day that begins at {hour}; expected 0 to 23")]
    Hour {
        /// Name of the sequence.
        sequence: String,
        /// Value in the input.
        hour: u8,
    },
    /// The due date is after the year 9999.
    #[error("sequence `{sequence}`, review {review}: the due date is beyond the year 9999")]
    DueOutOfRange {
        /// Name of the sequence.
        sequence: String,
        /// Number of the review, from 1.
        review: usize,
    },
}

/// Replays every history.
pub fn replay(histories: &Histories) -> Result<Replayed, InvalidHistory> {
    let sequences = histories.sequences.iter().map(replay_one).collect::<Result<_, _>>()?;
    Ok(Replayed { sequences })
}

fn replay_one(history: &History) -> Result<ReplayedSequence, InvalidHistory> {
    let scheduler = scheduler_of(history)?;
    let mut schedule = Schedule::default();
    let mut reviews = Vec::with_capacity(history.reviews.len());
    for (index, (review, repetition)) in history.reviews.iter().zip(0..).enumerate() {
        let number = index + 1;
        let rating = Rating::from_ordinal(review.rating).ok_or_else(|| InvalidHistory::Rating {
            sequence: history.name.clone(),
            review: number,
            rating: review.rating,
        })?;
        let now = review.at.as_microsecond();
        let seed = Seed { card: history.card_id, repetition };
        schedule = scheduler.answer(&schedule, rating, now, seed);
        reviews.push(replayed_review(&schedule, now).ok_or_else(|| {
            InvalidHistory::DueOutOfRange { sequence: history.name.clone(), review: number }
        })?);
    }
    Ok(ReplayedSequence { name: history.name.clone(), reviews })
}

fn replayed_review(schedule: &Schedule, now: i64) -> Option<ReplayedReview> {
    let memory = schedule.memory?;
    let in_steps = matches!(schedule.phase, Phase::Learning | Phase::Relearning);
    Some(ReplayedReview {
        state: schedule.phase,
        step: in_steps.then_some(schedule.step),
        stability: memory.stability,
        difficulty: memory.difficulty,
        due: format_time(Timestamp::from_microsecond(schedule.due).ok()?),
        interval_seconds: to_f64(schedule.due - now) / to_f64(SECOND),
    })
}

fn format_time(time: Timestamp) -> String {
    if time.subsec_nanosecond() == 0 { time.to_string() } else { format!("{time:.6}") }
}

fn scheduler_of(history: &History) -> Result<Scheduler, InvalidHistory> {
    const YEAR_SECONDS: f64 = 366.0 * 86_400.0;
    let settings = &history.scheduler;
    let sequence = || history.name.clone();
    let retention = settings.desired_retention;
    if !(retention > 0.0 && retention < 1.0) {
        return Err(InvalidHistory::Retention { sequence: sequence(), retention });
    }
    let steps = settings.learning_steps_seconds.iter().chain(&settings.relearning_steps_seconds);
    for seconds in steps {
        if !(0.0..=YEAR_SECONDS).contains(seconds) {
            return Err(InvalidHistory::Step { sequence: sequence(), seconds: *seconds });
        }
    }
    let calendar = match settings.rollover_hour {
        None => Calendar::Exact,
        Some(hour) if hour > 23 => return Err(InvalidHistory::Hour { sequence: sequence(), hour }),
        Some(hour) => Calendar::Rollover { hour, zone: Zone::fixed(settings.utc_offset_minutes) },
    };
    Ok(Scheduler {
        parameters: settings.parameters.clone(),
        desired_retention: retention,
        learning_steps: settings.learning_steps_seconds.clone(),
        relearning_steps: settings.relearning_steps_seconds.clone(),
        maximum_interval: settings.maximum_interval,
        fuzz: settings.enable_fuzzing,
        calendar,
        distinct_ratings: calendar != Calendar::Exact,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replayed(text: &str) -> Result<Replayed, InvalidHistory> {
        replay(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn history_needs_only_reviews() {
        let done = replayed(
            r#"{"sequences": [{"reviews": [{"at": "2026-01-01T00:00:00Z", "rating": 3}]}]}"#,
        );
        let review = &done.unwrap().sequences[0].reviews[0];
        assert_eq!((review.state, review.step), (Phase::Learning, Some(1)));
        assert_eq!(review.due, "2026-01-01T00:10:00Z");
    }

    #[test]
    fn invalid_histories_name_the_offending_value() {
        let cases = [
            (
                r#"{"name": "a", "reviews": [{"at": "2026-01-01T00:00:00Z", "rating": 5}]}"#,
                "sequence `a`, review 1: rating 5",
            ),
            (
                r#"{"name": "a", "scheduler": {"desired_retention": 1.0}, "reviews": []}"#,
                "desired retention 1",
            ),
            (
                r#"{"name": "a", "scheduler": {"learning_steps_seconds": [-1]}, "reviews": []}"#,
                "a step of -1 s",
            ),
            (r#"{"name": "a", "scheduler": {"rollover_hour": 24}, "reviews": []}"#, "begins at 24"),
        ];
        for (sequence, expected) in cases {
            let error = replayed(&format!(r#"{{"sequences": [{sequence}]}}"#)).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
