//! Parent and child links of events, in chunks.

use super::Weight;
use super::codec::{self, Reader, count, put_signed, put_varint};
use super::directory::CHUNK_EVENTS;
use crate::error::LogError;

/// The absence of a parent.
pub(crate) const NO_EVENT: u32 = u32::MAX;

/// Removes the parent link of every event on a cycle. Returns those events, sorted.
pub(crate) fn break_cycles(parents: &mut [u32]) -> Vec<u32> {
    // Three colours: 0 unvisited, 1 on the current path, 2 done.
    let mut seen = vec![0_u8; parents.len()];
    let mut cycle = Vec::new();
    for start in 0..count(parents.len()) {
        let mut path = Vec::new();
        let mut at = start;
        while let Some(mark @ 0) = seen.get_mut(at as usize) {
            *mark = 1;
            path.push(at);
            at = parents.get(at as usize).copied().unwrap_or(NO_EVENT);
        }
        if seen.get(at as usize) == Some(&1) {
            let first = path.iter().position(|step| *step == at).unwrap_or_default();
            cycle.extend(path.iter().skip(first));
        }
        for step in path {
            if let Some(mark) = seen.get_mut(step as usize) {
                *mark = 2;
            }
        }
    }
    for event in &cycle {
        if let Some(parent) = parents.get_mut(*event as usize) {
            *parent = NO_EVENT;
        }
    }
    cycle.sort_unstable();
    cycle
}

/// Encodes the chunks: each parent as a backward distance in a fixed width, then the children in
/// other chunks. Children in the same chunk follow from the parents.
pub(crate) fn write(
    parents: &[u32],
    mut put: impl FnMut(u32, Vec<u8>) -> Result<(), LogError>,
) -> Result<(), LogError> {
    let mut cross_chunk = cross_chunk_children(parents).into_iter().peekable();
    for (number, chunk) in parents.chunks(CHUNK_EVENTS as usize).enumerate() {
        let first = number * CHUNK_EVENTS as usize;
        let distances: Vec<u32> = chunk
            .iter()
            .enumerate()
            .map(|(index, parent)| distance(count(first + index), *parent))
            .collect();
        let width = width_of(&distances);
        let mut out = Vec::with_capacity(chunk.len() * width + 64);
        put_varint(&mut out, chunk.len() as u64);
        put_varint(&mut out, width as u64);
        for distance in distances {
            out.extend(distance.to_le_bytes().into_iter().take(width));
        }
        let end = count(first + chunk.len());
        let mut last = count(first);
        while let Some((parent, child)) = cross_chunk.next_if(|(parent, _)| *parent < end) {
            put_varint(&mut out, u64::from(parent - last));
            put_signed(&mut out, i64::from(child) - i64::from(parent));
            last = parent;
        }
        put(count(number), codec::compress(&out, codec::SEALED_LEVEL)?)?;
    }
    Ok(())
}

/// Distance back to the parent, modulo 2^32; 0 for no parent. A parent that comes later wraps
/// around.
const fn distance(event: u32, parent: u32) -> u32 {
    match parent {
        NO_EVENT => 0,
        parent => event.wrapping_sub(parent),
    }
}

const fn parent_at(event: u32, distance: u32) -> u32 {
    match distance {
        0 => NO_EVENT,
        distance => event.wrapping_sub(distance),
    }
}

/// Bytes per distance.
fn width_of(distances: &[u32]) -> usize {
    match distances.iter().max() {
        None | Some(..=0xFF) => 1,
        Some(..=0xFFFF) => 2,
        Some(_) => 4,
    }
}

/// Parent and child pairs in different chunks, sorted.
fn cross_chunk_children(parents: &[u32]) -> Vec<(u32, u32)> {
    let pairs = parents.iter().enumerate().map(|(child, parent)| (*parent, count(child)));
    let crosses_chunks = |(parent, child): &(u32, u32)| {
        *parent != NO_EVENT && parent / CHUNK_EVENTS != child / CHUNK_EVENTS
    };
    let mut cross_chunk: Vec<(u32, u32)> = pairs.filter(crosses_chunks).collect();
    cross_chunk.sort_unstable();
    cross_chunk
}

/// A decoded chunk. Children are in compressed sparse row form: `offsets` into `children`.
#[derive(Debug)]
pub(crate) struct LinkChunk {
    parents: Vec<u32>,
    offsets: Vec<u32>,
    children: Vec<u32>,
}

impl LinkChunk {
    pub(crate) fn read(number: u32, blob: &[u8]) -> Result<Self, LogError> {
        let bytes = codec::decompress(blob)?;
        let mut reader = Reader(&bytes);
        let first = number.saturating_mul(CHUNK_EVENTS);
        let length = reader.length()?.min(CHUNK_EVENTS as usize);
        let width = reader.length()?;
        let distances = reader.bytes(length * width)?;
        let parents: Vec<u32> = match width {
            1 => parents_at(first, distances.iter().map(|byte| u32::from(*byte))),
            2 => {
                let (pairs, _) = distances.as_chunks::<2>();
                parents_at(first, pairs.iter().map(|pair| u32::from(u16::from_le_bytes(*pair))))
            }
            4 => {
                let (fours, _) = distances.as_chunks::<4>();
                parents_at(first, fours.iter().map(|four| u32::from_le_bytes(*four)))
            }
            _ => return Err(LogError::Damaged("a chunk of links has an unknown width")),
        };
        let cross_chunk = read_cross_chunk(&mut reader, first)?;
        let (offsets, children) = children_of(first, &parents, &cross_chunk);
        Ok(Self { parents, offsets, children })
    }

    pub(crate) fn parent(&self, index: usize) -> Option<u32> {
        self.parents.get(index).copied().filter(|parent| *parent != NO_EVENT)
    }

    /// In order of time.
    pub(crate) fn children(&self, index: usize) -> &[u32] {
        let range = self.offsets.get(index).zip(self.offsets.get(index + 1));
        range
            .and_then(|(from, to)| self.children.get(*from as usize..*to as usize))
            .unwrap_or_default()
    }
}

impl Weight for LinkChunk {
    fn weight(&self) -> usize {
        (self.parents.len() * 2 + self.children.len()) * 4 + 64
    }
}

fn parents_at(first: u32, distances: impl Iterator<Item = u32>) -> Vec<u32> {
    (first..).zip(distances).map(|(event, distance)| parent_at(event, distance)).collect()
}

/// Parent and child pairs in different chunks.
fn read_cross_chunk(reader: &mut Reader<'_>, first: u32) -> Result<Vec<(u32, u32)>, LogError> {
    let out_of_range = |_| LogError::Damaged("a link points outside the run");
    let (mut cross_chunk, mut parent) = (Vec::new(), first);
    while !reader.is_empty() {
        parent = parent.wrapping_add(reader.varint_u32()?);
        let child = u32::try_from(i64::from(parent) + reader.signed()?).map_err(out_of_range)?;
        cross_chunk.push((parent, child));
    }
    Ok(cross_chunk)
}

/// Builds the offsets and the children by a counting sort over parents.
fn children_of(first: u32, parents: &[u32], cross_chunk: &[(u32, u32)]) -> (Vec<u32>, Vec<u32>) {
    let within = |parent: u32| parent.wrapping_sub(first) as usize;
    let mut offsets = vec![0_u32; parents.len() + 1];
    let all = || parents.iter().copied().chain(cross_chunk.iter().map(|(parent, _)| *parent));
    // Counted one slot further, so that the prefix sums are the start offsets.
    for parent in all() {
        let slot = within(parent).checked_add(1).and_then(|index| offsets.get_mut(index));
        if let Some(slot) = slot {
            *slot += 1;
        }
    }
    let mut running = 0;
    for slot in &mut offsets {
        running += *slot;
        *slot = running;
    }
    let mut children = vec![0_u32; running as usize];
    let mut next = offsets.clone();
    let mut take = |parent: u32, child: u32| {
        if let Some(slot) = next.get_mut(within(parent))
            && let Some(index) = children.get_mut(*slot as usize)
        {
            *index = child;
            *slot += 1;
        }
    };
    // In order of time: children before this chunk, in it, and after it.
    for (parent, child) in cross_chunk.iter().filter(|(_, child)| *child < first) {
        take(*parent, *child);
    }
    for (child, parent) in (first..).zip(parents) {
        take(*parent, child);
    }
    for (parent, child) in cross_chunk.iter().filter(|(_, child)| *child >= first) {
        take(*parent, *child);
    }
    (offsets, children)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn only_events_on_a_cycle_lose_their_parent() {
        // 0 ← 1 ← 2; 3 → 4 → 5 → 3 is a cycle with 6 attached; 7 is its own parent.
        let mut parents = vec![NO_EVENT, 0, 1, 4, 5, 3, 4, 7];
        assert_eq!(break_cycles(&mut parents), [3, 4, 5, 7]);
        assert_eq!(parents, [NO_EVENT, 0, 1, NO_EVENT, NO_EVENT, NO_EVENT, 4, NO_EVENT]);
    }

    #[test]
    fn cycle_detection_handles_a_chain_of_a_million() {
        let mut parents: Vec<u32> =
            (0..1_000_000).map(|event: u32| event.wrapping_sub(1)).collect();
        assert_eq!(break_cycles(&mut parents), Vec::<u32>::new());
        parents[0] = 999_999;
        assert_eq!(break_cycles(&mut parents).len(), 1_000_000);
    }

    #[test]
    fn links_round_trip() {
        let total: u32 = CHUNK_EVENTS * 2 + 100;
        // Every third event has no parent, and some parents come after their child.
        let parents: Vec<u32> = (0..total)
            .map(|event| match event % 3 {
                0 => NO_EVENT,
                1 => event / 2,
                _ => (event + 5000).min(total - 3) / 3 * 3,
            })
            .collect();
        let mut chunks = BTreeMap::new();
        write(&parents, |number, blob| {
            chunks.insert(number, LinkChunk::read(number, &blob)?);
            Ok(())
        })
        .unwrap();
        for event in 0..total {
            let chunk = &chunks[&(event / CHUNK_EVENTS)];
            let index = (event % CHUNK_EVENTS) as usize;
            assert_eq!(chunk.parent(index).unwrap_or(NO_EVENT), parents[event as usize], "{event}");
            let expected: Vec<u32> =
                (0..total).filter(|child| parents[*child as usize] == event).collect();
            if event % 97 == 0 {
                assert_eq!(chunk.children(index), expected, "{event}");
            }
        }
    }
}
