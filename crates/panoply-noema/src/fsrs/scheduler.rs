//! The scheduler: learning steps, reviews, lapses and relearning.

use serde::{Deserialize, Serialize};

use super::calendar::{Calendar, Micros, SECOND};
use super::fuzz::{self, Seed};
use super::memory::Memory;
use super::parameters::Parameters;
use super::rating::Rating;
use crate::numbers::{round_to_i64, round_to_u32, to_f64};

/// Scheduler settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheduler {
    /// FSRS weights.
    pub parameters: Parameters,
    /// Desired retention: the probability of recall at which a card is due.
    pub desired_retention: f64,
    /// Learning steps of new cards, in seconds.
    pub learning_steps: Vec<f64>,
    /// Relearning steps after a lapse, in seconds.
    pub relearning_steps: Vec<f64>,
    /// Maximum interval in days.
    pub maximum_interval: u32,
    /// Whether intervals are fuzzed.
    pub fuzz: bool,
    /// The calendar that counts study days.
    pub calendar: Calendar,
    /// Whether Hard, Good and Easy differ by at least a day, as in Anki. The reference scheduler
    /// lets them coincide.
    pub distinct_ratings: bool,
}

impl Default for Scheduler {
    fn default() -> Self {
        Self {
            parameters: Parameters::default(),
            desired_retention: 0.9,
            learning_steps: vec![60.0, 600.0],
            relearning_steps: vec![600.0],
            maximum_interval: 36_500,
            fuzz: true,
            calendar: Calendar::default(),
            distinct_ratings: true,
        }
    }
}

/// Phase of a card.
#[derive(
    Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Never reviewed.
    #[default]
    New,
    /// In learning steps.
    Learning,
    /// In review, with intervals of days.
    Review,
    /// In relearning steps after a lapse.
    Relearning,
}

impl Phase {
    /// Name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Learning => "learning",
            Self::Review => "review",
            Self::Relearning => "relearning",
        }
    }
}

/// The schedule of a card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// Phase of the card.
    pub phase: Phase,
    /// Index of the learning step.
    pub step: u32,
    /// FSRS memory state; `None` before the first review.
    pub memory: Option<Memory>,
    /// Time of the last review.
    pub last_review: Option<Micros>,
    /// Next due time.
    pub due: Micros,
    /// Interval in days; 0 in learning steps.
    pub interval_days: u32,
}

/// Time until the next review.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wait {
    Seconds(f64),
    Days(u32),
}

impl Scheduler {
    /// The schedule after a review at `now`.
    pub fn answer(&self, card: &Schedule, rating: Rating, now: Micros, seed: Seed) -> Schedule {
        let memory = self.memory_after(card, rating, now);
        let days = || self.interval(card, rating, now, seed);
        let (phase, step, wait) = match card.phase {
            Phase::New => self.in_steps(Phase::Learning, 0, rating, days),
            Phase::Learning | Phase::Relearning => {
                self.in_steps(card.phase, card.step, rating, days)
            }
            Phase::Review => self.in_review(rating, days),
        };
        let (due, interval_days) = match wait {
            Wait::Seconds(seconds) => (now + round_to_i64(seconds * to_f64(SECOND)), 0),
            Wait::Days(days) => (self.calendar.due(now, days), days),
        };
        Schedule { phase, step, memory: Some(memory), last_review: Some(now), due, interval_days }
    }

    /// The schedule after each of the four ratings.
    pub fn preview(&self, card: &Schedule, now: Micros, seed: Seed) -> [(Rating, Schedule); 4] {
        Rating::ALL.map(|rating| (rating, self.answer(card, rating, now, seed)))
    }

    /// The probability of recall at `now`; `None` for a card never reviewed.
    pub fn retrievability(&self, card: &Schedule, now: Micros) -> Option<f64> {
        let (memory, last) = (card.memory?, card.last_review?);
        let days = f64::from(self.calendar.elapsed(last, now));
        Some(self.parameters.retrievability(days, memory.stability))
    }

    /// The interval for a stability, before rounding and fuzz.
    pub fn raw_interval(&self, stability: f64) -> f64 {
        self.parameters.days_until(self.desired_retention, stability)
    }

    fn memory_after(&self, card: &Schedule, rating: Rating, now: Micros) -> Memory {
        match (card.memory, card.last_review) {
            (Some(memory), Some(last)) => {
                memory.after(&self.parameters, rating, self.calendar.elapsed(last, now))
            }
            _ => Memory::first(&self.parameters, rating),
        }
    }

    fn in_steps(
        &self,
        phase: Phase,
        step: u32,
        rating: Rating,
        days: impl Fn() -> u32,
    ) -> (Phase, u32, Wait) {
        let steps = match phase {
            Phase::Relearning => &self.relearning_steps,
            Phase::New | Phase::Learning | Phase::Review => &self.learning_steps,
        };
        let at = |index: u32| steps.get(index as usize).copied();
        let graduated = || (Phase::Review, 0, Wait::Days(days()));
        let stay = |index: u32, seconds: f64| (phase, index, Wait::Seconds(seconds));
        match (rating, at(0), at(step)) {
            (_, None, _) => graduated(),
            (Rating::Again, Some(first), _) => stay(0, first),
            (Rating::Easy, ..) | (_, _, None) => graduated(),
            (Rating::Hard, Some(first), _) if step == 0 => {
                let seconds = at(1).map_or(first * 1.5, |second| f64::midpoint(first, second));
                stay(0, seconds)
            }
            (Rating::Hard, _, Some(current)) => stay(step, current),
            (Rating::Good, ..) => match at(step + 1) {
                Some(next) => stay(step + 1, next),
                None => graduated(),
            },
        }
    }

    fn in_review(&self, rating: Rating, days: impl Fn() -> u32) -> (Phase, u32, Wait) {
        match (rating, self.relearning_steps.first()) {
            (Rating::Again, Some(first)) => (Phase::Relearning, 0, Wait::Seconds(*first)),
            _ => (Phase::Review, 0, Wait::Days(days())),
        }
    }

    /// The interval in days after a rating.
    fn interval(&self, card: &Schedule, rating: Rating, now: Micros, seed: Seed) -> u32 {
        let raw = |rating| self.raw_interval(self.memory_after(card, rating, now).stability);
        if !self.distinct_ratings {
            return self.at_least(raw(rating), 1, seed);
        }
        // Anki: each interval of a review exceeds that of the rating below. In steps this holds
        // for Good and Easy only. An interval that grows is at least a day longer than the last.
        let reviewed = card.phase == Phase::Review;
        let grown = |days: f64| {
            let grows = reviewed && round_to_u32(days) > card.interval_days;
            if grows { card.interval_days.saturating_add(1) } else { 1 }
        };
        let longer = |rating, floor: u32| {
            let days = raw(rating);
            self.at_least(days, grown(days).max(floor), seed)
        };
        match rating {
            Rating::Again => self.at_least(raw(rating), 1, seed),
            Rating::Hard => longer(rating, 1),
            Rating::Good if reviewed => longer(rating, longer(Rating::Hard, 1) + 1),
            Rating::Good => longer(rating, 1),
            Rating::Easy => {
                let hard = if reviewed { longer(Rating::Hard, 1) + 1 } else { 1 };
                longer(rating, longer(Rating::Good, hard) + 1)
            }
        }
    }

    /// Rounds or fuzzes an interval, within `floor` and the maximum interval.
    fn at_least(&self, days: f64, floor: u32, seed: Seed) -> u32 {
        let longest = self.maximum_interval.max(1);
        let floor = floor.clamp(1, longest);
        if self.fuzz {
            fuzz::apply(days, floor, longest, seed)
        } else {
            round_to_u32(days).clamp(floor, longest)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fsrs::calendar::DAY;

    const SEED: Seed = Seed { card: 123, repetition: 4 };

    fn in_review(stability: f64, due: Micros) -> Schedule {
        Schedule {
            phase: Phase::Review,
            memory: Some(Memory { stability, difficulty: 5.0 }),
            last_review: Some(due - 10 * DAY),
            due,
            interval_days: 10,
            step: 0,
        }
    }

    #[test]
    fn memory_update_treats_a_backward_clock_as_zero_elapsed_days() {
        let scheduler = Scheduler::default();
        let card = in_review(10.0, 0);
        let last = card.last_review.unwrap();
        let back = scheduler.answer(&card, Rating::Good, last - 5 * DAY, SEED);
        let same = scheduler.answer(&card, Rating::Good, last, SEED);
        assert_eq!(back.memory, same.memory);
        assert!(back.due > last - 5 * DAY);
    }

    #[test]
    fn reviews_are_due_at_the_start_of_a_day() {
        let scheduler = Scheduler { fuzz: false, ..Scheduler::default() };
        let now = 20_000 * DAY + 13 * 3600 * SECOND;
        let card = scheduler.answer(&in_review(10.0, now), Rating::Good, now, SEED);
        assert_eq!(card.due, scheduler.calendar.start(20_000 + i64::from(card.interval_days)));
    }

    /// Intervals of Anki 26.9.3 without fuzz for a card in review that is answered on its due day:
    /// `tests/outside/anki_schedule.py` compares many more.
    #[test]
    fn short_intervals_are_spread_as_in_anki() {
        let scheduler = Scheduler { fuzz: false, ..Scheduler::default() };
        let cases = [
            ((0.05, 9.5, 1), [1, 2, 3]),
            ((0.3, 5.0, 1), [2, 3, 5]),
            ((1.0, 10.0, 1), [1, 2, 3]),
            ((3.0, 9.8, 4), [4, 5, 7]),
        ];
        for ((stability, difficulty, interval_days), expected) in cases {
            let card = Schedule {
                memory: Some(Memory { stability, difficulty }),
                last_review: Some(-i64::from(interval_days) * DAY),
                interval_days,
                ..in_review(stability, 0)
            };
            let [_, passing @ ..] =
                scheduler.preview(&card, 0, SEED).map(|(_, schedule)| schedule.interval_days);
            assert_eq!(passing, expected, "stability {stability}, difficulty {difficulty}");
        }
    }

    proptest! {
        #[test]
        fn better_rating_never_shortens_the_interval(stability in 0.01_f64..3000.0, late in -9_i64..2000, card: i64, repetition: u32) {
            let scheduler = Scheduler::default();
            let seed = Seed { card, repetition };
            let schedule = in_review(stability, 20_000 * DAY);
            let previews = scheduler.preview(&schedule, (20_000 + late) * DAY, seed);
            for pair in previews.windows(2) {
                prop_assert!(pair[0].1.due <= pair[1].1.due, "{:?} then {:?}", pair[0], pair[1]);
            }
        }

        #[test]
        fn hard_good_and_easy_differ_by_at_least_a_day(stability in 0.01_f64..3000.0, late in -9_i64..2000, card: i64, fuzz: bool) {
            let scheduler = Scheduler { fuzz, ..Scheduler::default() };
            let seed = Seed { card, repetition: 3 };
            let schedule = in_review(stability, 20_000 * DAY);
            let previews = scheduler.preview(&schedule, (20_000 + late) * DAY, seed);
            let [_, hard, good, easy] = previews.map(|(_, schedule)| schedule.interval_days);
            prop_assert!(easy == 36_500 || hard < good && good < easy, "{hard} {good} {easy}");
        }

        #[test]
        fn intervals_stay_within_one_day_and_the_maximum(stability in 1e-9_f64..1e12, longest in 1_u32..50_000, fuzz: bool) {
            let scheduler = Scheduler { maximum_interval: longest, fuzz, ..Scheduler::default() };
            let card = scheduler.answer(&in_review(stability, 0), Rating::Easy, 0, SEED);
            prop_assert!((1..=longest).contains(&card.interval_days));
        }
    }
}
