//! Risk metrics of a NAV series: drawdown, volatility, Sharpe, Sortino and Calmar ratios.
//!
//! Each metric needs a minimum number of observations; below it the metric is absent, with the
//! reason. Ratios are annualised with 252 trading days; returns are simple, not logarithmic.

use jiff::civil::Date;
use rust_decimal::Decimal;

use crate::figures::{count, percent_change, rounded_float, sample_deviation};
use crate::nav::{NavPoint, daily_returns};

/// Trading days per year, for annualisation.
const TRADING_DAYS: f64 = 252.0;
/// Minimum NAVs for a drawdown.
pub const MIN_RECORDS_DRAWDOWN: usize = 10;
/// Minimum daily returns for a volatility.
pub const MIN_RETURNS_VOLATILITY: usize = 20;
/// Minimum daily returns for a Sharpe or Sortino ratio, about a quarter of a year.
pub const MIN_RETURNS_RATIO: usize = 60;
/// Minimum daily returns for a Calmar ratio, about a year.
pub const MIN_RETURNS_YEARLY: usize = 240;

/// Risk metrics of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct RiskMetrics {
    /// Number of NAVs.
    pub records: usize,
    /// First and last date.
    pub span: Option<(Date, Date)>,
    /// Maximum drawdown.
    pub max_drawdown: MetricResult<Drawdown>,
    /// Annualised sample deviation of daily returns, in percent.
    pub volatility: MetricResult<Decimal>,
    /// Annualised excess return divided by volatility.
    pub sharpe: MetricResult<Decimal>,
    /// Annualised excess return divided by downside deviation.
    pub sortino: MetricResult<Decimal>,
    /// Annualised return divided by maximum drawdown.
    pub calmar: MetricResult<Decimal>,
}

/// A metric, or why it is absent.
pub type MetricResult<T> = Result<T, MetricError>;

/// Why a metric is absent.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum MetricError {
    /// Too few observations.
    #[error("needs {needed} {of}, there are {found}")]
    TooFewObservations {
        /// Required number.
        needed: usize,
        /// Available number.
        found: usize,
        /// Kind of observation.
        of: Observation,
    },
    /// The divisor is zero: the series never moved, or never down.
    #[error("the series has no {0} to divide by")]
    ZeroDivisor(&'static str),
}

/// Kind of observation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Observation {
    /// Days with a NAV.
    Records,
    /// Returns between consecutive NAVs.
    DailyReturns,
}

impl std::fmt::Display for Observation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Records => "NAV records",
            Self::DailyReturns => "daily returns",
        })
    }
}

/// Largest fall from a peak.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Drawdown {
    /// In percent of the peak, zero or negative.
    pub percent: Decimal,
    /// Date of the peak.
    pub peak: Date,
    /// Date of the lowest value after it.
    pub trough: Date,
}

/// Computes the metrics against a risk-free return of `risk_free` percent a year.
pub fn measure(points: &[NavPoint], risk_free: f64) -> RiskMetrics {
    let returns = daily_returns(points);
    let deviation = sample_deviation(&returns).unwrap_or_default();
    let yearly_return = returns.iter().sum::<f64>() / count(returns.len().max(1)) * TRADING_DAYS;
    let excess = yearly_return - risk_free / 100.0;
    let drawdown = max_drawdown_of(points);
    RiskMetrics {
        records: points.len(),
        span: points.first().zip(points.last()).map(|(first, last)| (first.date, last.date)),
        max_drawdown: enough(points.len(), MIN_RECORDS_DRAWDOWN, Observation::Records)
            .and_then(|()| drawdown.ok_or(MetricError::ZeroDivisor("value"))),
        volatility: enough_returns(&returns, MIN_RETURNS_VOLATILITY)
            .and_then(|()| figure(deviation * TRADING_DAYS.sqrt() * 100.0)),
        sharpe: enough_returns(&returns, MIN_RETURNS_RATIO)
            .and_then(|()| ratio(excess, deviation * TRADING_DAYS.sqrt(), "volatility")),
        sortino: enough_returns(&returns, MIN_RETURNS_RATIO).and_then(|()| {
            let downside = downside_deviation(&returns, risk_free / 100.0 / TRADING_DAYS);
            ratio(excess, downside * TRADING_DAYS.sqrt(), "loss")
        }),
        calmar: enough_returns(&returns, MIN_RETURNS_YEARLY).and_then(|()| {
            let fall = drawdown.map_or(0.0, |fall| crate::figures::to_f64(fall.percent).abs());
            ratio(yearly_return * 100.0, fall, "fall")
        }),
    }
}

fn enough(found: usize, needed: usize, of: Observation) -> MetricResult<()> {
    if found >= needed {
        Ok(())
    } else {
        Err(MetricError::TooFewObservations { needed, found, of })
    }
}

fn enough_returns(returns: &[f64], needed: usize) -> MetricResult<()> {
    enough(returns.len(), needed, Observation::DailyReturns)
}

fn ratio(above: f64, below: f64, what: &'static str) -> MetricResult<Decimal> {
    if below > 0.0 { figure(above / below) } else { Err(MetricError::ZeroDivisor(what)) }
}

fn figure(value: f64) -> MetricResult<Decimal> {
    rounded_float(value).ok_or(MetricError::ZeroDivisor("number"))
}

/// Downside deviation: root mean square of the shortfall below `target`.
fn downside_deviation(returns: &[f64], target: f64) -> f64 {
    let squares: f64 = returns.iter().map(|daily| (daily - target).min(0.0).powi(2)).sum();
    (squares / count(returns.len().max(1))).sqrt()
}

/// Largest fall of a series; `None` when it has no point, or one of zero.
pub fn max_drawdown_of(points: &[NavPoint]) -> Option<Drawdown> {
    let mut peak = *points.first()?;
    let mut deepest = Drawdown { percent: Decimal::ZERO, peak: peak.date, trough: peak.date };
    for point in points {
        if point.nav > peak.nav {
            peak = *point;
        }
        let percent = percent_change(peak.nav, point.nav)?;
        if percent < deepest.percent {
            deepest = Drawdown { percent, peak: peak.date, trough: point.date };
        }
    }
    Some(deepest)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn points(values: impl Iterator<Item = f64>) -> Vec<NavPoint> {
        let start = date(2024, 1, 1);
        let point = |(value, day): (f64, i64)| NavPoint {
            date: start + jiff::Span::new().days(day),
            nav: Decimal::from_f64_retain(value).unwrap().round_dp(6),
        };
        values.zip(0..).map(point).collect()
    }

    #[test]
    fn max_drawdown_is_measured_from_the_preceding_peak() {
        let values = [10.0, 12.0, 9.0, 11.0, 13.0, 10.4, 14.0, 13.0, 12.9, 14.0];
        let metrics = measure(&points(values.into_iter()), 0.0);
        let fall = metrics.max_drawdown.unwrap();
        assert_eq!(fall.percent, (-25).into());
        assert_eq!((fall.peak, fall.trough), (date(2024, 1, 2), date(2024, 1, 3)));
    }

    #[test]
    fn missing_metric_reports_the_observations_it_needs() {
        let metrics = measure(&points((0..29).map(|day| 10.0 + f64::from(day % 3))), 0.0);
        assert!(metrics.max_drawdown.is_ok() && metrics.volatility.is_ok());
        assert_eq!(metrics.sharpe.unwrap_err().to_string(), "needs 60 daily returns, there are 28");
        assert_eq!(
            metrics.calmar.unwrap_err().to_string(),
            "needs 240 daily returns, there are 28"
        );
        let metrics = measure(&points([10.0, 11.0].into_iter()), 0.0);
        assert!(metrics.max_drawdown.unwrap_err().to_string().contains("needs 10 NAV records"));
        assert!(measure(&[], 0.0).volatility.is_err());
    }

    #[test]
    fn one_year_of_navs_yields_every_ratio() {
        // Alternating +1 % and −0.5 %: mean 0.25 %, deviation 0.75 % times √(252 / 251), downside
        // deviation √(0.005² / 2).
        let mut value = 100.0;
        let values = std::iter::once(100.0).chain((0..252).map(|day| {
            value *= if day % 2 == 0 { 1.01 } else { 0.995 };
            value
        }));
        let metrics = measure(&points(values), 0.0);
        let close = |measured: &MetricResult<Decimal>, expected: f64| {
            let seen = crate::figures::to_f64(*measured.as_ref().unwrap());
            assert!((seen - expected).abs() < 0.01, "{seen} is not {expected}");
        };
        let deviation = 0.0075 * (252.0_f64 / 251.0).sqrt();
        close(&metrics.volatility, deviation * 252.0_f64.sqrt() * 100.0);
        close(&metrics.sharpe, 0.0025 * 252.0 / (deviation * 252.0_f64.sqrt()));
        let downside = (0.005_f64.powi(2) / 2.0).sqrt();
        close(&metrics.sortino, 0.0025 * 252.0 / (downside * 252.0_f64.sqrt()));
        close(&metrics.calmar, 0.0025 * 252.0 * 100.0 / 0.5);
    }

    #[test]
    fn series_without_losses_has_no_sortino_or_calmar_ratio() {
        let metrics = measure(&points((0..300).map(|day| 10.0 + f64::from(day))), 0.0);
        assert_eq!(metrics.max_drawdown.unwrap().percent, Decimal::ZERO);
        assert!(metrics.sortino.unwrap_err().to_string().contains("no loss"));
        assert!(metrics.calmar.is_err());
        assert!(metrics.sharpe.is_ok());
        let flat = measure(&points((0..300).map(|_| 10.0)), 0.0);
        assert!(flat.sharpe.unwrap_err().to_string().contains("no volatility"));
    }
}
