//! Multi-pattern phrase matcher for normalised text; longest match wins.
//!
//! English phrases match on word boundaries. A Thai phrase of at least four letters matches
//! anywhere, a shorter one on word boundaries only. A phrase without a target masks its range:
//! `ท้องอืด` (bloating) is not `ท้อง` (pregnant).

use std::collections::HashMap;
use std::ops::Range;

use aho_corasick::{AhoCorasick, BuildError};

use crate::text::spans::{is_bounded_left, is_bounded_right, overlap};
use crate::text::{Token, is_thai, normalize};

/// Minimum length of a Thai phrase that matches anywhere.
const LONG_PHRASE: usize = 4;

/// Phrases with their targets.
#[derive(Debug)]
pub(super) struct Phrases {
    automaton: AhoCorasick,
    phrases: Vec<Phrase>,
}

#[derive(Debug)]
struct Phrase {
    targets: Vec<usize>,
    thai: bool,
    short: bool,
}

/// A match.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) range: Range<usize>,
    pub(super) targets: Vec<usize>,
}

impl Phrases {
    /// Builds the automaton. A target of `None` masks.
    pub(super) fn new<'p>(
        entries: impl IntoIterator<Item = (&'p str, Option<usize>)>,
    ) -> Result<Self, BuildError> {
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut spellings: Vec<String> = Vec::new();
        let mut phrases: Vec<Phrase> = Vec::new();
        for (phrase, target) in entries {
            let spelling = normalize(phrase).text().trim().to_owned();
            if spelling.is_empty() {
                continue;
            }
            let place = *places.entry(spelling.clone()).or_insert_with(|| {
                let thai = spelling.chars().any(is_thai);
                let short = thai && spelling.chars().count() < LONG_PHRASE;
                spellings.push(spelling);
                phrases.push(Phrase { targets: Vec::new(), thai, short });
                phrases.len() - 1
            });
            if let Some(phrase) = phrases.get_mut(place) {
                phrase.targets.extend(target.filter(|target| !phrase.targets.contains(target)));
            }
        }
        Ok(Self { automaton: AhoCorasick::new(&spellings)?, phrases })
    }

    /// Returns the matches in order; overlaps are resolved to the longest.
    pub(super) fn find(&self, text: &str, tokens: &[Token]) -> Vec<Found> {
        let content = self.longest(text, tokens);
        let content = content.into_iter().filter(|(_, phrase)| !phrase.targets.is_empty());
        content.map(|(range, phrase)| Found { range, targets: phrase.targets.clone() }).collect()
    }

    /// Returns the ranges of masks.
    pub(super) fn masked(&self, text: &str, tokens: &[Token]) -> Vec<Range<usize>> {
        let masks = self.longest(text, tokens).into_iter();
        masks.filter(|(_, phrase)| phrase.targets.is_empty()).map(|(range, _)| range).collect()
    }

    /// Returns the longest phrases in order.
    fn longest(&self, text: &str, tokens: &[Token]) -> Vec<(Range<usize>, &Phrase)> {
        let mut found: Vec<(Range<usize>, &Phrase)> = Vec::new();
        for hit in self.automaton.find_overlapping_iter(text) {
            let Some(phrase) = self.phrases.get(hit.pattern().as_usize()) else { continue };
            let range = hit.start()..hit.end();
            let stands = if phrase.thai {
                !phrase.short || is_whole(&range, tokens)
            } else {
                is_bounded_left(text, &range) && is_bounded_right(text, &range)
            };
            if stands {
                found.push((range, phrase));
            }
        }
        found.sort_by_key(|(range, _)| (std::cmp::Reverse(range.len()), range.start));
        let mut selected: Vec<(Range<usize>, &Phrase)> = Vec::new();
        for (range, phrase) in found {
            if !selected.iter().any(|(other, _)| overlap(&range, other)) {
                selected.push((range, phrase));
            }
        }
        selected.sort_by_key(|(range, _)| range.start);
        selected
    }
}

fn is_whole(range: &Range<usize>, tokens: &[Token]) -> bool {
    tokens.iter().any(|token| token.range.start == range.start)
        && tokens.iter().any(|token| token.range.end == range.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_phrase_wins_and_masks_hide_matches() {
        let phrases = Phrases::new([
            ("ท้อง", Some(1)),
            ("ท้องอืด", None),
            ("heart", Some(2)),
            ("heart failure", Some(3)),
            ("kid", Some(4)),
        ])
        .unwrap();
        let targets = |text: &str| -> Vec<usize> {
            let found = phrases.find(normalize(text).text(), &[]);
            found.into_iter().flat_map(|found| found.targets).collect()
        };
        assert_eq!(targets("ตอนท้องกินขิง"), [1]);
        assert_eq!(targets("ท้องอืดกินขิง"), Vec::<usize>::new());
        assert_eq!(targets("Heart failure, a weak HEART, hearty"), [3, 2]);
        assert_eq!(targets("kidney and a kid"), [4]);
    }
}
