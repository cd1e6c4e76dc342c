//! Periodic returns of an account, and ratios of them.

use serde::{Deserialize, Serialize};

use super::Point;
use crate::position::to_f64;
use crate::timestamp::{Timestamp, civil_from_days, days_from_civil, weekday};

const DAY: i64 = 86_400_000_000_000;

/// The length of a period; all are in UTC.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Period {
    /// An hour.
    Hour,
    /// A day.
    Day,
    /// A week from Monday.
    Week,
    /// A calendar month.
    Month,
}

impl Period {
    /// Start of the period that contains a timestamp.
    pub fn start(self, time: Timestamp) -> Timestamp {
        let nanos = time.nanos();
        let day = nanos.div_euclid(DAY);
        let start = match self {
            Self::Hour => nanos.saturating_sub(nanos.rem_euclid(DAY / 24)),
            Self::Day => day.saturating_mul(DAY),
            Self::Week => (day - weekday(day)).saturating_mul(DAY),
            Self::Month => {
                let (year, month, _) = civil_from_days(day);
                days_from_civil(year, month, 1).saturating_mul(DAY)
            }
        };
        Timestamp::from_nanos(start)
    }

    /// Periods of a year of trading days.
    pub const fn per_year(self) -> f64 {
        match self {
            Self::Hour => 252.0 * 24.0,
            Self::Day => 252.0,
            Self::Week => 52.0,
            Self::Month => 12.0,
        }
    }
}

/// The return of one period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeriodReturn {
    /// Start of the period.
    pub start: Timestamp,
    /// Value at the end divided by the value at the start, minus one.
    pub value: f64,
}

/// Returns in order of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Returns(pub Vec<PeriodReturn>);

impl Returns {
    /// The returns alone.
    pub fn values(&self) -> Vec<f64> {
        self.0.iter().map(|own| own.value).collect()
    }
}

/// Returns between the last values of consecutive periods that have a point. The first period
/// counts from the first point if it has more than one. `None` if a value is not positive.
pub fn periodic(points: &[Point], period: Period) -> Option<Returns> {
    let mut closes: Vec<(Timestamp, f64)> = Vec::new();
    let mut first_points = 0;
    for point in points {
        let (start, value) = (period.start(point.time), to_f64(point.value));
        if value <= 0.0 {
            return None;
        }
        match closes.last_mut() {
            Some((own, close)) if *own == start => *close = value,
            _ => closes.push((start, value)),
        }
        first_points += usize::from(closes.len() == 1);
    }
    let opening = to_f64(points.first()?.value);
    let mut returns = Vec::with_capacity(closes.len());
    if let (true, Some((start, close))) = (first_points > 1, closes.first()) {
        returns.push(PeriodReturn { start: *start, value: close / opening - 1.0 });
    }
    for pair in closes.windows(2) {
        if let [(_, before), (start, after)] = pair {
            returns.push(PeriodReturn { start: *start, value: after / before - 1.0 });
        }
    }
    Some(Returns(returns))
}

/// Ratios of a series of returns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReturnFigures {
    /// Number of returns.
    pub periods: u64,
    /// Compounded return of the whole series.
    pub total: f64,
    /// `(1 + total) ^ (periods per year / periods) - 1`.
    pub annual: f64,
    /// Sample standard deviation times the square root of the periods per year.
    pub volatility: Option<f64>,
    /// Mean divided by sample standard deviation, annualised.
    pub sharpe: Option<f64>,
    /// Mean divided by the root mean square of the negative returns, annualised.
    pub sortino: Option<f64>,
    /// Annual return divided by the maximum drawdown.
    pub calmar: Option<f64>,
    /// Maximum drawdown of the compounded returns, negative.
    pub max_drawdown: f64,
    /// Population skewness.
    pub skewness: Option<f64>,
    /// Population kurtosis; 3 for a normal distribution.
    pub kurtosis: Option<f64>,
    /// The largest return.
    pub best: f64,
    /// The smallest return.
    pub worst: f64,
    /// Share of positive returns among those that are not zero.
    pub positive: Option<f64>,
}

impl ReturnFigures {
    /// The ratios of a series; `None` when it is empty.
    pub fn of(returns: &[f64], per_year: f64) -> Option<Self> {
        if returns.is_empty() {
            return None;
        }
        let n = returns.len() as f64;
        let mean = returns.iter().sum::<f64>() / n;
        let moment =
            |power: i32| returns.iter().map(|own| (own - mean).powi(power)).sum::<f64>() / n;
        let variance = moment(2);
        let deviation = (n > 1.0).then(|| (variance * n / (n - 1.0)).sqrt());
        let is_positive = |value: &f64| *value > 0.0;
        let downside = (returns.iter().map(|own| own.min(0.0).powi(2)).sum::<f64>() / n).sqrt();
        let total = returns.iter().fold(1.0, |value, own| value * (1.0 + own)) - 1.0;
        let annual = (1.0 + total).powf(per_year / n) - 1.0;
        let max_drawdown = compounded_drawdown(returns);
        let nonzero = returns.iter().filter(|own| own.abs() > 0.0).count();
        let gains = returns.iter().filter(|own| **own > 0.0).count();
        Some(Self {
            periods: returns.len() as u64,
            total,
            annual,
            volatility: deviation.map(|own| own * per_year.sqrt()),
            sharpe: deviation.filter(is_positive).map(|own| mean / own * per_year.sqrt()),
            sortino: Some(downside)
                .filter(|own| n > 1.0 && is_positive(own))
                .map(|own| mean / own * per_year.sqrt()),
            calmar: Some(-max_drawdown).filter(is_positive).map(|own| annual / own),
            max_drawdown,
            skewness: (variance > 0.0).then(|| moment(3) / variance.powf(1.5)),
            kurtosis: (variance > 0.0).then(|| moment(4) / variance.powi(2)),
            best: returns.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            worst: returns.iter().copied().fold(f64::INFINITY, f64::min),
            positive: (nonzero > 0).then(|| gains as f64 / nonzero as f64),
        })
    }
}

/// Maximum drawdown of compounded returns, as a negative share.
fn compounded_drawdown(returns: &[f64]) -> f64 {
    let (mut value, mut peak, mut worst) = (1.0_f64, 1.0_f64, 0.0_f64);
    for own in returns {
        value *= 1.0 + own;
        peak = peak.max(value);
        worst = worst.min(value / peak - 1.0);
    }
    worst
}

/// Sharpe ratios of windows of this many returns, each with the start of its last period.
pub fn rolling_sharpe(returns: &Returns, window: usize, per_year: f64) -> Vec<(Timestamp, f64)> {
    returns
        .0
        .windows(window.max(2))
        .filter_map(|own| {
            let values: Vec<f64> = own.iter().map(|one| one.value).collect();
            let sharpe = ReturnFigures::of(&values, per_year)?.sharpe?;
            Some((own.last()?.start, sharpe))
        })
        .collect()
}

/// Covariance with a benchmark's returns divided by their variance, and the annualised mean of what
/// is left: `mean(own) - beta * mean(benchmark)`, compounded over a year as empyrical does.
pub fn beta_and_alpha(own: &[f64], benchmark: &[f64], per_year: f64) -> Option<(f64, f64)> {
    let n = own.len().min(benchmark.len());
    if n < 2 {
        return None;
    }
    let pairs = || own.iter().zip(benchmark);
    let mean = |values: &[f64]| values.iter().take(n).sum::<f64>() / n as f64;
    let (a, b) = (mean(own), mean(benchmark));
    let covariance: f64 = pairs().map(|(x, y)| (x - a) * (y - b)).sum();
    let variance: f64 = pairs().map(|(_, y)| (y - b).powi(2)).sum();
    if variance <= 0.0 {
        return None;
    }
    let beta = covariance / variance;
    let alpha = a - beta * b;
    Some((beta, (1.0 + alpha).powf(per_year) - 1.0))
}

#[cfg(test)]
mod tests {
    use rust_decimal::Decimal;

    use super::*;

    /// tests/outside/backtest_performance.py compares longer series with empyrical and quantstats.
    const RETURNS: [f64; 5] = [0.01, -0.02, 0.015, 0.0, -0.005];

    #[test]
    fn ratios_match_their_definitions() {
        let figures = ReturnFigures::of(&RETURNS, 252.0).unwrap();
        // mean 0; the sum of the returns is zero.
        assert!(figures.sharpe.unwrap().abs() < 1e-12);
        let total = 1.01 * 0.98 * 1.015 * 1.0 * 0.995 - 1.0;
        assert!((figures.total - total).abs() < 1e-15);
        assert!((figures.max_drawdown - -0.02).abs() < 1e-12);
        assert_eq!(figures.positive, Some(0.5));
        assert_eq!(ReturnFigures::of(&[], 252.0), None);
        // empyrical has no ratio of one return either.
        let one = ReturnFigures::of(&[-0.1], 252.0).unwrap();
        assert_eq!((one.sharpe, one.sortino), (None, None));
    }

    #[test]
    fn periods_start_at_their_calendar_boundaries() {
        let time = Timestamp::parse("2024-02-29T13:45:00Z").unwrap();
        for (period, expected) in [
            (Period::Hour, "2024-02-29T13:00:00Z"),
            (Period::Day, "2024-02-29T00:00:00Z"),
            (Period::Week, "2024-02-26T00:00:00Z"),
            (Period::Month, "2024-02-01T00:00:00Z"),
        ] {
            assert_eq!(period.start(time).to_string(), expected);
        }
    }

    #[test]
    fn returns_are_between_the_last_values_of_days() {
        let point = |text: &str, value: i64| Point {
            time: Timestamp::parse(text).unwrap(),
            value: Decimal::from(value),
        };
        let points = [
            point("2024-01-01T01:00:00Z", 100),
            point("2024-01-01T23:00:00Z", 110),
            point("2024-01-03T12:00:00Z", 99),
            point("2024-01-03T13:00:00Z", 121),
        ];
        let returns = periodic(&points, Period::Day).unwrap().values();
        assert_eq!(returns.len(), 2);
        assert!((returns[0] - 0.1).abs() < 1e-12 && (returns[1] - 0.1).abs() < 1e-12);
        assert_eq!(periodic(&[point("2024-01-01", 0)], Period::Day), None);
    }
}
