//! Statistics of a numeric column by entity, per column block: a grouped aggregate over any range
//! reads the values of at most two blocks, whatever the length of the run.

use std::collections::BTreeMap;

use super::Weight;
use super::codec::{self, Reader, put_text, put_varint};
use super::column::Stats;
use crate::error::LogError;
use crate::number::Number;

/// An entity with more values in one column has no statistics by group.
const MAX_GROUPS: usize = 64;
/// The code of an event without the entity.
pub(crate) const NO_GROUP: u32 = u32::MAX;

/// Collects the statistics of one column by one entity.
#[derive(Debug, Default)]
pub(crate) struct GroupStatsWriter {
    /// The code in the dictionary of each group.
    codes: Vec<u32>,
    pending: Vec<u32>,
    out: Vec<u8>,
    is_dropped: bool,
}

impl GroupStatsWriter {
    /// Adds the group of the next value of the column.
    pub(crate) fn push(&mut self, code: u32) {
        if !self.is_dropped {
            self.pending.push(code);
        }
    }

    /// Ends a block of the column.
    pub(crate) fn flush(&mut self, values: &[Number]) {
        if self.is_dropped {
            return;
        }
        let mut groups: BTreeMap<u32, Vec<Number>> = BTreeMap::new();
        for (code, value) in self.pending.drain(..).zip(values) {
            if code != NO_GROUP {
                groups.entry(code).or_default().push(*value);
            }
        }
        put_varint(&mut self.out, groups.len() as u64);
        for (code, values) in groups {
            let place = self.codes.iter().position(|own| *own == code);
            let place = place.unwrap_or_else(|| {
                self.codes.push(code);
                self.codes.len() - 1
            });
            put_varint(&mut self.out, place as u64);
            Stats::of(&values).write(&mut self.out);
        }
        if self.codes.len() > MAX_GROUPS {
            *self = Self { is_dropped: true, ..Self::default() };
        }
    }

    /// Encodes the blob; `None` if there are too many groups or none. `name` is the value of a code.
    pub(crate) fn finish(
        &self,
        mut name: impl FnMut(u32) -> String,
    ) -> Result<Option<Vec<u8>>, LogError> {
        if self.is_dropped || self.codes.is_empty() {
            return Ok(None);
        }
        let mut out = Vec::new();
        put_varint(&mut out, self.codes.len() as u64);
        for code in &self.codes {
            put_text(&mut out, &name(*code));
        }
        out.extend_from_slice(&self.out);
        codec::compress(&out, codec::SEALED_LEVEL).map(Some)
    }
}

/// Statistics by group and column block.
#[derive(Debug)]
pub(crate) struct GroupStats {
    pub(crate) names: Vec<Box<str>>,
    /// By column block: the groups in it.
    pub(crate) blocks: Vec<Vec<(usize, Stats)>>,
}

impl GroupStats {
    pub(crate) fn read(blob: &[u8]) -> Result<Self, LogError> {
        let bytes = codec::decompress(blob)?;
        let mut reader = Reader(&bytes);
        let mut names = Vec::new();
        for _ in 0..reader.length()? {
            names.push(reader.text()?.into());
        }
        let mut blocks = Vec::new();
        while !reader.is_empty() {
            let mut block = Vec::new();
            for _ in 0..reader.length()? {
                block.push((reader.length()?, Stats::read(&mut reader)?));
            }
            blocks.push(block);
        }
        Ok(Self { names, blocks })
    }
}

impl Weight for GroupStats {
    fn weight(&self) -> usize {
        let entries: usize = self.blocks.iter().map(Vec::len).sum();
        let names: usize = self.names.iter().map(|name| name.len() + 16).sum();
        entries * size_of::<(usize, Stats)>() + names + 64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_by_group_round_trip() {
        let number = |n: i64| Number::Exact { mantissa: n, scale: 1 };
        let mut writer = GroupStatsWriter::default();
        for block in 0..3_i64 {
            let values: Vec<Number> = (0..10).map(|n| number(block * 10 + n)).collect();
            for n in 0..10 {
                writer.push(if n == 9 { NO_GROUP } else { n % 2 + 40 });
            }
            writer.flush(&values);
        }
        let blob = writer.finish(|code| format!("g{code}")).unwrap().unwrap();
        let stats = GroupStats::read(&blob).unwrap();
        assert_eq!(stats.names, ["g40".into(), "g41".into()]);
        assert_eq!(stats.blocks.len(), 3);
        let odd = [21, 23, 25, 27].map(number);
        assert_eq!(stats.blocks[2][1], (1, Stats::of(&odd)));
    }

    #[test]
    fn entity_with_too_many_values_has_no_statistics() {
        let mut writer = GroupStatsWriter::default();
        let values = vec![Number::Exact { mantissa: 1, scale: 0 }; MAX_GROUPS + 1];
        (0..=64).for_each(|code| writer.push(code));
        writer.flush(&values);
        assert_eq!(writer.finish(|_| String::new()).unwrap(), None);
    }
}
