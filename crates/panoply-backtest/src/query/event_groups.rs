//! Groups of a question about events: counts, statistics and percentiles per key.

use std::collections::HashMap;

use super::event_scan::{KeyPart, Scan};
use super::events_query::{EventQuery, MAX_GROUPS, QueryGroup};
use crate::number::Number;
use crate::sealed::column::{COLUMN_BLOCK, Stats};

/// Accumulates groups.
pub(super) struct Groups<'a> {
    query: &'a EventQuery,
    /// Groups by the parts of their key as they are stored: no text is made for an event.
    index: HashMap<Vec<KeyPart>, usize>,
    /// Groups by their key. Different parts can have one text, such as 5 and "5".
    by_text: HashMap<Vec<String>, usize>,
    /// The key of the current event.
    key: Vec<KeyPart>,
    /// The group of the last event: consecutive events often share it.
    recent: Option<(Vec<KeyPart>, usize)>,
    groups: Vec<GroupState>,
    /// Values kept for percentiles.
    kept: usize,
    /// Values that were not kept.
    pub(super) beyond: u64,
}

/// A group while events are added.
struct GroupState {
    key: Vec<String>,
    events: u64,
    stats: Stats,
    /// Values that are not in `stats` yet.
    pending: Vec<Number>,
    /// Values for percentiles.
    values: Vec<f64>,
    /// Whether `values` has all of them. Percentiles of the first values only would describe the
    /// start of the run.
    has_all_values: bool,
}

impl<'a> Groups<'a> {
    pub(super) fn new(query: &'a EventQuery) -> Self {
        Self {
            query,
            index: HashMap::new(),
            by_text: HashMap::new(),
            key: Vec::new(),
            recent: None,
            groups: Vec::new(),
            kept: 0,
            beyond: 0,
        }
    }

    /// The group of the current event; `None` if there are too many.
    fn place(&mut self, scan: &mut Scan<'_>) -> Option<usize> {
        self.key.clear();
        self.key.extend(self.query.group_by.iter().map(|part| scan.key_part(part)));
        if let Some((key, place)) = &self.recent
            && *key == self.key
        {
            return Some(*place);
        }
        let place = match self.index.get(&self.key) {
            Some(place) => *place,
            None => {
                let texts: Vec<String> =
                    self.query.group_by.iter().map(|part| scan.key(part)).collect();
                let known = self.by_text.get(&texts).copied();
                let place = match known {
                    Some(place) => place,
                    None if self.groups.len() >= MAX_GROUPS => return None,
                    None => self.open(texts),
                };
                self.index.insert(self.key.clone(), place);
                place
            }
        };
        let recent = self.recent.get_or_insert_default();
        recent.0.clone_from(&self.key);
        recent.1 = place;
        Some(place)
    }

    fn open(&mut self, key: Vec<String>) -> usize {
        self.by_text.insert(key.clone(), self.groups.len());
        self.groups.push(GroupState {
            key,
            events: 0,
            stats: Stats::NONE,
            pending: Vec::new(),
            values: Vec::new(),
            has_all_values: true,
        });
        self.groups.len() - 1
    }

    /// Adds an event to its group; false if there are too many groups.
    pub(super) fn add(&mut self, scan: &mut Scan<'_>, number: Option<Number>) -> bool {
        let Some(place) = self.place(scan) else { return false };
        let Some(group) = self.groups.get_mut(place) else { return false };
        group.events += 1;
        if let Some(number) = number {
            group.pending.push(number);
            if group.pending.len() == COLUMN_BLOCK as usize {
                group.stats.merge(&Stats::of(&group.pending));
                group.pending.clear();
            }
            if !self.query.percentiles.is_empty() {
                if self.kept < self.query.percentile_limit {
                    group.values.push(number.to_f64());
                    self.kept += 1;
                } else {
                    group.has_all_values = false;
                    self.beyond += 1;
                }
            }
        }
        true
    }

    pub(super) fn finish(self, percentiles: &[f64]) -> Vec<QueryGroup> {
        let mut groups: Vec<QueryGroup> = self
            .groups
            .into_iter()
            .map(|mut group| {
                group.stats.merge(&Stats::of(&group.pending));
                group.values.sort_unstable_by(f64::total_cmp);
                let of = |percent: &f64| {
                    group.has_all_values.then(|| percentile(&group.values, *percent)).flatten()
                };
                let percentiles = percentiles.iter().map(of).collect();
                let GroupState { key, events, stats, .. } = group;
                QueryGroup { key, events, stats, percentiles }
            })
            .collect();
        groups.sort_by(|a, b| b.events.cmp(&a.events).then_with(|| a.key.cmp(&b.key)));
        groups
    }
}

/// The percentile of sorted values, by linear interpolation.
fn percentile(sorted: &[f64], percent: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = percent / 100.0 * last as f64;
    let below = place.floor();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the number of values"
    )]
    let index = below as usize;
    let low = *sorted.get(index)?;
    let high = sorted.get(index + 1).copied().unwrap_or(low);
    Some(low + (high - low) * (place - below))
}
