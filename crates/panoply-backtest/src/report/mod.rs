//! The performance report of a run: equity curve, drawdown and trades.
//!
//! The curve is the account's equity if the log has it, else profit and loss, else the balance,
//! else the realized profit of the fills. A trade lasts from flat to flat in one security, or to
//! the point where the position changes sides; its profit is by average cost, net of commissions.

pub mod html;

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde::Serialize;

use crate::error::{LogError, Stop, check_stop};
use crate::event::EventType;
use crate::position::{Position, decimal, to_f64};
use crate::query::reader::SealedRun;
use crate::query::selection::Filter;
use crate::run::RunHeader;
use crate::scan;
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
    /// The equity curve.
    pub curve: Vec<Point>,
    /// Closed trades, in order of closing.
    pub trades: Vec<Trade>,
}

/// A point of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The timestamp.
    pub time: Timestamp,
    /// The amount.
    pub value: Decimal,
}

/// The source of the curve.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Curve {
    /// Account equity.
    Equity,
    /// Realized plus unrealized profit, added to the first balance if there is one.
    Pnl,
    /// Account balance.
    Balance,
    /// Realized profit of the fills, added to the first balance if there is one.
    Fills,
}

impl Curve {
    /// The heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Equity => "Equity",
            Self::Pnl => "Profit and loss",
            Self::Balance => "Balance",
            Self::Fills => "Realized profit by the fills",
        }
    }
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
    /// The source of the curve.
    pub curve: Curve,
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
    pub trades: usize,
    /// Number of trades open at the end.
    pub open: usize,
    /// Trades with a profit.
    pub wins: usize,
    /// Trades with a loss.
    pub losses: usize,
    /// Total profit of the winning trades.
    pub gross_profit: f64,
    /// Total loss of the losing trades, negative.
    pub gross_loss: f64,
    /// Commissions of all fills.
    pub commissions: f64,
    /// Fills with missing or invalid fields.
    pub unusable_fills: u64,
}

/// A trade, from flat to flat.
#[derive(Clone, Debug, PartialEq)]
pub struct Trade {
    /// The security.
    pub symbol: String,
    /// Time of the first fill.
    pub opened: Timestamp,
    /// Time of the last fill.
    pub closed: Timestamp,
    /// Long or short.
    pub is_long: bool,
    /// Largest position.
    pub size: Decimal,
    /// Price of the first fill.
    pub entry: Decimal,
    /// Price of the last fill.
    pub exit: Decimal,
    /// Number of fills.
    pub fills: u32,
    /// Realized profit, net of commissions.
    pub profit: Decimal,
}

impl SealedRun {
    /// Computes the performance report.
    pub fn performance_report(
        &self,
        header: RunHeader,
        stop: Stop<'_>,
    ) -> Result<Report, LogError> {
        let types = vec![EventType::TradeExecution, EventType::StateChange];
        let filter = Filter { types, ..Filter::default() };
        let selection = self.select(&filter, self.between(None, None)?)?;
        let mut builder = ReportBuilder::default();
        for (place, seq) in selection.iter().enumerate() {
            if place % 1024 == 0 {
                check_stop(stop)?;
            }
            let event = self.event(seq)?;
            let (time, json) = (event.timestamp(), event.properties());
            if event.event_type() == EventType::StateChange {
                builder.state(time, json);
            } else if builder.fill(time, json).is_none() {
                builder.unusable += 1;
            }
        }
        let (first, last) = (Timestamp::from_nanos(self.head().first), self.last_time());
        Ok(builder.report(self.id().to_string(), header, self.head().events, (first, last)))
    }
}

#[derive(Default)]
struct ReportBuilder {
    equity: Vec<Point>,
    pnl: Vec<Point>,
    balance: Vec<Point>,
    fills: Vec<Point>,
    open: BTreeMap<String, (Position, Option<Trade>, Decimal)>,
    trades: Vec<Trade>,
    realized: Decimal,
    commissions: Decimal,
    unusable: u64,
}

impl ReportBuilder {
    fn state(&mut self, time: Timestamp, json: &str) {
        let number = |path| scan::at_path(json, path)?.number_text().and_then(decimal);
        let kind = scan::member(json, "StateType").and_then(|token| token.text());
        match kind.as_deref() {
            Some("Account") => {
                let series = [
                    (&mut self.equity, "StateAfter.Equity"),
                    (&mut self.balance, "StateAfter.Balance"),
                ];
                for (points, path) in series {
                    points.extend(number(path).map(|value| Point { time, value }));
                }
            }
            Some("PnL") => {
                let open = number("StateAfter.UnrealizedPnL").unwrap_or_default();
                let whole = number("StateAfter.RealizedPnL").and_then(|own| own.checked_add(open));
                self.pnl.extend(whole.map(|value| Point { time, value }));
            }
            _ => {}
        }
    }

    fn fill(&mut self, time: Timestamp, json: &str) -> Option<()> {
        let number = |name| scan::member(json, name)?.number_text().and_then(decimal);
        let symbol = scan::member(json, "SecuritySymbol")?.id_text()?.into_owned();
        let (quantity, price) = (number("Quantity")?, number("Price")?);
        let signed = match scan::member(json, "Direction")?.text()?.as_ref() {
            "Buy" => quantity,
            "Sell" => -quantity,
            _ => return None,
        };
        let fee = number("Commission").unwrap_or_default();
        let (position, trade, at_start) = self.open.entry(symbol.clone()).or_default();
        let before = position.clone();
        position.fill(signed, price, fee)?;
        let earned = position.realized.checked_sub(before.realized)?;
        self.realized = self.realized.checked_add(earned)?;
        self.commissions = self.commissions.checked_add(fee)?;
        self.fills.push(Point { time, value: self.realized });
        let (was, now) = (before.quantity, position.quantity);
        let flipped =
            !now.is_zero() && !was.is_zero() && now.is_sign_negative() != was.is_sign_negative();
        if let Some(mut ended) = trade.take() {
            ended.fills += 1;
            ended.size = ended.size.max(now.abs());
            if flipped || now.is_zero() {
                let profit = position.realized.checked_sub(*at_start)?;
                let size = ended.size.max(was.abs());
                self.trades.push(Trade { closed: time, exit: price, profit, size, ..ended });
                *at_start = position.realized;
            } else {
                *trade = Some(ended);
            }
        } else {
            *at_start = before.realized;
        }
        if trade.is_none() && !now.is_zero() {
            *trade = Some(Trade {
                symbol,
                opened: time,
                closed: time,
                is_long: !now.is_sign_negative(),
                size: now.abs(),
                entry: price,
                exit: price,
                fills: 1,
                profit: Decimal::ZERO,
            });
        }
        Some(())
    }

    fn report(
        self,
        run: String,
        header: RunHeader,
        events: u32,
        (first, last): (Timestamp, Timestamp),
    ) -> Report {
        let base = self.balance.first().map(|point| point.value);
        let with_base = |points: Vec<Point>| -> Vec<Point> {
            let raise = |point: Point| Point {
                value: point.value.checked_add(base.unwrap_or_default()).unwrap_or(point.value),
                ..point
            };
            let start = Point { time: first, value: Decimal::ZERO };
            std::iter::once(start).chain(points).map(raise).collect()
        };
        let (curve, points, is_account) = if self.equity.len() > 1 {
            (Curve::Equity, self.equity, true)
        } else if self.pnl.len() > 1 {
            (Curve::Pnl, with_base(self.pnl), base.is_some())
        } else if self.balance.len() > 2 {
            (Curve::Balance, self.balance, true)
        } else {
            (Curve::Fills, with_base(self.fills), base.is_some())
        };
        let (fall, share) = max_drawdown(&points);
        let sum = |wanted: fn(&Trade) -> bool| -> Decimal {
            self.trades.iter().filter(|trade| wanted(trade)).map(|trade| trade.profit).sum()
        };
        let figures = Figures {
            events,
            first: first.with_millis(),
            last: last.with_millis(),
            curve,
            start: points.first().map_or(0.0, |point| to_f64(point.value)),
            end: points.last().map_or(0.0, |point| to_f64(point.value)),
            max_drawdown: to_f64(fall),
            max_drawdown_percent: is_account.then(|| to_f64(share)),
            trades: self.trades.len(),
            open: self.open.values().filter(|(_, trade, _)| trade.is_some()).count(),
            wins: self.trades.iter().filter(|trade| trade.profit > Decimal::ZERO).count(),
            losses: self.trades.iter().filter(|trade| trade.profit < Decimal::ZERO).count(),
            gross_profit: to_f64(sum(|trade| trade.profit > Decimal::ZERO)),
            gross_loss: to_f64(sum(|trade| trade.profit < Decimal::ZERO)),
            commissions: to_f64(self.commissions),
            unusable_fills: self.unusable,
        };
        Report { run, header, figures, curve: points, trades: self.trades }
    }
}

/// The maximum drawdown as an amount and in percent of the peak, which may occur at different
/// times.
fn max_drawdown(points: &[Point]) -> (Decimal, Decimal) {
    let (mut height, mut fall, mut share) = (None::<Decimal>, Decimal::ZERO, Decimal::ZERO);
    for point in points {
        let top = height.map_or(point.value, |height| height.max(point.value));
        height = Some(top);
        let Some(below) = top.checked_sub(point.value) else { continue };
        fall = fall.max(below);
        if top > Decimal::ZERO
            && let Some(own) =
                below.checked_div(top).and_then(|own| own.checked_mul(Decimal::ONE_HUNDRED))
        {
            share = share.max(own);
        }
    }
    (fall, share)
}
