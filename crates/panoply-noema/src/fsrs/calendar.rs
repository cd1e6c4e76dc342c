//! When a day of study begins and ends.

use serde::{Deserialize, Serialize};

/// Microseconds since 1970, UTC: every moment in this crate.
pub type Micros = i64;

/// A second, in microseconds.
pub const SECOND: Micros = 1_000_000;
/// A day, in microseconds.
pub const DAY: Micros = 86_400 * SECOND;

/// How days are counted.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub enum Calendar {
    /// A day is 24 hours after a review, to the second: for comparing with other schedulers.
    Exact,
    /// A day begins at an hour of the night, where the learner lives.
    Rollover {
        /// The hour, from 0 to 23.
        hour: u8,
        /// Minutes that the learner's clock is ahead of UTC.
        utc_offset: i16,
    },
}

impl Default for Calendar {
    fn default() -> Self {
        Self::Rollover { hour: 4, utc_offset: 0 }
    }
}

impl Calendar {
    /// The number of the day that `moment` is in.
    pub const fn day(self, moment: Micros) -> i64 {
        (moment + self.shift()).div_euclid(DAY)
    }

    /// When a day begins.
    pub const fn start(self, day: i64) -> Micros {
        day * DAY - self.shift()
    }

    /// When the day of `moment` ends and the next begins.
    pub const fn next_start(self, moment: Micros) -> Micros {
        self.start(self.day(moment) + 1)
    }

    /// Whole days from one moment to another; none when the clock went back.
    pub fn elapsed(self, from: Micros, to: Micros) -> u32 {
        let days = match self {
            Self::Exact => (to - from).div_euclid(DAY),
            Self::Rollover { .. } => self.day(to) - self.day(from),
        };
        u32::try_from(days.max(0)).unwrap_or(u32::MAX)
    }

    /// When a card is due that comes back after so many days.
    pub fn due(self, reviewed: Micros, days: u32) -> Micros {
        match self {
            Self::Exact => reviewed + i64::from(days) * DAY,
            Self::Rollover { .. } => self.start(self.day(reviewed) + i64::from(days)),
        }
    }

    /// The moment up to which what is due counts as due now.
    pub const fn due_cutoff(self, now: Micros) -> Micros {
        match self {
            Self::Exact => now,
            Self::Rollover { .. } => self.next_start(now) - 1,
        }
    }

    const fn shift(self) -> Micros {
        match self {
            Self::Exact => 0,
            Self::Rollover { hour, utc_offset } => {
                (utc_offset as i64 * 60 - hour as i64 * 3600) * SECOND
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Micros {
        text.parse::<jiff::Timestamp>().unwrap().as_microsecond()
    }

    #[test]
    fn day_starts_at_the_rollover_hour_in_local_time() {
        let calendar = Calendar::Rollover { hour: 4, utc_offset: 420 };
        // 03:59 and 04:00 in Bangkok.
        let (owl, lark) = (at("2026-11-14T20:59:00Z"), at("2026-11-14T21:00:00Z"));
        assert_eq!(calendar.day(lark) - calendar.day(owl), 1);
        assert_eq!(calendar.elapsed(owl, lark), 1);
        assert_eq!(calendar.next_start(owl), lark);
        assert_eq!(calendar.due(owl, 1), lark);
        assert_eq!(Calendar::Exact.elapsed(owl, lark), 0);
    }

    #[test]
    fn elapsed_days_are_zero_when_the_clock_moves_back() {
        for calendar in [Calendar::Exact, Calendar::default()] {
            assert_eq!(calendar.elapsed(at("2026-11-15T12:00:00Z"), at("2026-11-01T12:00:00Z")), 0);
        }
    }
}
