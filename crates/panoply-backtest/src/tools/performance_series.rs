//! The equity curve of `get_performance`, down-sampled, and the figures of the trades of a period.

use panoply_contract::prelude::*;
use rust_decimal::Decimal;

use crate::performance::drawdown::drawdowns;
use crate::performance::{Point, Trade, mean_holding, profit_factor};
use crate::position::to_f64;
use crate::timestamp::Timestamp;

/// A point of the equity curve.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EquityPoint {
    /// The time.
    time: String,
    /// The value.
    value: f64,
    /// The value minus the maximum so far, zero or negative.
    drawdown: f64,
}

/// Figures of the closed trades.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TradeFigures {
    /// Trades closed in the period.
    closed: usize,
    /// Those with a profit.
    wins: usize,
    /// Those with a loss.
    losses: usize,
    /// Wins among the closed trades.
    win_rate: Option<f64>,
    /// Sum of the profits divided by the absolute sum of the losses; null without a loss.
    profit_factor: Option<f64>,
    /// Sum of the profits of the winning trades.
    gross_profit: f64,
    /// Sum of the losses of the losing trades, negative.
    gross_loss: f64,
    /// Mean profit of a closed trade.
    mean_profit: Option<f64>,
    /// Mean holding time of a closed trade, in seconds.
    mean_holding_seconds: Option<f64>,
}

impl TradeFigures {
    /// The figures of trades in a currency that were closed from `from` to `to`.
    pub(super) fn of<'a>(
        trades: impl Iterator<Item = &'a Trade>,
        currency: &str,
        (from, to): (Timestamp, Timestamp),
    ) -> Self {
        let is_inside = |time: Timestamp| (from..=to).contains(&time);
        let closed: Vec<&Trade> = trades
            .filter(|trade| trade.currency == currency && trade.closed.is_some_and(is_inside))
            .collect();
        let sum = |wanted: fn(&Decimal) -> bool| {
            let profits = closed.iter().map(|trade| trade.profit()).filter(wanted);
            profits.fold((0, Decimal::ZERO), |(count, sum), own| {
                (count + 1, sum.checked_add(own).unwrap_or(sum))
            })
        };
        let (wins, gross_profit) = sum(|profit| *profit > Decimal::ZERO);
        let (losses, gross_loss) = sum(|profit| *profit < Decimal::ZERO);
        let share = |part: f64| (!closed.is_empty()).then(|| part / closed.len() as f64);
        let whole = gross_profit.checked_add(gross_loss).unwrap_or_default();
        Self {
            closed: closed.len(),
            wins,
            losses,
            win_rate: share(f64::from(u32::try_from(wins).unwrap_or(u32::MAX))),
            profit_factor: profit_factor(gross_profit, gross_loss),
            gross_profit: to_f64(gross_profit),
            gross_loss: to_f64(gross_loss),
            mean_profit: share(to_f64(whole)),
            mean_holding_seconds: mean_holding(&closed),
        }
    }
}

/// At most `limit` points: the first and last, the ends of the deepest drawdown, and the smallest and
/// largest of equal shares of the points. Means would hide what the drawdown needs.
pub(super) fn equity(points: &[Point], limit: usize) -> Vec<EquityPoint> {
    if limit == 0 {
        return Vec::new();
    }
    let mut chosen: Vec<usize> =
        if points.len() <= limit { (0..points.len()).collect() } else { extremes(points, limit) };
    chosen.sort_unstable();
    chosen.dedup();
    let mut highest: Option<Decimal> = None;
    let mut chosen = chosen.into_iter().peekable();
    let mut shown = Vec::new();
    for (place, point) in points.iter().enumerate() {
        let peak = highest.map_or(point.value, |own| own.max(point.value));
        highest = Some(peak);
        if chosen.next_if_eq(&place).is_some() {
            let drawdown = point.value.checked_sub(peak).unwrap_or_default();
            shown.push(EquityPoint {
                time: point.time.to_string(),
                value: to_f64(point.value),
                drawdown: to_f64(drawdown),
            });
        }
    }
    shown
}

fn extremes(points: &[Point], limit: usize) -> Vec<usize> {
    let mut chosen = vec![0, points.len() - 1];
    let deepest = drawdowns(points).into_iter().max_by_key(|own| own.depth());
    if let Some(deepest) = deepest {
        let ends = [deepest.peak, deepest.trough];
        // The last point of a time is the one that counts.
        chosen.extend(
            ends.iter().filter_map(|time| points.iter().rposition(|own| own.time == *time)),
        );
    }
    let share = points.len().div_ceil((limit.saturating_sub(chosen.len()) / 2).max(1));
    for (number, part) in points.chunks(share).enumerate() {
        let first = number * share;
        let by_value = |(_, point): &(usize, &Point)| point.value;
        let lowest = part.iter().enumerate().min_by_key(by_value);
        let highest = part.iter().enumerate().max_by_key(by_value);
        chosen.extend([lowest, highest].into_iter().flatten().map(|(place, _)| first + place));
    }
    chosen.truncate(limit);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(n: i64, value: i64) -> Point {
        Point { time: Timestamp::from_nanos(n), value: Decimal::from(value) }
    }

    #[test]
    fn sampled_curve_keeps_ends_extremes_and_the_deepest_drawdown() {
        let mut values: Vec<i64> = (0..5000).map(|n| 1000 + (n * 37) % 101).collect();
        values[1234] = 9000;
        values[4321] = -500;
        let points: Vec<Point> = (0..).zip(&values).map(|(n, value)| point(n, *value)).collect();
        let shown = equity(&points, 50);
        assert!((40..=50).contains(&shown.len()), "{}", shown.len());
        let seen: Vec<f64> = shown.iter().map(|own| own.value).collect();
        assert_eq!(seen.first(), Some(&1000.0));
        assert_eq!(seen.last(), Some(&to_f64(points[4999].value)));
        assert!(seen.contains(&9000.0) && seen.contains(&-500.0));
        let deepest = shown.iter().map(|own| own.drawdown).fold(0.0, f64::min);
        assert!((deepest + 9500.0).abs() < 1e-9, "{deepest}");
        assert_eq!(equity(&points[..40], 50).len(), 40);
        for limit in [1, 2, 3, 4, 5, 7, 199, 2000] {
            let shown = equity(&points, limit).len();
            assert!((1..=limit).contains(&shown), "{shown} of {limit}");
        }
        assert!(equity(&points, 0).is_empty() && equity(&[], 50).is_empty());
    }
}
