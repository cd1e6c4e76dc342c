//! Risk from a NAV series: drawdown, volatility, and return per unit of either.
//!
//! Each figure needs a number of observations below which it says more about luck than about
//! the fund. Under it the figure is absent, with the reason. Ratios are annualised with 252
//! trading days; returns are simple, not logarithmic.

use jiff::civil::Date;
use rust_decimal::Decimal;

use crate::figures::{count, percent_change, rounded_float, sample_deviation};
use crate::nav::{NavPoint, daily_returns};

/// Trading days of a year, by which daily figures are scaled.
const TRADING_DAYS: f64 = 252.0;
/// Records under which the deepest fall is not worth telling.
pub const MIN_RECORDS_DRAWDOWN: usize = 10;
/// Daily returns under which a deviation is noise.
pub const MIN_RETURNS_VOLATILITY: usize = 20;
/// Daily returns, about a quarter, under which a ratio is noise.
pub const MIN_RETURNS_RATIO: usize = 60;
/// Daily returns, about a year, that a yearly ratio needs.
pub const MIN_RETURNS_YEARLY: usize = 240;

/// What a series says about risk.
#[derive(Clone, Debug, PartialEq)]
pub struct RiskMetrics {
    /// How many NAVs there were.
    pub records: usize,
    /// The first and the last day.
    pub span: Option<(Date, Date)>,
    /// The deepest fall from a peak.
    pub max_drawdown: Measured<Drawdown>,
    /// Sample deviation of daily returns, scaled to a year, in percent.
    pub volatility: Measured<Decimal>,
    /// Excess return a year over its volatility.
    pub sharpe: Measured<Decimal>,
    /// Excess return a year over its downside deviation.
    pub sortino: Measured<Decimal>,
    /// Return a year over the deepest fall.
    pub calmar: Measured<Decimal>,
}

/// A figure, or why there is none.
pub type Measured<T> = Result<T, Unmeasured>;

/// Why there is no figure.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Unmeasured {
    /// Too few observations.
    #[error("needs {needed} {of}, there are {found}")]
    TooFew {
        /// How many it needs.
        needed: usize,
        /// How many there are.
        found: usize,
        /// Of what.
        of: Observation,
    },
    /// The series never moved, or never down.
    #[error("the series has no {0} to divide by")]
    NothingToDivideBy(&'static str),
}

/// What is counted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Observation {
    /// Days with a NAV.
    Records,
    /// Steps from one such day to the next.
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

/// The deepest fall from a peak.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Drawdown {
    /// In percent of the peak, zero or negative.
    pub percent: Decimal,
    /// The day of the peak.
    pub peak: Date,
    /// The day of the lowest value after it.
    pub trough: Date,
}

/// What these days say about risk, against a riskless return of `risk_free` percent a year.
pub fn measure(points: &[NavPoint], risk_free: f64) -> RiskMetrics {
    let returns = daily_returns(points);
    let deviation = sample_deviation(&returns).unwrap_or_default();
    let yearly_return = returns.iter().sum::<f64>() / count(returns.len().max(1)) * TRADING_DAYS;
    let excess = yearly_return - risk_free / 100.0;
    let drawdown = deepest_fall(points);
    RiskMetrics {
        records: points.len(),
        span: points.first().zip(points.last()).map(|(first, last)| (first.date, last.date)),
        max_drawdown: enough(points.len(), MIN_RECORDS_DRAWDOWN, Observation::Records)
            .and_then(|()| drawdown.ok_or(Unmeasured::NothingToDivideBy("value"))),
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

fn enough(found: usize, needed: usize, of: Observation) -> Measured<()> {
    if found >= needed { Ok(()) } else { Err(Unmeasured::TooFew { needed, found, of }) }
}

fn enough_returns(returns: &[f64], needed: usize) -> Measured<()> {
    enough(returns.len(), needed, Observation::DailyReturns)
}

fn ratio(above: f64, below: f64, what: &'static str) -> Measured<Decimal> {
    if below > 0.0 { figure(above / below) } else { Err(Unmeasured::NothingToDivideBy(what)) }
}

fn figure(value: f64) -> Measured<Decimal> {
    rounded_float(value).ok_or(Unmeasured::NothingToDivideBy("number"))
}

/// Root mean square of how far returns fall short of `target`; days above it count as zero.
fn downside_deviation(returns: &[f64], target: f64) -> f64 {
    let squares: f64 = returns.iter().map(|daily| (daily - target).min(0.0).powi(2)).sum();
    (squares / count(returns.len().max(1))).sqrt()
}

fn deepest_fall(points: &[NavPoint]) -> Option<Drawdown> {
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
        // Up 1 %, down 0.5 %, in turns: mean 0.25 %, deviation 0.75 % of 252 returns, within
        // the divisor of n − 1; downside deviation √(0.005² / 2).
        let mut value = 100.0;
        let values = std::iter::once(100.0).chain((0..252).map(|day| {
            value *= if day % 2 == 0 { 1.01 } else { 0.995 };
            value
        }));
        let metrics = measure(&points(values), 0.0);
        let close = |measured: &Measured<Decimal>, expected: f64| {
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
