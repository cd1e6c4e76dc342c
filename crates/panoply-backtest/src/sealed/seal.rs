//! Sealing: turns the batches of an open run into the blobs of a sealed one.
//!
//! Two passes. The first reads times, ids and parents, drops duplicates, sorts by time (stable)
//! and resolves parents. The second writes blocks and indexes in order of time. Memory grows by
//! about sixty bytes per event, not with the events' texts.

mod batches;
mod first_pass;
mod writer;

use self::first_pass::FirstPass;
use self::writer::SealWriter;
use super::block::{Block, Row};
use super::codec::count;
use super::head::Head;
use crate::error::{LogError, Stop, check_stop};
use crate::line::Rejection;
use crate::run::RunHeader;
use crate::store::Blobs;

/// Events out of order are read back in windows of this many, which bounds memory.
const REORDER_WINDOW: usize = 1 << 18;

/// An open run to be sealed.
pub(crate) struct Source<'a> {
    pub(crate) blobs: &'a dyn Blobs,
    pub(crate) batches: u32,
    pub(crate) events: u32,
    pub(crate) rejected: Vec<Rejection>,
    pub(crate) header: &'a RunHeader,
}

/// Progress callback: events done, events in total.
pub(crate) type Progress<'a> = &'a mut dyn FnMut(u64, u64);

/// Writes the sealed form of `source` into `out`. Returns its head and all rejected lines.
pub(crate) fn seal(
    source: Source<'_>,
    out: &dyn Blobs,
    progress: Progress<'_>,
    stop: Stop<'_>,
) -> Result<(Head, Vec<Rejection>), LogError> {
    let first_pass = FirstPass::run(&source, stop)?;
    let mut rejected = source.rejected;
    rejected.extend(first_pass.rejected.iter().cloned());
    rejected.sort_by_key(|rejection| rejection.line);
    let mut writer = SealWriter::new(out, &first_pass, source.header);
    let total = u64::from(source.events);
    let mut done = 0;
    let mut write = |block: &Block, row: &Row, seq: u32| -> Result<(), LogError> {
        if done % 4096 == 0 {
            check_stop(stop)?;
            progress(done, total);
        }
        done += 1;
        writer.event(block, row, seq)
    };
    match &first_pass.order {
        None => {
            let mut seq = 0;
            for number in 0..source.batches {
                let block = batches::read(source.blobs, number)?;
                for row in &block.rows {
                    write(&block, row, seq)?;
                    seq += 1;
                }
            }
        }
        Some(order) => {
            for (window, arrivals) in order.chunks(REORDER_WINDOW).enumerate() {
                let first = count(window * REORDER_WINDOW);
                let starts = &first_pass.batch_starts;
                batches::visit(source.blobs, starts, arrivals, |block, row, index| {
                    write(block, row, first + index)
                })?;
            }
        }
    }
    let head = writer.finish(&first_pass, source.header, rejected.len() as u64)?;
    progress(total, total);
    Ok((head, rejected))
}
