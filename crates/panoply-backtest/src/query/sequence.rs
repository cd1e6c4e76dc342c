//! Chains of cause and effect: what followed from an event, and where a pattern of types was
//! followed to its end or broke off.
//!
//! A pattern is matched in order along one path from parent to child; other events may lie in
//! between. It begins at an event of its first type whose parent is not of that type.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use roaring::RoaringBitmap;

use super::reader::SealedRun;
use crate::error::{LogError, Stop, go_on};
use crate::event::EventType;
use crate::sealed::directory::CHUNK;
use crate::sealed::head::Mark;
use crate::sealed::links::LinkChunk;

/// A search is shared among so many threads at most …
const HANDS: usize = 2;
/// … when each has at least so many places to begin at.
const LEAST_SHARE: usize = 20_000;
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

    const fn mark(self) -> Mark {
        match self {
            Self::Type(event_type) => Mark::Type(event_type),
            Self::OrderPlaced => Mark::OrderPlaced,
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
        let wanted = Wanted::of(self, pattern)?;
        let begin: Vec<u32> = self.bitmap(first.mark())?.iter().collect();
        // Every chunk of links is unpacked, which keeps a core busy; the other may help.
        let share = begin.len().div_ceil(HANDS).max(LEAST_SHARE);
        let found: Result<Vec<Vec<u32>>, LogError> = std::thread::scope(|scope| {
            let hands: Vec<_> = begin
                .chunks(share)
                .map(|begin| {
                    let wanted = &wanted;
                    scope.spawn(move || self.chains_among(begin, wanted, incomplete, stop))
                })
                .collect();
            let broken = || Err(LogError::Damaged("a search broke off"));
            hands.into_iter().map(|hand| hand.join().unwrap_or_else(|_| broken())).collect()
        });
        Ok(found?.concat())
    }

    /// Those of these places where a chain begins that is complete, or that is not.
    fn chains_among(
        &self,
        places: &[u32],
        wanted: &Wanted,
        incomplete: bool,
        stop: Stop<'_>,
    ) -> Result<Vec<u32>, LogError> {
        let mut walker = Walker::new(self, false);
        let mut found = Vec::new();
        for (place, seq) in places.iter().copied().enumerate() {
            if place % 1024 == 0 {
                go_on(stop)?;
            }
            if walker.parent(seq)?.is_some_and(|parent| wanted.is_step(0, parent)) {
                continue;
            }
            let complete = walker.matched(seq, wanted, stop)? == wanted.steps.len();
            if complete != incomplete {
                found.push(seq);
            }
        }
        Ok(found)
    }

    /// The chain that begins at an event.
    pub fn chain(&self, root: u32, pattern: &Pattern, stop: Stop<'_>) -> Result<Chain, LogError> {
        let mut walker = Walker::new(self, true);
        let matched = walker.matched(root, &Wanted::of(self, pattern)?, stop)?;
        let (events, cut) = walker.descendants(root, pattern.max_depth, stop)?;
        let missing = pattern.steps.get(matched..).unwrap_or_default().to_vec();
        Ok(Chain { root, events, cut, missing })
    }
}

/// A pattern as sets: for each step the places of the events that are it.
struct Wanted {
    steps: Vec<Arc<RoaringBitmap>>,
    max_depth: u32,
}

impl Wanted {
    fn of(run: &SealedRun, pattern: &Pattern) -> Result<Self, LogError> {
        let steps: Result<_, LogError> =
            pattern.steps.iter().map(|step| run.bitmap(step.mark())).collect();
        Ok(Self { steps: steps?, max_depth: pattern.max_depth })
    }

    /// Whether an event is the step at a place of the pattern.
    fn is_step(&self, place: usize, seq: u32) -> bool {
        self.steps.get(place).is_some_and(|step| step.contains(seq))
    }
}

/// Walks links with the last chunks at hand: neighbours in a chain are neighbours in time.
struct Walker<'a> {
    run: &'a SealedRun,
    /// Whether the run remembers what is unpacked. A search unpacks everything, which would only
    /// drive out what other questions need.
    kept: bool,
    /// The newest first.
    links: VecDeque<(u32, Arc<LinkChunk>)>,
    /// Events that [`matched`](Self::matched) has still to visit, with their depth and how much
    /// of the pattern led to them. Empty between two calls.
    waiting: Vec<(u32, u32, usize)>,
}

/// Chunks that a walker has at hand.
const AT_HAND: usize = 4;

impl<'a> Walker<'a> {
    const fn new(run: &'a SealedRun, kept: bool) -> Self {
        Self { run, kept, links: VecDeque::new(), waiting: Vec::new() }
    }

    fn links(&mut self, seq: u32) -> Result<&LinkChunk, LogError> {
        let number = seq / CHUNK;
        match self.links.iter().position(|(kept, _)| *kept == number) {
            Some(0) => {}
            Some(place) => self.links.swap(0, place),
            None => {
                let chunk = if self.kept {
                    self.run.links(number)?
                } else {
                    Arc::new(self.run.links_once(number)?)
                };
                self.links.truncate(AT_HAND - 1);
                self.links.push_front((number, chunk));
            }
        }
        let (_, chunk) = self.links.front().ok_or(LogError::Damaged("a chunk went astray"))?;
        Ok(chunk)
    }

    fn parent(&mut self, seq: u32) -> Result<Option<u32>, LogError> {
        Ok(self.links(seq)?.parent((seq % CHUNK) as usize))
    }

    /// How many steps of the pattern the best path from `root` takes.
    fn matched(&mut self, root: u32, wanted: &Wanted, stop: Stop<'_>) -> Result<usize, LogError> {
        let mut best = 0;
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.push((root, 1, 0));
        let mut visited = 0_u32;
        while let Some((seq, depth, mut matched)) = waiting.pop() {
            visited += 1;
            if visited.is_multiple_of(4096) {
                go_on(stop)?;
            }
            if wanted.is_step(matched, seq) {
                matched += 1;
                best = best.max(matched);
            }
            if best == wanted.steps.len() {
                break;
            }
            if depth < wanted.max_depth {
                let chunk = self.links(seq)?;
                let children = chunk.children((seq % CHUNK) as usize);
                waiting.extend(children.iter().rev().map(|child| (*child, depth + 1, matched)));
            }
        }
        waiting.clear();
        self.waiting = waiting;
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
