//! Timestamps in nanoseconds since 1970, UTC: parsed from ISO 8601, printed with minimal digits.
//!
//! An `i64` of nanoseconds covers 1677 to 2262. `jiff` is not used for parsing: engines write

//! fractions longer than nine digits and offsets without a colon or none at all, which are accepted
//! here, and a log of ten million lines parses this field once per line.
use std::fmt;

const NANOS: i64 = 1_000_000_000;
const DAY_SECONDS: i64 = 86_400;

/// Nanoseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Timestamp(i64);

/// A text that is not a timestamp.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is not an ISO 8601 time such as 2025-06-15T14:30:45.123Z")]
pub struct BadTimestamp(pub String);

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

    /// Parses `YYYY-MM-DD`, optionally with `THH:MM:SS`, a fraction of any length (truncated to nine
    /// digits) and an offset. Without an offset the time is UTC.
    pub fn parse(text: &str) -> Result<Self, BadTimestamp> {
        parse(text.as_bytes())
            .map(Self)
            .ok_or_else(|| BadTimestamp(text.chars().take(80).collect()))
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

fn parse(text: &[u8]) -> Option<i64> {
    let mut cursor = Cursor(text);
    let year = cursor.number(4)?;
    cursor.expect(b'-')?;
    let month = cursor.number(2)?;
    cursor.expect(b'-')?;
    let day = cursor.number(2)?;
    if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
        return None;
    }
    let mut seconds = days_from_civil(year, month, day) * DAY_SECONDS;
    let mut fraction = 0;
    if !cursor.0.is_empty() {
        match cursor.next()? {
            b'T' | b't' | b' ' => {}
            _ => return None,
        }
        let hour = cursor.number(2)?;
        cursor.expect(b':')?;
        let minute = cursor.number(2)?;
        let mut second = 0;
        if cursor.skip(b':') {
            second = cursor.number(2)?;
            if cursor.skip(b'.') || cursor.skip(b',') {
                fraction = cursor.fraction()?;
            }
        }
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        seconds += hour * 3600 + minute * 60 + second - cursor.offset()?;
    }
    if !cursor.0.is_empty() {
        return None;
    }
    seconds.checked_mul(NANOS)?.checked_add(fraction)
}

struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
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

/// Howard Hinnant's `days_from_civil`: the year starts in March, so leap days fall at its end.
const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

const fn civil_from_days(days: i64) -> (i64, i64, i64) {
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
            ("2025-06-15T24:00:00Z", None),
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
