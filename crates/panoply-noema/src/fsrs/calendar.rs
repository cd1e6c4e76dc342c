//! Study days: rollover hour and time zone offset.

use serde::{Deserialize, Serialize};

/// Unix time in microseconds, UTC.
pub type Micros = i64;

/// One second.
pub const SECOND: Micros = 1_000_000;
/// One day.
pub const DAY: Micros = 86_400 * SECOND;

/// The calendar that counts study days.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub enum Calendar {
    /// A day is exactly 24 hours; for comparison with other schedulers.
    Exact,
    /// A day begins at a local hour.
    Rollover {
        /// Hour from 0 to 23.
        hour: u8,
        /// UTC offset of the learner in minutes.
        utc_offset: i16,
    },
}

impl Default for Calendar {
    fn default() -> Self {
        Self::Rollover { hour: 4, utc_offset: 0 }
    }
}

impl Calendar {
    /// The number of the study day at `time`.
    pub const fn day(self, time: Micros) -> i64 {
        (time + self.shift()).div_euclid(DAY)
    }

    /// The start of a day.
    pub const fn start(self, day: i64) -> Micros {
        day * DAY - self.shift()
    }

    /// The start of the next day.
    pub const fn next_start(self, time: Micros) -> Micros {
        self.start(self.day(time) + 1)
    }

    /// Whole days between two timestamps; zero if the clock moved back.
    pub fn elapsed(self, from: Micros, to: Micros) -> u32 {
        let days = match self {
            Self::Exact => (to - from).div_euclid(DAY),
            Self::Rollover { .. } => self.day(to) - self.day(from),
        };
        u32::try_from(days.max(0)).unwrap_or(u32::MAX)
    }

    /// The due time of a card with an interval of `days`.
    pub fn due(self, reviewed: Micros, days: u32) -> Micros {
        match self {
            Self::Exact => reviewed + i64::from(days) * DAY,
            Self::Rollover { .. } => self.start(self.day(reviewed) + i64::from(days)),
        }
    }

    /// Cards due until this timestamp count as due at `now`.
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
