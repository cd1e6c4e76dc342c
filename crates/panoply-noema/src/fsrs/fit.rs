//! What a learner's whole log tells: better weights, how good they are, and what is to come.
//!
//! The sums are those of the crate `fsrs`, by the authors of the algorithm. The log of a card is
//! its answers from the first one on, each with the days since the one before.

use ::fsrs as authors;
use authors::{ComputeParametersInput, FSRS, FSRSItem, FSRSReview, SimulatorConfig};

use super::Parameters;
use crate::numbers::single;

/// Fewer answers than this say too little.
pub const LEAST_REVIEWS: usize = 400;

/// One answer of one card.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Logged {
    /// From 1 to 4.
    pub rating: u32,
    /// Days since the answer before; 0 for the first.
    pub days: u32,
}

/// How well weights fit a log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fitness {
    /// How surprised the model is by what happened; lower is better.
    pub log_loss: f64,
    /// The distance of predicted from observed recall, over bins of like predictions.
    pub rmse_bins: f64,
}

/// Why nothing was fitted or simulated.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the sums cannot be done with this log: {0}")]
pub struct NotFitted(String);

/// The weights that fit these logs best, one log per card.
pub fn fit(logs: &[Vec<Logged>]) -> Result<Parameters, NotFitted> {
    let input =
        ComputeParametersInput { train_set: items(logs), ..ComputeParametersInput::default() };
    let weights = authors::compute_parameters(input).map_err(not_fitted)?;
    let weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
    Parameters::new(&weights).map_err(|error| NotFitted(error.to_string()))
}

/// How well weights fit these logs.
pub fn evaluate(parameters: &Parameters, logs: &[Vec<Logged>]) -> Result<Fitness, NotFitted> {
    let model = FSRS::new(&singles(parameters)).map_err(not_fitted)?;
    let found = model.evaluate(items(logs), |_| true).map_err(not_fitted)?;
    Ok(Fitness { log_loss: f64::from(found.log_loss), rmse_bins: f64::from(found.rmse_bins) })
}

/// A collection to be simulated.
#[derive(Clone, Debug)]
pub struct Plan {
    /// For how many days.
    pub days: usize,
    /// New cards that are left to learn.
    pub new_cards: usize,
    /// New cards a day.
    pub new_per_day: usize,
    /// Reviews a day.
    pub reviews_per_day: usize,
    /// The longest interval.
    pub maximum_interval: u32,
    /// Cards that are being studied.
    pub studied: Vec<Studied>,
}

/// A card that is being studied.
#[derive(Clone, Copy, Debug)]
pub struct Studied {
    /// Days until recall falls to nine in ten.
    pub stability: f64,
    /// From 1 to 10.
    pub difficulty: f64,
    /// Days since it was last answered.
    pub days_ago: f64,
    /// Days until it is due; negative when it is overdue.
    pub due_in: f64,
    /// How often it was forgotten.
    pub lapses: u32,
}

/// What a simulation gave, day by day.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// Reviews.
    pub reviews: Vec<u32>,
    /// New cards.
    pub new: Vec<u32>,
    /// Minutes of study.
    pub minutes: Vec<f64>,
    /// Cards that would be recalled if all were asked.
    pub remembered: Vec<f64>,
}

/// Plays the next days through, always with the same chance.
pub fn simulate(
    parameters: &Parameters,
    retention: f64,
    plan: &Plan,
) -> Result<Simulated, NotFitted> {
    const SEED: u64 = 42;
    let config = SimulatorConfig {
        deck_size: plan.new_cards + plan.studied.len(),
        learn_span: plan.days,
        max_cost_perday: f32::MAX,
        max_ivl: single(f64::from(plan.maximum_interval)),
        learn_limit: plan.new_per_day,
        review_limit: plan.reviews_per_day,
        ..SimulatorConfig::default()
    };
    let weights = singles(parameters);
    let shared = std::sync::Arc::new(weights.clone());
    let cards = plan.studied.iter().map(|card| authors::Card {
        difficulty: single(card.difficulty),
        stability: single(card.stability),
        last_date: single(-card.days_ago),
        due: single(card.due_in.max(0.0)),
        interval: single((card.due_in + card.days_ago).max(1.0)),
        lapses: card.lapses,
        desired_retention: single(retention),
        parameters: std::sync::Arc::clone(&shared),
        ..authors::Card::default()
    });
    let result =
        authors::simulate(&config, &weights, single(retention), Some(SEED), Some(cards.collect()))
            .map_err(not_fitted)?;
    let counted = |counts: &[usize]| {
        counts.iter().map(|count| u32::try_from(*count).unwrap_or(u32::MAX)).collect()
    };
    Ok(Simulated {
        reviews: counted(&result.review_cnt_per_day),
        new: counted(&result.learn_cnt_per_day),
        minutes: result.cost_per_day.iter().map(|seconds| f64::from(*seconds) / 60.0).collect(),
        remembered: result.memorized_cnt_per_day.iter().map(|count| f64::from(*count)).collect(),
    })
}

fn singles(parameters: &Parameters) -> Vec<f32> {
    parameters.weights().iter().map(|weight| single(*weight)).collect()
}

/// One item for every answer that came after a day or more, with all answers before it.
fn items(logs: &[Vec<Logged>]) -> Vec<FSRSItem> {
    let mut items = Vec::new();
    for log in logs {
        let reviews: Vec<FSRSReview> = log
            .iter()
            .map(|logged| FSRSReview { rating: logged.rating, delta_t: logged.days })
            .collect();
        for (last, review) in reviews.iter().enumerate().skip(1) {
            if review.delta_t > 0 {
                items.push(FSRSItem { reviews: reviews.iter().take(last + 1).copied().collect() });
            }
        }
    }
    items
}

fn not_fitted(error: authors::FSRSError) -> NotFitted {
    NotFitted(format!("{error:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsrs::{Memory, Rating};

    /// A learner who forgets as the given weights say; chance is a simple generator.
    fn logs(parameters: &Parameters, cards: usize) -> Vec<Vec<Logged>> {
        let mut state = 7_u64;
        let mut chance = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            f64::from(u32::try_from(state >> 33).unwrap()) / f64::from(u32::MAX >> 1)
        };
        (0..cards)
            .map(|_| {
                let mut memory = Memory::first(parameters, Rating::Good);
                let mut log = vec![Logged { rating: 3, days: 0 }];
                for _ in 0..5 {
                    let days =
                        crate::numbers::count(memory.stability * (0.5 + chance())).clamp(1, 300);
                    let recalled =
                        chance() < parameters.retrievability(f64::from(days), memory.stability);
                    let rating = if recalled { Rating::Good } else { Rating::Again };
                    log.push(Logged { rating: u32::from(rating.ordinal()), days });
                    memory = memory.after(parameters, rating, days);
                }
                log
            })
            .collect()
    }

    #[test]
    fn fitted_weights_are_no_worse_than_the_published_ones() {
        let mut weights = super::super::parameters::DEFAULT;
        weights[2] = 1.0;
        weights[20] = 0.3;
        let logs = logs(&Parameters::new(&weights).unwrap(), 400);
        let fitted = fit(&logs).unwrap();
        let (before, after) =
            (evaluate(&Parameters::default(), &logs).unwrap(), evaluate(&fitted, &logs).unwrap());
        assert!(after.log_loss < before.log_loss, "{before:?} {after:?}");
        assert!(after.rmse_bins < before.rmse_bins, "{before:?} {after:?}");
    }

    #[test]
    fn a_higher_retention_costs_more_and_keeps_more() {
        let plan = Plan {
            days: 90,
            new_cards: 500,
            new_per_day: 10,
            reviews_per_day: 9999,
            maximum_interval: 36_500,
            studied: Vec::new(),
        };
        let run = |retention| simulate(&Parameters::default(), retention, &plan).unwrap();
        let (low, high) = (run(0.8), run(0.95));
        let sum = |minutes: &[f64]| minutes.iter().sum::<f64>();
        assert!(sum(&high.minutes) > sum(&low.minutes));
        assert!(high.remembered.last() > low.remembered.last());
        assert_eq!(high, run(0.95), "the same question has the same answer");
    }
}
