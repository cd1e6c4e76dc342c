//! Time zones: IANA names with their summer time, or a fixed offset.

use std::fmt;
use std::sync::{LazyLock, OnceLock};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::calendar::{DAY, Micros, SECOND};

/// A time zone. Cheap to copy: a name is an index into the bundled time zone database.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Zone(Kind);

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    /// Minutes east of UTC.
    Fixed(i16),
    /// Index into [`DATABASE`].
    Named(usize),
}

/// The text is not a time zone.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "`{0}` is not a time zone: expected an IANA name such as `Asia/Bangkok` or `Europe/London`, or an offset such as `+07:00`"
)]
pub struct InvalidZone(pub String);

/// Largest offset in minutes.
const MAX_OFFSET: i16 = 14 * 60;

struct Entry {
    name: String,
    zone: OnceLock<TimeZone>,
}

/// The names of the bundled database; a zone is parsed when it is first used.
static DATABASE: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let names = jiff::tz::db().available();
    names.map(|name| Entry { name: name.to_string(), zone: OnceLock::new() }).collect()
});

impl Zone {
    /// UTC.
    pub const UTC: Self = Self(Kind::Fixed(0));

    /// A fixed offset in minutes east of UTC, without summer time.
    pub const fn fixed(minutes: i16) -> Self {
        Self(Kind::Fixed(minutes))
    }

    /// Parses an IANA name, ignoring case, or an offset such as `+07:00`.
    pub fn parse(text: &str) -> Result<Self, InvalidZone> {
        if text.eq_ignore_ascii_case("UTC") {
            return Ok(Self::UTC);
        }
        if let Some(minutes) = parse_offset(text) {
            return Ok(Self::fixed(minutes));
        }
        let known = DATABASE.iter().position(|entry| entry.name.eq_ignore_ascii_case(text));
        let invalid = || InvalidZone(text.chars().take(80).collect());
        known.map(|index| Self(Kind::Named(index))).ok_or_else(invalid)
    }

    /// The time zone of a system, by name if it has one in the database.
    pub fn of(zone: &TimeZone, now: Timestamp) -> Self {
        zone.iana_name().and_then(|name| Self::parse(name).ok()).unwrap_or_else(|| {
            Self::fixed(i16::try_from(zone.to_offset(now).seconds() / 60).unwrap_or_default())
        })
    }

    /// The offset in minutes of a zone without a name.
    pub const fn fixed_minutes(self) -> Option<i16> {
        match self.0 {
            Kind::Fixed(minutes) => Some(minutes),
            Kind::Named(_) => None,
        }
    }

    /// Offset from UTC in minutes at a time.
    pub fn offset_minutes(self, at: Micros) -> i16 {
        i16::try_from(self.offset(at) / (60 * SECOND)).unwrap_or_default()
    }

    /// Offset from UTC at a time.
    pub(super) fn offset(self, at: Micros) -> Micros {
        match self.0 {
            Kind::Fixed(minutes) => i64::from(minutes) * 60 * SECOND,
            Kind::Named(index) => {
                let at = Timestamp::from_microsecond(at).unwrap_or(if at < 0 {
                    Timestamp::MIN
                } else {
                    Timestamp::MAX
                });
                i64::from(database_zone(index).to_offset(at).seconds()) * SECOND
            }
        }
    }

    /// The first time at which a clock of the zone shows this hour of a date, given in days since
    /// 1970-01-01. An hour that summer time skips begins when the clock jumps.
    pub(super) fn instant(self, day: i64, hour: u8) -> Micros {
        let naive = day * DAY + i64::from(hour) * 3600 * SECOND;
        let Kind::Named(index) = self.0 else { return naive - self.offset(naive) };
        let local = i32::try_from(day).ok().and_then(|day| {
            let date = Date::constant(1970, 1, 1);
            let date = date.checked_add(jiff::Span::new().try_days(day).ok()?).ok()?;
            Some(date.at(i8::try_from(hour).ok()?, 0, 0, 0))
        });
        let instant = local
            .and_then(|local| database_zone(index).to_ambiguous_timestamp(local).compatible().ok());
        instant.map_or_else(|| naive - self.offset(naive), Timestamp::as_microsecond)
    }
}

fn database_zone(index: usize) -> &'static TimeZone {
    static UTC: TimeZone = TimeZone::UTC;
    DATABASE.get(index).map_or(&UTC, |entry| {
        entry.zone.get_or_init(|| jiff::tz::db().get(&entry.name).unwrap_or(TimeZone::UTC))
    })
}

/// Parses `+07:00`.
fn parse_offset(text: &str) -> Option<i16> {
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let part = |digits: &str| -> Option<i16> {
        (digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| digits.parse().ok())?
    };
    let (hours, minutes) = (part(hours)?, part(minutes)?);
    let offset = sign * (hours.checked_mul(60)? + minutes);
    (minutes < 60 && offset.abs() <= MAX_OFFSET).then_some(offset)
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Fixed(0) => f.write_str("UTC"),
            Kind::Fixed(minutes) => {
                let sign = if minutes < 0 { '-' } else { '+' };
                let minutes = minutes.unsigned_abs();
                write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
            Kind::Named(index) => {
                f.write_str(DATABASE.get(index).map_or("UTC", |entry| entry.name.as_str()))
            }
        }
    }
}

impl TryFrom<String> for Zone {
    type Error = InvalidZone;

    fn try_from(text: String) -> Result<Self, InvalidZone> {
        Self::parse(&text)
    }
}

impl From<Zone> for String {
    fn from(zone: Zone) -> Self {
        zone.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_parse_from_iana_names_and_offsets() {
        let cases = [
            ("asia/bangkok", Some("Asia/Bangkok")),
            ("Europe/London", Some("Europe/London")),
            ("utc", Some("UTC")),
            ("+00:00", Some("UTC")),
            ("-09:30", Some("-09:30")),
            ("+14:01", None),
            ("+7:00", None),
            ("Mars/Base", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let parsed = Zone::parse(text).ok().map(|zone| zone.to_string());
            assert_eq!(parsed.as_deref(), expected, "zone: {text:?}");
        }
    }
}
