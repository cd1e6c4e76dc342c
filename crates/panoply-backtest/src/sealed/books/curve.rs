//! Equity curves, one per currency: the best series of account value or profit that a log has.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::error::LogError;
use crate::number::Number;
use crate::sealed::Weight;
use crate::sealed::codec::{self, Reader, count, put_section, put_signed, put_varint};
use crate::sealed::column;
use crate::store::{BlobKey, BlobKind};
use crate::timestamp::Timestamp;

/// Points in a blob.
const CHUNK_POINTS: usize = 1 << 16;

/// The source of a curve.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CurveSource {
    /// Account equity in the log.
    Equity,
    /// Realized plus unrealized profit in the log, added to the first balance if there is one.
    Pnl,
    /// Profit of the fills at the prices of the log, added to the first balance if there is one.
    MarkToMarket,
    /// Account balance in the log.
    Balance,
    /// Realized profit of the fills, added to the first balance if there is one.
    Fills,
}

impl CurveSource {
    /// The heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Equity => "Equity",
            Self::Pnl => "Profit and loss",
            Self::MarkToMarket => "Profit of the fills at market prices",
            Self::Balance => "Balance",
            Self::Fills => "Realized profit by the fills",
        }
    }
}

/// A curve in the head of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CurveInfo {
    /// The currency; empty when the log names none.
    pub currency: String,
    /// The source.
    pub source: CurveSource,
    /// Whether the values are those of an account, so that returns in percent exist.
    pub is_account: bool,
    /// Number of points.
    pub points: u64,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The timestamp.
    pub time: Timestamp,
    /// The amount.
    pub value: Decimal,
}

/// Encodes the points of the curve with this index.
pub(super) fn write(
    curve: u16,
    points: &[Point],
    out: &mut Vec<(BlobKey, Vec<u8>)>,
) -> Result<(), LogError> {
    for (number, chunk) in points.chunks(CHUNK_POINTS).enumerate() {
        let (mut times, mut last) = (Vec::new(), 0_i64);
        put_varint(&mut times, chunk.len() as u64);
        for point in chunk {
            put_signed(&mut times, point.time.nanos().wrapping_sub(last));
            last = point.time.nanos();
        }
        let values: Vec<Number> = chunk.iter().map(|point| number_of(point.value)).collect();
        let mut blob = Vec::new();
        put_section(&mut blob, &codec::compress(&times, codec::SEALED_LEVEL)?);
        blob.extend(column::write_values(&values)?);
        out.push((BlobKey::new(BlobKind::Curve, curve, count(number)), blob));
    }
    Ok(())
}

fn number_of(value: Decimal) -> Number {
    let value = value.normalize();
    match (i64::try_from(value.mantissa()), u8::try_from(value.scale())) {
        (Ok(mantissa), Ok(scale)) if scale <= 18 => Number::Exact { mantissa, scale },
        _ => Number::Double(crate::position::to_f64(value)),
    }
}

/// Number of blobs of this many points.
pub(crate) fn chunks(points: u64) -> u32 {
    u32::try_from(points.div_ceil(CHUNK_POINTS as u64)).unwrap_or(u32::MAX)
}

pub(crate) fn read(blob: &[u8]) -> Result<Vec<Point>, LogError> {
    let mut reader = Reader(blob);
    let times = codec::decompress(reader.section()?.0)?;
    let values = column::read_values(reader.0)?;
    let mut reader = Reader(&times);
    let count = reader.length()?;
    if count != values.len() {
        return Err(LogError::Damaged("a curve has more times than values"));
    }
    let mut time = 0_i64;
    let mut points = Vec::with_capacity(count);
    for value in values {
        time = time.wrapping_add(reader.signed()?);
        let value = match value {
            Number::Exact { mantissa, scale } => Decimal::new(mantissa, u32::from(scale)),
            Number::Double(value) => Decimal::from_f64_retain(value).unwrap_or_default(),
        };
        points.push(Point { time: Timestamp::from_nanos(time), value });
    }
    Ok(points)
}

impl Weight for Vec<Point> {
    fn weight(&self) -> usize {
        self.len() * size_of::<Point>() + 64
    }
}

/// The series of one currency, of which [`choose`](Self::choose) takes one.
#[derive(Debug, Default)]
pub(super) struct Series {
    pub(super) equity: Vec<Point>,
    pub(super) pnl: Vec<Point>,
    /// Whether the log reports unrealized profit.
    pub(super) has_unrealized: bool,
    pub(super) balance: Vec<Point>,
    pub(super) marked: Vec<Point>,
    /// Whether a market price contributed to `marked`.
    pub(super) has_prices: bool,
    pub(super) fills: Vec<Point>,
}

impl Series {
    /// Appends a point; a second one at the same time replaces the first.
    pub(super) fn push(points: &mut Vec<Point>, time: Timestamp, value: Decimal) {
        match points.last_mut() {
            Some(last) if last.time == time => last.value = value,
            _ => points.push(Point { time, value }),
        }
    }

    /// Adds the series of the unnamed currency of a log that names one currency only.
    pub(super) fn merge(&mut self, other: Self) {
        let pairs = [
            (&mut self.equity, other.equity),
            (&mut self.pnl, other.pnl),
            (&mut self.balance, other.balance),
        ];
        for (own, more) in pairs {
            own.extend(more);
            own.sort_by_key(|point| point.time);
        }
        // Totals of different securities add up, reports of one account do not.
        self.marked = sum_of_steps(&self.marked, &other.marked);
        self.fills = sum_of_steps(&self.fills, &other.fills);
        self.has_unrealized |= other.has_unrealized;
        self.has_prices |= other.has_prices;
    }

    /// The best series, its source, and whether it is the value of an account.
    pub(super) fn choose(self, first: Timestamp) -> Option<(CurveSource, bool, Vec<Point>)> {
        let base = self.balance.first().map(|point| point.value);
        let with_base = |points: Vec<Point>| -> Vec<Point> {
            let raise = |point: Point| Point {
                value: point.value.checked_add(base.unwrap_or_default()).unwrap_or(point.value),
                ..point
            };
            let start = Point { time: first, value: Decimal::ZERO };
            std::iter::once(start).chain(points).map(raise).collect()
        };
        let is_account = base.is_some();
        Some(if self.equity.len() > 1 {
            (CurveSource::Equity, true, self.equity)
        } else if self.pnl.len() > 1 && self.has_unrealized {
            (CurveSource::Pnl, is_account, with_base(self.pnl))
        } else if self.has_prices {
            (CurveSource::MarkToMarket, is_account, with_base(self.marked))
        } else if self.pnl.len() > 1 {
            (CurveSource::Pnl, is_account, with_base(self.pnl))
        } else if self.balance.len() > 2 {
            (CurveSource::Balance, true, self.balance)
        } else if !self.fills.is_empty() {
            (CurveSource::Fills, is_account, with_base(self.fills))
        } else if self.balance.len() > 1 {
            (CurveSource::Balance, true, self.balance)
        } else {
            return None;
        })
    }
}

/// The sum of two step functions that are zero before their first point.
fn sum_of_steps(a: &[Point], b: &[Point]) -> Vec<Point> {
    let mut times: Vec<Timestamp> = a.iter().chain(b).map(|point| point.time).collect();
    times.sort_unstable();
    times.dedup();
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let (mut left, mut right) = (Decimal::ZERO, Decimal::ZERO);
    let at = |time| {
        while let Some(point) = a.next_if(|point| point.time <= time) {
            left = point.value;
        }
        while let Some(point) = b.next_if(|point| point.time <= time) {
            right = point.value;
        }
        Point { time, value: left.checked_add(right).unwrap_or(left) }
    };
    times.into_iter().map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_functions_are_added_at_every_step_of_either() {
        let points = |pairs: &[(i64, i64)]| -> Vec<Point> {
            let point = |(time, value): &(i64, i64)| Point {
                time: Timestamp::from_nanos(*time),
                value: Decimal::from(*value),
            };
            pairs.iter().map(point).collect()
        };
        let sum = sum_of_steps(&points(&[(1, 10), (3, 5)]), &points(&[(2, 1), (3, 2)]));
        assert_eq!(sum, points(&[(1, 10), (2, 11), (3, 7)]));
    }

    #[test]
    fn curve_points_round_trip() {
        let points: Vec<Point> = (0..70_000_i64)
            .map(|n| Point {
                time: Timestamp::from_nanos(n * 60_000_000_000 - 7),
                value: Decimal::new(n * 31 - 999_999, 2).normalize(),
            })
            .collect();
        let mut blobs = Vec::new();
        write(0, &points, &mut blobs).unwrap();
        assert_eq!((blobs.len(), chunks(70_000)), (2, 2));
        let back: Vec<Point> = blobs.iter().flat_map(|(_, blob)| read(blob).unwrap()).collect();
        assert_eq!(back, points);
    }
}
