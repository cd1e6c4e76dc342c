//! Drawdowns of a curve: the falls below its previous maximum.

use rust_decimal::Decimal;

use super::Point;
use crate::timestamp::Timestamp;

/// A fall below a maximum and the recovery.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawdown {
    /// Time of the maximum.
    pub peak: Timestamp,
    /// Value of the maximum.
    pub peak_value: Decimal,
    /// Time of the lowest value.
    pub trough: Timestamp,
    /// The lowest value.
    pub trough_value: Decimal,
    /// First time at or above the maximum again; `None` until then.
    pub recovered: Option<Timestamp>,
}

impl Drawdown {
    /// Depth in money.
    pub fn depth(&self) -> Decimal {
        self.peak_value.checked_sub(self.trough_value).unwrap_or_default()
    }

    /// Depth in percent of the maximum; `None` unless it is positive.
    pub fn percent(&self) -> Option<Decimal> {
        let share = self.depth().checked_div(self.peak_value)?;
        (self.peak_value > Decimal::ZERO).then(|| share.checked_mul(Decimal::ONE_HUNDRED))?
    }
}

/// All drawdowns of a curve, in order of time.
pub fn drawdowns(points: &[Point]) -> Vec<Drawdown> {
    let Some(first) = points.first() else { return Vec::new() };
    let (mut peak, mut current, mut found) = (*first, None::<Drawdown>, Vec::new());
    for point in points {
        if point.value >= peak.value {
            if let Some(mut ended) = current.take() {
                ended.recovered = Some(point.time);
                found.push(ended);
            }
            peak = *point;
            continue;
        }
        let own = current.get_or_insert(Drawdown {
            peak: peak.time,
            peak_value: peak.value,
            trough: point.time,
            trough_value: point.value,
            recovered: None,
        });
        if point.value < own.trough_value {
            (own.trough, own.trough_value) = (point.time, point.value);
        }
    }
    found.extend(current);
    found
}

/// The maximum drawdown as an amount and in percent of the peak, which may occur at different
/// times.
pub fn max_drawdown(points: &[Point]) -> (Decimal, Decimal) {
    let (mut fall, mut percent) = (Decimal::ZERO, Decimal::ZERO);
    for drawdown in drawdowns(points) {
        fall = fall.max(drawdown.depth());
        percent = percent.max(drawdown.percent().unwrap_or_default());
    }
    (fall, percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawdowns_last_from_the_peak_to_the_recovery() {
        let values = [100, 110, 99, 104, 110, 111, 90, 100];
        let points: Vec<Point> = (0..)
            .zip(values)
            .map(|(n, value)| Point { time: Timestamp::from_nanos(n), value: value.into() })
            .collect();
        let found = drawdowns(&points);
        let shown: Vec<String> = found
            .iter()
            .map(|own| {
                let recovered = own.recovered.map(Timestamp::nanos);
                let (peak, trough) = (own.peak.nanos(), own.trough.nanos());
                format!("{peak} {trough} {recovered:?} {}", own.depth())
            })
            .collect();
        assert_eq!(shown, ["1 2 Some(4) 11", "5 6 None 21"]);
        let (fall, percent) = max_drawdown(&points);
        assert_eq!((fall, percent.round_dp(4)), (Decimal::from(21), Decimal::new(189_189, 4)));
        assert_eq!(drawdowns(&[]), []);
    }
}
