//! Interval fuzz: spreads cards that would be due on the same day.
//!
//! The range is Anki's: none below 2.5 days, then one day plus 15 % of the part up to 7 days, 10 %
//! up to 20 days and 5 % beyond. The position in the range is a hash of card and repetition, so a
//! preview equals the result.

use crate::numbers::{round_to_u32, to_f64};

/// The seed of the fuzz.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Seed {
    /// Card.
    pub card: i64,
    /// Number of earlier reviews.
    pub repetition: u32,
}

const BANDS: [(f64, f64, f64); 3] = [(2.5, 7.0, 0.15), (7.0, 20.0, 0.1), (20.0, f64::MAX, 0.05)];

/// Returns the fuzzed interval for `days`, from `shortest` to `longest`.
pub fn apply(days: f64, shortest: u32, longest: u32, seed: Seed) -> u32 {
    let (low, high) = fuzz_range(days.max(f64::from(shortest)), longest);
    let low = low.max(shortest);
    let high = high.max(low);
    let width = f64::from(high - low) + 1.0;
    low + round_to_u32((width * seed.fraction()).floor()).min(high - low)
}

/// The range of fuzzed intervals for `days`.
pub fn fuzz_range(days: f64, longest: u32) -> (u32, u32) {
    let longest = longest.max(1);
    let days = days.clamp(1.0, f64::from(longest));
    if days < 2.5 {
        let days = round_to_u32(days).clamp(1, longest);
        return (days, days);
    }
    let delta = BANDS
        .iter()
        .fold(1.0, |sum, (from, to, share)| sum + share * (days.min(*to) - from).max(0.0));
    let low = round_to_u32(days - delta).max(2).min(longest);
    let high = round_to_u32(days + delta).max(low).min(longest);
    (low, high)
}

impl Seed {
    /// Uniform in [0, 1): SplitMix64 of card and repetition.
    fn fraction(self) -> f64 {
        let mut state = self
            .card
            .cast_unsigned()
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_add(u64::from(self.repetition));
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^= state >> 31;
        to_f64((state >> 11).cast_signed()) / to_f64(1 << 53)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fuzz_ranges_match_anki() {
        let cases = [
            (1.0, (1, 1)),
            (2.4, (2, 2)),
            (3.0, (2, 4)),
            (7.0, (5, 9)),
            (20.0, (17, 23)),
            (100.0, (93, 107)),
        ];
        for (days, expected) in cases {
            assert_eq!(fuzz_range(days, 36_500), expected, "days: {days}");
        }
        assert_eq!(fuzz_range(100.0, 95), (88, 95));
    }

    #[test]
    fn fuzz_uses_the_whole_range() {
        let mut seen: Vec<u32> =
            (0..200).map(|card| apply(20.0, 1, 36_500, Seed { card, repetition: 3 })).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, (17..=23).collect::<Vec<u32>>());
    }

    proptest! {
        #[test]
        fn fuzzed_interval_is_deterministic_and_in_range(days in 0.0_f64..50_000.0, shortest in 1_u32..30, longest in 1_u32..40_000, card: i64, repetition: u32) {
            let seed = Seed { card, repetition };
            let shortest = shortest.min(longest);
            let (_, high) = fuzz_range(days, longest);
            let got = apply(days, shortest, longest, seed);
            prop_assert!(got <= high.max(shortest + 2) && (shortest..=longest).contains(&got));
            prop_assert_eq!(got, apply(days, shortest, longest, seed));
        }
    }
}
