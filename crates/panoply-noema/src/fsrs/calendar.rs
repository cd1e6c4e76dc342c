//! Study days: rollover hour and time zone.

use super::zone::Zone;

/// Unix time in microseconds, UTC.
pub type Micros = i64;

/// One second.
pub const SECOND: Micros = 1_000_000;
/// One day.
pub const DAY: Micros = 86_400 * SECOND;

/// The calendar that counts study days.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Calendar {
    /// A day is exactly 24 hours; for comparison with other schedulers.
    Exact,
    /// A day begins at a local hour. It has 23 or 25 hours when the clock changes.
    Rollover {
        /// Hour from 0 to 23.
        hour: u8,
        /// Time zone of the learner.
        zone: Zone,
    },
}

impl Default for Calendar {
    fn default() -> Self {
        Self::Rollover { hour: 4, zone: Zone::UTC }
    }
}

impl Calendar {
    /// The number of the study day at `time`: days from 1970-01-01 to its local date.
    pub fn day(self, time: Micros) -> i64 {
        let shift = match self {
            Self::Exact => 0,
            Self::Rollover { hour, zone } => zone.offset(time) - i64::from(hour) * 3600 * SECOND,
        };
        time.saturating_add(shift).div_euclid(DAY)
    }

    /// The start of a day.
    pub fn start(self, day: i64) -> Micros {
        match self {
            Self::Exact => day * DAY,
            Self::Rollover { hour, zone } => zone.instant(day, hour),
        }
    }

    /// The start of the next day.
    pub fn next_start(self, time: Micros) -> Micros {
        self.start(self.day(time) + 1)
    }

    /// The hour that a local clock shows.
    pub fn hour(self, time: Micros) -> u8 {
        let offset = match self {
            Self::Exact => 0,
            Self::Rollover { zone, .. } => zone.offset(time),
        };
        u8::try_from((time + offset).rem_euclid(DAY) / (3600 * SECOND)).unwrap_or_default()
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
    pub fn due_cutoff(self, now: Micros) -> Micros {
        match self {
            Self::Exact => now,
            Self::Rollover { .. } => self.next_start(now) - 1,
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
        let calendar = Calendar::Rollover { hour: 4, zone: Zone::fixed(420) };
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

    #[test]
    fn days_begin_at_the_local_hour_on_both_sides_of_a_clock_change() {
        // Summer time begins in London on 2026-03-29 at 01:00 UTC and ends on 2026-10-25; it ends
        // in New York on 2026-11-01 at 06:00 UTC. Bangkok has none.
        let cases = [
            ("Europe/London", "2026-03-28T12:00:00Z", "2026-03-29T03:00:00Z"),
            ("Europe/London", "2026-03-27T12:00:00Z", "2026-03-28T04:00:00Z"),
            ("Europe/London", "2026-10-24T12:00:00Z", "2026-10-25T04:00:00Z"),
            ("America/New_York", "2026-10-31T12:00:00Z", "2026-11-01T09:00:00Z"),
            ("Asia/Bangkok", "2026-03-28T12:00:00Z", "2026-03-28T21:00:00Z"),
        ];
        for (zone, now, next) in cases {
            let calendar = Calendar::Rollover { hour: 4, zone: Zone::parse(zone).unwrap() };
            assert_eq!(calendar.next_start(at(now)), at(next), "{zone} {now}");
            assert_eq!(calendar.elapsed(at(now), at(next)), 1, "{zone} {now}");
            assert_eq!(calendar.elapsed(at(now), at(next) - 1), 0, "{zone} {now}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_day_is_the_time_from_its_start_to_the_next(
            seconds in 0_i64..4_000_000_000,
            hour in 0_u8..24,
            zone in proptest::sample::select(vec![
                "Asia/Bangkok", "Europe/London", "America/New_York", "Australia/Lord_Howe", "America/Havana", "UTC",
            ]),
        ) {
            let calendar = Calendar::Rollover { hour, zone: Zone::parse(zone).unwrap() };
            let now = seconds * SECOND;
            let day = calendar.day(now);
            proptest::prop_assert!((calendar.start(day)..calendar.start(day + 1)).contains(&now));
        }
    }
}
