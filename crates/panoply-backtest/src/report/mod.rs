//! The performance report of a run: equity curves, drawdowns and trades, by currency.

pub mod converted;
pub mod html;

use serde::Serialize;

use self::converted::ConvertedFigures;
use crate::error::LogError;
use crate::performance::{CurrencyFigures, CurveSource, Point, Trade};
use crate::position::to_f64;
use crate::query::reader::SealedRun;
use crate::run::RunHeader;
use crate::timestamp::Timestamp;

/// A performance report.
#[derive(Debug)]
pub struct Report {
    /// The run's id.
    pub run: String,
    /// The run's metadata.
    pub header: RunHeader,
    /// The key figures.
    pub figures: Figures,
    /// The curve of each currency, in the order of the figures; empty if there is none.
    pub curves: Vec<Vec<Point>>,
    /// Closed trades, in order of closing.
    pub trades: Vec<Trade>,
}

/// Key figures of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    /// Number of events.
    pub events: u32,
    /// Time of the first event.
    pub first: String,
    /// Time of the last event.
    pub last: String,
    /// Fills with missing or invalid fields.
    pub unusable_fills: u64,
    /// The figures of the only currency.
    #[serde(flatten)]
    pub only: Option<MoneyFigures>,
    /// The figures by currency; amounts of different currencies are never added.
    pub currencies: Vec<MoneyFigures>,
    /// Amounts of all currencies in one, with the rates; absent if none was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub converted: Option<ConvertedFigures>,
}

/// Key figures in one currency.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MoneyFigures {
    /// The currency; empty when the log names none.
    pub currency: String,
    /// The source of the curve.
    pub curve: Option<CurveSource>,
    /// First value of the curve.
    pub start: f64,
    /// Last value of the curve.
    pub end: f64,
    /// Maximum drawdown.
    pub max_drawdown: f64,
    /// Maximum drawdown in percent of the preceding peak; null when the curve is not of an
    /// account.
    pub max_drawdown_percent: Option<f64>,
    /// Number of closed trades.
    pub trades: u64,
    /// Number of trades open at the end.
    pub open: u64,
    /// Trades with a profit.
    pub wins: u64,
    /// Trades with a loss.
    pub losses: u64,
    /// Total profit of the winning trades.
    pub gross_profit: f64,
    /// Total loss of the losing trades, negative.
    pub gross_loss: f64,
    /// Commissions of all fills.
    pub commissions: f64,
    /// Annualised Sharpe ratio of the daily returns.
    pub sharpe: Option<f64>,
}

impl From<&CurrencyFigures> for MoneyFigures {
    fn from(own: &CurrencyFigures) -> Self {
        Self {
            currency: own.currency.clone(),
            curve: own.source,
            start: to_f64(own.start),
            end: to_f64(own.end),
            max_drawdown: to_f64(own.max_drawdown),
            max_drawdown_percent: own.max_drawdown_percent,
            trades: own.trades,
            open: own.open,
            wins: own.wins,
            losses: own.losses,
            gross_profit: to_f64(own.gross_profit),
            gross_loss: to_f64(own.gross_loss),
            commissions: to_f64(own.commission),
            sharpe: own.returns.as_ref().and_then(|returns| returns.sharpe),
        }
    }
}

impl SealedRun {
    /// Computes the performance report.
    pub fn performance_report(&self, header: RunHeader) -> Result<Report, LogError> {
        let head = self.head();
        let currencies: Vec<MoneyFigures> =
            head.summary.currencies.iter().map(MoneyFigures::from).collect();
        let only = match currencies.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        };
        let mut curves = Vec::new();
        for figures in &currencies {
            let number = head.curves.iter().position(|curve| curve.currency == figures.currency);
            curves.push(match number {
                Some(number) => self.curve(number)?,
                None => Vec::new(),
            });
        }
        let trades = self.trades()?;
        let closed = trades.iter().flat_map(|chunk| chunk.iter());
        let closed = closed.filter(|trade| trade.closed.is_some()).cloned();
        let figures = Figures {
            events: head.events,
            first: Timestamp::from_nanos(head.first).with_millis(),
            last: self.last_time().with_millis(),
            unusable_fills: head.summary.unusable_fills,
            only,
            currencies,
            converted: None,
        };
        let run = self.id().to_string();
        Ok(Report { run, header, figures, curves, trades: closed.collect() })
    }
}
