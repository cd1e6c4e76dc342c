//! The first pass of sealing: finds duplicates, the order by time, and the parent of each event.
//!
//! It reads times, ids and parents only, not the texts.

use std::collections::HashSet;

use super::super::block::{Block, Link, Row};
use super::super::codec::count;
use super::super::ids::SortedIds;
use super::super::links::{self, NO_EVENT};
use super::{Source, batches};
use crate::error::{LogError, Stop, check_stop};
use crate::event::Guid;
use crate::line::Rejection;
use crate::store::Blobs;

pub(super) struct FirstPass {
    /// Arrival numbers in order of time; `None` when events arrived in that order.
    pub(super) order: Option<Vec<u32>>,
    /// The first arrival number of each batch.
    pub(super) batch_starts: Vec<u32>,
    /// The parent's seq of each event, or [`NO_EVENT`].
    pub(super) parents: Vec<u32>,
    /// Events whose parent link was removed because it was part of a cycle, sorted.
    pub(super) circular: Vec<u32>,
    pub(super) ids: SortedIds,
    /// Events with a used id but different content.
    pub(super) rejected: Vec<Rejection>,
    /// Events with a used id and equal content.
    pub(super) repeated: u64,
}

impl FirstPass {
    pub(super) fn run(source: &Source<'_>, stop: Stop<'_>) -> Result<Self, LogError> {
        let capacity = source.events as usize;
        let mut times: Vec<i64> = Vec::with_capacity(capacity);
        let mut ids = SortedIds::with_capacity(capacity);
        let mut claimed_parents: Vec<(u32, UnalignedGuid)> = Vec::new();
        let mut batch_starts = Vec::new();
        for number in 0..source.batches {
            check_stop(stop)?;
            let rows = batches::read_rows(source.blobs, number)?;
            batch_starts.push(count(times.len()));
            for row in &rows {
                let arrival = count(times.len());
                times.push(row.timestamp.nanos());
                ids.push(row.id, arrival);
                if let Link::Id(parent) = row.parent {
                    claimed_parents.push((arrival, UnalignedGuid(parent.bits().to_be_bytes())));
                }
            }
        }
        ids.sort();
        let Duplicates { dropped, rejected, repeated } =
            Duplicates::find(source.blobs, &batch_starts, &ids)?;
        let sorted = dropped.is_empty() && times.is_sorted();
        let order = (!sorted).then(|| {
            let retained = (0..count(times.len())).filter(|arrival| !dropped.contains(arrival));
            let mut order: Vec<u32> = retained.collect();
            // The sort is stable: events at one time keep their order of arrival.
            order.sort_by_key(|arrival| times.get(*arrival as usize).copied());
            order
        });
        let events = order.as_ref().map_or(times.len(), Vec::len);
        let seqs = order.as_deref().map(|order| invert(order, times.len()));
        drop(times);
        let seq_of = |arrival: u32| match &seqs {
            None => Some(arrival),
            Some(seqs) => seqs.get(arrival as usize).copied().filter(|seq| *seq != NO_EVENT),
        };
        if !sorted {
            ids.renumber(seq_of);
        }
        let mut parents = vec![NO_EVENT; events];
        for (arrival, parent) in claimed_parents {
            let found = ids.find(Guid::new(u128::from_be_bytes(parent.0)));
            if let (Some(seq), Some(parent)) = (seq_of(arrival), found)
                && let Some(slot) = parents.get_mut(seq as usize)
            {
                *slot = parent;
            }
        }
        let circular = links::break_cycles(&mut parents);
        Ok(Self { order, batch_starts, parents, circular, ids, rejected, repeated })
    }
}

/// A GUID without the alignment of a `u128`: twelve bytes less per entry.
struct UnalignedGuid([u8; 16]);

/// The seq of each arrival; [`NO_EVENT`] for dropped ones.
fn invert(order: &[u32], arrivals: usize) -> Vec<u32> {
    let mut seqs = vec![NO_EVENT; arrivals];
    for (seq, arrival) in order.iter().enumerate() {
        if let Some(slot) = seqs.get_mut(*arrival as usize) {
            *slot = count(seq);
        }
    }
    seqs
}

/// Events that share an id. The first to arrive stays in the run.
#[derive(Default)]
struct Duplicates {
    dropped: HashSet<u32>,
    rejected: Vec<Rejection>,
    repeated: u64,
}

impl Duplicates {
    fn find(blobs: &dyn Blobs, batch_starts: &[u32], ids: &SortedIds) -> Result<Self, LogError> {
        let mut duplicates = Self::default();
        for group in ids.duplicates() {
            let mut first: Option<String> = None;
            batches::visit(blobs, batch_starts, &group, |block, row, index| {
                let content = content(block, row);
                let Some(first) = &first else {
                    first = Some(content);
                    return Ok(());
                };
                duplicates.dropped.extend(group.get(index as usize));
                if *first == content {
                    duplicates.repeated += 1;
                } else {
                    let reason =
                        format!("event `{}` exists already with different content", row.id);
                    duplicates.rejected.push(Rejection { line: row.line, reason });
                }
                Ok(())
            })?;
        }
        Ok(duplicates)
    }
}

fn content(block: &Block, row: &Row) -> String {
    let fields = (row.timestamp, row.event_type, row.severity, row.category, row.parent);
    format!("{fields:?} {}", block.properties(row))
}
