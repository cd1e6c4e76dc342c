//! Who caused whom: each event's parent, and each event's children, in chunks.

use super::codec::{self, Reader, count, put_signed, put_varint};
use super::directory::CHUNK;
use crate::error::LogError;

/// No event.
pub(crate) const NOBODY: u32 = u32::MAX;

/// Events on a circle of parents. Their links are cut.
pub(crate) fn cut_circles(parents: &mut [u32]) -> Vec<u32> {
    // 0: not seen; 1: on the way; 2: known to lead out.
    let mut seen = vec![0_u8; parents.len()];
    let mut circle = Vec::new();
    for start in 0..count(parents.len()) {
        let mut path = Vec::new();
        let mut at = start;
        while let Some(mark @ 0) = seen.get_mut(at as usize) {
            *mark = 1;
            path.push(at);
            at = parents.get(at as usize).copied().unwrap_or(NOBODY);
        }
        if seen.get(at as usize) == Some(&1) {
            let first = path.iter().position(|step| *step == at).unwrap_or_default();
            circle.extend(path.iter().skip(first));
        }
        for step in path {
            if let Some(mark) = seen.get_mut(step as usize) {
                *mark = 2;
            }
        }
    }
    for event in &circle {
        if let Some(parent) = parents.get_mut(*event as usize) {
            *parent = NOBODY;
        }
    }
    circle.sort_unstable();
    circle
}

/// The chunks of a whole run.
pub(crate) fn write(
    parents: &[u32],
    mut put: impl FnMut(u32, Vec<u8>) -> Result<(), LogError>,
) -> Result<(), LogError> {
    let (offsets, children) = children_of(parents);
    for (number, chunk) in parents.chunks(CHUNK as usize).enumerate() {
        let first = number * CHUNK as usize;
        let mut out = Vec::with_capacity(chunk.len() * 4);
        put_varint(&mut out, chunk.len() as u64);
        for (place, parent) in chunk.iter().enumerate() {
            // 0 for none; else the distance, moved away from 0.
            match *parent {
                NOBODY => out.push(0),
                parent => {
                    let distance = (first + place) as i64 - i64::from(parent);
                    put_signed(&mut out, if distance > 0 { distance } else { distance - 1 });
                }
            }
        }
        for place in 0..chunk.len() {
            let event = first + place;
            let range = offsets.get(event).zip(offsets.get(event + 1));
            let own = range.and_then(|(from, to)| children.get(*from as usize..*to as usize));
            let own = own.unwrap_or_default();
            put_varint(&mut out, own.len() as u64);
            let mut last = event as i64;
            for child in own {
                put_signed(&mut out, i64::from(*child) - last);
                last = i64::from(*child);
            }
        }
        put(count(number), codec::pack(&out, codec::KEPT)?)?;
    }
    Ok(())
}

/// Children of all events, one after the other, and where each event's begin.
fn children_of(parents: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0_u32; parents.len() + 1];
    for parent in parents.iter().filter(|parent| **parent != NOBODY) {
        if let Some(slot) = offsets.get_mut(*parent as usize + 1) {
            *slot += 1;
        }
    }
    let mut running = 0;
    for slot in &mut offsets {
        running += *slot;
        *slot = running;
    }
    let mut next = offsets.clone();
    let mut children = vec![0_u32; running as usize];
    for (event, parent) in parents.iter().enumerate().filter(|(_, parent)| **parent != NOBODY) {
        if let Some(slot) = next.get_mut(*parent as usize) {
            if let Some(child) = children.get_mut(*slot as usize) {
                *child = count(event);
            }
            *slot += 1;
        }
    }
    (offsets, children)
}

/// A chunk unpacked.
#[derive(Debug)]
pub(crate) struct LinkChunk {
    parents: Vec<u32>,
    offsets: Vec<u32>,
    children: Vec<u32>,
}

impl LinkChunk {
    pub(crate) fn read(number: u32, blob: &[u8]) -> Result<Self, LogError> {
        let bytes = codec::unpack(blob)?;
        let mut reader = Reader(&bytes);
        let first = i64::from(number) * i64::from(CHUNK);
        let out_of_range = |_| LogError::Damaged("a link leads out of the run");
        let length = reader.length()?;
        let mut parents = Vec::with_capacity(length.min(CHUNK as usize));
        for place in 0..length {
            let event = first + place as i64;
            parents.push(match reader.signed()? {
                0 => NOBODY,
                distance if distance > 0 => {
                    u32::try_from(event - distance).map_err(out_of_range)?
                }
                distance => u32::try_from(event - distance - 1).map_err(out_of_range)?,
            });
        }
        let (mut offsets, mut children) = (vec![0], Vec::new());
        for place in 0..length {
            let mut last = first + place as i64;
            for _ in 0..reader.length()? {
                last += reader.signed()?;
                children.push(u32::try_from(last).map_err(out_of_range)?);
            }
            offsets.push(count(children.len()));
        }
        Ok(Self { parents, offsets, children })
    }

    pub(crate) fn parent(&self, place: usize) -> Option<u32> {
        self.parents.get(place).copied().filter(|parent| *parent != NOBODY)
    }

    /// In order of time.
    pub(crate) fn children(&self, place: usize) -> &[u32] {
        let range = self.offsets.get(place).zip(self.offsets.get(place + 1));
        range
            .and_then(|(from, to)| self.children.get(*from as usize..*to as usize))
            .unwrap_or_default()
    }

    pub(crate) fn weight(&self) -> usize {
        (self.parents.len() * 2 + self.children.len()) * 4 + 64
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn only_events_on_a_circle_lose_their_link() {
        // 0 ← 1 ← 2; 3 → 4 → 5 → 3; 6 hangs on the circle; 7 is its own parent.
        let mut parents = vec![NOBODY, 0, 1, 4, 5, 3, 4, 7];
        assert_eq!(cut_circles(&mut parents), [3, 4, 5, 7]);
        assert_eq!(parents, [NOBODY, 0, 1, NOBODY, NOBODY, NOBODY, 4, NOBODY]);
    }

    #[test]
    fn a_chain_of_a_million_is_no_trouble() {
        let mut parents: Vec<u32> =
            (0..1_000_000).map(|event: u32| event.wrapping_sub(1)).collect();
        assert_eq!(cut_circles(&mut parents), Vec::<u32>::new());
        parents[0] = 999_999;
        assert_eq!(cut_circles(&mut parents).len(), 1_000_000);
    }

    #[test]
    fn parents_and_children_come_back() {
        let total: u32 = CHUNK * 2 + 100;
        // Every third event has no parent, and some parents come later than their child.
        let parents: Vec<u32> = (0..total)
            .map(|event| match event % 3 {
                0 => NOBODY,
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
            let chunk = &chunks[&(event / CHUNK)];
            let place = (event % CHUNK) as usize;
            assert_eq!(chunk.parent(place).unwrap_or(NOBODY), parents[event as usize], "{event}");
            let expected: Vec<u32> =
                (0..total).filter(|child| parents[*child as usize] == event).collect();
            if event % 97 == 0 {
                assert_eq!(chunk.children(place), expected, "{event}");
            }
        }
    }
}
