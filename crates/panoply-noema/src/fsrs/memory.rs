//! The FSRS memory state of a card and its update.
//!
//! FSRS-6 as published by its authors (open-spaced-repetition, "The Algorithm"), in f64 and in the
//! order of operations of the Python reference, which the tests compare against.

use serde::{Deserialize, Serialize};

use super::parameters::{MIN_STABILITY, Parameters};
use super::rating::Rating;

/// The FSRS memory state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Stability: days until retrievability falls to 90 %.
    pub stability: f64,
    /// Difficulty from 1 (easy) to 10.
    pub difficulty: f64,
}

impl Memory {
    /// The state after the first review.
    pub fn first(parameters: &Parameters, rating: Rating) -> Self {
        let [again, hard, good, easy, ..] = *parameters.weights();
        let stability = match rating {
            Rating::Again => again,
            Rating::Hard => hard,
            Rating::Good => good,
            Rating::Easy => easy,
        };
        Self {
            stability: stability.max(MIN_STABILITY),
            difficulty: clamp_difficulty(first_difficulty(parameters, rating)),
        }
    }

    /// The state after another review, `elapsed_days` after the last one.
    #[must_use]
    pub fn after(self, parameters: &Parameters, rating: Rating, elapsed_days: u32) -> Self {
        let stability = if elapsed_days == 0 {
            self.same_day(parameters, rating)
        } else {
            let recall = parameters.retrievability(f64::from(elapsed_days), self.stability);
            match rating {
                Rating::Again => self.forgotten(parameters, recall),
                Rating::Hard | Rating::Good | Rating::Easy => {
                    self.recalled(parameters, rating, recall)
                }
            }
        };
        Self {
            stability: stability.max(MIN_STABILITY),
            difficulty: self.next_difficulty(parameters, rating),
        }
    }

    fn same_day(self, parameters: &Parameters, rating: Rating) -> f64 {
        let [.., w17, w18, w19, _] = *parameters.weights();
        let growth = (w17 * (rating.number() - 3.0 + w18)).exp() * self.stability.powf(-w19);
        // A passing rating never decreases stability.
        let growth = if rating == Rating::Again { growth } else { growth.max(1.0) };
        self.stability * growth
    }

    fn forgotten(self, parameters: &Parameters, recall: f64) -> f64 {
        let [_, _, _, _, _, _, _, _, _, _, _, w11, w12, w13, w14, ..] = *parameters.weights();
        let long_term = w11
            * self.difficulty.powf(-w12)
            * ((self.stability + 1.0).powf(w13) - 1.0)
            * ((1.0 - recall) * w14).exp();
        let short_term = self.stability / parameters.same_day_loss;
        long_term.min(short_term)
    }

    fn recalled(self, parameters: &Parameters, rating: Rating, recall: f64) -> f64 {
        let [_, _, _, _, _, _, _, _, _, w9, w10, _, _, _, _, hard_penalty, easy_bonus, ..] =
            *parameters.weights();
        let hard = if rating == Rating::Hard { hard_penalty } else { 1.0 };
        let easy = if rating == Rating::Easy { easy_bonus } else { 1.0 };
        self.stability
            * (1.0
                + parameters.growth
                    * (11.0 - self.difficulty)
                    * self.stability.powf(-w9)
                    * (((1.0 - recall) * w10).exp() - 1.0)
                    * hard
                    * easy)
    }

    fn next_difficulty(self, parameters: &Parameters, rating: Rating) -> f64 {
        let [_, _, _, _, _, _, w6, w7, ..] = *parameters.weights();
        let change = -(w6 * (rating.number() - 3.0));
        let damped = self.difficulty + (10.0 - self.difficulty) * change / 9.0;
        // Mean reversion towards the initial difficulty of an easy card, unclamped.
        clamp_difficulty(w7 * parameters.easiest_start + (1.0 - w7) * damped)
    }
}

fn first_difficulty(parameters: &Parameters, rating: Rating) -> f64 {
    let [_, _, _, _, w4, w5, ..] = *parameters.weights();
    w4 - (w5 * (rating.number() - 1.0)).exp() + 1.0
}

const fn clamp_difficulty(difficulty: f64) -> f64 {
    difficulty.clamp(1.0, 10.0)
}
