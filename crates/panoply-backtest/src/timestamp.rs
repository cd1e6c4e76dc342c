//! Timestamps in nanoseconds since 1970, UTC: parsed from ISO 8601, printed with minimal digits.
//!
//! An `i64` of nanoseconds covers 1677 to 2262; a bound of a query may name any year from 0001 to
//! 9999. `jiff` is not used for parsing: engines write fractions longer than nine digits and
//! offsets without a colon or none at all, which are accepted here, and a log of ten million lines
//! parses this field once per line.

use std::fmt;

const NANOS: i64 = 1_000_000_000;
const DAY_SECONDS: i64 = 86_400;

/// Nanoseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Timestamp(i64);

/// A text that is not a timestamp.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BadTimestamp {
    /// Not ISO 8601.
    #[error("`{0}` is not an ISO 8601 time such as 2025-06-15T14:30:45.123Z")]
    Format(String),
    /// A valid time that nanoseconds in 64 bits cannot represent.
    #[error("`{0}` is outside 1677-09-21 to 2262-04-11, the range of nanosecond timestamps")]
    Range(String),
}

impl Timestamp {
    /// The earliest timestamp.
    pub const MIN: Self = Self(i64::MIN);
    /// The latest timestamp.
    pub const MAX: Self = Self(i64::MAX);

    /// A timestamp from nanoseconds since 1970.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since 1970.
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// Parses a date (`2025-06-15`, `2025-166`, `2025-W24-7`, or the basic forms without hyphens),
    /// optionally with a time (`T14:30:45`, `T143045`, `T24:00`), a fraction of any length
    /// (truncated to nine digits) and an offset. Without an offset the time is UTC.
    pub fn parse(text: &str) -> Result<Self, BadTimestamp> {
        let (seconds, fraction) = parse(text.as_bytes()).ok_or_else(|| not_iso(text))?;
        let nanos = seconds.checked_mul(NANOS).and_then(|nanos| nanos.checked_add(fraction));
        nanos.map(Self).ok_or_else(|| BadTimestamp::Range(excerpt(text)))
    }

    /// Like [`parse`](Self::parse), for a bound of a query: a time beyond the range is the nearest
    /// bound of the range.
    pub fn parse_bound(text: &str) -> Result<Self, BadTimestamp> {
        let (seconds, fraction) = parse(text.as_bytes()).ok_or_else(|| not_iso(text))?;
        Ok(Self(seconds.saturating_mul(NANOS).saturating_add(fraction)))
    }

    /// The form in events: three fraction digits, or six or nine if needed.
    pub fn with_millis(self) -> String {
        let mut text = String::with_capacity(30);
        self.write_to(&mut text, self.digits().max(3));
        text
    }

    /// Fraction digits needed: 0, 3, 6 or 9.
    pub const fn digits(self) -> u8 {
        let fraction = self.0.rem_euclid(NANOS);
        if fraction == 0 {
            0
        } else if fraction % 1_000_000 == 0 {
            3
        } else if fraction % 1_000 == 0 {
            6
        } else {
            9
        }
    }

    /// Appends the timestamp with this many fraction digits.
    pub fn write_to(self, out: &mut String, digits: u8) {
        let seconds = self.0.div_euclid(NANOS);
        let fraction = self.0.rem_euclid(NANOS);
        let (days, second) = (seconds.div_euclid(DAY_SECONDS), seconds.rem_euclid(DAY_SECONDS));
        let (year, month, day) = civil_from_days(days);
        push_padded(out, year, 4);
        out.push('-');
        push_padded(out, month, 2);
        out.push('-');
        push_padded(out, day, 2);
        out.push('T');
        push_padded(out, second / 3600, 2);
        out.push(':');
        push_padded(out, second / 60 % 60, 2);
        out.push(':');
        push_padded(out, second % 60, 2);
        if digits > 0 {
            out.push('.');
            let digits = digits.min(9);
            let divisor = 10_i64.pow(u32::from(9 - digits));
            push_padded(out, fraction / divisor, usize::from(digits));
        }
        out.push('Z');
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(30);
        self.write_to(&mut text, self.digits());
        f.write_str(&text)
    }
}

fn push_padded(out: &mut String, mut number: i64, width: usize) {
    let mut digits = [b'0'; 20];
    for digit in digits.iter_mut().rev().take(width) {
        *digit = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
    }
    let shown = digits.get(20 - width.min(20)..).unwrap_or_default();
    out.push_str(std::str::from_utf8(shown).unwrap_or_default());
}

fn not_iso(text: &str) -> BadTimestamp {
    BadTimestamp::Format(excerpt(text))
}

fn excerpt(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Seconds since 1970 and nanoseconds.
fn parse(text: &[u8]) -> Option<(i64, i64)> {
    let mut cursor = Cursor(text);
    let mut seconds = cursor.date()? * DAY_SECONDS;
    let mut fraction = 0;
    if !cursor.0.is_empty() {
        match cursor.next()? {
            b'T' | b't' | b' ' => {}
            _ => return None,
        }
        let (second_of_day, nanos) = cursor.time_of_day()?;
        fraction = nanos;
        seconds += second_of_day - cursor.offset()?;
    }
    cursor.0.is_empty().then_some((seconds, fraction))
}

struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    /// Days since 1970 of a calendar, ordinal or week date, in extended or basic form.
    fn date(&mut self) -> Option<i64> {
        let year = self.number(4).filter(|year| *year > 0)?;
        let is_extended = self.skip(b'-');
        if self.skip(b'W') {
            let week = self.number(2)?;
            let has_day = if is_extended { self.skip(b'-') } else { self.leading_digits() == 1 };
            let day = if has_day { self.number(1)? } else { 1 };
            return week_date(year, week, day);
        }
        let is_ordinal = self.leading_digits() == 3;
        if is_ordinal {
            let day = self.number(3)?;
            let days = if days_in(year, 2) == 29 { 366 } else { 365 };
            return (1..=days).contains(&day).then(|| days_from_civil(year, 1, 1) + day - 1);
        }
        let month = self.number(2)?;
        if is_extended {
            self.expect(b'-')?;
        }
        let day = self.number(2)?;
        let is_valid = (1..=12).contains(&month) && day >= 1 && day <= days_in(year, month);
        is_valid.then(|| days_from_civil(year, month, day))
    }

    /// Seconds of the day and nanoseconds. `24:00` is the end of the day.
    fn time_of_day(&mut self) -> Option<(i64, i64)> {
        let hour = self.number(2)?;
        let (mut minute, mut second, mut fraction, mut has_second) = (0, 0, 0, false);
        if self.skip(b':') {
            minute = self.number(2)?;
            has_second = self.skip(b':');
        } else if self.leading_digits() >= 2 {
            minute = self.number(2)?;
            has_second = self.leading_digits() == 2;
        }
        if has_second {
            second = self.number(2)?;
            if self.skip(b'.') || self.skip(b',') {
                fraction = self.fraction()?;
            }
        }
        let is_end_of_day = hour == 24 && (minute, second, fraction) == (0, 0, 0);
        let is_valid = (hour < 24 || is_end_of_day) && minute < 60 && second < 60;
        is_valid.then_some((hour * 3600 + minute * 60 + second, fraction))
    }

    fn leading_digits(&self) -> usize {
        self.0.iter().take_while(|byte| byte.is_ascii_digit()).count()
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn expect(&mut self, wanted: u8) -> Option<()> {
        (self.next()? == wanted).then_some(())
    }

    fn skip(&mut self, wanted: u8) -> bool {
        match self.0.split_first() {
            Some((first, rest)) if *first == wanted => {
                self.0 = rest;
                true
            }
            _ => false,
        }
    }

    fn number(&mut self, width: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(width)?;
        let mut value = 0;
        for digit in digits {
            if !digit.is_ascii_digit() {
                return None;
            }
            value = value * 10 + i64::from(digit - b'0');
        }
        self.0 = rest;
        Some(value)
    }

    /// Nanoseconds of the fraction digits.
    fn fraction(&mut self) -> Option<i64> {
        let length = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at_checked(length)?;
        let mut value = 0;
        for place in 0..9 {
            value = value * 10 + digits.get(place).map_or(0, |digit| i64::from(digit - b'0'));
        }
        self.0 = rest;
        (length > 0).then_some(value)
    }

    /// Seconds east of UTC.
    fn offset(&mut self) -> Option<i64> {
        let sign = match self.0.first() {
            None => return Some(0),
            Some(b'Z' | b'z') => {
                self.next()?;
                return Some(0);
            }
            Some(b'+') => 1,
            Some(b'-') => -1,
            Some(_) => return None,
        };
        self.next()?;
        let hours = self.number(2)?;
        let minutes = if self.skip(b':') || !self.0.is_empty() { self.number(2)? } else { 0 };
        (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
    }
}

const fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days since 1970 of a week date. Week 1 contains 4 January and weeks start on Monday.
fn week_date(year: i64, week: i64, day: i64) -> Option<i64> {
    let first_monday = |year: i64| {
        let fourth = days_from_civil(year, 1, 4);
        fourth - weekday(fourth)
    };
    let monday = first_monday(year) + (week - 1) * 7;
    let is_valid = week >= 1 && (1..=7).contains(&day) && monday < first_monday(year + 1);
    is_valid.then(|| monday + day - 1)
}

/// The day of the week, from Monday 0, of a day since 1970. 1970-01-01 was a Thursday.
pub(crate) const fn weekday(days: i64) -> i64 {
    (days + 3).rem_euclid(7)
}

/// Howard Hinnant's `days_from_civil`: the year starts in March, so leap days fall at its end.
pub(crate) const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

pub(crate) const fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400;
    (if month <= 2 { year + 1 } else { year }, month, day)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn timestamp_parses_any_offset_and_prints_utc() {
        let cases = [
            ("2025-06-15T14:30:45.123Z", Some("2025-06-15T14:30:45.123Z")),
            ("2025-06-15T14:30:00Z", Some("2025-06-15T14:30:00Z")),
            ("2025-06-15T14:30:00.000Z", Some("2025-06-15T14:30:00Z")),
            ("2025-06-15T16:30:45.1234567+02:00", Some("2025-06-15T14:30:45.123456700Z")),
            ("2025-06-15 14:30:45", Some("2025-06-15T14:30:45Z")),
            ("2025-06-15T14:30-0530", Some("2025-06-15T20:00:00Z")),
            ("2025-06-15", Some("2025-06-15T00:00:00Z")),
            ("2024-02-29T00:00:00Z", Some("2024-02-29T00:00:00Z")),
            ("1969-12-31T23:59:59.5Z", Some("1969-12-31T23:59:59.500Z")),
            ("2025-02-29T00:00:00Z", None),
            ("20250615T143045.5Z", Some("2025-06-15T14:30:45.500Z")),
            ("20250615T1430+0200", Some("2025-06-15T12:30:00Z")),
            ("20250615", Some("2025-06-15T00:00:00Z")),
            ("2025-06-15T14Z", Some("2025-06-15T14:00:00Z")),
            ("2025-12-31T24:00:00Z", Some("2026-01-01T00:00:00Z")),
            ("2025-06-15T24:00:01Z", None),
            ("2025-06-15T25:00:00Z", None),
            // ISO 8601 examples of week and ordinal dates: 2008-12-29 is Monday of 2009-W01.
            ("2009-W01-1", Some("2008-12-29T00:00:00Z")),
            ("2009W537T12Z", Some("2010-01-03T12:00:00Z")),
            ("2010-W53-1", None),
            ("2004-366", Some("2004-12-31T00:00:00Z")),
            ("2005366", None),
            ("2025-W24-8", None),
            ("2025-0615", None),
            ("0000-01-01", None),
            ("2025-06-15T14:30:60Z", None),
            ("2025-06-15T14:30:45.Z", None),
            ("2025-06-15T14:30:45Zulu", None),
            ("2500-01-01T00:00:00Z", None),
            ("yesterday", None),
            ("'; DROP TABLE Events; --", None),
            ("", None),
        ];
        for (input, expected) in cases {
            let printed = Timestamp::parse(input).ok().map(|moment| moment.to_string());
            assert_eq!(printed.as_deref(), expected, "input: {input:?}");
        }
    }

    #[test]
    fn bounds_beyond_the_range_saturate_and_events_name_the_range() {
        for (text, bound) in [
            ("9999-12-31T23:59:59Z", Timestamp::MAX),
            ("0001-01-01T00:00:00Z", Timestamp::MIN),
            ("1970-01-01T00:00:01Z", Timestamp::from_nanos(1_000_000_000)),
        ] {
            assert_eq!(Timestamp::parse_bound(text), Ok(bound), "{text}");
        }
        let error = Timestamp::parse("9999-12-31").unwrap_err().to_string();
        assert!(error.contains("outside 1677-09-21 to 2262-04-11"), "{error}");
        assert!(Timestamp::parse_bound("10000-01-01").is_err());
    }

    #[test]
    fn event_timestamp_prints_three_six_or_nine_fraction_digits() {
        let cases =
            [(0, "00.000Z"), (1_000_000, "00.001Z"), (1_000, "00.000001Z"), (7, "00.000000007Z")];
        for (nanos, ending) in cases {
            let text = Timestamp::from_nanos(nanos).with_millis();
            assert!(text.ends_with(ending), "{nanos}: {text}");
        }
    }

    proptest! {
        #[test]
        fn timestamp_round_trips(nanos in any::<i64>()) {
            let moment = Timestamp::from_nanos(nanos);
            prop_assert_eq!(Timestamp::parse(&moment.to_string()), Ok(moment));
            prop_assert_eq!(Timestamp::parse(&moment.with_millis()), Ok(moment));
        }
    }
}
