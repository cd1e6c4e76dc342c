//! Fitting, evaluation and simulation with the `fsrs` crate of the algorithm's authors.
//!
//! The log of a card is its reviews from the first one on, each with the days since the previous
//! one.

use ::fsrs as fsrs_crate;
use fsrs_crate::{ComputeParametersInput, FSRS, FSRSItem, FSRSReview, SimulatorConfig};

use super::Parameters;
use crate::numbers::to_f32;

/// Fewer reviews do not support a fit.
pub const MIN_REVIEWS: usize = 400;

/// A review of one card.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LoggedReview {
    /// Rating from 1 to 4.
    pub rating: u32,
    /// Days since the previous review; 0 for the first.
    pub days: u32,
}

/// Goodness of fit of weights to a log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FitMetrics {
    /// Log loss; lower is better.
    pub log_loss: f64,
    /// RMSE between predicted and observed recall over bins of similar predictions.
    pub rmse_bins: f64,
}

/// Fitting or simulation failed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the computation failed on this log: {0}")]
pub struct FitError(String);

impl FitError {
    /// No simulation was run.
    pub(crate) fn nothing() -> Self {
        Self("nothing to simulate".to_owned())
    }
}

/// Fits weights to these logs, one log per card.
pub fn fit(logs: &[Vec<LoggedReview>]) -> Result<Parameters, FitError> {
    let input = ComputeParametersInput {
        train_set: training_items(logs),
        ..ComputeParametersInput::default()
    };
    let weights = fsrs_crate::compute_parameters(input).map_err(fit_error)?;
    let weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
    Parameters::new(&weights).map_err(|error| FitError(error.to_string()))
}

/// Evaluates weights on these logs.
pub fn evaluate(
    parameters: &Parameters,
    logs: &[Vec<LoggedReview>],
) -> Result<FitMetrics, FitError> {
    let model = FSRS::new(&weights_f32(parameters)).map_err(fit_error)?;
    let found = model.evaluate(training_items(logs), |_| true).map_err(fit_error)?;
    Ok(FitMetrics { log_loss: f64::from(found.log_loss), rmse_bins: f64::from(found.rmse_bins) })
}

/// A collection to simulate.
#[derive(Clone, Debug)]
pub struct SimulationInput {
    /// Days to simulate.
    pub days: usize,
    /// New cards not yet studied.
    pub new_cards: usize,
    /// Daily limit of new cards.
    pub new_per_day: usize,
    /// Daily limit of reviews.
    pub reviews_per_day: usize,
    /// Maximum interval in days.
    pub maximum_interval: u32,
    /// Cards already in study.
    pub studied: Vec<StudiedCard>,
}

/// A card already in study.
#[derive(Clone, Copy, Debug)]
pub struct StudiedCard {
    /// Stability in days: the time until retrievability falls to 90 %.
    pub stability: f64,
    /// Difficulty from 1 to 10.
    pub difficulty: f64,
    /// Days since the last review.
    pub days_ago: f64,
    /// Days until due; negative if overdue.
    pub due_in: f64,
    /// Number of lapses.
    pub lapses: u32,
}

/// Daily results of a simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulationResult {
    /// Number of reviews.
    pub reviews: Vec<u32>,
    /// Number of new cards.
    pub new: Vec<u32>,
    /// Study time in minutes.
    pub minutes: Vec<f64>,
    /// Expected number of cards recalled if all were asked.
    pub remembered: Vec<f64>,
}

/// Simulates the coming days with a fixed random seed.
pub fn simulate(
    parameters: &Parameters,
    retention: f64,
    plan: &SimulationInput,
) -> Result<SimulationResult, FitError> {
    const SEED: u64 = 42;
    simulate_with_seed(parameters, retention, plan, SEED)
}

/// [`simulate`] with another course of chance.
pub fn simulate_with_seed(
    parameters: &Parameters,
    retention: f64,
    plan: &SimulationInput,
    seed: u64,
) -> Result<SimulationResult, FitError> {
    let config = SimulatorConfig {
        deck_size: plan.new_cards + plan.studied.len(),
        learn_span: plan.days,
        max_cost_perday: f32::MAX,
        max_ivl: to_f32(f64::from(plan.maximum_interval)),
        learn_limit: plan.new_per_day,
        review_limit: plan.reviews_per_day,
        ..SimulatorConfig::default()
    };
    let weights = weights_f32(parameters);
    let shared = std::sync::Arc::new(weights.clone());
    let cards = plan.studied.iter().map(|card| fsrs_crate::Card {
        difficulty: to_f32(card.difficulty),
        stability: to_f32(card.stability),
        last_date: to_f32(-card.days_ago),
        due: to_f32(card.due_in.max(0.0)),
        interval: to_f32((card.due_in + card.days_ago).max(1.0)),
        lapses: card.lapses,
        desired_retention: to_f32(retention),
        parameters: std::sync::Arc::clone(&shared),
        ..fsrs_crate::Card::default()
    });
    let result = fsrs_crate::simulate(
        &config,
        &weights,
        to_f32(retention),
        Some(seed),
        Some(cards.collect()),
    )
    .map_err(fit_error)?;
    let counted = |counts: &[usize]| {
        counts.iter().map(|count| u32::try_from(*count).unwrap_or(u32::MAX)).collect()
    };
    Ok(SimulationResult {
        reviews: counted(&result.review_cnt_per_day),
        new: counted(&result.learn_cnt_per_day),
        minutes: result.cost_per_day.iter().map(|seconds| f64::from(*seconds) / 60.0).collect(),
        remembered: result.memorized_cnt_per_day.iter().map(|count| f64::from(*count)).collect(),
    })
}

fn weights_f32(parameters: &Parameters) -> Vec<f32> {
    parameters.weights().iter().map(|weight| to_f32(*weight)).collect()
}

/// One training item per review at least a day after the previous one, with its history.
fn training_items(logs: &[Vec<LoggedReview>]) -> Vec<FSRSItem> {
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

fn fit_error(error: fsrs_crate::FSRSError) -> FitError {
    FitError(format!("{error:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsrs::{Memory, Rating};

    /// Logs of a simulated learner with these weights; the generator is a fixed LCG.
    fn logs(parameters: &Parameters, cards: usize) -> Vec<Vec<LoggedReview>> {
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
                let mut log = vec![LoggedReview { rating: 3, days: 0 }];
                for _ in 0..5 {
                    let days = crate::numbers::round_to_u32(memory.stability * (0.5 + chance()))
                        .clamp(1, 300);
                    let recalled =
                        chance() < parameters.retrievability(f64::from(days), memory.stability);
                    let rating = if recalled { Rating::Good } else { Rating::Again };
                    log.push(LoggedReview { rating: u32::from(rating.ordinal()), days });
                    memory = memory.after(parameters, rating, days);
                }
                log
            })
            .collect()
    }

    #[test]
    fn fitted_weights_beat_the_default_weights() {
        let mut weights = super::super::parameters::DEFAULT_WEIGHTS;
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
    fn higher_retention_costs_more_time_and_retains_more_cards() {
        let plan = SimulationInput {
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
