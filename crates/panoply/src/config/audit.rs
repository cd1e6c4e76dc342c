//! Settings table `[audit]`: checkpoints and retention.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;

/// Maintenance of the audit log while a server runs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuditSettings {
    /// File or URL that receives signed checkpoints.
    pub checkpoint_to: Option<String>,
    /// Checkpoint interval; a checkpoint needs new rows.
    pub checkpoint_every: Option<Every>,
    /// Signing key, if it is not in the home.
    pub signing_key: Option<PathBuf>,
    /// Rows of this age are moved into sealed segments, once per day.
    pub seal_after: Option<Span>,
    /// Sealed segments are deleted at this age.
    pub retain: Option<Span>,
}

impl AuditSettings {
    /// Age at which rows are sealed; 30 days if only the deletion age is set.
    pub fn sealing_age(&self) -> Option<Duration> {
        let month = Duration::from_secs(30 * 86_400);
        match (self.seal_after, self.retain) {
            (Some(Span(age)), _) => Some(age),
            (None, Some(Span(end))) => Some(end.min(month)),
            (None, None) => None,
        }
    }
}

/// A duration such as `400d`: a number and s, m, h or d.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Span(pub Duration);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let units = [('s', 1), ('m', 60), ('h', 3600), ('d', 86_400)];
        let parsed = units.into_iter().find_map(|(unit, seconds)| {
            let number: u64 = text.strip_suffix(unit)?.trim().parse().ok()?;
            Some(Self(Duration::from_secs(number.checked_mul(seconds)?)))
        });
        // Overflow.
        let is_possible = |span: &Self| span.0 <= Duration::from_secs(200 * 366 * 86_400);
        parsed
            .filter(is_possible)
            .ok_or_else(|| format!("`{text}` is not a time: expected a number and s, m, h or d"))
    }
}

impl TryFrom<String> for Span {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// Checkpoint interval.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub enum Every {
    /// After this number of new rows.
    Rows(u64),
    /// After this duration, if there are new rows.
    Time(Duration),
}

impl Default for Every {
    fn default() -> Self {
        Self::Time(Duration::from_secs(600))
    }
}

impl TryFrom<String> for Every {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.trim().strip_suffix("rows").map(|number| number.trim().parse::<u64>()) {
            Some(Ok(rows)) if rows > 0 => Ok(Self::Rows(rows)),
            Some(_) => Err(format!("`{text}` is not a number of rows, such as `1000 rows`")),
            None => text.parse().map(|Span(time)| Self::Time(time)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoint_intervals_have_units() {
        let cases = [
            ("10m", Some(Every::Time(Duration::from_secs(600)))),
            ("400 d", Some(Every::Time(Duration::from_secs(400 * 86_400)))),
            ("1000 rows", Some(Every::Rows(1000))),
            ("0 rows", None),
            ("10", None),
            ("-1d", None),
            ("99999999999999999999d", None),
            ("999999999999d", None),
        ];
        for (text, expected) in cases {
            assert_eq!(Every::try_from(text.to_owned()).ok(), expected, "{text}");
        }
    }

    #[test]
    fn sealing_age_is_below_the_retention_age() {
        let day = |days: u64| Span(Duration::from_secs(days * 86_400));
        let settings =
            |seal_after, retain| AuditSettings { seal_after, retain, ..AuditSettings::default() };
        assert_eq!(settings(None, None).sealing_age(), None);
        assert_eq!(settings(Some(day(7)), None).sealing_age(), Some(day(7).0));
        assert_eq!(settings(None, Some(day(400))).sealing_age(), Some(day(30).0));
        assert_eq!(settings(None, Some(day(5))).sealing_age(), Some(day(5).0));
    }
}
