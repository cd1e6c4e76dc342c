//! Reads the batches of an open run, in arrival order or in any other.

use super::super::block::{self, Block, Row};
use super::super::codec::count;
use crate::error::LogError;
use crate::store::Blobs;

const MISSING: LogError = LogError::Damaged("a batch is missing");

pub(super) fn read(blobs: &dyn Blobs, number: u32) -> Result<Block, LogError> {
    let [rows, texts] = block::batch_keys(number).map(|key| blobs.get(key));
    Block::read_batch(&rows?.ok_or(MISSING)?, &texts?.ok_or(MISSING)?)
}

/// The rows of a batch without its texts.
pub(super) fn read_rows(blobs: &dyn Blobs, number: u32) -> Result<Vec<Row>, LogError> {
    let [rows, _] = block::batch_keys(number);
    block::read_rows(&blobs.get(rows)?.ok_or(MISSING)?)
}

/// Visits events by arrival number, in the order of `arrivals`, with the index of each in that
/// list. Reads every batch involved once and holds all of them in memory.
pub(super) fn visit(
    blobs: &dyn Blobs,
    batch_starts: &[u32],
    arrivals: &[u32],
    mut visit: impl FnMut(&Block, &Row, u32) -> Result<(), LogError>,
) -> Result<(), LogError> {
    let batch_of =
        |arrival: u32| batch_starts.partition_point(|start| *start <= arrival).saturating_sub(1);
    let mut numbers: Vec<usize> = arrivals.iter().map(|arrival| batch_of(*arrival)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut batches = Vec::with_capacity(numbers.len());
    for number in &numbers {
        batches.push(read(blobs, count(*number))?);
    }
    for (index, arrival) in arrivals.iter().enumerate() {
        let number = batch_of(*arrival);
        let offset = batch_starts.get(number).map(|start| (arrival - start) as usize);
        let batch = numbers.binary_search(&number).ok().and_then(|found| batches.get(found));
        let (Some(batch), Some(offset)) = (batch, offset) else { return Err(MISSING) };
        let row = batch.rows.get(offset).ok_or(LogError::Damaged("a batch is too short"))?;
        visit(batch, row, count(index))?;
    }
    Ok(())
}
