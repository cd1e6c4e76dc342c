//! Chains of cause and effect: what followed from an event, and where a pattern of types was
//! followed to its end or broke off.
//!
//! A pattern is matched in order along one path from parent to child; other events may lie in
//! between. It begins at an event of its first type whose parent is not of that type.

use std::sync::{Arc, Mutex, PoisonError};

use super::reader::SealedRun;
use crate::error::{LogError, Stop, go_on};
use crate::event::EventType;
use crate::sealed::directory::{CHUNK, DirectoryChunk, Kind};
use crate::sealed::head::Mark;
use crate::sealed::links::LinkChunk;

/// A chain is cut after so many events; no reply could show more.
const MOST_EVENTS: usize = 5_000;

/// A step of a pattern.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Step {
    /// An event of a type.
    Type(EventType),
    /// A state change that places an order.
    OrderPlaced,
}

impl Step {
    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Type(event_type) => event_type.as_str(),
            Self::OrderPlaced => "OrderPlaced",
        }
    }

    const fn kind(self) -> Kind {
        match self {
            Self::Type(event_type) => Kind::of(event_type),
            Self::OrderPlaced => Kind::ORDER_PLACED,
        }
    }
}

/// Which chains.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pattern {
    /// The steps; may be empty.
    pub steps: Vec<Step>,
    /// How many levels down, the root being the first.
    pub max_depth: u32,
}

/// A chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// Where it begins.
    pub root: u32,
    /// The root and what followed from it, in order of time.
    pub events: Vec<u32>,
    /// Whether there was more than is shown.
    pub cut: bool,
    /// The steps that never came.
    pub missing: Vec<Step>,
}

/// The pattern that was searched last: its next page needs no search.
#[derive(Debug, Default)]
pub(crate) struct LastSearch(Mutex<Option<Search>>);

#[derive(Debug)]
struct Search {
    pattern: Pattern,
    incomplete: bool,
    /// Where its chains begin.
    found: Arc<Vec<u32>>,
}

/// More places than this are not kept.
const MOST_KEPT: usize = 1 << 20;

impl LastSearch {
    fn of(&self, pattern: &Pattern, incomplete: bool) -> Option<Arc<Vec<u32>>> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = last.as_ref()?;
        (last.pattern == *pattern && last.incomplete == incomplete).then(|| Arc::clone(&last.found))
    }

    fn keep(&self, pattern: &Pattern, incomplete: bool, found: &Arc<Vec<u32>>) {
        if found.len() <= MOST_KEPT {
            let search = Search { pattern: pattern.clone(), incomplete, found: Arc::clone(found) };
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(search);
        }
    }
}

impl SealedRun {
    /// Where chains begin that are complete, or that are not.
    pub fn chains(
        &self,
        pattern: &Pattern,
        incomplete: bool,
        stop: Stop<'_>,
    ) -> Result<Arc<Vec<u32>>, LogError> {
        if let Some(found) = self.last_search().of(pattern, incomplete) {
            return Ok(found);
        }
        let found = Arc::new(self.search(pattern, incomplete, stop)?);
        self.last_search().keep(pattern, incomplete, &found);
        Ok(found)
    }

    fn search(
        &self,
        pattern: &Pattern,
        incomplete: bool,
        stop: Stop<'_>,
    ) -> Result<Vec<u32>, LogError> {
        let Some(first) = pattern.steps.first() else {
            // Without a pattern nothing can be missing.
            return Ok(if incomplete {
                Vec::new()
            } else {
                self.bitmap(Mark::Root)?.iter().collect()
            });
        };
        let mark = match first {
            Step::Type(event_type) => Mark::Type(*event_type),
            Step::OrderPlaced => Mark::OrderPlaced,
        };
        let mut walker = Walker::new(self);
        let mut found = Vec::new();
        for (place, seq) in self.bitmap(mark)?.iter().enumerate() {
            if place % 1024 == 0 {
                go_on(stop)?;
            }
            if let Some(parent) = walker.parent(seq)?
                && walker.kind(parent)?.is(first.kind())
            {
                continue;
            }
            let complete = walker.matched(seq, pattern, stop)? == pattern.steps.len();
            if complete != incomplete {
                found.push(seq);
            }
        }
        Ok(found)
    }

    /// The chain that begins at an event.
    pub fn chain(&self, root: u32, pattern: &Pattern, stop: Stop<'_>) -> Result<Chain, LogError> {
        let mut walker = Walker::new(self);
        let matched = walker.matched(root, pattern, stop)?;
        let (events, cut) = walker.descendants(root, pattern.max_depth, stop)?;
        let missing = pattern.steps.get(matched..).unwrap_or_default().to_vec();
        Ok(Chain { root, events, cut, missing })
    }
}

/// Walks links with the last chunks at hand: neighbours in a chain are neighbours in time.
struct Walker<'a> {
    run: &'a SealedRun,
    links: [Option<(u32, Arc<LinkChunk>)>; 2],
    directory: [Option<(u32, Arc<DirectoryChunk>)>; 2],
}

impl<'a> Walker<'a> {
    const fn new(run: &'a SealedRun) -> Self {
        Self { run, links: [const { None }; 2], directory: [const { None }; 2] }
    }

    fn links(&mut self, seq: u32) -> Result<Arc<LinkChunk>, LogError> {
        let number = seq / CHUNK;
        remembered(&mut self.links, number, || self.run.links(number))
    }

    fn parent(&mut self, seq: u32) -> Result<Option<u32>, LogError> {
        Ok(self.links(seq)?.parent((seq % CHUNK) as usize))
    }

    fn kind(&mut self, seq: u32) -> Result<Kind, LogError> {
        let number = seq / CHUNK;
        let chunk = remembered(&mut self.directory, number, || self.run.directory(number))?;
        let code = chunk.kinds.get((seq % CHUNK) as usize);
        code.map(|code| Kind::of_code(*code)).ok_or(LogError::Damaged("a place outside the run"))
    }

    /// How many steps of the pattern the best path from `root` takes.
    fn matched(&mut self, root: u32, pattern: &Pattern, stop: Stop<'_>) -> Result<usize, LogError> {
        let mut best = 0;
        let mut waiting = vec![(root, 1_u32, 0_usize)];
        let mut visited = 0_u32;
        while let Some((seq, depth, mut matched)) = waiting.pop() {
            visited += 1;
            if visited.is_multiple_of(4096) {
                go_on(stop)?;
            }
            let kind = self.kind(seq)?;
            if pattern.steps.get(matched).is_some_and(|step| kind.is(step.kind())) {
                matched += 1;
                best = best.max(matched);
            }
            if best == pattern.steps.len() {
                return Ok(best);
            }
            if depth < pattern.max_depth {
                let chunk = self.links(seq)?;
                let children = chunk.children((seq % CHUNK) as usize);
                waiting.extend(children.iter().rev().map(|child| (*child, depth + 1, matched)));
            }
        }
        Ok(best)
    }

    /// The root and what followed from it, and whether that was too much.
    fn descendants(
        &mut self,
        root: u32,
        max_depth: u32,
        stop: Stop<'_>,
    ) -> Result<(Vec<u32>, bool), LogError> {
        let mut found = vec![root];
        let mut level = vec![root];
        for _ in 1..max_depth {
            go_on(stop)?;
            let mut next = Vec::new();
            for seq in &level {
                let chunk = self.links(*seq)?;
                next.extend_from_slice(chunk.children((*seq % CHUNK) as usize));
            }
            if next.is_empty() {
                break;
            }
            found.extend_from_slice(&next);
            if found.len() > MOST_EVENTS {
                break;
            }
            level = next;
        }
        let cut = found.len() > MOST_EVENTS;
        if let Some(rest) = found.get_mut(1..) {
            rest.sort_unstable();
        }
        found.truncate(MOST_EVENTS);
        // A child may be logged before its parent; the order is that of time.
        found.sort_unstable();
        Ok((found, cut))
    }
}

fn remembered<T>(
    last: &mut [Option<(u32, Arc<T>)>; 2],
    number: u32,
    load: impl FnOnce() -> Result<Arc<T>, LogError>,
) -> Result<Arc<T>, LogError> {
    if let Some((_, chunk)) = last.iter().flatten().find(|(kept, _)| *kept == number) {
        return Ok(Arc::clone(chunk));
    }
    let chunk = load()?;
    last.swap(0, 1);
    let [newest, _] = last;
    *newest = Some((number, Arc::clone(&chunk)));
    Ok(chunk)
}
