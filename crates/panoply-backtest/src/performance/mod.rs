//! Performance of a run: key figures per currency, computed once when the run is sealed.
//!
//! Definitions are stated at each field. Ratios follow `empyrical` and `quantstats`: returns of
//! periods that end with the last value of a UTC day, sample standard deviation, no risk-free rate,
//! 252 periods a year unless the caller says otherwise.

pub mod deflated;
pub mod drawdown;
pub mod returns;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use self::drawdown::max_drawdown;
use self::returns::{Period, ReturnFigures};
use crate::position::decimal_text;
pub use crate::sealed::books::curve::{CurveInfo, CurveSource, Point};
pub use crate::sealed::books::trades::Trade;

/// Trading days of a year.
pub const PERIODS_PER_YEAR: f64 = 252.0;

/// The key figures of a run, stored in its head and in the catalog.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunSummary {
    /// By currency, sorted; an empty name when the log names none.
    pub currencies: Vec<CurrencyFigures>,
    /// Nanoseconds during which at least one position was open.
    pub in_market: i64,
    /// Fills with missing or invalid fields.
    pub unusable_fills: u64,
}

/// The key figures of one currency.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CurrencyFigures {
    /// The currency; empty when the log names none.
    pub currency: String,
    /// The source of the curve; `None` when the log has no curve in this currency.
    pub source: Option<CurveSource>,
    /// Whether the curve is the value of an account.
    pub is_account: bool,
    /// First value of the curve.
    #[serde(with = "decimal_text")]
    pub start: Decimal,
    /// Last value of the curve.
    #[serde(with = "decimal_text")]
    pub end: Decimal,
    /// Largest fall of the curve below its previous maximum.
    #[serde(with = "decimal_text")]
    pub max_drawdown: Decimal,
    /// The largest fall in percent of the previous maximum; `None` unless it is an account.
    pub max_drawdown_percent: Option<f64>,
    /// Closed trades.
    pub trades: u64,
    /// Trades that are open at the end.
    pub open: u64,
    /// Closed trades with a profit.
    pub wins: u64,
    /// Closed trades with a loss.
    pub losses: u64,
    /// Sum of the profits of the winning trades.
    #[serde(with = "decimal_text")]
    pub gross_profit: Decimal,
    /// Sum of the losses of the losing trades, negative.
    #[serde(with = "decimal_text")]
    pub gross_loss: Decimal,
    /// Commissions of all fills.
    #[serde(with = "decimal_text")]
    pub commission: Decimal,
    /// Mean holding time of the closed trades, in seconds.
    pub mean_holding_seconds: Option<f64>,
    /// Figures of the daily returns; `None` unless the curve is a positive account value.
    pub returns: Option<ReturnFigures>,
}

impl CurrencyFigures {
    /// Last minus first value of the curve.
    pub fn profit(&self) -> Decimal {
        self.end.checked_sub(self.start).unwrap_or_default()
    }

    /// Winning trades among the closed ones.
    pub fn win_rate(&self) -> Option<f64> {
        (self.trades > 0).then(|| self.wins as f64 / self.trades as f64)
    }

    /// Gross profit divided by gross loss.
    pub fn profit_factor(&self) -> Option<f64> {
        profit_factor(self.gross_profit, self.gross_loss)
    }
}

/// Gross profit divided by the absolute gross loss; `None` without a loss.
pub fn profit_factor(gross_profit: Decimal, gross_loss: Decimal) -> Option<f64> {
    gross_profit.checked_div(gross_loss.abs()).map(crate::position::to_f64)
}

/// The key figures of one currency from its curve and trades.
pub(crate) fn summarize(
    currency: &str,
    source: Option<(CurveSource, bool)>,
    points: &[Point],
    trades: &[&Trade],
    commission: Decimal,
) -> CurrencyFigures {
    let is_account = source.is_some_and(|(_, is_account)| is_account);
    let (fall, percent) = max_drawdown(points);
    let closed: Vec<&Trade> =
        trades.iter().copied().filter(|trade| trade.closed.is_some()).collect();
    let profits: Vec<Decimal> = closed.iter().map(|trade| trade.profit()).collect();
    let sum = |wanted: fn(&Decimal) -> bool| {
        let total = profits.iter().filter(|profit| wanted(profit));
        total.fold(Decimal::ZERO, |sum, profit| sum.checked_add(*profit).unwrap_or(sum))
    };
    let count = |wanted: fn(&Decimal) -> bool| {
        profits.iter().filter(|profit| wanted(profit)).count() as u64
    };
    let is_win = |profit: &Decimal| *profit > Decimal::ZERO;
    let is_loss = |profit: &Decimal| *profit < Decimal::ZERO;
    let daily = is_account.then(|| returns::periodic(points, Period::Day)).flatten();
    CurrencyFigures {
        currency: currency.to_owned(),
        source: source.map(|(source, _)| source),
        is_account,
        start: points.first().map_or(Decimal::ZERO, |point| point.value),
        end: points.last().map_or(Decimal::ZERO, |point| point.value),
        max_drawdown: fall,
        max_drawdown_percent: is_account.then(|| crate::position::to_f64(percent)),
        trades: closed.len() as u64,
        open: (trades.len() - closed.len()) as u64,
        wins: count(is_win),
        losses: count(is_loss),
        gross_profit: sum(is_win),
        gross_loss: sum(is_loss),
        commission,
        mean_holding_seconds: mean_holding(&closed),
        returns: daily.and_then(|series| ReturnFigures::of(&series.values(), PERIODS_PER_YEAR)),
    }
}

/// Mean holding time of closed trades, in seconds.
pub fn mean_holding(closed: &[&Trade]) -> Option<f64> {
    let held = |trade: &&Trade| {
        let end = trade.closed?.nanos();
        Some(end.saturating_sub(trade.opened.nanos()) as f64 / 1e9)
    };
    let times: Vec<f64> = closed.iter().filter_map(held).collect();
    (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
}
