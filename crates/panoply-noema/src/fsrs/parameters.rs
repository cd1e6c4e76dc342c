//! The 21 weights of FSRS-6 and the forgetting curve.

use serde::{Deserialize, Serialize};

/// Number of FSRS-6 weights.
pub const WEIGHT_COUNT: usize = 21;

/// The authors' default weights, fitted to about ten thousand learners.
pub const DEFAULT_WEIGHTS: [f64; WEIGHT_COUNT] = [
    0.212, 1.2931, 2.3065, 8.2956, 6.4133, 0.8334, 3.0194, 0.001, 1.8722, 0.1666, 0.796, 1.4835,
    0.0614, 0.2629, 1.6483, 0.6014, 1.8729, 0.5425, 0.0912, 0.0658, 0.1542,
];

/// Minimum stability in days.
pub(super) const MIN_STABILITY: f64 = 0.001;

/// Valid weights and the constants derived from them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<f64>", into = "Vec<f64>")]
pub struct Parameters {
    weights: [f64; WEIGHT_COUNT],
    decay: f64,
    factor: f64,
    /// Exponentials of weights, computed once: they take half the time of a review.
    pub(super) growth: f64,
    pub(super) easiest_start: f64,
    pub(super) same_day_loss: f64,
}

/// The numbers are not valid weights.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvalidParameters {
    /// Wrong number of weights.
    #[error("expected 21 parameters (or 19 of FSRS-5, or 17 of FSRS-4.5), got {0}")]
    Count(usize),
    /// A weight is not finite.
    #[error("parameter {index} is {value}, which is not a usable number")]
    Unusable {
        /// Index of the weight.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// The forgetting curve does not decrease.
    #[error("parameter 20, the decay, is {0}; expected more than 0")]
    Decay(f64),
}

impl Parameters {
    /// Validates 21 weights; 19 (FSRS-5) and 17 (FSRS-4.5) are upgraded as Anki does.
    pub fn new(weights: &[f64]) -> Result<Self, InvalidParameters> {
        let weights = upgrade_weights(weights)?;
        for (index, value) in weights.iter().enumerate() {
            if !value.is_finite() {
                return Err(InvalidParameters::Unusable { index, value: *value });
            }
        }
        let [.., decay_weight] = weights;
        if decay_weight <= 0.0 {
            return Err(InvalidParameters::Decay(decay_weight));
        }
        Ok(Self::of(weights))
    }

    fn of(weights: [f64; WEIGHT_COUNT]) -> Self {
        let [_, _, _, _, w4, w5, _, _, w8, _, _, _, _, _, _, _, _, w17, w18, _, decay_weight] =
            weights;
        let decay = -decay_weight;
        Self {
            weights,
            decay,
            factor: 0.9_f64.powf(1.0 / decay) - 1.0,
            growth: w8.exp(),
            easiest_start: w4 - (w5 * 3.0).exp() + 1.0,
            same_day_loss: (w17 * w18).exp(),
        }
    }

    /// The weights.
    pub const fn weights(&self) -> &[f64; WEIGHT_COUNT] {
        &self.weights
    }

    /// Retrievability: the probability of recall `elapsed_days` after a review that left
    /// `stability`.
    pub fn retrievability(&self, elapsed_days: f64, stability: f64) -> f64 {
        (1.0 + self.factor * elapsed_days / stability).powf(self.decay)
    }

    /// The decay of the forgetting curve, as a positive number.
    pub const fn decay(&self) -> f64 {
        -self.decay
    }

    /// [`Self::retrievability`] for a given decay.
    pub fn recall(decay: f64, elapsed_days: f64, stability: f64) -> f64 {
        let factor = 0.9_f64.powf(-1.0 / decay) - 1.0;
        (1.0 + factor * elapsed_days / stability).powf(-decay)
    }

    /// Days until retrievability falls to `retention`.
    pub fn days_until(&self, retention: f64, stability: f64) -> f64 {
        stability / self.factor * (retention.powf(1.0 / self.decay) - 1.0)
    }
}

impl Default for Parameters {
    fn default() -> Self {
        Self::of(DEFAULT_WEIGHTS)
    }
}

impl TryFrom<Vec<f64>> for Parameters {
    type Error = InvalidParameters;

    fn try_from(weights: Vec<f64>) -> Result<Self, InvalidParameters> {
        Self::new(&weights)
    }
}

impl From<Parameters> for Vec<f64> {
    fn from(parameters: Parameters) -> Self {
        parameters.weights.to_vec()
    }
}

/// FSRS-5 has a fixed decay of 0.5 and no weight 19. FSRS-4.5 has no short-term weights and
/// undamped difficulty, for which weights 4 to 6 are converted.
fn upgrade_weights(weights: &[f64]) -> Result<[f64; WEIGHT_COUNT], InvalidParameters> {
    let mut all = weights.to_vec();
    if let ([_, _, _, _, start, slope, step, ..], 17) = (all.as_mut_slice(), weights.len()) {
        *start = slope.mul_add(2.0, *start);
        *slope = (*slope * 3.0 + 1.0).ln() / 3.0;
        *step += 0.5;
        all.extend([0.0, 0.0]);
    }
    if all.len() == 19 {
        all.extend([0.0, 0.5]);
    }
    all.try_into().map_err(|_| InvalidParameters::Count(weights.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retrievability_is_90_percent_after_stability_days() {
        let parameters = Parameters::default();
        for stability in [0.5, 3.0, 100.0, 20_000.0] {
            assert!((parameters.retrievability(stability, stability) - 0.9).abs() < 1e-12);
            assert!((parameters.days_until(0.9, stability) - stability).abs() < 1e-9 * stability);
        }
    }

    #[test]
    fn fsrs_4_5_and_5_weights_are_upgraded_and_other_lengths_rejected() {
        assert_eq!(Parameters::new(&DEFAULT_WEIGHTS).unwrap(), Parameters::default());
        let five = Parameters::new(&[1.0; 19]).unwrap();
        assert_eq!(five.weights()[19..], [0.0, 0.5]);
        let four = Parameters::new(&[1.0; 17]).unwrap();
        assert_eq!(four.weights()[4..7], [3.0, 4_f64.ln() / 3.0, 1.5]);
        assert_eq!(Parameters::new(&[1.0; 20]), Err(InvalidParameters::Count(20)));
        let mut weights = DEFAULT_WEIGHTS;
        weights[20] = 0.0;
        assert_eq!(Parameters::new(&weights), Err(InvalidParameters::Decay(0.0)));
        weights[3] = f64::NAN;
        assert!(matches!(
            Parameters::new(&weights),
            Err(InvalidParameters::Unusable { index: 3, .. })
        ));
    }
}
