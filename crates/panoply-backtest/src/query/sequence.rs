//! Chains of events linked from parent to child, and matching of type patterns along them.
//!
//! A pattern matches in order along one path from parent to child; other events may lie between.
//! It starts at an event of its first type whose parent is not of that type.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use roaring::RoaringBitmap;

use super::reader::SealedRun;
use crate::error::{LogError, Stop, check_stop};
use crate::event::EventType;
use crate::sealed::directory::CHUNK_EVENTS;
use crate::sealed::head::Attribute;
use crate::sealed::links::LinkChunk;

/// Maximum threads of one search.
const SEARCH_THREADS: usize = 2;
/// Minimum candidates for each thread.
const MIN_ROOTS_PER_THREAD: usize = 20_000;
/// A chain is truncated after this many events; no reply can show more.
const MAX_CHAIN_EVENTS: usize = 5_000;

/// A step of a pattern.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Step {
    /// An event of a type.
    Type(EventType),
    /// A state change that places an order.
    OrderPlaced,
}

impl Step {
    /// The published word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Type(event_type) => event_type.as_str(),
            Self::OrderPlaced => "OrderPlaced",
        }
    }

    const fn attribute(self) -> Attribute {
        match self {
            Self::Type(event_type) => Attribute::Type(event_type),
            Self::OrderPlaced => Attribute::OrderPlaced,
        }
    }
}

/// A pattern of chains.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pattern {
    /// The steps; may be empty.
    pub steps: Vec<Step>,
    /// Maximum levels, the root being the first.
    pub max_depth: u32,
}

/// A chain of events.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// The seq of its first event.
    pub root: u32,
    /// The root and its descendants, in order of time.
    pub events: Vec<u32>,
    /// Whether events were omitted.
    pub cut: bool,
    /// The steps without a match.
    pub missing: Vec<Step>,
}

/// The result of the last search, so that its next page needs none.
#[derive(Debug, Default)]
pub(crate) struct ChainSearchCache(Mutex<Option<CachedSearch>>);

#[derive(Debug)]
struct CachedSearch {
    pattern: Pattern,
    incomplete: bool,
    /// The roots of the matching chains.
    found: Arc<Vec<u32>>,
}

/// Larger results are not cached.
const MAX_CACHED_ROOTS: usize = 1 << 20;

impl ChainSearchCache {
    fn of(&self, pattern: &Pattern, incomplete: bool) -> Option<Arc<Vec<u32>>> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = last.as_ref()?;
        (last.pattern == *pattern && last.incomplete == incomplete).then(|| Arc::clone(&last.found))
    }

    fn store(&self, pattern: &Pattern, incomplete: bool, found: &Arc<Vec<u32>>) {
        if found.len() <= MAX_CACHED_ROOTS {
            let search =
                CachedSearch { pattern: pattern.clone(), incomplete, found: Arc::clone(found) };
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(search);
        }
    }
}

impl SealedRun {
    /// The roots of complete chains, or of incomplete ones.
    pub fn chains(
        &self,
        pattern: &Pattern,
        incomplete: bool,
        stop: Stop<'_>,
    ) -> Result<Arc<Vec<u32>>, LogError> {
        if let Some(found) = self.chain_searches().of(pattern, incomplete) {
            return Ok(found);
        }
        let found = Arc::new(self.search(pattern, incomplete, stop)?);
        self.chain_searches().store(pattern, incomplete, &found);
        Ok(found)
    }

    fn search(
        &self,
        pattern: &Pattern,
        incomplete: bool,
        stop: Stop<'_>,
    ) -> Result<Vec<u32>, LogError> {
        let Some(first) = pattern.steps.first() else {
            // An empty pattern has no missing step.
            return Ok(if incomplete {
                Vec::new()
            } else {
                self.bitmap(Attribute::Root)?.iter().collect()
            });
        };
        let pattern = StepBitmaps::of(self, pattern)?;
        let candidates: Vec<u32> = self.bitmap(first.attribute())?.iter().collect();
        // Decompressing all links takes one core; a second thread halves the time.
        let roots_per_thread = candidates.len().div_ceil(SEARCH_THREADS).max(MIN_ROOTS_PER_THREAD);
        let found: Result<Vec<Vec<u32>>, LogError> = std::thread::scope(|scope| {
            let workers: Vec<_> = candidates
                .chunks(roots_per_thread)
                .map(|candidates| {
                    let pattern = &pattern;
                    scope.spawn(move || self.matching_roots(candidates, pattern, incomplete, stop))
                })
                .collect();
            let panicked = || Err(LogError::Damaged("a search thread panicked"));
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| panicked())).collect()
        });
        Ok(found?.concat())
    }

    /// The candidates that are the root of a complete chain, or of an incomplete one.
    fn matching_roots(
        &self,
        candidates: &[u32],
        pattern: &StepBitmaps,
        incomplete: bool,
        stop: Stop<'_>,
    ) -> Result<Vec<u32>, LogError> {
        let mut walker = Walker::new(self, false);
        let mut found = Vec::new();
        for (index, seq) in candidates.iter().copied().enumerate() {
            if index % 1024 == 0 {
                check_stop(stop)?;
            }
            if walker.parent(seq)?.is_some_and(|parent| pattern.is_step(0, parent)) {
                continue;
            }
            let complete = walker.matched(seq, pattern, stop)? == pattern.steps.len();
            if complete != incomplete {
                found.push(seq);
            }
        }
        Ok(found)
    }

    /// The chain that starts at an event.
    pub fn chain(&self, root: u32, pattern: &Pattern, stop: Stop<'_>) -> Result<Chain, LogError> {
        let mut walker = Walker::new(self, true);
        let matched = walker.matched(root, &StepBitmaps::of(self, pattern)?, stop)?;
        let (events, cut) = walker.descendants(root, pattern.max_depth, stop)?;
        let missing = pattern.steps.get(matched..).unwrap_or_default().to_vec();
        Ok(Chain { root, events, cut, missing })
    }
}

/// The bitmaps of a pattern's steps.
struct StepBitmaps {
    steps: Vec<Arc<RoaringBitmap>>,
    max_depth: u32,
}

impl StepBitmaps {
    fn of(run: &SealedRun, pattern: &Pattern) -> Result<Self, LogError> {
        let steps: Result<_, LogError> =
            pattern.steps.iter().map(|step| run.bitmap(step.attribute())).collect();
        Ok(Self { steps: steps?, max_depth: pattern.max_depth })
    }

    /// Whether an event matches a step.
    fn is_step(&self, index: usize, seq: u32) -> bool {
        self.steps.get(index).is_some_and(|step| step.contains(seq))
    }
}

/// Traverses links. Holds the last chunks: neighbours in a chain are near each other in time.
struct Walker<'a> {
    run: &'a SealedRun,
    /// Whether to use the run's cache. A search reads all chunks and would evict everything
    /// else.
    use_cache: bool,
    /// Most recently used first.
    links: VecDeque<(u32, Arc<LinkChunk>)>,
    /// Stack of [`matched`](Self::matched): seq, depth and steps matched so far. Reused between
    /// calls.
    stack: Vec<(u32, u32, usize)>,
}

/// Chunks that a walker holds.
const LINK_CHUNKS: usize = 4;

impl<'a> Walker<'a> {
    const fn new(run: &'a SealedRun, use_cache: bool) -> Self {
        Self { run, use_cache, links: VecDeque::new(), stack: Vec::new() }
    }

    fn links(&mut self, seq: u32) -> Result<&LinkChunk, LogError> {
        let number = seq / CHUNK_EVENTS;
        match self.links.iter().position(|(cached, _)| *cached == number) {
            Some(0) => {}
            Some(index) => self.links.swap(0, index),
            None => {
                let chunk = if self.use_cache {
                    self.run.links(number)?
                } else {
                    Arc::new(self.run.links_uncached(number)?)
                };
                self.links.truncate(LINK_CHUNKS - 1);
                self.links.push_front((number, chunk));
            }
        }
        let (_, chunk) = self.links.front().ok_or(LogError::Damaged("a link chunk is missing"))?;
        Ok(chunk)
    }

    fn parent(&mut self, seq: u32) -> Result<Option<u32>, LogError> {
        Ok(self.links(seq)?.parent((seq % CHUNK_EVENTS) as usize))
    }

    /// The largest number of steps matched along any path from `root`.
    fn matched(
        &mut self,
        root: u32,
        pattern: &StepBitmaps,
        stop: Stop<'_>,
    ) -> Result<usize, LogError> {
        let mut best = 0;
        let mut stack = std::mem::take(&mut self.stack);
        stack.push((root, 1, 0));
        let mut visited = 0_u32;
        while let Some((seq, depth, mut matched)) = stack.pop() {
            visited += 1;
            if visited.is_multiple_of(4096) {
                check_stop(stop)?;
            }
            if pattern.is_step(matched, seq) {
                matched += 1;
                best = best.max(matched);
            }
            if best == pattern.steps.len() {
                break;
            }
            if depth < pattern.max_depth {
                let chunk = self.links(seq)?;
                let children = chunk.children((seq % CHUNK_EVENTS) as usize);
                stack.extend(children.iter().rev().map(|child| (*child, depth + 1, matched)));
            }
        }
        stack.clear();
        self.stack = stack;
        Ok(best)
    }

    /// The root and its descendants, and whether there were too many.
    fn descendants(
        &mut self,
        root: u32,
        max_depth: u32,
        stop: Stop<'_>,
    ) -> Result<(Vec<u32>, bool), LogError> {
        let mut found = vec![root];
        let mut level = vec![root];
        for _ in 1..max_depth {
            check_stop(stop)?;
            let mut next = Vec::new();
            for seq in &level {
                let chunk = self.links(*seq)?;
                next.extend_from_slice(chunk.children((*seq % CHUNK_EVENTS) as usize));
            }
            if next.is_empty() {
                break;
            }
            found.extend_from_slice(&next);
            if found.len() > MAX_CHAIN_EVENTS {
                break;
            }
            level = next;
        }
        let cut = found.len() > MAX_CHAIN_EVENTS;
        if let Some(rest) = found.get_mut(1..) {
            rest.sort_unstable();
        }
        found.truncate(MAX_CHAIN_EVENTS);
        // In order of time: a child may be logged before its parent.
        found.sort_unstable();
        Ok((found, cut))
    }
}
