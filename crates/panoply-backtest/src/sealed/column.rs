//! A column: the numbers of one property of one event type, in blocks with statistics per block.
//! An aggregate over any range reads at most two blocks of values and otherwise only statistics.

use roaring::RoaringBitmap;

use super::Weight;
use super::codec::{self, Reader, put_section, put_signed, put_varint};
use super::dictionary::{self, GROUPED};
use super::group_stats::GroupStatsWriter;
use crate::error::LogError;
use crate::number::{Number, Sum};

/// Values in a block.
pub(crate) const COLUMN_BLOCK: u32 = 4096;

/// Mergeable statistics of a set of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stats {
    /// Number of values.
    pub count: u64,
    /// Sum, exact for decimals.
    pub sum: Sum,
    /// Minimum; infinity when empty.
    pub min: f64,
    /// Maximum; negative infinity when empty.
    pub max: f64,
    mean: f64,
    /// Sum of squared deviations from the mean.
    m2: f64,
}

impl Stats {
    /// The empty set.
    pub const NONE: Self = Self {
        count: 0,
        sum: Sum::ZERO,
        min: f64::INFINITY,
        max: f64::NEG_INFINITY,
        mean: 0.0,
        m2: 0.0,
    };

    /// Computed in two passes, which is numerically more accurate than one.
    pub fn of(numbers: &[Number]) -> Self {
        if let Some((scale, mantissas)) = at_common_scale(numbers) {
            return Self::of_exact(scale, &mantissas);
        }
        let mut stats = Self::NONE;
        for number in numbers {
            let value = number.to_f64();
            stats.sum.add(*number);
            stats.min = stats.min.min(value);
            stats.max = stats.max.max(value);
        }
        stats.count = numbers.len() as u64;
        if stats.count > 0 {
            stats.mean = stats.sum.to_f64() / stats.count as f64;
            let distance = |number: &Number| (number.to_f64() - stats.mean).powi(2);
            stats.m2 = numbers.iter().map(distance).sum();
        }
        stats
    }

    /// The same for decimals of one scale, without rescaling each.
    fn of_exact(scale: u8, mantissas: &[i64]) -> Self {
        let (Some(min), Some(max)) = (mantissas.iter().min(), mantissas.iter().max()) else {
            return Self::NONE;
        };
        let sum: i128 = mantissas.iter().map(|mantissa| i128::from(*mantissa)).sum();
        let value = |mantissa: i64| Number::Exact { mantissa, scale }.to_f64();
        let sum = Sum::Exact { mantissa: sum, scale };
        let mean = sum.to_f64() / mantissas.len() as f64;
        let m2 = mantissas.iter().map(|mantissa| (value(*mantissa) - mean).powi(2)).sum();
        let count = mantissas.len() as u64;
        Self { count, sum, min: value(*min), max: value(*max), mean, m2 }
    }

    /// Merges another set (Chan, Golub and LeVeque).
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = *other;
            return;
        }
        let (a, b) = (self.count as f64, other.count as f64);
        let delta = other.mean - self.mean;
        self.m2 += other.m2 + delta * delta * a * b / (a + b);
        self.mean += delta * b / (a + b);
        self.count += other.count;
        self.sum.merge(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// The mean.
    pub fn average(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum.to_f64() / self.count as f64)
    }

    /// The population standard deviation.
    pub fn deviation(&self) -> Option<f64> {
        (self.count > 0).then(|| (self.m2 / self.count as f64).max(0.0).sqrt())
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        put_varint(out, self.count);
        match self.sum {
            Sum::Exact { mantissa, scale } => {
                out.push(scale);
                out.extend(mantissa.to_le_bytes());
            }
            Sum::Double(value) => {
                out.push(u8::MAX);
                out.extend(value.to_le_bytes());
            }
        }
        for value in [self.min, self.max, self.mean, self.m2] {
            out.extend(value.to_le_bytes());
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, LogError> {
        let count = reader.varint()?;
        let sum = match reader.byte()? {
            u8::MAX => Sum::Double(reader.double()?),
            scale => Sum::Exact { mantissa: i128::from_le_bytes(reader.array()?), scale },
        };
        let [min, max, mean, m2] =
            [reader.double()?, reader.double()?, reader.double()?, reader.double()?];
        Ok(Self { count, sum, min, max, mean, m2 })
    }
}

/// Encodes a column, in order of rank.
#[derive(Debug, Default)]
pub(crate) struct ColumnWriter {
    values: Vec<Number>,
    /// Values so far; equal to the next rank while every event has had a value.
    count: u32,
    /// Ranks with a value; `None` while every event has had one.
    presence: Option<RoaringBitmap>,
    stats: Vec<u8>,
    total: Option<Stats>,
    last_rank: Option<u32>,
    pub(crate) blocks: u32,
    /// By [`GROUPED`] entity.
    groups: [GroupStatsWriter; GROUPED.len()],
}

impl ColumnWriter {
    /// Adds the value of the event of this rank, and the codes of its entities. Returns a block when
    /// one is full.
    pub(crate) fn push(
        &mut self,
        rank: u32,
        number: Number,
        entities: [u32; GROUPED.len()],
    ) -> Result<Option<Vec<u8>>, LogError> {
        // Of a duplicate member name in one object only the first counts.
        if self.last_rank == Some(rank) {
            return Ok(None);
        }
        self.last_rank = Some(rank);
        if self.presence.is_none() && rank != self.count {
            self.presence = Some(ranks_below(self.count));
        }
        if let Some(presence) = &mut self.presence {
            presence.insert(rank);
        }
        self.count += 1;
        for (groups, code) in self.groups.iter_mut().zip(entities) {
            groups.push(code);
        }
        self.values.push(number);
        if self.values.len() < COLUMN_BLOCK as usize { Ok(None) } else { self.flush() }
    }

    pub(crate) fn flush(&mut self) -> Result<Option<Vec<u8>>, LogError> {
        if self.values.is_empty() {
            return Ok(None);
        }
        let stats = Stats::of(&self.values);
        stats.write(&mut self.stats);
        self.total.get_or_insert(Stats::NONE).merge(&stats);
        let blob = write_values(&self.values)?;
        self.groups.iter_mut().for_each(|groups| groups.flush(&self.values));
        self.values.clear();
        self.blocks += 1;
        Ok(Some(blob))
    }

    /// Statistics by entity, in the order of [`GROUPED`].
    pub(crate) const fn groups(&self) -> &[GroupStatsWriter; GROUPED.len()] {
        &self.groups
    }

    pub(crate) fn total(&self) -> Stats {
        self.total.unwrap_or(Stats::NONE)
    }

    /// Encodes the column's head; all blocks must be flushed.
    pub(crate) fn head(&self) -> Result<Vec<u8>, LogError> {
        let mut out = Vec::new();
        put_varint(&mut out, u64::from(self.blocks));
        put_section(&mut out, &self.stats);
        let presence = match &self.presence {
            None => dictionary::bitmap_blob(&ranks_below(self.count))?,
            Some(presence) => dictionary::bitmap_blob(presence)?,
        };
        put_section(&mut out, &presence);
        codec::compress(&out, codec::SEALED_LEVEL)
    }
}

fn ranks_below(count: u32) -> RoaringBitmap {
    let mut all = RoaringBitmap::new();
    all.insert_range(0..count);
    all
}

#[derive(Debug)]
pub(crate) struct ColumnHead {
    pub(crate) stats: Vec<Stats>,
    /// Ranks of the events that have a value.
    pub(crate) presence: RoaringBitmap,
}

impl ColumnHead {
    pub(crate) fn read(blob: &[u8]) -> Result<Self, LogError> {
        let bytes = codec::decompress(blob)?;
        let mut reader = Reader(&bytes);
        let blocks = reader.length()?;
        let mut section = reader.section()?;
        let mut stats = Vec::with_capacity(blocks.min(1 << 20));
        for _ in 0..blocks {
            stats.push(Stats::read(&mut section)?);
        }
        Ok(Self { stats, presence: dictionary::read_bitmap(reader.section()?.0)? })
    }

    /// Number of values at ranks below `rank`.
    pub(crate) fn values_before(&self, rank: u32) -> u64 {
        rank.checked_sub(1).map_or(0, |last| self.presence.rank(last))
    }
}

impl Weight for Vec<Number> {
    fn weight(&self) -> usize {
        self.len() * size_of::<Number>()
    }
}

impl Weight for ColumnHead {
    fn weight(&self) -> usize {
        self.stats.len() * size_of::<Stats>() + self.presence.serialized_size() + 64
    }
}

const EXACT: u8 = 0;
const DOUBLES: u8 = 1;

pub(super) fn write_values(values: &[Number]) -> Result<Vec<u8>, LogError> {
    let mut out = Vec::with_capacity(values.len() * 4);
    put_varint(&mut out, values.len() as u64);
    match at_common_scale(values) {
        Some((scale, mantissas)) => {
            out.extend([EXACT, scale]);
            let mut last = 0_i64;
            for mantissa in mantissas {
                put_signed(&mut out, mantissa.wrapping_sub(last));
                last = mantissa;
            }
        }
        None => {
            out.push(DOUBLES);
            values.iter().for_each(|number| out.extend(number.to_f64().to_le_bytes()));
        }
    }
    codec::compress(&out, codec::SEALED_LEVEL)
}

/// The mantissas of all values at their largest scale, if they fit.
fn at_common_scale(values: &[Number]) -> Option<(u8, Vec<i64>)> {
    let mut max_scale = 0;
    for number in values {
        match number {
            Number::Exact { scale, .. } => max_scale = max_scale.max(*scale),
            Number::Double(_) => return None,
        }
    }
    let rescaled = values.iter().map(|number| match number {
        Number::Exact { mantissa, scale } if *scale == max_scale => Some(*mantissa),
        Number::Exact { mantissa, scale } => {
            mantissa.checked_mul(10_i64.checked_pow(u32::from(max_scale - scale))?)
        }
        Number::Double(_) => None,
    });
    Some((max_scale, rescaled.collect::<Option<Vec<i64>>>()?))
}

pub(crate) fn read_values(blob: &[u8]) -> Result<Vec<Number>, LogError> {
    let bytes = codec::decompress(blob)?;
    let mut reader = Reader(&bytes);
    let count = reader.length()?;
    let mut values = Vec::with_capacity(count.min(1 << 16));
    if reader.byte()? == EXACT {
        let scale = reader.byte()?;
        let mut mantissa = 0_i64;
        for _ in 0..count {
            mantissa = mantissa.wrapping_add(reader.signed()?);
            values.push(Number::Exact { mantissa, scale });
        }
    } else {
        for _ in 0..count {
            values.push(Number::Double(reader.double()?));
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn standard_deviation_is_of_the_population() {
        let numbers: Vec<Number> =
            ["10", "20", "30", "40", "50"].iter().filter_map(|text| Number::parse(text)).collect();
        let stats = Stats::of(&numbers);
        assert_eq!(stats.average(), Some(30.0));
        assert!((stats.deviation().unwrap() - 14.142_135_623_730_951).abs() < 1e-12);
        assert_eq!(Stats::NONE.average(), None);
    }

    proptest! {
        #[test]
        fn merged_stats_equal_stats_of_the_whole(values in prop::collection::vec(-1e6_f64..1e6, 2..200), cut in 0_usize..200) {
            let numbers: Vec<Number> = values.iter().map(|value| Number::Double(*value)).collect();
            let (left, right) = numbers.split_at(cut.min(numbers.len()));
            let mut merged = Stats::of(left);
            merged.merge(&Stats::of(right));
            let whole = Stats::of(&numbers);
            prop_assert_eq!(merged.count, whole.count);
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 * (1.0 + a.abs());
            prop_assert!(close(merged.sum.to_f64(), whole.sum.to_f64()));
            prop_assert!(close(merged.deviation().unwrap(), whole.deviation().unwrap()));
        }

        #[test]
        fn column_values_round_trip(texts in prop::collection::vec("-?[1-9][0-9]{0,5}(\\.[0-9]{1,6})?", 1..50)) {
            let numbers: Vec<Number> = texts.iter().filter_map(|text| Number::parse(text)).collect();
            let back = read_values(&write_values(&numbers).unwrap()).unwrap();
            let doubles = |numbers: &[Number]| numbers.iter().map(|number| number.to_f64()).collect::<Vec<f64>>();
            prop_assert_eq!(doubles(&back), doubles(&numbers));
        }
    }
}
