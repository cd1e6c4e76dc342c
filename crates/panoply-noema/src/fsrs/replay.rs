//! Replays histories of reviews: what a schedule was, or would have been with other settings.
//!
//! A file has `sequences`, each with a name, the scheduler's settings, and reviews with `at` and
//! `rating`. What else is in it is left alone, so that a file of expectations can be replayed.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::calendar::SECOND;
use super::{Calendar, Parameters, Phase, Rating, Schedule, Scheduler, Seed};
use crate::numbers::to_f64;

/// Histories to replay.
#[derive(Clone, Debug, Deserialize)]
pub struct Histories {
    /// One card's each.
    pub sequences: Vec<History>,
}

/// One card's history.
#[derive(Clone, Debug, Deserialize)]
pub struct History {
    /// What to call it.
    #[serde(default)]
    pub name: String,
    /// The card, where it matters: it decides the spread of intervals.
    #[serde(default)]
    pub card_id: i64,
    /// The settings.
    #[serde(default)]
    pub scheduler: Settings,
    /// The answers, oldest first.
    pub reviews: Vec<Review>,
}

/// Settings of a scheduler; what is not given is as published by the authors of FSRS-6.
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The weights.
    pub parameters: Parameters,
    /// The chance of recall at which a card comes back.
    pub desired_retention: f64,
    /// Seconds.
    pub learning_steps_seconds: Vec<f64>,
    /// Seconds.
    pub relearning_steps_seconds: Vec<f64>,
    /// Days.
    pub maximum_interval: u32,
    /// Whether intervals are spread.
    pub enable_fuzzing: bool,
    /// The hour at which a day begins; without it a day is 24 hours.
    pub rollover_hour: Option<u8>,
    /// Minutes ahead of UTC, for the rollover.
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

/// One answer.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Review {
    /// When.
    pub at: Timestamp,
    /// From 1 to 4.
    pub rating: i64,
}

/// What came of the histories.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replayed {
    /// In the order they were given.
    pub sequences: Vec<ReplayedSequence>,
}

/// What came of one history.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayedSequence {
    /// Its name.
    pub name: String,
    /// The schedule after each answer.
    pub reviews: Vec<ReplayedReview>,
}

/// The schedule after an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayedReview {
    /// Where the card is in its life.
    pub state: Phase,
    /// Which step it is at; null outside of steps.
    pub step: Option<u32>,
    /// Days.
    pub stability: f64,
    /// From 1 to 10.
    pub difficulty: f64,
    /// When it comes back: ISO 8601, UTC, in whole seconds or in six digits.
    pub due: String,
    /// How long that is from the answer.
    pub interval_seconds: f64,
}

/// What is wrong with a history.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvalidHistory {
    /// There are four ratings.
    #[error(
        "sequence `{sequence}`, review {review}: rating {rating}; expected 1 (again) to 4 (easy)"
    )]
    Rating {
        /// Which sequence.
        sequence: String,
        /// Which review, from 1.
        review: usize,
        /// What was given.
        rating: i64,
    },
    /// A retention is a chance.
    #[error(
        "sequence `{sequence}`: desired retention {retention}; expected more than 0 and less than 1"
    )]
    Retention {
        /// Which sequence.
        sequence: String,
        /// What was given.
        retention: f64,
    },
    /// A step takes time.
    #[error("sequence `{sequence}`: a step of {seconds} s; expected 0 or more, at most a year")]
    Step {
        /// Which sequence.
        sequence: String,
        /// What was given.
        seconds: f64,
    },
    /// A day has 24 hours.
    #[error("sequence `{sequence}`: a day that begins at {hour}; expected 0 to 23")]
    Hour {
        /// Which sequence.
        sequence: String,
        /// What was given.
        hour: u8,
    },
    /// The schedule leaves the calendar.
    #[error("sequence `{sequence}`, review {review}: the due date is beyond the year 9999")]
    DueOutOfRange {
        /// Which sequence.
        sequence: String,
        /// Which review, from 1.
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
        let place = index + 1;
        let rating = Rating::from_ordinal(review.rating).ok_or_else(|| InvalidHistory::Rating {
            sequence: history.name.clone(),
            review: place,
            rating: review.rating,
        })?;
        let now = review.at.as_microsecond();
        let seed = Seed { card: history.card_id, repetition };
        schedule = scheduler.answer(&schedule, rating, now, seed);
        reviews.push(shown(&schedule, now).ok_or_else(|| InvalidHistory::DueOutOfRange {
            sequence: history.name.clone(),
            review: place,
        })?);
    }
    Ok(ReplayedSequence { name: history.name.clone(), reviews })
}

fn shown(schedule: &Schedule, now: i64) -> Option<ReplayedReview> {
    let memory = schedule.memory?;
    let in_steps = matches!(schedule.phase, Phase::Learning | Phase::Relearning);
    Some(ReplayedReview {
        state: schedule.phase,
        step: in_steps.then_some(schedule.step),
        stability: memory.stability,
        difficulty: memory.difficulty,
        due: written(Timestamp::from_microsecond(schedule.due).ok()?),
        interval_seconds: to_f64(schedule.due - now) / to_f64(SECOND),
    })
}

fn written(moment: Timestamp) -> String {
    if moment.subsec_nanosecond() == 0 { moment.to_string() } else { format!("{moment:.6}") }
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
        Some(hour) => Calendar::Rollover { hour, utc_offset: settings.utc_offset_minutes },
    };
    Ok(Scheduler {
        parameters: settings.parameters.clone(),
        desired_retention: retention,
        learning_steps: settings.learning_steps_seconds.clone(),
        relearning_steps: settings.relearning_steps_seconds.clone(),
        maximum_interval: settings.maximum_interval,
        fuzz: settings.enable_fuzzing,
        calendar,
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
