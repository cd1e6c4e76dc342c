//! The probability that a Sharpe ratio is not the luck of the best of many trials.
//!
//! Bailey and López de Prado, "The Deflated Sharpe Ratio", Journal of Portfolio Management 40(5),
//! 2014: the expected maximum of the Sharpe ratios of `trials` strategies without skill is compared
//! with the observed one, given the length, skewness and kurtosis of its returns.

/// Euler's constant.
const EULER_GAMMA: f64 = 0.577_215_664_901_532_9;

/// The probability that the true Sharpe ratio exceeds `benchmark`, both per period.
pub fn probabilistic(
    sharpe: f64,
    benchmark: f64,
    periods: u64,
    skewness: f64,
    kurtosis: f64,
) -> Option<f64> {
    let spread = 1.0 - skewness * sharpe + (kurtosis - 1.0) / 4.0 * sharpe * sharpe;
    let n = periods.checked_sub(1).filter(|n| *n > 0)? as f64;
    (spread > 0.0).then(|| normal_cdf((sharpe - benchmark) * n.sqrt() / spread.sqrt()))
}

/// The expected maximum of the Sharpe ratios of strategies without skill, given the variance of the
/// ratios of the trials.
pub fn expected_maximum(variance: f64, trials: u64) -> Option<f64> {
    if trials < 2 {
        return None;
    }
    let n = trials as f64;
    let spread = (1.0 - EULER_GAMMA) * normal_quantile(1.0 - 1.0 / n)
        + EULER_GAMMA * normal_quantile(1.0 - 1.0 / (n * std::f64::consts::E));
    Some(variance.sqrt() * spread)
}

/// The standard normal distribution function.
fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
}

/// Its inverse by bisection; only a few are needed.
fn normal_quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-40.0_f64, 40.0_f64);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if normal_cdf(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deflated_sharpe_matches_the_paper() {
        // The numerical example of the paper: 100 trials whose annual Sharpe ratios have variance
        // 1/2, the best 2.5 over five years of daily returns (T = 1250), skewness -3, kurtosis 10:
        // SR0 = 0.1132 per day and DSR = 0.9004.
        let benchmark = expected_maximum(0.5 / 250.0, 100).unwrap();
        assert!((benchmark - 0.1132).abs() < 5e-5, "{benchmark}");
        let sharpe = 2.5 / 250_f64.sqrt();
        let probability = probabilistic(sharpe, benchmark, 1250, -3.0, 10.0).unwrap();
        assert!((probability - 0.9004).abs() < 5e-5, "{probability}");
    }

    #[test]
    fn normal_quantile_inverts_the_distribution() {
        assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-12);
        assert_eq!(expected_maximum(1.0, 1), None);
    }
}
